"""The bound holds whatever the multipliers, and what it decides holds in every optimum."""

import numpy as np
import pytest

from caspr.engines.native.partition.lp import Nearby, decided, program_of, relax, safe_bound
from caspr.engines.native.partition.search import first_cuts, new_cuts
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import optima, random_problem
from tests.engines.native.partition.test_cuts import left_side


@pytest.mark.parametrize("seed", range(40))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    problem = random_problem(seed, 6)
    value, best = optima(problem)
    random = np.random.default_rng(seed)
    x = random.random((6, 6))
    cuts = first_cuts(problem) | new_cuts(problem, (x + x.T) / 2)
    program = program_of(problem, cuts)
    values = random.random(len(program.gains))
    point = safe_bound(problem, program, values, random.exponential(1.0, len(cuts)) - 0.2)
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
        point = relax(problem, cuts, watch=Watch())
        assert point is not None
        bound = min(bound, point.bound(problem.step))
        cuts = cuts | new_cuts(problem, point.x)
    assert value <= bound <= value + max(2, problem.ceiling // 10)


def test_absurd_multipliers_do_not_overflow() -> None:
    problem = random_problem(3, 6)
    cuts = first_cuts(problem)
    program = program_of(problem, cuts)
    point = safe_bound(problem, program, np.zeros(len(program.gains)), np.full(len(cuts), 1e30))
    assert point.bound(1) == problem.ceiling


@pytest.mark.parametrize("seed", range(20))
def test_rows_say_what_the_cuts_say(seed: int) -> None:
    problem = random_problem(seed, 8)
    random = np.random.default_rng(seed)
    x = random.random((8, 8))
    x = np.where(problem.forbidden, 0.0, (x + x.T) / 2)
    cuts = first_cuts(problem) | new_cuts(problem, x)
    program = program_of(problem, cuts)
    point = safe_bound(problem, program, x[program.first, program.second], np.zeros(len(cuts)))
    stars = [*map(tuple, cuts.triangles.tolist()), *cuts.stars]
    assert point.slack == pytest.approx([1 - left_side(star, x) for star in stars])


def test_a_relaxation_starts_where_the_last_one_ended() -> None:
    problem = random_problem(11, 9)
    cuts = first_cuts(problem)
    point = relax(problem, cuts, watch=Watch())
    assert point is not None
    again = relax(problem, point.cuts, watch=Watch(), near=Nearby(point.x, {}))
    assert again is not None
    assert again.scaled == pytest.approx(point.scaled, rel=1e-5)
    assert again.x == pytest.approx(point.x, abs=1e-4)
