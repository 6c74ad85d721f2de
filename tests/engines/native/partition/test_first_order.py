"""The first-order method comes as near to the optimum as asked, and its bound holds after every step."""

from itertools import count
from time import monotonic

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from caspr.engines.native.partition import first_order
from caspr.engines.native.partition.first_order import Floats, LinearProgram, Rows, maximise
from caspr.engines.native.partition.watch import Watch


def program_of(gains: list[float], matrix: list[list[int]], upper: list[float]) -> LinearProgram:
    sparse = csr_array(np.array(matrix, dtype=np.int64).reshape(len(upper), len(gains)))
    rows = Rows(sparse.indptr.astype(np.intp), sparse.indices.astype(np.intp), sparse.data)
    return LinearProgram(np.array(gains, dtype=float), rows, np.array(upper, dtype=float))


def dense(program: LinearProgram) -> Floats:
    rows = program.rows
    shape = len(program.upper), len(program.gains)
    matrix: Floats = csr_array((rows.signs, rows.columns, rows.starts), shape=shape).toarray().astype(float)
    return matrix


def bound(program: LinearProgram, weights: Floats) -> float:
    """Return what no point exceeds, by weak duality."""
    left = program.gains - dense(program).T @ weights
    return float(program.upper @ weights + np.maximum(left, 0).sum())


def optimum(program: LinearProgram) -> float:
    """Ask SciPy's simplex method."""
    found = linprog(-program.gains, A_ub=dense(program), b_ub=program.upper, bounds=(0, 1), method="highs-ds")
    assert found.success and found.fun is not None
    return -float(found.fun)


def random_program(seed: int) -> LinearProgram:
    """Make a program that all zeros satisfy, apart from a demand for one of some columns now and then."""
    random = np.random.default_rng(seed)
    columns, rows = int(random.integers(3, 25)), int(random.integers(1, 40))
    matrix = random.choice([-1, 0, 0, 1, 2], (rows, columns))
    upper = random.integers(0, 3, rows).astype(float)
    if seed % 3 == 0:
        matrix[0] = -(random.random(columns) < 0.5).astype(int)
        matrix[0, 0], upper[0] = -1, -1.0
        matrix[1:, 0] = 0
    gains = random.integers(-5, 12, columns).astype(float)
    return program_of(gains.tolist(), matrix.tolist(), upper.tolist())


@pytest.mark.parametrize("seed", range(60))
def test_point_and_bound_come_as_near_as_asked(seed: int) -> None:
    program = random_program(seed)
    best = optimum(program)
    solved = maximise(program, watch=Watch(), tolerance=1e-6)
    assert solved is not None
    values, weights = solved
    assert (weights >= 0).all() and ((values >= 0) & (values <= 1)).all()
    assert bound(program, weights) == pytest.approx(best, abs=1e-3)
    assert program.gains @ values == pytest.approx(best, abs=1e-3)
    assert (dense(program) @ values <= program.upper + 1e-3).all()


@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_the_bound_holds_however_early_the_search_ends(seed: int) -> None:
    program = random_program(seed)
    best = optimum(program)
    bounds = []
    for steps in (1, 2, 5, 16, 40, 300):
        solved = maximise(program, watch=Watch(), tolerance=0.0, effort=steps * program.entries)
        assert solved is not None
        bounds.append(bound(program, solved[1]))
    assert min(bounds) >= best - 1e-9
    assert bounds[-1] <= bounds[0]


def test_a_low_bound_is_enough() -> None:
    """Of two columns only one can be had."""
    program = program_of([2, 2], [[1, 1]], [1])
    for enough in (3.9, 3.0, 2.1):
        solved = maximise(program, watch=Watch(), tolerance=0.0, enough=enough)
        assert solved is not None
        assert 2 <= bound(program, solved[1]) < enough


class Steps:
    """Counts the looks at the clock: one before the first step and one after each."""

    def __init__(self, stop_after: float = float("inf")) -> None:
        self.looks, self.stop_after = count(), stop_after

    def watch(self) -> Watch:
        return Watch(cancelled=lambda: next(self.looks) >= self.stop_after)

    @property
    def taken(self) -> int:
        return next(self.looks) - 1


def test_effort_limits_the_steps_by_the_entries_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of([3, 5, 4], [[1, 1, -1], [1, -1, 1], [-1, 1, 1], [1, 1, 1]], [1, 1, 1, 2])
    entries = 1 + 12 + 3 + 4

    def steps(effort: int | None) -> int:
        seen = Steps()
        assert maximise(program, watch=seen.watch(), tolerance=-1.0, effort=effort) is not None
        return seen.taken

    assert [steps(effort) for effort in (50 * entries, 50 * entries - 1, 0)] == [50, 49, 1]
    monkeypatch.setattr(first_order, "STEPS", 70)
    assert [steps(effort) for effort in (None, 1 << 40)] == [70, 70]
    monkeypatch.setattr(first_order, "LARGE", 10)
    assert steps(50 * entries) == 70 and steps(500) == 50


def test_the_last_multipliers_are_looked_at_too() -> None:
    """Otherwise all of these would return the multipliers after the first step."""
    program = random_program(1)
    answers = set()
    for steps in (2, 5, 9):
        solved = maximise(program, watch=Watch(), tolerance=0.0, effort=steps * program.entries)
        assert solved is not None
        answers.add(solved[1].tobytes())
    assert len(answers) == 3


def test_without_time_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of([2, 2], [[1, 1]], [1])
    assert maximise(program, watch=Watch(monotonic() - 1), tolerance=0.1) is None
    assert maximise(program, watch=Watch(cancelled=lambda: True), tolerance=0.1) is None
    monkeypatch.setattr(first_order, "ENTRIES_PER_SECOND", 0.01)
    assert maximise(program, watch=Watch(monotonic() + 100), tolerance=0.1) is None
    assert maximise(program, watch=Watch(monotonic() + 10_000), tolerance=0.1) is not None


def test_a_limit_is_noticed_after_every_step() -> None:
    program = program_of([2, 2], [[1, 1]], [1])
    for stop_after in (1, 2, 7):
        seen = Steps(stop_after)
        assert maximise(program, watch=seen.watch(), tolerance=-1.0) is not None
        assert seen.taken == stop_after


def test_a_solved_program_is_left_at_the_first_look() -> None:
    program = random_program(5)
    solved = maximise(program, watch=Watch(), tolerance=1e-9)
    assert solved is not None
    seen = Steps()
    again = maximise(program, solved, watch=seen.watch(), tolerance=1e-6)
    assert again is not None and seen.taken == 0
    assert again[0] == pytest.approx(solved[0], abs=1e-4)


def test_a_start_outside_the_box_is_moved_into_it() -> None:
    program = program_of([2, 2], [[1, 1]], [1])
    start = np.array([7.0, -3.0]), np.array([-4.0])
    solved = maximise(program, start, watch=Watch(), tolerance=1e-6)
    assert solved is not None and bound(program, solved[1]) == pytest.approx(2, abs=1e-4)
    assert start[0].tolist() == [7.0, -3.0] and start[1].tolist() == [-4.0]


@pytest.mark.parametrize(
    ("program", "best"),
    [
        (program_of([2, -3], [], []), 2),
        (program_of([0, 0], [[1, 1]], [1]), 0),
        (program_of([1, 4], [[0, 0], [1, 0]], [1, 0]), 4),
        (program_of([5], [[2]], [1]), 2.5),
        (program_of([-5, -2], [[-1, -1]], [-1]), -2),
        (program_of([1e12, 1e12], [[1, 1]], [1]), 1e12),
    ],
)
def test_odd_programs(program: LinearProgram, best: float) -> None:
    """No rows, no gains, an empty row, a coefficient of 2, a demand, large gains."""
    solved = maximise(program, watch=Watch(), tolerance=1e-7)
    assert solved is not None
    assert bound(program, solved[1]) == pytest.approx(best, rel=1e-5, abs=1e-5)
    assert program.gains @ solved[0] == pytest.approx(best, rel=1e-5, abs=1e-5)


def test_same_program_same_answer() -> None:
    program = random_program(9)
    one, other = (maximise(program, watch=Watch(), tolerance=1e-5) for _ in range(2))
    assert one is not None and other is not None
    assert [part.tobytes() for part in one] == [part.tobytes() for part in other]
