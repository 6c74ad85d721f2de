"""Proofs of bounds as data: a tree of decided pairs, with inequalities and multipliers at its leaves.

A tree says {"pair": [u, v], "together": tree, "apart": tree}, or at a leaf

    {"shift": s, "stars": [[multiplier, centre, leaf, ...], ...],
     "two_partitions": [[multiplier, [node, ...], [node, ...]], ...],
     "pentagons": [[multiplier, node, node, node, node, node], ...]}

with multipliers in units of 2^-s (the second and third list only where they are not empty), and where there
are demands also

    "partner_stars": [[multiplier, demand, centre, leaf, ...], ...]     sharpened stars (`partner_stars`)
    "ties": [[multiplier, demand, partner], ...]                         y <= x
    "shared": [[multiplier, demand, partner], ...]                       y <= z

Nodes and demands have the numbers of the nodes at the root; two nodes put together keep the smaller one. A
leaf at which some demand has no partner left needs no multipliers. `caspr.proof.verify` checks all of this.
"""

from typing import Any

import numpy as np

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts
from caspr.engines.native.partition.cutting_planes import (
    PROGRESS,
    THOROUGH_PROGRESS,
    error_that_is_small_enough,
    first_cuts,
    is_crowded,
    new_cuts,
    undecided,
)
from caspr.engines.native.partition.lp import Point, relax
from caspr.engines.native.partition.partners.demand import Demanding
from caspr.engines.native.partition.partners.outcome import UNMET
from caspr.engines.native.partition.partners.partner_stars import NO_PARTNER_CUTS, violated_partner_stars
from caspr.engines.native.partition.partners.planes import undecided_pair
from caspr.engines.native.partition.partners.relaxation import Nearby, PartnerPoint, relax_demanding
from caspr.engines.native.partition.problem import Labels, Problem, joined
from caspr.engines.native.partition.separation.pentagons import violated_pentagons
from caspr.engines.native.partition.separation.two_partitions import violated_two_partitions
from caspr.engines.native.partition.watch import Watch

Proof = dict[str, Any]
PATIENCE = 4
"""After this many rounds in a row that lower the bound hardly or not at all, branch."""
Pair = tuple[int, int]
"""Two nodes."""


def prove_demanding(
    whole: Demanding,
    names: Labels,
    value: int,
    watch: Watch,
    *,
    thorough: bool = True,
    cuts: Cuts = NO_CUTS,
) -> Proof | None:
    """Prove that no clustering that meets the demands gains more than a value; `None` if time was up.

    `names` are the nodes' names in the proof. A value of `UNMET` means that no clustering meets the demands.
    Before the first branching, the search for cuts is `thorough`; below it, it starts from `cuts`.
    """
    problem = whole.problem
    if whole.hopeless or problem.ceiling // whole.step * whole.step <= value:
        return {"shift": 0, "stars": []}
    if value == UNMET or any(demand.forced for demand in whole.demands):
        return _branched(whole, names, value, watch, _first_choice(whole))
    if not whole.demands:
        return _prove_plain(problem, names, value, watch, cuts, thorough=thorough)
    cuts = cuts | first_cuts(problem, watch)
    stars, bounds, near = NO_PARTNER_CUTS, [problem.ceiling], None
    while not watch.expired():
        point = relax_demanding(whole, cuts, stars, watch=watch, near=near)
        if point is None:
            return None
        bounds.append(point.bound(whole.step))
        if bounds[-1] <= value:
            return _partner_leaf(whole, names, point)
        near = Nearby.of(whole, point)
        new, more = new_cuts(problem, point.x, watch), violated_partner_stars(whole, point.x, point.first)
        if _is_stuck(bounds) or not (len(new) or len(more)):
            return _branched(whole, names, value, watch, undecided_pair(whole, point))
        kept = (point.slack < 0.3) | (point.multipliers[: len(point.slack)] > 0)
        cuts = point.cuts.keep(kept[: len(point.cuts)]) | new
        stars = point.partner_cuts.keep(kept[len(point.cuts) :]) | more
    return None


def _prove_plain(
    problem: Problem, names: Labels, value: int, watch: Watch, cuts: Cuts, *, thorough: bool
) -> Proof | None:
    """Prove without demands: cut while that lowers the bound, at first with stars only, then branch."""
    bound, near, turn, slow = problem.ceiling, None, 0, 0
    crowded, harder = is_crowded(problem), False
    cuts = cuts if len(cuts) and crowded else cuts | first_cuts(problem, watch)
    while not watch.expired():
        gap, goal = bound - value, value + problem.step
        tolerance = error_that_is_small_enough(gap, bound, problem.step, exact=harder)
        point = relax(problem, cuts, watch=watch, near=near, tolerance=tolerance, goal=goal)
        if point is None:
            return None
        bound = min(bound, point.bound(problem.step))
        if point.bound(problem.step) <= value:
            return _plain_leaf(point, names)
        near, progress = point.x, gap - (bound - value)
        new = new_cuts(problem, near, watch, thorough=harder and not crowded)
        if harder and crowded:
            turn += 1
            new |= violated_pentagons(problem, near, watch, turn=turn)
        elif harder:
            new |= violated_two_partitions(problem, near, point.cuts, point.slack, watch)
        slow = slow + 1 if progress <= (THOROUGH_PROGRESS if harder else PROGRESS) * gap else 0
        if slow >= (PATIENCE if harder else 1) or not len(new):
            if harder or not thorough:
                kept = point.cuts.keep(point.multipliers > 0)
                pair = undecided(problem, point.x)
                return _branched(Demanding(problem, ()), names, value, watch, pair, kept)
            harder, slow = True, 0
        cuts = point.cuts.keep((point.slack < 0.1) | (point.multipliers > 0)) | new
    return None


def _plain_leaf(point: Point, names: Labels) -> Proof:
    leaf: Proof = {"shift": point.shift, "stars": _stars(point, names)}
    begin = len(point.cuts) - point.cuts.others
    end = begin + len(point.cuts.two_partitions)
    multipliers = point.multipliers.tolist()
    two_partitions = [
        [multiplier, *(names[list(side)].tolist() for side in sides)]
        for multiplier, sides in zip(multipliers[begin:end], point.cuts.two_partitions, strict=True)
        if multiplier
    ]
    pentagons = [
        [multiplier, *names[list(ring)].tolist()]
        for multiplier, ring in zip(multipliers[end:], point.cuts.pentagons, strict=True)
        if multiplier
    ]
    others = {"two_partitions": two_partitions, "pentagons": pentagons}
    return leaf | {kind: rows for kind, rows in others.items() if rows}


def _is_stuck(bounds: list[int]) -> bool:
    return len(bounds) > PATIENCE and bounds[-1 - PATIENCE] <= bounds[-1]


def _stars(point: Point, names: Labels) -> list[list[int]]:
    """Write the stars that count."""
    rows = [*point.cuts.triangles.tolist(), *map(list, point.cuts.stars)]
    return [
        [multiplier, *names[row].tolist()]
        for multiplier, row in zip(point.multipliers.tolist(), rows, strict=False)
        if multiplier
    ]


def _partner_leaf(whole: Demanding, names: Labels, point: PartnerPoint) -> Proof:
    begin, end = len(point.cuts), len(point.slack)
    sharpened = [
        [multiplier, demand, *names[list(star)].tolist()]
        for multiplier, (demand, star) in zip(
            point.multipliers[begin:end].tolist(), point.partner_cuts.stars, strict=True
        )
        if multiplier
    ]
    ties: dict[str, list[list[int]]] = {"ties": [], "shared": []}
    pairs = sum(one != demand.home for demand in whole.demands for one in demand.partners)
    for place, (multiplier, (number, partner)) in enumerate(
        zip(point.multipliers[end:].tolist(), point.tied, strict=True)
    ):
        demand = whole.demands[number]
        if multiplier:
            kind = "ties" if place < pairs else "shared"
            ties[kind].append([multiplier, demand.name, int(names[demand.partners[partner]])])
    return {"shift": point.shift, "stars": _stars(point, names), "partner_stars": sharpened, **ties}


def _first_choice(whole: Demanding) -> Pair:
    """Choose a demand with fewest partners, and its first one: apart from that one, it soon has none."""
    outside = [demand for demand in whole.demands if demand.home not in demand.partners]
    demand = min(outside, key=lambda demand: len(demand.partners))
    return demand.home, demand.partners[0]


def _branched(
    whole: Demanding, names: Labels, value: int, watch: Watch, pair: Pair, cuts: Cuts = NO_CUTS
) -> Proof | None:
    """Prove both ways to decide a pair, starting from cuts."""
    first, second = sorted(pair)
    groups = joined(whole.size, np.array([first]), np.array([second]))
    small, constant = whole.contract(groups)
    cut = np.zeros_like(whole.problem.forbidden)
    cut[first, second] = cut[second, first] = True
    goal = value if value == UNMET else value - constant
    inside = cuts.rename(groups, small.problem)
    together = prove_demanding(small, np.delete(names, second), goal, watch, thorough=False, cuts=inside)
    if together is None:
        return None
    separate = whole.separate(cut)
    inside = cuts.rename(np.arange(whole.size), separate.problem)
    apart = prove_demanding(separate, names, value, watch, thorough=False, cuts=inside)
    if apart is None:
        return None
    return {"pair": names[[first, second]].tolist(), "together": together, "apart": apart}
