"""The bound holds whatever the multipliers, and what it decides holds in every optimum."""

import numpy as np
import pytest

from caspr.engines.native.relaxation import certified, decided, relax
from caspr.engines.native.rounds import first_cuts, new_cuts
from tests.engines.native.random_problems import optima, random_problem


@pytest.mark.parametrize("seed", range(40))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    problem = random_problem(seed, 6)
    value, best = optima(problem)
    random = np.random.default_rng(seed)
    x = random.random((6, 6))
    cuts = first_cuts(problem) | new_cuts(problem, (x + x.T) / 2)
    point = certified(problem, cuts, x, random.exponential(1.0, len(cuts)) - 0.2)
    assert point.bound(problem.step) >= value
    together, apart = decided(point, value)
    for labels in map(np.array, best):
        same = np.equal.outer(labels, labels)
        assert not (together & ~same).any() and not (apart & same).any()


@pytest.mark.parametrize("seed", range(20))
def test_cutting_planes_come_close(seed: int) -> None:
    problem = random_problem(seed, 7)
    value, _ = optima(problem)
    cuts, bound = first_cuts(problem), problem.ceiling
    for _ in range(8):
        point = relax(problem, cuts, seconds=10)
        assert point is not None
        bound = min(bound, point.bound(problem.step))
        cuts = cuts | new_cuts(problem, point.x)
    assert value <= bound <= value + max(2, problem.ceiling // 10)


def test_absurd_multipliers_do_not_overflow() -> None:
    problem = random_problem(3, 6)
    cuts = first_cuts(problem)
    point = certified(problem, cuts, np.eye(6), np.full(len(cuts), 1e30))
    assert point.bound(1) == problem.ceiling
