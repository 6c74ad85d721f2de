"""Exhaustive search over the clusterings of a few nodes: all optima, in a fixed order.

Nodes are placed one by one, each into a cluster begun before or into a new one (so every clustering is
met exactly once, as a restricted growth string). With nodes 0..i-1 placed, the value can still rise by
at most the positive gains of pairs with a node from i on; a branch that cannot reach the best value
known is left. Optima are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from caspr.engines.native.partition.problem import Labels, Problem
from caspr.engines.native.partition.watch import Watch

OFTEN = 256
"""How many placements are made between two looks at the clock."""


@dataclass(frozen=True)
class Optima:
    """The best clusterings of a problem."""

    value: int
    """What each of them gains."""
    clusterings: tuple[tuple[int, ...], ...]
    """Labels in the order of first nodes; the list is in lexicographic order."""
    count: int | None
    """How many optima there are, also where not all were kept; `None` if that was not found out."""

    @property
    def first(self) -> Labels:
        """The first of them, as an array."""
        return np.array(self.clusterings[0], dtype=np.intp)


def enumerate_optima(
    problem: Problem,
    *,
    floor: int = 0,
    limit: int = 1,
    watch: Watch | None = None,
) -> Optima | None:
    """Find the optima of value `floor` or more; `None` if there are none.

    At most `limit` are kept. All are counted unless `limit` is 1, which lets the search skip ties, or
    unless it is given up because a limit of the watch is reached.
    """
    best: list[tuple[int, ...]] = []
    value, count = floor, 0
    walk = Walk(problem, floor, watch)
    for reached, labels in walk.clusterings():
        if reached > value:
            best.clear()
            value, count = reached, 0
        count += 1
        if len(best) < limit:
            best.append(labels)
        walk.floor = value + (limit == 1)
    if not best:
        return None
    return Optima(value, tuple(best), None if walk.exhausted or limit == 1 else count)


class Walk:
    """A depth-first walk over clusterings that may still reach `floor`, which rises with what is found."""

    def __init__(self, problem: Problem, floor: int, watch: Watch | None) -> None:
        self.gains = problem.gains.tolist()
        self.forbidden = problem.forbidden.tolist()
        self.size = problem.size
        self.floor = floor
        self.watch, self.taken = watch, 0
        self.exhausted = False
        rest = np.triu(np.maximum(problem.gains, 0), 1).sum(axis=0).tolist()
        self.rest = [sum(rest[node:]) for node in range(self.size + 1)]

    def clusterings(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield values and labels, best known or better, in lexicographic order of labels."""
        yield from self._place(0, 0, [], [])

    def _place(
        self, node: int, value: int, clusters: list[list[int]], labels: list[int]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        if self.exhausted or value + self.rest[node] < self.floor:
            return
        if node == self.size:
            yield value, tuple(labels)
            return
        self.taken += 1
        if self.watch is not None and self.taken % OFTEN == 0 and self.watch.expired():
            self.exhausted = True
        gains, forbidden = self.gains[node], self.forbidden[node]
        for label, cluster in enumerate([*clusters, []]):
            if any(forbidden[member] for member in cluster):
                continue
            extended = [*clusters[:label], [*cluster, node], *clusters[label + 1 :]]
            gained = value + sum(gains[member] for member in cluster)
            yield from self._place(node + 1, gained, extended, [*labels, label])
