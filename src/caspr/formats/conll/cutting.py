"""Cut a CoNLL file at its markers, line by line, without reading what is between them.

A document then is a stretch of bytes, read on its own, so that a malformed one does not affect the others
and memory does not grow with the file.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from caspr.errors import FormatError, InputError
from caspr.files import decode
from caspr.formats.conll.reading import parse, read
from caspr.formats.format import Stretch
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation

_BEGIN = re.compile(rb"# *begin +document(?=[ (;]) *(.*?)\s*$", re.IGNORECASE)
_END = re.compile(rb"# *end +document\b", re.IGNORECASE)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+[^\s;()]+[ \t]*;?[ \t]*)?", re.IGNORECASE)
_MARK = b"\xef\xbb\xbf"
_HEAD = 1 << 16


def cut(path: Path, options: ReadOptions) -> Iterator[Stretch]:  # noqa: ARG001
    """Yield the documents of a file; one without a document is read, which raises what is wrong with it."""
    try:
        with path.open("rb") as stream:
            if any(map(_BEGIN.match, stream.read(_HEAD).removeprefix(_MARK).splitlines())):
                stream.seek(0)
                yield from stretches(stream)
                return
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from error
    read(path)


def stretches(stream: IO[bytes]) -> Iterator[Stretch]:
    """Yield name and place of every document, from behind the one before; the last has the rest.

    Nothing is left out: whatever stands between documents is read, and checked, with one of them.

    >>> import io
    >>> text = b"# hello\\n#begin document (a);\\n1 x -\\n#end document\\n#begin document (b); part 001\\n"
    >>> for stretch in stretches(io.BytesIO(text)):
    ...     print(stretch)
    Stretch(document='a', offset=0, length=49, line=1)
    Stretch(document='b', offset=49, length=30, line=5)
    """
    name: str | None = None
    start, line, offset = 0, 1, 0
    end: tuple[int, int] | None = None
    for number, text in enumerate(stream, start=1):
        head = (text.removeprefix(_MARK) if number == 1 else text) if b"#" in text[:4] else b""
        begin = _BEGIN.match(head)
        if begin is not None:
            if name is not None:
                stop, following = end or (offset, number)
                yield Stretch(name, start, stop - start, line)
                start, line = stop, following
            name, end = _name(begin[1].decode("utf-8", "replace")), None
        offset += len(text)
        if name is not None and _END.match(head):
            end = offset, number + 1
    if name is not None:
        yield Stretch(name, start, offset - start, line)


def _name(text: str) -> str:
    """Return the name that follows a marker: up to the last closing parenthesis, or to the part."""
    if text.startswith("("):
        name, closed, tail = text[1:].rpartition(")")
        if closed and _TAIL.fullmatch(tail):
            return name
    return re.sub(r";?[ \t]*(?:part[ \t]+[^\s;()]+)?[ \t]*;?$", "", text, flags=re.IGNORECASE)


def read_stretch(
    path: Path,
    content: bytes,
    annotator: str,
    line: int,
    options: ReadOptions,  # noqa: ARG001
) -> list[Annotation]:
    """Read a document that begins in some line of its file; messages name the lines of the file."""
    source, before = str(path), line - 1
    try:
        found = parse(decode(content, source), source, annotator)
    except FormatError as error:
        place = None if error.line is None else error.line + before
        raise FormatError(error.source, place, error.found, error.expected) from error
    if any(annotation.findings for annotation in found):
        # Findings name lines in their sentences: read again, with empty lines for what stands before.
        return parse("\n" * before + decode(content, source), source, annotator)
    return [_moved(annotation, before) for annotation in found]


def _moved(annotation: Annotation, lines: int) -> Annotation:
    document = annotation.document
    return replace(
        annotation, document=replace(document, lines=tuple(line + lines for line in document.lines))
    )
