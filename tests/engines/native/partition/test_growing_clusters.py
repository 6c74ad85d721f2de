"""Clusterings of large problems respect what is forbidden, whenever they are stopped, and are good."""

from itertools import count

import numpy as np
import pytest

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.heuristics import grow
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop
from tests.engines.native.partition.random_listings import random_listing


@pytest.mark.parametrize("block", range(5))
def test_clusterings_are_legal_and_not_far_from_the_best_known(block: int) -> None:
    ours, best = 0, 0
    for seed in range(block * 20, block * 20 + 20):
        problem = random_listing(seed, 24)
        reached = problem.value(grow(problem, Watch()))
        assert reached is not None and reached >= 0
        dense = problem.dense()
        ours, best = ours + reached, best + (dense.value(heuristics.start(dense)) or 0)
    assert ours > 0.9 * best


@pytest.mark.parametrize("seed", range(40))
def test_a_limit_at_any_moment_leaves_a_legal_clustering(seed: int) -> None:
    problem = random_listing(seed, 30)
    for checks in range(12):
        calls = count()
        stopped = grow(problem, Watch(cancelled=lambda: next(calls) >= checks))  # noqa: B023
        assert problem.value(stopped) is not None
    assert np.array_equal(grow(problem, Watch(stop=Stop.TIME)), np.arange(30))
