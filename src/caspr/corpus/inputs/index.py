"""Files with many documents in them: where each document is, without keeping the files in memory.

1. A CoNLL file is cut at its markers, line by line; a document then is some stretches of bytes, read and
   judged by itself, so that a malformed one spoils no other.
2. A project archive is cut into one for each document, all put into a file from which they are fetched.
3. A file of a format with one document in it is left to the worker: it may hold several annotators.
4. Any other is read whole, one file at a time, and its annotations are put into that file, too; instead of
   a malformed document, what is wrong with it.
"""

import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from caspr.corpus.job import PICKLED, PROJECT, DocumentPiece, Reading
from caspr.errors import FormatError, InputError
from caspr.formats import detect
from caspr.formats.registry import NAMED, read_each, split_project
from caspr.formats.sources import read_one
from caspr.text.document import Annotation

_BEGIN = re.compile(rb"# *begin +document(?=[ (;]) *(.*?)\s*$", re.IGNORECASE)
_END = re.compile(rb"# *end +document\b", re.IGNORECASE)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+[^\s;()]+[ \t]*;?[ \t]*)?", re.IGNORECASE)
_HEAD = 1 << 16


class Found(NamedTuple):
    """One document of a file."""

    document: str | None
    """Its name; `None` if that is the file's."""
    annotator: str | None
    """Who annotated; `None` if the document may have several annotators in the file."""
    piece: DocumentPiece | None
    """Where it is; `None` for the whole file."""


def index(path: Path, shown: str, spool: IO[bytes], reading: Reading) -> Iterator[Found]:
    """Yield the documents of a file; what cannot be cut is put into the spool, and called as `shown`."""
    try:
        with path.open("rb") as stream:
            if reading.format in (None, "conll") and _is_columns(stream.read(_HEAD)):
                stream.seek(0)
                yield from (Found(name, path.stem, piece) for name, piece in cut(stream))
                return
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from error
    format = reading.format or detect(path)
    if format == "inception":
        for name, data in split_project(path, reading.choices):
            yield Found(name, None, _spooled(data, spool, PROJECT))
    elif format not in NAMED:
        yield Found(None, None, None)
    elif format == "conll":
        # There is no document in it; reading it says what it is instead.
        read_one(path, path.stem, format=format)
    else:
        for name, one in read_each(path, format, path.stem, reading.choices):
            yield Found(
                name, path.stem, _spooled(pickle.dumps(_seen_from_the_corpus(one, shown)), spool, PICKLED)
            )


def _seen_from_the_corpus(one: Annotation | FormatError, shown: str) -> Annotation | str:
    """Return an annotation, or what is wrong with it, whose place is told as seen from the corpus folder."""
    if isinstance(one, FormatError):
        return str(FormatError(shown, one.line, one.found, one.expected))
    return replace(one, document=replace(one.document, source=shown))


def spool_fault(reason: str, spool: IO[bytes]) -> DocumentPiece:
    """Put what is wrong with a document into the spool, in place of the document."""
    return _spooled(pickle.dumps(reason), spool, PICKLED)


def _spooled(data: bytes, spool: IO[bytes], kind: int) -> DocumentPiece:
    offset = spool.tell()
    spool.write(data)
    return DocumentPiece(offset, len(data), kind)


def _is_columns(head: bytes) -> bool:
    return any(map(_BEGIN.match, head.removeprefix(b"\xef\xbb\xbf").splitlines()))


def cut(stream: IO[bytes]) -> Iterator[tuple[str, DocumentPiece]]:
    """Yield name and place of every document, from behind the one before; the last has the rest of the file.

    Nothing is left out: whatever stands between documents is read, and judged, with one of them.

    >>> import io
    >>> text = b"# hello\\n#begin document (a);\\n1 x -\\n#end document\\n#begin document (b); part 001\\n"
    >>> list(cut(io.BytesIO(text)))
    [('a', DocumentPiece(offset=0, length=49, line=1)), ('b', DocumentPiece(offset=49, length=30, line=5))]
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
                yield name, DocumentPiece(start, stop - start, line)
                start, line = stop, following
            name, end = _name(begin[1].decode("utf-8", "replace")), None
        offset += len(text)
        if name is not None and _END.match(head):
            end = offset, number + 1
    if name is not None:
        yield name, DocumentPiece(start, offset - start, line)


def _name(text: str) -> str:
    """Return the name that follows a marker: up to the last closing parenthesis, or to the part."""
    if text.startswith("("):
        name, closed, tail = text[1:].rpartition(")")
        if closed and _TAIL.fullmatch(tail):
            return name
    return re.sub(r";?[ \t]*(?:part[ \t]+[^\s;()]+)?[ \t]*;?$", "", text, flags=re.IGNORECASE)
