"""Write review files: the columns of each annotator once, and the result column for any result.

The review of one document is written again and again as its result changes a little. The columns of the
annotators stay (`prepare`). Of the result column, only those cells are rewritten at which a chain that
changed has brackets (`Filler`); the text is the same, to the byte, as if all had been.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any
from unicodedata import category, east_asian_width

from caspr.formats.bracket_cells import Bracket, brackets, split_crossing, write_cell
from caspr.formats.columns import (
    Column,
    alias_lines,
    checked,
    entity_lines,
    layout_of,
    prefix_columns,
    tabulate_prefixes,
    write_column,
    write_document,
)
from caspr.formats.naming import numbered
from caspr.formats.review_file.review import HEADER, Review, column_sum, result_sum
from caspr.formats.review_file.statements import decision_lines, name_lines, note_lines
from caspr.task.decisions import Authorship, Decision, Decisions, Note
from caspr.task.stored_settings import VERSION
from caspr.text.document import Annotation, Chain, Document, Span, is_id


def write(reviews: Iterable[Review]) -> str:
    """Write a review file.

    Enforced cells are written from the decisions and all others from the result, so that decisions
    survive even where the result does not follow them yet.
    """
    return "".join(
        Filler(prepare(review.annotations, review.settings, review.gold.document)).fill(
            review.gold, review.decided, review.notes, review.done
        )
        for review in reviews
    )


@dataclass(frozen=True)
class Prepared:
    """All of a document's review that stays the same from result to result."""

    document: Document
    """The document, with the annotators' cells among the columns of its layout."""
    header: Mapping[str, Any]
    aliases: tuple[str, ...]
    """The lines about annotators' chains: names, types, mentions that cross in their chain."""

    def with_settings(self, settings: Mapping[str, object]) -> "Prepared":
        """Return the same with other settings."""
        return replace(self, header={**self.header, "settings": dict(settings)})

    def header_line(self, result: Sequence[str]) -> str:
        """Write the header with the checksum of the cells of a result."""
        header = {**self.header, "sums": {**self.header["sums"], "result": result_sum(result)}}
        return f"{HEADER} {json.dumps(header, sort_keys=True, ensure_ascii=True)}"


def prepare(
    annotations: Sequence[Annotation], settings: Mapping[str, object], document: Document
) -> Prepared:
    """Write the columns of the annotators, once for any number of results."""
    document = _tabbed(document)
    chains = [numbered(annotation.all_chains, is_id) for annotation in annotations]
    columns = [
        write_column(document, own, annotation.annotator)
        for own, annotation in zip(chains, annotations, strict=True)
    ]
    entities = [line for number, own in enumerate(chains, 1) for line in entity_lines(own, number)]
    aliases = [
        line for number, column in enumerate(columns, 1) for line in alias_lines(column.aliases, number)
    ]
    names = [annotation.annotator for annotation in annotations]
    layout = layout_of(document)
    sums = {
        "text": column_sum(layout.prefixes),
        "annotators": [column_sum(column.cells) for column in columns],
    }
    widths = {prefix.count("\t") for prefix in layout.prefixes}
    aligned = _aligned_prefixes(layout.prefixes)
    header = {
        "version": VERSION,
        "annotators": names,
        "settings": dict(settings),
        "sums": sums,
        "tokens": len(document.tokens),
        **({"columns": widths.pop()} if len(widths) == 1 else {}),
        **({} if aligned is None else {"aligned": True}),
    }
    fill = list if aligned is None else padded
    cells = [[f"{cell}\t" for cell in fill(column.cells)] for column in columns]
    prefixes = list(map("".join, zip(aligned or layout.prefixes, *cells, strict=True)))
    full = replace(document, layout=replace(layout, prefixes=tuple(prefixes)))
    return Prepared(full, header, (*entities, *aliases))


def _tabbed(document: Document) -> Document:
    """Separate the columns by tabs, and take tabs out of comments, which would make them rows."""
    layout = layout_of(document)
    prefixes = tuple(
        [
            prefix if prefix.endswith("\t") else "".join(f"{cell}\t" for cell in prefix_columns(prefix))
            for prefix in layout.prefixes
        ]
    )
    gaps = tuple((tokens, text.replace("\t", " ")) for tokens, text in layout.gaps)
    # The rows of words that were cut are in the layout now.
    return replace(document, layout=replace(layout, prefixes=prefixes, gaps=gaps), origin=())


WIDEST = 30
"""Columns are made this wide at most: one very long word should not make every row long."""
RARE = 1000
"""In a long text, one cell in this many may be wider than its column."""


def _aligned_prefixes(prefixes: Sequence[str]) -> list[str] | None:
    """Align the columns of a text; not where a cell begins or ends with blanks of its own, or rows differ."""
    table = tabulate_prefixes(prefixes)
    if not table.columns or (table.rows is not None and len({len(row) for row in table.rows}) > 1):
        return None
    if any(cell[:1] == " " or cell[-1:] == " " for column in table.columns for cell in column):
        return None
    return ["".join(f"{cell}\t" for cell in row) for row in zip(*map(padded, table.columns), strict=True)]


def padded(cells: Sequence[str]) -> list[str]:
    """Fill up the cells of a column with blanks, until all are as wide on a terminal as the widest.

    Rare exceptions stick out, or a file of a novel's size would be three times as long as it need be.

    >>> padded(["I", "am", "\u79c1"])
    ['I ', 'am', '\u79c1']
    """
    simple = "".join(cells).isascii()
    widths = list(map(len if simple else display_width, cells))
    width = min(sorted(widths)[-1 - len(widths) // RARE], WIDEST) if widths else 0
    if simple:
        return list(map(str.ljust, cells, repeat(width)))
    return [cell + " " * (width - own) for cell, own in zip(cells, widths, strict=True)]


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: none for an accent, two for a Chinese character.

    >>> display_width("Kasım"), display_width("I\u0307stanbul"), display_width("東京")
    (5, 8, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if category(char) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(char) in "WF") for char in text
    )


def shown(gold: Annotation, decisions: Decisions) -> list[Chain]:
    """Put the enforced cells and the result around them together."""
    if not decisions.closed:
        return list(gold.all_chains)
    cells: dict[str, list[Span]] = defaultdict(list)
    known = {chain.id: chain for chain in gold.all_chains}
    for chain in decisions.chains:
        cells[chain.id].extend(chain.mentions)
    for chain in gold.all_chains:
        free = (span for span in chain.mentions if span not in decisions.permitted)
        cells[chain.id].extend(span for span in free if not decisions.rules_out(span))
    return [known.get(id, Chain(id, ())).over(mentions) for id, mentions in cells.items()]


@dataclass
class Filler:
    """Writes one document of a review file with one result after another."""

    prepared: Prepared
    _chains: frozenset[Chain] = frozenset()
    """The chains that are in the cells, those that cells cannot express in several parts."""
    _brackets: defaultdict[int, set[Bracket]] = field(default_factory=lambda: defaultdict(set))
    _cells: list[str] = field(default_factory=list)

    def fill(
        self,
        gold: Annotation,
        decided: Sequence[Decision],
        notes: Iterable[Note] = (),
        done: Authorship | None = None,
    ) -> str:
        """Write the document."""
        decisions = Decisions.combining(decision.statement for decision in decided)
        chains = shown(gold, decisions)
        result = self._column(chains)
        cells = result.cells
        header = self.prepared.header_line(cells)
        if decisions.closed:
            cells = cells.copy()
            for token in decisions.closed:
                if 1 <= token <= len(cells):
                    cells[token - 1] = f"={cells[token - 1]}"
        before = [
            header,
            *decision_lines(decided, done),
            *note_lines(notes),
            *self.prepared.aliases,
            *name_lines(chains, decided),
            *alias_lines(result.aliases),
        ]
        return write_document(self.prepared.document, before, cells, notes=True)

    def _column(self, result: Sequence[Chain]) -> Column:
        document = self.prepared.document
        kept, aliases = split_crossing(checked(document, result, "the result"))
        chains = frozenset(kept)
        cells = self._cells.copy() or ["-"] * len(document.tokens)
        for token in self._exchange(self._chains - chains, chains - self._chains):
            cells[token - 1] = write_cell(self._brackets[token])
        self._chains, self._cells = chains, cells
        return Column(cells, aliases)

    def _exchange(self, old: Iterable[Chain], new: Iterable[Chain]) -> set[int]:
        """Replace chains; return the tokens at which they have brackets."""
        gone, come = ([pair for chain in chains for pair in brackets(chain)] for chains in (old, new))
        for token, bracket in gone:
            self._brackets[token].discard(bracket)
        for token, bracket in come:
            self._brackets[token].add(bracket)
        return {token for token, _ in (*gone, *come)}
