"""A typology of disagreement: what annotators disagree about, counted in mentions.

First it is settled which marks are marks of one *mention*: equal spans, and *counterparts*, spans that
overlap and are meant as the same mention with other boundaries (`counterparts.py`). So a document has rows,
a row being one mention as each annotator marked it or did not. Then the entities of any two annotators are
mapped one to one so that as few mentions as possible are in different ones (`entities.py`). Two annotators
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
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from itertools import combinations

from caspr.measures.singletons import singletons_count
from caspr.measures.typology.counterparts import Row, align_mentions
from caspr.measures.typology.entities import Homes, homes_of, match_entities
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span


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
    """What it is about."""
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
    """All mentions, disputed or not."""
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
        found = dict.fromkeys(DisagreementKind, 0)
        for (kind, _), count in self.directed.items():
            found[kind] += count
        return found

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
    """One for each disputed mention, in text order."""
    marked: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """How many mentions so many of so many annotators who saw them marked, whatever the boundaries."""

    @cached_property
    def counts(self) -> DisagreementCounts:
        """The disputed mentions by kind."""
        two = len(self.annotators) == 2
        found = Counter((one.kind, one.direction if two else 0) for one in self.disagreements)
        return DisagreementCounts(self.mentions, dict(sorted(found.items())))


def classify(
    annotations: Sequence[Annotation], *, singletons: bool | None = None, coverage: Coverage | None = None
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
    rows = [row for row in align_mentions(homes) if singletons or _linked(row, homes)]
    kinds: dict[int, DisagreementKind] = {}
    finer: dict[int, set[int]] = {}
    for one, other in combinations(range(len(homes)), 2):
        pair = _Pair(rows, homes, (one, other), singletons, _views(annotations, (one, other), coverage))
        for number, kind in pair.kinds():
            if number not in kinds or _ORDER[kind] < _ORDER[kinds[number]]:
                kinds[number] = kind
            if kind is DisagreementKind.SPLIT:
                finer.setdefault(number, set()).add(pair.finer(number))
    found = [
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
    found.sort(key=lambda disagreement: (disagreement.place, disagreement.kind))
    names = tuple(one.annotator for one in annotations)
    marked = Counter(_marks(row, names, coverage or Coverage()) for row in rows)
    return Typology(names, len(rows), tuple(found), dict(sorted(marked.items())))


def count_all(
    documents: Iterable[Sequence[Annotation]],
    *,
    singletons: bool | None = None,
    coverages: Iterable[Coverage | None] | None = None,
) -> DisagreementCounts:
    """Count the disputed mentions of several documents by kind; all have the same annotators."""
    given = list(documents)
    alone = singletons_count(zip(*given, strict=True), singletons)
    seen = [None] * len(given) if coverages is None else coverages
    found = (
        classify(annotations, singletons=alone, coverage=coverage).counts
        for annotations, coverage in zip(given, seen, strict=True)
    )
    return sum(found, DisagreementCounts())


def _marks(row: Row, names: Sequence[str], coverage: Coverage) -> tuple[int, int]:
    """Return how many annotators marked a mention, and how many saw it; who marked it saw it."""
    spans = {span for span in row if span is not None}
    seen = [
        own is not None or any(coverage.sees(name, span) for span in spans)
        for name, own in zip(names, row, strict=True)
    ]
    return sum(span is not None for span in row), sum(seen)


def _linked(row: Row, homes: Sequence[Homes]) -> bool:
    """Return whether anybody linked a mention with others."""
    return any(span is not None and not homes[who].alone(span) for who, span in enumerate(row))


View = Callable[[Span], bool]
"""Whether one annotator saw a span."""


def _views(
    annotations: Sequence[Annotation], numbers: tuple[int, int], coverage: Coverage | None
) -> tuple[View, View]:
    one, other = (annotations[number].annotator for number in numbers)
    seen = coverage or Coverage()
    return partial(seen.sees, one), partial(seen.sees, other)


class _Pair:
    """What two annotators say of each mention."""

    def __init__(
        self,
        rows: Sequence[Row],
        homes: Sequence[Homes],
        numbers: tuple[int, int],
        singletons: bool,
        views: tuple[View, View],
    ) -> None:
        one, other = self._numbers = numbers
        self._views = views
        self._rows = [(row[one], row[other]) for row in rows]
        self._homes = homes[one], homes[other]
        self._singletons = singletons
        self._map = match_entities(self._both_linked())
        self._back = {other: one for one, other in self._map.items()}
        self._shared = tuple({row[side] for row in self._rows if None not in row} for side in (0, 1))
        self._nested = tuple(self._nesting(side) for side in (0, 1))

    def kinds(self) -> Iterable[tuple[int, DisagreementKind]]:
        """Yield every mention about which the two disagree, by its number, with the kind."""
        for number, (one, other) in enumerate(self._rows):
            kind = self._kind(one, other)
            if kind is not None:
                yield number, kind

    def finer(self, number: int) -> int:
        """Return who of the two has the entity without a counterpart."""
        one, _ = self._rows[number]
        assert one is not None
        return self._numbers[1] if self._homes[0].entity[one] in self._map else self._numbers[0]

    def _kind(self, one: Span | None, other: Span | None) -> DisagreementKind | None:
        if one is None or other is None:
            return self._kind_of_unmarked(one, other)
        if one != other:
            return DisagreementKind.BOUNDARY
        alone = self._homes[0].alone(one), self._homes[1].alone(other)
        if any(alone):
            return None if all(alone) else DisagreementKind.SINGLETON
        first, second = self._homes[0].entity[one], self._homes[1].entity[other]
        if self._map.get(first) == second:
            return None
        both_known = first in self._map and second in self._back
        return DisagreementKind.ENTITY if both_known else DisagreementKind.SPLIT

    def _kind_of_unmarked(self, one: Span | None, other: Span | None) -> DisagreementKind | None:
        side, span = (0, one) if one is not None else (1, other)
        if span is None or not self._views[1 - side](span):
            return None
        if self._homes[side].alone(span):
            return DisagreementKind.SINGLETON if self._singletons else None
        return DisagreementKind.NESTED if span in self._nested[side] else DisagreementKind.MENTION

    def _both_linked(self) -> Iterable[tuple[int, int]]:
        first, second = self._homes
        for one, other in self._rows:
            if one is None or other is None or one in first.singles or other in second.singles:
                continue
            yield first.entity[one], second.entity[other]

    def _nesting(self, side: int) -> set[Span]:
        """Return the spans of one annotator inside or around a mention that both marked."""
        found = set()
        shared = self._shared[side]
        for outer, inner in self._homes[side].nested:
            if outer in shared:
                found.add(inner)
            if inner in shared:
                found.add(outer)
        return found
