"""Files: read text whole, write it so that a reader finds the old version or the new one, never half.

    encode -> temporary file in the same folder -> fsync -> os.replace -> fsync of the folder

`os.replace` is atomic only within one file system, hence the same folder. A symbolic link stays a link:
its target is replaced. Devices and pipes (`/dev/stdout`) cannot be replaced and are written directly.
Every failure is one line, and leaves no temporary file behind.

Windows neither replaces nor removes a file while somebody has it open: virus scanners, search indexers and
editors do so for moments, so that replacing is tried again for a while there.
"""

import codecs
import errno
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from caspr.errors import FormatError, InputError, OutputError
from caspr.similar_names import similar_file

_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""Byte order marks of encodings that are not read; the longer first, because one begins with another."""
_UTF_8 = "UTF-8 text: save or convert the file as UTF-8"
_TEMPORARY = re.compile(r"\.caspr-[0-9a-f]{16}\.tmp")
"""The names of temporary files."""
_FORBIDDEN = re.compile(
    r'[\x00-\x1f<>:"|?*\\]|[. ]$|^(?=(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)).', re.IGNORECASE
)
"""What Windows does not have in the name of a file: characters, ends, and the names of devices."""
_BINARY: int = getattr(os, "O_BINARY", 0)
"""Without it, Windows changes line ends."""
_PATIENCE = 2.0
"""Seconds during which Windows is asked again to replace a file that somebody has open."""
_PAUSE = 0.02
"""Seconds between two attempts to replace it."""


@dataclass
class _Pending:
    """One file that is being written."""

    path: Path
    """The path as the user gave it, for messages."""
    target: Path
    """The file to replace, with links followed."""
    data: bytes
    """The new content."""
    stream: bool
    """Whether this is a device or a pipe, to be written directly."""
    temporary: Path | None = None
    """Where the new content waits."""
    written: bool = False
    """Whether the new content is in place."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file without touching its line ends; a byte order mark is dropped."""
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path, limit: int = -1) -> bytes:
    """Read a file whole, or at most so many bytes of it."""
    try:
        with path.open("rb") as stream:
            return stream.read(limit)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read: {_reason(error)}{similar_file(path, error)}") from error


def decode(data: bytes, source: str) -> str:
    """Decode UTF-8, refusing anything else with its line and what to do about it."""
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            raise FormatError(source, 1, f"{encoding} text", _UTF_8)
    if data.startswith(b"\x1f\x8b"):
        raise FormatError(source, None, "a file packed by gzip", "the file in it: unpack it with `gunzip`")
    if (zero := data.find(0)) >= 0:
        expected = "UTF-8 text: this is UTF-16 or no text file; save or convert it as UTF-8"
        raise FormatError(source, data.count(b"\n", 0, zero) + 1, "a NUL character", expected)
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        found, expected = f"byte 0x{body[error.start]:02x}, which is not UTF-8", _UTF_8
        if error.reason == "unexpected end of data":
            found, expected = "the first part of a character", "its rest: the file is cut off; get it again"
        raise FormatError(source, body.count(b"\n", 0, error.start) + 1, found, expected) from error


def write_all(
    texts: Mapping[Path, str | bytes],
    *,
    below: Path | None = None,
    folders: Iterable[Path] = (),
    before_replacing: Callable[[], None] = lambda: None,
) -> None:
    """Write several files: none is replaced before all of them are safely on the disk.

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


def write_stream(path: Path, parts: Iterable[str]) -> None:
    """Replace a file in one step by text that comes in parts, without keeping it in memory."""
    with explained(path):
        target = Path(os.path.realpath(path))
        temporary = _temporary(target)
        try:
            with temporary.open("x", encoding="utf-8", newline="") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            put_in_place(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(target.parent)


def remove_temporary(folder: Path, *, of: Path | None = None) -> None:
    """Remove what processes that were killed left below a folder; no process may be writing there.

    With `of`, only what was to become this file of the folder is removed, and no process may be writing that.
    """
    for path in folder.rglob("*.tmp") if of is None else folder.glob(f".caspr-{_name_digest(of)}*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


def refuse_overwriting(output: Path, inputs: Iterable[Path]) -> None:
    """Raise `InputError` if the output is one of the inputs, by whatever name or link."""
    for given in inputs:
        if _same_file(output, given):
            name = f"{output}" if output == given else f"{output} (the same file as {given})"
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


def refuse_unwritable(output: Path) -> None:
    """Raise `OutputError` if a file surely cannot be written, before time is spent on its content."""
    target = Path(os.path.realpath(output))
    if target.is_dir():
        raise OutputError(f"{output}: cannot write: this is a folder")
    if not target.parent.is_dir():
        raise OutputError(f"{output}: cannot write: there is no folder {target.parent}")


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
                _create(copy, data, mode)
            except FileExistsError:
                continue
            sync_folder(copy.parent)
            return copy
    raise AssertionError("count() ended")


def stage(target: Path, data: bytes) -> Path:
    """Write what is to become a file to a temporary file beside it, synced; return its path."""
    _prepare(file := _Pending(target, target, data, stream=False))
    assert file.temporary is not None
    return file.temporary


def portable_name(name: str) -> str:
    """Return a name of a file or folder that every system can have: what Windows forbids becomes a code.

    >>> portable_name("a:b"), portable_name("con.txt"), portable_name("etc."), portable_name("Console")
    ('a%3Ab', '%63on.txt', 'etc%2E', 'Console')
    """
    return _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", name)


def _temporary(target: Path) -> Path:
    """Return a new name for a temporary file, which shows what file it is to become."""
    return target.with_name(f".caspr-{_name_digest(target)}{secrets.token_hex(4)}.tmp")


def _name_digest(path: Path) -> str:
    return hashlib.blake2b(path.name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _make_folders(folder: Path, below: Path | None) -> list[Path]:
    """Make a folder and those between it and `below` that are missing, and return those that were made."""
    missing = []
    while below not in (None, folder) and folder.is_relative_to(below) and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for one in missing:
        one.mkdir()
    return missing


def _plan(path: Path, text: str | bytes) -> _Pending:
    target = Path(os.path.realpath(path))
    stream = is_stream(path)
    if not stream and target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return _Pending(path, target, data, stream)


def _refuse_twins(files: list[_Pending]) -> None:
    """Refuse two names of one file: only one of the texts could survive."""
    seen: dict[Path, Path] = {}
    for file in files:
        if file.target in seen and not file.stream:
            raise OutputError(f"{file.path}: cannot write: the same file as {seen[file.target]}")
        seen[file.target] = file.path


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


def put_in_place(temporary: Path, target: Path) -> None:
    """Put a file into the place of another in one step."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            temporary.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline or target.is_dir():
                raise
        time.sleep(_PAUSE)


def _create(path: Path, data: bytes, mode: int | None) -> None:
    """Make a new file that is on the disk when this returns, and not there at all if it fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    descriptor = os.open(path, flags, 0o666 if mode is None else 0o600)
    try:
        _write(descriptor, data, mode=mode, sync=True)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _write(descriptor: int, data: bytes, *, mode: int | None = None, sync: bool = False) -> None:
    """Write all bytes and close the descriptor in any case."""
    try:
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        rest = memoryview(data)
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


def _same_file(output: Path, given: Path) -> bool:
    with suppress(OSError, ValueError):
        if output.samefile(given):
            # A terminal may well be both standard input and output.
            return output.is_file()
    return os.path.realpath(output) == os.path.realpath(given) and not output.exists()


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
