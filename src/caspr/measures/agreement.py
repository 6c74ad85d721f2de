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

n being the number of all values in pairs that have at least two, L that of links among them. Pairs are
not listed: mentions in the same chains of the same annotators are alike, and pairs that nobody linked are
all pairs less the linked ones. An annotator has a value for a pair who has one for both of its mentions
(`valued_by`): who did not see one of them says nothing about the pair.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

from caspr.measures.matching import count_pairs
from caspr.task.votes import Signature, count_votes, meet
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


def passonneau(shape: Shape) -> Fraction:
    """Return 0, 1/3, 2/3 or 1.

    >>> passonneau(Shape(3, 2, 2)), passonneau(Shape(3, 2, 1)), passonneau(Shape(3, 2, 0))
    (Fraction(1, 3), Fraction(2, 3), Fraction(1, 1))
    """
    return 1 - Fraction(shape.nearness, 3)


def masi(shape: Shape) -> Fraction:
    """Return the distance weighted by Jaccard's index.

    >>> masi(Shape(3, 2, 2)), masi(Shape(2, 2, 2)), masi(Shape(0, 0, 0))
    (Fraction(5, 9), Fraction(0, 1), Fraction(0, 1))
    """
    if shape.nearness in (0, 3):
        return passonneau(shape)
    return 1 - Fraction(shape.common, shape.first + shape.second - shape.common) * Fraction(shape.nearness, 3)


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
        expected = pairs - sum((1 - distance(shape)) * count for shape, count in self.near.items())
        if not expected:
            return None
        observed = sum(
            (distance(shape) * count / (values - 1) for (values, shape), count in self.within.items()),
            Fraction(0),
        )
        return 1 - observed * (self.values - 1) / expected


Alike = tuple[Signature, frozenset[int]]
"""What the values of all pairs of a mention depend on: the chains it is in, and who has a value."""


@dataclass(frozen=True)
class LinkTally:
    """How many pairs of mentions have how many values and links."""

    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Pairs of mentions by the number of annotators with a value and of those who linked them."""

    def __add__(self, other: "LinkTally") -> "LinkTally":
        """Pool two documents."""
        return LinkTally(self.pairs + other.pairs)

    def alpha(self) -> Fraction | None:
        """Return alpha; undefined where all pairs are linked, or none is."""
        paired = {key: count for key, count in self.pairs.items() if key[0] > 1}
        values = sum(count * m for (m, _), count in paired.items())
        links = sum(count * k for (_, k), count in paired.items())
        expected = 2 * links * (values - links)
        if not expected:
            return None
        observed = sum(
            (Fraction(2 * count * k * (m - k), m - 1) for (m, k), count in paired.items()), Fraction(0)
        )
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
    conventions = conventions or Conventions()
    sets = tally_sets(annotations, conventions, coverage)
    return Tally(sets, tally_links(annotations, conventions, coverage))


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
    spans = {span for annotation in annotations for span in annotation.mentions}
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


@dataclass(frozen=True)
class _Class:
    """The mentions to which one annotator gave the same set."""

    whole: frozenset[Span]
    """The set, each mention included."""
    members: frozenset[Span]
    """The mentions that have it as value, without those that cannot be paired."""


def tally_sets(
    annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None = None
) -> SetTally:
    """Count the shapes of one document."""
    who = valued_by(annotations, conventions, coverage)
    valued = Counter({span: len(numbers) for span, numbers in who.items()})
    classes = [
        list(_classes(annotation, _paired(who, number), conventions.unmarked))
        for number, annotation in enumerate(annotations)
    ]
    every = [alike for own in classes for alike in own]
    least = 1 if conventions.own else 2
    return SetTally(
        values=sum(count for count in valued.values() if count > 1),
        empty=sum(len(alike.members) for alike in every if len(alike.whole) < least),
        within=_within(classes, valued, conventions.own),
        near=_near(every, conventions.own),
    )


def _paired(who: Mapping[Span, frozenset[int]], number: int) -> frozenset[Span]:
    """Return the mentions for which one annotator has a value, and another has one, too."""
    return frozenset(span for span, numbers in who.items() if number in numbers and len(numbers) > 1)


def _classes(annotation: Annotation, paired: frozenset[Span], unmarked: Unmarked) -> Iterator[_Class]:
    wholes: dict[Span, frozenset[Span]] = {}
    for chain in annotation.all_chains:
        mentions = frozenset(chain.mentions)
        for span in mentions:
            wholes[span] = wholes[span] | mentions if span in wholes else mentions
    members: dict[frozenset[Span], set[Span]] = defaultdict(set)
    for span, whole in wholes.items():
        if span in paired:
            members[whole].add(span)
    for span in paired - wholes.keys():
        members[frozenset({span} if unmarked is Unmarked.SINGLETON else ())].add(span)
    return (_Class(whole, frozenset(spans)) for whole, spans in members.items())


def _within(
    classes: Sequence[Sequence[_Class]], valued: Counter[Span], own: bool
) -> Counter[tuple[int, Shape]]:
    """Count ordered pairs of values of one unit."""
    within: Counter[tuple[int, Shape]] = Counter()
    for first, second in combinations(classes, 2):
        home = {span: alike for alike in second for span in alike.members}
        for alike in first:
            for met, spans in _grouped(alike.members, home):
                shape = _shape(alike.whole, met.whole, less=(0, 0, 0) if own else (1, 1, 1))
                for span in spans:
                    within[valued[span], shape] += 2
    return within


def _grouped(spans: Iterable[Span], home: dict[Span, _Class]) -> Iterator[tuple[_Class, list[Span]]]:
    groups: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        if span in home:
            groups[id(home[span])].append(span)
    return ((home[group[0]], group) for group in groups.values())


def _near(classes: Sequence[_Class], own: bool) -> Counter[Shape]:
    """Count ordered pairs of values that share a mention."""
    near: Counter[Shape] = Counter()
    holders: dict[Span, list[int]] = defaultdict(list)
    for number, alike in enumerate(classes):
        for span in alike.whole:
            holders[span].append(number)
    for number, alike in enumerate(classes):
        less = (0, 0, 0) if own else (1, 1, 2)
        near[_shape(alike.whole, alike.whole, less)] += 2 * count_pairs(len(alike.members))
        for met in {later for span in alike.whole for later in holders[span] if later > number}:
            for shape, count in _between(alike, classes[met], own):
                near[shape] += 2 * count
    return Counter({shape: count for shape, count in near.items() if shape.common > 0})


def _between(first: _Class, second: _Class, own: bool) -> Iterator[tuple[Shape, int]]:
    """Yield the shapes of all pairs of a value of one class and a value of another.

    Where a mention is not in its own set, taking it out makes the common part smaller if the other set
    holds it.
    """
    if own:
        yield _shape(first.whole, second.whole, (0, 0, 0)), len(first.members) * len(second.members)
        return
    a, b = len(first.members & second.whole), len(second.members & first.whole)
    same = len(first.members & second.members)
    outside_a, outside_b = len(first.members) - a, len(second.members) - b
    for smaller, count in (
        (0, outside_a * outside_b),
        (1, a * outside_b + outside_a * b + same),
        (2, a * b - same),
    ):
        if count:
            yield _shape(first.whole, second.whole, (1, 1, smaller)), count


def _shape(first: frozenset[Span], second: frozenset[Span], less: tuple[int, int, int]) -> Shape:
    common = len(first & second)
    return Shape(
        *(max(0, size - cut) for size, cut in zip((len(first), len(second), common), less, strict=True))
    )


def tally_links(
    annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None = None
) -> LinkTally:
    """Count the pairs of one document."""
    votes = count_votes(annotations)
    valued = valued_by(annotations, conventions, coverage)
    classes = Counter((votes.signature(span), who) for span, who in valued.items())
    pairs = _linked(classes)
    counts = Counter({(m, k): count for (m, k), count in pairs.items() if k})
    linked: Counter[int] = Counter()
    for (m, _), count in pairs.items():
        linked[m] += count
    for m, count in _all_pairs(Counter(valued.values())).items():
        counts[m, 0] += count - linked[m]
    return LinkTally(+counts)


def _linked(classes: Counter[Alike]) -> Counter[tuple[int, int]]:
    """Count the pairs that some annotator linked."""
    holders: dict[tuple[int, int], list[int]] = defaultdict(list)
    known = list(classes)
    for number, (signature, _) in enumerate(known):
        for chain in signature.chains:
            holders[chain].append(number)
    linked: Counter[tuple[int, int]] = Counter()
    near = {pair for numbers in holders.values() for pair in combinations_with_replacement(numbers, 2)}
    for first, second in near:
        (own, valued), (theirs, too) = known[first], known[second]
        size, more = classes[known[first]], None if first == second else classes[known[second]]
        linked[len(valued & too), meet(own, theirs).k] += count_pairs(size, more)
    return linked


def _all_pairs(valued: Counter[frozenset[int]]) -> Counter[int]:
    """Count all pairs of mentions by the number of annotators who have a value."""
    pairs: Counter[int] = Counter()
    for first, second in combinations_with_replacement(list(valued), 2):
        pairs[len(first & second)] += count_pairs(valued[first], None if first == second else valued[second])
    return pairs
