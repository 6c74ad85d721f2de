"""The native engine returns the first of several optima, and a decision moves nothing elsewhere."""

import random
from dataclasses import replace
from itertools import combinations, count

import numpy as np
import pytest

from bench.demands import lonely, noisy_document
from bench.steadiness import instance_of, like_a_play, steps
from caspr.engines.native import Memory, engine, solve_with
from caspr.engines.native import ties as instance_ties
from caspr.engines.native.partition import exhaustive, ties, watch
from caspr.engines.native.partition.exhaustive import Walk
from caspr.engines.native.partition.outcome import COLD, SearchOutcome
from caspr.engines.native.partition.problem import LARGEST_MASS, Demand, Problem
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.sparse import SparseProblem, listed
from caspr.engines.native.partition.splitting import Split
from caspr.engines.native.partition.watch import Watch
from caspr.task.decisions import Decisions
from caspr.task.limits import Limits
from tests.engines.native.random_instances import needy_instance
from tests.instances import permuted
from tests.sweeps import how_many


def random_problem(seed: int, nodes: int) -> SparseProblem:
    """Make a problem with many ties: few different gains, small sizes, nodes that are alike."""
    rng = np.random.default_rng(seed)
    gains = rng.integers(-2, 4, (nodes, nodes))
    forbidden = rng.random((nodes, nodes)) < rng.choice([0.1, 0.4, 0.7])
    sizes = rng.integers(1, rng.choice([2, 4]), nodes)
    if seed % 3 == 0:
        twin, other = rng.choice(nodes, 2, replace=False)
        gains[other], gains[:, other], sizes[other] = gains[twin], gains[:, twin], sizes[twin]
        forbidden[other], forbidden[:, other] = forbidden[twin], forbidden[:, twin]
        forbidden[twin, other] = forbidden[other, twin] = True
    gains, forbidden = np.triu(gains, 1), np.triu(forbidden, 1)
    gains, forbidden = gains + gains.T, forbidden | forbidden.T
    return listed(Problem(np.where(forbidden, 0, gains), forbidden), sizes)


def by_definition(problem: SparseProblem) -> tuple[int, ...]:
    """Try all clusterings."""

    def key(value: int, labels: tuple[int, ...]) -> tuple[int, int, int, tuple[int, ...]]:
        held = np.bincount(labels, weights=problem.sizes).astype(int)
        return -value, int((held * (held - 1)).sum()), int(held[held > 1].sum()), labels

    dense = problem.dense()
    return min(key(*found) for found in Walk(dense, -(10**6), None).clusterings())[-1]


def first(problem: SparseProblem) -> ties.FirstOptimum:
    return ties.first_optimum(problem, search(problem.dense(), Watch()), Watch())


@pytest.mark.parametrize("block", range(10))
def test_the_first_optimum_of_a_problem(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        problem = random_problem(seed, 3 + seed % 5)
        found = first(problem)
        assert found.proven
        assert tuple(found.labels.tolist()) == by_definition(problem), seed


@pytest.mark.parametrize(("rounds", "dear"), [(0, ties.DEAR), (20, ties.DEAR), (20, 0), (0, 0)])
@pytest.mark.parametrize("block", range(10, 15))
def test_the_first_optimum_by_fixing(
    block: int, rounds: int, dear: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Problems of more than two nodes count as large, and so do all that are not written down."""
    monkeypatch.setattr(ties, "DEAR", dear)
    monkeypatch.setattr(ties, "ENUMERATED", 2)
    monkeypatch.setattr(ties, "WRITTEN_OUT", 4)
    monkeypatch.setattr(ties, "ROUNDS", rounds)
    for seed in range(100 * block, 100 * block + how_many(100, 20)):
        problem = random_problem(seed, 3 + seed % 5)
        found = first(problem)
        assert found.proven
        assert tuple(found.labels.tolist()) == by_definition(problem), seed


def test_a_pair_is_decided_where_no_optimum_decides_otherwise() -> None:
    """All pairs of small problems are tried, against a list of all optima."""
    for seed in range(how_many(200, 40)):
        problem = random_problem(seed, 7).dense()
        optima = exhaustive.enumerate_optima(problem, limit=1000)
        assert optima is not None
        known = np.array(optima.first, dtype=np.intp)
        floor, every = optima.value - problem.step, np.array(optima.clusterings)
        for pair in combinations(range(problem.size), 2):
            if not problem.forbidden[pair]:
                together = every[:, pair[0]] == every[:, pair[1]]
                alike = bool((together == (known[pair[0]] == known[pair[1]])).all())
                other = ties._decided_otherwise(problem, pair, known, floor, Watch(), COLD)
                assert (other.bound <= floor) == alike, (seed, pair)
                assert (other.value > floor) == (not alike), (seed, pair)


def test_a_step_within_a_step_is_allowed_no_more_than_that() -> None:
    steps = Watch()
    with steps.allowing(100):
        with steps.allowing(10):
            assert steps.expired(10)
        assert not steps.expired(80)
        with steps.allowing(1000):
            assert steps.expired(10)
        assert steps.expired(0)
    assert not steps.expired(0)


def test_an_optimum_across_components_is_cut() -> None:
    """Search may put nodes together that gain nothing."""
    gains = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    problem = listed(Problem(gains, np.zeros((4, 4), dtype=bool)), common=0)
    found = ties.first_optimum(problem, SearchOutcome(np.zeros(4, dtype=np.intp), 2, 2), Watch())
    assert found.proven
    assert found.labels.tolist() == [0, 0, 1, 1]


def test_what_is_not_proven_stays() -> None:
    problem = random_problem(1, 6)
    known = SearchOutcome(np.array([5, 1, 1, 5, 2, 2]), 0, 9)
    found = ties.first_optimum(problem, known, Watch())
    assert (found.proven, found.labels.tolist()) == (False, [0, 1, 1, 0, 2, 2])


def test_no_number_wraps() -> None:
    """Where gains are too large to be scaled, the optimum stays as it is, and is not called the first."""
    large = LARGEST_MASS // 64
    gains = np.array([[0, large, 0, 0], [large, 0, large, 0], [0, large, 0, 1], [0, 0, 1, 0]])
    forbidden = np.zeros((4, 4), dtype=bool)
    forbidden[[0, 0, 1], [2, 3, 3]] = forbidden[[2, 3, 3], [0, 0, 1]] = True
    known = np.array([0, 1, 1, 2])
    found = ties._fewest_pairs(Problem(gains, forbidden), np.array([9, 9, 9, 1]), known, Watch())
    assert (found.proven, found.labels.tolist()) == (False, known.tolist())
    found = ties._fewest_pairs(Problem(gains // large, forbidden), np.array([9, 9, 9, 1]), known, Watch())
    assert (found.proven, found.labels.tolist()) == (True, [0, 0, 1, 2])


def test_a_limit_leaves_an_optimum() -> None:
    for seed in range(30):
        problem = random_problem(seed, 8)
        outcome = search(problem.dense(), Watch())
        found = ties.first_optimum(problem, outcome, Watch(deadline=0.0))
        assert problem.value(found.labels) == outcome.value


def test_a_limit_may_come_before_the_first_of_few_clusterings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustive, "OFTEN", 1)
    seldom, sizes = np.full((3, 3), -9) + 9 * np.eye(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    problem = Problem(seldom, np.zeros((3, 3), dtype=bool))
    assert ties._first_listed(problem, sizes, Watch(deadline=0.0)).labels.tolist() == [0, 1, 2]
    demand = Demand(0, 0, (1, 2), (0, 0), ((0, 1), (0, 2)))
    looks = iter([False])
    late = Watch(cancelled=lambda: next(looks, True))
    found = ties._WithDemands(late).first(replace(problem, demands=(demand,)), sizes, np.array([0, 1, 0]))
    assert (found.proven, found.labels.tolist()) == (False, [0, 1, 0])


def test_a_region_that_is_not_searched_to_the_end_keeps_its_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """These have mentions that could be swapped near a demanded one, or a bundle that links may not hold."""
    monkeypatch.setattr(instance_ties, "BRANCHES", 0)
    for seed in (35, 75, 93, 119, 125, 142, 165, 213):
        instance = needy_instance(seed)
        any_one, ours = (solve_with(instance, Limits(), memory=Memory(), ties=ties) for ties in (False, True))
        assert (ours.status, ours.value, ours.bound) == (any_one.status, any_one.value, any_one.bound)
        assert [finding.code for finding in ours.findings] == ["ties-open"]


def test_where_ties_stay_open_neither_the_clock_nor_the_order_of_files_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 60_000_000)
    monkeypatch.setattr(engine, "TIMES", 0)
    noisy, exist = lonely(noisy_document(), "va", 20)
    instance = replace(noisy, decisions=Decisions.of([], [], exist))
    expected = solve_with(instance, Limits(), memory=Memory())
    assert [finding.code for finding in expected.findings] == ["ties-open"]
    assert expected.partitions != solve_with(instance, Limits(), memory=Memory(), ties=False).partitions
    others = permuted(instance, [5, 3, 1, 0, 2, 4])
    seconds = count()
    # Every look at this clock takes a second.
    monkeypatch.setattr(watch, "monotonic", lambda: float(next(seconds)))
    slowly = solve_with(others, Limits(seconds=1e9), memory=Memory())
    assert slowly.partitions == expected.partitions


def test_a_part_without_work_left_stays_as_it_was_and_the_others_are_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance, real = instance_of(like_a_play(300), "u"), ties.first_optimum
    expected = solve_with(instance, Limits(), memory=Memory())
    parts = []

    def first(
        problem: SparseProblem, outcome: SearchOutcome, clock: Watch, split: Split | None
    ) -> ties.FirstOptimum:
        parts.append(problem)
        if len(parts) == 2:
            monkeypatch.setattr(clock, "most", 0)
            raise watch.ExpiredError
        return real(problem, outcome, clock, split)

    monkeypatch.setattr(instance_ties, "first_optimum", first)
    solution = solve_with(instance, Limits(), memory=Memory())
    assert [finding.code for finding in solution.findings] == ["ties-open"]
    assert (solution.status, solution.value, len(parts)) == (expected.status, expected.value, 4)


@pytest.mark.parametrize(
    ("objective", "singletons", "mentions"),
    [("va", "auto", 1000), ("v", "drop", 1000), ("u", "drop", 300)],
)
def test_a_decision_moves_nothing_elsewhere(objective: str, singletons: str, mentions: int) -> None:
    instance = instance_of(like_a_play(mentions), objective, singletons)
    for step in steps(instance, how_many(50, 2), 1, Limits()):
        assert (step.moved, step.agrees, step.open) == (0, True, False), step


@pytest.mark.parametrize("objective", ["va", "ua"])
def test_the_order_of_files_does_not_matter_on_a_play(objective: str) -> None:
    instance = instance_of(like_a_play(500), objective)
    rng = random.Random(1)
    expected = solve_with(instance, Limits(), memory=Memory())
    for _ in range(how_many(5, 2)):
        other = permuted(instance, rng.sample(range(3), 3))
        assert solve_with(other, Limits(), memory=Memory()).partitions == expected.partitions
