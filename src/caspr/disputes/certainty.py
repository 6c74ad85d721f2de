"""How sure a result is: whether every optimum decides a pair alike, and the price of deciding otherwise.

The pairs are the links between consecutive mentions of each chain of the result, and one pair of every
dispute between annotators, the closest votes first. The native engine computes the prices, whichever engine
found the result; pairs for which there is no time left are left out.
"""

import time
from dataclasses import replace
from itertools import pairwise

from caspr.disputes.disputes import find_disputes
from caspr.result import Certainty, Result
from caspr.task.limits import Limits
from caspr.task.solution import Status
from caspr.text.document import Span

Pair = tuple[Span, Span]


def with_certainty(result: Result, seconds: float) -> Result:
    """Return the result with the certainty of its links, for as many as some seconds allow."""
    if seconds <= 0 or result.status is not Status.OPTIMAL:
        return result
    from caspr.engines.native import Memory
    from caspr.engines.native.flip_prices import flip_prices

    deadline = time.monotonic() + seconds
    memory = Memory()
    known: dict[Pair, Certainty] = {}
    for pair in pairs_to_price(result):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        for flip in flip_prices(result.instance, result.solution, [pair], Limits(seconds=left), memory):
            known[pair] = Certainty(
                always=flip.certain if flip.certain or flip.exact else None,
                flip=flip.price,
                exact=flip.exact,
                possible=flip.price is not None,
            )
    return replace(result, certainties=known)


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
