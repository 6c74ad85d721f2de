"""The rounds of the loop, one by one: what a relaxation leads to, and what is kept from round to round."""

from typing import Any

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.lp import Point, decided, relax
from caspr.engines.native.partition.outcome import COLD, Start
from caspr.engines.native.partition.problem import Bools, Problem
from caspr.engines.native.partition.search import CuttingPlanes, fix_in_all_optima
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import random_problem


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("there is nothing left to do")


@pytest.fixture
def relaxed(monkeypatch: pytest.MonkeyPatch) -> list[Point | None]:
    """Collect the points of all relaxations."""
    points: list[Point | None] = []

    def noted(*given: Any, **more: Any) -> Point | None:
        points.append(relax(*given, **more))
        return points[-1]

    monkeypatch.setattr(searching, "relax", noted)
    return points


def test_a_point_that_is_a_clustering_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clusters of four that gain 2 for each pair inside, and lose 1 for each between them."""
    same = np.arange(8) // 4
    gains = np.where(same[:, None] == same[None, :], 2, -1)
    np.fill_diagonal(gains, 0)
    problem = Problem(gains, np.zeros((8, 8), dtype=bool))
    monkeypatch.setattr(searching, "search", never)
    monkeypatch.setattr(searching, "decided", never)
    outcome = CuttingPlanes(problem, Watch(), COLD).run(np.arange(8))
    assert outcome.labels.tolist() == same.tolist()
    assert outcome.value == outcome.bound == 24


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_rough_search_ends_after_its_rounds(
    rounds: int, relaxed: list[Point | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "ROUGH_ROUNDS", rounds)
    monkeypatch.setattr(searching, "SHRINKAGE", 1.0)
    problem = random_problem(3, 24)
    CuttingPlanes(problem, Watch(), Start(rough=True)).run(np.arange(24))
    assert len(relaxed) == rounds


def test_what_a_round_puts_apart_stays_apart_in_the_next() -> None:
    narrowed = []
    for seed in range(6):
        planes = CuttingPlanes(random_problem(seed, 24), Watch(), COLD)
        planes.run(np.arange(24))
        narrowed.append(bool((planes.problem.forbidden & ~planes.original.forbidden).any()))
    assert any(narrowed)


@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_fixed_in_a_round_is_fixed_in_the_end(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(seed, 24)
    value, rounds = searching.search(problem, Watch()).value, list[tuple[Bools, Bools]]()

    def at_first(point: Point, floor: int) -> tuple[Bools, Bools]:
        """Decide nothing any more once something was decided."""
        together, apart = decided(point, floor)
        before = any(one.any() and other.any() for one, other in rounds)
        rounds.append((together & (not before), apart & (not before)))
        return rounds[-1]

    monkeypatch.setattr(searching, "decided", at_first)
    fixed = fix_in_all_optima(problem, value, Watch())
    assert fixed.together.any() and not rounds[-1][0].any()
    assert np.array_equal(fixed.together, np.any([one for one, _ in rounds], axis=0))
    assert np.array_equal(fixed.apart, np.any([other for _, other in rounds], axis=0))


def test_without_time_nothing_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "relax", lambda *_, **__: None)
    fixed = fix_in_all_optima(random_problem(0, 24), 0, Watch())
    assert not fixed.together.any() and not fixed.apart.any()
