"""Folders: where the user may look, what was dropped on the page, which projects were opened lately.

Only folders below the one in which the user started the page, and below paths that they typed or opened
before, are shown or worked on. What is dropped is copied into the folder of the project, under names that
every system can have and that lead nowhere else; what is there already is never replaced.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.request import url2pathname

from caspr.errors import InputError, OutputError
from caspr.formats import review_file
from caspr.formats.folders import is_text
from caspr.formats.naming import is_of_a_desktop
from caspr.formats.review_file.project import is_project
from caspr.storage import portable_name, stage, write_all

MOST_RECENT = 12
"""How many projects are listed as opened lately."""
MOST_LISTED = 500
"""How many folders and files of a folder are shown."""
DEEPEST = 12
"""How many folders a dropped file may be in."""
LONGEST = 200
"""How many bytes of a name a disk takes for sure, with what is put before it while it is written."""


def kept_in() -> Path:
    """Return the folder in which a program keeps what it remembers, as this system has it."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "CaspR"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "CaspR"
    return Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "caspr"


@dataclass
class Folders:
    """Where the user may look."""

    start: Path
    """Where the page was started."""
    memory: Path
    """The file that remembers which projects were opened."""
    typed: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Let the user go back to what they opened before."""
        self.start = self.start.resolve()
        self.typed.update(self.recent())

    def recent(self) -> list[Path]:
        """Return the projects and review files that were opened lately and are there, the last first."""
        try:
            paths = json.loads(self.memory.read_bytes())
        except (OSError, ValueError, RecursionError):
            return []
        listed = [Path(path) for path in paths if isinstance(path, str)] if isinstance(paths, list) else []
        return [path for path in listed[:MOST_RECENT] if path.is_absolute() and _is_there(path)]

    def remember(self, path: Path) -> None:
        """Put a project first among those that were opened lately; failing to is no harm."""
        paths = [path, *(other for other in self.recent() if other != path)][:MOST_RECENT]
        with suppress(OSError, OutputError):
            self.memory.parent.mkdir(parents=True, exist_ok=True)
            write_all({self.memory: json.dumps([str(known) for known in paths], indent=1) + "\n"})

    def take(self, text: str) -> Path:
        """Return the path that the user typed, which they may look into from now on."""
        plain = _plain(text.strip().strip("\"'"))
        if not plain or "\0" in plain:
            raise InputError("Type the path of a folder or a file.")
        path = _resolved(plain, self.start)
        if not _is_there(path):
            raise InputError(f"There is no file or folder {plain!r}. Check how it is written.")
        self.typed.add(path)
        return path

    def allowed(self, text: str) -> Path:
        """Return a path that a page asks for, or refuse it."""
        if not text or "\0" in text:
            raise InputError("The address of this page is not complete: go back to the start page.")
        path = _resolved(text)
        if not any(root in (path, *path.parents) for root in (self.start, *self.typed)):
            raise InputError("This folder was not opened here: type its path on the start page to open it.")
        return path


def _plain(text: str) -> str:
    """Return the path that somebody typed, also where it is the address that a browser shows.

    >>> _plain("file:///home/ann/my%20texts")
    '/home/ann/my texts'
    """
    address = text.removeprefix("file://")
    return text if address == text else url2pathname(address.removeprefix("localhost"))


def _resolved(text: str, start: Path = Path()) -> Path:
    try:
        return (start / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError("This is not the path of a file or folder.") from error


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError, RecursionError):
        return False


@dataclass(frozen=True)
class Entry:
    """Something in a folder, as the list of its content shows it."""

    name: str
    path: Path
    kind: str
    """`folder`, `project` or `review`."""


def entries(folder: Path) -> tuple[list[Entry], bool]:
    """Return the folders, projects and review files in a folder that may be opened, and whether it has more.

    Those whose names are not UTF-8 are left out: no address can name them.
    """
    found: list[Entry] = []
    try:
        inside = sorted(folder.iterdir(), key=lambda path: path.name.casefold())
    except OSError as error:
        raise InputError(f"{folder} cannot be opened: {error.strerror}.") from error
    for path in inside:
        if path.name.startswith(".") or not is_text(path.name):
            continue
        if len(found) == MOST_LISTED:
            return found, True
        with suppress(OSError):
            if path.is_dir():
                found.append(Entry(path.name, path, "project" if is_project(path) else "folder"))
            elif review_file.is_review(path):
                found.append(Entry(path.name, path, "review"))
    return found, False


def is_reviewed(path: Path) -> bool:
    """Return whether a path is a project or a review file; one that may not be looked into is neither."""
    with suppress(OSError):
        return is_project(path) or review_file.is_review(path)
    return False


def new_folder(parent: Path, name: str) -> Path:
    """Make the folder of a new project; one that is there already must be empty."""
    plain = " ".join(name.split())
    if not plain or plain.startswith(".") or "/" in plain or "\\" in plain or not _is_portable(plain):
        raise InputError(f"The project gets a folder of its name. {_remedy(plain)}")
    folder = parent / plain
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(
                f"There is already something in {folder}: choose another name, or open it instead."
            )
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.") from error
    return folder


def _remedy(name: str) -> str:
    """Say what to change in a name that no folder can have on every computer.

    >>> _remedy("Lessing: Sara?"), _remedy("Sara.")
    ('Please leave out “:” and “?” in the name.', 'Please leave out full stops around the name.')
    """
    wrong = dict.fromkeys(character for character in name if character in '/\\:*?"<>|')
    if wrong:
        return f"Please leave out {' and '.join(f'“{each}”' for each in wrong)} in the name."
    if name.strip(".") != name:
        return "Please leave out full stops around the name."
    return "Please give it another one: names such as Sara or my_project will do."


def _is_portable(name: str) -> bool:
    return is_text(name) and portable_name(name) == name


def refuse_leaving(folder: Path, *paths: Path) -> None:
    """Refuse to write into a folder where a link among some paths in it, or in all of it, leads elsewhere."""
    for path in paths or (folder,):
        inside = [path, *path.rglob("*")] if path.is_dir() else [path]
        for each in inside:
            if not each.resolve().is_relative_to(folder):
                shown = each.relative_to(folder.parent)
                raise InputError(
                    f"{shown} is a link to {each.resolve()}, and nothing is written outside of the project: "
                    "remove the link, or put the file itself there."
                )


def name_inside(name: str) -> PurePosixPath | None:
    """Return where a dropped file goes, `None` for files of a desktop; refuse what is not a name.

    >>> name_inside("anna/act1.ann"), name_inside("a:b.conll"), name_inside("anna/.DS_Store")
    (PurePosixPath('anna/act1.ann'), PurePosixPath('a%3Ab.conll'), None)
    """
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") or any(ord(sign) < 32 for sign in part) for part in parts):
        raise InputError(f"{name[:80]!r} is not a file name.")
    if any(part.startswith(".") or is_of_a_desktop(PurePosixPath(part)) for part in parts):
        return None
    plain = [portable_name(part) for part in parts]
    if len(plain) > DEEPEST or any(len(part.encode("utf-8", "replace")) > LONGEST for part in plain):
        raise InputError(f"{name[:80]!r} is too long: give the file a shorter name.")
    return PurePosixPath(*plain)


async def store(folder: Path, name: str, parts: AsyncIterator[bytes]) -> bool:
    """Copy a dropped file into a folder, and return whether there was anything to copy.

    A file of this name that is there already stays; where it holds the same, that is no error.
    """
    inside = name_inside(name)
    if inside is None:
        return False
    target = folder / inside
    if not target.resolve().is_relative_to(folder.parent.resolve() / folder.name):
        raise InputError(f"{name[:80]!r} leads to another folder.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = stage(target, b"")
        try:
            with staged.open("ab") as file:
                async for part in parts:
                    await asyncio.to_thread(file.write, part)
            if not _is_kept(staged, target):
                raise InputError(
                    f"There is already another file called {inside.name}: rename one of the two, or remove "
                    "the one in the list."
                )
        finally:
            staged.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{inside} cannot be copied: {error.strerror}.") from error
    return True


def _is_kept(staged: Path, target: Path) -> bool:
    """Put a file in its place where nothing is yet, or find that the same is there."""
    if target.exists():
        return target.is_file() and _same(staged, target)
    staged.rename(target)
    return True


def _same(first: Path, second: Path) -> bool:
    if first.stat().st_size != second.stat().st_size:
        return False
    with first.open("rb") as left, second.open("rb") as right:
        return all(chunk == right.read(1 << 20) for chunk in iter(lambda: left.read(1 << 20), b""))


def copied(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the files that were copied into a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            yield PurePosixPath(path.relative_to(folder).as_posix())


def remove_copy(folder: Path, name: str, known: Iterable[PurePosixPath]) -> None:
    """Remove one of the copies, and the folders that only it was in: an empty one is not an annotator's."""
    if PurePosixPath(name) not in known:
        raise InputError(f"There is no copy of {name[:80]!r}.")
    path = folder / name
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(f"{name} cannot be removed: {error.strerror}.") from error
    with suppress(OSError):
        for parent in path.parents[: len(PurePosixPath(name).parts) - 1]:
            parent.rmdir()
