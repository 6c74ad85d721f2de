"""Locks on open files: one process has a file at a time; however it ends, the system unlocks the file."""

import os
import sys
from contextlib import suppress
from pathlib import Path


def try_lock(descriptor: int) -> bool:
    """Lock an open file, or return `False` if another process has it; the system unlocks it when we end.

    On Windows, others cannot read the first byte of a locked file.
    """
    from filelock import lock_descriptor

    return lock_descriptor(descriptor, blocking=False)


def remove_locked(path: Path, descriptor: int) -> None:
    """Remove a file that this process has locked, then unlock it.

    In this order nobody locks what is gone the next moment. Windows removes no file that is open: there the
    order is the other one, and a file that somebody locks in between stays.
    """
    try:
        if sys.platform != "win32":
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
    if sys.platform == "win32":
        with suppress(OSError):
            path.unlink(missing_ok=True)
