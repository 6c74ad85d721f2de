"""Agreement: how far annotators agree, corrected for chance where that is possible.

    sets      Krippendorff's alpha over coreference sets, under every distance of `DISTANCES`
    links     Krippendorff's alpha over pairs of mentions, linked or not

Where annotators saw only a part (`Coverage`), a mention that one of them neither saw nor marked has no value
of that annotator: neither marked nor unmarked, linked nor not. Who marked a mention saw it. Everything is
exact. Libraries for alpha (`krippendorff`, `nltk.metrics.agreement`) take floating point distances and visit
every pair of values, of which an act of a play has tens of millions.

**Distances** between two coreference sets follow from how large the sets are and how much they share:

    relation     Passonneau (2004)   MASI (2006)     nominal
    equal        0                   0               0
    one inside   1/3                 1 - 2/3 J       1
    overlap      2/3                 1 - 1/3 J       1
    disjoint     1                   1               1

J is Jaccard's index, the mentions of both sets over the mentions of either. Two empty sets are equal; an
empty set and another are disjoint.

**Alpha over sets.** Each mention is a unit, the set it is in is an annotator's value for it. Krippendorff's
alpha is 1 - Do / De. With n values in units that have at least two, m of them in unit u,

    Do = 1/n       * sum over units u of 1/(m - 1) * sum over ordered pairs of values in u of d,
    De = 1/(n(n-1)) * sum over all ordered pairs of the n values of d.

De goes over millions of pairs, but almost all of them are disjoint sets at distance 1. The mentions that
have the same set make one *class*; only classes that share a mention are compared, and all their pairs
are counted together. What is counted are `Shape`s, so one tally serves every distance, and tallies of
documents can be added: sets of different documents are disjoint.

Conventions: a set holds the mention itself or not (`own`); a mention that an annotator did not mark is
a set of its own, or has no value, or the empty set (`Unmarked`). A span that an annotator put into
several chains has the union of them as its set. The sets are not cut to what others saw.

**Alpha over links.** Each pair of mentions that anybody marked is a unit, linked or not is an annotator's
value for it. There are only two values, so alpha follows from how many pairs have how many values m and how
many of these are links K:

    Do = 1/n * sum over pairs of 2 K (m - K) / (m - 1),    De = 2 L (n - L) / (n (n - 1)),

n being the number of all values in pairs that have at least two, L that of links among them. Pairs are not
listed: the sum of K is the number of links of each annotator, and that of K (K - 1) / 2 the number of links
that each two annotators share, so both follow from how many mentions are in which chains of one annotator, or
of two. An annotator has a value for a pair who has one for both of its mentions (`valued_by`): who did not
see one of them says nothing about the pair.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from caspr.measures.marks import NOBODY, Flags, Marks, Numbers, count_cells, count_patterns
from caspr.measures.matching import add_fractions, count_pairs
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span


class Shape(NamedTuple):
    """All that a distance depends on."""

    first: int
    second: int
    common: int

    @property
    def nearness(self) -> int:
        """3 for equal sets, 2 for one inside the other, 1 for overlap, 0 for disjoint ones."""
        if self.first == self.second == self.common:
            return 3
        if self.common == 0:
            return 0
        return 2 if self.common == min(self.first, self.second) else 1


@lru_cache(maxsize=1 << 14)
def passonneau(shape: Shape) -> Fraction:
    """Return 0, 1/3, 2/3 or 1.

    >>> passonneau(Shape(3, 2, 2)), passonneau(Shape(3, 2, 1)), passonneau(Shape(3, 2, 0))
    (Fraction(1, 3), Fraction(2, 3), Fraction(1, 1))
    """
    return 1 - Fraction(shape.nearness, 3)


@lru_cache(maxsize=1 << 14)
def masi(shape: Shape) -> Fraction:
    """Return the distance weighted by Jaccard's index.

    >>> masi(Shape(3, 2, 2)), masi(Shape(2, 2, 2)), masi(Shape(0, 0, 0))
    (Fraction(5, 9), Fraction(0, 1), Fraction(0, 1))
    """
    if shape.nearness in (0, 3):
        return passonneau(shape)
    return 1 - Fraction(shape.common, shape.first + shape.second - shape.common) * Fraction(shape.nearness, 3)


@lru_cache(maxsize=1 << 14)
def nominal(shape: Shape) -> Fraction:
    """Return 0 for equal sets, 1 for all others."""
    return Fraction(0 if shape.nearness == 3 else 1)


DISTANCES: Mapping[str, Callable[[Shape], Fraction]] = {
    "passonneau": passonneau,
    "masi": masi,
    "nominal": nominal,
}
"""All distances by name."""
ALPHAS = (*DISTANCES, "links")
"""All kinds of alpha by name."""


class Unmarked(StrEnum):
    """What a mention counts as for an annotator who did not mark it."""

    SINGLETON = "singleton"
    """A chain of its own."""
    MISSING = "missing"
    """No value: the annotator is left out for this mention."""
    EMPTY = "empty"
    """The empty set, as if all unmarked mentions were alike."""


@dataclass(frozen=True)
class Conventions:
    """What is left open by the definition of alpha over coreference sets."""

    own: bool = True
    """Whether a mention is in its own set."""
    unmarked: Unmarked = Unmarked.SINGLETON
    """What a mention counts as for an annotator who did not mark it."""


@dataclass(frozen=True)
class SetTally:
    """How often which shapes occur among pairs of values."""

    values: int = 0
    """n: the values in units that have at least two."""
    empty: int = 0
    """How many of them are the empty set."""
    within: Counter[tuple[int, Shape]] = field(default_factory=Counter)
    """Ordered pairs of values of one unit, by the number of values in the unit."""
    near: Counter[Shape] = field(default_factory=Counter)
    """Ordered pairs of all values that share a mention."""

    def __add__(self, other: "SetTally") -> "SetTally":
        """Pool two documents."""
        return SetTally(
            self.values + other.values,
            self.empty + other.empty,
            self.within + other.within,
            self.near + other.near,
        )

    def alpha(self, distance: Callable[[Shape], Fraction]) -> Fraction | None:
        """Return alpha under a distance; undefined where all values are equal or none can be paired."""
        pairs = self.values * (self.values - 1) - self.empty * (self.empty - 1)
        nearer: Counter[int] = Counter()
        for shape, count in self.near.items():
            part, whole = distance(shape).as_integer_ratio()
            nearer[whole] += (whole - part) * count
        expected = pairs - add_fractions(nearer)
        if not expected:
            return None
        observed: Counter[int] = Counter()
        for (values, shape), count in self.within.items():
            part, whole = distance(shape).as_integer_ratio()
            observed[whole * (values - 1)] += part * count
        return 1 - add_fractions(observed) * (self.values - 1) / expected


@dataclass(frozen=True)
class LinkTally:
    """Pairs of mentions and their links, by the number of annotators m who have a value for the pair."""

    pairs: Counter[int] = field(default_factory=Counter)
    links: Counter[int] = field(default_factory=Counter)
    """The sum of K over these pairs: every annotator's links."""
    shared: Counter[int] = field(default_factory=Counter)
    """The sum of K (K - 1) / 2 over these pairs: the links that each two annotators have in common."""

    def __add__(self, other: "LinkTally") -> "LinkTally":
        """Pool two documents."""
        return LinkTally(self.pairs + other.pairs, self.links + other.links, self.shared + other.shared)

    def differing(self, m: int) -> int:
        """Return the sum of K (m - K) over all pairs with m values."""
        return (m - 1) * self.links[m] - 2 * self.shared[m]

    def alpha(self) -> Fraction | None:
        """Return alpha; undefined where all pairs are linked, or none is."""
        values = sum(count * m for m, count in self.pairs.items() if m > 1)
        links = sum(count for m, count in self.links.items() if m > 1)
        expected = 2 * links * (values - links)
        if not expected:
            return None
        observed = add_fractions({m - 1: 2 * self.differing(m) for m in self.links if m > 1})
        return 1 - observed * (values - 1) / expected


@dataclass(frozen=True)
class Tally:
    """All counts from which agreement follows; documents are pooled by adding."""

    sets: SetTally = field(default_factory=SetTally)
    links: LinkTally = field(default_factory=LinkTally)

    def __add__(self, other: "Tally") -> "Tally":
        """Pool two documents."""
        return Tally(self.sets + other.sets, self.links + other.links)

    def alpha(self, kind: str) -> Fraction | None:
        """Return an alpha of `ALPHAS`; `None` where it is undefined."""
        return self.links.alpha() if kind == "links" else self.sets.alpha(DISTANCES[kind])


def tally(
    annotations: Sequence[Annotation],
    conventions: Conventions | None = None,
    coverage: Coverage | None = None,
) -> Tally:
    """Count everything about the annotations of one document; everybody saw everything by default.

    >>> from caspr.text.document import Chain, Document
    >>> def annotated(*chains):
    ...     spans = [Chain.of(str(n), [(t, t) for t in chain]) for n, chain in enumerate(chains)]
    ...     return Annotation.of("x", Document("d", tuple("abcde")), spans)
    >>> both = tally([annotated((1, 2, 3), (4, 5)), annotated((1, 2), (3,), (4, 5))])
    >>> [str(both.alpha(kind)) for kind in ("passonneau", "masi", "nominal")]
    ['20/29', '44/95', '8/35']
    """
    return tally_some(ValueTable.of(annotations, conventions, coverage), range(len(annotations)))


def tally_some(table: "ValueTable", annotators: Iterable[int]) -> Tally:
    """Count everything about some annotators of a document, by position."""
    part = _Part(table, tuple(annotators))
    return Tally(_tally_sets(part), _tally_links(part))


def tally_all(
    documents: Sequence[Sequence[Annotation]],
    conventions: Conventions | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> Tally:
    """Pool the counts of several documents, each with its coverage."""
    seen = coverages or [None] * len(documents)
    pairs = zip(documents, seen, strict=True)
    return sum((tally(document, conventions, coverage) for document, coverage in pairs), Tally())


_UNMARKED = NOBODY
"""Stands for the set of a mention that an annotator saw and did not mark."""
_NONE = -2
"""Stands for no value."""


@dataclass(frozen=True)
class _Sets:
    """The sets of one annotator: mentions in the same chains have the same."""

    at: Numbers
    """The number of the set of each span, or `_UNMARKED`."""
    sizes: Sequence[int]
    """How many mentions each set has, by number."""
    wholes: Sequence[frozenset[Span]] = ()
    """The sets, by number; only where mentions are in several chains, as is what follows."""
    meets: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The other sets that hold the mentions with a set."""

    @classmethod
    def of(cls, marks: Marks, annotator: int) -> "_Sets":
        chains, at = marks.chains[annotator], marks.entities[annotator]
        sizes = list(map(len, chains))
        return cls(at, sizes) if sum(sizes) == (at > NOBODY).sum() else cls._overlapping(chains, marks.spans)

    @classmethod
    def _overlapping(cls, chains: Sequence[Sequence[Span]], spans: Iterable[Span]) -> "_Sets":
        holders: dict[Span, list[int]] = defaultdict(list)
        for number, chain in enumerate(chains):
            for span in chain:
                holders[span].append(number)
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(tuple, holders.values())))}
        by_chain: dict[int, set[int]] = defaultdict(set)
        for kind, number in kinds.items():
            for chain_number in kind:
                by_chain[chain_number].add(number)
        wholes = [frozenset[Span]().union(*(chains[held] for held in kind)) for kind in kinds]
        return cls(
            np.array([kinds.get(tuple(holders.get(span, ())), _UNMARKED) for span in spans]),
            list(map(len, wholes)),
            wholes,
            {
                number: frozenset().union(*(by_chain[held] for held in kind)) - {number}
                for kind, number in kinds.items()
            },
        )

    def near(self, number: int) -> Iterable[int]:
        """Return all sets that hold the mentions with a set."""
        return (number, *self.meets.get(number, ()))


Cells = Counter[tuple[int, int, int]]
"""How many mentions have the same viewers, and the same set for one annotator and for another."""


@dataclass(frozen=True)
class ValueTable:
    """The values of one document: of each mention that has at least two, for each annotator.

    What two annotators say of the mentions that one of them marked is counted once, whoever else is asked.
    """

    conventions: Conventions
    sets: Sequence[_Sets]
    """Those of each annotator."""
    kinds: Sequence[frozenset[int]]
    """Who has a value: all different answers."""
    viewers: Numbers
    """Who has a value for each mention, as a number of `kinds`."""
    columns: Sequence[Numbers]
    """For each annotator the set of each mention."""

    @classmethod
    def of(
        cls,
        annotations: Sequence[Annotation],
        conventions: Conventions | None = None,
        coverage: Coverage | None = None,
    ) -> "ValueTable":
        """Make the table of a document; everybody saw everything by default."""
        marks = Marks.of(annotations)
        return cls.of_marks(marks, marks.seen(coverage), conventions)

    @classmethod
    def of_marks(
        cls, marks: Marks, seen: Flags | None, conventions: Conventions | None = None
    ) -> "ValueTable":
        """Make the table of marks; who marked a mention saw it."""
        conventions = conventions or Conventions()
        valued = marks.marked
        if conventions.unmarked is not Unmarked.MISSING:
            valued = np.ones_like(valued) if seen is None else valued | seen
        two = valued.sum(axis=0) > 1
        kinds, viewers = count_patterns(valued[:, two])
        sets = [_Sets.of(marks, annotator) for annotator in range(len(valued))]
        columns = [np.where(has, own.at[two], _NONE) for own, has in zip(sets, valued[:, two], strict=True)]
        return cls(conventions, sets, kinds, viewers, columns)

    @property
    def unmarked(self) -> int:
        """How many mentions the set of an unmarked mention has."""
        return 1 if self.conventions.unmarked is Unmarked.SINGLETON else 0

    @cached_property
    def marked(self) -> dict[tuple[int, frozenset[int]], int]:
        """How many mentions the same annotators saw, and the same marked."""
        markers, number = count_patterns(np.stack(self.columns) >= 0)
        counts = count_cells(self.viewers, number)
        return {(kind, markers[marking]): count for (kind, marking), count in counts.items()}

    @cached_property
    def members(self) -> list[Counter[tuple[int, int]]]:
        """How many mentions with the same viewers have each set, for each annotator."""
        return [
            Counter(count_cells(self.viewers[column >= 0], column[column >= 0])) for column in self.columns
        ]

    @cached_property
    def sizes(self) -> list[dict[int, int]]:
        """How many mentions each set has, for each annotator."""
        return [{_UNMARKED: self.unmarked, **dict(enumerate(own.sizes))} for own in self.sets]

    @cached_property
    def near(self) -> dict[tuple[int, ...], Counter[Shape]]:
        """What `_Part.near` counted of one annotator or two where all their mentions count."""
        return {}

    @cached_property
    def _pairs(self) -> "dict[tuple[int, int], _PairValues]":
        return {}

    def pair(self, first: int, second: int) -> "_PairValues":
        """Return what two annotators say of the mentions that one of them marked."""
        if (first, second) not in self._pairs:
            own, theirs = self.columns[first], self.columns[second]
            chosen = (own > _NONE) & (theirs > _NONE) & ((own >= 0) | (theirs >= 0))
            cells = count_cells(self.viewers[chosen], own[chosen], theirs[chosen])
            self._pairs[first, second] = _PairValues(self, first, second, Counter(cells))
        return self._pairs[first, second]


@dataclass(frozen=True)
class _PairValues:
    """What two annotators say of the mentions of which both have a value, and that one of them marked."""

    table: ValueTable
    first: int
    second: int
    cells: Cells

    @cached_property
    def common(self) -> Counter[tuple[int, int]]:
        """How many mentions their sets share, for all that share any."""
        own, theirs = self.table.sets[self.first], self.table.sets[self.second]
        return _common(self.cells, own, theirs, self.table.unmarked)

    @cached_property
    def shapes(self) -> Counter[tuple[int, Shape]]:
        """How many mentions the same annotators saw for which the two have sets of a shape."""
        sizes, others = self.table.sizes[self.first], self.table.sizes[self.second]
        counts: Counter[tuple[int, int, int, int]] = Counter()
        for (kind, a, b), count in self.cells.items():
            counts[kind, sizes[a], others[b], self.common[a, b]] += count
        less, shapes = _itself(self.table), Counter[tuple[int, Shape]]()
        for (kind, *shape), count in counts.items():
            shapes[kind, _shape(shape, less)] += count
        return shapes


@dataclass(frozen=True)
class _Part:
    """Some annotators of a document, and the mentions that one of them marked and two have a value of."""

    table: ValueTable
    annotators: tuple[int, ...]

    @cached_property
    def kinds(self) -> list[frozenset[int]]:
        """Who of them has a value: all answers, by the numbers that the table gives them."""
        return [kind.intersection(self.annotators) for kind in self.table.kinds]

    @cached_property
    def marked(self) -> list[tuple[int, frozenset[int], int]]:
        """How many mentions the same annotators saw, and the same marked."""
        return [
            (kind, markers, count)
            for (kind, markers), count in self.table.marked.items()
            if len(self.kinds[kind]) > 1 and not markers.isdisjoint(self.annotators)
        ]

    @cached_property
    def seen(self) -> Counter[frozenset[int]]:
        """How many mentions have the same viewers."""
        seen: Counter[frozenset[int]] = Counter()
        for kind, _, count in self.marked:
            seen[self.kinds[kind]] += count
        return seen

    def unmarked(self, *annotators: int) -> Counter[int]:
        """Count the mentions that some annotators saw and did not mark, by who saw them."""
        counts: Counter[int] = Counter()
        for kind, markers, count in self.marked:
            if markers.isdisjoint(annotators):
                counts[kind] += count if self.kinds[kind].issuperset(annotators) else 0
        return counts

    @cached_property
    def whole(self) -> bool:
        """Whether two of them have a value of every mention of the document that one of them marked."""
        return all(len(kind) > 1 for kind in self.kinds)

    def cells(self, annotator: int) -> Counter[tuple[int, int]]:
        """Return how many mentions with the same viewers have each set of an annotator."""
        cells = self.table.members[annotator]
        if self.whole:
            return cells
        return Counter({cell: count for cell, count in cells.items() if len(self.kinds[cell[0]]) > 1})

    @cached_property
    def members(self) -> dict[int, Counter[int]]:
        """How many mentions have each set, for each annotator."""
        members: dict[int, Counter[int]] = {annotator: Counter() for annotator in self.annotators}
        for annotator, counts in members.items():
            for (_, number), count in self.cells(annotator).items():
                counts[number] += count
        return members

    def near(self, *annotators: int) -> Counter[Shape]:
        """Count the pairs of values of one or two annotators that share a mention that one of them marked."""
        known = self.table.near if self.whole else {}
        if annotators not in known:
            members = [self.members[annotator] for annotator in annotators]
            known[annotators] = (
                _near_own(self.table, *annotators, *members)
                if len(annotators) == 1
                else _near_of_pair(self.table.pair(*annotators), *members)
            )
        return known[annotators]


def _common(cells: Cells, own: _Sets, theirs: _Sets, unmarked: int) -> Counter[tuple[int, int]]:
    """Count the mentions that sets of two annotators share; of those not marked, each is a set by itself."""
    common: Counter[tuple[int, int]] = Counter()
    for (_, a, b), count in cells.items():
        if a < 0 or b < 0:
            common[a, b] = unmarked
        elif own.meets or theirs.meets:
            for pair in product(own.near(a), theirs.near(b)):
                common[pair] += count
        else:
            common[a, b] += count
    return common


def _itself(table: ValueTable) -> tuple[int, int, int]:
    """Return how much smaller sets of one mention are, and what they share, if it is not in them."""
    return (0, 0, 0) if table.conventions.own else (1, 1, 1)


def _tally_sets(part: _Part) -> SetTally:
    """Count the shapes of some annotators of one document."""
    table, least = part.table, 1 if part.table.conventions.own else 2
    sets = (
        (table.sizes[annotator][number], count)
        for annotator, members in part.members.items()
        for number, count in members.items()
    )
    unmarked = sum(part.unmarked(annotator).total() for annotator in part.annotators)
    return SetTally(
        values=sum(len(kind) * count for kind, count in part.seen.items()),
        empty=sum(count for size, count in sets if size < least) + (table.unmarked < least) * unmarked,
        within=_within(part),
        near=_near(part),
    )


def _within(part: _Part) -> Counter[tuple[int, Shape]]:
    """Count ordered pairs of values of one unit."""
    table, within = part.table, Counter[tuple[int, Shape]]()
    alone = _shape((table.unmarked,) * 3, _itself(table))
    for pair in combinations(part.annotators, 2):
        for (kind, shape), count in table.pair(*pair).shapes.items():
            within[len(part.kinds[kind]), shape] += 2 * count
        for kind, count in part.unmarked(*pair).items():
            within[len(part.kinds[kind]), alone] += 2 * count
    return within


class _Meeting(NamedTuple):
    """Two sets that share mentions, and the mentions that have one of them, or both, as values."""

    sizes: tuple[int, int, int]
    """How many mentions are in each, and in both."""
    members: tuple[int, int]
    """How many mentions have each as value."""
    inside: tuple[int, int]
    """How many of these are in the other set."""
    both: int
    """How many mentions have both as values, each of one annotator."""


_ALONE = _Meeting((1, 1, 1), (1, 1), (1, 1), 1)
"""A mention that neither of two annotators marked, where it is a set by itself for both."""


def _near(part: _Part) -> Counter[Shape]:
    """Count ordered pairs of values that share a mention."""
    table, near = part.table, Counter[Shape]()
    for annotator in part.annotators:
        near.update(part.near(annotator))
    for first, second in combinations(part.annotators, 2):
        near.update(part.near(first, second))
        if table.unmarked:
            near.update(_shapes({_ALONE: part.unmarked(first, second).total()}, table))
    return Counter({shape: count for shape, count in near.items() if shape.common > 0})


def _near_own(table: ValueTable, annotator: int, members: Counter[int]) -> Counter[Shape]:
    """Count those of one annotator."""
    near = _shapes(Counter(_own_meetings(table.sets[annotator], members)), table)
    less = (0, 0, 0) if table.conventions.own else (1, 1, 2)
    for number, count in members.items():
        size = table.sizes[annotator][number]
        near[_shape((size, size, size), less)] += 2 * count_pairs(count)
    return near


def _near_of_pair(pair: _PairValues, own: Counter[int], theirs: Counter[int]) -> Counter[Shape]:
    """Count those of two annotators, of mentions that one of them marked."""
    meetings: Counter[_Meeting] = Counter()
    for meeting, count in _meetings(pair, own, theirs):
        meetings[meeting] += count
    return _shapes(meetings, pair.table)


def _shapes(meetings: "Mapping[_Meeting, int]", table: ValueTable) -> Counter[Shape]:
    near: Counter[Shape] = Counter()
    for meeting, times in meetings.items():
        for shape, count in _between(meeting, table.conventions.own):
            near[shape] += 2 * times * count
    return near


def _own_meetings(sets: _Sets, members: Counter[int]) -> Iterator[_Meeting]:
    """Yield the different sets of one annotator that share mentions."""
    pairs = {pair for number in sets.meets for pair in combinations(sorted(sets.near(number)), 2)}
    for a, b in pairs:
        first, second, counts = sets.wholes[a], sets.wholes[b], (members[a], members[b])
        sizes = len(first), len(second), len(first & second)
        yield _Meeting(sizes, counts, counts if b in sets.meets[a] else (0, 0), 0)


def _meetings(pair: _PairValues, own: Counter[int], theirs: Counter[int]) -> Iterator[tuple[_Meeting, int]]:
    """Yield the sets of two annotators that share mentions, and how often there are such.

    A mention that one of them did not mark is a set by itself.
    """
    table, sets, others = pair.table, pair.table.sets[pair.first], pair.table.sets[pair.second]
    sizes, far_sizes = table.sizes[pair.first], table.sizes[pair.second]
    both: Counter[tuple[int, int]] = Counter()
    for (_, a, b), count in pair.cells.items():
        both[a, b] += count
    for (a, b), common in pair.common.items():
        if a >= 0 and b >= 0:
            inside = common, common
            if sets.meets or others.meets:
                inside = sum(both[a, c] for c in others.near(b)), sum(both[c, b] for c in sets.near(a))
            yield _Meeting((sizes[a], far_sizes[b], common), (own[a], theirs[b]), inside, both[a, b]), 1
    for (a, b), count in both.items() if table.unmarked else ():
        if a < 0 or b < 0:
            for c, d in product(sets.near(a), others.near(b)):
                members = own[c] if c >= 0 else 1, theirs[d] if d >= 0 else 1
                inside = int(c == a), int(d == b)
                yield _Meeting((sizes[c], far_sizes[d], 1), members, inside, inside[0] * inside[1]), count


def _between(meeting: _Meeting, own: bool) -> Iterator[tuple[Shape, int]]:
    """Yield the shapes of all pairs of a value of one set and a value of another.

    Where a mention is not in its own set, taking it out makes the common part smaller if the other set
    holds it.
    """
    sizes, members, (a, b), both = meeting
    if own:
        yield Shape(*sizes), members[0] * members[1]
        return
    outside_a, outside_b = members[0] - a, members[1] - b
    for smaller, count in (
        (0, outside_a * outside_b),
        (1, a * outside_b + outside_a * b + both),
        (2, a * b - both),
    ):
        if count:
            yield _shape(sizes, (1, 1, smaller)), count


def _shape(sizes: Iterable[int], less: Iterable[int]) -> Shape:
    return Shape(*(max(0, size - cut) for size, cut in zip(sizes, less, strict=True)))


def _tally_links(part: _Part) -> LinkTally:
    """Count the pairs of mentions of some annotators of one document."""
    links: Counter[int] = Counter()
    shared: Counter[int] = Counter()
    for annotator in part.annotators:
        links.update(_linked(part, part.cells(annotator).items(), (annotator,)))
    for annotators in combinations(part.annotators, 2):
        shared.update(_linked(part, part.table.pair(*annotators).cells.items(), annotators))
    return LinkTally(_all_pairs(part.seen), links, shared)


def _linked(
    part: _Part, cells: Iterable[tuple[tuple[int, ...], int]], annotators: Sequence[int]
) -> Counter[int]:
    """Count the pairs that some annotators linked, all of them, by how many annotators have a value."""
    marked = {cell: count for cell, count in cells if _UNMARKED not in cell}
    sets = [part.table.sets[annotator] for annotator in annotators]
    if len(part.kinds) == 1 and not any(own.meets for own in sets):
        return Counter({len(part.kinds[0]): sum(map(count_pairs, marked.values()))})
    by_sets: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for (kind, *numbers), count in marked.items():
        by_sets[tuple(numbers)][kind] += count
    doubled: Counter[int] = Counter()
    for held, counts in by_sets.items():
        for kind, count in counts.items():
            doubled[len(part.kinds[kind])] -= count
            for others in product(*(own.near(number) for own, number in zip(sets, held, strict=True))):
                for other, more in by_sets.get(others, {}).items():
                    doubled[len(part.kinds[kind] & part.kinds[other])] += count * more
    return Counter({m: pairs // 2 for m, pairs in doubled.items()})


def _all_pairs(counts: Mapping[frozenset[int], int]) -> Counter[int]:
    """Count all pairs of mentions by the number of annotators who have a value."""
    pairs: Counter[int] = Counter()
    for first, second in combinations_with_replacement(counts, 2):
        pairs[len(first & second)] += count_pairs(counts[first], None if first == second else counts[second])
    return pairs
