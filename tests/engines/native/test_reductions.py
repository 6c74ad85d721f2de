"""Every rule fires only where all optima agree, and fires at all."""

import numpy as np
import pytest

from caspr.engines.native.problem import Bools, Problem
from caspr.engines.native.reductions import beside, heavy_edges, heavy_non_edges, leaves, near_twins, reduce
from tests.engines.native.random_problems import optima, random_problem


def rules(problem: Problem) -> dict[str, Bools]:
    best = beside(problem)
    return {
        "near-twin": near_twins(problem, best),
        "leaf": leaves(problem, best),
        "heavy edge": heavy_edges(problem),
        "heavy non-edge": heavy_non_edges(problem, best),
    }


@pytest.mark.parametrize("block", range(10))
def test_rules_hold_in_every_optimum(block: int) -> None:
    fired = dict.fromkeys(rules(random_problem(0, 3)), 0)
    for seed in range(block * 30, block * 30 + 30):
        problem = random_problem(seed, 6)
        _, best = optima(problem)
        together = [np.equal.outer(labels, labels) for labels in map(np.array, best)]
        for name, pairs in rules(problem).items():
            fired[name] += int(pairs.sum())
            for clustering in together:
                assert not (pairs & (clustering if name == "heavy non-edge" else ~clustering)).any()
    assert all(fired.values())


@pytest.mark.parametrize("seed", range(60))
def test_reduced_problem_keeps_all_optima(seed: int) -> None:
    problem = random_problem(1000 + seed, 7)
    reduced = reduce(problem)
    value, best = optima(problem)
    small_value, small_best = optima(reduced.problem)
    assert small_value + reduced.constant == value
    assert len(small_best) == len(best)
    for labels in small_best:
        assert problem.value(reduced.lift(np.array(labels))) == value


def test_gains_beyond_the_exact_floats_are_multiplied_as_integers() -> None:
    problem = random_problem(4, 6)
    large = Problem(problem.gains << 45, problem.forbidden)
    assert (beside(large) == beside(problem) << 45).all()
