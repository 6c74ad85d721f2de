"""Distances between two coreference sets, exact, from how large the sets are and how much they share.

    relation     Passonneau (2004)   MASI (2006)     nominal
    equal        0                   0               0
    one inside   1/3                 1 - 2/3 J       1
    overlap      2/3                 1 - 1/3 J       1
    disjoint     1                   1               1

J is Jaccard's index, the mentions of both sets over the mentions of either. Two empty sets are equal; an
empty set and another are disjoint.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple


class Shape(NamedTuple):
    """All that a distance depends on."""

    one: int
    """The size of one set."""
    other: int
    """The size of the other."""
    common: int
    """The number of mentions in both."""

    @property
    def nearness(self) -> int:
        """3 for equal sets, 2 for one inside the other, 1 for overlap, 0 for disjoint ones."""
        if self.one == self.other == self.common:
            return 3
        if self.common == 0:
            return 0
        return 2 if self.common == min(self.one, self.other) else 1


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
    return 1 - Fraction(shape.common, shape.one + shape.other - shape.common) * Fraction(shape.nearness, 3)


def nominal(shape: Shape) -> Fraction:
    """Return 0 for equal sets, 1 for all others."""
    return Fraction(0 if shape.nearness == 3 else 1)


DISTANCES: Mapping[str, Callable[[Shape], Fraction]] = {
    "passonneau": passonneau,
    "masi": masi,
    "nominal": nominal,
}
"""All distances by name."""
