"""Temporary folders that do not accumulate, however a process ends.

    TMPDIR/caspr-xxxxxxxx/owner    a locked file that names the machine
    TMPDIR/caspr-xxxxxxxx/files    what is in use

1. The process that makes a folder holds the lock of its `owner` file, and removes the folder at exit at the
   latest.
2. A process that is killed cannot do that, but the kernel releases its lock. So each process, before it
   makes a folder, removes those of the same machine whose lock is free.
3. The lock is held before the file gets the name `owner`, and this file is removed last: no folder in use is
   ever removed by another process, and no abandoned one is overlooked.
"""

import os
import platform
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from caspr.storage import remove_locked, try_lock

_PREFIX = "caspr-"
_OWNER = "owner"
_FILES = "files"
_NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0)
"""Windows has no such flag, but folders for temporary files that are of one user each."""


class Workspace:
    """A temporary folder of this process."""

    def __init__(self) -> None:
        """Make the folder, and remove those of killed processes."""
        _sweep(Path(tempfile.gettempdir()))
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._finish = weakref.finalize(self, _remove, folder, _claim(folder))
        self._folder = folder
        self.path.mkdir()

    @property
    def path(self) -> Path:
        """The folder for the files."""
        return self._folder / _FILES

    def close(self) -> None:
        """Remove the folder with all its files."""
        self._finish()


def _claim(folder: Path) -> int:
    """Lock a new folder until the returned descriptor is closed."""
    unnamed = folder / "new"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    # On a file system without locks, folders have no owner and are never swept.
    with suppress(OSError):
        try_lock(descriptor)
        # From the second byte on: on Windows, others cannot read the first one while it is locked.
        os.write(descriptor, b"\n" + platform.node().encode())
        _name(unnamed, folder / _OWNER)
    return descriptor


def _name(unnamed: Path, owner: Path) -> None:
    """Give the locked file its name; Windows renames no open file, but links it."""
    if os.name == "nt":
        owner.hardlink_to(unnamed)
    else:
        unnamed.rename(owner)


def _remove(folder: Path, descriptor: int) -> None:
    try:
        shutil.rmtree(folder / _FILES, ignore_errors=True)
    finally:
        if (folder / _FILES).exists():
            os.close(descriptor)
        else:
            with suppress(OSError):
                remove_locked(folder / _OWNER, descriptor)
            with suppress(OSError):
                (folder / "new").unlink(missing_ok=True)
                folder.rmdir()


def _sweep(folder: Path) -> None:
    """Remove the folders of processes that are gone; errors are ignored."""
    for owner in folder.glob(f"{_PREFIX}*/{_OWNER}"):
        with suppress(OSError):
            descriptor = os.open(owner, os.O_RDWR | _NO_LINKS)
            if _is_abandoned(descriptor):
                _remove(owner.parent, descriptor)
            else:
                os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    """Return whether a folder is of this user and machine, and of a process that is gone."""
    try:
        if not try_lock(descriptor):
            return False
    except OSError:
        return False
    machine = os.read(descriptor, 1000).strip()
    own = not hasattr(os, "getuid") or os.fstat(descriptor).st_uid == os.getuid()
    return own and machine == platform.node().encode()
