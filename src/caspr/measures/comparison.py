"""Comparisons: what is known about a group of annotators before or after adjudication.

`compare` makes them, the command line and reports show them. All numbers are exact; undefined is `None`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

Matrix = tuple[tuple[Fraction | None, ...], ...]
"""A number for each annotator (row) and each other (column)."""


class Rates(NamedTuple):
    """Recall, precision and F1 of one measure."""

    recall: Fraction | None
    """The share of the gold standard that the annotator has."""
    precision: Fraction | None
    """The share of the annotator's work that the gold standard has."""
    f1: Fraction | None
    """The balance of both."""


Standings = Mapping[str, Mapping[str, Rates]]
"""For each annotator, each measure against the gold standard."""


@dataclass(frozen=True)
class Comparison:
    """How far the annotators of one document, or of several, agree."""

    title: str
    """The document, or what the documents have in common."""
    annotators: tuple[str, ...]
    """Their names, in the order of rows and columns."""
    alpha: Mapping[str, Fraction | None]
    """Chance-corrected agreement of all of them, by kind."""
    marked: Mapping[tuple[int, int], int]
    """How many mentions so many of so many annotators marked."""
    matrices: Mapping[str, Matrix]
    """F1 of each pair of annotators by measure, the row being the key; and alpha of the pair, by kind."""
    without: Mapping[str, Mapping[str, Fraction | None]]
    """For each annotator, the agreement of all others, by kind of alpha."""

    def with_others(self, matrix: str, annotator: str) -> Fraction | None:
        """Return the mean of one annotator's numbers with each of the others; undefined ones are left out."""
        row = self.annotators.index(annotator)
        return average([number for column, number in enumerate(self.matrices[matrix][row]) if column != row])

    def between(self, matrix: str) -> Fraction | None:
        """Return the mean over all pairs of annotators."""
        cells = self.matrices[matrix]
        return average(
            [number for row, line in enumerate(cells) for column, number in enumerate(line) if row < column]
        )


def average(numbers: Sequence[Fraction | None]) -> Fraction | None:
    """Return the mean of those that are defined.

    >>> average([Fraction(1, 2), None, Fraction(1)]), average([None])
    (Fraction(3, 4), None)
    """
    known = [number for number in numbers if number is not None]
    return sum(known, Fraction(0)) / len(known) if known else None
