"""Mention detection: which mentions were found, whatever their chains.

    R = |mentions of both| / |mentions of the key|,   P = |mentions of both| / |mentions of the response|

Each span counts once, also where the response repeats it.
"""

from caspr.measures.scores.alignment import Alignment, Chains
from caspr.measures.scores.counts import RecallPrecision, ratio


def count(alignment: Alignment) -> RecallPrecision:
    """Count the mentions of one document.

    >>> count(Alignment(key=((1, 2), (3, 4)), response=((2, 3, 5),)))  # doctest: +ELLIPSIS
    RecallPrecision(recall=Ratio(part=Fraction(2, 1), whole=4), ...)
    """
    common = alignment.common
    return RecallPrecision(
        ratio(common, _distinct(alignment.key)), ratio(common, _distinct(alignment.response))
    )


def _distinct(chains: Chains) -> int:
    return len({span for chain in chains for span in chain})
