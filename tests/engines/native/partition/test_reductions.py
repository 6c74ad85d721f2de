"""Every rule fires only where all optima agree, and fires at all."""

from collections.abc import Callable

import numpy as np
import pytest

from caspr.engines.native.partition import reductions as module
from caspr.engines.native.partition.leaves import Clinging, find_couples, find_guests, find_rivals, joined_by
from caspr.engines.native.partition.problem import Bools, Problem
from caspr.engines.native.partition.reductions import (
    beside,
    heavy_edges,
    heavy_non_edges,
    near_twins,
    reduce,
)
from tests.engines.native.partition.random_problems import optima, random_problem, with_couples, with_guests


def rules(problem: Problem) -> dict[str, Bools]:
    best = beside(problem)
    return {
        "near-twin": near_twins(problem, best),
        "leaf": Clinging.of(problem, best).leaves(problem),
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
    reduced = reduce(problem, all_optima=True)
    value, best = optima(problem)
    small_value, small_best = optima(reduced.problem)
    assert small_value + reduced.constant == value
    assert len(small_best) == len(best)
    for labels in small_best:
        assert problem.value(reduced.lift(np.array(labels))) == value


@pytest.mark.parametrize("seed", range(20))
def test_quick_tests_for_near_twins_exclude_none(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(seed, 20)
    best = beside(problem)
    found = near_twins(problem, best)
    monkeypatch.setattr(module, "TOO_FEW_FOR_BLOCKS", 0)
    assert (near_twins(problem, best) == found).all()


@pytest.mark.parametrize("seed", range(20))
def test_where_nothing_is_lost_gains_connect_clusters(seed: int) -> None:
    random = np.random.default_rng(seed)
    gains = np.triu(random.integers(0, 3, (7, 7)) * (random.random((7, 7)) < 0.4), 1)
    problem = Problem(gains + gains.T, np.zeros((7, 7), dtype=bool))
    reduced = reduce(problem, all_optima=True)
    assert not reduced.problem.gains.any()
    value, best = optima(problem)
    assert reduced.constant == value
    assert len(optima(reduced.problem)[1]) == len(best)


def with_rivals(seed: int) -> Problem:
    """Make a problem in which two or three pairs of nodes exclude each other, but want the same."""
    random = np.random.default_rng(seed)
    gains = np.triu(random.integers(-2, 3, (8, 8)), 1)
    gains = gains + gains.T
    forbidden = np.zeros((8, 8), dtype=bool)
    for first in (2, 4, 6)[: 2 + seed % 2]:
        gains[first + 1] = gains[first]
        gains[:, first + 1] = gains[:, first]
        host = int(random.integers(2))
        gains[host, first : first + 2] = gains[first : first + 2, host] = 12 + random.integers(0, 5, 2)
        forbidden[first, first + 1] = forbidden[first + 1, first] = True
    np.fill_diagonal(gains, 0)
    return Problem(gains, np.zeros((8, 8), dtype=bool)).separate(forbidden)


def with_crowded_rivals(seed: int) -> Problem:
    """Make a problem in which three or four nodes exclude each other, but want nearly the same."""
    random = np.random.default_rng(seed)
    gains = np.triu(random.integers(-2, 3, (8, 8)), 1)
    gains = gains + gains.T
    rivals = np.arange(2, 5 + seed % 2)
    gains[rivals] = gains[2] + random.integers(0, 2, (len(rivals), 1)) * random.integers(-1, 2, 8)
    gains[:, rivals] = gains[rivals].T
    gains[0, rivals] = gains[rivals, 0] = 14 + random.integers(0, 6, len(rivals))
    forbidden = np.triu(random.random((8, 8)) < 0.1, 1)
    forbidden[:, rivals] = forbidden[rivals] = False
    forbidden[np.ix_(rivals, rivals)] = True
    forbidden |= forbidden.T
    np.fill_diagonal(forbidden, False)
    np.fill_diagonal(gains, 0)
    return Problem(gains, np.zeros((8, 8), dtype=bool)).separate(forbidden)


@pytest.mark.parametrize("block", range(6))
def test_guests_are_with_their_hosts_in_every_optimum(block: int) -> None:
    fired = helped = 0
    for seed in range(block * 50, block * 50 + 50):
        problem = with_guests(seed)
        best = beside(problem)
        guests = find_guests(problem, best, Clinging.of(problem, best))
        assert holds_in_every_optimum(problem, "guests", guests)
        fired, helped = fired + len(guests), helped + sum(len(row) > 2 for row in guests)
    assert fired and helped


@pytest.mark.parametrize("block", range(6))
def test_couples_are_decided_alike_in_every_optimum(block: int) -> None:
    fired = 0
    for seed in range(block * 20, block * 20 + 20):
        problem = with_couples(seed)
        couples = find_couples(problem, Clinging.of(problem, beside(problem)))
        assert holds_in_every_optimum(problem, "couples", couples)
        fired += len(couples)
    assert fired


def holds_in_every_optimum(problem: Problem, kind: str, rows: list[tuple[int, ...]]) -> bool:
    pairs = joined_by({kind: rows}, problem.size)
    return not rows or all(
        np.equal.outer(labels, labels)[pairs].all() for labels in map(np.array, optima(problem)[1])
    )


def rivals_of(problem: Problem) -> list[tuple[int, ...]]:
    best = beside(problem)
    return find_rivals(problem, best, Clinging.of(problem, best))


@pytest.mark.parametrize("make", [with_rivals, with_crowded_rivals])
@pytest.mark.parametrize("block", range(6))
def test_rivals_keep_an_optimum(make: Callable[[int], Problem], block: int) -> None:
    fired = 0
    for seed in range(block * 15, block * 15 + 15):
        problem = make(seed)
        value, best = optima(problem)
        rivalries = rivals_of(problem)
        pairs = joined_by({"rivals": rivalries}, problem.size)
        fired += sum(make is with_rivals or len(rivalry) > 3 for rivalry in rivalries)
        assert any(np.equal.outer(labels, labels)[pairs].all() for labels in map(np.array, best))
        reduced = reduce(problem)
        assert optima(reduced.problem)[0] + reduced.constant == value
    assert fired


def test_a_chain_of_hosts_is_not_decided_at_once() -> None:
    fired = 0
    for seed in range(200):
        problem = random_problem(5000 + seed, 6)
        _, best = optima(problem)
        pairs = joined_by({"rivals": rivals_of(problem)}, problem.size)
        fired += int(pairs.any())
        assert any(np.equal.outer(labels, labels)[pairs].all() for labels in map(np.array, best))
    assert fired


def test_gains_beyond_the_exact_floats_are_multiplied_as_integers() -> None:
    problem = random_problem(4, 6)
    large = Problem(problem.gains << 45, problem.forbidden)
    assert (beside(large) == beside(problem) << 45).all()
