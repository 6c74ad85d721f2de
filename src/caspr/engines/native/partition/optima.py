"""All optima of a problem, listed or merely counted, as a product over what is independent.

**Counting** needs no list: choose the cluster of one node, and remember what the rest can do. Every
clustering of some nodes is a cluster of the first of them and a clustering of what is left. So the best value
of a set of nodes, and in how many ways it is reached, follow from those of smaller sets:

    best(S) = the largest value(C) + best(S - C) over clusters C that hold the first node of S;
    ways(S) = the sum of ways(S - C) over those C that reach it.

Two things keep the sets few. What is left falls into components (gains of 0 connect), whose values
add up and whose numbers multiply. And nodes that could be swapped without any change (*alike*: equal
gains and forbidden pairs with all others) are only counted: k of m such nodes can be chosen in "m over k"
ways, and a set is remembered by how many of each kind it holds. Nodes are numbered outwards from one
end, so that the same sets are met again.

Without negative gains the clusters to try are cliques, of which there are few. This is where ties abound:
three annotators under V gain nothing and lose nothing by a link that one of them gave.

**Components.** Strict reductions and strict fixing by reduced gains keep every optimum. What they leave
undecided falls into components; here gains of 0 connect as well, since joining two clusters at gain 0 ties.

Claim: the optima of a problem are the products of optima of its components. Proof: between components
every allowed pair has a negative gain, so a cluster across two of them gains when it is cut there; no
optimum has one. So an optimum is a clustering of each component, its value is the sum of theirs, and it
is the largest exactly if each of them is. Hence the numbers of optima multiply, and nothing is expanded
to be counted.

A small component is searched exhaustively, one without negative gains is counted (above). Any other is
branched on a pair: an optimum holds it together or apart and never both, so both sides together hold each
optimum once, and their numbers add up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb, prod
from typing import Generic, Never, TypeVar

import numpy as np

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
from caspr.engines.native.partition.reductions import reduce, shrink
from caspr.engines.native.partition.search import fix_in_all_optima, search, undecided
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import fits
from caspr.engines.native.partition.watch import Watch

T = TypeVar("T")
Clusters = tuple[tuple[int, ...], ...]
Counts = tuple[int, ...]
"""How many nodes of each kind a set holds."""


OFTEN = 256
"""How many steps are taken between two looks at the clock."""
STRIDE = 10
"""How many kinds are worked out at a time, the last ones first."""
DEEPEST = 100
"""How many sets may wait for smaller ones: Python does not let functions call each other without end."""


class GaveUpError(Exception):
    """Counting would take more steps than allowed."""


@dataclass(frozen=True)
class Best:
    """What a set of nodes can gain at most, and in how many ways."""

    value: int
    ways: int


@dataclass(frozen=True)
class _Choice:
    """One cluster of an optimum."""

    cluster: tuple[int, ...]
    left: list[list[int]] | None
    """The other nodes by kind; `None` if there is nothing to choose."""


class Census:
    """Counts the optima of one problem; raises `GaveUpError` when that takes too many steps or too long."""

    def __init__(self, problem: Problem, steps: int, watch: Watch | None = None) -> None:
        self.steps, self.watch = steps, watch or Watch()
        self.kinds = _kinds(problem, self._looking(range(problem.size)))
        first = [kind[0] for kind in self.kinds]
        last = [kind[-1] for kind in self.kinds]
        self.full: Counts = tuple(len(kind) for kind in self.kinds)
        # Gains of a kind with itself are those between two different nodes of it.
        self.gains = [row.tolist() for row in self._looking(problem.gains[np.ix_(first, last)])]
        forbidden = problem.forbidden[np.ix_(first, last)]
        self.forbidden = [row.tolist() for row in self._looking(forbidden)]
        usable: Bools = (problem.gains[np.ix_(first, last)] >= 0) & ~forbidden
        self.near = [np.flatnonzero(row).tolist() for row in usable]
        self._known: dict[Counts, Best] = {}
        self._waiting = 0

    def _looking(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items, with a look at the clock before each."""
        for item in items:
            if self.watch.expired():
                raise GaveUpError
            yield item

    def whole(self) -> Best:
        """Return the best value of all nodes and the number of optima."""
        for start in range(len(self.full), 0, -STRIDE):
            self.best(tuple(0 if kind < start else count for kind, count in enumerate(self.full)))
        return self.best(self.full)

    def best(self, counts: Counts) -> Best:
        """Return the best value of a set of nodes and the number of its optima."""
        parts = [self._connected(part) for part in self._components(counts)]
        return Best(sum(part.value for part in parts), prod(part.ways for part in parts))

    def _connected(self, counts: Counts) -> Best:
        best = self._known.get(counts)
        if best is None:
            self._waiting += 1
            if self._waiting > DEEPEST:
                raise GaveUpError
            value, ways = -1, 0
            for gained, chosen, times in self._clusters(counts):
                rest = self.best(_without(counts, chosen))
                if gained + rest.value > value:
                    value, ways = gained + rest.value, 0
                if gained + rest.value == value:
                    ways += times * rest.ways
            self._waiting -= 1
            best = self._known[counts] = Best(value, ways)
        return best

    def _components(self, counts: Counts) -> Iterator[Counts]:
        """Split a set of several nodes into components; nodes alone gain nothing, in one way."""
        left = {kind for kind, count in enumerate(counts) if count}
        while left:
            reached = [min(left)]
            left.discard(reached[0])
            for kind in reached:
                new = [neighbour for neighbour in self.near[kind] if neighbour in left]
                left.difference_update(new)
                reached += new
            if len(reached) > 1 or (counts[reached[0]] > 1 and reached[0] in self.near[reached[0]]):
                inside = set(reached)
                yield tuple(count if kind in inside else 0 for kind, count in enumerate(counts))

    def _clusters(self, counts: Counts) -> Iterator[tuple[int, dict[int, int], int]]:
        """Yield each cluster that holds a node of the first kind: its value, what is in it, how often."""
        first = next(kind for kind, count in enumerate(counts) if count)
        most = counts[first] if not self.forbidden[first][first] else 1
        rest = [kind for kind, count in enumerate(counts) if count and kind != first]
        for many in range(1, most + 1):
            value = self.gains[first][first] * many * (many - 1) // 2
            times = comb(counts[first] - 1, many - 1)
            yield from self._grown(counts, rest, 0, value, {first: many}, times)

    def _grown(
        self, counts: Counts, rest: list[int], start: int, value: int, chosen: dict[int, int], times: int
    ) -> Iterator[tuple[int, dict[int, int], int]]:
        self.steps -= 1
        if self.steps < 0 or (self.steps % OFTEN == 0 and self.watch.expired()):
            raise GaveUpError
        yield value, chosen, times
        for position in range(start, len(rest)):
            kind = rest[position]
            if any(self.forbidden[kind][held] for held in chosen):
                continue
            pull = sum(self.gains[kind][held] * count for held, count in chosen.items())
            most = counts[kind] if not self.forbidden[kind][kind] else 1
            for many in range(1, most + 1):
                gained = value + pull * many + self.gains[kind][kind] * many * (many - 1) // 2
                more = times * comb(counts[kind], many)
                yield from self._grown(counts, rest, position + 1, gained, {**chosen, kind: many}, more)

    def clusterings(self) -> Iterator[Clusters]:
        """Yield the optima one by one, as clusters of two nodes or more, after `whole` was called."""
        chosen: list[tuple[int, ...]] = []
        open_choices = [self._choices([list(kind) for kind in self.kinds])]
        while open_choices:
            choice = next(open_choices[-1], None)
            if choice is None:
                open_choices.pop()
                del chosen[-1:]
            elif choice.left is None:
                yield tuple(cluster for cluster in chosen if len(cluster) > 1)
            else:
                chosen.append(choice.cluster)
                open_choices.append(self._choices(choice.left))

    def _choices(self, nodes: list[list[int]]) -> Iterator[_Choice]:
        """Yield what the cluster of one node can be in an optimum; a choice of nothing if all are alone."""
        part = next(self._components(tuple(len(kind) for kind in nodes)), None)
        if part is None:
            yield _Choice((), None)
            return
        inside = [kind if part[number] else [] for number, kind in enumerate(nodes)]
        goal = self._connected(part).value
        for gained, chosen, _ in self._clusters(part):
            if gained + self.best(_without(part, chosen)).value == goal:
                for cluster in _members(inside, chosen):
                    yield _Choice(cluster, [[node for node in kind if node not in cluster] for kind in nodes])


def _members(nodes: list[list[int]], chosen: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Yield the clusters with the chosen number of nodes of each kind, the very first node among them."""
    first = next(iter(chosen))
    own = combinations(nodes[first][1:], chosen[first] - 1)
    rest = (combinations(nodes[kind], count) for kind, count in chosen.items() if kind != first)
    for parts in product(own, *rest):
        yield (nodes[first][0], *(node for part in parts for node in part))


def _without(counts: Counts, chosen: dict[int, int]) -> Counts:
    return tuple([count - chosen.get(kind, 0) for kind, count in enumerate(counts)])


def _kinds(problem: Problem, nodes: Iterable[int]) -> list[list[int]]:
    """Gather nodes that are alike, and number the kinds outwards from one end of the graph."""
    by_row: dict[bytes, list[list[int]]] = {}
    for node in nodes:
        row = np.sort(problem.gains[node]).tobytes() + np.sort(problem.forbidden[node]).tobytes()
        same = by_row.setdefault(row, [])
        kind = next((kind for kind in same if _alike(problem, kind[0], node)), None)
        if kind is None:
            same.append([node])
        else:
            kind.append(node)
    kinds = [kind for same in by_row.values() for kind in same]
    return [kinds[position] for position in _outwards(problem, [kind[0] for kind in kinds])]


def _alike(problem: Problem, first: int, second: int) -> bool:
    """Return whether two nodes could be swapped."""
    rest = np.ones(problem.size, dtype=bool)
    rest[[first, second]] = False
    gains, forbidden = problem.gains, problem.forbidden
    same: bool = np.array_equal(gains[first][rest], gains[second][rest])
    return same and np.array_equal(forbidden[first][rest], forbidden[second][rest])


def _outwards(problem: Problem, nodes: list[int]) -> list[int]:
    """Order nodes by their distance from one with few neighbours, those with few first."""
    usable: Bools = ((problem.gains >= 0) & ~problem.forbidden)[np.ix_(nodes, nodes)]
    degree = usable.sum(axis=1)
    order: list[int] = []
    seen: set[int] = set()
    for start in np.argsort(degree, kind="stable").tolist():
        frontier = [] if start in seen else [start]
        seen.update(frontier)
        while frontier:
            order += frontier
            reached = {near for kind in frontier for near in np.flatnonzero(usable[kind]).tolist()} - seen
            seen |= reached
            frontier = sorted(reached, key=lambda kind: (int(degree[kind]), kind))
    return order


ENUMERATED = 9
"""Components up to this size are searched exhaustively."""
HOPELESS = 12
"""How many branchings are left when counting took too long: enough to list a few clusterings."""


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
    """How many there are at least, where they were not counted."""

    @property
    def least(self) -> int:
        """How many there are at least."""
        return max(self.known, len(self.listed)) if self.count is None else self.count

    @property
    def complete(self) -> bool:
        """Whether all are listed."""
        return self.count == len(self.listed)


NO_OPTIMA: OptimaSet[Never] = OptimaSet((), 0)
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
    optima = [
        _connected(problem.restrict(group), best, budget) for group, best in zip(groups, values, strict=True)
    ]
    combined = combine(optima, budget.limit, budget.watch)
    chosen = budget.watch.during(combined.listed)
    listed = tuple(_assembled(problem.size, groups, clusterings) for clusterings in chosen)
    return OptimaSet(listed, combined.count, combined.known)


def _assembled(size: int, groups: list[Labels], chosen: Sequence[Clustering]) -> Clustering:
    """Make one clustering of those of the components; all other nodes are alone."""
    labels = np.arange(size)
    for group, clustering in zip(groups, chosen, strict=True):
        labels[group] = group[np.array(clustering, dtype=np.intp)]
    return tuple(renumber(labels).tolist())


def _connected(problem: Problem, value: int, budget: Budget) -> OptimaSet[Clustering]:
    if problem.size <= ENUMERATED:
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
    fixed = fix_in_all_optima(problem, value, budget.watch)
    groups = joined(problem.size, *np.nonzero(fixed.together))
    narrowed = problem.separate(fixed.apart)
    if narrowed.breaks(groups):
        return NO_OPTIMA
    if groups.max() + 1 < problem.size or components(_usable(narrowed)).max() > 0:
        return _inside(narrowed, groups, value, budget)
    first, second = undecided(narrowed, fixed.x)
    pair = joined(problem.size, np.array([first]), np.array([second]))
    cut = np.zeros_like(fixed.apart)
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
