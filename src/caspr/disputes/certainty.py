"""How sure a result is: whether every optimum decides a pair alike, and the price of deciding otherwise.

The pairs are the links between consecutive mentions of each chain of the result, and one pair of every
dispute between annotators, the closest votes first. The native engine computes the prices, whichever engine
found the result.

A pair that is hard to flip does not keep the others waiting: each gets a small share of the time, which
grows with every pair that needs more, and those come again at the end, with all that is left. For these, a
price may be a lower bound; pairs for which there is no time at all are left out.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from caspr.disputes.disputes import find_disputes
from caspr.result import Certainty, Result
from caspr.task.limits import Limits
from caspr.task.solution import Status
from caspr.text.document import Span

Pair = tuple[Span, Span]
_FIRST_SHARE = 1 / 50
"""The share of the time that a pair gets at first."""
_GROWTH = 1.5
"""By how much the share grows with each pair that needs more."""


def with_certainty(result: Result, seconds: float, cancelled: Callable[[], bool] | None = None) -> Result:
    """Return the result with the certainty of its links, for as many as some seconds allow.

    Once `cancelled` returns true, as after Ctrl-C, no more are computed.
    """
    if seconds <= 0 or result.status is not Status.OPTIMAL:
        return result
    from caspr.engines.native import Memory
    from caspr.engines.native.flip_prices import flip_prices

    memory = Memory()
    known: dict[Pair, Certainty] = {}

    def price(pair: Pair, limit: float) -> bool:
        """Compute a price within some seconds, and return whether it is exact."""
        limits = Limits(seconds=limit, cancelled=cancelled)
        [flip] = flip_prices(result.instance, result.solution, [pair], limits, memory)
        known[pair] = Certainty(
            always=flip.certain if flip.certain or flip.exact else None,
            flip=flip.price,
            exact=flip.exact,
            possible=flip.price is not None,
        )
        return flip.exact

    share_time(pairs_to_price(result), seconds, price, cancelled or (lambda: False))
    return replace(result, certainties=known)


def share_time(
    pairs: Sequence[Pair],
    seconds: float,
    price: Callable[[Pair, float], bool],
    cancelled: Callable[[], bool],
) -> None:
    """Price pairs within some seconds; `price` gets a pair and its time, and returns whether it is done."""
    deadline = time.monotonic() + seconds
    share = seconds * _FIRST_SHARE
    waiting = list(pairs)
    for again in (False, True):
        hard: list[Pair] = []
        for number, pair in enumerate(waiting):
            left = deadline - time.monotonic()
            limit = left / (len(waiting) - number) if again else min(share, left)
            if left <= 0 or cancelled():
                return
            if not price(pair, limit):
                hard.append(pair)
                share *= _GROWTH
        waiting = hard


def pairs_to_price(result: Result) -> list[Pair]:
    """Return the pairs whose certainty is computed, the closest votes first, then in text order."""
    votes = result.instance.votes
    allowed = set(result.instance.mentions)
    disputed = {dispute.pair for dispute in find_disputes(result) if allowed.issuperset(dispute.pair)}
    links = {pair for chain in result.solution.partitions[0] for pair in pairwise(chain)}

    def closeness(pair: Pair) -> tuple[int, Pair]:
        evidence = votes.evidence(*pair)
        return abs(2 * evidence.k - evidence.n), pair

    return sorted(disputed | links, key=closeness)
