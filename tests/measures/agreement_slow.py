"""Krippendorff's alpha straight from its definition: every value, every pair."""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from caspr.measures.agreement import Conventions, Unmarked
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span

Units = list[list[Any]]


def alpha(units: Units, distance: Callable[[Any, Any], Fraction]) -> Fraction | None:
    """Return alpha of units, each a list of values."""
    paired = [values for values in units if len(values) > 1]
    every = [value for values in paired for value in values]
    n = len(every)
    observed = sum(
        (
            Fraction(1, len(values) - 1) * distance(a, b)
            for values in paired
            for i, a in enumerate(values)
            for j, b in enumerate(values)
            if i != j
        ),
        Fraction(0),
    )
    total = sum(
        (distance(a, b) for i, a in enumerate(every) for j, b in enumerate(every) if i != j), Fraction(0)
    )
    if not total:
        return None
    return 1 - (observed / n) / (total / (n * (n - 1)))


def passonneau(one: frozenset[Hashable], other: frozenset[Hashable]) -> Fraction:
    """Return 0, 1/3, 2/3 or 1."""
    if one == other:
        return Fraction(0)
    if not one & other:
        return Fraction(1)
    return Fraction(1, 3) if one < other or other < one else Fraction(2, 3)


def masi(one: frozenset[Hashable], other: frozenset[Hashable]) -> Fraction:
    """Return one minus Jaccard times monotonicity."""
    if one == other:
        return Fraction(0)
    jaccard = Fraction(len(one & other), len(one | other))
    return 1 - jaccard * (1 - passonneau(one, other))


def nominal(one: Hashable, other: Hashable) -> Fraction:
    """Return 0 or 1."""
    return Fraction(one != other)


def saw(one: Annotation, span: Span, coverage: Coverage) -> bool:
    """Return whether an annotator saw a mention: marked it, or saw every token of it in one part."""
    parts = coverage.seen.get(one.annotator)
    tokens = set(range(span.start, span.end + 1))
    return (
        parts is None
        or span in one.mentions
        or any(tokens <= set(range(part.start, part.end + 1)) for part in parts)
    )


def set_units(
    documents: Sequence[Sequence[Annotation]], conventions: Conventions, coverages: Sequence[Coverage]
) -> Units:
    """Return the coreference sets of every mention."""
    units = []
    for number, (annotations, coverage) in enumerate(zip(documents, coverages, strict=True)):
        for span in sorted({span for one in annotations for span in one.mentions}):
            values = []
            for one in annotations:
                holding = [set(c.mentions) for c in (*one.chains, *one.singletons) if span in c.mentions]
                whole: set[Span] = set().union(*holding)
                if not holding and conventions.unmarked is Unmarked.MISSING:
                    continue
                if not saw(one, span, coverage):
                    continue
                if not holding and conventions.unmarked is Unmarked.SINGLETON:
                    whole = {span}
                if not conventions.own:
                    whole -= {span}
                values.append(frozenset((number, member) for member in whole))
            units.append(values)
    return units


def link_units(
    documents: Sequence[Sequence[Annotation]], conventions: Conventions, coverages: Sequence[Coverage]
) -> Units:
    """Return, for every pair of mentions, who linked them."""
    units = []
    for annotations, coverage in zip(documents, coverages, strict=True):
        spans = sorted({span for one in annotations for span in one.mentions})
        for pair in combinations(spans, 2):
            units.append(
                [
                    any(set(pair) <= set(chain.mentions) for chain in one.chains)
                    for one in annotations
                    if conventions.unmarked is not Unmarked.MISSING or set(pair) <= one.mentions
                    if all(saw(one, span, coverage) for span in pair)
                ]
            )
    return units


SLOW = {"passonneau": passonneau, "masi": masi, "nominal": nominal}
