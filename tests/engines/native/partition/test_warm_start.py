"""Warm starts change how soon an optimum is proven, and never what is proven."""

from dataclasses import replace

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition import splitting
from caspr.engines.native.partition.cuts import Cuts
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.lp import Nearby
from caspr.engines.native.partition.outcome import COLD, NO_FLOOR, SearchOutcome, Start
from caspr.engines.native.partition.problem import Labels, Problem
from caspr.engines.native.partition.search import first_cuts, search, search_split
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import split
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop
from tests.engines.native.partition.random_listings import random_listing
from tests.engines.native.partition.random_problems import random_problem


def beside(one: Problem, other: Problem) -> Problem:
    """Make one problem of two that no pair connects."""
    size = one.size + other.size
    gains, forbidden = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=bool)
    for problem, begin in ((one, 0), (other, one.size)):
        place = slice(begin, begin + problem.size)
        gains[place, place], forbidden[place, place] = problem.gains, problem.forbidden
    return Problem(gains, forbidden)


def optimum(problem: Problem) -> int:
    found = enumerate_optima(problem)
    assert found is not None
    return found.value


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(40))
def test_no_point_and_no_bound_that_holds_hides_the_optimum(seed: int) -> None:
    random = np.random.default_rng(seed)
    problem = beside(random_problem(seed, 6), random_problem(seed + 1000, 5))
    value = optimum(problem)
    point = random.random((problem.size, problem.size))
    cuts = first_cuts(problem)
    starts = (
        Start(bound=value),
        Start(bound=value + 1),
        Start(cuts=cuts, near=Nearby((point + point.T) / 2, {}), bound=value),
        Start(
            cuts=cuts.weighing(10 * random.random(len(cuts))),
            near=Nearby(np.zeros_like(point), {}),
            bound=value + 2,
        ),
    )
    for start in starts:
        for floor in (NO_FLOOR, value - 2, value - 1, value, value + 1):
            outcome = search(problem, Watch(), replace(start, floor=floor))
            assert max(outcome.bound, floor) >= value
            assert outcome.bound <= max(start.lowered(problem), floor, value)
            assert outcome.value == value or floor >= value, (start.bound, floor)


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_all_pieces_holds_and_stays_below_their_ceiling_whatever_the_floor(seed: int) -> None:
    problem = beside(random_problem(seed, 6), random_problem(seed + 1000, 5))
    value, ceiling = optimum(problem), split(problem, Watch()).ceiling
    for floor in (value, value + 1, value + 2, value + 3, value + 100):
        outcome = search(problem, Watch(), Start(floor=floor))
        assert value <= outcome.bound <= ceiling, floor


def test_pieces_that_do_not_exceed_their_floors_leave_the_whole_at_its_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        searching,
        "_searched",
        lambda problem, watch, start: SearchOutcome(np.arange(problem.size), 0, 0, start.floor),
    )
    reduced = split(beside(random_problem(0, 24), random_problem(1, 24)), Watch())
    outcome = search_split(reduced, Watch(), Start(floor=reduced.ceiling - 3))
    assert len(reduced.pieces) > 1 and outcome.bound == reduced.ceiling - 3


def test_the_cuts_of_all_pieces_are_expressed_in_the_nodes_of_the_whole() -> None:
    one, other = random_problem(0, 24), random_problem(1, 24)
    reduced = split(beside(one, other), Watch())
    large = [piece for piece in reduced.pieces if len(piece.nodes) > searching.TINY]
    cuts = search_split(reduced, Watch()).cuts
    used = {*cuts.triangles.ravel().tolist(), *(node for star in cuts.stars for node in star)}
    assert len(large) > 1
    for piece in large:
        own = {*reduced.firsts[piece.nodes].tolist()}
        assert used & own
        used -= own
    assert not used


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(40))
def test_what_is_remembered_of_a_piece_is_its_optimum_whatever_bound_and_floor_the_whole_had(
    seed: int,
) -> None:
    sizes = ((5, 7), (6, 5))[seed % 2]
    problem = beside(random_problem(seed, sizes[0]), random_problem(seed + 1000, sizes[1]))
    value, reduced = optimum(problem), split(problem, Watch())
    for floor, bound in ((value, 0), (value + 3, value), (NO_FLOOR, value), (value - 1, value)):
        remembered: dict[bytes, SearchOutcome] = {}
        search_split(reduced, Watch(), Start(floor=floor, bound=bound), remembered=remembered)
        for piece in reduced.pieces:
            assert isinstance(piece.problem, Problem)
            if piece.key in remembered:
                assert remembered[piece.key].value == optimum(piece.problem)


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(20))
def test_a_known_clustering_of_a_piece_does_not_lower_its_bound(seed: int) -> None:
    problem = beside(random_problem(seed, 6), random_problem(seed + 1000, 5))
    found = enumerate_optima(problem)
    assert found is not None
    start = Start(bound=found.value, known=found.first)
    outcome = search_split(split(problem, Watch()), Watch(), start)
    assert (outcome.value, outcome.bound) == (found.value, found.value)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_remembered_takes_no_time_and_is_searched_again_only_for_a_proof(seed: int) -> None:
    problem = random_problem(seed, 24)
    reduced, remembered = split(problem, Watch()), dict[bytes, SearchOutcome]()
    late = Watch(stop=Stop.TIME)
    assert not search_split(reduced, late).proven
    value = search_split(reduced, Watch(), remembered=remembered).value
    again = search_split(reduced, late, remembered=remembered)
    assert again.proven and again.value == value
    recorded = split(problem, Watch(), record=True)
    assert search_split(recorded, late, Start(record=True), remembered=remembered).proof is None
    shown = search_split(recorded, Watch(), Start(record=True), remembered=remembered)
    assert shown.proof is not None and shown.value == value
    assert search_split(recorded, late, Start(record=True), remembered=remembered).proof == shown.proof


@pytest.mark.parametrize("seed", range(6))
def test_what_a_warm_start_leads_to_is_not_remembered(seed: int) -> None:
    """Where a search starts may decide which of several optima it finds."""
    problem = random_problem(seed, 24)
    reduced, remembered = split(problem, Watch()), dict[bytes, SearchOutcome]()
    assert search_split(reduced, Watch(), Start(cuts=first_cuts(problem)), remembered=remembered).proven
    assert not any(len(piece.nodes) > searching.TINY and piece.key in remembered for piece in reduced.pieces)


def test_a_bound_is_lowered_to_a_value_that_clusterings_can_have() -> None:
    problem = Problem(np.array([[0, 6, -3], [6, 0, 9], [-3, 9, 0]]), np.zeros((3, 3), dtype=bool))
    assert [Start(bound=bound).lowered(problem) for bound in (14, 12, 99)] == [12, 12, 15]
    assert COLD.lowered(problem) == 15


def test_a_contracted_start_names_groups_by_their_first_node() -> None:
    point = np.arange(16.0).reshape(4, 4)
    triangles = np.array([[0, 1, 3], [0, 1, 2]])
    problem = Problem(
        np.ones((4, 4), dtype=np.int64) - np.eye(4, dtype=np.int64), np.zeros((4, 4), dtype=bool)
    )
    groups = np.array([0, 1, 0, 2])
    small, constant = problem.contract(groups)
    cuts = Cuts(triangles, (), np.array([0.5, 0.25]))
    start = Start(cuts=cuts, near=Nearby(point, {}), bound=7).contracted(groups, small, constant)
    assert start.bound == 7 - 1
    assert start.near is not None
    assert start.near.x.tolist() == point[np.ix_([0, 1, 3], [0, 1, 3])].tolist()
    assert (start.cuts.triangles.tolist(), start.cuts.weights.tolist()) == ([[0, 1, 2]], [0.5])


def test_a_piece_gets_its_own_part_of_a_start() -> None:
    point = np.arange(16.0).reshape(4, 4)
    problem = Problem(np.zeros((2, 2), dtype=np.int64), np.zeros((2, 2), dtype=bool))
    start = Start(near=Nearby(point, {})).within(np.array([-1, 1, 0, 1]), problem, 5)
    assert start.bound == 5
    assert start.near is not None
    assert start.near.x.tolist() == point[np.ix_([2, 1], [2, 1])].tolist()


def test_a_piece_that_is_too_large_to_be_written_down_takes_nothing_of_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splitting, "WRITTEN_OUT", 2)
    monkeypatch.setattr(splitting, "LARGEST_MATRIX", 5)
    tried = 0
    for seed in range(20):
        sparse = random_listing(seed, 20)
        reduced, cuts = split(sparse, Watch()), first_cuts(sparse.dense())
        start = Start(cuts=cuts, near=Nearby(np.eye(20), {}), bound=reduced.ceiling)
        warm, cold = (search_split(reduced, Watch(), one) for one in (start, COLD))
        assert np.array_equal(warm.labels, cold.labels), seed
        large = any(isinstance(piece.problem, SparseProblem) for piece in reduced.pieces)
        tried += large and any(len(star) > 3 for star in cuts.stars)
    assert tried > 3


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Start]]:
    """Collect the sizes of all problems that are relaxed, and where each begins."""
    seen: list[tuple[int, Start]] = []

    class Noted(searching.CuttingPlanes):
        def run(self, labels: Labels) -> SearchOutcome:
            seen.append((self.problem.size, self.start))
            return super().run(labels)

    monkeypatch.setattr(searching, "CuttingPlanes", Noted)
    return seen


def test_branches_begin_at_the_point_and_bound_above_them(
    searched: list[tuple[int, Start]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "TINY", 2)
    for seed in range(12):
        assert search(random_problem(seed, 24), Watch()).proven
    (_, root), *_ = searched
    below = [(size, start) for size, start in searched if start.near is not None]
    assert root.near is None and root.bound is None
    assert below
    for size, start in below:
        assert start.near is not None and start.near.x.shape == (size, size)
        assert start.bound is not None


def test_a_known_clustering_that_is_not_allowed_counts_as_all_alone() -> None:
    problem = beside(random_problem(0, 24), random_problem(1, 24))
    together, reduced, values = np.zeros(problem.size, dtype=np.intp), split(problem, Watch()), list[int]()

    def found(labels: Labels, value: int) -> None:
        assert problem.value(labels) == value
        values.append(value)

    large = [piece.problem for piece in reduced.pieces if len(piece.nodes) > searching.TINY]
    assert len(large) > 1
    assert all(piece.value(np.zeros(piece.size, dtype=np.intp)) is None for piece in large)
    outcome = search_split(reduced, Watch(), Start(known=together, on_found=found))
    assert values[0] < outcome.value == values[-1]
