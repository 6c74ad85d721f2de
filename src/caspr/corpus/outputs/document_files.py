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
    kept: tuple[str, ...] = ()
    """Files of adjudicators, which were left as they are."""


def write_document_files(
    folder: Path, files: Mapping[str, str | bytes], earlier: Mapping[str, str]
) -> DocumentFiles:
    """Write the files of one document.

    `earlier` has the hashes of the files that the last run wrote. A file whose hash is another one now is
    kept as a backup, and so are all files of a document for which there are none any more.
    """
    hashes = {name: digest(_encoded(content)) for name, content in files.items()}
    backups: list[Path] = []
    while True:
        seen = {name: _hash_of(folder / name) for name in files}
        for name, present in seen.items():
            if present is not None and present not in (hashes[name], earlier.get(name)):
                backups.append(back_up(folder / name))
        changed = {name: files[name] for name, present in seen.items() if present != hashes[name]}
        try:
            _write(folder, changed, seen)
            break
        except _SavedMeanwhileError:
            continue
    for name in sorted(earlier.keys() - files.keys()):
        present = _hash_of(folder / name)
        if present is not None:
            if not files or present != earlier[name]:
                backups.append(back_up(folder / name))
            _remove(folder / name)
    return DocumentFiles(hashes, tuple(backups))


class _SavedMeanwhileError(Exception):
    """A file was saved by another program between reading and replacing it."""


def _write(folder: Path, changed: Mapping[str, str | bytes], seen: Mapping[str, str | None]) -> None:
    """Write files, or raise `_SavedMeanwhileError` if one of them is not what was seen any more."""
    for name in changed:
        _make_folder(folder / name)

    def compare() -> None:
        if any(_hash_of(folder / name) != seen[name] for name in changed):
            raise _SavedMeanwhileError

    write_all({folder / name: content for name, content in changed.items()}, before_replacing=compare)


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
