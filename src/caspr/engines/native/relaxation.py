"""The linear relaxation, and a bound from it that no rounding error can spoil.

    maximise  sum of w_uv x_uv   subject to   A x <= 1 (stars),  0 <= x <= 1.

HiGHS solves it by interior point without crossover (simplex is very degenerate here) and without
presolve (the duals after postsolve are useless). Its numbers are only advice: *any* multipliers y >= 0
give, by weak duality, for every clustering

    value <= sum of y + sum over pairs of max(0, r_uv),   r = w - A'y   (the reduced gains).

The multipliers are rounded to multiples of 2^-shift and this bound is computed in integers. A pair
with no column has w <= 0 and occurs in no row, so it adds nothing.

Fixing: with bound B, a clustering that departs from the sign of r at one pair has value at most
B - |r_uv|. If that is less than what is already in hand, the pair is decided.
"""

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.stars import Cuts, Floats

SHIFT = 20
"""Multipliers are multiples of 2^-SHIFT, less where gains are so large that 64 bits would overflow."""


@dataclass(frozen=True)
class Point:
    """A solved relaxation."""

    x: Floats
    """The symmetric matrix of the solution, 1 on the diagonal."""
    cuts: Cuts
    """The inequalities it was solved with."""
    multipliers: Ints
    """One multiplier for each cut, triangles first, in units of 2^-shift."""
    reduced: Ints
    """The reduced gain of every pair in the same units: symmetric, 0 for forbidden pairs."""
    shift: int
    """The unit's exponent."""
    scaled: int
    """The bound in the same units: no clustering gains more."""
    slack: Floats
    """By how much each cut is satisfied."""

    def bound(self, step: int) -> int:
        """Return the bound as a value that a clustering could have."""
        return (self.scaled >> self.shift) // step * step


@dataclass(frozen=True)
class Rows:
    """The cuts as a sparse matrix over pairs."""

    starts: Labels
    """Where each row begins."""
    columns: Labels
    """The column of each entry."""
    signs: Ints
    """+1 between centre and leaf, -1 between leaves."""


def relax(problem: Problem, cuts: Cuts, *, seconds: float) -> Point | None:
    """Solve the relaxation with some cuts; `None` if there was no time for it."""
    numbers, first, second = _columns(problem, cuts)
    rows = _rows(cuts, numbers)
    gains = problem.gains[first, second]
    solved = _run(gains, rows, seconds)
    if solved is None:
        return None
    values, duals = solved
    x = np.eye(problem.size)
    x[first, second] = x[second, first] = np.clip(values, 0.0, 1.0)
    return certified(problem, cuts, x, duals)


def certified(problem: Problem, cuts: Cuts, x: Floats, duals: Floats) -> Point:
    """Recompute the bound in integers from multipliers that need not be exact."""
    numbers, first, second = _columns(problem, cuts)
    rows = _rows(cuts, numbers)
    gains = problem.gains[first, second]
    spare = 60 - max(int(np.abs(problem.gains).sum()).bit_length(), 1)
    shift = max(0, min(SHIFT, spare))
    duals = np.maximum(np.nan_to_num(duals), 0.0)
    # Multipliers this large can only be a failed solve, and would overflow; none at all is also valid.
    duals = duals if duals.sum() <= np.abs(problem.gains).sum() else np.zeros_like(duals)
    multipliers = np.floor(duals * (1 << shift)).astype(np.int64)
    spread = np.repeat(multipliers, np.diff(rows.starts)) * rows.signs
    change = np.zeros(len(first), dtype=np.int64)
    np.add.at(change, rows.columns, spread)
    reduced = problem.gains << shift
    line = (gains << shift) - change
    reduced[first, second] = reduced[second, first] = line
    scaled = int(multipliers.sum()) + int(np.maximum(line, 0).sum())
    activity = (
        np.add.reduceat(np.append(x[first, second][rows.columns] * rows.signs, 0.0), rows.starts[:-1])
        if len(cuts)
        else np.empty(0)
    )
    return Point(x, cuts, multipliers, reduced, shift, scaled, 1.0 - activity)


def _columns(problem: Problem, cuts: Cuts) -> tuple[Labels, Labels, Labels]:
    """Number the pairs that need a column: positive gain, or part of some cut."""
    needed = problem.gains > 0
    one, two, three = cuts.triangles.T
    needed[one, two] = needed[one, three] = needed[two, three] = True
    for star in cuts.stars:
        needed[np.ix_(star, star)] = True
    needed = np.triu(needed | needed.T, 1) & ~problem.forbidden
    first, second = np.nonzero(needed)
    numbers = np.full(needed.shape, -1, dtype=np.intp)
    numbers[first, second] = numbers[second, first] = np.arange(len(first))
    return numbers, first, second


def _rows(cuts: Cuts, numbers: Labels) -> Rows:
    """Write the cuts as sparse rows, leaving out pairs without a column."""
    centre, one, other = cuts.triangles.T
    columns = [np.column_stack([numbers[centre, one], numbers[centre, other], numbers[one, other]]).ravel()]
    signs = [np.tile(np.array([1, 1, -1]), len(centre))]
    sizes = [np.full(len(centre), 3)]
    for star in cuts.stars:
        leaves = np.array(star[1:])
        inner = numbers[np.ix_(leaves, leaves)][np.triu_indices(len(leaves), 1)]
        columns.append(np.concatenate([numbers[star[0], leaves], inner]))
        signs.append(np.repeat(np.array([1, -1]), [len(leaves), len(inner)]))
        sizes.append(np.array([len(leaves) + len(inner)]))
    column, size = np.concatenate(columns), np.concatenate(sizes)
    kept = column >= 0
    row = np.repeat(np.arange(len(size)), size)[kept]
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(size)))])
    return Rows(starts, column[kept], np.concatenate(signs)[kept].astype(np.int64))


def _run(gains: Ints, rows: Rows, seconds: float) -> tuple[Floats, Floats] | None:
    """Hand the relaxation to HiGHS; return the point and the multipliers of the rows."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, choice in (
        ("output_flag", False),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("presolve", "off"),
        ("threads", 1),
        ("time_limit", max(seconds, 0.01)),
        ("ipm_optimality_tolerance", 1e-6),
    ):
        solver.setOptionValue(option, choice)
    solver.passModel(_model(gains, rows))
    solver.run()
    solution = solver.getSolution()
    if not (solution.value_valid and solution.dual_valid):
        return None
    return np.array(solution.col_value), -np.array(solution.row_dual)


def _model(gains: Ints, rows: Rows) -> highspy.HighsLp:
    model = highspy.HighsLp()
    columns, count = len(gains), len(rows.starts) - 1
    model.num_col_, model.num_row_ = columns, count
    model.col_cost_ = -gains.astype(np.float64)
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.ones(columns)
    model.row_lower_, model.row_upper_ = np.full(count, -highspy.kHighsInf), np.ones(count)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = rows.starts
    model.a_matrix_.index_ = rows.columns
    model.a_matrix_.value_ = rows.signs.astype(np.float64)
    return model


def decided(point: Point, floor: int) -> tuple[Bools, Bools]:
    """Find the pairs that every clustering of value `floor` or more puts together, and apart."""
    threshold = point.scaled - (floor << point.shift)
    together: NDArray[np.bool_] = point.reduced > threshold
    apart: NDArray[np.bool_] = -point.reduced > threshold
    return together, apart
