"""Clusterings that meet demands, quickly. Nothing here proves anything.

To meet all demands, each home is *glued* to one partner, and what is glued is contracted: so the heuristics
for ordinary problems apply, and no step of theirs leaves a demand unmet. Then nodes move on their own again,
where no home loses its last partner by it.

A clustering and the point of a relaxation mostly agree. Searching only what lies *between* them, with all
pairs decided in which they do, is a small problem that holds the clustering and what the point suggests
(relaxation induced neighbourhood search; Danna, Rothberg and Le Pape 2005).
"""

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import Floats
from caspr.engines.native.partition.heuristics import Placement
from caspr.engines.native.partition.partners.demand import Demand, Demanding, Demands
from caspr.engines.native.partition.partners.outcome import UNMET
from caspr.engines.native.partition.partners.relaxation import PartnerPoint
from caspr.engines.native.partition.problem import Ints, Labels, Problem, joined, renumber
from caspr.engines.native.partition.watch import ExpiredError, Watch

KICKS = 2
"""How often a clustering is shaken."""
AGREED = 0.4
"""A point agrees with a clustering on a pair if it is no farther than this from it."""
OFTEN = 64
"""After so many moves that are considered, the clock is looked at."""
FAR = -(1 << 61)
"""Less than any change of value."""


def round_point(whole: Demanding, point: PartnerPoint, watch: Watch) -> Labels | None:
    """Glue every home to the partner that the point prefers, and cluster what is left as it says."""
    wanted = [
        [demand.partners[place] for place in np.argsort(-first, kind="stable").tolist()]
        for demand, first in zip(whole.demands, point.first, strict=True)
    ]
    glued = _glue(whole, wanted)
    if glued is None:
        return None
    pull = np.rint((point.x - 0.5) * 1000).astype(np.int64)
    np.fill_diagonal(pull, 0)
    pull[whole.problem.forbidden] = 0
    small, _ = Problem(pull, whole.problem.forbidden).contract(glued)
    problem, _ = whole.problem.contract(glued)
    labels = heuristics.polish(problem, heuristics.greedy(small, watch=watch), watch)[glued]
    return improve(whole, labels, watch, kicks=0)


def between(whole: Demanding, labels: Labels, x: Floats) -> tuple[Demanding, Labels, int] | None:
    """Decide the pairs in which a clustering and a point agree; return what is left, if anything is.

    That is a contracted problem, the node of every node there, and the constant gained inside. The clustering
    is one of its own, and so are many that the point is near to; only few pairs are undecided.
    """
    same = labels[:, None] == labels[None, :]
    groups = joined(whole.size, *np.nonzero(same & (x > 1 - AGREED)))
    small, constant = whole.separate(~same & (x < AGREED)).contract(groups)
    return (small, groups, constant) if small.size > 1 else None


def _glue(whole: Demanding, wanted: list[list[int]]) -> Labels | None:
    """Put every home with the first wanted partner that is not kept out; `None` if there is none."""
    forbidden = whole.problem.forbidden
    groups: dict[int, list[int]] = {}
    for demand, partners in zip(whole.demands, wanted, strict=True):
        own = groups.get(demand.home, [demand.home])
        if any(partner in own for partner in demand.partners):
            continue
        for partner in partners:
            other = groups.get(partner, [partner])
            if not forbidden[np.ix_(own, other)].any():
                union = [*own, *other]
                groups |= dict.fromkeys(union, union)
                break
        else:
            return None
    labels = np.arange(whole.problem.size)
    for group in groups.values():
        labels[group] = min(group)
    return renumber(labels)


def meet(whole: Demanding, labels: Labels, watch: Watch) -> Labels | None:
    """Change a clustering so that it meets all demands: join a partner's cluster, or take the partner out."""
    try:
        placement = Placement(whole.problem, labels, watch)
        wanted = [_by_change(placement, demand) for demand in whole.demands]
    except ExpiredError:
        wanted = [list(demand.partners) for demand in whole.demands]
    glued = _glue(whole, wanted)
    if glued is None:
        return None
    problem, _ = whole.problem.contract(glued)
    return improve(whole, heuristics.start(problem, watch, kicks=0)[glued], watch, kicks=KICKS)


def improve(whole: Demanding, labels: Labels, watch: Watch, *, kicks: int) -> Labels:
    """Move nodes, and shake the clustering, as long as no demand is left unmet that was met."""

    def value(trial: Labels) -> int:
        reached = whole.value(trial)
        return UNMET if reached is None else reached

    def moved(trial: Labels) -> Labels:
        placement = Placement(whole.problem, trial, watch)
        _repair(whole, placement)
        return _climb(whole, placement, watch)

    try:
        labels = moved(labels)
        rounds = watch.during(range(kicks))
        return heuristics.shaken(whole.problem, labels, rounds, 1, improve=moved, value=value)
    except ExpiredError:
        return labels


def _repair(whole: Demanding, placement: Placement) -> None:
    """Put every home that has no partner with the one that costs least: in its cluster, or the two alone."""
    labels = placement.labels
    for demand in whole.demands:
        if (labels[list(demand.partners)] != labels[demand.home]).all():
            partner = _by_change(placement, demand)[0]
            apart, joined = _changes(placement, demand.home, np.array([partner]))
            if joined[0] < apart[0]:
                placement.offer_empty()
                placement.move(partner, placement.empty)
            placement.move(demand.home, int(labels[partner]))
    placement.offer_empty()


def _climb(whole: Demanding, placement: Placement, watch: Watch) -> Labels:
    """Move nodes that gain by it, those that gain most first, if no home loses its last partner by it."""
    held, moved = _Held(whole.demands, placement.labels), True
    while moved and not watch.expired():
        moved, rises = False, placement.rises()
        nodes, clusters = np.nonzero(rises > 0)
        order = np.argsort(-rises[nodes, clusters], kind="stable")
        for number, place in enumerate(order.tolist()):
            if number % OFTEN == 0 and watch.expired():
                break
            node, cluster = int(nodes[place]), int(clusters[place])
            # Earlier moves of this sweep may have spoilt it.
            if placement.rise(node, cluster) > 0 and held.may_move(node, cluster):
                placement.move(node, cluster)
                moved = True
        placement.offer_empty()
    return renumber(placement.labels)


class _Held:
    """Which nodes must stay where they are: homes, and the last partners that they have."""

    def __init__(self, demands: Demands, labels: Labels) -> None:
        self.labels = labels
        self.own: dict[int, list[Demand]] = {}
        self.served: dict[int, list[Demand]] = {}
        for demand in demands:
            self.own.setdefault(demand.home, []).append(demand)
            for partner in demand.partners:
                self.served.setdefault(partner, []).append(demand)

    def may_move(self, node: int, cluster: int) -> bool:
        """Return whether every home still has a partner after a move."""
        labels, old = self.labels, self.labels[node]
        return all(self._has(demand, cluster, node) for demand in self.own.get(node, ())) and all(
            labels[demand.home] != old or demand.home == node or self._has(demand, old, node)
            for demand in self.served.get(node, ())
        )

    def _has(self, demand: Demand, cluster: int, without: int) -> bool:
        return any(self.labels[one] == cluster and one != without for one in demand.partners)


def _by_change(placement: Placement, demand: Demand) -> list[int]:
    """Order the partners of a demand by what it costs to be with them, the cheapest first."""
    partners = np.array(demand.partners, dtype=np.intp)
    change = np.maximum(*_changes(placement, demand.home, partners)) - np.array(demand.costs)
    return [int(partners[place]) for place in np.argsort(-change, kind="stable")]


def _changes(placement: Placement, home: int, partners: Labels) -> tuple[Ints, Ints]:
    """Return what it gains to have a home and a partner on their own, and to put the home in its cluster."""
    there = placement.labels[partners]
    apart = placement.problem.gains[home, partners] - placement.held[partners, there]
    joined = np.where(placement.blocked[home, there] > 0, FAR, placement.held[home, there])
    return apart, joined
