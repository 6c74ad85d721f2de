"""A first-order method for linear programs whose variables lie between 0 and 1.

    maximise  c x   subject to   A x <= b,  0 <= x <= 1,    with multipliers y >= 0 for the rows.

One *step* moves the point uphill, then the multipliers by what the point, moved as far again, exceeds
(primal-dual hybrid gradient, Chambolle and Pock 2011):

    x' = clip(x + (c - A'y) / (w C), 0, 1)        C: the sums of |A| over columns
    y' = max(y + w (A (2 x' - x) - b) / R, 0)     R: the sums of |A| over rows

These sums keep the steps small enough to converge, for every *balance* w > 0 between the two. The next
iterate reflects the step and returns a little to where the stretch began (Halpern's iteration, as in Lu
and Yang 2024):

    z := (k+1)/(k+2) (2 z' - z) + 1/(k+2) z0      z = (x, y), k = 0, 1, ... in a stretch

When the steps have become short, a new stretch begins at z', with a balance that shifts towards where both
moved equally far.

What is asked of it is a *bound*: b y + sum of max(0, c - A'y), of whatever multipliers there are. The best
of all that were looked at are returned, and the search ends as soon as their bound is low enough for the
caller. All this is only advice: whoever uses the multipliers recomputes the bound in integers (`lp`).

There is no library for it: a general solver neither stops at a bound nor at a click, and forgets between
two calls what it could begin with. HiGHS's own first-order method takes 2 to 3 times as long to the same
bound here. Same program, same answer: nothing depends on the clock, and no sum on the number of threads.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.watch import LOOKED, Watch

Floats = NDArray[np.float64]

STEPS = 20_000
"""A program is left as it is after this many steps: the best bound so far is still a bound."""
LARGE = 150_000
"""How many entries a large program has: a limited effort gives all of these as many steps."""
LOOK = 16
"""How many steps there are between two looks at the bound."""
SHORT, SHORTER = 0.8, 0.2
"""A stretch ends when a step is shorter than this share of its first and they grow again; or much shorter."""
STALE = 0.36
"""A stretch ends when it has taken this share of all steps."""
SHIFT = 0.2
"""How far the balance goes to where the point and the multipliers moved equally far, at each new stretch."""
STILL = 1e-10
"""What moves less than this has not moved."""
ENTRIES_PER_SECOND = 2_000_000
"""How many entries are prepared per second before the first step, at least."""


@dataclass(frozen=True)
class Rows:
    """The left sides of inequalities as a sparse matrix."""

    starts: NDArray[np.intp]
    """Where each row begins, and where the last one ends."""
    columns: NDArray[np.intp]
    """The column of each entry."""
    signs: NDArray[np.int64]
    """What it is multiplied by, mostly +1 or -1."""


@dataclass(frozen=True)
class LinearProgram:
    """Maximise `gains` x subject to `rows` x <= `upper`, with x between 0 and 1."""

    gains: Floats
    rows: Rows
    upper: Floats

    @property
    def entries(self) -> int:
        """How much one step passes over."""
        return 1 + len(self.rows.columns) + len(self.gains) + len(self.upper)


@dataclass(frozen=True)
class Look:
    """What is known about a program after a step."""

    bound: float
    """No point gains more."""
    value: float
    excess: float
    """By how much the point exceeds right sides (Euclidean norm)."""
    length: float
    """The length of the step."""


def maximise(
    program: LinearProgram,
    start: tuple[Floats, Floats] | None = None,
    *,
    watch: Watch,
    tolerance: float,
    effort: int | None = None,
    enough: float = -float("inf"),
) -> tuple[Floats, Floats] | None:
    """Return a point and multipliers; `None` if there was no time for a single step.

    The search starts from such a point and multipliers, if given. It ends when the relative error falls to
    the tolerance, when the bound falls below `enough`, after having passed over as many entries as `effort`
    allows (`STEPS` steps at most), or when a limit is reached.
    """
    entries = program.entries
    if watch.expired() or watch.left < entries / ENTRIES_PER_SECOND:
        return None
    steps = STEPS if effort is None else min(effort // min(entries, LARGE), STEPS)
    iteration = _Iteration(program, start)
    lowest, best = float("inf"), iteration.weights
    for number in range(1, max(1, steps) + 1):
        iteration.step()
        if number % LOOK == 0 or not iteration.passed or number == steps:
            look = iteration.look()
            if look.bound < lowest:
                lowest, best = look.bound, iteration.moved_weights.copy()
            if look.bound < enough or _is_solved(look, tolerance, iteration.size):
                break
            iteration.advance(restart=iteration.is_over(look.length, number))
        else:
            iteration.advance(restart=False)
        if watch.expired(LOOKED + entries):
            break
    return iteration.moved, best


def _is_solved(look: Look, tolerance: float, size: float) -> bool:
    """Return whether a point is feasible and optimal up to a relative error."""
    gap = abs(look.bound - look.value)
    return look.excess <= tolerance * size and gap <= tolerance * (1 + abs(look.bound) + abs(look.value))


class _Iteration:
    """The state of the method. Everything happens in arrays that are made once: new ones would cost more."""

    def __init__(self, program: LinearProgram, start: tuple[Floats, Floats] | None) -> None:
        from scipy.sparse import csr_array

        rows, shape = program.rows, (len(program.upper), len(program.gains))
        narrow = rows.columns.astype(np.int32), rows.starts.astype(np.int32)
        self.matrix = csr_array((rows.signs.astype(np.float64), *narrow), shape=shape)
        self.across = csr_array(self.matrix.T)
        sizes = np.abs(self.matrix.data)
        lines = np.repeat(np.arange(shape[0]), np.diff(rows.starts))
        self.by_row = np.maximum(np.bincount(lines, weights=sizes, minlength=shape[0]), 1.0)
        self.by_column = np.maximum(np.bincount(rows.columns, weights=sizes, minlength=shape[1]), 1.0)
        self.gains, self.upper = program.gains, program.upper
        self.size = 1 + _length(self.upper)
        values, weights = (np.zeros(shape[1]), np.zeros(shape[0])) if start is None else start
        self.values, self.weights = np.clip(values, 0.0, 1.0), np.maximum(weights, 0.0)
        self.first = self.values.copy(), self.weights.copy()
        self.moved, self.moved_weights = np.empty_like(values), np.empty_like(weights)
        self.change, self.weight_change = np.empty_like(values), np.empty_like(weights)
        self.passed, self.lengths = 0, (0.0, 0.0)
        pull = _length(self.gains / np.sqrt(self.by_column)), _length(self.upper / np.sqrt(self.by_row))
        self._balance(pull[0] / pull[1] if min(pull) > 0 else 1.0)

    def _balance(self, balance: float) -> None:
        self.balance = balance
        self.pace, self.weight_pace = 1 / (balance * self.by_column), balance / self.by_row

    def step(self) -> None:
        """Move the point, then the multipliers, into `moved` and `moved_weights`."""
        self.taken = self.across @ self.weights
        moved, change = self.moved, self.change
        np.subtract(self.gains, self.taken, out=moved)
        moved *= self.pace
        moved += self.values
        np.clip(moved, 0.0, 1.0, out=moved)
        np.subtract(moved, self.values, out=change)
        left = self.matrix @ (moved + change)
        left -= self.upper
        left *= self.weight_pace
        left += self.weights
        np.maximum(left, 0.0, out=self.moved_weights)
        np.subtract(self.moved_weights, self.weights, out=self.weight_change)

    def look(self) -> Look:
        """Compute what is known after a step."""
        taken = self.across @ self.moved_weights
        square = float(
            (self.change**2 / self.pace).sum()
            - 2 * (self.change * (taken - self.taken)).sum()
            + (self.weight_change**2 / self.weight_pace).sum()
        )
        over = np.maximum(self.matrix @ self.moved - self.upper, 0.0)
        return Look(
            bound=float((self.upper * self.moved_weights).sum() + np.maximum(self.gains - taken, 0.0).sum()),
            value=float((self.gains * self.moved).sum()),
            excess=_length(over),
            length=max(square, 0.0) ** 0.5,
        )

    def is_over(self, length: float, number: int) -> bool:
        """Return whether a new stretch begins after a look, in a step of this length and number."""
        if not self.passed:
            self.lengths = length, length
            return False
        begin, before = self.lengths
        self.lengths = begin, length
        shorter = length <= SHORTER * begin or before < length <= SHORT * begin
        return shorter or self.passed >= STALE * number

    def advance(self, *, restart: bool) -> None:
        """Go on to the next iterate of the stretch, or begin a new stretch."""
        if restart:
            self._restart()
            return
        share = (self.passed + 1) / (self.passed + 2)
        for current, moved, change, first in (
            (self.values, self.moved, self.change, self.first[0]),
            (self.weights, self.moved_weights, self.weight_change, self.first[1]),
        ):
            change += moved
            change *= share
            np.multiply(first, 1 - share, out=current)
            current += change
        self.passed += 1

    def _restart(self) -> None:
        far = _length((self.moved - self.first[0]) * np.sqrt(self.by_column))
        farther = _length((self.moved_weights - self.first[1]) * np.sqrt(self.by_row))
        if min(far, farther) > STILL:
            self._balance(self.balance * (farther / (self.balance * far)) ** SHIFT)
        for side, moved in ((0, self.moved), (1, self.moved_weights)):
            self.first[side][:] = moved
            (self.values, self.weights)[side][:] = moved
        self.passed = 0


def _length(vector: NDArray[Any]) -> float:
    return float(np.sqrt((vector * vector).sum()))
