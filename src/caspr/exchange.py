"""Replace a file only while it holds what the writer knows: whoever saved it meanwhile is never overwritten.

    stage      the new text is on the disk beside the file, synced
    compare    the file still has the known content; otherwise nothing happens
    exchange   both change places in one step, where the system can (Linux, macOS)
    compare    what came out is the known content; otherwise somebody saved in between, and it is put back

Between comparing and replacing there is always a moment. After an exchange, what was replaced is still
there, so that a save in that moment is noticed and put back; a save that comes even then is newer and stays.
Where the system has no exchange, the file is replaced within microseconds of the first comparison.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from caspr.errors import OutputError
from caspr.files import explained, put_in_place, stage, sync_folder

_SWAP = 2
"""RENAME_EXCHANGE of Linux's renameat2, and RENAME_SWAP of renamex_np on macOS: the same number."""
_HERE = -100
"""AT_FDCWD: paths are relative to the current folder."""

Stamp = tuple[int, int, int]
"""Size, time and inode of a file."""


class ChangedError(OutputError):
    """Refuse to replace a file that somebody else has saved."""


def write_unless_changed(path: Path, data: bytes, is_known: Callable[[bytes], bool]) -> Stamp:
    """Replace a file, or raise `ChangedError` if its content is not known; return the stamp of the new file.

    A file that is missing is written anew. On any error the file is as its last writer left it.
    """
    target = Path(os.path.realpath(path))
    with explained(path):
        staged = stage(target, data)
        try:
            stamp = stamp_of(staged)
            assert stamp is not None
            present = _content(target)
            if present is not None and not is_known(present):
                raise ChangedError(_changed(path))
            _replace(path, staged, target, data, is_known)
        finally:
            with suppress(OSError):
                staged.unlink()
        sync_folder(target.parent)
    return stamp


def _replace(path: Path, staged: Path, target: Path, data: bytes, is_known: Callable[[bytes], bool]) -> None:
    if not exchange(staged, target):
        put_in_place(staged, target)
        return
    placed, out = data, staged.read_bytes()
    if is_known(out):
        return
    while exchange(staged, target):
        # What came out had been saved after the comparison, and is back in its place now. If it replaced
        # anything but what we had placed, that was saved later still, and is put back in turn.
        taken = staged.read_bytes()
        if taken == placed:
            break
        placed, out = out, taken
    else:
        put_in_place(staged, target)  # deleted meanwhile
    raise ChangedError(_changed(path))


def stamp_of(path: Path) -> Stamp | None:
    """Return what tells two versions of a file apart without reading them; `None` if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; return whether that was possible."""
    swap = _system_exchange()
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


@lru_cache(maxsize=1)
def _system_exchange() -> Callable[[bytes, bytes], int] | None:
    """Return the system's function, or `None` where there is none."""
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        if sys.platform == "linux":
            rename = library.renameat2
            return lambda one, other: int(rename(_HERE, one, _HERE, other, _SWAP))
        if sys.platform == "darwin":
            rename = library.renamex_np
            return lambda one, other: int(rename(one, other, _SWAP))
    return None


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _changed(path: Path) -> str:
    return f"{path}: found it saved by another program meanwhile, expected it unchanged: nothing was written"
