"""The review file on the disk: written by one process, edited by anybody meanwhile.

lock      `.NAME.lock` beside the file keeps two processes from writing one file; the system releases it
          when the process ends, also by kill -9;
write     the file is replaced as a whole and synced (see `files`);
changed   size, time, inode and digest of the last read or write are kept; a file that was edited outside
          is read again and never overwritten.
"""

import os
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from caspr.errors import InputError, OutputError
from caspr.file_locks import remove_locked, try_lock
from caspr.files import read_bytes, write_all


@dataclass
class Store:
    """One file on the disk."""

    path: Path
    """Its path."""
    _lock: int | None = field(default=None, repr=False)
    """The descriptor of the lock file, while the lock is held."""
    _seen: tuple[int, int, int] | None = None
    """Size, time and inode when it was last read or written."""
    _digest: bytes = b""

    def acquire(self) -> None:
        """Take the lock, or raise `InputError` if another process has it."""
        while self._lock is None:
            lock = self._open_lock()
            if not self._try_lock(lock):
                raise self._already_locked(lock)
            if _is_at(lock, self._lock_path):
                os.ftruncate(lock, 0)
                # Others read the number from the second byte on: on Windows, the first one is locked.
                os.write(lock, f"\n{os.getpid()}\n".encode())
                self._lock = lock
            else:
                # Its holder released and deleted it between our opening and locking it.
                os.close(lock)

    @property
    def _lock_path(self) -> Path:
        target = Path(os.path.realpath(self.path))
        return target.with_name(f".{target.name}.lock")

    def _open_lock(self) -> int:
        try:
            return os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OutputError(f"{self._lock_path}: cannot write: {error.strerror}") from error

    def _try_lock(self, lock: int) -> bool:
        try:
            return try_lock(lock)
        except OSError as error:
            os.close(lock)
            raise OutputError(f"{self._lock_path}: cannot lock this file: {error.strerror}") from error

    def _already_locked(self, lock: int) -> InputError:
        os.lseek(lock, 1, os.SEEK_SET)
        holder = os.read(lock, 20).decode("ascii", "replace").strip()
        os.close(lock)
        who = f" (process {holder})" if holder.isdecimal() else ""
        found = f"found it open in another `caspr review`{who}"
        return InputError(f"{self.path}: {found}, expected one at a time: continue there, or end that one")

    def release(self) -> None:
        """Release the lock and delete its file."""
        if self._lock is not None:
            remove_locked(self._lock_path, self._lock)
            self._lock = None

    def read(self) -> bytes:
        """Read the file and remember it."""
        before = self._stamp()
        data = read_bytes(self.path)
        self._seen, self._digest = before, _digest(data)
        return data

    def write(self, text: bytes) -> None:
        """Replace the file, synced when this returns, or raise `OutputError` and change nothing."""
        write_all({self.path: text})
        self._seen, self._digest = self._stamp(), _digest(text)

    def changed(self) -> bool:
        """Return whether the content was changed outside since the last read or write."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        if stamp is None:
            return False  # deleted: the next write restores it
        try:
            data = read_bytes(self.path)
        except InputError:
            return True
        if _digest(data) == self._digest:
            self._seen = stamp
            return False
        return True

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino


def _is_at(lock: int, path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except OSError:
        return False


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
