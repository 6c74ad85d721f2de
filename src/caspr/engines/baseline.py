"""The baseline: the best single annotation, made to fit rules and decisions. It needs no search.

Engines return it when a limit is reached before their first solution, so that a user always gets an answer.
"""

from collections import defaultdict
from collections.abc import Iterable
from math import inf
from time import monotonic

from caspr.task.contradictions import arrangement
from caspr.task.instance import Instance
from caspr.task.pricing import price, violations
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span

FALLBACK = "nothing better was found than the chains of one annotator, made to fit rules and decisions"
"""The warning when the baseline is the result."""


def baseline(instance: Instance, seconds: float = inf) -> Partition | None:
    """Return the cheapest of all annotators' chains, fitted, or `None` if none can be made to fit.

    After some seconds, no more annotators are tried once there is an answer.
    """
    deadline = monotonic() + seconds
    arranged = arrangement(instance, instance.constraints)
    if arranged is None:
        return None
    enforced = [list(chain) for chain in arranged if len(chain) > 1]
    legal: dict[Partition, int] = {}
    for chains in (*(annotation.chains for annotation in instance.annotations), ()):
        if legal and monotonic() > deadline:
            break
        answer = _fit(instance, enforced, (chain.mentions for chain in chains))
        if answer not in legal and not any(violations(instance, answer)):
            legal[answer] = price(instance, answer).total
    return min(sorted(legal), key=legal.__getitem__, default=None)


def _fit(instance: Instance, enforced: list[list[Span]], chains: Iterable[tuple[Span, ...]]) -> Partition:
    """Add an annotator's chains to the enforced ones, without what rules, decisions or overlaps forbid."""
    allowed = set(instance.mentions)
    taken = {mention for chain in enforced for mention in chain} | set(instance.constraints.group_of)
    fitted = list(enforced)
    against: dict[Span, set[Span]] = defaultdict(set)
    for first, second in instance.constraints.apart:
        against[first].add(second)
        against[second].add(first)
    for chain in chains:
        kept: list[Span] = []
        reach = 0
        for mention in sorted(chain):
            if mention not in allowed or mention in taken:
                continue
            # Mentions that are alone, or enforced anywhere, do not come here.
            if mention in against and not against[mention].isdisjoint(kept):
                continue
            # Those before it in the text end at `reach` at the latest.
            if mention.start > reach or not any(instance.forbids_nesting(mention, span) for span in kept):
                kept.append(mention)
                reach = max(reach, mention.end)
        if len(kept) > 1:
            fitted.append(kept)
            taken.update(kept)
    return canonical(fitted)
