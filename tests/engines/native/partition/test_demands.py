"""The search with demands finds what brute force finds: by linear relaxation and by enumeration."""

from dataclasses import replace

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.heuristics import between
from caspr.engines.native.partition.lp import Nearby, relax
from caspr.engines.native.partition.outcome import SearchOutcome, Start
from caspr.engines.native.partition.problem import UNMET, Problem
from caspr.engines.native.partition.search import quick, search
from caspr.engines.native.partition.splitting import split
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_demands import best_value, random_demanding, worth


@pytest.fixture
def by_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the smallest problems searched by relaxation."""
    monkeypatch.setattr(searching, "TINY", 1)


def first(whole: Problem) -> SearchOutcome:
    return quick(split(whole, Watch()), Watch())


@pytest.mark.parametrize("tiny", [1, 8])
@pytest.mark.parametrize("block", range(10))
def test_the_optimum_is_that_of_brute_force(block: int, tiny: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", tiny)
    for seed in range(block * 100, block * 100 + 100):
        whole = random_demanding(seed)
        best = best_value(whole)
        outcome = search(whole, Watch())
        expected = UNMET if best is None else best
        assert (outcome.value, outcome.bound) == (expected, expected), seed
        assert outcome.proven
        if best is not None:
            assert worth(whole, outcome.labels.tolist()) == best, seed


@pytest.mark.usefixtures("by_relaxation")
def test_where_every_pair_loses_the_first_partner_may_be_all_that_is_undecided() -> None:
    for seed in range(240, 300):
        whole = random_demanding(seed)
        losing = replace(
            whole,
            gains=np.where(whole.forbidden | np.eye(whole.size, dtype=bool), 0, np.minimum(whole.gains, -1)),
        )
        best = best_value(losing)
        assert search(losing, Watch()).bound == (UNMET if best is None else best), seed


@pytest.mark.usefixtures("by_relaxation")
@pytest.mark.parametrize("block", range(4))
def test_a_floor_is_exceeded_or_bounds_the_rest(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        whole = random_demanding(seed)
        best = best_value(whole)
        for floor in (-7, -1, 0, 2, 5):
            outcome = search(whole, Watch(), Start(floor=floor))
            if best is not None:
                assert max(outcome.bound, floor) >= best, (seed, floor)
            if best is not None and best > floor:
                assert outcome.proven and outcome.value == best, (seed, floor)


def test_a_first_clustering_meets_the_demands_or_says_that_it_does_not() -> None:
    met = 0
    for seed in range(300):
        whole = random_demanding(seed)
        outcome = first(whole)
        best = best_value(whole)
        if outcome.value != UNMET:
            met += 1
            assert worth(whole, outcome.labels.tolist()) == outcome.value
            assert best is not None and outcome.value <= best <= outcome.bound
    assert met > 150


@pytest.mark.usefixtures("by_relaxation")
def test_reported_bounds_hold_and_fall() -> None:
    for seed in range(100):
        whole, bounds = random_demanding(seed), list[int]()
        outcome = search(whole, Watch(), Start(on_bound=bounds.append))
        if outcome.value != UNMET:
            assert all(bound >= outcome.value for bound in bounds), seed


@pytest.mark.usefixtures("by_relaxation")
def test_an_expired_watch_leaves_a_bound_and_what_heuristics_found() -> None:
    for seed in range(100):
        whole = random_demanding(seed)
        best = best_value(whole)
        outcome = search(whole, Watch(deadline=0.0))
        if best is not None:
            assert outcome.bound >= best
        if outcome.value != UNMET:
            assert worth(whole, np.asarray(outcome.labels).tolist()) == outcome.value


@pytest.mark.usefixtures("by_relaxation")
def test_a_rough_search_claims_nothing_that_is_wrong() -> None:
    found = 0
    for seed in range(200):
        whole = random_demanding(seed)
        best = best_value(whole)
        outcome = search(whole, Watch(), Start(rough=True))
        if best is not None:
            assert outcome.bound >= best, seed
        if outcome.value != UNMET:
            assert worth(whole, outcome.labels.tolist()) == outcome.value, seed
            found += outcome.value == best
    assert found > 100


@pytest.mark.usefixtures("by_relaxation")
def test_a_known_ceiling_changes_no_optimum() -> None:
    for seed in range(150):
        whole = random_demanding(seed)
        best = best_value(whole)
        if best is None:
            continue
        for more in (0, whole.step, 5 * whole.step):
            outcome = search(whole, Watch(), Start(bound=best + more))
            assert outcome.proven and outcome.value == best, (seed, more)


def test_what_lies_between_a_clustering_and_a_point_holds_the_clustering() -> None:
    for seed in range(100):
        whole = random_demanding(seed)
        labels = first(whole).labels
        x = np.random.default_rng(seed).choice([0.0, 0.5, 1.0], size=(whole.size, whole.size))
        found = between(whole, labels, np.maximum(x, x.T))
        if found is not None and whole.value(labels) is not None:
            small, groups, constant = found
            inside = np.zeros(small.size, dtype=np.intp)
            inside[groups] = labels
            assert (inside[groups] == labels).all()
            reached = small.value(inside)
            assert reached is not None and reached + constant == whole.value(labels), seed


def test_a_point_nearby_is_expressed_in_contracted_nodes() -> None:
    many = (one for one in map(random_demanding, range(99)) if one.size > 4 and len(one.demands) > 1)
    whole = next(one for one in many if not one.hopeless)
    point = relax(whole, NO_CUTS, watch=Watch())
    assert point is not None
    groups = np.array([0, 0, *range(1, whole.size - 1)])
    small, _ = whole.contract(groups)
    near = Nearby.of(whole, point).contract(groups)
    assert near.x.shape == (small.size, small.size)
    assert near.x[1, 2] == point.x[2, 3]
    for demand, chosen in zip(whole.demands, point.first, strict=True):
        assert sum(near.first[demand.name].values()) == pytest.approx(chosen.sum())
        for partner, much in zip(demand.partners, chosen.tolist(), strict=True):
            assert near.first[demand.name][int(groups[partner])] >= much
    again = relax(small, NO_CUTS, watch=Watch(), near=near)
    assert again is not None and (small.demands == () or again.first)
