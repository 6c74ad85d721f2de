"""How sure a result is: whether every optimum decides a pair alike, and the price of deciding otherwise.

Looked at are the links between mentions that follow each other in a chain of the result, and one pair of
every dispute between annotators, the closest votes first. The native engine answers, whichever engine
found the result; what does not fit into the time is left out.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from caspr.disputes.disputes import disputed_pairs
from caspr.result import Certainty, Result
from caspr.task.limits import Limits
from caspr.task.solution import Status
from caspr.text.document import Span

Pair = tuple[Span, Span]


def with_certainty(result: Result, seconds: float) -> Result:
    """Return a result that tells how sure its links are, as far as that is known within some seconds."""
    if seconds <= 0 or result.status is not Status.OPTIMAL:
        return result
    from caspr.engines.native import Memory
    from caspr.engines.native.flip_prices import flip_prices

    give_up = time.monotonic() + seconds
    memory = Memory()
    known: dict[Pair, Certainty] = {}
    for pair in questions(result):
        left = give_up - time.monotonic()
        if left <= 0:
            break
        for told in flip_prices(result.instance, result.solution, [pair], Limits(seconds=left), memory):
            known[pair] = Certainty(
                always=told.certain if told.certain or told.exact else None,
                flip=told.price,
                exact=told.exact,
                possible=told.price is not None,
            )
    return replace(result, certainties=known)


def questions(result: Result) -> Iterator[Pair]:
    """Yield the pairs worth asking about, each once and in text order, the closest votes first."""
    votes = result.instance.votes
    allowed = set(result.instance.mentions)
    disputed = {(min(pair), max(pair)) for pair in disputed_pairs(result) if allowed.issuperset(pair)}
    links = {pair for chain in result.solution.partitions[0] for pair in pairwise(chain)}
    yield from sorted(
        disputed | links, key=lambda pair: (abs(2 * votes.evidence(*pair) - votes.annotators), pair)
    )
