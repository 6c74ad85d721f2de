"""All optima of one problem, as a product over what is independent.

Strict reductions and strict fixing by reduced gains keep every optimum. What they leave undecided falls
into components; here gains of 0 connect as well, since joining two clusters at gain 0 ties.

Claim: the optima of a problem are the products of optima of its components. Proof: between components
every allowed pair has a negative gain, so a cluster across two of them gains when it is cut there; no
optimum has one. So an optimum is a clustering of each component, its value is the sum of theirs, and it
is the largest exactly if each of them is. Hence the numbers of optima multiply, and nothing is expanded
to be counted.

A small component is searched exhaustively, one without negative gains is counted (`counting`). Any other is
branched on a pair: an optimum holds it together or apart and never both, so both sides together hold each
optimum once, and their numbers add up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Generic, Never, TypeVar

import numpy as np

from caspr.engines.native.partition.counting import Census, Clusters, GaveUpError
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.problem import (
    Bools,
    Labels,
    Problem,
    components,
    connected_groups,
    joined,
    renumber,
)
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.sparse.shrinking import shrink
from caspr.engines.native.partition.sparse.splitting import fits
from caspr.engines.native.partition.watch import Watch

SMALL = 9
"""Components up to this size are searched exhaustively."""
HOPELESS = 12
"""How many branchings are left when counting took too long: enough to list a few clusterings."""


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Clustering = tuple[int, ...]
"""Labels in the order of first nodes."""


@dataclass(frozen=True)
class OptimaSet(Generic[T_co]):
    """All optima of something, some of them listed."""

    listed: Sequence[T_co]
    """As many as were asked for."""
    count: int | None
    """How many there are; `None` if that was not found out."""
    known: int = 0
    """There are at least so many, where they were not counted."""

    @property
    def least(self) -> int:
        """There are at least so many."""
        return max(self.known, len(self.listed)) if self.count is None else self.count

    @property
    def complete(self) -> bool:
        """Whether all are listed."""
        return self.count == len(self.listed)


NO_OPTIMA: OptimaSet[Never] = OptimaSet((), 0)
"""There are none."""
UNKNOWN: OptimaSet[Never] = OptimaSet((), None)
"""Whether there are any was not found out."""


def combine(
    independent: Sequence[OptimaSet[T]], limit: int, watch: Watch | None = None
) -> OptimaSet[tuple[T, ...]]:
    """Return all choices of one optimum from each of several independent sets, listing some.

    No more are listed once it is time to stop, but one is.

    >>> combine([OptimaSet("ab", 2), OptimaSet("xyz", 5)], 4)
    OptimaSet(listed=(('a', 'x'), ('a', 'y'), ('a', 'z'), ('b', 'x')), count=10, known=10)
    """
    counts = [optima.count for optima in independent]
    count = None if None in counts else prod(c for c in counts if c is not None)
    choices = islice(product(*(optima.listed for optima in independent)), limit)
    listed = tuple(first_and(choices, watch or Watch()))
    return OptimaSet(listed, count, prod(optima.least for optima in independent))


def first_and(items: Iterable[T], watch: Watch) -> Iterator[T]:
    """Yield the first item, and others until it is time to stop."""
    for number, item in enumerate(items):
        if number and watch.expired():
            return
        yield item


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


def all_optima(problem: Problem | SparseProblem, value: int, budget: Budget) -> OptimaSet[Clustering]:
    """Find the clusterings of a value that no clustering exceeds."""
    if isinstance(problem, SparseProblem):
        shrunk = shrink(problem, budget.watch, all_optima=True)
        if not fits(shrunk.problem.size, budget.watch):
            return UNKNOWN
        inner = all_optima(shrunk.problem.dense(), value - shrunk.constant, budget)
        return _renamed(inner, shrunk.labels, budget.watch)
    reduced = reduce(problem, budget.watch, all_optima=True)
    inner = _by_components(reduced.problem, value - reduced.constant, budget)
    return _renamed(inner, reduced.labels, budget.watch)


def _renamed(optima: OptimaSet[Clustering], labels: Labels, watch: Watch) -> OptimaSet[Clustering]:
    arrays = (np.array(clustering, dtype=np.intp)[labels] for clustering in watch.during(optima.listed))
    return OptimaSet(tuple(tuple(renumber(array).tolist()) for array in arrays), optima.count, optima.known)


def _by_components(problem: Problem, value: int, budget: Budget) -> OptimaSet[Clustering]:
    groups = connected_groups(_usable(problem))
    values = [value]
    if len(groups) != 1:
        outcomes = [search(problem.restrict(group), budget.watch) for group in groups]
        values = [outcome.value for outcome in outcomes]
        # No clustering exceeds the value, so values that add up to it are optima even if not proven.
        if sum(values) < value:
            return NO_OPTIMA if all(outcome.proven for outcome in outcomes) else UNKNOWN
    found = [
        _connected(problem.restrict(group), best, budget) for group, best in zip(groups, values, strict=True)
    ]
    combined = combine(found, budget.limit, budget.watch)
    chosen = budget.watch.during(combined.listed)
    listed = tuple(_assembled(problem.size, groups, one) for one in chosen)
    return OptimaSet(listed, combined.count, combined.known)


def _assembled(size: int, groups: list[Labels], chosen: Sequence[Clustering]) -> Clustering:
    """Make one clustering of those of the components; all other nodes are alone."""
    labels = np.arange(size)
    for group, clustering in zip(groups, chosen, strict=True):
        labels[group] = group[np.array(clustering, dtype=np.intp)]
    return tuple(renumber(labels).tolist())


def _connected(problem: Problem, value: int, budget: Budget) -> OptimaSet[Clustering]:
    if problem.size <= SMALL:
        optima = enumerate_optima(problem, floor=value, limit=max(2, budget.limit), watch=budget.watch)
        if optima is None:
            return UNKNOWN if budget.watch.expired() else NO_OPTIMA
        return OptimaSet(optima.clusterings[: budget.limit], optima.count)
    if (problem.gains >= 0).all():
        counted = _counted(problem, value, budget)
        if counted is not None:
            return counted
        budget.branchings = min(budget.branchings, HOPELESS)
    budget.branchings -= 1
    if budget.branchings < 0 or budget.watch.expired():
        # Give up counting; one optimum may still be found.
        outcome = search(problem, budget.watch)
        labels = renumber(outcome.labels).tolist()
        return OptimaSet((tuple(labels),), None) if outcome.value == value else UNKNOWN
    return _fixed_or_branched(problem, value, budget)


def _counted(problem: Problem, value: int, budget: Budget) -> OptimaSet[Clustering] | None:
    """Count the clusterings of a value; `None` if that takes too long."""
    try:
        census = Census(problem, budget.steps, budget.watch)
        best = census.whole()
        listing = budget.watch.during(islice(census.clusterings(), budget.limit))
        chosen = list(listing) if best.value == value else []
    except GaveUpError:
        budget.steps = 0
        return None
    budget.steps = census.steps
    listed = sorted(_labels(problem.size, clusters) for clusters in chosen)
    return OptimaSet(tuple(listed), best.ways if best.value == value else 0)


def _labels(size: int, clusters: Clusters) -> Clustering:
    labels = np.arange(size)
    for cluster in clusters:
        labels[list(cluster)] = cluster[0]
    return tuple(renumber(labels).tolist())


def _fixed_or_branched(problem: Problem, value: int, budget: Budget) -> OptimaSet[Clustering]:
    """Fix what one more relaxation decides; branch if it decides nothing."""
    from caspr.engines.native.partition.cutting_planes import relax_at_root, undecided

    x, together, apart = relax_at_root(problem, value, budget.watch)
    groups = joined(problem.size, *np.nonzero(together))
    narrowed = problem.separate(apart)
    if narrowed.breaks(groups):
        return NO_OPTIMA
    if groups.max() + 1 < problem.size or components(_usable(narrowed)).max() > 0:
        return _inside(narrowed, groups, value, budget)
    first, second = undecided(narrowed, x)
    pair = joined(problem.size, np.array([first]), np.array([second]))
    cut = np.zeros_like(apart)
    cut[first, second] = cut[second, first] = True
    return _united(
        [_inside(narrowed, pair, value, budget), _inside(narrowed.separate(cut), groups, value, budget)],
        budget,
    )


def _usable(problem: Problem) -> Bools:
    """Find the pairs that an optimum may hold together without losing by it."""
    usable: Bools = (problem.gains >= 0) & ~problem.forbidden
    return usable


def _inside(problem: Problem, groups: Labels, value: int, budget: Budget) -> OptimaSet[Clustering]:
    """Find the clusterings of a value that keep some nodes together."""
    small, constant = problem.contract(groups)
    outcome = search(small, budget.watch)
    if outcome.value < value - constant:
        return NO_OPTIMA if outcome.proven else UNKNOWN
    return _renamed(all_optima(small, value - constant, budget), groups, budget.watch)


def _united(sides: Sequence[OptimaSet[Clustering]], budget: Budget) -> OptimaSet[Clustering]:
    """Unite sets that share no clustering."""
    listed = sorted(clustering for side in sides for clustering in side.listed)
    counts = [side.count for side in sides]
    count = None if None in counts else sum(c for c in counts if c is not None)
    return OptimaSet(tuple(listed[: budget.limit]), count, sum(side.least for side in sides))
