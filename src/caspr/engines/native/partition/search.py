"""The exact search on one problem: reduce and take it apart (`splitting`), then solve each piece.

Pieces up to `TINY` nodes are searched exhaustively, larger ones by linear relaxation (`cutting_planes`). The
linear-programming solver is imported only when the first of those is met.
"""

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.outcome import (
    COLD,
    NO_FLOOR,
    OnBound,
    OnFound,
    SearchOutcome,
    WarmStart,
    ignore_bound,
    ignore_found,
    shifted,
)
from caspr.engines.native.partition.problem import Labels, Problem, firsts, renumber
from caspr.engines.native.partition.sparse.growing import grow
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.sparse.splitting import Piece, Split, split
from caspr.engines.native.partition.watch import Watch

TINY = 8
"""Problems up to this size are searched exhaustively, without a linear program."""
KICKS = 5
"""How often a first clustering is shaken before the first relaxation."""


def quick(reduced: Split, watch: Watch, *, floor: int = NO_FLOOR) -> SearchOutcome:
    """Return a first clustering and the bound that every positive gain gives."""
    if not reduced.pieces:
        return _decided(reduced, floor)
    labels, value = np.arange(reduced.size), reduced.constant
    for piece in reduced.pieces:
        found = first_clustering(piece.problem, watch)
        labels[piece.nodes] = piece.nodes[renumber(found)]
        value += piece.problem.value(found) or 0
    return SearchOutcome(reduced.lift(renumber(labels)), value, reduced.ceiling, floor)


def _decided(reduced: Split, floor: int) -> SearchOutcome:
    """Return the optimum where reductions leave nothing to search."""
    return SearchOutcome(reduced.labels, reduced.constant, reduced.constant, floor)


def first_clustering(problem: Problem | SparseProblem, watch: Watch) -> Labels:
    """Return a good clustering; all nodes alone if there is no time."""
    if isinstance(problem, SparseProblem):
        return grow(problem, watch)
    return heuristics.polish(problem, heuristics.greedy(problem, watch=watch), watch)


def search(
    problem: Problem,
    watch: Watch,
    *,
    floor: int = NO_FLOOR,
    start: WarmStart = COLD,
    on_bound: OnBound = ignore_bound,
    on_found: OnFound = ignore_found,
) -> SearchOutcome:
    """Find an optimum if it exceeds the floor, or the best that the limits allow."""
    return search_reduced(
        split(problem, watch), watch, floor=floor, start=start, on_bound=on_bound, on_found=on_found
    )


def search_reduced(
    reduced: Split,
    watch: Watch,
    *,
    floor: int = NO_FLOOR,
    start: WarmStart = COLD,
    on_bound: OnBound = ignore_bound,
    on_found: OnFound = ignore_found,
    known: Labels | None = None,
    remembered: dict[bytes, SearchOutcome] | None = None,
) -> SearchOutcome:
    """Search a problem that is reduced already, piece by piece, small ones first.

    `ceiling` is the sum of what each piece gains at most, as far as that is known: a bound for the whole
    problem at every moment, whatever the floor. The floor of a piece is what it must exceed for the whole
    to exceed its floor, if all others gain as much as they can: floor - others. Its outcome says that it
    gains no more than the larger of bound and floor - others, and it never gains more than its own ceiling;
    so it gains at most max(bound, min(floor - others, own ceiling)), which takes the place of its ceiling
    in the sum.

    A clustering that is `known` stands for pieces that are not searched yet in the clusterings reported,
    and for those that a limit leaves worse; it has no influence on a piece that is searched to the end.
    Pieces that are `remembered` are not searched again, and proven ones are remembered: a part that one
    more forbidden pair or decision touches has few new pieces.
    """
    if not reduced.pieces:
        return _decided(reduced, floor)
    first = firsts(reduced.labels)
    best = _Assembled(reduced, None if known is None else known[first])
    ceiling, held = reduced.ceiling, NO_CUTS
    for number, piece in enumerate(reduced.pieces):
        own = piece.problem.ceiling
        others = ceiling - own
        outcome = None if remembered is None else remembered.get(piece.key)
        if outcome is None:
            inside = _inside(start, reduced, piece, best.bound_of(number, start.bound, floor))
            outcome = _connected(
                piece.problem,
                watch,
                floor - others,
                inside,
                shifted(on_bound, others),
                best.reporting(number, on_found),
            )
            # Where a search starts decides which of several optima it finds: memory must not show.
            if remembered is not None and outcome.proven and not len(inside.cuts):
                remembered[piece.key] = outcome
        best.replace(number, outcome.labels, outcome.value)
        held |= outcome.cuts.named(first[piece.nodes])
        ceiling = others + max(outcome.bound, min(floor - others, own))
        on_bound(ceiling)
    return SearchOutcome(best.labels, best.value, ceiling, floor, held)


class _Assembled:
    """The best clusterings of all pieces, put together."""

    def __init__(self, reduced: Split, known: Labels | None) -> None:
        self.reduced = reduced
        self.found: list[Labels] = []
        self.values: list[int] = []
        for piece in reduced.pieces:
            alone = np.arange(len(piece.nodes))
            labels = alone if known is None else renumber(known[piece.nodes])
            value = piece.problem.value(labels)
            self.found.append(alone if value is None else labels)
            self.values.append(value or 0)

    @property
    def value(self) -> int:
        return self.reduced.constant + sum(self.values)

    @property
    def labels(self) -> Labels:
        """The clustering of the old nodes."""
        labels = np.arange(self.reduced.size)
        for piece, found in zip(self.reduced.pieces, self.found, strict=True):
            # Cluster i gets the name of the i-th node here, so names of different pieces never meet.
            labels[piece.nodes] = piece.nodes[renumber(found)]
        return self.reduced.lift(renumber(labels))

    def bound_of(self, number: int, bound: int | None, floor: int) -> int | None:
        """Return what one piece gains at most, or than its floor, by a bound of the whole problem.

        With the best clusterings of the others, whose values are known, it makes one of the whole, which
        gains no more than the larger of bound and floor.
        """
        return None if bound is None else max(bound, floor) - (self.value - self.values[number])

    def replace(self, number: int, labels: Labels, value: int) -> None:
        """Take another clustering of one piece, unless it is worse."""
        if value >= self.values[number]:
            self.found[number], self.values[number] = labels, value

    def reporting(self, number: int, on_found: OnFound) -> OnFound:
        """Report better clusterings of one piece as clusterings of the whole."""
        if on_found is ignore_found:
            return ignore_found

        def found(labels: Labels, value: int) -> None:
            if value > self.values[number]:
                self.replace(number, labels, value)
                on_found(self.labels, self.value)

        return found


def _inside(start: WarmStart, reduced: Split, piece: Piece, bound: int | None) -> WarmStart:
    """Express the warm start of the whole problem in the nodes of a piece, for which there is a bound."""
    if isinstance(piece.problem, SparseProblem):
        return COLD
    place = np.full(reduced.size, -1, dtype=np.intp)
    place[piece.nodes] = np.arange(len(piece.nodes))
    return start.within(place[reduced.labels], piece.problem, bound)


def _connected(
    problem: Problem | SparseProblem,
    watch: Watch,
    floor: int,
    start: WarmStart,
    on_bound: OnBound,
    on_found: OnFound,
) -> SearchOutcome:
    """Search one piece."""
    if not isinstance(problem, SparseProblem) and problem.size <= TINY:
        optima = enumerate_optima(problem)
        assert optima is not None  # all nodes alone reach the floor of 0
        return SearchOutcome(optima.first, optima.value, optima.value, floor)
    if isinstance(problem, SparseProblem) or watch.expired():
        labels = first_clustering(problem, watch)
        return SearchOutcome(labels, problem.value(labels) or 0, problem.ceiling, floor)
    from caspr.engines.native.partition.cutting_planes import CuttingPlanes

    labels = heuristics.start(problem, watch, kicks=KICKS if floor < 0 else 0)
    return CuttingPlanes(problem, watch, floor, search, on_bound, on_found, start).run(labels)
