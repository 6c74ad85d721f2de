"""The review file on the disk: written by one process, edited by anybody meanwhile.

lock      keeps two commands from writing one file (see `locks`);
write     the file is replaced as a whole and synced, and only if it is what we read or wrote last (see
          `exchange`): an editor's save always wins;
changed   size, time, inode and digest of the last read or write are kept; a file that was edited outside
          is read again and never overwritten.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from caspr.errors import InputError
from caspr.exchange import Stamp, stamp_of, write_unless_changed
from caspr.files import read_bytes
from caspr.locks import FileLock


@dataclass
class Store:
    """One file on the disk."""

    path: Path
    """Its path."""
    lock: FileLock = field(init=False, repr=False)
    """Keeps other commands away."""
    _seen: Stamp | None = None
    """The stamp when it was last read or written."""
    _digest: bytes = b""

    def __post_init__(self) -> None:
        """Make the lock, which is not taken yet."""
        self.lock = FileLock(self.path)

    def acquire(self) -> None:
        """Take the lock, or raise `InputError` if another process has it."""
        self.lock.acquire()

    def release(self) -> None:
        """Release the lock."""
        self.lock.release()

    def read(self) -> bytes:
        """Read the file and remember it."""
        before = stamp_of(self.path)
        data = read_bytes(self.path)
        self._seen, self._digest = before, _digest(data)
        return data

    def write(self, data: bytes) -> None:
        """Replace the file, synced when this returns.

        Raise `ChangedError` if it is not what was read or written last, or `OutputError` if it cannot be
        written; nothing has changed then.
        """
        stamp = write_unless_changed(self.path, data, lambda found: _digest(found) == self._digest)
        # The stamp of the file that was written, and not of what is there by now.
        self._seen, self._digest = stamp, _digest(data)

    def withdraw(self) -> None:
        """Delete a file that was not there before, unless somebody has changed it since it was written."""
        if self._seen is not None and not self.changed():
            self.path.unlink(missing_ok=True)

    def saved(self) -> str:
        """Return when the content that was last read or written was saved, in UTC."""
        seconds = 0 if self._seen is None else self._seen[1] // 10**9
        return utc(datetime.fromtimestamp(seconds, UTC))

    def changed(self) -> bool:
        """Return whether the content was changed outside since the last read or write."""
        stamp = stamp_of(self.path)
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


def utc(moment: datetime) -> str:
    """Return a moment as files have it.

    >>> utc(datetime(2026, 11, 17, 10, 30, 5, tzinfo=UTC))
    '2026-11-17T10:30:05Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
