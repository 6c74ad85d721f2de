"""Chains of moves, and shaking, never make a clustering worse, and find what single moves do not."""

import numpy as np
import pytest

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import clusterings, optima, random_problem


def value_of(problem: Problem, labels: np.ndarray) -> int:
    value = problem.value(labels)
    assert value is not None
    return value


@pytest.mark.parametrize("seed", range(30))
def test_a_chain_and_shaking_lose_nothing(seed: int) -> None:
    problem = random_problem(seed, 7)
    highest, _ = optima(problem)
    random = np.random.default_rng(seed)
    allowed = [labels for labels in clusterings(7) if problem.value(labels) is not None]
    labels = allowed[int(random.integers(len(allowed)))]
    chained = heuristics.chain(problem, labels, Watch())
    assert value_of(problem, labels) <= value_of(problem, chained) <= highest
    kicked = heuristics.kick(problem, labels, kicks=6, seed=seed)
    assert value_of(problem, labels) <= value_of(problem, kicked) <= highest


def test_a_chain_swaps_two_nodes_where_no_single_step_gains() -> None:
    gains = np.full((6, 6), -20, dtype=np.int64)
    for first, second, gain in (
        *((0, 1, -10), (2, 3, 20), (4, 5, 20)),
        *((0, 2, 1), (1, 2, 3), (0, 3, 0), (1, 3, 0)),
        *((0, 4, 3), (1, 4, 1), (0, 5, 0), (1, 5, 0)),
    ):
        gains[first, second] = gains[second, first] = gain
    np.fill_diagonal(gains, 0)
    problem = Problem(gains, np.zeros((6, 6), dtype=bool))
    labels = np.array([0, 1, 0, 0, 1, 1])
    assert value_of(problem, labels) == value_of(problem, heuristics.polish(problem, labels)) == 42
    assert value_of(problem, heuristics.chain(problem, labels, Watch())) == 46
