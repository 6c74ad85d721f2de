"""BLANC as the reference scorer v8.01 has it (Recasens and Hovy 2011; Luo et al. 2014 for own mentions).

Every pair of mentions of one side is a coreference link or a non-coreference link. For both kinds

    R = links of both sides / links of the key,   P = links of both sides / links of the response,

and BLANC is the mean of the two kinds, for R, P and F1 alike. Documents are pooled by adding the eight
counts. Where the *key* has no links of one kind, only the other kind counts; a ratio 0/0 is 0.
Where neither side has any pair of mentions, BLANC is undefined.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from caspr.measures.scores.alignment import Alignment, Chains
from caspr.measures.scores.counts import Ratio, RecallPrecision, decimal, ratio

DEFINITION = "BLANC of the reference scorer v8.01 (Luo et al. 2014)"
"""Which of the published definitions this is."""


@dataclass(frozen=True)
class Blanc:
    """The eight counts of BLANC."""

    coreference: RecallPrecision
    """Pairs in one chain."""
    non_coreference: RecallPrecision
    """Pairs in two chains."""

    def __add__(self, other: "Blanc") -> "Blanc":
        """Pool two documents."""
        return Blanc(self.coreference + other.coreference, self.non_coreference + other.non_coreference)

    @property
    def kinds(self) -> list[RecallPrecision]:
        """The kinds of links that the key has."""
        return [kind for kind in (self.coreference, self.non_coreference) if kind.recall.whole]

    @property
    def recall(self) -> Ratio:
        """The mean recall of both kinds."""
        return _mean(kind.recall.value for kind in self.kinds)

    @property
    def precision(self) -> Ratio:
        """The mean precision of both kinds; 0/0 counts as 0."""
        if not self.kinds:
            return ratio(0, 1 if self._answered else 0)
        return _mean(kind.precision.value for kind in self.kinds)

    @property
    def f1(self) -> Fraction | None:
        """The mean F1 of both kinds."""
        if not self.kinds:
            return Fraction(0) if self._answered else None
        return _mean(kind.f1 for kind in self.kinds).value

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "definition": DEFINITION,
            "links": {
                "coreference": _counts(self.coreference),
                "non_coreference": _counts(self.non_coreference),
            },
            "recall": self.recall.values(),
            "precision": self.precision.values(),
            "f1": decimal(self.f1),
        }

    @property
    def _answered(self) -> bool:
        return bool(self.coreference.precision.whole or self.non_coreference.precision.whole)


def count(alignment: Alignment) -> Blanc:
    """Count the links of one document.

    >>> blanc = count(Alignment(key=((1, 2), (3, 4, 5)), response=((2, 3, 6), (4, 5))))
    >>> blanc.values()["links"]["coreference"], blanc.f1
    ({'recall': [1, 4], 'precision': [1, 4]}, Fraction(7, 24))
    """
    linked, apart = _common(alignment)
    key_linked, key_apart = _links(alignment.key)
    linked_too, apart_too = _links(alignment.response)
    return Blanc(
        RecallPrecision(ratio(linked, key_linked), ratio(linked, linked_too)),
        RecallPrecision(ratio(apart, key_apart), ratio(apart, apart_too)),
    )


def _links(chains: Chains) -> tuple[int, int]:
    """Count the distinct pairs in one chain, and in two, of chains in which spans may be repeated.

    As in the reference scorer, a span makes a pair with its own repetition, and a pair can be of both
    kinds. Only repeated spans need looking at one by one.
    """
    holders: dict[Any, set[int]] = {}
    for number, chain in enumerate(chains):
        for span in chain:
            holders.setdefault(span, set()).add(number)
    alone = Counter(next(iter(numbers)) for numbers in holders.values() if len(numbers) == 1)
    several = [numbers for numbers in holders.values() if len(numbers) > 1]
    with_itself = {span for chain in chains for span, times in Counter(chain).items() if times > 1}
    linked = sum(_pairs(size) for size in alone.values()) + len(with_itself)
    linked += sum(alone[number] for numbers in several for number in numbers)
    linked += sum(bool(one & other) for position, one in enumerate(several) for other in several[:position])
    apart = _pairs(len(holders)) - sum(_pairs(size) for size in alone.values()) + len(several)
    return linked, apart


def _common(alignment: Alignment) -> tuple[int, int]:
    """Count the pairs that are in one chain on both sides, and those that are in two on both."""
    in_key: Counter[int] = Counter()
    in_response: Counter[int] = Counter()
    for (right, given), size in alignment.overlaps.items():
        in_key[right] += size
        in_response[given] += size
    linked = sum(map(_pairs, alignment.overlaps.values()))
    in_one = sum(map(_pairs, in_key.values())) + sum(map(_pairs, in_response.values()))
    return linked, _pairs(alignment.common) - in_one + linked


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


def _mean(numbers: Iterable[Fraction | None]) -> Ratio:
    """Return the mean as one ratio, undefined numbers counting as 0."""
    known = [number or Fraction(0) for number in numbers]
    mean = sum(known, Fraction(0)) / len(known) if known else Fraction(0)
    return ratio(mean.numerator, mean.denominator if known else 0)


def _counts(kind: RecallPrecision) -> dict[str, list[int]]:
    return {"recall": kind.recall.values(), "precision": kind.precision.values()}
