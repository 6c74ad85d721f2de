"""Whatever the solver of the relaxation says, the bound made from it is safe: each check on the way."""

from time import monotonic
from typing import Any

import numpy as np
import pytest

from caspr.engines.native.partition import lp
from caspr.engines.native.partition.cuts import NO_CUTS, Cuts, Floats
from caspr.engines.native.partition.lp import Nearby, Point, decided, program_of, relax
from caspr.engines.native.partition.problem import Demand, Problem
from caspr.engines.native.partition.search import first_cuts
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import random_problem

TRIANGLE = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
"""Of two pairs that gain 2 each only one can be had: the third costs 5."""


def problem_of(
    gains: dict[tuple[int, int], int], size: int = 3, forbidden: tuple[int, int] | None = None
) -> Problem:
    matrix, barred = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=bool)
    for (one, other), gain in gains.items():
        matrix[one, other] = matrix[other, one] = gain
    if forbidden:
        barred[forbidden] = barred[forbidden[::-1]] = True
    return Problem(matrix, barred)


def cuts_of(*triangles: tuple[int, int, int]) -> Cuts:
    rows = np.array(triangles, dtype=np.intp).reshape(-1, 3)
    return Cuts(rows, (), np.arange(1.0, len(triangles) + 1.0))


CENTRE = cuts_of((0, 1, 2))


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes a bound from what a solver might say."""

    def point(problem: Problem, cuts: Cuts, duals: list[float], values: Floats | None = None) -> Point:
        columns = len(program_of(problem, cuts).gains)
        said = np.zeros(columns) if values is None else values
        monkeypatch.setattr(lp, "maximise", lambda *_, **__: (said, np.array(duals)))
        found = relax(problem, cuts, watch=Watch())
        assert found is not None
        return found

    return point


def test_multipliers_lower_the_bound(answer: Any) -> None:
    problem = problem_of(TRIANGLE)
    assert [answer(problem, CENTRE, [dual]).bound(1) for dual in (0.0, 1.0, 2.0, 2.5)] == [4, 3, 2, 2]
    point = answer(problem, CENTRE, [2.0])
    assert (point.shift, point.multipliers.tolist()) == (20, [2 << 20])
    assert (point.reduced >> 20).tolist() == [[0, 0, 0], [0, 0, -3], [0, -3, 0]]
    assert point.slack.tolist() == [1.0]


@pytest.mark.parametrize("dual", [-1.0, -1e30, float("nan"), float("inf"), -float("inf"), 1e30])
def test_absurd_multipliers_count_as_none(answer: Any, dual: float) -> None:
    point = answer(problem_of(TRIANGLE), CENTRE, [dual])
    assert (point.multipliers.tolist(), point.bound(1)) == ([0], 4)


def test_one_multiplier_that_is_no_number_leaves_the_others(answer: Any) -> None:
    point = answer(problem_of(TRIANGLE), cuts_of((1, 0, 2), (0, 1, 2)), [float("nan"), 2.0])
    assert (point.multipliers.tolist(), point.bound(1)) == ([0, 2 << 20], 2)


def test_multipliers_are_at_most_the_mass_of_all_gains(answer: Any) -> None:
    mass = 2 * (2 + 2 + 5)
    problem = problem_of(TRIANGLE)
    assert answer(problem, CENTRE, [float(mass)]).multipliers.tolist() == [mass << 20]
    assert answer(problem, CENTRE, [mass + 0.001]).multipliers.tolist() == [0]


def test_the_unit_is_larger_where_gains_are_large(answer: Any) -> None:
    shifts = [
        answer(problem_of({pair: gain * factor for pair, gain in TRIANGLE.items()}), CENTRE, [0.0]).shift
        for factor in (1, 1 << 30, 1 << 36, 1 << 45)
    ]
    assert shifts == [20, 20, 60 - (18 << 36).bit_length(), 60 - (18 << 45).bit_length()]


def test_no_gains_at_all(answer: Any) -> None:
    point = answer(problem_of({}), CENTRE, [0.0])
    assert (point.bound(1), point.shift) == (0, 20)


def test_a_point_lies_between_0_and_1(answer: Any) -> None:
    point = answer(problem_of(TRIANGLE), CENTRE, [0.0], np.array([-0.5, 1.75, 0.25]))
    assert point.x.tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.25], [1.0, 0.25, 1.0]]


def test_columns_are_pairs_that_gain_or_are_in_a_cut() -> None:
    gains = {(0, 1): 3, (0, 2): -1, (1, 3): -2, (2, 3): 0}
    problem = problem_of(gains, size=4)

    def columns(*triangles: tuple[int, int, int]) -> list[tuple[int, int]]:
        program = program_of(problem, cuts_of(*triangles))
        return list(zip(program.first.tolist(), program.second.tolist(), strict=True))

    assert columns() == [(0, 1)]
    assert columns((0, 2, 3)) == [(0, 1), (0, 2), (0, 3), (2, 3)]
    assert columns((3, 1, 2)) == [(0, 1), (1, 2), (1, 3), (2, 3)]


def test_a_forbidden_pair_has_no_column() -> None:
    problem = problem_of({(0, 1): 3, (0, 2): 3}, forbidden=(1, 2))
    program = program_of(problem, CENTRE)
    assert program.gains.tolist() == [3, 3]
    assert program.rows.columns.tolist() == [0, 1] and program.rows.signs.tolist() == [1, 1]


def test_the_first_column_is_in_rows_like_any_other() -> None:
    program = program_of(problem_of(TRIANGLE), cuts_of((0, 1, 2), (1, 0, 2)))
    assert program.rows.starts.tolist() == [0, 3, 6]
    assert program.rows.columns.tolist() == [0, 1, 2, 0, 2, 1]
    assert program.rows.signs.tolist() == [1, 1, -1, 1, 1, -1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any, dict[str, Any]]]:
    """Keep what the solver is asked: program, start, options. It answers with a point and a multiplier."""
    calls = []

    def maximise(program: Any, start: Any, **options: Any) -> Any:
        calls.append((program, start, options))
        return np.array([0.5, 0.5, 0.0]), np.array([2.0])

    monkeypatch.setattr(lp, "maximise", maximise)
    return calls


def test_the_solver_gets_the_relaxation_and_its_limits(asked: list[Any]) -> None:
    watch = Watch(monotonic() + 7.5)
    point = relax(problem_of(TRIANGLE), CENTRE, watch=watch, tolerance=0.25, effort=17)
    assert point is not None and point.bound(1) == 2
    [(program, start, options)] = asked
    assert start is None
    assert options == {"watch": watch, "tolerance": 0.25, "effort": 17, "enough": -np.inf}
    assert program.gains.tolist() == [2.0, 2.0, -5.0]
    assert program.upper.tolist() == [1.0]
    assert (program.rows.columns.tolist(), program.rows.signs.tolist()) == ([0, 1, 2], [1, 1, -1])


def test_the_solver_starts_from_a_point_nearby_and_from_the_weights_of_cuts(asked: list[Any]) -> None:
    near = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]])
    relax(problem_of(TRIANGLE), CENTRE, watch=Watch(), near=Nearby(near, {}))
    [(_, (values, weights), _)] = asked
    assert values.tolist() == [0.1, 0.2, 0.3] and weights.tolist() == [1.0]


def test_a_bound_below_the_goal_is_still_below_it_when_multipliers_are_rounded(asked: list[Any]) -> None:
    """The triangle has three columns, one row and three entries."""
    for factor, shift in ((1, 20), (1 << 45, 60 - (18 << 45).bit_length())):
        problem = problem_of({pair: gain * factor for pair, gain in TRIANGLE.items()})
        relax(problem, CENTRE, watch=Watch(), goal=3 * factor)
        assert asked[-1][2]["enough"] == 3 * factor - 8 / (1 << shift)


@pytest.mark.parametrize("seed", range(30))
def test_a_relaxation_that_reaches_its_goal_bounds_less(seed: int) -> None:
    problem = random_problem(seed, 9)
    cuts = first_cuts(problem)
    point = relax(problem, cuts, watch=Watch())
    assert point is not None
    for goal in (point.bound(1) + 2, point.bound(1) + 5):
        early = relax(problem, cuts, watch=Watch(), goal=goal)
        assert early is not None and early.bound(1) < goal


def test_without_time_there_is_no_point() -> None:
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch(monotonic() - 3)) is None


def test_a_pair_is_decided_only_where_the_other_way_stays_below_the_floor() -> None:
    """The bound is 10 (in halves 20); a pair with a reduced gain of 3 (6) leaves 7 without it."""
    reduced = np.array([[0, 6, -6], [6, 0, 0], [-6, 0, 0]], dtype=np.int64)
    point = Point(np.eye(3), CENTRE, np.array([0]), reduced, 1, 20, np.array([1.0]))

    def pairs(floor: int) -> list[list[list[int]]]:
        return [np.argwhere(np.triu(side)).tolist() for side in decided(point, floor)]

    assert pairs(7) == [[], []]
    assert pairs(8) == [[[0, 1]], [[0, 2]]]
    assert pairs(10) == [[[0, 1]], [[0, 2]]]


def demanding(gain: int) -> Problem:
    """Return two pairs that gain the same, of which the first node of each must have one."""
    matrix = np.zeros((3, 3), dtype=np.int64)
    matrix[0, 1] = matrix[1, 0] = gain
    return Problem(matrix, np.zeros((3, 3), dtype=bool), (Demand(0, 0, (1,), (0,), ((0, 1),)),))


def test_multipliers_of_problems_with_demands_are_believed_up_to_the_mass() -> None:
    problem, mass = demanding(9), 18
    rights = np.ones(2, dtype=np.intp)
    assert lp._usable(problem, np.array([1.0, -1.0]), rights).tolist() == [1, 0]
    assert lp._usable(problem, np.array([1000.0, 17.0]), rights).tolist() == [mass, 17]
    assert lp._usable(problem, np.full(32, 18.0), np.ones(32, dtype=np.intp)).tolist() == [mass] * 32
    assert lp._usable(problem, np.full(33, 18.0), np.ones(33, dtype=np.intp)).tolist() == [0] * 33
    # Without demands, what is more than the mass in sum proves nothing.
    plain = problem_of({(0, 1): 9})
    assert lp._usable(plain, np.array([9.0, 9.0]), rights).tolist() == [9, 9]
    assert lp._usable(plain, np.array([9.0, 10.0]), rights).tolist() == [0, 0]


def test_multipliers_of_problems_with_demands_need_room() -> None:
    one = np.ones(1, dtype=np.intp)
    assert lp._usable(demanding((1 << 52) - 1), np.array([1.0]), one).tolist() == [1]
    assert lp._usable(demanding(1 << 52), np.array([1.0]), one).tolist() == [0]


def test_a_home_is_with_its_first_partner_whatever_they_lose() -> None:
    point = relax(demanding(-5), NO_CUTS, watch=Watch())
    assert point is not None
    assert (point.bound(1), round(point.x[0, 1], 3)) == (-5, 1.0)


def test_a_link_of_two_demands_is_paid_once_and_only_the_first_partner_counts() -> None:
    """0 and 2 must be together for 3; then 1 costs 3 more, as the first partner of 0, and gains only 1."""
    gains, link = problem_of({(0, 1): 1}), (0, 2)
    demands = Demand(0, 0, (1, 2), (3, 3), ((0, 1), link)), Demand(2, 2, (0,), (3,), (link,))
    problem = Problem(gains.gains, gains.forbidden, demands)

    def bound(cuts: Cuts) -> int:
        point = relax(problem, cuts, watch=Watch())
        assert point is not None
        return point.bound(1)

    assert problem.value(np.array([0, 1, 0])) == -3
    assert bound(NO_CUTS) == -2
    assert bound(Cuts.beyond_stars(partner_stars=[(0, (0, 1))])) == -3


def test_the_unit_of_multipliers_leaves_room_for_the_mass() -> None:
    """Masses of 38, 40 and 58 bits."""
    for bits, shift, with_demands in ((38, 20, 15), (40, 20, 13), (58, 2, 0)):
        assert lp._shift(problem_of({(0, 1): 1 << (bits - 2)})) == shift
        assert lp._shift(demanding(1 << (bits - 2))) == with_demands


def test_a_point_within_a_piece_is_that_of_its_nodes() -> None:
    """1 and 3 are the piece's node 0, and 2 is its node 1; 0 is elsewhere."""
    x = np.arange(16.0).reshape(4, 4)
    near = Nearby(x, {7: {0: 0.125, 1: 0.25, 2: 0.5, 3: 0.375}})
    within = near.within(np.array([-1, 0, 1, 0]))
    assert within.x.tolist() == [[5, 6], [9, 10]]
    assert within.first == {7: {0: 0.625, 1: 0.5}}
