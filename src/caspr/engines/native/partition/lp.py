"""The linear relaxation, and a bound from it that no rounding error can spoil.

Besides x_uv for pairs there is y_kj = 1 where j is the first partner of demand k, and z_l = 1 where a link l
is used that costs something and that two demands could use. With m the home of k:

    maximise    sum of w_uv x_uv  -  sum of cost y_kj (links of one demand)  -  sum of cost z_l
    subject to  A (x, y) <= b (`cuts`);   y_kj <= x_mj;   y_kj <= z_l;   sum over j of y_kj >= 1.

A first-order method solves it (`first_order`): a rough answer suffices, and each round starts from the
answer of the last. Interior point takes 10 to 50 times as long here, and simplex, very degenerate, longer
still. The solver's numbers are only advice: *any* multipliers of at least 0 for all rows but the last give,
by weak duality and because just one y_kj is 1 for each k, for every clustering that meets the demands

    value <= sum of b times the multipliers of cuts + sum over pairs of max(0, r_uv)
             + sum over demands of the largest r_kj + sum over links of max(0, r_l),

where r, the *reduced gain*, is what a variable gains minus what the rows, times their multipliers, take from
it. The multipliers are rounded down to multiples of 2^-shift and this bound is computed in integers
(`safe_bound`). A pair with no column has w <= 0 and occurs in no row, so it adds nothing.

*Fixing.* With bound B, a clustering that departs from the sign of r at one pair has value at most B - |r_uv|;
one whose first partner of k is j at most B minus the difference of r_kj to the largest. If that is less than
a value already reached, the pair is decided, or j need not be considered.

*No number wraps.* The mass of a problem counts the costs of all partners, too. In units of 2^-shift it is
below 2^60 by the choice of the shift, which is at least 0 because a mass never exceeds 2^58. Without demands,
all multipliers together, each times its right side, are at most the mass, up to a float's rounding, so below
2^61. A row holds each pair at most once, so the multipliers change a pair's gain by less than 2^61, and every
reduced gain is below 2^60 + 2^61. But a star has its multiplier at each pair of its leaves, so the reduced
gains may add up to far more than 64 bits: `exact_sum` adds them. With demands few points may be feasible, and
multipliers may grow without end. So there each is at most the mass, which is below 2^53 in units of 2^-shift
(or all multipliers are taken as 0), and if all together exceed 32 masses they are taken as 0: as a row holds
a variable at most twice, every reduced gain is below 2^53 + 2^59.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts, Floats, Pentagon, TwoPartition, sharpen
from caspr.engines.native.partition.first_order import LinearProgram, Rows, maximise
from caspr.engines.native.partition.problem import (
    Bools,
    Demand,
    Ints,
    Labels,
    Link,
    Problem,
    exact_sum,
    firsts,
)
from caspr.engines.native.partition.watch import Watch

FINE = 1e-6
"""The relative error of a relaxation solved as well as it is worth."""
SHIFT = 20
"""Multipliers are multiples of 2^-SHIFT; of a larger unit where gains are large."""
ROOM, ROOM_WITH_DEMANDS = 60, 53
"""The mass of a problem, in units of its multipliers, stays below 2^ROOM."""
MASSES = 32
"""With demands, multipliers that add up to more masses than this are not believed."""
Tie = tuple[int, int]
"""The number of a demand, and the rank of one of its partners."""


@dataclass(frozen=True)
class Point:
    """A solved relaxation. Its bound holds for clusterings that meet the demands."""

    x: Floats
    """The symmetric matrix of the solution, 1 on the diagonal."""
    cuts: Cuts
    """The inequalities it was solved with."""
    multipliers: Ints
    """One multiplier for each cut, then for each of `tied`, in units of 2^-shift."""
    reduced: Ints
    """The reduced gain of every pair in the same units: symmetric, 0 for forbidden pairs."""
    shift: int
    """The unit's exponent."""
    scaled: int
    """The bound in the same units: no clustering gains more."""
    slack: Floats
    """By how much each cut is satisfied."""
    first: tuple[Floats, ...] = ()
    """How much each partner is the first, for every demand."""
    tied: tuple[Tie, ...] = ()
    """The partners with a row y <= x; then those with a row y <= z."""
    chosen: tuple[Ints, ...] = ()
    """The reduced gain of each partner as the first, for every demand."""

    @property
    def weights(self) -> Ints:
        """The multiplier of each cut."""
        return self.multipliers[: len(self.cuts)]

    def bound(self, step: int) -> int:
        """Return the bound as a value that a clustering could have."""
        return (self.scaled >> self.shift) // step * step


@dataclass(frozen=True)
class Nearby:
    """Where a relaxation starts: the point of another one, of nearly the same problem."""

    x: Floats
    """How much each pair is together."""
    first: dict[int, dict[int, float]]
    """How much each partner is the first, by the name of the demand."""

    @classmethod
    def of(cls, problem: Problem, point: Point) -> "Nearby":
        """Keep a point of the relaxation of a problem."""
        first = {
            demand.name: dict(zip(demand.partners, chosen.tolist(), strict=True))
            for demand, chosen in zip(problem.demands, point.first, strict=True)
        }
        return cls(point.x, first)

    def contract(self, groups: Labels) -> "Nearby":
        """Express the point in the nodes of a contracted problem, each group by its first node."""
        chosen, names = firsts(groups), groups.tolist()
        first: dict[int, dict[int, float]] = {}
        for name, partners in self.first.items():
            renamed = first.setdefault(name, {})
            for partner, much in partners.items():
                renamed[names[partner]] = renamed.get(names[partner], 0.0) + much
        return Nearby(self.x[np.ix_(chosen, chosen)], first)

    def within(self, places: Labels) -> "Nearby":
        """Express the point in the nodes of a piece: `places` says which node each one is there, or -1."""
        inside = np.flatnonzero(places >= 0)
        names = np.cumsum(places >= 0) - 1
        first = {
            name: {int(names[partner]): much for partner, much in partners.items() if places[partner] >= 0}
            for name, partners in self.first.items()
        }
        return Nearby(self.x[np.ix_(inside, inside)], first).contract(places[inside])

    def values(self, demand: Demand) -> list[float]:
        """Return how much each partner of a demand is the first."""
        known = self.first.get(demand.name, {})
        return [known.get(partner, 0.0) for partner in demand.partners]


@dataclass(frozen=True)
class Program:
    """The relaxation of a problem with some cuts. Columns: pairs, then first partners, then shared links."""

    cuts: Cuts
    gains: Ints
    first: Labels
    """The smaller node of each pair."""
    second: Labels
    starts: Labels
    """The column where the partners of each demand begin, and where the last ones end."""
    rows: Rows
    """The cuts over the columns; then ties; then the demands' own rows."""
    upper: Floats
    tied: tuple[Tie, ...]
    """The partner of each tie."""

    def values_near(self, problem: Problem, near: Nearby) -> Floats:
        """Return values of all columns from a point nearby."""
        values = np.zeros(len(self.gains))
        values[: len(self.first)] = near.x[self.first, self.second]
        first = [value for demand in problem.demands for value in near.values(demand)]
        values[self.starts[0] : self.starts[-1]] = first
        return values


def relax(
    problem: Problem,
    cuts: Cuts,
    *,
    watch: Watch,
    tolerance: float = FINE,
    near: Nearby | None = None,
    effort: int | None = None,
    goal: int | None = None,
) -> Point | None:
    """Solve the relaxation with some cuts, up to a relative error; `None` if there was no time for it.

    What is not solved after some effort is left as it is (`maximise`), and so is one whose bound is below a
    goal. The search starts from a point nearby, if one is given, and from the weights of the cuts.
    """
    program = program_of(problem, cuts)
    start = None
    if near is not None:
        weights = np.zeros(len(program.upper))
        weights[: len(cuts)] = cuts.weights
        start = program.values_near(problem, near), weights
    model = LinearProgram(program.gains.astype(np.float64), program.rows, program.upper)
    # Rounding a multiplier down raises the reduced gain of each pair in its row by one unit at most.
    enough = -np.inf if goal is None else goal - model.entries * 2.0 ** -_shift(problem)
    solved = maximise(model, start, watch=watch, tolerance=tolerance, effort=effort, enough=enough)
    if solved is None:
        return None
    return safe_bound(problem, program, np.clip(solved[0], 0.0, 1.0), solved[1])


def bound_from(problem: Problem, cuts: Cuts) -> Point:
    """Return what the weights of cuts prove, without solving anything."""
    program = program_of(problem, cuts)
    duals = np.zeros(len(program.upper))
    duals[: len(cuts)] = cuts.weights
    return safe_bound(problem, program, np.zeros(len(program.gains)), duals)


def _shift(problem: Problem) -> int:
    """Return the exponent of the unit in which multipliers are counted."""
    room = ROOM_WITH_DEMANDS if problem.demands else ROOM
    return max(0, min(SHIFT, room - _mass(problem).bit_length()))


def _mass(problem: Problem) -> int:
    return int(np.abs(problem.gains).sum()) + sum(sum(demand.costs) for demand in problem.demands)


def _usable(problem: Problem, duals: Floats, rights: Labels) -> Floats:
    """Return multipliers that are not negative, or 0 where they are too large: that is also valid."""
    mass = _mass(problem)
    duals = np.maximum(np.nan_to_num(duals), 0.0)
    if not problem.demands:
        return duals if duals @ rights <= mass else np.zeros_like(duals)
    duals = np.minimum(duals, float(mass))
    fits = mass < 1 << ROOM_WITH_DEMANDS and duals.sum() <= MASSES * mass
    return duals if fits else np.zeros_like(duals)


def safe_bound(problem: Problem, program: Program, values: Floats, duals: Floats) -> Point:
    """Recompute the bound in integers from multipliers that need not be exact."""
    rows, first, second, shift = program.rows, program.first, program.second, _shift(problem)
    cuts, counted = len(program.cuts), len(program.cuts) + len(program.tied)
    rights = program.cuts.rights
    duals = _usable(problem, duals[:counted], rights)
    multipliers = np.floor(duals * (1 << shift)).astype(np.int64)
    entries = slice(0, int(rows.starts[counted]))
    line = np.repeat(np.arange(counted), np.diff(rows.starts[: counted + 1]))
    change = np.zeros(len(program.gains), dtype=np.int64)
    np.add.at(change, rows.columns[entries], multipliers[line] * rows.signs[entries])
    reduced = (program.gains << shift) - change
    pairs, last = int(program.starts[0]), int(program.starts[-1])
    chosen = _by_demand(reduced, program)
    scaled = exact_sum(multipliers[:cuts] * rights) + sum(int(gained.max()) for gained in chosen)
    scaled += exact_sum(np.maximum(reduced[:pairs], 0)) + exact_sum(np.maximum(reduced[last:], 0))
    matrix, x = problem.gains << shift, np.eye(problem.size)
    for square, flat in ((matrix, reduced), (x, values)):
        square[first, second] = square[second, first] = flat[:pairs]
    weights = values[rows.columns[entries]] * rows.signs[entries]
    activity: Floats = np.bincount(line, weights=weights, minlength=cuts).astype(np.float64)
    return Point(
        x=x,
        cuts=program.cuts.weighing(duals[:cuts]),
        multipliers=multipliers,
        reduced=matrix,
        shift=shift,
        scaled=scaled,
        slack=rights - activity[:cuts],
        first=_by_demand(values, program),
        tied=program.tied,
        chosen=chosen,
    )


def _by_demand(line: NDArray[Any], program: Program) -> tuple[NDArray[Any], ...]:
    """Cut a line of numbers, one for each column, into those of each demand."""
    return tuple(line[begin:end] for begin, end in pairwise(program.starts.tolist()))


def decided(point: Point, floor: int) -> tuple[Bools, Bools]:
    """Find the pairs that every clustering of value `floor` or more puts together, and apart."""
    # The gap is Python's integer, of any size; NumPy compares it exactly with reduced gains of 64 bits.
    gap = point.scaled - (floor << point.shift)
    together: NDArray[np.bool_] = point.reduced > gap
    apart: NDArray[np.bool_] = -point.reduced > gap
    return together, apart


def undecided_partners(point: Point, floor: int) -> list[Bools]:
    """Find the partners that may be the first in a clustering of value `floor` or more, for each demand."""
    gap = point.scaled - (floor << point.shift)
    return [reduced.max() - reduced <= gap for reduced in point.chosen]


def program_of(problem: Problem, cuts: Cuts) -> Program:
    """Write the relaxation down: columns for pairs of positive gain or in some row, rows for cuts."""
    needed = problem.gains > 0
    _mark_pairs(needed, problem, cuts)
    needed = np.triu(needed | needed.T, 1) & ~problem.forbidden
    first, second = np.nonzero(needed)
    numbers = np.full(needed.shape, -1, dtype=np.intp)
    numbers[first, second] = numbers[second, first] = np.arange(len(first))
    blocks, gains = [_stars(cuts, numbers)], problem.gains[first, second]
    blocks += _others(cuts, numbers)
    starts = np.array([len(first)], dtype=np.intp)
    tied: tuple[Tie, ...] = ()
    if problem.demands:
        shared = problem.shared
        counts = [len(first), *(len(demand.partners) for demand in problem.demands)]
        starts = np.cumsum(counts, dtype=np.intp)
        links = {link: int(starts[-1]) + position for position, link in enumerate(shared)}
        gains = np.concatenate([gains, _costs(problem, shared)])
        tied, ties = _ties(problem, numbers, starts, links)
        blocks += [_sharpened(problem, cuts, numbers, starts), ties, _own(starts)]
    upper = np.concatenate([cuts.rights, np.repeat([0.0, -1.0], [len(tied), len(problem.demands)])])
    return Program(cuts, gains, first, second, starts, _joined_rows(blocks), upper, tied)


def _mark_pairs(marked: Bools, problem: Problem, cuts: Cuts) -> None:
    """Mark all pairs that occur in some row; some from one end only."""
    for _, stars in (*cuts.by_size, *_plain(cuts).by_size):
        for left, right in _sides(stars.shape[1]):
            marked[stars[:, left], stars[:, right]] = True
    for sides in cuts.two_partitions:
        nodes = [*sides[0], *sides[1]]
        marked[np.ix_(nodes, nodes)] = True
    for first, second in _around(cuts.pentagons):
        marked[first, second] = True
    for demand in problem.demands:
        marked[demand.home, list(demand.partners)] = True


def _plain(cuts: Cuts) -> Cuts:
    """Return partner stars without what sharpens them."""
    return Cuts(NO_CUTS.triangles, tuple(star for _, star in cuts.partner_stars), NO_CUTS.weights)


def _joined_rows(blocks: Sequence[Rows]) -> Rows:
    """Write blocks of rows one below the other."""
    ends = np.cumsum([0, *(block.starts[-1] for block in blocks)])
    return Rows(
        np.concatenate([[0], *(end + block.starts[1:] for end, block in zip(ends, blocks, strict=False))]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.signs for block in blocks]),
    )


def _sides(size: int) -> Iterator[tuple[Labels, Labels]]:
    """Yield the pairs of positions in a star: centre with leaves, leaves with leaves."""
    leaves = np.arange(1, size)
    yield np.zeros_like(leaves), leaves
    first, second = np.triu_indices(size - 1, 1)
    yield first + 1, second + 1


def _stars(cuts: Cuts, numbers: Labels) -> Rows:
    """Write the stars as sparse rows, leaving out pairs without a column."""
    row, column, sign = [], [], []
    for positions, stars in cuts.by_size:
        for (left, right), value in zip(_sides(stars.shape[1]), (1, -1), strict=True):
            entries = numbers[stars[:, left], stars[:, right]]
            line, position = np.nonzero(entries >= 0)
            row.append(positions[line])
            column.append(entries[line, position])
            sign.append(np.full(len(line), value, dtype=np.int64))
    rows, columns, signs = np.concatenate(row), np.concatenate(column), np.concatenate(sign)
    order, count = np.argsort(rows, kind="stable"), len(cuts.triangles) + len(cuts.stars)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    return Rows(starts, columns[order], signs[order])


def _others(cuts: Cuts, numbers: Labels) -> Iterator[Rows]:
    """Write two-partitions and pentagons as sparse rows; forbidden pairs have no column."""
    for added, taken in (*map(_across, cuts.two_partitions), _around(cuts.pentagons)):
        entries = np.concatenate([numbers[added], numbers[taken]], axis=1)
        sign = np.repeat(np.array([1, -1], dtype=np.int64), [added[0].shape[1], taken[0].shape[1]])
        present = entries >= 0
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        yield Rows(starts, entries[present], np.broadcast_to(sign, entries.shape)[present])


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


def _costs(problem: Problem, shared: dict[Link, int]) -> Ints:
    """Return what first partners gain, and shared links: their costs, taken from it once."""
    own = [
        0 if link in shared else -cost
        for demand in problem.demands
        for link, cost in zip(demand.links, demand.costs, strict=True)
    ]
    return np.array([*own, *(-cost for cost in shared.values())], dtype=np.int64)


def _sharpened(problem: Problem, cuts: Cuts, numbers: Labels, begins: Labels) -> Rows:
    """Write the partner stars: what they are as stars, and what sharpens them."""
    demands = {
        demand.name: (demand, int(begin)) for demand, begin in zip(problem.demands, begins[:-1], strict=True)
    }
    more: list[tuple[int, int, int]] = []
    for row, (name, star) in enumerate(cuts.partner_stars):
        demand, begin = demands[name]
        more += [(row, begin + rank, times) for rank, times in sharpen(demand, star)]
    stars, count = _stars(_plain(cuts), numbers), len(cuts.partner_stars)
    extra = np.array(more, dtype=np.int64).reshape(-1, 3)
    lines = np.concatenate([np.repeat(np.arange(count), np.diff(stars.starts)), extra[:, 0]])
    order = np.argsort(lines, kind="stable")
    starts = np.searchsorted(lines[order], np.arange(count + 1))
    return Rows(
        starts,
        np.concatenate([stars.columns, extra[:, 1]])[order],
        np.concatenate([stars.signs, extra[:, 2]])[order],
    )


def _ties(
    problem: Problem, numbers: Labels, begins: Labels, links: dict[Link, int]
) -> tuple[tuple[Tie, ...], Rows]:
    """Write y <= x for every partner outside its home, then y <= z for every one with a shared link."""
    tied, smaller, larger = list[Tie](), list[int](), list[int]()
    for number, (demand, begin) in enumerate(zip(problem.demands, begins.tolist(), strict=False)):
        pairs = numbers[demand.home, list(demand.partners)].tolist()
        outside = [rank for rank, partner in enumerate(demand.partners) if partner != demand.home]
        tied += [(number, rank) for rank in outside]
        smaller += [begin + rank for rank in outside]
        larger += [pairs[rank] for rank in outside]
    for number, demand in enumerate(problem.demands):
        shared = [rank for rank, link in enumerate(demand.links) if link in links]
        tied += [(number, rank) for rank in shared]
        smaller += [int(begins[number]) + rank for rank in shared]
        larger += [links[demand.links[rank]] for rank in shared]
    entries = np.column_stack([smaller, larger]).astype(np.intp).ravel()
    starts = 2 * np.arange(len(tied) + 1)
    return tuple(tied), Rows(starts, entries, np.tile(np.array([1, -1]), len(tied)))


def _own(starts: Labels) -> Rows:
    """Write the demands' own rows: some partner is the first."""
    begin, end = int(starts[0]), int(starts[-1])
    return Rows(starts - begin, np.arange(begin, end), np.full(end - begin, -1))
