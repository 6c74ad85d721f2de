"""Counting optima without listing them: choose the cluster of one node, remember what the rest can do.

Every clustering of some nodes is a cluster of the first of them and a clustering of what is left. So the
best value of a set of nodes, and in how many ways it is reached, follow from those of smaller sets:

    best(S) = the largest value(C) + best(S - C) over clusters C that hold the first node of S;
    ways(S) = the sum of ways(S - C) over those C that reach it.

Two things keep the sets few. What is left falls into components (gains of 0 connect), whose values
add up and whose numbers multiply. And nodes that could be swapped without any change (*alike*: equal
gains and forbidden pairs with all others) are only counted: k of m such nodes can be chosen in "m over k"
ways, and a set is remembered by how many of each kind it holds. Nodes are numbered outwards from one
end, so that the same sets are met again.

Without negative gains the clusters to try are cliques, of which there are few. This is where ties abound:
three annotators under V gain nothing and lose nothing by a link that one of them gave.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import TypeVar

import numpy as np

from caspr.engines.native.partition.problem import Bools, Problem
from caspr.engines.native.partition.watch import Watch

T = TypeVar("T")
Clusters = tuple[tuple[int, ...], ...]
Counts = tuple[int, ...]
"""How many nodes of each kind a set holds."""


OFTEN = 256
"""After so many steps, the clock is looked at."""
STRIDE = 10
"""Sets are worked out by so many kinds at a time, the last ones first."""
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
        found = self._known.get(counts)
        if found is None:
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
            found = self._known[counts] = Best(value, ways)
        return found

    def _components(self, counts: Counts) -> Iterator[Counts]:
        """Split a set of several nodes into components; nodes alone gain nothing, in one way."""
        left = {kind for kind, count in enumerate(counts) if count}
        while left:
            reached = [min(left)]
            left.discard(reached[0])
            for kind in reached:
                new = [other for other in self.near[kind] if other in left]
                left.difference_update(new)
                reached += new
            if len(reached) > 1 or (counts[reached[0]] > 1 and reached[0] in self.near[reached[0]]):
                inside = set(reached)
                yield tuple(count if kind in inside else 0 for kind, count in enumerate(counts))

    def _clusters(self, counts: Counts) -> Iterator[tuple[int, dict[int, int], int]]:
        """Yield each cluster that holds a node of the first kind: its value, what is in it, how often."""
        first = next(kind for kind, count in enumerate(counts) if count)
        most = counts[first] if not self.forbidden[first][first] else 1
        others = [kind for kind, count in enumerate(counts) if count and kind != first]
        for many in range(1, most + 1):
            value = self.gains[first][first] * many * (many - 1) // 2
            times = comb(counts[first] - 1, many - 1)
            yield from self._grown(counts, others, 0, value, {first: many}, times)

    def _grown(
        self, counts: Counts, others: list[int], start: int, value: int, chosen: dict[int, int], times: int
    ) -> Iterator[tuple[int, dict[int, int], int]]:
        self.steps -= 1
        if self.steps < 0 or (self.steps % OFTEN == 0 and self.watch.expired()):
            raise GaveUpError
        yield value, chosen, times
        for place in range(start, len(others)):
            kind = others[place]
            if any(self.forbidden[kind][other] for other in chosen):
                continue
            pull = sum(self.gains[kind][other] * count for other, count in chosen.items())
            most = counts[kind] if not self.forbidden[kind][kind] else 1
            for many in range(1, most + 1):
                gained = value + pull * many + self.gains[kind][kind] * many * (many - 1) // 2
                more = times * comb(counts[kind], many)
                yield from self._grown(counts, others, place + 1, gained, {**chosen, kind: many}, more)

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
    """Yield the clusters that hold so many nodes of each kind, the very first node among them."""
    first = next(iter(chosen))
    own = combinations(nodes[first][1:], chosen[first] - 1)
    others = (combinations(nodes[kind], count) for kind, count in chosen.items() if kind != first)
    for parts in product(own, *others):
        yield (nodes[first][0], *(node for part in parts for node in part))


def _without(counts: Counts, chosen: dict[int, int]) -> Counts:
    return tuple([count - chosen.get(kind, 0) for kind, count in enumerate(counts)])


def _kinds(problem: Problem, nodes: Iterable[int]) -> list[list[int]]:
    """Gather nodes that are alike, and number the kinds outwards from one end of the graph."""
    found: dict[bytes, list[list[int]]] = {}
    for node in nodes:
        row = np.sort(problem.gains[node]).tobytes() + np.sort(problem.forbidden[node]).tobytes()
        same = found.setdefault(row, [])
        kind = next((kind for kind in same if _alike(problem, kind[0], node)), None)
        if kind is None:
            same.append([node])
        else:
            kind.append(node)
    kinds = [kind for same in found.values() for kind in same]
    return [kinds[place] for place in _outwards(problem, [kind[0] for kind in kinds])]


def _alike(problem: Problem, one: int, other: int) -> bool:
    """Return whether two nodes could be swapped."""
    rest = np.ones(problem.size, dtype=bool)
    rest[[one, other]] = False
    gains, forbidden = problem.gains, problem.forbidden
    same: bool = np.array_equal(gains[one][rest], gains[other][rest])
    return same and np.array_equal(forbidden[one][rest], forbidden[other][rest])


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
            reached = {other for place in frontier for other in np.flatnonzero(usable[place]).tolist()} - seen
            seen |= reached
            frontier = sorted(reached, key=lambda place: (int(degree[place]), place))
    return order
