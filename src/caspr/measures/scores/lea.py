"""LEA (Moosavi and Strube 2016): how important each entity is, and how much of it is resolved.

A chain of n mentions has importance n and n (n - 1) / 2 links; a chain of one has one link, to itself,
which is found only if the mention is alone on the other side too.

    R = sum over k of |k| * (links of k within response chains) / (links of k), divided by sum of |k|,

and P is the same with the sides exchanged. The reference scorer v8.01 does not have this measure; it is
computed as the authors' own scorer does.
"""

from collections import Counter

from caspr.measures.scores.alignment import Alignment
from caspr.measures.scores.b3 import add_fractions
from caspr.measures.scores.counts import RecallPrecision, ratio


def count(alignment: Alignment) -> RecallPrecision:
    """Add up the entities of one document."""
    by_key: Counter[int] = Counter()
    by_response: Counter[int] = Counter()
    for (right, given), size in alignment.overlaps.items():
        n, m = len(alignment.key[right]), len(alignment.response[given])
        alone = n == m == 1
        # n * (size choose 2) / (n choose 2) = size * (size - 1) / (n - 1)
        by_key[max(n - 1, 1)] += 1 if alone else size * (size - 1)
        by_response[max(m - 1, 1)] += 1 if alone else size * (size - 1)
    return RecallPrecision(
        ratio(add_fractions(by_key), sum(map(len, alignment.key))),
        ratio(add_fractions(by_response), sum(map(len, alignment.response))),
    )
