"""The exact search on one problem: reduce, split into components, then solve each.

Components up to `TINY` nodes are searched exhaustively, larger ones by linear relaxation (`rounds`).
The linear-programming solver is imported only when the first of those is met.
"""

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import NONE, Cuts
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.outcome import SearchOutcome, Tell, adding, unheard
from caspr.engines.native.partition.problem import Problem, components, firsts, renumber
from caspr.engines.native.partition.reductions import Reduced, reduce
from caspr.engines.native.partition.watch import Watch

TINY = 8
"""Problems up to this size are searched exhaustively, without a linear program."""
LOWEST = -(1 << 62)
"""No floor at all."""
KICKS = 5
"""How often a first clustering is shaken before the first relaxation."""


def quick(reduced: Reduced) -> SearchOutcome:
    """Return a first clustering and the bound that every positive gain gives."""
    small = reduced.problem
    if not small.ceiling:
        return SearchOutcome(reduced.labels, reduced.constant, reduced.constant)
    labels = heuristics.polish(small, heuristics.greedy(small))
    value = (small.value(labels) or 0) + reduced.constant
    return SearchOutcome(reduced.lift(labels), value, small.ceiling + reduced.constant)


def search(
    problem: Problem, watch: Watch, *, floor: int = LOWEST, cuts: Cuts = NONE, tell: Tell = unheard
) -> SearchOutcome:
    """Find an optimum if it exceeds the floor, or the best that the limits allow."""
    return search_reduced(reduce(problem), watch, floor=floor, cuts=cuts, tell=tell)


def search_reduced(
    reduced: Reduced, watch: Watch, *, floor: int = LOWEST, cuts: Cuts = NONE, tell: Tell = unheard
) -> SearchOutcome:
    """Search a problem that is reduced already."""
    constant = reduced.constant
    renamed = cuts.rename(reduced.labels, reduced.problem)
    inner = _by_components(reduced.problem, watch, floor - constant, renamed, adding(tell, constant))
    return SearchOutcome(
        reduced.lift(inner.labels),
        inner.value + constant,
        inner.bound + constant,
        inner.cuts.named(firsts(reduced.labels)),
    )


def _by_components(problem: Problem, watch: Watch, floor: int, cuts: Cuts, tell: Tell) -> SearchOutcome:
    """Search each component on its own, small ones first."""
    parts = components(problem.gains > 0)
    groups = [np.flatnonzero(parts == part) for part in range(int(parts.max(initial=-1)) + 1)]
    groups = sorted((group for group in groups if len(group) > 1), key=len)
    pieces = [problem.restrict(group) for group in groups]
    labels = np.arange(problem.size)
    value, ceiling, held = 0, sum(piece.ceiling for piece in pieces), NONE
    for group, piece in zip(groups, pieces, strict=True):
        others = ceiling - piece.ceiling
        place = np.full(problem.size, -1, dtype=np.intp)
        place[group] = np.arange(len(group))
        inside = cuts.within(place, piece)
        outcome = _connected(piece, watch, floor - others, inside, adding(tell, others))
        labels[group] = group[outcome.labels]
        value, held = value + outcome.value, held | outcome.cuts.named(group)
        ceiling = others + max(outcome.bound, min(floor - others, piece.ceiling))
        tell(ceiling)
    return SearchOutcome(renumber(labels), value, ceiling, held)


def _connected(problem: Problem, watch: Watch, floor: int, cuts: Cuts, tell: Tell) -> SearchOutcome:
    """Search one component."""
    if problem.size <= TINY:
        optima = enumerate_optima(problem)
        assert optima is not None  # all nodes alone reach the floor of 0
        return SearchOutcome(optima.first, optima.value, optima.value)
    if watch.over():
        return quick(Reduced(problem, np.arange(problem.size), 0))
    from caspr.engines.native.partition.cutting_planes import Rounds

    labels = heuristics.start(problem, kicks=KICKS if floor < 0 else 0)
    return Rounds(problem, watch, floor, search, tell).run(labels, cuts)
