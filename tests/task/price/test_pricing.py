"""Prices against the definition: every choice of used links, tried one by one."""

import random
from itertools import chain as flatten
from itertools import combinations

from caspr.task.instance import Instance
from caspr.task.price.pricing import pairwise_bound, price
from caspr.task.price.rules import violations
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span
from tests.instances import random_instance


def naive_price(instance: Instance, partition: Partition) -> int | None:
    """Return the cheapest cost over all sets of used links whose components are exactly the chains."""
    votes, objective, n = instance.votes, instance.objective, instance.votes.annotators
    together = {pair for chain in partition for pair in combinations(chain, 2)}
    linked = [pair for pair in together if votes.evidence(*pair) and not instance.is_free(*pair)]
    free = {pair for pair in together if instance.is_free(*pair)}
    outside = sum(
        objective.omit * votes.evidence(*pair)
        for pair in combinations(votes.signatures, 2)
        if pair not in together
    )
    best = None
    for size in range(len(linked) + 1):
        for used in combinations(linked, size):
            if components([*used, *free], partition) != partition:
                continue
            unused = together - set(used) - free
            if objective.invent is None and unused:
                continue
            cost = outside + sum(objective.use * (n - votes.evidence(*pair)) for pair in used)
            cost += sum(objective.omit * votes.evidence(*pair) + (objective.invent or 0) for pair in unused)
            best = cost if best is None else min(best, cost)
    return best


def components(links: list[tuple[Span, Span]], partition: Partition) -> Partition:
    group = {mention: {mention} for mention in flatten.from_iterable(partition)}
    for first, second in links:
        joined = group[first] | group[second]
        for mention in joined:
            group[mention] = joined
    return canonical({frozenset(members) for members in group.values()})


def random_partition(rng: random.Random, instance: Instance) -> Partition:
    chains: dict[int, list[Span]] = {}
    for mention in instance.mentions:
        chains.setdefault(rng.randint(0, 2), []).append(mention)
    return canonical(chain for chain in chains.values() if len(chain) > 1)


def test_price_is_the_cheapest_choice_of_used_links() -> None:
    rng = random.Random(5)
    compared = 0
    for _ in range(1500):
        instance = random_instance(rng, mentions=5, decisions=rng.random() < 0.5, odd=True)
        partition = random_partition(rng, instance)
        expected = naive_price(instance, partition)
        legal = not any("link" in broken for broken in violations(instance, partition))
        assert (expected is not None) == legal
        if expected is not None:
            assert price(instance, partition).total == expected
            assert pairwise_bound(instance) <= expected
            compared += 1
    assert compared > 500
