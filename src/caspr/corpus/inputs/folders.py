"""Walk through folders: which files in them are documents, and which only belong to documents.

Links to folders are followed, unless they lead back to a folder above. Pipes and devices are skipped.
"""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from caspr.errors import InputError
from caspr.formats.format import Format
from caspr.formats.naming import is_backup, is_of_a_desktop
from caspr.formats.registry import FORMATS


def walk(folder: Path, pattern: str = "*") -> Iterator[str]:
    """Yield the paths below a folder of all documents that match, in no order.

    Hidden files are left out, and files that only belong to others: texts beside annotations, parts of
    projects, settings of annotation tools.
    """
    waiting: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [("", (), ())]
    while waiting:
        here, parts, links = waiting.pop()
        parts = parts or _project_parts(folder / here)
        with opened(folder / here) as entries:
            for entry in entries:
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.name.startswith("."):
                    continue
                if is_folder(entry):
                    if (followed := _followed(entry, links)) is not None:
                        waiting.append((path, parts, followed))
                elif is_taken(entry, pattern) and not is_part(folder / path, parts):
                    yield path


def _followed(entry: "os.DirEntry[str]", links: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the folders that links led to, with this one; `None` if it leads back to a folder above."""
    if not entry.is_symlink():
        return links
    real = os.path.realpath(entry.path)
    above = os.path.realpath(Path(entry.path).parent)
    back = real in links or Path(above).is_relative_to(real)
    return None if back else (*links, real)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself is a file that cannot be read.
        return False


def is_taken(entry: "os.DirEntry[str]", pattern: str) -> bool:
    """Return whether an entry that is no folder matches, and is no pipe or device, which might never end."""
    if not fnmatchcase(entry.name, pattern):
        return False
    try:
        return entry.is_file() or not Path(entry.path).exists()
    except OSError:
        return True


def _project_parts(folder: Path) -> tuple[str, ...]:
    """Return the suffixes of files that belong to a project in a folder, if there is one."""
    with opened(folder) as entries:
        names = [entry.name for entry in entries]
    return tuple(
        suffix
        for format in FORMATS.values()
        if format.project_suffixes and any(name.endswith(format.suffixes) for name in names)
        for suffix in format.project_suffixes
    )


def is_part(path: Path, parts: Sequence[str] = ()) -> bool:
    """Return whether a file only belongs to others; `parts` are the suffixes of files of a project."""
    name = path.name.lower()
    return (
        path.suffix in parts
        or is_of_a_desktop(path)
        or is_backup(path)
        or any(name in format.settings_files or _accompanies(path, format) for format in FORMATS.values())
    )


def holds_only_parts(folder: Path) -> bool:
    """Return whether there are files below a folder, and all of them only belong to others."""
    return any(path.is_file() for path in folder.rglob("*")) and not any(walk(folder))


def _accompanies(path: Path, format: Format) -> bool:
    """Return whether a file belongs to the one of the same name beside it."""
    if path.suffix not in format.companion_suffixes:
        return False
    return any(path.with_suffix(suffix).is_file() for suffix in format.suffixes)


def opened(folder: Path) -> "os._ScandirIterator[str]":
    """List a folder, or raise why that is not possible."""
    try:
        return os.scandir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error
