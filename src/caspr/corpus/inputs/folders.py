"""Walk through folders: which files in them are documents, and which only lie beside them.

Links to folders are followed, except back to where we come from. Pipes and devices are left alone.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from caspr.errors import InputError

_ASIDE = (
    *("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf", "typesystem.xml"),
    *("thumbs.db", "desktop.ini", "*~", "*.bak", "#*#"),
)
"""What brat and UIMA, desktops and editors put beside documents, in small letters."""
MMAX = ".mmax"
"""What the main file of an MMAX2 project ends with."""
_PROJECT = (".xml", ".dtd", ".xsl")
"""What the files of an MMAX2 project beside its `.mmax` are called."""


def walk(folder: Path, pattern: str = "*") -> Iterator[str]:
    """Yield the paths below a folder of all documents that match, in no order.

    Hidden files are left out, and files that only belong to others: texts beside annotations, parts of
    MMAX2 projects, settings of annotation tools.
    """
    waiting: list[tuple[str, bool, tuple[str, ...]]] = [("", False, ())]
    while waiting:
        here, project, links = waiting.pop()
        project = project or _has_project(folder / here)
        with opened(folder / here) as entries:
            for entry in entries:
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.name.startswith("."):
                    continue
                if is_folder(entry):
                    if (followed := _followed(entry, links)) is not None:
                        waiting.append((path, project, followed))
                elif is_taken(entry, pattern) and not is_part(folder / path, project=project):
                    yield path


def _followed(entry: "os.DirEntry[str]", links: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the folders that links led to, with this one; `None` if it leads back to where we come from."""
    if not entry.is_symlink():
        return links
    real = os.path.realpath(entry.path)
    above = os.path.realpath(Path(entry.path).parent)
    back = real in links or Path(above).is_relative_to(real)
    return None if back else (*links, real)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Tell whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself is a file that cannot be read.
        return False


def is_taken(entry: "os.DirEntry[str]", pattern: str) -> bool:
    """Tell whether an entry that is no folder matches, and is no pipe or device, which might never end."""
    if not fnmatchcase(entry.name, pattern):
        return False
    try:
        return entry.is_file() or not Path(entry.path).exists()
    except OSError:
        return True


def _has_project(folder: Path) -> bool:
    with opened(folder) as entries:
        return any(entry.name.endswith(MMAX) for entry in entries)


def is_part(path: Path, *, project: bool) -> bool:
    """Tell whether a file only belongs to others, such as those of an MMAX2 project in its folder."""
    if any(fnmatchcase(path.name.lower(), pattern) for pattern in _ASIDE):
        return True
    if path.suffix == ".txt" and path.with_suffix(".ann").is_file():
        return True
    return project and path.suffix in _PROJECT


def opened(folder: Path) -> "os._ScandirIterator[str]":
    """Look into a folder, or say why that cannot be done."""
    try:
        return os.scandir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error
