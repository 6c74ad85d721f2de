"""The exact search on a problem with demands: contract, split, then cut (`planes`).

*Components.* Where no gain is positive between two sets of nodes, and no demand has its home in one and a
partner in the other, some optimum puts no pair across: cutting there loses nothing and leaves every first
partner where it is. So both sets are solved on their own.

*Forced partners.* A demand with one partner left has it with its home: the two are contracted.
"""

from dataclasses import replace

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.exhaustive import Walk
from caspr.engines.native.partition.outcome import NO_FLOOR, WarmStart
from caspr.engines.native.partition.partners.demand import Demanding
from caspr.engines.native.partition.partners.outcome import UNMET, PartnerOutcome, unmet
from caspr.engines.native.partition.partners.partner_stars import NO_PARTNER_CUTS
from caspr.engines.native.partition.partners.rounding import meet
from caspr.engines.native.partition.partners.start import NOTHING, Start
from caspr.engines.native.partition.problem import Labels, components, firsts, joined, renumber
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.watch import Watch

SMALL = 40
"""A rough search searches problems without demands of up to so many nodes."""


def quick_demanding(whole: Demanding, watch: Watch) -> PartnerOutcome:
    """Return a first clustering and the bound that every positive gain gives."""
    begin = heuristics.start(whole.problem, watch, kicks=0)
    labels = meet(whole, begin, watch)
    value = None if labels is None else whole.value(labels)
    if labels is None or value is None:
        return PartnerOutcome(begin, UNMET, whole.problem.ceiling)
    return PartnerOutcome(labels, value, max(whole.problem.ceiling, value))


def search_demanding(whole: Demanding, watch: Watch, start: Start = NOTHING) -> PartnerOutcome:
    """Find an optimum that meets all demands if it exceeds the floor, or the best that the limits allow."""
    if not whole.demands and start.rough and whole.size > SMALL:
        labels = heuristics.start(whole.problem, watch, kicks=0)
        return PartnerOutcome(labels, whole.problem.value(labels) or 0, whole.problem.ceiling, start.floor)
    if not whole.demands:
        found = search(
            whole.problem,
            watch,
            floor=start.floor,
            start=WarmStart(start.cuts, None if start.near is None else start.near.x, start.ceiling),
            on_bound=start.on_bound,
            on_found=start.on_found,
        )
        return PartnerOutcome(found.labels, found.value, found.bound, start.floor, found.cuts)
    if whole.hopeless:
        return unmet(whole.size, start.floor)
    if any(demand.forced for demand in whole.demands):
        return _contracted(whole, watch, start)
    labels = components(whole.adjacent)
    if labels.max() > 0:
        return _by_components(whole, labels, watch, start)
    if whole.size <= start.tiny or whole.size == 1:
        return _exhausted(whole, start.floor)
    first = start.known or (_nothing(whole) if start.bounded else quick_demanding(whole, watch))
    if watch.expired():
        return PartnerOutcome(first.labels, first.value, first.bound, start.floor)
    from caspr.engines.native.partition.partners.planes import DemandPlanes

    return DemandPlanes(whole, watch, start, search_demanding).run(first.labels)


def _nothing(whole: Demanding) -> PartnerOutcome:
    return PartnerOutcome(np.arange(whole.size), UNMET, whole.problem.ceiling)


def _contracted(whole: Demanding, watch: Watch, start: Start) -> PartnerOutcome:
    """Put homes together with the only partner that they have left, and search what that makes."""
    forced = [(demand.home, demand.partners[0]) for demand in whole.demands if demand.forced]
    groups = joined(whole.size, *np.array(forced, dtype=np.intp).T)
    if whole.problem.breaks(groups):
        return unmet(whole.size, start.floor)
    small, constant = whole.contract(groups)
    # A clustering that meets the demands has forced partners together.
    known = None if start.known is None else start.known.within(firsts(groups), small)
    inside = replace(
        start.within(groups, small, constant),
        known=known,
        on_found=lambda labels, value: start.on_found(labels[groups], value + constant),
    )
    inner = search_demanding(small, watch, inside)
    return inner.lift(groups, constant, start.floor)


def _by_components(whole: Demanding, component: Labels, watch: Watch, start: Start) -> PartnerOutcome:
    """Search each component on its own, small ones first; see `partition.search` for the floors."""
    homes = {demand.home for demand in whole.demands}
    every = (np.flatnonzero(component == number) for number in range(int(component.max()) + 1))
    groups = sorted((group for group in every if len(group) > 1 or int(group[0]) in homes), key=len)
    pieces = [whole.restrict(group) for group in groups]
    labels, value, held, more = np.arange(whole.size), 0, NO_CUTS, NO_PARTNER_CUTS
    ceiling = sum(piece.problem.ceiling for piece in pieces)
    for group, piece in zip(groups, pieces, strict=True):
        others = ceiling - piece.problem.ceiling
        place = np.full(whole.size, -1, dtype=np.intp)
        place[group] = np.arange(len(group))
        known = None if start.known is None else start.known.within(group, piece)
        outcome = search_demanding(piece, watch, replace(start.within(place, piece, others), known=known))
        if outcome.bound == UNMET:
            return unmet(whole.size, start.floor)
        # Cluster i gets the name of the i-th node here, so names of different components never meet.
        labels[group] = group[renumber(outcome.labels)]
        value = UNMET if UNMET in (value, outcome.value) else value + outcome.value
        held, more = held | outcome.cuts.named(group), more | outcome.partner_cuts.named(group)
        ceiling = others + max(outcome.bound, min(start.floor - others, piece.problem.ceiling))
        start.on_bound(ceiling)
    return PartnerOutcome(renumber(labels), value, ceiling, start.floor, held, more)


def _exhausted(whole: Demanding, floor: int) -> PartnerOutcome:
    """Try all clusterings that may be the best: links only take from what the pairs gain."""
    walk = Walk(whole.problem, NO_FLOOR, None, None)
    best, value = np.arange(whole.size), UNMET
    for _, found in walk.clusterings():
        labels = np.array(found, dtype=np.intp)
        reached = whole.value(labels)
        if reached is not None and reached > value:
            best, value, walk.floor = labels, reached, reached + 1
    return PartnerOutcome(best, value, value, floor)
