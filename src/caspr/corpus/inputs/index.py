"""Files with many documents in them: where each document is, without keeping the files in memory.

1. A file of a format with one document in a file is left to the worker: it may hold several annotators.
2. A file that its format can cut is not read here. A document of it is a stretch of the file, as in CoNLL,
   or a small file of its own, as of a project archive, which is put into the *spool*, one file for the run.
3. Any other file is read whole, one at a time, and its annotations are put into the spool, with what is wrong
   in place of a malformed document.

Each document is read on its own afterwards, so that a malformed one does not affect the others.
"""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from caspr.corpus.job import DocumentPiece, Reading
from caspr.errors import FormatError
from caspr.formats.format import Extract, Stretch
from caspr.formats.registry import choose, detect, read_each
from caspr.text.document import Annotation


class Found(NamedTuple):
    """One document of a file."""

    document: str | None
    """Its name; `None` if that is the file's."""
    annotator: str | None
    """Who annotated; `None` if the document may have several annotators in the file."""
    piece: DocumentPiece | None
    """Where it is; `None` for the whole file."""


def index(path: Path, shown: str, spool: IO[bytes], reading: Reading) -> Iterator[Found]:
    """Yield the documents of a file; what is no stretch of it goes into the spool, under the name `shown`."""
    format = choose(reading.format or detect(path))
    annotator = None if format.many_annotators else path.stem
    if not format.many_documents:
        yield Found(None, None, None)
    elif format.cutting is not None:
        for piece in format.cutting.cut(path, reading.options):
            yield Found(piece.document, annotator, _place(piece, format.name, spool))
    else:
        for name, one in read_each(path, format.name, path.stem, reading.options):
            data = pickle.dumps(_seen_from_the_corpus(one, shown))
            yield Found(_number(one) or name, annotator, _spooled(data, spool))


def _number(one: Annotation | FormatError) -> str:
    """Return the number of a document without a name, which it has in the files of all annotators."""
    return str(one.document.nameless or "") if isinstance(one, Annotation) else ""


def _place(piece: Stretch | Extract, format: str, spool: IO[bytes]) -> DocumentPiece:
    if isinstance(piece, Stretch):
        return DocumentPiece(piece.offset, piece.length, piece.line, format)
    return _spooled(piece.content, spool, format)


def _seen_from_the_corpus(one: Annotation | FormatError, shown: str) -> Annotation | str:
    """Return an annotation, or what is wrong with it, with its source as seen from the corpus folder."""
    if isinstance(one, FormatError):
        return str(FormatError(shown, one.line, one.found, one.expected))
    return replace(one, document=replace(one.document, source=shown))


def spool_fault(reason: str, spool: IO[bytes]) -> DocumentPiece:
    """Put what is wrong with a document into the spool, in place of the document."""
    return _spooled(pickle.dumps(reason), spool)


def _spooled(data: bytes, spool: IO[bytes], format: str = "") -> DocumentPiece:
    offset = spool.tell()
    spool.write(data)
    return DocumentPiece(offset, len(data), 0, format)
