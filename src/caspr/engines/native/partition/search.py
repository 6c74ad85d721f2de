"""The exact search on one problem: reduce, split into components, then solve each.

Components up to `TINY` nodes are searched exhaustively, larger ones by linear relaxation
(`cutting_planes`). The linear-programming solver is imported only when the first of those is met.
"""

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import NO_CUTS, Cuts
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.outcome import NO_FLOOR, OnBound, SearchOutcome, ignore_bound, shifted
from caspr.engines.native.partition.problem import Problem, connected_groups, firsts, renumber
from caspr.engines.native.partition.reductions import Reduced, reduce
from caspr.engines.native.partition.watch import Watch

TINY = 8
"""Problems up to this size are searched exhaustively, without a linear program."""
KICKS = 5
"""How often a first clustering is shaken before the first relaxation."""


def quick(reduced: Reduced, *, floor: int = NO_FLOOR) -> SearchOutcome:
    """Return a first clustering and the bound that every positive gain gives."""
    small = reduced.problem
    if not small.ceiling:
        return SearchOutcome(reduced.labels, reduced.constant, reduced.constant, floor)
    labels = heuristics.polish(small, heuristics.greedy(small))
    value = (small.value(labels) or 0) + reduced.constant
    return SearchOutcome(reduced.lift(labels), value, small.ceiling + reduced.constant, floor)


def search(
    problem: Problem,
    watch: Watch,
    *,
    floor: int = NO_FLOOR,
    cuts: Cuts = NO_CUTS,
    on_bound: OnBound = ignore_bound,
) -> SearchOutcome:
    """Find an optimum if it exceeds the floor, or the best that the limits allow."""
    return search_reduced(reduce(problem), watch, floor=floor, cuts=cuts, on_bound=on_bound)


def search_reduced(
    reduced: Reduced,
    watch: Watch,
    *,
    floor: int = NO_FLOOR,
    cuts: Cuts = NO_CUTS,
    on_bound: OnBound = ignore_bound,
) -> SearchOutcome:
    """Search a problem that is reduced already."""
    constant = reduced.constant
    renamed = cuts.rename(reduced.labels, reduced.problem)
    inner = _by_components(reduced.problem, watch, floor - constant, renamed, shifted(on_bound, constant))
    return SearchOutcome(
        reduced.lift(inner.labels),
        inner.value + constant,
        inner.bound + constant,
        floor,
        inner.cuts.named(firsts(reduced.labels)),
    )


def _by_components(
    problem: Problem, watch: Watch, floor: int, cuts: Cuts, on_bound: OnBound
) -> SearchOutcome:
    """Search each component on its own, small ones first.

    `ceiling` is the sum of what each component gains at most, as far as that is known: a bound for the
    whole problem at every moment, whatever the floor. The floor of a component is what it must exceed for
    the whole to exceed its floor, if all others gain as much as they can: floor - others. Its outcome
    says that it gains no more than the larger of bound and floor - others, and it never gains more than
    its own ceiling; so it gains at most max(bound, min(floor - others, own ceiling)), which takes the
    place of its ceiling in the sum.
    """
    # Small components first: their exact values lower `others`, and so raise the floors of the large ones.
    groups = sorted(connected_groups(problem.gains > 0), key=len)
    pieces = [problem.restrict(group) for group in groups]
    labels = np.arange(problem.size)
    value, ceiling, held = 0, sum(piece.ceiling for piece in pieces), NO_CUTS
    for group, piece in zip(groups, pieces, strict=True):
        others = ceiling - piece.ceiling
        place = np.full(problem.size, -1, dtype=np.intp)
        place[group] = np.arange(len(group))
        inside = cuts.within(place, piece)
        outcome = _connected(piece, watch, floor - others, inside, shifted(on_bound, others))
        # Cluster i gets the name of the i-th node here, so names of different components never meet.
        labels[group] = group[outcome.labels]
        value, held = value + outcome.value, held | outcome.cuts.named(group)
        ceiling = others + max(outcome.bound, min(floor - others, piece.ceiling))
        on_bound(ceiling)
    return SearchOutcome(renumber(labels), value, ceiling, floor, held)


def _connected(problem: Problem, watch: Watch, floor: int, cuts: Cuts, on_bound: OnBound) -> SearchOutcome:
    """Search one component."""
    if problem.size <= TINY:
        optima = enumerate_optima(problem)
        assert optima is not None  # all nodes alone reach the floor of 0
        return SearchOutcome(optima.first, optima.value, optima.value, floor)
    if watch.expired():
        return quick(Reduced(problem, np.arange(problem.size), 0), floor=floor)
    from caspr.engines.native.partition.cutting_planes import CuttingPlanes

    labels = heuristics.start(problem, kicks=KICKS if floor < 0 else 0)
    return CuttingPlanes(problem, watch, floor, search, on_bound).run(labels, cuts)
