"""Counts: what a measure adds up over documents, and the numbers that follow from the sums.

Recall and precision are a numerator over a denominator, both exact; documents are pooled by adding
numerators and denominators, as the reference scorer does. With R and P

    F1 = 2 R P / (R + P),    0 where R + P = 0.

Where one side is empty its ratio is 0/0 and counts as 0, as in the reference scorer. Where both are,
nothing was measured: F1 is undefined, `None`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Ratio:
    """A share: so much of so much."""

    part: Fraction = Fraction(0)
    """The numerator; whole where mentions or links are counted."""
    whole: int = 0
    """The denominator; 0 where there is nothing to have a share of."""

    def __add__(self, other: "Ratio") -> "Ratio":
        """Pool two documents."""
        return Ratio(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> Fraction | None:
        """The share, or `None` for 0/0."""
        return self.part / self.whole if self.whole else None

    def values(self) -> list[int]:
        """Return numerator and denominator as whole numbers.

        >>> Ratio(Fraction(7, 3), 6).values(), Ratio(Fraction(2), 4).values()
        ([7, 18], [2, 4])
        """
        return [self.part.numerator, self.part.denominator * self.whole]


def ratio(part: Fraction | int, whole: int) -> Ratio:
    """Make a ratio of any exact number and a whole one."""
    return Ratio(Fraction(part), whole)


class Counts(Protocol):
    """What a measure returns for one document, and for many by adding."""

    @property
    def recall(self) -> Ratio:
        """The share of the key that the response has."""

    @property
    def precision(self) -> Ratio:
        """The share of the response that the key has."""

    @property
    def f1(self) -> Fraction | None:
        """The balance of both; `None` where both sides are empty."""

    def __add__(self, other: Self) -> Self:
        """Pool two documents."""

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""


@dataclass(frozen=True)
class RecallPrecision:
    """The counts of all measures but BLANC."""

    recall: Ratio = Ratio()
    """The share of the key that the response has."""
    precision: Ratio = Ratio()
    """The share of the response that the key has."""

    def __add__(self, other: "RecallPrecision") -> "RecallPrecision":
        """Pool two documents."""
        return RecallPrecision(self.recall + other.recall, self.precision + other.precision)

    @property
    def f1(self) -> Fraction | None:
        """The harmonic mean.

        >>> RecallPrecision(ratio(1, 3), ratio(1, 1)).f1
        Fraction(1, 2)
        >>> RecallPrecision(ratio(0, 0), ratio(0, 2)).f1, RecallPrecision().f1
        (Fraction(0, 1), None)
        """
        return harmonic_mean(self.recall.value, self.precision.value)

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "recall": self.recall.values(),
            "precision": self.precision.values(),
            "f1": decimal(self.f1),
        }


def harmonic_mean(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """Return 2xy / (x + y), counting one undefined number as 0."""
    if one is None and other is None:
        return None
    if not one or not other:
        return Fraction(0)
    return 2 * one * other / (one + other)


def decimal(exact: Fraction | None) -> float | None:
    """Return the nearest floating point number."""
    return None if exact is None else float(exact)
