"""Projects that were unpacked: a folder in place of the archive, with the same files in it.

    export/exportedproject.json       the folder above all, or an outer one that unpacking made
    export/annotation/<document>/     one of these, with exportedproject.json above it
    annotation/<document>/<user>.zip  the same without any exportedproject.json

Who finished what stands in `exportedproject.json`. Where that is missing, all but the pseudo users are taken,
with a warning, and the layers are those that the files have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from caspr.files import read_bytes
from caspr.formats.containers.zip import Archive

PSEUDO_USERS = ("INITIAL_CAS", "CURATION_USER", "CORRECTION_USER")
"""Names in the place of an annotator's that are none."""
STORED = (".zip", ".json", ".tsv", ".xmi")
"""The suffixes of files that hold annotations."""
_SETTINGS = "exportedproject*.json"


@dataclass(frozen=True)
class ProjectFolder:
    """An unpacked archive."""

    source: str
    """Its name, for messages."""
    files: Mapping[str, Path]
    """Its files, by the names that they have in the archive."""
    only: str = ""
    """The document whose folder was given, if it was that of one document."""

    @property
    def names(self) -> list[str]:
        """The names of all files in it, in order."""
        return list(self.files)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return read_bytes(self.files[name])


ProjectFiles = Archive | ProjectFolder
"""Where the files of a project are."""


def is_project_folder(folder: Path) -> bool:
    """Return whether a folder is an unpacked project, or the annotations of one."""
    return folder.is_dir() and _find(folder) is not None


def is_no_annotator(path: Path) -> bool:
    """Return whether a file is that of a pseudo user, unpacked from a project."""
    return path.stem in PSEUDO_USERS and path.suffix.lower() in (*STORED, ".ser")


def open_folder(folder: Path) -> ProjectFolder:
    """Open an unpacked project; `is_project_folder` must hold."""
    found = _find(folder)
    assert found is not None
    root, prefix, only = found
    files = {f"{prefix}{path.relative_to(root).as_posix()}": path for path in _files(root)}
    return ProjectFolder(str(folder), files, only)


def _find(folder: Path) -> tuple[Path, str, str] | None:
    """Return the root of a project, what to put before names below it, and the only document wanted."""
    here = folder.resolve()
    for root in (here, *(one for one in sorted(here.iterdir()) if one.is_dir())):
        if any(root.glob(_SETTINGS)):
            return root, "", ""
    if here.name == "annotation" and any(here.parent.glob(_SETTINGS)):
        return here.parent, "", ""
    if here.parent.name == "annotation" and any(here.parent.parent.glob(_SETTINGS)):
        return here.parent.parent, "", here.name
    if _holds_documents(here / "annotation"):
        return here, "", ""
    if _holds_documents(here):
        return here, "annotation/", ""
    if _is_document(here):
        return here, f"annotation/{here.name}/", here.name
    return None


def _holds_documents(folder: Path) -> bool:
    return folder.is_dir() and any(_is_document(one) for one in folder.iterdir() if one.is_dir())


def _is_document(folder: Path) -> bool:
    """Return whether a folder has the files of one document; every export holds its initial state."""
    return any(is_no_annotator(one) for one in folder.iterdir() if one.is_file())


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path
