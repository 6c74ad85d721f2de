"""The linear relaxation, and a bound from it that no rounding error can spoil.

    maximise  sum of w_uv x_uv   subject to   A x <= b (`cuts`),  0 <= x <= 1.

A first-order method solves it (`first_order`): a rough answer suffices, and each round starts from the
answer of the last. Interior point takes 10 to 50 times as long here, and simplex, very degenerate, longer
still. The solver's numbers are only advice: *any* multipliers y >= 0 give, by weak duality, for every
clustering

    value <= sum of b y + sum over pairs of max(0, r_uv),   r = w - A'y   (the reduced gains).

The multipliers are rounded to multiples of 2^-shift and this bound is computed in integers
(`safe_bound`). A pair with no column has w <= 0 and occurs in no row, so it adds nothing.

Fixing: with bound B, a clustering that departs from the sign of r at one pair has value at most
B - |r_uv|. If that is less than a value already reached, the pair is decided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.cuts import Cuts, Floats, Pentagon, TwoPartition
from caspr.engines.native.partition.first_order import LinearProgram, Rows, maximise
from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, exact_sum
from caspr.engines.native.partition.watch import Watch

FINE = 1e-6
"""The relative error of a relaxation solved as well as it is worth."""
SHIFT = 20
"""Multipliers are multiples of 2^-SHIFT; of a larger unit where gains are large."""
ROOM = 60
"""The mass of a problem, in units of its multipliers, stays below 2^ROOM."""


@dataclass(frozen=True)
class Point:
    """A solved relaxation."""

    x: Floats
    """The symmetric matrix of the solution, 1 on the diagonal."""
    cuts: Cuts
    """The inequalities it was solved with."""
    multipliers: Ints
    """One multiplier for each row, triangles first, then other stars, in units of 2^-shift."""
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
class Program:
    """The relaxation of a problem with some cuts."""

    cuts: Cuts
    """The inequalities."""
    gains: Ints
    """The gain of each column."""
    first: Labels
    """The smaller node of each column's pair."""
    second: Labels
    """The other node."""
    rows: Rows
    """The cuts over the columns."""


def relax(
    problem: Problem,
    cuts: Cuts,
    *,
    watch: Watch,
    tolerance: float = FINE,
    near: Floats | None = None,
    effort: int | None = None,
    goal: int | None = None,
) -> Point | None:
    """Solve the relaxation with some cuts, up to a relative error; `None` if there was no time for it.

    What is not solved after some effort is left as it is (`maximise`), and so is one whose bound is below a
    goal. The search starts from a point nearby, if one is given, and from the weights of the cuts.
    """
    program = full_program(problem, cuts)
    start = None if near is None else (near[program.first, program.second], cuts.weights)
    upper = cuts.rights.astype(np.float64)
    model = LinearProgram(program.gains.astype(np.float64), program.rows, upper)
    # Rounding a multiplier down raises the reduced gain of each pair in its row by one unit at most.
    enough = -np.inf if goal is None else goal - model.entries * 2.0 ** -_shift(problem)
    solved = maximise(model, start, watch=watch, tolerance=tolerance, effort=effort, enough=enough)
    if solved is None:
        return None
    values, duals = solved
    return safe_bound(problem, program, np.clip(values, 0.0, 1.0), duals)


def _shift(problem: Problem) -> int:
    """Return the exponent of the unit in which multipliers are counted."""
    return min(SHIFT, ROOM - _mass(problem).bit_length())


def _mass(problem: Problem) -> int:
    return int(np.abs(problem.gains).sum())


def safe_bound(problem: Problem, program: Program, values: Floats, duals: Floats) -> Point:
    """Recompute the bound in integers from multipliers that need not be exact.

    No number wraps. In units of 2^-shift the mass of the problem is below 2^60 by the choice of the
    shift, which is at least 0 because a mass never exceeds 2^58. All multipliers together, each times
    its right side, are at most the mass, up to a float's rounding, so below 2^61. A row holds each pair at
    most once, so the multipliers change a pair's gain by less than 2^61, and every reduced gain is below
    2^60 + 2^61. But a star has its multiplier at each pair of its leaves, so the reduced gains may add up to
    far more than 64 bits: `exact_sum` adds them.
    """
    rows, first, second = program.rows, program.first, program.second
    mass, shift = _mass(problem), _shift(problem)
    duals = np.maximum(np.nan_to_num(duals), 0.0)
    # Multipliers this large can only be a failed solve; none at all is also valid.
    rights = program.cuts.rights
    duals = duals if duals @ rights <= mass else np.zeros_like(duals)
    multipliers = np.floor(duals * (1 << shift)).astype(np.int64)
    spread = np.repeat(multipliers, np.diff(rows.starts)) * rows.signs
    change = np.zeros(len(first), dtype=np.int64)
    np.add.at(change, rows.columns, spread)
    reduced = problem.gains << shift
    line = (program.gains << shift) - change
    reduced[first, second] = reduced[second, first] = line
    scaled = int(multipliers @ rights) + exact_sum(np.maximum(line, 0))
    x = np.eye(problem.size)
    x[first, second] = x[second, first] = values
    activity: Floats = np.bincount(
        np.repeat(np.arange(len(program.cuts)), np.diff(rows.starts)),
        weights=values[rows.columns] * rows.signs,
        minlength=len(program.cuts),
    ).astype(np.float64)
    cuts = program.cuts.weighing(duals)
    return Point(x, cuts, multipliers, reduced, shift, scaled, rights - activity)


def program_of(problem: Problem, cuts: Cuts, also: Bools | None = None) -> Program:
    """Write the relaxation down: columns for pairs of positive gain or in some cut, rows for cuts.

    Pairs in `also` get a column, too. What is not a star is left to `full_program`.
    """
    needed = problem.gains > 0
    if also is not None:
        needed |= also
    mark_pairs(needed, cuts)
    needed = np.triu(needed | needed.T, 1) & ~problem.forbidden
    first, second = np.nonzero(needed)
    numbers = np.full(needed.shape, -1, dtype=np.intp)
    numbers[first, second] = numbers[second, first] = np.arange(len(first))
    return Program(cuts, problem.gains[first, second], first, second, rows_of(cuts, numbers))


def mark_pairs(marked: Bools, cuts: Cuts) -> None:
    """Mark all pairs that occur in some cut."""
    for _, stars in cuts.by_size:
        for one, two in _sides(stars.shape[1]):
            marked[stars[:, one], stars[:, two]] = True


def full_program(problem: Problem, cuts: Cuts) -> Program:
    """Write the relaxation down with the rows of what is not a star behind those of stars."""
    program = program_of(problem, cuts, _inside_others(problem, cuts))
    return replace(program, rows=_with_others(program, problem.size))


def _inside_others(problem: Problem, cuts: Cuts) -> Bools | None:
    """Mark the pairs in two-partitions and pentagons, if there are any."""
    # mutant: equivalent (never), because nothing is marked below, only more slowly
    if not cuts.others:
        return None
    inside = np.zeros_like(problem.forbidden)
    for one, other in cuts.two_partitions:
        inside[np.ix_((*one, *other), (*one, *other))] = True
    for first, second in _around(cuts.pentagons):
        inside[first, second] = inside[second, first] = True
    return inside


def _with_others(program: Program, size: int) -> Rows:
    """Return the rows of a program with those behind them that are not stars."""
    cuts, rows = program.cuts, program.rows
    # mutant: equivalent (never), because nothing is added below, only more slowly
    if not cuts.others:
        return rows
    numbers = np.full((size, size), -1, dtype=np.intp)
    numbers[program.first, program.second] = numbers[program.second, program.first] = np.arange(
        len(program.first)
    )
    stars = len(cuts) - cuts.others
    lengths, columns, signs = [np.diff(rows.starts)[:stars]], [rows.columns], [rows.signs]
    for added, taken in (*map(_across, cuts.two_partitions), _around(cuts.pentagons)):
        entries = np.concatenate([numbers[added], numbers[taken]], axis=1)
        sign = np.repeat(np.array([1, -1], dtype=np.int64), [added[0].shape[1], taken[0].shape[1]])
        # Forbidden pairs have no column.
        present = entries >= 0
        lengths.append(present.sum(axis=1))
        columns.append(entries[present])
        signs.append(np.broadcast_to(sign, entries.shape)[present])
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Rows(starts, np.concatenate(columns), np.concatenate(signs))


PairsOfNodes = tuple[Labels, Labels]
"""The first and the second nodes of some pairs, one line for each inequality."""


def _across(sides: TwoPartition) -> tuple[PairsOfNodes, PairsOfNodes]:
    """Return the pairs between two sets of nodes, and those inside them."""
    inside = [pair for side in sides for pair in combinations(side, 2)]
    added, taken = np.array(list(product(*sides))), np.array(inside)
    return (added[None, :, 0], added[None, :, 1]), (taken[None, :, 0], taken[None, :, 1])


def _around(pentagons: Sequence[Pentagon]) -> tuple[PairsOfNodes, PairsOfNodes]:
    """Return the sides and the diagonals of rings."""
    nodes = np.array(pentagons, dtype=np.intp).reshape(-1, 5)
    return (nodes, np.roll(nodes, -1, axis=1)), (nodes, np.roll(nodes, -2, axis=1))


def _sides(size: int) -> Iterator[tuple[Labels, Labels]]:
    """Yield the pairs of places in a star: centre with leaves, leaves with leaves."""
    leaves = np.arange(1, size)
    yield np.zeros_like(leaves), leaves
    one, two = np.triu_indices(size - 1, 1)
    yield one + 1, two + 1


def rows_of(cuts: Cuts, numbers: Labels) -> Rows:
    """Write the cuts as sparse rows, leaving out pairs without a column."""
    row, column, sign = [], [], []
    for positions, stars in cuts.by_size:
        for (one, two), value in zip(_sides(stars.shape[1]), (1, -1), strict=True):
            entries = numbers[stars[:, one], stars[:, two]]
            line, place = np.nonzero(entries >= 0)
            row.append(positions[line])
            column.append(entries[line, place])
            sign.append(np.full(len(line), value, dtype=np.int64))
    rows, columns, signs = np.concatenate(row), np.concatenate(column), np.concatenate(sign)
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(cuts)))])
    return Rows(starts, columns[order], signs[order])


def decided(point: Point, floor: int) -> tuple[Bools, Bools]:
    """Find the pairs that every clustering of value `floor` or more puts together, and apart."""
    # The gap is Python's integer, of any size; NumPy compares it exactly with reduced gains of 64 bits.
    gap = point.scaled - (floor << point.shift)
    together: NDArray[np.bool_] = point.reduced > gap
    apart: NDArray[np.bool_] = -point.reduced > gap
    return together, apart
