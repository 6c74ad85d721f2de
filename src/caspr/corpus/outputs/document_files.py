"""Outputs: put a document's files in place, and never lose what somebody changed in them by hand."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from caspr.errors import OutputError
from caspr.files import back_up, write_all


def digest(data: bytes) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(data).hexdigest()


class Placed(NamedTuple):
    """The files of one document."""

    hashes: Mapping[str, str]
    """The hash of each, by path below the output folder."""
    kept: tuple[Path, ...] = ()
    """Backups of what was there before and is not as it was left."""


def put(folder: Path, files: Mapping[str, str | bytes], earlier: Mapping[str, str]) -> Placed:
    """Write the files of one document.

    `earlier` has the hashes of what was written before. A file that is not as it was left is kept as a
    backup, and so are all files of a document for which there are none now.
    """
    hashes = {name: digest(_encoded(content)) for name, content in files.items()}
    kept, changed = [], {}
    for name, content in files.items():
        there = _there(folder / name)
        if there is not None and there not in (hashes[name], earlier.get(name)):
            kept.append(back_up(folder / name))
        if there != hashes[name]:
            _make(folder / name)
            changed[folder / name] = content
    write_all(changed)
    for name in sorted(earlier.keys() - files.keys()):
        there = _there(folder / name)
        if there is not None:
            if not files or there != earlier[name]:
                kept.append(back_up(folder / name))
            _remove(folder / name)
    return Placed(hashes, tuple(kept))


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def _there(path: Path) -> str | None:
    try:
        return digest(path.read_bytes())
    except OSError:
        return None


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: cannot make this folder: {error.strerror}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(f"{path}: cannot remove: {error.strerror}") from error
