"""Write the review of one document again and again, as its result changes a little.

The columns of the annotators are written once (`writing.prepare`). Of the result column, only those cells
are written anew at which a chain that changed has brackets. The text is that of `writing.fill`, to the byte.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from caspr.formats.columns.cells import Bracket, brackets, split_crossing, write_cell
from caspr.formats.columns.rows import Column, write_column
from caspr.formats.review_file.authors import NOBODY, Authors
from caspr.formats.review_file.writing import Prepared, assemble, shown
from caspr.task.decisions import Decisions
from caspr.task.notes import Note
from caspr.text.document import Annotation, Chain


@dataclass
class Filler:
    """Writes one document of a review file with one result after another."""

    prepared: Prepared
    _chains: frozenset[Chain] = frozenset()
    """The chains that are in the cells."""
    _brackets: dict[int, set[Bracket]] = field(default_factory=dict)
    _cells: list[str] = field(default_factory=list)

    def fill(
        self,
        gold: Annotation,
        decisions: Decisions,
        notes: Iterable[Note] = (),
        authors: Authors = NOBODY,
    ) -> str:
        """Write the document."""
        chains = shown(gold, decisions)
        return assemble(self.prepared, self._column(chains), decisions, notes, chains, authors)

    def _column(self, given: Iterable[Chain]) -> Column:
        chains = frozenset(given)
        new = chains - self._chains
        if not self._cells or split_crossing(new)[1]:
            # Mentions that cross in their chain need ids of their own, which depend on all chains.
            self._chains, self._cells = frozenset(), []
            column = write_column(self.prepared.document, chains, "the result")
            if not column.aliases:
                self._take(chains, column.cells)
            return column
        write_column(self.prepared.document, new, "the result")  # refuses what could not be read back
        self._change(self._chains - chains, new)
        self._chains = chains
        return Column(self._cells, {})

    def _take(self, chains: frozenset[Chain], cells: list[str]) -> None:
        self._chains, self._cells, self._brackets = chains, cells, {}
        for chain in chains:
            for token, bracket in brackets(chain):
                self._brackets.setdefault(token, set()).add(bracket)

    def _change(self, old: Iterable[Chain], new: Iterable[Chain]) -> None:
        touched = set()
        for chain in old:
            for token, bracket in brackets(chain):
                self._brackets[token].discard(bracket)
                touched.add(token)
        for chain in new:
            for token, bracket in brackets(chain):
                self._brackets.setdefault(token, set()).add(bracket)
                touched.add(token)
        self._cells = list(self._cells)
        for token in touched:
            self._cells[token - 1] = write_cell(self._brackets[token])
