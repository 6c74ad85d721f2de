"""Archives: the only place that opens zip files, which are never trusted.

1. Names are keys, never paths: nothing is unpacked to the disk. An absolute name, or one with `..`, is
   refused all the same, since it was made on purpose; a leading slash of old versions is dropped.
2. An entry may be `LARGEST` bytes, all that are read `LARGEST_SUM`, archives inside archives included, and
   neither more than `DENSEST` times its packed size plus a little; what the entry claims is not believed,
   what comes out is counted.
3. Encrypted entries, and methods that Python does not know, are refused.
"""

import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.format import quoted
from caspr.storage import read_bytes

LARGEST = 1 << 28
"""The largest entry that is read, in bytes."""
LARGEST_SUM = 1 << 31
"""How much is read from one archive."""
DENSEST = 200
"""How many times larger than its packed size an entry may be."""
MOST = 100_000
"""How many entries an archive may have."""


@dataclass
class Archive:
    """An open archive."""

    file: zipfile.ZipFile = field(repr=False)
    entries: Mapping[str, zipfile.ZipInfo]
    around: "Archive | None" = field(default=None, repr=False)
    total: int = 0
    """How many bytes were read so far, from archives inside it too."""

    @property
    def names(self) -> list[str]:
        """The names of all files in it, in order."""
        return list(self.entries)

    def read(self, name: str) -> bytes:
        """Return the content of a file, or refuse it."""
        entry = self.entries[name]
        limit = min(LARGEST, self._left(), DENSEST * entry.compress_size + 100_000)
        try:
            with self.file.open(entry) as stream:
                data = stream.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise FormatError(None, f"broken entry {quoted(name)} ({error})", "a whole zip file") from None
        except (NotImplementedError, RuntimeError) as error:
            raise FormatError(None, f"entry {quoted(name)}: {error}", "a plain zip file") from None
        if len(data) > limit:
            found = f"entry {quoted(name)} that unpacks to more than {limit:,} bytes"
            raise FormatError(None, found, "documents of a sensible size")
        self._count(len(data))
        return data

    def _left(self) -> int:
        own = LARGEST_SUM - self.total
        return own if self.around is None else min(own, self.around._left())

    def _count(self, size: int) -> None:
        self.total += size
        if self.around is not None:
            self.around._count(size)


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip file."""
    return zipfile.is_zipfile(path)


def open_archive(source: Path | bytes, *, around: Archive | None = None) -> Archive:
    """Open an archive, which may lie in another, or refuse one that is broken or hostile."""
    data = source if isinstance(source, bytes) else read_bytes(source)
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise FormatError(None, f"a broken zip file ({error})", "a whole one") from None
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in file.infolist():
        if entry.is_dir():
            continue
        key = entry.filename.removeprefix("/")
        if key.startswith("/") or "\\" in key or ".." in key.split("/") or "\0" in key:
            raise FormatError(None, f"entry {quoted(entry.filename)}", "names that stay inside")
        if key in entries:
            raise FormatError(None, f"entry {quoted(key)} for the second time", "each name once")
        entries[key] = entry
        if len(entries) > MOST:
            raise FormatError(None, f"more than {MOST:,} entries", "fewer")
    return Archive(file, entries, around)


def make_archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Pack files, the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, data)
    return buffer.getvalue()
