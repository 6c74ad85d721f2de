"""Marks: who put which mention of a document where, as arrays of whole numbers.

Spans are numbered in the order of the text, and so are the entities of each annotator:

                   1   2   3   4        spans that anybody marked
    Ann            0   0   1  -1        the entity that each annotator put it into; -1: not marked
    Bob            0   0  -1   0

What all annotators disagree about, and any two of them, follows from the same arrays, which are made once.
A span that an annotator put into several chains is in the first of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_flat = chain.from_iterable
NOBODY = -1
"""Stands for the entity of a span that was not marked, and for a mention that has no span."""


@dataclass(frozen=True)
class Marks:
    """All marks of one document."""

    annotators: tuple[str, ...]
    singletons: tuple[bool, ...]
    """Whether each annotator has chains of one."""
    chains: tuple[tuple[tuple[Span, ...], ...], ...]
    """For each annotator the mentions of each entity, by number, in order of the text."""
    bounds: Numbers
    """The first and the last token of each span (two rows)."""
    entities: Numbers
    """The number of the entity (row: annotator, column: span)."""

    @classmethod
    def of(cls, annotations: Sequence[Annotation]) -> "Marks":
        """Number the spans and entities of the annotations of one document."""
        chains = [tuple(sorted({each.mentions for each in one.all_chains})) for one in annotations]
        sizes = [np.fromiter(map(len, each), np.int64, len(each)) for each in chains]
        tokens = np.fromiter(_flat(_flat(_flat(chains))), np.int64).reshape(-1, 2)
        width = int(tokens.max(initial=0)) + 1
        codes, number = np.unique(tokens[:, 0] * width + tokens[:, 1], return_inverse=True)
        entities = np.full((len(chains), len(codes)), NOBODY)
        ends = np.cumsum([each.sum() for each in sizes])
        for row, spans, each in zip(entities, np.split(number, ends[:-1]), sizes, strict=True):
            # From the last chain to the first: of several values for a span, the last stays.
            row[spans[::-1]] = np.repeat(np.arange(len(each)), each)[::-1]
        return cls(
            tuple(one.annotator for one in annotations),
            tuple(bool(one.singletons) for one in annotations),
            tuple(chains),
            np.stack(np.divmod(codes, width)),
            entities,
        )

    @cached_property
    def spans(self) -> list[Span]:
        """All spans, by number."""
        return list(map(Span, *self.bounds.tolist()))

    @cached_property
    def marked(self) -> Flags:
        """Who marked which span."""
        return self.entities > NOBODY

    @cached_property
    def alone(self) -> Flags:
        """Who marked which span as a chain of one."""
        sizes = (np.array([*map(len, chains), 0]) for chains in self.chains)
        return np.stack([size[row] == 1 for size, row in zip(sizes, self.entities, strict=True)])

    @cached_property
    def maps(self) -> dict[tuple[int, int], dict[int, int]]:
        """What `typology` found: the entities of one annotator mapped on those of another by equal spans."""
        return {}

    @cached_property
    def linked(self) -> Flags:
        """Who marked which span together with others."""
        return self.marked & ~self.alone

    @cached_property
    def first_chain_alone(self) -> list[bool]:
        """Whether each annotator has chains of one if every span counts in its first chain only."""
        return [bool((np.bincount(row[row > NOBODY]) == 1).any()) for row in self.entities]

    def seen(self, coverage: Coverage | None) -> Flags | None:
        """Return who saw which span; nothing where everybody saw everything."""
        if not coverage:
            return None
        sees = [[coverage.sees(name, span) for span in self.spans] for name in self.annotators]
        return np.array(sees, dtype=bool)

    def kept(self, who: tuple[int, int], seen: Flags | None) -> tuple[Flags, Flags]:
        """Return the spans that each of two annotators marked and the other marked or saw."""
        first, second = (self.marked[number] for number in who)
        if seen is None:
            return first, second
        return first & (second | seen[who[1]]), second & (first | seen[who[0]])

    @cached_property
    def overlapping(self) -> tuple[Numbers, Numbers]:
        """All pairs of spans that share a token, the earlier one first."""
        starts, ends = self.bounds
        number = np.arange(len(starts))
        following = np.searchsorted(starts, ends, side="right") - number - 1
        first = np.repeat(number, following)
        begin = np.repeat(np.cumsum(following) - following, following)
        return first, first + 1 + np.arange(len(first)) - begin

    @cached_property
    def nested(self) -> tuple[Numbers, Numbers]:
        """All pairs of spans of which the first contains the second."""
        first, second = self.overlapping
        starts, ends = self.bounds
        before, after = ends[second] <= ends[first], starts[first] == starts[second]
        inside = before | after
        turned = (after & ~before)[inside]
        first, second = first[inside], second[inside]
        return np.where(turned, second, first), np.where(turned, first, second)


def count_patterns(flags: Flags) -> tuple[list[frozenset[int]], Numbers]:
    """Return which rows are set together in any column, and for each column which of these is there.

    >>> count_patterns(np.array([[True, True, False], [False, True, False]]))
    ([frozenset(), frozenset({0}), frozenset({0, 1})], array([1, 2, 0]))
    """
    codes = np.zeros(flags.shape[1], dtype=np.int64)
    for row in flags:
        # Numbered anew after each row, so that no number is larger than twice that of columns.
        codes = np.unique(2 * codes + row, return_inverse=True)[1]
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    return [frozenset(np.flatnonzero(column).tolist()) for column in flags[:, first].T], number


def count_cells(*columns: Numbers) -> dict[Any, int]:
    """Count how often some numbers come together.

    >>> count_cells(np.array([0, 0, 1]), np.array([2, 2, -1]))
    {(0, 2): 2, (1, -1): 1}
    """
    cells = zip(*(column.tolist() for column in columns), strict=True)
    return dict(sorted(Counter(cells).items()))
