"""The native engine gives brute force's answers: value, number and set of optima, infeasibility."""

import pytest

from caspr.engines import brute
from caspr.engines.native import solve
from caspr.proof.certify import certify
from caspr.task.limits import Limits
from tests.engines.native.random_instances import random_instance

EVERYTHING = Limits(solutions=1_000_000)


@pytest.mark.parametrize("block", range(20))
def test_value_is_that_of_brute_force(block: int) -> None:
    for seed in range(1000 + block * 100, 1100 + block * 100):
        instance = random_instance(seed, mentions=8)
        ours, theirs = solve(instance, Limits()), brute.solve(instance, Limits())
        certify(instance, ours)
        assert (ours.status, ours.value, ours.bound) == (theirs.status, theirs.value, theirs.bound), seed


@pytest.mark.parametrize("block", range(15))
def test_all_optima_are_those_of_brute_force(block: int) -> None:
    for seed in range(block * 100, 100 + block * 100):
        instance = random_instance(seed, mentions=7)
        ours, theirs = solve(instance, EVERYTHING), brute.solve(instance, EVERYTHING)
        assert (ours.value, set(ours.partitions)) == (theirs.value, set(theirs.partitions)), seed
        assert ours.complete
        if theirs.partitions:
            assert ours.count == len(theirs.partitions), seed


@pytest.mark.parametrize("seed", range(21050, 21100))
def test_nine_mentions(seed: int) -> None:
    instance = random_instance(seed, mentions=9)
    ours, theirs = solve(instance, EVERYTHING), brute.solve(instance, EVERYTHING)
    assert (ours.value, set(ours.partitions)) == (theirs.value, set(theirs.partitions))


@pytest.mark.parametrize("seed", range(100))
def test_a_cap_on_solutions_keeps_the_count(seed: int) -> None:
    instance = random_instance(seed, mentions=7)
    ours, theirs = solve(instance, Limits(solutions=2)), brute.solve(instance, EVERYTHING)
    certify(instance, ours)
    assert set(ours.partitions) <= set(theirs.partitions)
    assert len(ours.partitions) == min(2, len(theirs.partitions))
    assert ours.complete == (len(theirs.partitions) <= 2)
    assert ours.count in (None, len(theirs.partitions))
