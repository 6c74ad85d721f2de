"""Certainty and prices are those that brute force's list of solutions gives."""

from dataclasses import replace
from itertools import combinations

import pytest

from caspr.document import Span
from caspr.engines import brute
from caspr.engines.native import solve
from caspr.engines.native.certainty import certainties, spanning_links
from caspr.limits import Limits
from caspr.solution import Partition, Status
from tests.engines.native.random_instances import random_instance


def linked(partition: Partition, first: Span, second: Span) -> bool:
    return any(first in chain and second in chain for chain in partition)


@pytest.mark.parametrize("seed", range(80))
def test_a_pair_is_certain_if_all_optima_agree(seed: int) -> None:
    instance = random_instance(seed, mentions=6)
    solution = solve(instance, Limits())
    if solution.status is Status.INFEASIBLE:
        return
    every = brute.solve(instance, Limits(solutions=1_000_000)).partitions
    pairs = list(combinations(instance.mentions, 2))
    for found in certainties(instance, solution, pairs, Limits()):
        agree = {linked(partition, found.first, found.second) for partition in every}
        assert found.exact
        assert found.certain == (len(agree) == 1), (seed, found)


def test_the_price_is_the_difference_to_the_best_opposite() -> None:
    for seed in range(30):
        instance = replace(random_instance(seed, mentions=5, decisions=False), allow_nested=True)
        solution = solve(instance, Limits())
        for found in certainties(instance, solution, spanning_links(solution.partitions[0]), Limits()):
            assert found.together and found.price is not None
            assert found.price >= 0


def test_no_time_gives_a_bound_on_the_price() -> None:
    instance = random_instance(7, mentions=8, decisions=False)
    solution = solve(instance, Limits())
    pairs = list(combinations(instance.mentions, 2))
    bounds = certainties(instance, solution, pairs, Limits(seconds=0))
    for bound, exact in zip(bounds, certainties(instance, solution, pairs, Limits()), strict=True):
        if exact.price is not None and bound.price is not None:
            assert bound.price <= exact.price
