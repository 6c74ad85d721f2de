"""Rules: what a solution must respect, whatever it costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from caspr.task.instance import Instance
from caspr.task.price.classes import Connection, ListedPairs, listed_pairs
from caspr.task.solution import Partition
from caspr.text.document import Span

Faults = Callable[[Instance, tuple[Span, ...]], Iterable[str]]
"""Yields what is wrong with one chain, whatever the others are."""


def violations(instance: Instance, partition: Partition, faults: Faults | None = None) -> Iterator[str]:
    """Yield a sentence for every rule or decision that a partition breaks."""
    faults = faults or chain_faults
    candidates = frozenset(instance.mentions)
    holder: dict[Span, int] = {}
    for number, chain in enumerate(partition, start=1):
        if len(set(chain)) < 2:
            yield f"chain {number} has fewer than two mentions"
        for mention in chain:
            if mention not in candidates:
                yield f"chain {number} has {tuple(mention)}, which nobody linked or a decision rules out"
            if mention in holder:
                yield f"chains {holder[mention]} and {number} share {tuple(mention)}"
            holder[mention] = number
        yield from (f"chain {number} {fault}" for fault in faults(instance, chain))
    yield from _broken_decisions(instance, holder)


def chain_faults(
    instance: Instance, chain: tuple[Span, ...], listed: ListedPairs | None = None
) -> Iterator[str]:
    """Yield what is wrong with a chain by itself, which follows from its mentions and their free groups."""
    for outer, inner in instance.nested_faults(chain):
        yield f"has {tuple(inner)} inside {tuple(outer)}"
    # mutant: equivalent (drop-operand 1), because the pairs are the same, only listed again
    listed = listed or listed_pairs(instance, chain)
    joined = Connection(listed.classes)
    for pairs in listed.pairs:
        if pairs.free or pairs.evidence.givers:
            joined.connect(pairs.first, pairs.second)
        elif not instance.prices.of(pairs.evidence).allowed:
            yield f"has {pairs.number} pairs that nobody linked"
    if joined.parts > 1:
        yield "is not connected by links"


def _broken_decisions(instance: Instance, holder: dict[Span, int]) -> Iterator[str]:
    for mention in instance.decisions.overruled:
        yield f"{tuple(mention)} is decided to be a mention and ruled out"
    for mention in sorted(instance.decisions.alone & holder.keys()):
        yield f"{tuple(mention)} is decided to be alone and in a chain"
    for mention in sorted(instance.required - holder.keys()):
        yield f"{tuple(mention)} is enforced and in no chain"
    places = []
    for group in instance.decisions.groups:
        chains = {holder.get(mention, mention) for mention in group.mentions}
        places.append((group, chains))
        if len(chains) > 1:
            yield f"the mentions enforced together with {tuple(group.mentions[0])} are not in one chain"
    named = ((chain, id) for group, chains in places for chain in chains for id in group.ids)
    taken = Counter(chain for chain, _ in set(named))
    for chain, count in taken.items():
        if count > 1:
            yield f"chain {chain} holds mentions enforced in {count} different chains"
    for first, second in sorted(instance.decisions.apart):
        if first in holder and holder[first] == holder.get(second):
            yield f"{tuple(first)} and {tuple(second)} are decided to be apart and in one chain"
