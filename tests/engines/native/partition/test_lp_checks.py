"""Whatever the solver of the relaxation says, the bound made from it is safe: each check on the way."""

from threading import Event, Timer
from time import monotonic
from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
import pytest

from caspr.engines.native.partition import lp
from caspr.engines.native.partition.cuts import Cuts, Floats
from caspr.engines.native.partition.lp import Point, decided, program_of, relax
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.watch import Watch

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
        monkeypatch.setattr(lp, "run", lambda *_, **__: (said, np.array(duals)))
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


class Solver:
    """Stands in for HiGHS and keeps what it is given."""

    def __init__(self, *, value_valid: bool = True, dual_valid: bool = True, slices: int = 1) -> None:
        self.slices = slices
        self.options: dict[str, Any] = {}
        self.models: list[Any] = []
        self.starts: list[Any] = []
        self.runs = 0
        self._valid = {"value_valid": value_valid, "dual_valid": dual_valid}

    def setOptionValue(self, name: str, value: Any) -> None:  # noqa: N802
        self.options[name] = value

    def passModel(self, model: Any) -> None:  # noqa: N802
        self.models.append(model)

    def setSolution(self, solution: Any) -> None:  # noqa: N802
        self.starts.append(solution)

    def run(self) -> None:
        self.runs += 1

    def getRunTime(self) -> float:  # noqa: N802
        return 100.0

    def getModelStatus(self) -> Any:  # noqa: N802
        more = self.runs < self.slices
        return highspy.HighsModelStatus.kIterationLimit if more else highspy.HighsModelStatus.kOptimal

    def getSolution(self) -> Any:  # noqa: N802
        return SimpleNamespace(col_value=[0.5, 0.5, 0.0], row_dual=[-2.0], **self._valid)


def test_the_solver_gets_the_relaxation_and_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    point = relax(problem_of(TRIANGLE), CENTRE, watch=Watch(monotonic() + 7.5), tolerance=0.25)
    assert point is not None and point.bound(1) == 2
    assert (solver.runs, solver.starts) == (1, [])
    assert 100 < solver.options["time_limit"] <= 107.5 and solver.options["kkt_tolerance"] == 0.25
    assert solver.options["presolve"] == "off" and solver.options["threads"] == 1
    assert solver.options["output_flag"] is False
    (model,) = solver.models
    assert (model.num_col_, model.num_row_) == (3, 1)
    assert list(model.col_cost_) == [-2.0, -2.0, 5.0]


def test_the_solver_starts_from_a_point_nearby_and_from_the_weights_of_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = Solver()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    near = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]])
    relax(problem_of(TRIANGLE), CENTRE, watch=Watch(), near=near)
    (start,) = solver.starts
    assert list(start.col_value) == [0.1, 0.2, 0.3] and list(start.row_dual) == [-1.0]


def test_a_solver_is_not_started_when_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch(monotonic() - 3)) is None
    assert solver.runs == 0


def test_a_solver_runs_in_slices_until_it_is_done_or_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lp, "SLICE", 100)
    monkeypatch.setattr(lp, "ITERATIONS", 10_000)
    solver = Solver(slices=4)
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch()) is not None
    assert (solver.runs, solver.options["pdlp_iteration_limit"]) == (4, lp.SHORTEST)
    solver = Solver(slices=1000)
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch()) is not None
    assert solver.runs == 10_000 // lp.SHORTEST
    solver = Solver(slices=1000)
    point = relax(problem_of(TRIANGLE), CENTRE, watch=Watch(cancelled=lambda: solver.runs == 3))
    assert point is not None and solver.runs == 3


def test_a_slice_is_as_long_as_the_relaxation_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The triangle has three columns, one row and three entries."""
    solver = Solver()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    for limit, steps in ((8 * 1000, 1000), (8 * 1000 - 1, 999), (1 << 40, lp.ITERATIONS), (1, lp.SHORTEST)):
        monkeypatch.setattr(lp, "SLICE", limit)
        relax(problem_of(TRIANGLE), CENTRE, watch=Watch())
        assert solver.options["pdlp_iteration_limit"] == steps


def test_a_solver_is_not_started_if_taking_the_relaxation_in_takes_longer_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = Solver()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    monkeypatch.setattr(lp, "ENTRIES_PER_SECOND", 0.01)
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch(monotonic() + 100)) is None
    assert solver.runs == 0
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch(monotonic() + 10_000)) is not None


def test_a_long_run_is_left_when_the_search_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lp, "QUICK", 0)
    going_on = Event()

    class Slow(Solver):
        def run(self) -> None:
            super().run()
            going_on.wait(20)

    solver = Slow()
    monkeypatch.setattr(highspy, "Highs", lambda: solver)
    point = relax(problem_of(TRIANGLE), CENTRE, watch=Watch(cancelled=lambda: solver.runs > 0))
    going_on.set()
    assert point is None
    going_on.clear()
    solver = Slow()
    Timer(4 * lp.POLL, going_on.set).start()
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch()) is not None


@pytest.mark.parametrize("missing", ["value_valid", "dual_valid"])
def test_an_answer_without_a_point_or_without_multipliers_is_none(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highspy, "Highs", lambda: Solver(**{missing: False}))
    assert relax(problem_of(TRIANGLE), CENTRE, watch=Watch()) is None


def test_a_pair_is_decided_only_where_the_other_way_stays_below_the_floor() -> None:
    """The bound is 10 (in halves 20); a pair with a reduced gain of 3 (6) leaves 7 without it."""
    reduced = np.array([[0, 6, -6], [6, 0, 0], [-6, 0, 0]], dtype=np.int64)
    point = Point(np.eye(3), CENTRE, np.array([0]), reduced, 1, 20, np.array([1.0]))

    def pairs(floor: int) -> list[list[list[int]]]:
        return [np.argwhere(np.triu(side)).tolist() for side in decided(point, floor)]

    assert pairs(7) == [[], []]
    assert pairs(8) == [[[0, 1]], [[0, 2]]]
    assert pairs(10) == [[[0, 1]], [[0, 2]]]
