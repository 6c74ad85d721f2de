"""Checksums in the header of a review file: what was changed in it by hand, and where.

    "sums": {"annotators": [2774913063, 3413], "result": "3AbCd2", "text": 391202}

A review file is edited in its result column, and only cells marked with `=` are enforced. A slip elsewhere, a
forgotten `=`, a letter in a word, a bracket of an annotator, would count or be lost without a word. So the
header keeps a checksum of the text, one of each annotator's column, and two letters for each cell of the
result, with a number for each run of empty ones: `3AbCd2` is three empty cells, two that are not, and two
empty ones. A changed cell keeps its letters once in 2,704 times.

Nothing is refused: such changes may be meant. Files without checksums, as older versions wrote them, are not
checked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_letters
from zlib import crc32

from caspr.formats.columns.cells import NOTHING
from caspr.formats.messages import quoted
from caspr.text.document import Document
from caspr.text.findings import Finding, times, warning

_LETTERS = len(ascii_letters)
_PIECE = re.compile(r"[0-9]+|[A-Za-z]{2}")


def column_sum(cells: Sequence[str]) -> int:
    """Return the checksum of a column."""
    return crc32("\n".join(cells).encode("utf-8", "surrogatepass"))


def result_sum(cells: Sequence[str]) -> str:
    """Return the letters of each cell of the result, and the number of empty ones between them.

    >>> result_sum(["-", "-", "-", "(1)", "-", "(1)"])
    '3eK1eK'
    """
    known: dict[str, str] = {}
    pieces: list[str] = []
    for empty, run in groupby(cells, key=NOTHING.__contains__):
        if empty:
            pieces.append(str(sum(1 for _ in run)))
            continue
        for cell in run:
            if cell not in known:
                known[cell] = _letters(cell)
            pieces.append(known[cell])
    return "".join(pieces)


def _letters(cell: str) -> str:
    number = crc32(cell.encode("utf-8", "surrogatepass")) % _LETTERS**2
    return ascii_letters[number // _LETTERS] + ascii_letters[number % _LETTERS]


def changed(
    sums: Mapping[str, object],
    document: Document,
    prefixes: Sequence[str],
    annotators: Mapping[str, Sequence[str]],
    result: Sequence[str],
) -> Iterator[Finding]:
    """Yield what differs from the checksums of a document; those that are missing are not checked."""
    where = f"{document.source}, {document.title}"
    if sums.get("text") not in (None, column_sum(prefixes)):
        message = "the words, or other columns of the text, were changed after this file was written"
        yield warning("changed-text", f"{message}: they go into the result as they are now", where=where)
    known = sums.get("annotators")
    pairs = zip(annotators.items(), known, strict=False) if isinstance(known, list) else ()
    names = [name for (name, cells), number in pairs if number != column_sum(cells)]
    if names:
        shown = ", ".join(map(quoted, names))
        message = f"the cells of {shown} were changed after this file was written: they vote as they are now"
        yield warning("changed-annotators", message, count=len(names), where=where)
    yield from _unmarked(sums.get("result"), document, result)


def _unmarked(known: object, document: Document, result: Sequence[str]) -> Iterator[Finding]:
    """Warn of cells of the result that were changed and not marked with `=`."""
    if not isinstance(known, str):
        return
    written = _written(known)
    if len(written) != len(result):
        return
    tokens = [
        token
        for token, (cell, letters) in enumerate(zip(result, written, strict=True), 1)
        if not cell.startswith("=") and letters != ("" if cell in NOTHING else _letters(cell))
    ]
    if tokens:
        number = times(len(tokens), "changed cell")
        message = (
            f"{number} of the result without `=` ignored and computed anew (first at "
            f"{document.place(tokens[0])}: {quoted(result[tokens[0] - 1])}); `=` before a cell enforces it"
        )
        yield warning("changed-without-mark", message, count=len(tokens), where=document.title)


def _written(known: str) -> list[str]:
    """Return the letters of each cell, nothing for an empty one."""
    found: list[str] = []
    for piece in _PIECE.findall(known):
        found += [""] * min(int(piece), 10_000_000) if piece.isdigit() else [piece]
    return found
