"""The search finds and proves optima, with the linear program also where it would not be needed."""

import numpy as np
import pytest

from caspr.engines.native.partition import optima as enumerating
from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.heuristics import start
from caspr.engines.native.partition.optima import Budget, all_optima
from caspr.engines.native.partition.outcome import Start
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop
from tests.engines.native.partition.random_problems import optima, random_problem


@pytest.mark.parametrize("seed", range(60))
def test_relaxation_and_branching_prove_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", 2)
    problem = random_problem(seed, 8)
    outcome = search(problem, Watch())
    value, best = optima(problem)
    assert (outcome.value, outcome.bound) == (value, value)
    assert tuple(outcome.labels.tolist()) in best


def uneven_problem(seed: int) -> Problem:
    """Make a problem whose gains are mostly multiples of one number, so that parts have a common divisor."""
    random = np.random.default_rng(seed)
    size, divisor = int(random.integers(6, 10)), int(random.choice([2, 3, 4]))
    gains = random.integers(-3, 4, (size, size)) * divisor
    uneven = random.random((size, size)) < random.choice([0.0, 0.03, 0.08, 0.2])
    gains = np.triu(np.where(uneven, random.integers(-3 * divisor, 3 * divisor + 1, gains.shape), gains), 1)
    forbidden = np.triu(random.random((size, size)) < random.choice([0, 0.1, 0.3]), 1)
    forbidden = forbidden | forbidden.T
    return Problem(np.where(forbidden, 0, gains + gains.T), forbidden)


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("batch", range(4))
def test_the_proof_does_not_rest_on_heuristics(batch: int) -> None:
    for seed in range(60 * batch, 60 * batch + 60):
        problem = uneven_problem(seed)
        outcome, found = search(problem, Watch()), enumerate_optima(problem)
        assert found is not None
        assert (outcome.value, outcome.bound) == (found.value, found.value), seed


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("batch", range(2))
def test_a_floor_hides_nothing_above_it(batch: int) -> None:
    for seed in range(60 * batch, 60 * batch + 60):
        problem = uneven_problem(seed)
        found = enumerate_optima(problem)
        assert found is not None
        for floor in range(found.value - 4, found.value):
            assert search(problem, Watch(), Start(floor=floor)).bound >= found.value, (seed, floor)


@pytest.mark.parametrize("seed", range(40))
def test_all_optima_by_fixing_and_branching(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumerating, "ENUMERATED", 3)
    problem = random_problem(seed, 7)
    value, best = optima(problem)
    found = all_optima(problem, value, Budget(Watch(), limit=10_000, branchings=10_000))
    assert sorted(found.listed) == sorted(best)
    assert found.count == len(best)


@pytest.mark.parametrize("seed", range(40))
def test_exhaustive_search_lists_all_optima_in_order(seed: int) -> None:
    problem = random_problem(seed, 7)
    value, best = optima(problem)
    found = enumerate_optima(problem, limit=10_000)
    assert found is not None
    assert (found.value, list(found.clusterings), found.count) == (value, sorted(best), len(best))


@pytest.mark.parametrize("seed", range(12))
def test_larger_problems_are_proven(seed: int) -> None:
    problem = random_problem(seed, 24)
    outcome = search(problem, Watch())
    assert outcome.proven
    assert problem.value(outcome.labels) == outcome.value


@pytest.mark.parametrize("seed", range(8))
def test_no_time_still_gives_value_and_bound(seed: int) -> None:
    problem = random_problem(seed, 24)
    outcome = search(problem, Watch(stop=Stop.TIME))
    proven = search(problem, Watch())
    assert problem.value(outcome.labels) == outcome.value <= proven.value <= outcome.bound


@pytest.mark.parametrize("seed", range(10))
def test_incumbents_are_valid_and_repeatable(seed: int) -> None:
    problem = random_problem(seed, 25)
    labels = start(problem, kicks=5)
    assert problem.value(labels) is not None
    assert np.array_equal(labels, start(problem, kicks=5))


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(60))
def test_only_what_exceeds_the_floor_is_proven(seed: int) -> None:
    problem = uneven_problem(seed)
    found = enumerate_optima(problem)
    assert found is not None
    for floor in range(found.value - 2, found.value + 3):
        outcome = search(problem, Watch(), Start(floor=floor))
        assert outcome.floor == floor
        assert max(outcome.bound, floor) >= found.value
        assert not outcome.proven or outcome.value == found.value
        assert outcome.proven or floor >= found.value
        assert not (outcome.proven and floor > found.value)
