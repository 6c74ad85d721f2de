"""One lock for each file that several commands may write: the page, `redo` and `corpus` take the same one.

    review.conll          the file
    .review.conll.lock    beside it; its holder has it locked, and its process id stands in it

The system releases a lock when its process ends, also by kill -9, so that a leftover lock file hinders
nobody. A file is locked by its name with symbolic links followed. One with several names (hard links) would
have several locks, and replacing one of its names would leave the others behind: it is refused.
"""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from caspr.errors import InputError, OutputError
from caspr.file_locks import remove_locked, try_lock
from caspr.files import remove_temporary


class FileLock:
    """The lock of one file; a context manager, or taken and released by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file to lock, whether or not it exists yet."""
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock."""
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock."""
        self.release()

    @property
    def target(self) -> Path:
        """The file itself, with symbolic links followed."""
        return Path(os.path.realpath(self.path))

    @property
    def lock_path(self) -> Path:
        """The file that is locked instead of it, because the file itself is replaced by every write."""
        return self.target.with_name(f".{self.target.name}.lock")

    def acquire(self) -> None:
        """Take the lock, or raise `InputError` if another process has it; remove what a killed one left."""
        refuse_hard_links(self.path)
        while self._descriptor is None:
            descriptor = self._open()
            if not self._try_lock(descriptor):
                raise self._already_locked(descriptor)
            if _is_at(descriptor, self.lock_path):
                os.ftruncate(descriptor, 0)
                # Others read the number from the second byte on: on Windows, the first one is locked.
                os.write(descriptor, f"\n{os.getpid()}\n".encode())
                self._descriptor = descriptor
            else:
                # Its holder released and deleted it between our opening and locking it.
                os.close(descriptor)
        remove_temporary(self.target.parent, of=self.target)

    def release(self) -> None:
        """Release the lock and delete its file."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            remove_locked(self.lock_path, descriptor)

    def _open(self) -> int:
        try:
            return os.open(self.lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OutputError(f"{self.lock_path}: cannot write: {error.strerror}") from error

    def _try_lock(self, descriptor: int) -> bool:
        try:
            return try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise OutputError(f"{self.lock_path}: cannot lock this file: {error.strerror}") from error

    def _already_locked(self, descriptor: int) -> InputError:
        os.lseek(descriptor, 1, os.SEEK_SET)
        holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
        os.close(descriptor)
        who = f" (process {holder})" if holder.isdecimal() else ""
        found = f"found it open in another `caspr`{who}"
        return InputError(f"{self.path}: {found}, expected one at a time: continue there, or end that one")


def refuse_hard_links(path: Path) -> None:
    """Raise `InputError` if a file has several names, of which a write would replace only one."""
    with suppress(OSError):
        names = path.stat().st_nlink
        if names > 1 and path.is_file():
            raise InputError(
                f"{path}: found a file with {names} names (hard links), expected one with a single name: "
                "copy it, and open the copy"
            )


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
