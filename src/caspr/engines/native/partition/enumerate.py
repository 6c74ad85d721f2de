"""All optima of one problem, as a product over what is independent.

Strict reductions and strict fixing by reduced gains keep every optimum. What they leave undecided falls
into components; here gains of 0 connect as well, since joining two clusters at gain 0 ties. The optima
of a problem are the product of those of its components, and their number the product of the numbers:
nothing is expanded to be counted. A small component is searched exhaustively, one without negative gains
is counted (`counting`); any other is branched on a pair, whose two sides share no clustering, so their
numbers add up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, product
from math import prod

import numpy as np

from caspr.engines.native.partition.counting import Census, Clusters, GaveUpError
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.problem import Bools, Labels, Problem, components, joined, renumber
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.watch import Watch

SMALL = 9
"""Components up to this size are searched exhaustively."""
HOPELESS = 12
"""How many branchings are left when counting took too long: for a few clusterings, not for all."""


@dataclass(frozen=True)
class Ties:
    """Clusterings of equal value."""

    clusterings: tuple[tuple[int, ...], ...]
    """Labels in the order of first nodes, as many as were asked for."""
    count: int | None
    """How many there are; `None` if that was not found out."""
    known: int = 0
    """There are at least so many, where they were not counted."""

    @property
    def least(self) -> int:
        """There are at least so many."""
        return max(self.known, len(self.clusterings)) if self.count is None else self.count

    @property
    def complete(self) -> bool:
        """Whether all are listed."""
        return self.count == len(self.clusterings)


NONE = Ties((), 0)
"""No clustering has that value."""


@dataclass
class Budget:
    """How much work may be spent before the number of optima is left open."""

    watch: Watch
    limit: int
    """How many clusterings to list."""
    branchings: int = 60
    """How many branchings are left."""
    steps: int = 30_000
    """How many clusters may be tried in counting."""


def all_optima(problem: Problem, value: int, budget: Budget) -> Ties:
    """Find the clusterings of a value that no clustering exceeds."""
    reduced = reduce(problem, all_optima=True)
    inner = _by_components(reduced.problem, value - reduced.constant, budget)
    return _renamed(inner, reduced.labels)


def _renamed(ties: Ties, labels: Labels) -> Ties:
    arrays = (np.array(clustering, dtype=np.intp)[labels] for clustering in ties.clusterings)
    return Ties(tuple(tuple(renumber(array).tolist()) for array in arrays), ties.count, ties.known)


def _by_components(problem: Problem, value: int, budget: Budget) -> Ties:
    parts = components((problem.gains >= 0) & ~problem.forbidden)
    groups = [np.flatnonzero(parts == part) for part in range(int(parts.max(initial=-1)) + 1)]
    groups = [group for group in groups if len(group) > 1]
    if len(groups) == 1:
        piece = problem.restrict(groups[0])
        return _product(problem.size, groups, [_connected(piece, value, budget)], budget)
    outcomes = [search(problem.restrict(group), budget.watch) for group in groups]
    if sum(outcome.value for outcome in outcomes) < value:
        return NONE if all(outcome.proven for outcome in outcomes) else Ties((), None)
    found = [
        _connected(problem.restrict(group), outcome.value, budget)
        for group, outcome in zip(groups, outcomes, strict=True)
    ]
    return _product(problem.size, groups, found, budget)


def _product(size: int, groups: list[Labels], found: list[Ties], budget: Budget) -> Ties:
    """Combine what is independent, listing no more than asked for."""
    counts = [ties.count for ties in found]
    count = None if None in counts else prod(c for c in counts if c is not None)
    listed = []
    for chosen in islice(product(*(ties.clusterings for ties in found)), budget.limit):
        labels = np.arange(size)
        for group, clustering in zip(groups, chosen, strict=True):
            labels[group] = group[np.array(clustering, dtype=np.intp)]
        listed.append(tuple(renumber(labels).tolist()))
    return Ties(tuple(listed), count, prod(ties.least for ties in found))


def _connected(problem: Problem, value: int, budget: Budget) -> Ties:
    if problem.size <= SMALL:
        optima = enumerate_optima(problem, floor=value, limit=max(2, budget.limit))
        return NONE if optima is None else Ties(optima.clusterings[: budget.limit], optima.count)
    if (problem.gains >= 0).all():
        counted = _counted(problem, value, budget)
        if counted is not None:
            return counted
        budget.branchings = min(budget.branchings, HOPELESS)
    budget.branchings -= 1
    if budget.branchings < 0 or budget.watch.over():
        # Give up counting, but not the one optimum that is easily had.
        outcome = search(problem, budget.watch)
        labels = renumber(outcome.labels).tolist()
        return Ties((tuple(labels),) if outcome.value == value else (), None)
    return _fixed_or_branched(problem, value, budget)


def _counted(problem: Problem, value: int, budget: Budget) -> Ties | None:
    """Count the clusterings of a value; `None` if that takes too long."""
    census = Census(problem, budget.steps, budget.watch)
    try:
        best = census.whole()
        chosen = list(islice(census.clusterings(), budget.limit)) if best.value == value else []
    except GaveUpError:
        budget.steps = 0
        return None
    budget.steps = census.steps
    listed = sorted(_labels(problem.size, clusters) for clusters in chosen)
    return Ties(tuple(listed), best.ways if best.value == value else 0)


def _labels(size: int, clusters: Clusters) -> tuple[int, ...]:
    labels = np.arange(size)
    for cluster in clusters:
        labels[list(cluster)] = cluster[0]
    return tuple(renumber(labels).tolist())


def _fixed_or_branched(problem: Problem, value: int, budget: Budget) -> Ties:
    """Fix what one more relaxation decides; branch if it decides nothing."""
    from caspr.engines.native.partition.cutting_planes import relax_at_root, undecided

    x, together, apart = relax_at_root(problem, value, budget.watch)
    groups = joined(problem.size, *np.nonzero(together))
    narrowed = problem.separate(apart)
    if narrowed.breaks(groups):
        return NONE
    if groups.max() + 1 < problem.size or not _one_piece(narrowed):
        return _inside(narrowed, groups, value, budget)
    first, second = undecided(narrowed, x)
    pair = joined(problem.size, np.array([first]), np.array([second]))
    cut = np.zeros_like(apart)
    cut[first, second] = cut[second, first] = True
    return _united(
        [_inside(narrowed, pair, value, budget), _inside(narrowed.separate(cut), groups, value, budget)],
        budget,
    )


def _one_piece(problem: Problem) -> bool:
    usable: Bools = (problem.gains >= 0) & ~problem.forbidden
    return int(components(usable).max()) == 0


def _inside(problem: Problem, groups: Labels, value: int, budget: Budget) -> Ties:
    """Find the clusterings of a value that keep some nodes together."""
    small, constant = problem.contract(groups)
    outcome = search(small, budget.watch)
    if outcome.value < value - constant:
        return NONE if outcome.proven else Ties((), None)
    return _renamed(all_optima(small, value - constant, budget), groups)


def _united(sides: Iterable[Ties], budget: Budget) -> Ties:
    sides = list(sides)
    listed = sorted(clustering for side in sides for clustering in side.clusterings)
    counts = [side.count for side in sides]
    count = None if None in counts else sum(c for c in counts if c is not None)
    return Ties(tuple(listed[: budget.limit]), count, sum(side.least for side in sides))
