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
from typing import IO, Self

from caspr.errors import InputError, OutputError
from caspr.files import remove_temporary

_LOCKED_BYTE = 1 << 30
"""Which byte is locked where the system locks bytes: far behind the process id, which others read."""


class FileLock:
    """The lock of one file; a context manager, or taken and released by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file to lock, whether or not it exists yet."""
        self._file: IO[str] | None = None

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
        while self._file is None:
            file = self._open()
            try:
                _lock(file)
            except OSError:
                raise self._already_locked(file) from None
            if _is_at(file, self.lock_path):
                file.truncate(0)
                file.write(f"{os.getpid()}\n")
                file.flush()
                self._file = file
            else:
                # Its holder released and deleted it between our opening and locking it.
                file.close()
        remove_temporary(self.target.parent, of=self.target)

    def release(self) -> None:
        """Release the lock and delete its file."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            self.lock_path.unlink(missing_ok=True)
            file.close()
        except PermissionError:  # Windows deletes no open file.
            file.close()
            with suppress(OSError):
                self.lock_path.unlink()

    def _open(self) -> IO[str]:
        try:
            return self.lock_path.open("a+", encoding="ascii")
        except OSError as error:
            raise OutputError(f"{self.lock_path}: cannot write: {error.strerror}") from error

    def _already_locked(self, file: IO[str]) -> InputError:
        file.seek(0)
        holder = file.read(20).strip()
        file.close()
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


def _lock(file: IO[str]) -> None:
    """Lock an open file without waiting; raise `OSError` if another process has it locked."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        position = file.tell()
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        file.seek(position)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(file: IO[str], path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
