"""Files with many documents in them: where each document is, without keeping the files in memory.

A CoNLL file is cut at its markers, line by line; a document then is some stretches of bytes, read and
judged by itself, so that a malformed one spoils no other. Any other format is read whole, one file at a
time, and its annotations are put into a file from which they can be fetched one by one.
"""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from caspr.corpus.job import Piece
from caspr.errors import InputError
from caspr.formats import read

_BEGIN = re.compile(rb"# *begin +document(?=[ (;]) *(.*?)\s*$", re.IGNORECASE)
_END = re.compile(rb"# *end +document\b", re.IGNORECASE)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+[^\s;()]+[ \t]*;?[ \t]*)?", re.IGNORECASE)
_HEAD = 1 << 16


class Found(NamedTuple):
    """One document of a file."""

    document: str
    annotator: str
    piece: Piece


def index(path: Path, spool: IO[bytes]) -> Iterator[Found]:
    """Yield the documents of a file; what cannot be cut is put into the spool."""
    try:
        with path.open("rb") as stream:
            if _is_columns(stream.read(_HEAD)):
                stream.seek(0)
                yield from (Found(name, path.stem, piece) for name, piece in cut(stream))
                return
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from error
    for annotation in read(path, path.stem):
        offset = spool.tell()
        pickle.dump(annotation, spool)
        yield Found(annotation.document.name, annotation.annotator, Piece(offset, spool.tell() - offset, 0))


def _is_columns(head: bytes) -> bool:
    return any(map(_BEGIN.match, head.removeprefix(b"\xef\xbb\xbf").splitlines()))


def cut(stream: IO[bytes]) -> Iterator[tuple[str, Piece]]:
    """Yield name and place of every document, from behind the one before; the last has the rest of the file.

    Nothing is left out: whatever stands between documents is read, and judged, with one of them.

    >>> import io
    >>> text = b"# hello\\n#begin document (a);\\n1 x -\\n#end document\\n#begin document (b); part 001\\n"
    >>> list(cut(io.BytesIO(text)))
    [('a', Piece(offset=0, length=49, line=1)), ('b', Piece(offset=49, length=30, line=5))]
    """
    name: str | None = None
    start, line, offset = 0, 1, 0
    end: tuple[int, int] | None = None
    for number, text in enumerate(stream, start=1):
        head = (text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text) if b"#" in text[:4] else b""
        begin = _BEGIN.match(head)
        if begin is not None:
            if name is not None:
                stop, following = end or (offset, number)
                yield name, Piece(start, stop - start, line)
                start, line = stop, following
            name, end = _name(begin[1].decode("utf-8", "replace")), None
        offset += len(text)
        if name is not None and _END.match(head):
            end = offset, number + 1
    if name is not None:
        yield name, Piece(start, offset - start, line)


def _name(text: str) -> str:
    """Return the name that follows a marker: up to the last closing parenthesis, or to the part."""
    if text.startswith("("):
        name, closed, tail = text[1:].rpartition(")")
        if closed and _TAIL.fullmatch(tail):
            return name
    return re.sub(r";?[ \t]*(?:part[ \t]+[^\s;()]+)?[ \t]*;?$", "", text, flags=re.IGNORECASE)
