"""No number wraps: gains up to the largest mass give what Python's integers give."""

from itertools import combinations

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.cuts import Cuts, cuts_of
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.heuristics import start
from caspr.engines.native.partition.lp import Point, decided, program_of, safe_bound
from caspr.engines.native.partition.optima import Budget, Census, all_optima
from caspr.engines.native.partition.problem import LARGEST_MASS, Ints, Problem
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.search import first_cuts, new_cuts, search
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import optima, random_problem


def mass(gains: Ints) -> int:
    """Return the mass of gains, in Python's integers."""
    return sum(map(abs, gains.ravel().tolist()))


def enlarged(problem: Problem, seed: int) -> Problem:
    """Multiply gains until their mass is nearly the largest, and spoil their common divisor."""
    random = np.random.default_rng(seed)
    noise = np.triu(random.integers(-3, 4, problem.gains.shape), 1)
    factor = (LARGEST_MASS - 6 * problem.size**2) // max(1, mass(problem.gains))
    gains = np.where(problem.forbidden, 0, problem.gains * factor + noise + noise.T)
    assert 0.99 * LARGEST_MASS < mass(gains) <= LARGEST_MASS
    return Problem(gains, problem.forbidden)


def scaled_bound(problem: Problem, cuts: Cuts, point: Point) -> int:
    """Recompute a bound in Python's integers, pair by pair."""
    reduced = {pair: int(problem.gains[pair]) << point.shift for pair in combinations(range(problem.size), 2)}
    stars = [*map(tuple, cuts.triangles.tolist()), *cuts.stars]
    for (centre, *leaves), multiplier in zip(stars, point.multipliers.tolist(), strict=True):
        for leaf in leaves:
            reduced[min(centre, leaf), max(centre, leaf)] -= multiplier
        for pair in combinations(leaves, 2):
            reduced[pair] += multiplier
    allowed = (gain for pair, gain in reduced.items() if not problem.forbidden[pair])
    return int(point.multipliers.sum()) + sum(gain for gain in allowed if gain > 0)


@pytest.mark.parametrize("gain", [3, 30_000_000_000, LARGEST_MASS // (60 * 59)])
def test_a_star_over_many_leaves_gives_a_bound(gain: int) -> None:
    gains = np.full((60, 60), gain, dtype=np.int64)
    np.fill_diagonal(gains, 0)
    problem = Problem(gains, np.zeros((60, 60), dtype=bool))
    cuts = cuts_of([tuple(range(60))], np.empty((0, 3), dtype=np.intp), problem)
    program = program_of(problem, cuts)
    point = safe_bound(problem, program, np.ones(len(program.gains)), np.array([float(mass(gains) // 2)]))
    assert point.multipliers.tolist() != [0]
    assert point.scaled == scaled_bound(problem, cuts, point)
    optimum = gain * 60 * 59 // 2
    assert point.bound(1) >= optimum
    together, apart = decided(point, optimum)
    assert not apart.any() and not together.any()


@pytest.mark.parametrize("seed", range(30))
def test_any_multipliers_give_the_bound_that_pythons_integers_give(seed: int) -> None:
    problem = enlarged(random_problem(seed, 9), seed)
    random = np.random.default_rng(seed)
    x = random.random((9, 9))
    cuts = first_cuts(problem) | new_cuts(problem, (x + x.T) / 2)
    program = program_of(problem, cuts)
    share = random.dirichlet(np.full(len(cuts), 0.1)) if len(cuts) else np.empty(0)
    point = safe_bound(problem, program, np.ones(len(program.gains)), 0.999 * share * mass(problem.gains))
    assert point.scaled == scaled_bound(problem, cuts, point)
    assert point.shift >= 0 and int(np.abs(point.reduced).max()) < 1 << 62


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_gains_give_the_optima_of_brute_force(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", 3)
    problem = enlarged(random_problem(seed, 7), seed)
    value, best = optima(problem)
    outcome = search(problem, Watch())
    assert (outcome.value, outcome.bound) == (value, value)
    assert tuple(outcome.labels.tolist()) in best
    assert all_optima(problem, value, Budget(Watch(), 10_000)).listed == tuple(best)
    found = enumerate_optima(problem, limit=10_000)
    assert found is not None and (found.value, found.clusterings) == (value, tuple(best))
    counted = Census(problem, 10**6).whole()
    assert (counted.value, counted.ways) == (value, len(best))


@pytest.mark.parametrize("seed", range(20))
def test_gains_times_a_power_of_two_change_nothing(seed: int) -> None:
    small = random_problem(seed, 40)
    shift = (LARGEST_MASS // mass(small.gains)).bit_length() - 1
    large = Problem(small.gains << shift, small.forbidden)
    one, other = reduce(small), reduce(large)
    assert one.labels.tolist() == other.labels.tolist()
    assert (one.constant << shift, one.problem.ceiling << shift) == (other.constant, other.problem.ceiling)
    labels = start(small, kicks=10)
    assert labels.tolist() == start(large, kicks=10).tolist()
    value = small.value(labels)
    assert value is not None and large.value(labels) == value << shift
