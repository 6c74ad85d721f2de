"""Outputs: put a document's files in place, and never lose what somebody changed in them by hand."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from caspr.errors import OutputError
from caspr.files import back_up, write_all


def digest(data: bytes) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(data).hexdigest()


def put(folder: Path, texts: Mapping[str, str], earlier: Mapping[str, str]) -> dict[str, str]:
    """Write the files of one document and return their hashes.

    `earlier` has the hashes of what was written before. A file that is not as it was left, and one that
    there is no new version of, is kept as a backup.
    """
    hashes = {name: digest(text.encode("utf-8", "surrogatepass")) for name, text in texts.items()}
    changed = {}
    for name, text in texts.items():
        there = _there(folder / name)
        if there is not None and there not in (hashes[name], earlier.get(name)):
            back_up(folder / name)
        if there != hashes[name]:
            _make(folder / name)
            changed[folder / name] = text
    write_all(changed)
    for name in earlier.keys() - texts.keys():
        if _there(folder / name) is not None:
            back_up(folder / name)
            (folder / name).unlink()
    return hashes


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
