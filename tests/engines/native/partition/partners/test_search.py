"""The search with demands finds what brute force finds: by linear relaxation and by enumeration."""

import numpy as np
import pytest

from caspr.engines.native.partition.partners.outcome import UNMET
from caspr.engines.native.partition.partners.search import quick_demanding, search_demanding
from caspr.engines.native.partition.partners.start import Start
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.partners.random_demands import best_value, random_demanding, worth


@pytest.mark.parametrize("tiny", [0, 8])
@pytest.mark.parametrize("block", range(10))
def test_the_optimum_is_that_of_brute_force(block: int, tiny: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        whole = random_demanding(seed)
        best = best_value(whole)
        outcome = search_demanding(whole, Watch(), Start(tiny=tiny))
        expected = UNMET if best is None else best
        assert (outcome.value, outcome.bound) == (expected, expected), seed
        assert outcome.proven
        if best is not None:
            assert worth(whole, outcome.labels.tolist()) == best, seed


@pytest.mark.parametrize("block", range(4))
def test_a_floor_is_exceeded_or_bounds_the_rest(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        whole = random_demanding(seed)
        best = best_value(whole)
        for floor in (-7, -1, 0, 2, 5):
            outcome = search_demanding(whole, Watch(), Start(floor=floor, tiny=0))
            if best is not None:
                assert max(outcome.bound, floor) >= best, (seed, floor)
            if best is not None and best > floor:
                assert outcome.proven and outcome.value == best, (seed, floor)


def test_a_first_clustering_meets_the_demands_or_says_that_it_does_not() -> None:
    met = 0
    for seed in range(300):
        whole = random_demanding(seed)
        outcome = quick_demanding(whole, Watch())
        best = best_value(whole)
        if outcome.value != UNMET:
            met += 1
            assert worth(whole, outcome.labels.tolist()) == outcome.value
            assert best is not None and outcome.value <= best <= outcome.bound
    assert met > 150


def test_reported_bounds_hold_and_fall() -> None:
    for seed in range(100):
        whole, bounds = random_demanding(seed), list[int]()
        outcome = search_demanding(whole, Watch(), Start(on_bound=bounds.append, tiny=0))
        if outcome.value != UNMET:
            assert all(bound >= outcome.value for bound in bounds), seed


def test_an_expired_watch_leaves_a_bound_and_what_heuristics_found() -> None:
    for seed in range(100):
        whole = random_demanding(seed)
        best = best_value(whole)
        outcome = search_demanding(whole, Watch(deadline=0.0), Start(tiny=0))
        if best is not None:
            assert outcome.bound >= best
        if outcome.value != UNMET:
            assert worth(whole, np.asarray(outcome.labels).tolist()) == outcome.value
