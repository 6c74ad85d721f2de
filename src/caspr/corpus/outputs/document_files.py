"""The files of one document in the output folder: write them, and keep files changed by hand as backups."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from caspr.errors import OutputError
from caspr.files import back_up, write_all


def digest(data: bytes) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(data).hexdigest()


class DocumentFiles(NamedTuple):
    """The files of one document, written."""

    hashes: Mapping[str, str]
    """The hash of each, by path below the output folder."""
    backups: tuple[Path, ...] = ()
    """Copies of earlier files that were changed since they were written."""


def write_document_files(
    folder: Path, files: Mapping[str, str | bytes], earlier: Mapping[str, str]
) -> DocumentFiles:
    """Write the files of one document.

    `earlier` has the hashes of the files that the last run wrote. A file whose hash is another one now is
    kept as a backup, and so are all files of a document for which there are none any more.
    """
    hashes = {name: digest(_encoded(content)) for name, content in files.items()}
    backups, changed = [], {}
    for name, content in files.items():
        present = _hash_of(folder / name)
        if present is not None and present not in (hashes[name], earlier.get(name)):
            backups.append(back_up(folder / name))
        if present != hashes[name]:
            _make_folder(folder / name)
            changed[folder / name] = content
    write_all(changed)
    for name in sorted(earlier.keys() - files.keys()):
        present = _hash_of(folder / name)
        if present is not None:
            if not files or present != earlier[name]:
                backups.append(back_up(folder / name))
            _remove(folder / name)
    return DocumentFiles(hashes, tuple(backups))


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def _hash_of(path: Path) -> str | None:
    """Return the hash of a file, or `None` if there is no such file."""
    try:
        return digest(path.read_bytes())
    except (OSError, ValueError):
        return None


def _make_folder(path: Path) -> None:
    """Make the folder of a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: cannot make this folder: {error.strerror}") from error
    except ValueError:
        return  # Writing fails, too, and says why.


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(f"{path}: cannot remove: {error.strerror}") from error
