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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np

from caspr.measures.assignment import map_one_to_one
from caspr.measures.marks import NOBODY, Flags, Marks, Numbers, count_cells
from caspr.measures.matching import singletons_count
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span
from caspr.text.variants import overlap_by_half

Votes = Mapping[tuple[int, int], int]
"""How many mentions two annotators both linked, by the entities of the one and of the other."""


def match_entities(votes: Votes) -> dict[int, int]:
    """Map entities of one annotator on those of another, one to one, with as many votes as possible.

    >>> match_entities({(0, 0): 2, (0, 1): 1, (1, 1): 1, (2, 1): 1})
    {0: 0, 1: 1}
    """
    straight = sorted(votes.items())
    turned = sorted(((second, first), count) for (first, second), count in straight)
    if turned < straight:
        return dict(sorted((first, second) for second, first in map_one_to_one(dict(turned))))
    return dict(sorted(map_one_to_one(dict(straight))))


Row = tuple[Span | None, ...]
"""One mention as each annotator marked it; `None` for who did not."""


def align_mentions(marks: Marks, *, only_known: bool = False) -> list[Row]:
    """Return all mentions of a document, in the order of the text.

    A span that everybody marked is a mention by itself; only the others can have counterparts. These are,
    if `only_known`, variants, and spans whose entities are mapped on each other.
    """
    rows = _rows(marks, range(len(marks.entities)), only_known=only_known)
    return [_row(marks, row) for row in rows.T.tolist() if max(row) > NOBODY]


def _row(marks: Marks, numbers: Iterable[int]) -> Row:
    return tuple(None if number == NOBODY else marks.spans[number] for number in numbers)


def _rows(marks: Marks, who: Sequence[int], *, only_known: bool = False) -> Numbers:
    """Return the number of the span that each of some annotators (row) marked for each mention (column).

    There is a column for each span, which is empty where nobody marked it, or where it is in an earlier one.
    """
    marked = marks.marked[list(who)]
    rows = np.where(marked, np.arange(marked.shape[1]), NOBODY)
    group: dict[int, list[int]] = {}
    for span, twin in _ranked(marks, who, marked, only_known=only_known):
        first, second = group.setdefault(span, [span]), group.setdefault(twin, [twin])
        if first is not second and not np.any(marked[:, first].any(axis=1) & marked[:, second].any(axis=1)):
            first.extend(second)
            group.update(dict.fromkeys(second, first))
    for spans in {id(spans): spans for spans in group.values()}.values():
        together = rows[:, spans].max(axis=1)
        rows[:, spans] = NOBODY
        rows[:, min(spans)] = together
    return rows


def _ranked(marks: Marks, who: Sequence[int], marked: Flags, *, only_known: bool) -> list[tuple[int, int]]:
    """Return the pairs of spans that can be counterparts, the best first."""
    first, second = marks.overlapping
    disputed: Flags = np.logical_xor(marked.any(axis=0), marked.all(axis=0))
    chosen = disputed[first] & disputed[second]
    first, second = first[chosen], second[chosen]
    apart = ~(marked[:, first] & marked[:, second]).any(axis=0)
    known, ranked = _Known(marks, who), []
    for number, twin_number in zip(first[apart].tolist(), second[apart].tolist(), strict=True):
        span, twin = marks.spans[number], marks.spans[twin_number]
        same = known.same(number, twin_number)
        common = min(span.end, twin.end) - max(span.start, twin.start) + 1
        if same or overlap_by_half(span, twin) or (same is None and not only_known and _alike(span, twin)):
            ranked.append((not same, -common, number, twin_number))
    return [(number, twin) for _, _, number, twin in sorted(ranked)]


def _alike(first: Span, second: Span) -> bool:
    """Return whether two spans that overlap cross, or begin or end alike."""
    return first.start == second.start or first.end == second.end or not first.nests_with(second)


class _Known:
    """What equal spans show about the entities of each two of some annotators."""

    def __init__(self, marks: Marks, who: Sequence[int]) -> None:
        self._marks, self._who = marks, who

    def same(self, span: int, twin: int) -> bool | None:
        """Return whether two spans are in the same entity for some, or in different ones for all."""
        entities = self._marks.entities
        marking, others = ([who for who in self._who if entities[who, at] > NOBODY] for at in (span, twin))
        answers = {
            self._same(first, int(entities[first, span]), second, int(entities[second, twin]))
            for first in marking
            for second in others
        }
        return True if True in answers else None if None in answers else False

    def _same(self, first: int, entity: int, second: int, met: int) -> bool | None:
        there, back = self._map(first, second), self._map(second, first)
        if there.get(entity) == met:
            return True
        return False if entity in there and met in back else None

    def _map(self, first: int, second: int) -> dict[int, int]:
        """Return the entities of one annotator mapped on those of another."""
        maps = self._marks.maps
        if (first, second) not in maps:
            one, other = sorted((first, second))
            linked = self._marks.linked[one] & self._marks.linked[other]
            votes = count_cells(self._marks.entities[one, linked], self._marks.entities[other, linked])
            maps[one, other] = match_entities(votes)
            maps[other, one] = {twin: entity for entity, twin in maps[one, other].items()}
        return maps[first, second]


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
    counts: DisagreementCounts
    """The disputed mentions by kind."""
    marked: Mapping[tuple[int, int], int]
    """For each k and n: how many mentions were marked by k of the n annotators who saw them."""
    _cases: "_Cases" = field(repr=False, compare=False)

    @property
    def mentions(self) -> int:
        """How many mentions there are, disputed or not."""
        return self.counts.mentions

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """All disputed mentions, in the order of the text."""
        return tuple(self._cases.disagreements())


@dataclass(frozen=True)
class _Cases:
    """What some annotators say of each mention, and the kind of disagreement."""

    marks: Marks
    who: Sequence[int]
    rows: Numbers
    kinds: Numbers
    finer: Flags
    """For a split, the annotators (rows) whose entity another annotator has no counterpart of."""

    def disagreements(self) -> Iterator[Disagreement]:
        """Yield all disputed mentions."""
        disputed = np.flatnonzero(self.kinds != _AGREED)
        chains, entities = self.marks.chains, self.marks.entities
        # In the order of the text: a row that holds several spans is where the first of them is.
        for row, kind, finer in zip(
            self.rows[:, disputed].T.tolist(),
            self.kinds[disputed].tolist(),
            self.finer[:, disputed].T,
            strict=True,
        ):
            found = zip(self.who, row, strict=True)
            yield Disagreement(
                _KINDS[kind],
                _row(self.marks, row),
                tuple(() if span == NOBODY else chains[who][entities[who, span]] for who, span in found),
                tuple(np.flatnonzero(finer).tolist()) if kind == _SPLIT else (),
            )


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
    alone = singletons_count(([annotation] for annotation in annotations), singletons)
    marks = Marks.of(annotations)
    return classify_marks(marks, range(len(annotations)), alone, marks.seen(coverage))


def classify_marks(marks: Marks, who: Sequence[int], singletons: bool, seen: Flags | None = None) -> Typology:
    """Classify every mention about which some annotators, by number, disagree; `seen`: who saw what."""
    rows = _rows(marks, who)
    if not singletons:
        linked = [(row > NOBODY) & marks.linked[number, row] for number, row in zip(who, rows, strict=True)]
        rows[:, ~np.any(linked, axis=0)] = NOBODY
    sides = [_Side(marks, number, row) for number, row in zip(who, rows, strict=True)]
    kinds, finer = np.full(rows.shape[1], _AGREED), np.zeros(rows.shape, dtype=bool)
    directions = np.zeros_like(kinds)
    for first, second in combinations(range(len(sides)), 2):
        found, directions = _classify_pair(sides[first], sides[second], singletons, seen)
        for side, direction in ((first, 1), (second, -1)):
            finer[side] |= (found == _SPLIT) & (directions == direction)
        kinds = np.minimum(kinds, found)
    disputed = kinds != _AGREED
    directed = Counter(
        zip(kinds[disputed].tolist(), (directions * (len(sides) == 2))[disputed].tolist(), strict=True)
    )
    counts = DisagreementCounts(
        int((rows > NOBODY).any(axis=0).sum()),
        dict(sorted(((_KINDS[kind], direction), count) for (kind, direction), count in directed.items())),
    )
    names = tuple(marks.annotators[number] for number in who)
    return Typology(names, counts, _marked(rows, who, seen), _Cases(marks, who, rows, kinds, finer))


def count_all(
    documents: Iterable[Sequence[Annotation]],
    *,
    singletons: bool | None = None,
    coverages: Iterable[Coverage | None] | None = None,
) -> DisagreementCounts:
    """Count the disputed mentions of several documents by kind; all have the same annotators."""
    documents = list(documents)
    alone = singletons_count(zip(*documents, strict=True), singletons)
    seen = [None] * len(documents) if coverages is None else coverages
    counts = (
        classify(annotations, singletons=alone, coverage=coverage).counts
        for annotations, coverage in zip(documents, seen, strict=True)
    )
    return sum(counts, DisagreementCounts())


def _marked(rows: Numbers, who: Sequence[int], seen: Flags | None) -> dict[tuple[int, int], int]:
    """Count the mentions by how many annotators marked each, and how many saw it; who marked it saw it."""
    rows = rows[:, (rows > NOBODY).any(axis=0)]
    marking = rows > NOBODY
    seeing = np.ones_like(marking) if seen is None else marking.copy()
    if seen is not None:
        for side, number in enumerate(who):
            seeing[side] |= (seen[number][rows] & marking).any(axis=0)
    return dict(sorted(count_cells(marking.sum(axis=0), seeing.sum(axis=0)).items()))


class _Side:
    """What one annotator says of each mention."""

    def __init__(self, marks: Marks, number: int, spans: Numbers) -> None:
        self.marks, self.number, self.spans = marks, number, spans
        self.marked = spans > NOBODY
        self.entities = np.where(self.marked, marks.entities[number, spans], NOBODY)
        self.alone = self.marked & marks.alone[number, spans]

    def nested(self, both: Flags) -> Flags:
        """Return which mentions lie inside or around a mention that both annotators marked."""
        outer, inner = self.marks.nested
        if not len(outer):
            return np.zeros_like(both)
        own = self.marks.marked[self.number]
        own_pairs = own[outer] & own[inner]
        outer, inner = outer[own_pairs], inner[own_pairs]
        shared, nested = np.zeros((2, len(own)), dtype=bool)
        shared[self.spans[both]] = True
        nested[inner[shared[outer]]] = True
        nested[outer[shared[inner]]] = True
        return nested[self.spans] & self.marked


_KINDS = tuple(DisagreementKind)
_BOUNDARY, _NESTED, _MENTION, _SINGLETON, _SPLIT, _ENTITY = range(len(_KINDS))
_AGREED = len(_KINDS)
"""Stands for no disagreement, after all kinds."""


def _classify_pair(one: _Side, other: _Side, singletons: bool, seen: Flags | None) -> tuple[Numbers, Numbers]:
    """Return the kind of disagreement of two annotators about each mention, and its direction."""
    both, either = one.marked & other.marked, one.marked | other.marked
    linked = both & ~one.alone & ~other.alone
    mapped = match_entities(count_cells(one.entities[linked], other.entities[linked]))
    there, back = (np.full(len(side.marks.chains[side.number]) + 1, NOBODY) for side in (one, other))
    there[list(mapped)], back[list(mapped.values())] = list(mapped.values()), list(mapped)
    same, known = there[one.entities] == other.entities, there[one.entities] > NOBODY
    alone = np.where(one.marked, one.alone, other.alone)
    unseen = np.zeros_like(both)
    if seen is not None:
        unseen = (one.marked & ~seen[other.number, one.spans]) | (
            other.marked & ~seen[one.number, other.spans]
        )
    cases = (
        (~either, _AGREED),
        (~both & unseen, _AGREED),
        (~both & alone, _SINGLETON if singletons else _AGREED),
        (~both & (one.nested(both) | other.nested(both)), _NESTED),
        (~both, _MENTION),
        (one.spans != other.spans, _BOUNDARY),
        (one.alone & other.alone, _AGREED),
        (one.alone | other.alone, _SINGLETON),
        (same, _AGREED),
        (known & (back[other.entities] > NOBODY), _ENTITY),
    )
    kinds = np.full(len(both), _SPLIT)
    for case, kind in reversed(cases):
        kinds[case] = kind
    first_more = np.where(kinds == _SPLIT, ~known, np.where(kinds == _SINGLETON, one.alone, one.marked))
    undirected = (kinds == _BOUNDARY) | (kinds >= _ENTITY)
    return kinds, np.where(undirected, 0, np.where(first_more, 1, -1))
