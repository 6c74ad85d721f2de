"""One document of a review file, the line that every one begins with, and its checksums.

    "sums": {"annotators": [2774913063, 3413], "result": "3AbCd2", "text": 391202}

A review file is edited in its result column, and only cells marked with `=` are enforced. A slip elsewhere, a
forgotten `=`, a letter in a word, a bracket of an annotator, would count or be lost unnoticed. So the
header keeps a checksum of the text, one of each annotator's column, and two letters for each cell of the
result, with a number for each run of empty ones: `3AbCd2` is three empty cells, two that are not, and two
empty ones. A changed cell keeps its letters once in 2,704 times.

Nothing is refused: such changes may be meant. What has no checksum is not checked.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from string import ascii_letters
from zlib import crc32

from caspr.errors import InputError
from caspr.formats.bracket_cells import NOTHING
from caspr.formats.format import quoted
from caspr.result import Result
from caspr.storage import read_bytes
from caspr.task.decisions import Authorship, Decision, Decisions, Note
from caspr.task.stored_settings import write_settings
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding, times, warning

HEADER = "# caspr review:"
NOTE, DONE = "note", "done"
"""What a note, and the mark of a document that is done, are called in `Review.work`."""
EXAMINED = 1_000_000
"""In how many bytes from its beginning a review file has its first header."""


@dataclass(frozen=True)
class Review:
    """One document of a review file."""

    gold: Annotation
    """The result. Without chains when read from a file: it is computed from the rest."""
    annotations: tuple[Annotation, ...]
    decided: tuple[Decision, ...]
    """What the adjudicator decided, each with its author; cells first, names last."""
    settings: Mapping[str, object]
    """How the result was computed, in terms of JSON."""
    notes: tuple[Note, ...] = ()
    done: Authorship | None = None
    """Who has said that nothing is left to decide, and when."""
    shown: Mapping[str, tuple[Span, ...]] = field(default_factory=dict, compare=False)
    """Of each id in enforced cells, the mentions that the file shows under it and does not enforce."""
    homes: Mapping[str, Sequence[Span]] = field(default_factory=dict, compare=False)
    """The chains that the file shows as its result, by their ids."""

    @cached_property
    def decisions(self) -> Decisions:
        """All that is decided, put together."""
        return Decisions.combining(decision.statement for decision in self.decided)

    @property
    def work(self) -> frozenset[tuple[str, object]]:
        """All that somebody decided, noted or called done: what it is, and what it says."""
        decisions = self.decisions
        boundaries = {token for span in decisions.permitted for token in span}
        return frozenset(
            [
                *(("cells", span) for span in decisions.permitted),
                *(("empty cell", token) for token in decisions.closed - boundaries),
                *((statement.kind, statement.mentions) for statement in decisions.statements),
                *(("name", name) for name in decisions.names),
                *((NOTE, note) for note in self.notes),
                *([(DONE, None)] if self.done else []),
            ]
        )


def is_review(path: Path) -> bool:
    """Return whether a file is a review file."""
    if not path.is_file():
        return False
    try:
        head = read_bytes(path, EXAMINED)
    except InputError:
        return False
    return any(line.startswith(HEADER.encode()) for line in head.removeprefix(BOM_UTF8).split(b"\n"))


def review_of(result: Result, gold: Annotation) -> Review:
    """Make the review of a result: the annotators' own boundaries, decisions, concrete settings."""
    given = result.given
    assert given is not None  # only a program that makes results by hand leaves it out
    decided = tuple(map(Decision, given.decisions.each()))
    return Review(gold, given.annotations, decided, write_settings(given.settings))


def strayed_ids(
    result: Result, decisions: Decisions, shown: Mapping[str, tuple[Span, ...]]
) -> Iterator[Finding]:
    """Warn of ids that one mention has in enforced cells, and another chain had in the file.

    To write `=(7)` at one mention says that its chain is called 7, not that it is the chain called 7 so far.
    Several mentions under one id are put together by it, whatever the id.
    """
    chains = {chain.id: frozenset(chain.mentions) for chain in result.gold.all_chains}
    for chain in decisions.chains:
        before = shown.get(chain.id, ())
        if (
            len(chain.mentions) > 1
            or not before
            or not chains.get(chain.id, frozenset(before)).isdisjoint(before)
        ):
            continue
        document = result.document
        words, elsewhere = (
            f"'{document.text(mentions[0])}' at {document.place(mentions[0].start)}"
            for mentions in (chain.mentions, before)
        )
        message = (
            f"{chain.id} is enforced for one mention only ({words}), whose chain is not the one that the "
            f"file showed as {chain.id} ({elsewhere}): if it should be, put `=` before the cells of one of "
            "that chain's mentions, too"
        )
        yield warning("id-of-another-chain", message, where=document.title)


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
    letters = cache(_letters)
    pieces: list[str] = []
    done = 0
    for number in [number for number, cell in enumerate(cells) if cell not in NOTHING]:
        if number > done:
            pieces.append(str(number - done))
        pieces.append(letters(cells[number]))
        done = number + 1
    if done < len(cells):
        pieces.append(str(len(cells) - done))
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
            f"{number} of the result without `=` ignored and computed again (first at "
            f"{document.place(tokens[0])}: {quoted(result[tokens[0] - 1])}); `=` before a cell enforces it"
        )
        yield warning("changed-without-mark", message, count=len(tokens), where=document.title)


def _written(known: str) -> list[str]:
    """Return the letters of each cell, nothing for an empty one."""
    cells: list[str] = []
    for piece in _PIECE.findall(known):
        cells += [""] * min(int(piece), 10_000_000) if piece.isdigit() else [piece]
    return cells
