"""Alpha over coreference sets: each mention is a unit, the set it is in is an annotator's value for it.

Krippendorff's alpha is 1 - Do / De. With n values in units that have at least two, m of them in unit u,

    Do = 1/n       * sum over units u of 1/(m - 1) * sum over ordered pairs of values in u of d,
    De = 1/(n(n-1)) * sum over all ordered pairs of the n values of d.

De goes over millions of pairs, but almost all of them are disjoint sets at distance 1. The mentions that
have the same set make one *class*; only classes that share a mention are compared, and all their pairs
are counted together. What is counted are `Shape`s, so one tally serves every distance, and tallies of
documents can be added: sets of different documents are disjoint.

Conventions: a set holds the mention itself or not (`own`); a mention that an annotator did not mark is
a set of its own, or has no value, or the empty set (`Unmarked`). A span that an annotator put into
several chains has the union of them as its set.

Coverage: an annotator has no value for a mention that this one neither marked nor saw, whatever the
convention. The sets themselves are not cut to what others saw.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import combinations

from caspr.measures.agreement.distances import Shape
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span


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


@dataclass(frozen=True)
class _Class:
    """The mentions to which one annotator gave the same set."""

    whole: frozenset[Span]
    """The set, each mention included."""
    members: frozenset[Span]
    """The mentions that have it as value, without those that cannot be paired."""


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
    found: dict[Span, set[int]] = defaultdict(set)
    for number, annotation in enumerate(annotations):
        for span in annotation.mentions:
            found[span].add(number)
    return {span: frozenset(who) for span, who in found.items()}


def valued_by(
    annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None
) -> dict[Span, frozenset[int]]:
    """Return who has a value for each mention, by position."""
    missing = conventions.unmarked is Unmarked.MISSING
    return markers(annotations) if missing else viewers(annotations, coverage)


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
    every = [one for given in classes for one in given]
    return SetTally(
        values=sum(count for count in valued.values() if count > 1),
        empty=sum(len(one.members) for one in every if len(one.whole) < (1 if conventions.own else 2)),
        within=_within(classes, valued, conventions.own),
        near=_near(every, conventions.own),
    )


def _paired(who: Mapping[Span, frozenset[int]], number: int) -> frozenset[Span]:
    """Return the mentions for which one annotator has a value, and another has one, too."""
    return frozenset(span for span, numbers in who.items() if number in numbers and len(numbers) > 1)


def _classes(annotation: Annotation, paired: frozenset[Span], unmarked: Unmarked) -> Iterator[_Class]:
    wholes: dict[Span, frozenset[Span]] = {}
    for chain in (*annotation.chains, *annotation.singletons):
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
    found: Counter[tuple[int, Shape]] = Counter()
    for one, other in combinations(classes, 2):
        home = {span: given for given in other for span in given.members}
        for given in one:
            for met, spans in _grouped(given.members, home):
                shape = _shape(given.whole, met.whole, less=(0, 0, 0) if own else (1, 1, 1))
                for span in spans:
                    found[valued[span], shape] += 2
    return found


def _grouped(spans: Iterable[Span], home: dict[Span, _Class]) -> Iterator[tuple[_Class, list[Span]]]:
    groups: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        if span in home:
            groups[id(home[span])].append(span)
    return ((home[group[0]], group) for group in groups.values())


def _near(classes: Sequence[_Class], own: bool) -> Counter[Shape]:
    """Count ordered pairs of values that share a mention."""
    found: Counter[Shape] = Counter()
    holders: dict[Span, list[int]] = defaultdict(list)
    for number, one in enumerate(classes):
        for span in one.whole:
            holders[span].append(number)
    for number, one in enumerate(classes):
        size = len(one.members)
        less = (0, 0, 0) if own else (1, 1, 2)
        found[_shape(one.whole, one.whole, less)] += size * (size - 1)
        for met in {other for span in one.whole for other in holders[span] if other > number}:
            for shape, count in _between(one, classes[met], own):
                found[shape] += 2 * count
    return Counter({shape: count for shape, count in found.items() if shape.common > 0})


def _between(one: _Class, other: _Class, own: bool) -> Iterator[tuple[Shape, int]]:
    """Yield the shapes of all pairs of a value of one class and a value of another.

    Where a mention is not in its own set, taking it out makes the common part smaller if the other set
    holds it.
    """
    if own:
        yield _shape(one.whole, other.whole, (0, 0, 0)), len(one.members) * len(other.members)
        return
    a, b = len(one.members & other.whole), len(other.members & one.whole)
    same = len(one.members & other.members)
    outside_a, outside_b = len(one.members) - a, len(other.members) - b
    for smaller, count in (
        (0, outside_a * outside_b),
        (1, a * outside_b + outside_a * b + same),
        (2, a * b - same),
    ):
        if count:
            yield _shape(one.whole, other.whole, (1, 1, smaller)), count


def _shape(one: frozenset[Span], other: frozenset[Span], less: tuple[int, int, int]) -> Shape:
    common = len(one & other)
    return Shape(
        *(max(0, size - cut) for size, cut in zip((len(one), len(other), common), less, strict=True))
    )
