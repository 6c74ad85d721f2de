"""The rounds of the loop, one by one: what a relaxation leads to, and what is kept from round to round."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.lp import Point, bound_from, decided, relax
from caspr.engines.native.partition.outcome import COLD, OnBound, SearchOutcome, Start, ignore_bound
from caspr.engines.native.partition.problem import Bools, Demand, Labels, Problem
from caspr.engines.native.partition.search import CuttingPlanes, first_cuts, fix_in_all_optima, undecided_pair
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop
from tests.engines.native.partition.random_demands import random_demanding
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


SAME = np.arange(8) // 4


def two_clusters(*demands: Demand) -> Problem:
    """Make a problem of two clusters of four: pairs inside gain 2, others lose 1; 0 and 7 are forbidden."""
    gains = np.where(SAME[:, None] == SAME[None, :], 2, -1)
    np.fill_diagonal(gains, 0)
    forbidden = np.zeros((8, 8), dtype=bool)
    forbidden[0, 7] = forbidden[7, 0] = True
    return Problem(np.where(forbidden, 0, gains), forbidden, demands)


def test_a_point_that_is_a_clustering_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "search", never)
    monkeypatch.setattr(searching, "decided", never)
    outcome = CuttingPlanes(two_clusters(), Watch(), COLD).run(np.arange(8))
    assert outcome.labels.tolist() == SAME.tolist()
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


def test_only_a_rough_search_leaves_a_large_problem_without_demands_to_heuristics(
    relaxed: list[Point | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = random_problem(3, 24)
    demanding = replace(plain, demands=(Demand(0, 0, (1, 2), (1, 1), ((0, 1), (0, 2))),))

    def relaxes(problem: Problem, start: Start, size: int) -> bool:
        monkeypatch.setattr(searching, "ROUGH_SIZE", size)
        relaxed.clear()
        searching._searched(problem, Watch(), start)
        return bool(relaxed)

    rough = Start(rough=True)
    assert not relaxes(plain, rough, 23)
    assert relaxes(plain, COLD, 23) and relaxes(demanding, rough, 23) and relaxes(plain, rough, 24)


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


def test_without_time_for_a_relaxation_nothing_is_fixed_or_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "relax", lambda *_, **__: None)
    fixed = fix_in_all_optima(random_problem(0, 24), 0, Watch())
    assert not fixed.together.any() and not fixed.apart.any()
    outcome = CuttingPlanes(two_clusters(), Watch(), COLD).run(np.arange(8))
    assert (outcome.value, outcome.bound) == (0, 24)


def test_the_first_relaxation_has_the_most_obvious_cuts(relaxed: list[Point | None]) -> None:
    problem = random_problem(0, 24)
    CuttingPlanes(problem, Watch(), COLD).run(np.arange(24))
    obvious = first_cuts(problem)
    assert relaxed[0] is not None
    assert len(obvious) == len(relaxed[0].cuts) == len(relaxed[0].cuts | obvious) > 0


def test_where_no_time_is_left_or_nothing_to_find_the_beginning_stands_and_nothing_is_relaxed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "relax", never)
    outcome = CuttingPlanes(two_clusters(), Watch(stop=Stop.TIME), COLD).run(SAME)
    assert (outcome.labels.tolist(), outcome.value) == (SAME.tolist(), 24)
    late = CuttingPlanes(two_clusters(), Watch(stop=Stop.TIME), COLD).run(np.arange(8))
    assert (late.value, late.bound) == (0, 24)
    known = CuttingPlanes(two_clusters(), Watch(), Start(floor=24, bound=10)).run(SAME)
    assert (known.value, known.bound) == (24, 24)


def test_only_better_bounds_are_reported_and_none_below_the_threshold() -> None:
    bounds = list[int]()
    planes = CuttingPlanes(two_clusters(), Watch(), Start(floor=5, on_bound=bounds.append))
    for bound in (25, 24, 20, 20, 21, 3):
        planes.lower(bound)
    assert (bounds, planes.best.bound) == ([20, 5], 3)


def test_only_better_clusterings_are_kept_and_those_above_the_floor_reported() -> None:
    reported, alone = list[int](), np.arange(8)
    start = Start(floor=2, on_found=lambda labels, value: reported.append(value))
    planes = CuttingPlanes(two_clusters(), Watch(), start)
    pair, triple = np.where(alone == 1, 0, alone), np.where(alone < 3, 0, alone)
    kept = []
    for labels in (None, np.zeros(8, dtype=np.intp), alone, pair, triple, pair, triple, SAME):
        planes._offer(labels)
        kept.append(planes.best.value)
    assert kept == [0, 0, 0, 2, 6, 6, 6, 24]
    assert reported == [6, 24]
    assert planes.best.labels is SAME


def test_a_relaxation_is_shown_only_if_it_says_more_than_those_before() -> None:
    problem = two_clusters()
    planes, nothing = CuttingPlanes(problem, Watch(), COLD), bound_from(problem, NO_CUTS)
    planes._show(nothing)
    assert planes.lowest is None
    for less in (1, 1, 0):
        planes._show(replace(nothing, scaled=nothing.scaled - (less << nothing.shift)))
    assert planes.lowest is not None
    assert planes.shown == planes.lowest[1].bound(1) == 23


def test_only_what_a_point_fixes_is_noted_and_only_for_a_proof() -> None:
    demand = Demand(0, 0, (1, 2), (0, 0), ((0, 1), (0, 2)))
    problem, alone = two_clusters(demand), np.arange(8)
    narrowed = problem.separate((alone[:, None] == 3) & (alone == 4) | (alone[:, None] == 4) & (alone == 3))
    fewer = replace(problem, demands=(replace(demand, partners=(1,), costs=(0,), links=((0, 1),)),))
    point = bound_from(problem, NO_CUTS)

    def noted(narrowed: Problem, groups: Labels | None = None, *, record: bool = True) -> list[Any]:
        planes = CuttingPlanes(problem, Watch(), Start(floor=6, record=record))
        planes._note(point, narrowed, groups)
        return [(step["goal"], step["joins"]) for step in planes.steps]

    assert noted(problem) == noted(problem, alone) == noted(narrowed, SAME, record=False) == []
    assert noted(problem, SAME) == [(7, True)]
    for changed in (narrowed, fewer):
        assert noted(changed) == noted(changed, alone) == [(7, False)]
        assert noted(changed, SAME) == [(7, True)]


@pytest.mark.parametrize("block", range(2))
def test_a_pair_to_branch_on_is_open_whatever_the_point(block: int) -> None:
    """With any other pair one side would be the same problem again, without end."""
    random, seen = np.random.default_rng(block), 0
    for seed in range(100 * block, 100 * block + 100):
        for problem in (random_problem(seed, 6), random_demanding(seed)):
            size = problem.size
            allowed = ~problem.forbidden & ~np.eye(size, dtype=bool)
            for values in ([0.0], [1.0], [0.0, 1.0], [0.5], random.random(9)):
                x = np.triu(random.choice(values, (size, size)), 1)
                if allowed.any():
                    assert allowed[undecided_pair(problem, x + x.T + np.eye(size))], seed
                    seen += 1
    assert seen > 500


@pytest.mark.parametrize("sides", [(5, 9), (9, 5)])
def test_a_pair_decided_both_ways_leaves_the_larger_bound(
    sides: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a limit leaves both sides unfinished, no clustering found hides the smaller one."""
    problem, bounds, reported = two_clusters(), iter(sides), list[int]()

    def below(_: CuttingPlanes, __: Problem, ___: Labels, on_bound: OnBound) -> tuple[int, None]:
        bound = next(bounds)
        on_bound(bound)
        return bound, None

    monkeypatch.setattr(CuttingPlanes, "_below", below)
    planes = CuttingPlanes(problem, Watch(), Start(on_bound=reported.append))
    planes._branch(bound_from(problem, NO_CUTS), problem, np.arange(8))
    assert planes.best.bound == 9
    assert set(reported) == {9}


def test_what_a_relaxation_bounds_is_proven_by_it_alone_and_what_is_open_is_not_proven() -> None:
    """Of three nodes in a row, two may be together, and one inequality says so."""
    gains = np.array([[0, 2, -3], [2, 0, 2], [-3, 2, 0]])
    row, recorded = Problem(gains, np.zeros((3, 3), dtype=bool)), Start(record=True)
    proof = CuttingPlanes(row, Watch(), recorded).run(np.arange(3)).proof
    assert proof is not None
    [statement] = proof
    assert statement["stars"]
    assert statement.keys().isdisjoint({"goal", "pair"})
    assert CuttingPlanes(row, Watch(stop=Stop.TIME), recorded).run(np.arange(3)).proof is None


@pytest.mark.parametrize("proofs", [(None, ()), ((), None)])
def test_a_side_without_a_proof_leaves_the_pair_without_one(
    proofs: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, sides = two_clusters(), iter(proofs)
    monkeypatch.setattr(CuttingPlanes, "_below", lambda *_: (9, next(sides)))
    planes = CuttingPlanes(problem, Watch(), Start(record=True))
    planes._branch(bound_from(problem, NO_CUTS), problem, np.arange(8))
    assert planes.proof is None


def test_what_was_shown_before_partners_were_forgotten_is_shown_anew() -> None:
    problem = two_clusters(Demand(0, 0, (1, 2), (1, 1), ((0, 1), (0, 2))))
    point = bound_from(problem, NO_CUTS)
    planes = CuttingPlanes(problem, Watch(), COLD)
    planes.shown, planes.lowest = 7, (problem, point)
    planes._narrow(point, replace(problem, forbidden=problem.forbidden))
    assert (planes.shown, planes.lowest) == (7, (problem, point))
    fewer = replace(problem, demands=())
    planes._narrow(point, fewer)
    assert planes.shown == fewer.ceiling
    assert not planes.lowest


@pytest.mark.parametrize(("groups", "bound"), [(np.arange(8), 20), (np.array([0, 0, 1, 2, 3, 4, 5, 6]), 22)])
def test_a_side_that_is_left_open_is_bounded_by_what_it_may_gain_and_what_was_put_together(
    groups: Labels, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        searching, "search", lambda problem, *_: SearchOutcome(np.arange(problem.size), 0, 20)
    )
    planes = CuttingPlanes(two_clusters(), Watch(), COLD)
    assert planes._below(two_clusters(), groups, ignore_bound) == (bound, None)
