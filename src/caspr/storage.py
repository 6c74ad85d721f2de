"""Files on the disk: read whole, replaced whole, locked, and compared before they are replaced.

**Reading.** Text is UTF-8 and is read whole; anything else is refused with its line and what to do.

**Writing.** Whoever reads finds the old version of a file or the new one, never half:

    encode -> temporary file in the same folder -> fsync -> os.replace -> fsync of the folder

`os.replace` is atomic only within one file system, hence the same folder. A symbolic link stays a link:
its target is replaced. Devices and pipes (`/dev/stdout`) cannot be replaced and are written directly.
Every failure is one line, and leaves no temporary file. Windows neither replaces nor removes a file while
somebody has it open, as virus scanners, search indexers and editors do for moments: replacing is tried
again for a while there.

**Locking.** There is one lock for each file that several commands may write (the page, `redo`, `corpus`):

    review.conll          the file
    .review.conll.lock    beside it; its holder has it locked, and its process id stands in it

The system releases a lock when its process ends, even by kill -9, so a leftover lock file is harmless. A
file is locked by its name with symbolic links followed. One with several names (hard links) would have
several locks, and replacing one of its names would not replace the others: it is refused.

**Comparing.** A file that somebody else may save is replaced only while it holds what the writer knows:

    stage      the new text is on the disk beside the file, synced
    compare    the file still has the known content; otherwise nothing happens
    exchange   both change places in one step, where the system can (Linux, macOS)
    compare    what came out is the known content; otherwise somebody saved in between, and it is put back

Between comparing and replacing there is always a moment. After an exchange, what was replaced is still
there, so that a save in that moment is noticed and put back; a save that comes even then is newer and stays.
Where the system has no exchange, the file is replaced within microseconds of the first comparison.
"""

import codecs
import errno
import hashlib
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Self

from caspr.errors import FormatError, InputError, OutputError, reading

_SIMILAR = 0.85
"""How similar names must be, from 0 to 1, unless they have the same letters in another order."""
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""Of encodings that are not read; the longer first, because one begins with another."""
_UTF_8 = "UTF-8 text: save or convert the file as UTF-8"
_TEMPORARY = re.compile(r"\.caspr-[0-9a-f]{16}\.tmp")
"""The names of temporary files."""
_FORBIDDEN = re.compile(
    r'[\x00-\x1f<>:"|?*\\]|[. ]$|^(?=(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)).', re.IGNORECASE
)
"""What Windows does not allow in the name of a file: characters, ends, and the names of devices."""
_BINARY: int = getattr(os, "O_BINARY", 0)
"""Without it, Windows changes line ends."""
_LONGEST_NAME = 60
"""How many characters a file is named after, of which each may take four bytes of the 255 that there are."""
_PATIENCE = 2.0
"""Seconds during which Windows is asked again to replace a file that somebody has open."""
_PAUSE = 0.02
"""Seconds between two attempts to replace it."""
_SWAP = 2
"""RENAME_EXCHANGE of Linux's renameat2, and RENAME_SWAP of renamex_np on macOS: the same number."""
_HERE = -100
"""AT_FDCWD: paths are relative to the current folder."""
Stamp = tuple[int, int, int]
"""Size, time and inode of a file."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file without touching its line ends; a byte order mark is dropped."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path, limit: int = -1) -> bytes:
    """Read a file whole, or its first `limit` bytes."""
    try:
        with path.open("rb") as stream:
            return stream.read(limit)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read: {_reason(error)}{similar_file(path, error)}") from error


def decode(data: bytes, source: str | Path = "") -> str:
    """Decode UTF-8, refusing anything else with its line and what to do about it."""
    with reading(source):
        return _decoded(data)


def _decoded(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            raise FormatError(1, f"{encoding} text", _UTF_8)
    if data.startswith(b"\x1f\x8b"):
        raise FormatError(None, "a file packed by gzip", "the file in it: unpack it with `gunzip`")
    if (zero := data.find(0)) >= 0:
        expected = "UTF-8 text: this is UTF-16 or no text file; save or convert it as UTF-8"
        raise FormatError(data.count(b"\n", 0, zero) + 1, "a NUL character", expected)
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        found, expected = f"byte 0x{body[error.start]:02x}, which is not UTF-8", _UTF_8
        if error.reason == "unexpected end of data":
            found, expected = "the first part of a character", "its rest: the file is cut off; get it again"
        raise FormatError(body.count(b"\n", 0, error.start) + 1, found, expected) from error


def similar_file(path: Path, error: Exception) -> str:
    """Return which file or folder was probably meant, if a file could not be read because it is not there.

    A folder on the way to it may be the one that is mistyped.

    >>> similar_file(Path("nothing-like-it"), PermissionError())
    ''
    """
    if not isinstance(error, FileNotFoundError):
        return ""
    from difflib import get_close_matches

    missing = next((step for step in (*reversed(path.parents), path) if not step.exists()), path)
    try:
        present = [entry.name for entry in missing.parent.iterdir() if not entry.name.startswith(".")]
    except OSError:
        return ""
    names = {name.lower(): name for name in present}
    wanted = missing.name.lower()
    like = [name for name in names if sorted(name) == sorted(wanted)]
    like = like or get_close_matches(wanted, names, n=1, cutoff=_SIMILAR)
    return f"; did you mean {missing.with_name(names[like[0]])}?" if like else ""


@dataclass
class _Pending:
    """One file that is being written."""

    path: Path
    """As the user gave it, for messages."""
    target: Path
    """With links followed."""
    data: Iterable[bytes]
    """The new content, in parts."""
    stream: bool
    """Whether this is a device or a pipe, to be written directly."""
    temporary: Path | None = None
    """Where the new content waits."""
    written: bool = False


def write_all(
    texts: Mapping[Path, str | bytes | Iterable[str]],
    *,
    below: Path | None = None,
    folders: Iterable[Path] = (),
    before_replacing: Callable[[], None] = lambda: None,
) -> None:
    """Write several files: none is replaced before all of them are safely on the disk.

    A text may come in parts, which are not kept in memory.
    `before_replacing` is called at that moment, and may raise to replace none.

    Missing folders below the folder `below` are made, and so are `folders`; they are removed again if
    writing fails. Devices and pipes come first: what was written to them cannot be taken back, but if that
    fails, no file has been replaced.
    """
    files: list[_Pending] = []
    made: list[Path] = []
    try:
        for folder in folders:
            with explained(folder):
                made.extend(_make_folders(folder, folder.parent))
        for path in texts:
            with explained(path):
                made.extend(_make_folders(path.parent, below))
        for path, text in texts.items():
            with explained(path, files):
                files.append(_plan(path, text))
        _refuse_twins(files)
        for file in files:
            with explained(file.path, files):
                _prepare(file)
        before_replacing()
        for file in sorted(files, key=lambda file: not file.stream):
            with explained(file.path, files):
                _finish(file)
    finally:
        for file in files:
            if file.temporary is not None:
                with suppress(OSError):
                    file.temporary.unlink()
        for folder in reversed(made):
            # Succeeds only where nothing was written into it.
            with suppress(OSError):
                folder.rmdir()
    for folder in {file.target.parent for file in files if not file.stream}:
        sync_folder(folder)


def _make_folders(folder: Path, below: Path | None) -> list[Path]:
    """Make a folder and those between it and `below` that are missing, and return those that were made."""
    missing = []
    while below not in (None, folder) and folder.is_relative_to(below) and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for path in missing:
        path.mkdir()
    return missing


def _plan(path: Path, text: str | bytes | Iterable[str]) -> _Pending:
    target = Path(os.path.realpath(path))
    stream = is_stream(path)
    if not stream and target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    parts = (text,) if isinstance(text, str | bytes) else text
    data = (part if isinstance(part, bytes) else part.encode("utf-8") for part in parts)
    return _Pending(path, target, data, stream)


def is_stream(path: Path) -> bool:
    """Return whether a path leads to a device, a pipe or an open descriptor of this process.

    `/dev/stdout` leads through `/proc/self/fd` to a regular file when the output is redirected; replacing
    that file would destroy what a `>>` was meant to keep.
    """
    step = path
    for _ in range(40):
        folder = os.path.realpath(step.parent)
        if folder in ("/dev", "/dev/fd") or folder.startswith("/proc/"):
            return True
        if not step.is_symlink():
            break
        step = step.parent / step.readlink()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _refuse_twins(files: list[_Pending]) -> None:
    """Refuse two names of one file: only one of the texts could survive."""
    seen: dict[Path, Path] = {}
    for file in files:
        if file.target in seen and not file.stream:
            raise OutputError(f"{file.path}: cannot write: the same file as {seen[file.target]}")
        seen[file.target] = file.path


def _prepare(file: _Pending) -> None:
    if file.stream:
        return
    try:
        mode: int | None = stat.S_IMODE(file.target.stat().st_mode)
    except FileNotFoundError:
        mode = None
    file.temporary = _temporary(file.target)
    _create(file.temporary, file.data, mode)


def _finish(file: _Pending) -> None:
    if file.temporary is None:
        # Appending: a redirected standard output is not truncated.
        _write(os.open(file.path, os.O_WRONLY | os.O_APPEND | _BINARY), file.data)
    else:
        put_in_place(file.temporary, file.target)
        file.temporary = None
    file.written = True


def put_in_place(temporary: Path, target: Path, compare: Callable[[], None] = lambda: None) -> None:
    """Put a file into the place of another in one step; `compare` is called right before, and may refuse.

    Where another program has the file open, Windows refuses this for a while, in which it may be saved.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            compare()
            temporary.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline or target.is_dir():
                raise
        time.sleep(_PAUSE)


def _create(path: Path, data: Iterable[bytes], mode: int | None) -> None:
    """Make a new file that is on the disk when this returns, and not there at all if it fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    descriptor = os.open(path, flags, 0o666 if mode is None else 0o600)
    try:
        _write(descriptor, data, mode=mode, sync=True)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _write(descriptor: int, data: Iterable[bytes], *, mode: int | None = None, sync: bool = False) -> None:
    """Write all parts and close the descriptor in any case."""
    try:
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        for part in data:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the new name durable, where the file system can; the content is safe already."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def explained(path: Path, files: Iterable[_Pending] = ()) -> Iterator[None]:
    """Turn a failure into one line that names the files that were written before it."""
    try:
        yield
    except (OSError, ValueError) as error:
        written = [str(file.path) for file in files if file.written]
        changed = f"only {', '.join(written)} was written" if written else "nothing was changed"
        raise OutputError(f"{path}: cannot write: {_reason(error)}; {changed}") from error


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        if not 0xD800 <= ord(character) < 0xE000:
            return f"file names are {error.encoding} here, which has no '{character}': set PYTHONUTF8=1"
        return f"the text has a lone surrogate U+{ord(character):04X}, which UTF-8 cannot hold"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def stage(target: Path, data: bytes) -> Path:
    """Write what is to become a file to a temporary file beside it; return its path."""
    _prepare(file := _Pending(target, target, (data,), stream=False))
    assert file.temporary is not None
    return file.temporary


def _temporary(target: Path) -> Path:
    """Return a new name for a temporary file, which shows what file it is to become."""
    return target.with_name(f".caspr-{_name_digest(target)}{os.urandom(4).hex()}.tmp")


def _name_digest(path: Path) -> str:
    return hashlib.blake2b(path.name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def remove_temporary(folder: Path, *, of: Path | None = None) -> None:
    """Remove what killed processes left below a folder, or only what was to become the file `of` in it.

    No process may be writing there, or writing that file.
    """
    for path in folder.rglob("*.tmp") if of is None else folder.glob(f".caspr-{_name_digest(of)}*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


def back_up(path: Path, outputs: Iterable[Path] = ()) -> Path:
    """Copy a file to `name.1.bak`, or the next number that is free and no output; return the copy's path."""
    taken = {os.path.realpath(output) for output in outputs}
    with explained(path):
        data = path.read_bytes()
        mode = stat.S_IMODE(path.stat().st_mode)
        for number in count(1):
            copy = path.with_name(f"{path.name}.{number}.bak")
            if os.path.realpath(copy) in taken:
                continue
            try:
                _create(copy, (data,), mode)
            except FileExistsError:
                continue
            sync_folder(copy.parent)
            return copy
    raise AssertionError("count() ended")


def portable_name(name: str) -> str:
    """Return a name of a file or folder that every system can have: what Windows forbids becomes a code.

    >>> portable_name("a:b"), portable_name("con.txt"), portable_name("etc."), portable_name("Console")
    ('a%3Ab', '%63on.txt', 'etc%2E', 'Console')
    """
    return _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", name)


def file_names(names: Iterable[str], suffix: str, otherwise: str) -> Mapping[str, str]:
    """Give every name a file name of its own that every system can have and that leads into no folder.

    `otherwise` is what a name is called that has nothing a file name may have.

    >>> file_names(["ann", "../ann", "Ann ", ""], ".html", "annotator")
    {'ann': 'ann.html', '../ann': 'ann-2.html', 'Ann ': 'Ann-3.html', '': 'annotator.html'}
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.-]+", "_", name).strip("._-")[:_LONGEST_NAME] or otherwise
        plain = portable_name(plain)
        free, number = plain, 1
        while free.lower() in taken:
            number += 1
            free = f"{plain}-{number}"
        taken.add(free.lower())
        files[name] = f"{free}{suffix}"
    return files


def refuse_unwritable(output: Path) -> None:
    """Raise `OutputError` if a file surely cannot be written, before time is spent on its content."""
    target = Path(os.path.realpath(output))
    if target.is_dir():
        raise OutputError(f"{output}: cannot write: this is a folder")
    if not target.parent.is_dir():
        raise OutputError(f"{output}: cannot write: there is no folder {target.parent}")


def refuse_overwriting(output: Path, inputs: Iterable[Path]) -> None:
    """Raise `InputError` if the output is one of the inputs, by whatever name or link."""
    # A terminal may well be both standard input and output.
    if output.exists() and not output.is_file():
        return
    for path in inputs:
        if identity(output) == identity(path):
            name = f"{output}" if output == path else f"{output} (the same file as {path})"
            raise InputError(f"{name} is an input and would be overwritten: choose another output file")


def identity(path: Path) -> object:
    """Return a value that two paths share if and only if they lead to one file, whether or not it exists.

    Symbolic links, hard links and different spellings of a path lead to the same file.
    """
    target = Path(os.path.realpath(path))
    for spelling in (path, target):
        with suppress(OSError, ValueError):
            status = spelling.stat()
            return status.st_dev, status.st_ino
    return os.path.normcase(target)


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

    def __exit__(self, *_: object) -> None:
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
            descriptor, locked = self._open()
            if not locked:
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

    def _open(self) -> tuple[int, bool]:
        """Open the lock file, and return whether this process has it locked now."""
        try:
            descriptor = os.open(self.lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OutputError(f"{self.lock_path}: cannot write: {error.strerror}") from error
        try:
            return descriptor, try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise OutputError(f"{self.lock_path}: cannot lock this file: {error.strerror}") from error

    def _already_locked(self, descriptor: int) -> InputError:
        os.lseek(descriptor, 1, os.SEEK_SET)
        holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
        os.close(descriptor)
        who = f" (process {holder})" if holder.isdecimal() else ""
        return InputError(f"{self.path}: this file is open in another `caspr`{who}: close it there first")


def refuse_hard_links(path: Path) -> None:
    """Raise `InputError` if a file has several names, of which a write would replace only one."""
    with suppress(OSError):
        names = path.stat().st_nlink
        if names > 1 and path.is_file():
            raise InputError(
                f"{path}: this file has {names} names (hard links), and saving would change only one of "
                "them: copy it, and open the copy"
            )


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


class ChangedError(OutputError):
    """Refuse to replace a file that somebody else has saved."""


def write_unless_changed(path: Path, data: bytes, is_known: Callable[[bytes], bool]) -> Stamp:
    """Replace a file, or raise `ChangedError` if its content is not known; return the stamp of the new file.

    A file that is missing is created. On any error the file is as its last writer left it.
    """
    target = Path(os.path.realpath(path))
    with explained(path):
        staged = stage(target, data)
        try:
            stamp = stamp_of(staged)
            assert stamp is not None
            _replace(path, staged, target, data, is_known)
        finally:
            with suppress(OSError):
                staged.unlink()
        sync_folder(target.parent)
    return stamp


def _replace(path: Path, staged: Path, target: Path, data: bytes, is_known: Callable[[bytes], bool]) -> None:
    def compare() -> None:
        with suppress(FileNotFoundError):
            if not is_known(target.read_bytes()):
                raise ChangedError(_changed(path))

    compare()
    if not exchange(staged, target):
        put_in_place(staged, target, compare)
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
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def exchange(first: Path, second: Path) -> bool:
    """Let two files change places in one step; return whether that was possible."""
    swap = _system_exchange()
    return swap is not None and swap(os.fsencode(first), os.fsencode(second)) == 0


@lru_cache(maxsize=1)
def _system_exchange() -> Callable[[bytes, bytes], int] | None:
    """Return the system's function, or `None` where there is none."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        if sys.platform == "linux":
            rename = library.renameat2
            return lambda first, second: int(rename(_HERE, first, _HERE, second, _SWAP))
        if sys.platform == "darwin":
            rename = library.renamex_np
            return lambda first, second: int(rename(first, second, _SWAP))
    return None


def _changed(path: Path) -> str:
    return f"{path}: another program has saved this file in the meantime: nothing was written"
