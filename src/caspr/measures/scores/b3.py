"""B-cubed (Bagga and Baldwin 1998): for each mention, how much of its chain is there.

A key mention in key chain k and response chain r scores |k & r| / |k|, one the response lacks 0:

    R = sum over k, r of |k & r|^2 / |k|, divided by the number of key mentions,

and P is the same with the sides exchanged.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from caspr.measures.scores.alignment import Alignment
from caspr.measures.scores.counts import RecallPrecision, ratio


def count(alignment: Alignment) -> RecallPrecision:
    """Add up the mentions of one document."""
    by_key: Counter[int] = Counter()
    by_response: Counter[int] = Counter()
    for (right, given), size in alignment.overlaps.items():
        by_key[len(alignment.key[right])] += size * size
        by_response[len(alignment.response[given])] += size * size
    return RecallPrecision(
        ratio(add_fractions(by_key), sum(map(len, alignment.key))),
        ratio(add_fractions(by_response), sum(map(len, alignment.response))),
    )


def add_fractions(numerators: Mapping[int, int]) -> Fraction:
    """Add up fractions given by denominator.

    >>> add_fractions({2: 1, 3: 1})
    Fraction(5, 6)
    """
    return sum((Fraction(part, whole) for whole, part in numerators.items()), Fraction(0))
