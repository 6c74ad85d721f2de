"""Gzip: the only place that unpacks gzip files, which are never trusted.

A file may unpack to `LARGEST` bytes, and to `DENSEST` times its own size plus a little.
"""

import zlib

from caspr.errors import FormatError

LARGEST = 1 << 28
"""The largest file that is read, in bytes."""
DENSEST = 200
"""How many times larger than its packed size a file may be."""
_MAGIC = b"\x1f\x8b"


def is_gzip(data: bytes) -> bool:
    """Return whether some bytes begin like a gzip file."""
    return data.startswith(_MAGIC)


def largest(packed: int) -> int:
    """Return how many bytes may be unpacked from this many packed ones."""
    return min(LARGEST, DENSEST * packed + 100_000)


def unpack(data: bytes) -> bytes:
    """Return what is packed in a file, or refuse one that is broken or too large."""
    limit = largest(len(data))
    parts: list[bytes] = []
    size = 0
    rest = data
    try:
        while rest:
            machine = zlib.decompressobj(wbits=31)
            parts.append(machine.decompress(rest, limit + 1 - size))
            size += len(parts[-1])
            if size > limit:
                found = f"a gzip file that unpacks to more than {limit:,} bytes"
                raise FormatError(None, found, "documents of a sensible size")
            if not machine.eof:
                raise FormatError(None, "a gzip file that is cut off", "a whole one")
            rest = machine.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise FormatError(None, f"a broken gzip file ({error})", "a whole one") from None
    return b"".join(parts)


def beginning(data: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of what is packed in the beginning of a file; nothing if it is broken."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, limit)
    except zlib.error:
        return b""


def pack(data: bytes) -> bytes:
    """Pack a file, the same bytes for the same content."""
    import gzip

    # The highest level takes three times as long and saves four hundredths of the size.
    return gzip.compress(data, compresslevel=6, mtime=0)
