"""The store: a review file that one process writes, and that anybody may edit meanwhile.

lock      `.NAME.lock` beside the file, held while the process lives (also by kill -9: the system
          lets go of it), so that two processes do not write one file;
write     whole and synced before it counts (see `files`);
notice    what was last read or written is remembered by size, time and content; a file that somebody
          else changed is read again and never written over.
"""

import fcntl
import os
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO

from caspr.errors import InputError, OutputError
from caspr.files import read_bytes, write_all


@dataclass
class Store:
    """One file on the disk."""

    path: Path
    """Where it is."""
    _lock: IO[str] | None = field(default=None, repr=False)
    _seen: tuple[int, int, int] | None = None
    """Size, time and inode when it was last read or written."""
    _digest: bytes = b""

    def acquire(self) -> None:
        """Take the lock, or raise `InputError` if another process has it."""
        while self._lock is None:
            lock = self._opened()
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise self._held(lock) from None
            if _is_there(lock, self._place):
                lock.truncate(0)
                lock.write(f"{os.getpid()}\n")
                lock.flush()
                self._lock = lock
            else:
                # Its holder just let go of it and took it away.
                lock.close()

    @property
    def _place(self) -> Path:
        target = Path(os.path.realpath(self.path))
        return target.with_name(f".{target.name}.lock")

    def _opened(self) -> IO[str]:
        try:
            return self._place.open("a+", encoding="ascii")
        except OSError as error:
            raise OutputError(f"{self._place}: cannot write: {error.strerror}") from error

    def _held(self, lock: IO[str]) -> InputError:
        lock.seek(0)
        holder = lock.read(20).strip()
        lock.close()
        who = f" (process {holder})" if holder.isdecimal() else ""
        found = f"found it open in another `caspr review`{who}"
        return InputError(f"{self.path}: {found}, expected one at a time: go on there, or end that one")

    def release(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._place.unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def read(self) -> bytes:
        """Read the file and remember it."""
        before = self._stamp()
        data = read_bytes(self.path)
        self._seen, self._digest = before, _digest(data)
        return data

    def write(self, text: bytes) -> None:
        """Replace the file; on the disk when this returns. Raise `OutputError` and change nothing if not."""
        write_all({self.path: text})
        self._seen, self._digest = self._stamp(), _digest(text)

    def changed(self) -> bool:
        """Tell whether somebody else changed the file since; a file that only was touched is not changed."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        if stamp is None:
            return False  # gone: writing puts it back
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


def _is_there(lock: IO[str], place: Path) -> bool:
    """Tell whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), place.stat())
    except OSError:
        return False


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
