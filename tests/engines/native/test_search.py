"""The search finds and proves optima, with the linear program also where it would not be needed."""

import numpy as np
import pytest

from caspr.engines.native import search as searching
from caspr.engines.native import ties as tying
from caspr.engines.native.exhaustive import enumerate_optima
from caspr.engines.native.incumbent import start
from caspr.engines.native.search import search
from caspr.engines.native.ties import Budget, all_optima
from caspr.engines.native.watch import Watch
from caspr.solution import Stop
from tests.engines.native.random_problems import optima, random_problem


@pytest.mark.parametrize("seed", range(60))
def test_relaxation_and_branching_prove_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", 2)
    problem = random_problem(seed, 8)
    outcome = search(problem, Watch())
    value, best = optima(problem)
    assert (outcome.value, outcome.bound) == (value, value)
    assert tuple(outcome.labels.tolist()) in best


@pytest.mark.parametrize("seed", range(40))
def test_all_optima_by_fixing_and_branching(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tying, "SMALL", 3)
    problem = random_problem(seed, 7)
    value, best = optima(problem)
    ties = all_optima(problem, value, Budget(Watch(), limit=10_000, branchings=10_000))
    assert sorted(ties.clusterings) == sorted(best)
    assert ties.count == len(best)


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
