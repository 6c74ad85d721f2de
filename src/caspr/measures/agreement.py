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
from itertools import combinations, combinations_with_replacement, product, repeat
from typing import NamedTuple

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
            apart = distance(shape)
            nearer[apart.denominator] += (apart.denominator - apart.numerator) * count
        expected = pairs - add_fractions(nearer)
        if not expected:
            return None
        observed: Counter[int] = Counter()
        for (values, shape), count in self.within.items():
            apart = distance(shape)
            observed[apart.denominator * (values - 1)] += apart.numerator * count
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
    table = _Table.of(annotations, conventions or Conventions(), coverage)
    return Tally(_tally_sets(table), _tally_links(table))


def tally_all(
    documents: Sequence[Sequence[Annotation]],
    conventions: Conventions | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> Tally:
    """Pool the counts of several documents, each with its coverage."""
    seen = coverages or [None] * len(documents)
    pairs = zip(documents, seen, strict=True)
    return sum((tally(document, conventions, coverage) for document, coverage in pairs), Tally())


def viewers(annotations: Sequence[Annotation], coverage: Coverage | None) -> dict[Span, frozenset[int]]:
    """Return who saw each mention that anybody marked, by position; who marked it saw it."""
    spans = frozenset[Span]().union(*(annotation.mentions for annotation in annotations))
    if not coverage:
        return dict.fromkeys(spans, frozenset(range(len(annotations))))
    names = [annotation.annotator for annotation in annotations]
    marking = markers(annotations)
    return {span: marking[span] | coverage.viewers(names, span) for span in spans}


def markers(annotations: Sequence[Annotation]) -> dict[Span, frozenset[int]]:
    """Return who marked each mention, by position."""
    markers: dict[Span, set[int]] = defaultdict(set)
    for number, annotation in enumerate(annotations):
        for span in annotation.mentions:
            markers[span].add(number)
    return {span: frozenset(who) for span, who in markers.items()}


def valued_by(
    annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None
) -> dict[Span, frozenset[int]]:
    """Return who has a value for each mention, by position."""
    missing = conventions.unmarked is Unmarked.MISSING
    return markers(annotations) if missing else viewers(annotations, coverage)


_UNMARKED = -1
"""Stands for the set of a mention that an annotator saw and did not mark."""
_NONE = -2
"""Stands for no value."""


@dataclass(frozen=True)
class _Sets:
    """The sets of one annotator: mentions in the same chains have the same."""

    at: Mapping[Span, int]
    """The number of the set of each mention."""
    wholes: Sequence[frozenset[Span]]
    """The sets, by number."""
    meets: Mapping[int, frozenset[int]]
    """The other sets that hold the mentions with a set; only where mentions are in several chains."""

    @classmethod
    def of(cls, annotation: Annotation) -> "_Sets":
        chains = [frozenset(chain.mentions) for chain in annotation.all_chains]
        at = {span: number for number, chain in enumerate(chains) for span in chain}
        return cls(at, chains, {}) if sum(map(len, chains)) == len(at) else cls._overlapping(chains)

    @classmethod
    def _overlapping(cls, chains: Sequence[frozenset[Span]]) -> "_Sets":
        holders: dict[Span, list[int]] = defaultdict(list)
        for number, chain in enumerate(chains):
            for span in chain:
                holders[span].append(number)
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(tuple, holders.values())))}
        by_chain: dict[int, set[int]] = defaultdict(set)
        for kind, number in kinds.items():
            for chain_number in kind:
                by_chain[chain_number].add(number)
        return cls(
            {span: kinds[tuple(holding)] for span, holding in holders.items()},
            [frozenset().union(*(chains[held] for held in kind)) for kind in kinds],
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
class _Table:
    """The values of one document: of each mention that has at least two, for each annotator."""

    conventions: Conventions
    sets: Sequence[_Sets]
    """Those of each annotator."""
    kinds: Sequence[frozenset[int]]
    """Who has a value: all different answers."""
    viewers: Sequence[int]
    """Who has a value for each mention, as a number of `kinds`."""
    columns: Sequence[Sequence[int]]
    """For each annotator the set of each mention."""

    @classmethod
    def of(
        cls, annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None
    ) -> "_Table":
        valued = valued_by(annotations, conventions, coverage)
        who = {span: viewers for span, viewers in valued.items() if len(viewers) > 1}
        number = {viewers: position for position, viewers in enumerate(dict.fromkeys(who.values()))}
        sets = [_Sets.of(annotation) for annotation in annotations]
        columns = [list(map(own.at.get, who, repeat(_UNMARKED))) for own in sets]
        kinds, viewers = list(number), list(map(number.__getitem__, who.values()))
        for annotator, column in enumerate(columns):
            if not all(annotator in seeing for seeing in kinds):
                columns[annotator] = [
                    value if annotator in kinds[kind] else _NONE
                    for value, kind in zip(column, viewers, strict=True)
                ]
        return cls(conventions, sets, kinds, viewers, columns)

    @property
    def unmarked(self) -> int:
        """How many mentions the set of an unmarked mention has."""
        return 1 if self.conventions.unmarked is Unmarked.SINGLETON else 0

    @cached_property
    def members(self) -> list[Counter[int]]:
        """How many mentions have each set, for each annotator."""
        return [Counter(column) for column in self.columns]

    @cached_property
    def cells(self) -> dict[tuple[int, int], Cells]:
        """The mentions of which each two annotators have a value."""
        return {
            (first, second): Counter(
                {
                    cell: count
                    for cell, count in Counter(
                        zip(self.viewers, self.columns[first], self.columns[second], strict=True)
                    ).items()
                    if _NONE not in cell
                }
            )
            for first, second in combinations(range(len(self.columns)), 2)
        }

    @cached_property
    def sizes(self) -> list[dict[int, int]]:
        """How many mentions each set has, for each annotator."""
        return [
            {_UNMARKED: self.unmarked, **{number: len(whole) for number, whole in enumerate(own.wholes)}}
            for own in self.sets
        ]

    @cached_property
    def common(self) -> dict[tuple[int, int], Counter[tuple[int, int]]]:
        """How many mentions the sets of each two annotators share, for all that share any."""
        return {
            (first, second): _common(cells, self.sets[first], self.sets[second], self.unmarked)
            for (first, second), cells in self.cells.items()
        }


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


def _tally_sets(table: _Table) -> SetTally:
    """Count the shapes of one document."""
    seen = Counter(table.viewers)
    least = 1 if table.conventions.own else 2
    return SetTally(
        values=sum(len(table.kinds[kind]) * count for kind, count in seen.items()),
        empty=sum(
            count
            for annotator, members in enumerate(table.members)
            for number, count in members.items()
            if number != _NONE and table.sizes[annotator][number] < least
        ),
        within=_within(table),
        near=_near(table),
    )


def _within(table: _Table) -> Counter[tuple[int, Shape]]:
    """Count ordered pairs of values of one unit."""
    shapes: Counter[tuple[int, int, int, int]] = Counter()
    for (first, second), cells in table.cells.items():
        sizes, others, common = table.sizes[first], table.sizes[second], table.common[first, second]
        for (kind, a, b), count in cells.items():
            shapes[kind, sizes[a], others[b], common[a, b]] += 2 * count
    within: Counter[tuple[int, Shape]] = Counter()
    less = (0, 0, 0) if table.conventions.own else (1, 1, 1)
    for (kind, *sizes_and_common), count in shapes.items():
        within[len(table.kinds[kind]), _shape(sizes_and_common, less)] += count
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


def _near(table: _Table) -> Counter[Shape]:
    """Count ordered pairs of values that share a mention."""
    meetings: Counter[_Meeting] = Counter()
    for annotator in range(len(table.columns)):
        meetings.update(_own_meetings(table, annotator))
    for first, second in table.cells:
        for meeting, count in _meetings(table, first, second):
            meetings[meeting] += count
    near: Counter[Shape] = Counter()
    for annotator, members in enumerate(table.members):
        less = (0, 0, 0) if table.conventions.own else (1, 1, 2)
        for number, count in members.items():
            if number >= 0:
                size = table.sizes[annotator][number]
                near[_shape((size, size, size), less)] += 2 * count_pairs(count)
    for meeting, times in meetings.items():
        for shape, count in _between(meeting, table.conventions.own):
            near[shape] += 2 * times * count
    return Counter({shape: count for shape, count in near.items() if shape.common > 0})


def _own_meetings(table: _Table, annotator: int) -> Iterator[_Meeting]:
    """Yield the different sets of one annotator that share mentions."""
    sets, members = table.sets[annotator], table.members[annotator]
    pairs = {pair for number in sets.meets for pair in combinations(sorted(sets.near(number)), 2)}
    for a, b in pairs:
        first, second, counts = sets.wholes[a], sets.wholes[b], (members[a], members[b])
        sizes = len(first), len(second), len(first & second)
        yield _Meeting(sizes, counts, counts if b in sets.meets[a] else (0, 0), 0)


def _meetings(table: _Table, first: int, second: int) -> Iterator[tuple[_Meeting, int]]:
    """Yield the sets of two annotators that share mentions, and how often there are such.

    A mention that was not marked is a set by itself.
    """
    sizes, others = table.sizes[first], table.sizes[second]
    own, theirs = table.members[first], table.members[second]
    both: Counter[tuple[int, int]] = Counter()
    for (_, a, b), count in table.cells[first, second].items():
        both[a, b] += count
    near, far = table.sets[first].near, table.sets[second].near
    for (a, b), common in table.common[first, second].items():
        if a >= 0 and b >= 0:
            inside = common, common
            if table.sets[first].meets or table.sets[second].meets:
                inside = sum(both[a, c] for c in far(b)), sum(both[c, b] for c in near(a))
            yield _Meeting((sizes[a], others[b], common), (own[a], theirs[b]), inside, both[a, b]), 1
    for (a, b), count in both.items() if table.unmarked else ():
        if a < 0 or b < 0:
            for c, d in product(near(a), far(b)):
                members = own[c] if c >= 0 else 1, theirs[d] if d >= 0 else 1
                inside = int(c == a), int(d == b)
                yield _Meeting((sizes[c], others[d], 1), members, inside, inside[0] * inside[1]), count


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


def _tally_links(table: _Table) -> LinkTally:
    """Count the pairs of one document."""
    links: Counter[int] = Counter()
    shared: Counter[int] = Counter()
    for annotator, column in enumerate(table.columns):
        cells = Counter(zip(table.viewers, column, strict=True))
        links.update(_linked(table, cells.items(), (annotator,)))
    for annotators, pair_cells in table.cells.items():
        shared.update(_linked(table, pair_cells.items(), annotators))
    return LinkTally(_all_pairs([table.kinds[kind] for kind in table.viewers]), links, shared)


def _linked(
    table: _Table, cells: Iterable[tuple[tuple[int, ...], int]], annotators: Sequence[int]
) -> Counter[int]:
    """Count the pairs that some annotators linked, all of them, by how many annotators have a value."""
    marked = {cell: count for cell, count in cells if _UNMARKED not in cell and _NONE not in cell}
    if len(table.kinds) == 1 and not any(table.sets[annotator].meets for annotator in annotators):
        return Counter({len(table.kinds[0]): sum(map(count_pairs, marked.values()))})
    by_sets: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for (kind, *sets), count in marked.items():
        by_sets[tuple(sets)][kind] += count
    doubled: Counter[int] = Counter()
    meets = [table.sets[annotator].near for annotator in annotators]
    for held, counts in by_sets.items():
        for kind, count in counts.items():
            doubled[len(table.kinds[kind])] -= count
            for others in product(*(near(number) for near, number in zip(meets, held, strict=True))):
                for other, more in by_sets.get(others, {}).items():
                    doubled[len(table.kinds[kind] & table.kinds[other])] += count * more
    return Counter({m: pairs // 2 for m, pairs in doubled.items()})


def _all_pairs(viewers: Iterable[frozenset[int]]) -> Counter[int]:
    """Count all pairs of mentions by the number of annotators who have a value."""
    counts = Counter(viewers)
    pairs: Counter[int] = Counter()
    for first, second in combinations_with_replacement(counts, 2):
        pairs[len(first & second)] += count_pairs(counts[first], None if first == second else counts[second])
    return pairs
