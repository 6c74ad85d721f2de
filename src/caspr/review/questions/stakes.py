"""What is still at stake: when an adjudicator may stop.

Every open question moves its own mention at most, so the number of their mentions bounds what further answers
change directly; the price says how far the annotators' votes are from another answer. How many of the last
answers changed anything shows whether going on is worth it.
"""

from collections.abc import Sequence
from itertools import pairwise

from caspr.review.session.solver import Snapshot
from caspr.task.settings import Settings
from caspr.text.document import Span

LAST = 20
"""How many of the last steps are looked at."""


def price_classes(priced: Sequence[tuple[Span, int]], settings: Settings) -> dict[str, int]:
    """Count questions by the price of their cheapest other answer.

    A question is *close* where the other answer costs no more than one annotator's vote on one link.
    """
    vote = settings.objective.omit + settings.objective.use
    prices = [max(0, price) for _, price in priced]
    ties, close = sum(price == 0 for price in prices), sum(0 < price <= vote for price in prices)
    return {
        "mentions": len({mention for mention, _ in priced}),
        "ties": ties,
        "close": close,
        "clear": len(prices) - ties - close,
        "most": max(prices, default=0),
    }


def last_changes(steps: Sequence[Snapshot]) -> dict[str, int]:
    """Count the last steps that decided something, and those among them that changed the result."""
    recent = steps[-LAST - 1 :]
    pairs = [(before, after) for before, after in pairwise(recent) if before.entries != after.entries]
    return {"steps": len(pairs), "changed": sum(_differ(*pair) for pair in pairs)}


def _differ(before: Snapshot, after: Snapshot) -> bool:
    if before.chains == after.chains:
        return False
    return {chain.mentions for chain in before.chains} != {chain.mentions for chain in after.chains}
