"""A typology of disagreement: what annotators disagree about, counted in mentions.

First it is settled which marks are marks of one *mention*: equal spans, and *counterparts*, spans that
overlap and are meant as the same mention with other boundaries. So a document has rows, a row being one
mention as each annotator marked it or did not. Then the entities of any two annotators are mapped one to one
so that as few mentions as possible are in different ones. Two annotators
agree about a mention if both have it with the same boundaries, alone or in entities that are mapped on each
other, or if neither has it. Otherwise their disagreement is of the first of these kinds that applies:

    boundary   both marked it, with other first or last tokens
    nested     one marked it, linked with others; inside it or around it is a mention that both marked
    mention    one marked it, linked with others, and the other did not
    singleton  one has it as a chain of one; the other linked it, or did not mark it
    split      both linked it, and the entity of one is mapped on none: one split where the other merged
    entity     both linked it, and both entities are mapped on others: it was put in another entity

A worked example, sixteen tokens and two annotators; the letter before a bracket is the entity:

    ann  x[a king] met y[a girl from z[Rome]] . x[he] sang ; y[she] left z[it] for y[her]
    bob  x[a king] met y[a girl] from Rome . x[he] sang ; x[she] left it for y[her]

    [a king], [he], [her]         they agree: x is mapped on x, y on y
    [a girl from Rome], [a girl]  boundary: one mention, because the two spans begin alike
    [Rome]                        nested: only ann marked it, inside a mention that both marked
    [it]                          mention: only ann marked it
    [she]                         entity: both know x and y, and put it into different ones

So they disagree about 4 of 7 mentions. Had bob marked neither the girl nor *her*, he would have no
counterpart of ann's y, and *she* would be a split: ann has two entities where bob has one.

Among more than two annotators, a mention is disputed if any two of them disagree about it, and its kind is
the first kind of the list that any two have. Every disputed mention therefore has exactly one kind, and the
counts add up to the number of disputed mentions.

Chains of one: a guideline may leave them out. Where `singletons` is false, a chain of one counts like no
mark at all, unless another annotator linked the mention. Where `None`, they count if every annotator has
some.

Coverage: an annotator who did not see a mention does not disagree with those who marked it.

Guaranteed, and tested: nothing is disputed between equal annotations; the order of annotators changes no
kind; the number of mentions two annotators put in different entities is the smallest that any one-to-one
map of entities gives. Not done: heads are not known, so that *Rome*, marked by one, and *a girl from Rome*,
marked by the other, are one mention with different boundaries unless the rest of their chains shows that
they are two.

**Entities.** Each mention that both linked is a vote for mapping its two entities on each other. The map
with the most votes (`assignment.map_one_to_one`) leaves the fewest mentions in different entities. Which of
several equally good maps is taken does not depend on which annotator comes first: the problem is turned so
that the smaller list of votes has the rows.

**Counterparts.** Two spans that are not equal and share a token can be counterparts, one mention with
different boundaries, if no annotator marked both, and

* they share at least half of the tokens that they cover together: then they are variants in the sense of
  `text.variants`, which the setting of that name unites; or
* they are in entities that are mapped on each other by the mentions which two annotators marked alike; or
* that is not known, and they cross, or begin or end with the same token.

Spans that share less are not counterparts if the two entities are mapped on others: *the king of all France*
and *France* end alike, but where both annotators have both entities, they are two mentions. The best pairs
are joined first: those in the same entity, then those with more tokens in common, then those that come first
in the text. What is joined stays one mention as long as it holds at most one span of each annotator.

This finds more than variants: for counting, *the man* and *the man who sold the world* are one mention about
whose boundary there is disagreement; for merging, that is too bold. The review page asks about such a pair as
one mention where the entity is known to be the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from itertools import combinations
from operator import methodcaller

from caspr.measures.assignment import map_one_to_one
from caspr.measures.matching import singletons_count
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span, nested_pairs
from caspr.text.variants import overlap_by_half


@dataclass(frozen=True)
class Homes:
    """The entity of each mention of one annotator: the first, where a span is in several chains."""

    chains: tuple[tuple[Span, ...], ...]
    """The mentions of each entity, by number, in order of the text."""
    entity: Mapping[Span, int]
    """The number of the entity that each mention is in."""
    singles: frozenset[Span]

    def mentions(self, span: Span) -> tuple[Span, ...]:
        """Return all mentions of the entity that a mention is in."""
        return self.chains[self.entity[span]]

    def alone(self, span: Span) -> bool:
        """Return whether a mention is a chain of one."""
        return span in self.singles

    @cached_property
    def linked(self) -> Mapping[Span, int]:
        """The entity of each mention that is with others."""
        return {span: number for span, number in self.entity.items() if span not in self.singles}

    @cached_property
    def nested(self) -> tuple[tuple[Span, Span], ...]:
        """All pairs of mentions of which the first contains the second."""
        return tuple(nested_pairs(self.entity))


def homes_of(annotation: Annotation) -> Homes:
    """Return the entity of each mention."""
    chains = tuple(sorted({chain.mentions for chain in annotation.all_chains}))
    entity: dict[Span, int] = {}
    for number, mentions in enumerate(chains):
        for span in mentions:
            entity.setdefault(span, number)
    singles = frozenset(span for span, number in entity.items() if len(chains[number]) == 1)
    return Homes(chains, entity, singles)


HomesOf = Callable[[Annotation], Homes]
"""Returns the entity of each mention; a cache where annotations are compared with several others."""


def match_entities(votes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Map entities of one annotator on those of another, one to one, with as many votes as possible.

    >>> match_entities([(0, 0), (0, 0), (0, 1), (1, 1), (2, 1)])
    {0: 0, 1: 1}
    """
    return _match_counted(frozenset(Counter(votes).items()))


@lru_cache(maxsize=32)
def _match_counted(counts: frozenset[tuple[tuple[int, int], int]]) -> dict[int, int]:
    """Map entities by how many votes each two have, which is asked several times about two annotators."""
    turned = sorted(((second, first), count) for (first, second), count in counts)
    straight = sorted(counts)
    if turned < straight:
        return dict(sorted((first, second) for second, first in map_one_to_one(dict(turned))))
    return dict(sorted(map_one_to_one(dict(straight))))


Row = tuple[Span | None, ...]
"""One mention as each annotator marked it; `None` for who did not."""


def align_mentions(homes: Sequence[Homes], *, only_known: bool = False) -> list[Row]:
    """Return all mentions of a document, in no order.

    A span that everybody marked is a mention by itself; only the others can have counterparts. These are,
    if `only_known`, variants, and spans whose entities are mapped on each other.
    """
    everywhere = set(homes[0].entity).intersection(*(home.entity for home in homes[1:]))
    markers = _markers(homes, everywhere)
    group = {span: [span] for span in markers}
    for span, twin in _ranked(markers, homes, only_known=only_known):
        first, second = group[span], group[twin]
        if first is not second and all(markers[a].isdisjoint(markers[b]) for a in first for b in second):
            first.extend(second)
            group.update(dict.fromkeys(second, first))
    rows = {id(spans): spans for spans in group.values()}.values()
    return [
        *zip(*[everywhere] * len(homes), strict=True),
        *(_row(spans, markers, len(homes)) for spans in rows),
    ]


def _markers(homes: Sequence[Homes], everywhere: set[Span]) -> dict[Span, frozenset[int]]:
    """Return who marked each span that not everybody marked."""
    nobody: frozenset[int] = frozenset()
    markers: dict[Span, frozenset[int]] = {}
    for number, home in enumerate(homes):
        with_this = cache(frozenset([number]).union)
        for span in home.entity.keys() - everywhere:
            markers[span] = with_this(markers.get(span, nobody))
    return markers


def _row(spans: Iterable[Span], markers: Mapping[Span, frozenset[int]], annotators: int) -> Row:
    marked = {who: span for span in spans for who in markers[span]}
    return tuple(marked.get(who) for who in range(annotators))


def _ranked(
    markers: Mapping[Span, frozenset[int]], homes: Sequence[Homes], *, only_known: bool
) -> list[tuple[Span, Span]]:
    """Return the pairs that can be counterparts, the best first."""
    known = _Known(homes)
    ranked = []
    for span, twin in overlapping(markers):
        if markers[span].isdisjoint(markers[twin]):
            same = known.same(span, twin, markers)
            common = min(span.end, twin.end) - max(span.start, twin.start) + 1
            if (
                same
                or overlap_by_half(span, twin)
                or (same is None and not only_known and _alike(span, twin))
            ):
                ranked.append((not same, -common, span, twin))
    return [(span, twin) for _, _, span, twin in sorted(ranked)]


def overlapping(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield all pairs of different spans that share a token, the earlier one first.

    >>> [(one.start, other.start) for one, other in overlapping([Span(1, 3), Span(3, 4), Span(4, 4)])]
    [(1, 3), (3, 4)]
    """
    active: list[Span] = []
    for span in sorted(spans):
        active = [earlier for earlier in active if earlier.end >= span.start]
        yield from ((earlier, span) for earlier in active)
        active.append(span)


def _alike(first: Span, second: Span) -> bool:
    """Return whether two spans that overlap cross, or begin or end alike."""
    return first.start == second.start or first.end == second.end or not first.nests_with(second)


@dataclass(frozen=True)
class _Known:
    """What equal spans show about the entities of each two annotators."""

    homes: Sequence[Homes]

    @cached_property
    def maps(self) -> Mapping[tuple[int, int], Mapping[int, int]]:
        """The entities of one annotator mapped on those of another."""
        maps: dict[tuple[int, int], Mapping[int, int]] = {}
        for a, b in combinations(range(len(self.homes)), 2):
            maps[a, b] = match_entities(_shared(self.homes[a], self.homes[b]))
            maps[b, a] = {second: first for first, second in maps[a, b].items()}
        return maps

    def same(self, span: Span, twin: Span, markers: Mapping[Span, frozenset[int]]) -> bool | None:
        """Return whether two spans are in the same entity for some, or in different ones for all."""
        answers = {
            self._same(span, first, twin, second) for first in markers[span] for second in markers[twin]
        }
        return True if True in answers else None if None in answers else False

    def _same(self, span: Span, first: int, twin: Span, second: int) -> bool | None:
        entity, met = self.homes[first].entity[span], self.homes[second].entity[twin]
        there, back = self.maps[first, second], self.maps[second, first]
        if there.get(entity) == met:
            return True
        return False if entity in there and met in back else None


def _shared(first: Homes, second: Homes) -> Iterator[tuple[int, int]]:
    both = first.linked.keys() & second.linked.keys()
    return zip(map(first.linked.__getitem__, both), map(second.linked.__getitem__, both), strict=True)


class DisagreementKind(StrEnum):
    """What a disagreement about one mention is about; the first that applies."""

    BOUNDARY = "boundary"
    """Marked with other first or last tokens."""
    NESTED = "nested"
    """Marked by some only, inside or around a mention that the others marked too."""
    MENTION = "mention"
    """Marked by some only."""
    SINGLETON = "singleton"
    """A chain of one for some; linked, or not marked, by others."""
    SPLIT = "split"
    """In an entity that some split and others merged."""
    ENTITY = "entity"
    """Put in another entity, where both annotators know both entities."""


_ORDER = {kind: number for number, kind in enumerate(DisagreementKind)}


@dataclass(frozen=True)
class Disagreement:
    """One disputed mention."""

    kind: DisagreementKind
    spans: Row
    """The span that each annotator marked, in the order of annotators; `None` where there is none."""
    entities: tuple[tuple[Span, ...], ...]
    """All mentions of the entity that each annotator put it into; none where it is not marked."""
    finer: tuple[int, ...] = ()
    """For a split, the annotators, by position, whose entity another annotator has no counterpart of."""

    @property
    def place(self) -> Span:
        """The first span that anybody marked."""
        return min(span for span in self.spans if span is not None)

    @property
    def direction(self) -> int:
        """Between two annotators, 1 if the first marked, left alone or split more than the other; else -1.

        Boundaries and entities have no direction: 0.
        """
        if self.kind in (DisagreementKind.BOUNDARY, DisagreementKind.ENTITY):
            return 0
        if self.kind is DisagreementKind.SPLIT:
            return 1 if 0 in self.finer else -1
        if self.kind is DisagreementKind.SINGLETON:
            return 1 if len(self.entities[0]) == 1 else -1
        return 1 if self.spans[0] is not None else -1


@dataclass(frozen=True)
class DisagreementCounts:
    """Disputed mentions by kind; those of several documents are added."""

    mentions: int = 0
    directed: Mapping[tuple[DisagreementKind, int], int] = field(default_factory=dict)
    """How many are disputed, by kind and, between two annotators, direction."""

    def __add__(self, other: "DisagreementCounts") -> "DisagreementCounts":
        """Pool two documents."""
        both = Counter(self.directed)
        both.update(other.directed)
        return DisagreementCounts(self.mentions + other.mentions, dict(sorted(both.items())))

    @cached_property
    def kinds(self) -> Mapping[DisagreementKind, int]:
        """How many are disputed, by kind; every kind is there."""
        kinds = dict.fromkeys(DisagreementKind, 0)
        for (kind, _), count in self.directed.items():
            kinds[kind] += count
        return kinds

    @property
    def disputed(self) -> int:
        """How many mentions are disputed."""
        return sum(self.directed.values())

    def reversed(self) -> "DisagreementCounts":
        """Return the same seen by the other of two annotators."""
        turned = {(kind, -direction): count for (kind, direction), count in self.directed.items()}
        return DisagreementCounts(self.mentions, dict(sorted(turned.items())))


@dataclass(frozen=True)
class Typology:
    """All disputed mentions of one document."""

    annotators: tuple[str, ...]
    """Who was compared, in the order of the spans of each disagreement."""
    mentions: int
    """How many mentions there are, disputed or not."""
    disagreements: tuple[Disagreement, ...]
    marked: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """For each k and n: how many mentions were marked by k of the n annotators who saw them."""

    @cached_property
    def counts(self) -> DisagreementCounts:
        """The disputed mentions by kind."""
        two = len(self.annotators) == 2
        directed = Counter((case.kind, case.direction if two else 0) for case in self.disagreements)
        return DisagreementCounts(self.mentions, dict(sorted(directed.items())))


def classify(
    annotations: Sequence[Annotation],
    *,
    singletons: bool | None = None,
    coverage: Coverage | None = None,
    homes_of: HomesOf = homes_of,
) -> Typology:
    """Classify every mention about which some annotators of one document disagree.

    >>> from caspr.text.document import Chain, Document
    >>> words = "a king met a girl from Rome . he sang ; she left it for her".split()
    >>> def annotated(name, *chains):
    ...     spans = [Chain.of(str(number), chain) for number, chain in enumerate(chains)]
    ...     return Annotation.of(name, Document("d", tuple(words)), spans)
    >>> ann = annotated("ann", [(1, 2), (9, 9)], [(4, 7), (12, 12), (16, 16)], [(7, 7), (14, 14)])
    >>> bob = annotated("bob", [(1, 2), (9, 9), (12, 12)], [(4, 5), (16, 16)])
    >>> found = classify([ann, bob])
    >>> [(str(one.kind), words[one.place.start - 1]) for one in found.disagreements]
    [('boundary', 'a'), ('nested', 'Rome'), ('entity', 'she'), ('mention', 'it')]
    >>> found.counts.disputed, found.mentions
    (4, 7)
    >>> less = annotated("bob", [(1, 2), (9, 9), (12, 12)])
    >>> [str(one.kind) for one in classify([ann, less]).disagreements]
    ['mention', 'mention', 'split', 'mention', 'mention']
    """
    singletons = singletons_count(([annotation] for annotation in annotations), singletons)
    homes = [homes_of(annotation) for annotation in annotations]
    rows = align_mentions(homes)
    if not singletons and any(home.singles for home in homes):
        rows = [row for row in rows if _linked(row, homes)]
    sides = [_Side.of(home, [row[number] for row in rows]) for number, home in enumerate(homes)]
    kinds: dict[int, DisagreementKind] = {}
    finer: dict[int, set[int]] = {}
    for first, second in combinations(range(len(homes)), 2):
        two = annotations[first].annotator, annotations[second].annotator
        pair = _Pair((sides[first], sides[second]), singletons, two, coverage or Coverage())
        for number, kind in pair.kinds():
            if number not in kinds or _ORDER[kind] < _ORDER[kinds[number]]:
                kinds[number] = kind
            if kind is DisagreementKind.SPLIT:
                finer.setdefault(number, set()).add((first, second)[pair.finer(number)])
    disputed = [
        Disagreement(
            kind,
            rows[number],
            tuple(
                homes[who].mentions(span) if span is not None else () for who, span in enumerate(rows[number])
            ),
            tuple(sorted(finer.get(number, ()))) if kind is DisagreementKind.SPLIT else (),
        )
        for number, kind in kinds.items()
    ]
    disputed.sort(key=lambda disagreement: disagreement.place)
    names = tuple(annotation.annotator for annotation in annotations)
    marked = _marks(rows, names, coverage)
    return Typology(names, len(rows), tuple(disputed), dict(sorted(marked.items())))


def count_all(
    documents: Iterable[Sequence[Annotation]],
    *,
    singletons: bool | None = None,
    coverages: Iterable[Coverage | None] | None = None,
    homes_of: HomesOf = homes_of,
) -> DisagreementCounts:
    """Count the disputed mentions of several documents by kind; all have the same annotators."""
    documents = list(documents)
    alone = singletons_count(zip(*documents, strict=True), singletons)
    seen = [None] * len(documents) if coverages is None else coverages
    counts = (
        classify(annotations, singletons=alone, coverage=coverage, homes_of=homes_of).counts
        for annotations, coverage in zip(documents, seen, strict=True)
    )
    return sum(counts, DisagreementCounts())


def _marks(rows: Iterable[Row], names: Sequence[str], coverage: Coverage | None) -> Counter[tuple[int, int]]:
    """Count the mentions by how many annotators marked each, and how many saw it; who marked it saw it."""
    unmarked = Counter(map(methodcaller("count", None), rows))
    if not coverage:
        return Counter({(len(names) - lacking, len(names)): count for lacking, count in unmarked.items()})
    marked: Counter[tuple[int, int]] = Counter()
    for row in rows:
        spans = {span for span in row if span is not None}
        seen = [
            own is not None or any(coverage.sees(name, span) for span in spans)
            for name, own in zip(names, row, strict=True)
        ]
        marked[len(row) - row.count(None), sum(seen)] += 1
    return marked


def _linked(row: Row, homes: Sequence[Homes]) -> bool:
    """Return whether anybody linked a mention with others."""
    return any(span is not None and not homes[who].alone(span) for who, span in enumerate(row))


_UNMARKED = -1
"""Stands for the entity of a mention that was not marked."""


@dataclass(frozen=True)
class _Side:
    """What one annotator says of each mention."""

    homes: Homes
    spans: Sequence[Span | None]
    entities: Sequence[int]

    @classmethod
    def of(cls, homes: Homes, spans: Sequence[Span | None]) -> "_Side":
        entity = homes.entity
        return cls(homes, spans, [_UNMARKED if span is None else entity[span] for span in spans])


class _Pair:
    """What two annotators say of each mention."""

    def __init__(
        self, sides: tuple[_Side, _Side], singletons: bool, names: tuple[str, str], coverage: Coverage
    ) -> None:
        self._sides, self._singletons, self._names, self._coverage = sides, singletons, names, coverage
        self._homes = sides[0].homes, sides[1].homes
        self._cells = list(zip(*(side.entities for side in sides), strict=True))
        votes = {cell: count for cell, count in Counter(self._cells).items() if self._linked(*cell)}
        self._map = match_entities(Counter(votes))
        self._back = {second: first for first, second in self._map.items()}
        self._nested = self._nesting(0), self._nesting(1)

    def kinds(self) -> Iterable[tuple[int, DisagreementKind]]:
        """Yield every mention about which the two disagree, by its number, with the kind.

        Most mentions are in entities mapped on each other, with the same boundaries: they are passed over.
        """
        spans = self._sides[0].spans, self._sides[1].spans
        agreed = {(_UNMARKED, _UNMARKED), *self._map.items()}
        for number, (cell, span, twin) in enumerate(zip(self._cells, *spans, strict=True)):
            if (cell not in agreed or span is not twin) and (kind := self._kind(span, twin)) is not None:
                yield number, kind

    def finer(self, number: int) -> int:
        """Return whose entity has no counterpart, 0 or 1."""
        entity, _ = self._cells[number]
        return int(entity in self._map)

    def _kind(self, span: Span | None, twin: Span | None) -> DisagreementKind | None:
        if span is None or twin is None:
            return self._kind_of_unmarked(span, twin)
        if span != twin:
            return DisagreementKind.BOUNDARY
        alone = self._homes[0].alone(span), self._homes[1].alone(twin)
        if any(alone):
            return None if all(alone) else DisagreementKind.SINGLETON
        first, second = self._homes[0].entity[span], self._homes[1].entity[twin]
        if self._map.get(first) == second:
            return None
        both_known = first in self._map and second in self._back
        return DisagreementKind.ENTITY if both_known else DisagreementKind.SPLIT

    def _kind_of_unmarked(self, first: Span | None, second: Span | None) -> DisagreementKind | None:
        side, span = (0, first) if first is not None else (1, second)
        if span is None or not self._coverage.sees(self._names[1 - side], span):
            return None
        if self._homes[side].alone(span):
            return DisagreementKind.SINGLETON if self._singletons else None
        return DisagreementKind.NESTED if span in self._nested[side] else DisagreementKind.MENTION

    def _linked(self, first: int, second: int) -> bool:
        """Return whether both marked a mention, and neither as a chain of one."""
        chains, others = (home.chains for home in self._homes)
        return _UNMARKED not in (first, second) and len(chains[first]) > 1 < len(others[second])

    def _nesting(self, side: int) -> set[Span]:
        """Return the spans of one annotator inside or around a mention that both marked."""
        nested, other = self._homes[side].nested, self._sides[1 - side].spans
        spans = {span for pair in nested for span in pair}
        both = zip(self._sides[side].spans, other, strict=True)
        shared = {span for span, twin in both if twin is not None and span in spans}
        inside = {inner for outer, inner in nested if outer in shared}
        return inside | {outer for outer, inner in nested if inner in shared}
