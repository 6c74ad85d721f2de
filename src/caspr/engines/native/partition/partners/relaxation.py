"""The linear relaxation of a problem with demands, and its bound in whole numbers.

Besides x_uv for pairs (`lp`) there is y_kj = 1 where j is the first partner of demand k, and z_l = 1 where a
link l is used that costs something and that two demands could use. With m the home of k:

    maximise    sum of w_uv x_uv  -  sum of cost y_kj (links of one demand)  -  sum of cost z_l
    subject to  stars and partner stars;   y_kj <= x_mj;   y_kj <= z_l;   sum over j of y_kj >= 1.

*The bound.* Multipliers of at least 0 for all rows but the last give, as just one y_kj is 1 for each k,

    value <= sum of the multipliers of all stars + sum over pairs of max(0, r_uv)
             + sum over demands of the largest r_kj + sum over links of max(0, r_l)

where r is what a variable gains minus what the rows, times their multipliers, take from it. It is computed in
integers, after rounding the multipliers down to multiples of 2^-shift.

*Fixing.* A clustering whose first partner of k is j gains at most the bound minus the difference of r_kj to
the largest. If that is less than a value already reached, j need not be considered. Pairs are as in `lp`.

No number wraps. The mass counts the costs of all partners, too. In units of 2^-shift it is below 2^53, or all
multipliers are taken as 0. Where only few points are feasible, multipliers may grow without end, so each is
at most the mass; if all together exceed 32 masses, they are taken as 0. A row holds a variable at most
twice, so every reduced gain is below 2^53 + 2^59.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.cuts import Cuts, Floats
from caspr.engines.native.partition.first_order import LinearProgram, Rows, maximise
from caspr.engines.native.partition.lp import FINE, SHIFT, Point, Program, mark_pairs, program_of, rows_of
from caspr.engines.native.partition.partners.demand import Demand, Demanding, Link
from caspr.engines.native.partition.partners.partner_stars import PartnerCuts, sharpen
from caspr.engines.native.partition.problem import Bools, Ints, Labels, exact_sum, firsts
from caspr.engines.native.partition.watch import Watch

ROOM = 53
"""The mass of a problem, in units of its multipliers, stays below 2^ROOM."""
Place = tuple[int, int]
"""The number of a demand, and the place of one of its partners."""


@dataclass(frozen=True)
class PartnerPoint(Point):
    """A solved relaxation with demands.

    It has a slack for each star, then for each partner star, and a multiplier for each row of a partner,
    too. Its bound holds for clusterings that meet the demands.
    """

    first: tuple[Floats, ...]
    """How much each partner is the first, for every demand."""
    partner_cuts: PartnerCuts
    """The partner stars it was solved with."""
    tied: tuple[Place, ...]
    """The partners with a row y <= x; then those with a row y <= z."""
    chosen: tuple[Ints, ...]
    """The reduced gain of each partner as the first, for every demand."""


@dataclass(frozen=True)
class Nearby:
    """Where a relaxation starts: the point of another one, of nearly the same problem."""

    x: Floats
    """How much each pair is together."""
    first: dict[int, dict[int, float]]
    """How much each partner is the first, by the name of the demand."""

    @classmethod
    def of(cls, whole: Demanding, point: PartnerPoint) -> "Nearby":
        """Keep a point of the relaxation of a problem."""
        first = {
            demand.name: dict(zip(demand.partners, chosen.tolist(), strict=True))
            for demand, chosen in zip(whole.demands, point.first, strict=True)
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

    def values(self, demand: Demand) -> list[float]:
        """Return how much each partner of a demand is the first."""
        known = self.first.get(demand.name, {})
        return [known.get(partner, 0.0) for partner in demand.partners]


@dataclass(frozen=True)
class _Columns:
    """The columns of a relaxation with demands: pairs, then first partners, then shared links."""

    program: Program
    """The relaxation without demands."""
    pair: Labels
    """The column of every pair of nodes, -1 where there is none."""
    starts: Labels
    """Where the partners of each demand begin, and where the last ones end."""
    links: dict[Link, int]
    """The column of every link that costs something and that two demands could use."""
    gains: Ints
    """What each column gains."""


@dataclass(frozen=True)
class _Lines:
    """The rows of a relaxation with demands: stars, partner stars, ties, and the demands' own."""

    rows: Rows
    upper: Floats
    """The right sides."""
    tied: tuple[Place, ...]
    """The partner of each tie."""


def relax_demanding(
    whole: Demanding,
    cuts: Cuts,
    partner_cuts: PartnerCuts,
    *,
    watch: Watch,
    tolerance: float = FINE,
    near: Nearby | None = None,
) -> PartnerPoint | None:
    """Solve the relaxation up to a relative error; `None` if there was no time for it.

    The search starts from a point nearby, if one is given, and from the weights of the cuts.
    """
    columns = _columns(whole, cuts, partner_cuts)
    lines = _lines(whole, columns, partner_cuts)
    start = None
    if near is not None:
        weights = np.zeros(len(lines.upper))
        weights[: len(cuts) + len(partner_cuts)] = np.concatenate([cuts.weights, partner_cuts.weights])
        start = _values_near(whole, columns, near), weights
    model = LinearProgram(columns.gains.astype(np.float64), lines.rows, lines.upper)
    solved = maximise(model, start, watch=watch, tolerance=tolerance)
    if solved is None:
        return None
    return safe_bound(whole, columns, lines, partner_cuts, np.clip(solved[0], 0.0, 1.0), solved[1])


def _values_near(whole: Demanding, columns: _Columns, near: Nearby) -> Floats:
    program, values = columns.program, np.zeros(len(columns.gains))
    values[: len(program.first)] = near.x[program.first, program.second]
    first = [value for demand in whole.demands for value in near.values(demand)]
    values[columns.starts[0] : columns.starts[-1]] = first
    return values


def _columns(whole: Demanding, cuts: Cuts, partner_cuts: PartnerCuts) -> _Columns:
    also = np.zeros_like(whole.problem.forbidden)
    for demand in whole.demands:
        also[demand.home, list(demand.partners)] = True
    mark_pairs(also, partner_cuts.plain)
    np.fill_diagonal(also, False)
    program = program_of(whole.problem, cuts, also)
    pair = np.full(also.shape, -1, dtype=np.intp)
    pair[program.first, program.second] = pair[program.second, program.first] = np.arange(len(program.first))
    priced = [
        (link, cost)
        for demand in whole.demands
        for link, cost in zip(demand.links, demand.costs, strict=True)
    ]
    shared = whole.shared
    counts = [0, *(len(demand.partners) for demand in whole.demands)]
    starts = len(program.first) + np.cumsum(counts, dtype=np.intp)
    own = [0 if link in shared else -cost for link, cost in priced]
    more = np.array([*own, *(-cost for cost in shared.values())], dtype=np.int64)
    columns = {link: int(starts[-1]) + place for place, link in enumerate(shared)}
    return _Columns(program, pair, starts, columns, np.concatenate([program.gains, more]))


def _lines(whole: Demanding, columns: _Columns, partner_cuts: PartnerCuts) -> _Lines:
    """Write all rows and their right sides."""
    tied, ties = _ties(whole, columns)
    stars, links = len(columns.program.cuts) + len(partner_cuts), len(tied)
    blocks = [columns.program.rows, _sharpened(whole, columns, partner_cuts), ties, _own(columns)]
    ends = np.cumsum([0, *(block.starts[-1] for block in blocks)])
    rows = Rows(
        np.concatenate([[0], *(end + block.starts[1:] for end, block in zip(ends, blocks, strict=False))]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.signs for block in blocks]),
    )
    upper = np.repeat([1.0, 0.0, -1.0], [stars, links, len(whole.demands)])
    return _Lines(rows, upper, tied)


def _sharpened(whole: Demanding, columns: _Columns, partner_cuts: PartnerCuts) -> Rows:
    """Write the partner stars: what they are as stars, and what sharpens them."""
    demands = {
        demand.name: (demand, int(begin))
        for demand, begin in zip(whole.demands, columns.starts[:-1], strict=True)
    }
    more: list[tuple[int, int, int]] = []
    for row, (name, star) in enumerate(partner_cuts.stars):
        demand, begin = demands[name]
        more += [(row, begin + place, times) for place, times in sharpen(demand, star)]
    stars = rows_of(partner_cuts.plain, columns.pair)
    extra = np.array(more, dtype=np.int64).reshape(-1, 3)
    lines = np.concatenate([np.repeat(np.arange(len(partner_cuts)), np.diff(stars.starts)), extra[:, 0]])
    order = np.argsort(lines, kind="stable")
    starts = np.searchsorted(lines[order], np.arange(len(partner_cuts) + 1))
    return Rows(
        starts,
        np.concatenate([stars.columns, extra[:, 1]])[order],
        np.concatenate([stars.signs, extra[:, 2]])[order],
    )


def _ties(whole: Demanding, columns: _Columns) -> tuple[tuple[Place, ...], Rows]:
    """Write y <= x for every partner outside its home, then y <= z for every one with a shared link."""
    tied, smaller, larger = list[Place](), list[int](), list[int]()
    for number, (demand, begin) in enumerate(zip(whole.demands, columns.starts.tolist(), strict=False)):
        pairs = columns.pair[demand.home, list(demand.partners)].tolist()
        outside = [place for place, partner in enumerate(demand.partners) if partner != demand.home]
        tied += [(number, place) for place in outside]
        smaller += [begin + place for place in outside]
        larger += [pairs[place] for place in outside]
    for number, demand in enumerate(whole.demands) if columns.links else ():
        shared = [place for place, link in enumerate(demand.links) if link in columns.links]
        tied += [(number, place) for place in shared]
        smaller += [int(columns.starts[number]) + place for place in shared]
        larger += [columns.links[demand.links[place]] for place in shared]
    entries = np.column_stack([smaller, larger]).astype(np.intp).ravel()
    starts = 2 * np.arange(len(tied) + 1)
    return tuple(tied), Rows(starts, entries, np.tile(np.array([1, -1]), len(tied)))


def _own(columns: _Columns) -> Rows:
    """Write the demands' own rows: some partner is the first."""
    begin, end = int(columns.starts[0]), int(columns.starts[-1])
    return Rows(columns.starts - begin, np.arange(begin, end), np.full(end - begin, -1))


def safe_bound(
    whole: Demanding,
    columns: _Columns,
    lines: _Lines,
    partner_cuts: PartnerCuts,
    values: Floats,
    duals: Floats,
) -> PartnerPoint:
    """Recompute the bound in integers from multipliers that need not be exact."""
    program, rows = columns.program, lines.rows
    stars = len(program.cuts) + len(partner_cuts)
    counted = stars + len(lines.tied)
    duals, shift = _usable(whole, duals[:counted])
    multipliers = np.floor(duals * (1 << shift)).astype(np.int64)
    entries = slice(0, int(rows.starts[counted]))
    line = np.repeat(np.arange(counted), np.diff(rows.starts[: counted + 1]))
    change = np.zeros(len(columns.gains), dtype=np.int64)
    np.add.at(change, rows.columns[entries], multipliers[line] * rows.signs[entries])
    reduced = (columns.gains << shift) - change
    pairs, last = int(columns.starts[0]), int(columns.starts[-1])
    chosen = _by_demand(reduced, columns)
    scaled = exact_sum(multipliers[:stars]) + sum(int(one.max()) for one in chosen)
    scaled += exact_sum(np.maximum(reduced[:pairs], 0)) + exact_sum(np.maximum(reduced[last:], 0))
    matrix, x = whole.problem.gains << shift, np.eye(whole.size)
    for square, flat in ((matrix, reduced), (x, values)):
        square[program.first, program.second] = square[program.second, program.first] = flat[:pairs]
    weights = values[rows.columns[entries]] * rows.signs[entries]
    activity: Floats = np.bincount(line, weights=weights, minlength=stars).astype(np.float64)
    return PartnerPoint(
        x=x,
        cuts=program.cuts.weighing(duals[: len(program.cuts)]),
        multipliers=multipliers,
        reduced=matrix,
        shift=shift,
        scaled=scaled,
        slack=1.0 - activity[:stars],
        first=_by_demand(values, columns),
        partner_cuts=PartnerCuts(partner_cuts.stars, duals[len(program.cuts) : stars]),
        tied=lines.tied,
        chosen=chosen,
    )


def _usable(whole: Demanding, duals: Floats) -> tuple[Floats, int]:
    """Return multipliers that are not negative, or 0 where they could wrap, and the unit's exponent."""
    mass = int(np.abs(whole.problem.gains).sum()) + sum(sum(demand.costs) for demand in whole.demands)
    shift = max(0, min(SHIFT, ROOM - mass.bit_length()))
    duals = np.clip(np.nan_to_num(duals), 0.0, float(mass))
    fits = mass < 1 << ROOM and duals.sum() <= 32 * mass
    return duals if fits else np.zeros_like(duals), shift


def _by_demand(line: NDArray[Any], columns: _Columns) -> tuple[NDArray[Any], ...]:
    """Cut a line of numbers, one for each column, into those of each demand."""
    starts = columns.starts.tolist()
    return tuple(line[begin:end] for begin, end in pairwise(starts))


def undecided_partners(point: PartnerPoint, floor: int) -> list[Bools]:
    """Find the partners that may be the first in a clustering of value `floor` or more, for each demand."""
    # The gap is Python's integer, of any size; NumPy compares it exactly.
    gap = point.scaled - (floor << point.shift)
    return [one.max() - one <= gap for one in point.chosen]
