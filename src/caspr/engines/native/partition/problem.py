"""Problems: nodes 0..n-1 to be put into clusters, whole-number gains, forbidden pairs and demands.

The value of a clustering is the sum of the gains of all pairs inside a cluster, minus what its demands
cost. Two facts carry the whole package:

    contraction   The clusterings of P in which certain nodes are together are the clusterings of the
                  contracted problem, whose gains are sums; values differ by the constant of the pairs
                  that were contracted. The way back is an array of labels: old node -> new node.
    components    Where no gain is positive between two sets of nodes, and no demand has its home in one and
                  a partner in the other, some optimum puts no pair across (every cluster may be cut there
                  without loss, and first partners stay), so both sets are solved on their own.

*Demands.* A demand names a node, its *home*, and partners in order of preference. A clustering meets it if
the cluster of the home holds a partner; the first one there, in that order, is the *first partner*, and its
link is *used* at a cost, which is 0 for most. A link that two demands use (each home the first partner of
the other) is paid once. Contracting puts partners into larger nodes: the first one in a node stands for all.
A partner inside the home itself is always there, so partners after it are never first; if it costs nothing,
the demand is met for good.

*Fewer partners.* Let a search know that every clustering worth finding has its first partner among some of
the partners, and let the demand *forget* the others. Such a clustering keeps its first partner and its
value. Any other clustering must not gain more than before. If its first partner was forgotten, a later one
is now the first, whose link costs no less: costs rise along the order. But that link may be paid already by
another demand. So a partner whose link costs something is kept if a later one that is kept shares its link.

Why no number wraps. Gains are integers of 64 bits. The *mass* of a problem is the sum of |gain| over all
ordered pairs, and must not exceed `LARGEST_MASS` = 2^58: `translate` refuses larger ones, the
only place that makes a problem from something else. Contracting, restricting and forbidding pairs never
raise the mass, by |a + b| <= |a| + |b|; so it is true of every problem that arises. A sum of gains in
which each pair counts at most c times is then at most c * 2^58, and no array here or in `reductions`,
`heuristics`, `cuts` and `exhaustive` holds more than 5 masses. `lp` scales gains up, and says how far.
Values and bounds are Python's integers, and so is all arithmetic of `optima` and `exhaustive` once
gains are read.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.watch import Watch

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Labels = NDArray[np.intp]
"""The cluster (or new node) of every node."""


UNMET = -(1 << 62)
"""The value of a clustering that leaves a demand unmet: less than any other gains (`LARGEST_MASS`)."""
LARGEST_MASS = 1 << 58
"""The largest sum of |gain| over all ordered pairs of a problem."""
EXACT = 1 << 52
"""Sums of floats below this are exact whole numbers, so matrix products may use floats."""
SHORT = 1 << 23
"""The same for floats of half the length, which are twice as fast."""
FOLDED_AT_ONCE = 24
"""Matrices up to this size are folded at once."""
FEW = 100
"""Up to this many nodes and pairs are joined without arrays."""
AT_ONCE = 1 << 31
"""How many numbers are multiplied between two looks at the clock: about a tenth of a second."""
JOINED = 1 << 19
"""How many pairs are put together at a time."""


Link = tuple[int, int]
"""A name for the link between a home and a partner, the same from both ends."""


@dataclass(frozen=True)
class Demand:
    """A node that must share its cluster with one of some partners."""

    name: int
    """The node it was first made for: what tells demands apart, whatever is contracted."""
    home: int
    partners: tuple[int, ...]
    """The nodes that would do, the preferred ones first."""
    costs: tuple[int, ...]
    """What the link with each costs, never falling."""
    links: tuple[Link, ...]
    """The link with each: two demands may use one and the same."""

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The rank of each partner in the order of preference."""
        return {partner: rank for rank, partner in enumerate(self.partners)}

    @property
    def met(self) -> bool:
        """Whether every clustering meets it at no cost."""
        return (self.home, 0) in zip(self.partners, self.costs, strict=True)

    @property
    def forced(self) -> bool:
        """Whether the home must be with a certain node."""
        return len(self.partners) == 1 and self.partners[0] != self.home

    def keep(self, chosen: Sequence[bool] | Bools) -> "Demand":
        """Keep only some partners."""
        ranks = [rank for rank, kept in enumerate(chosen) if kept]
        if len(ranks) == len(self.partners):
            return self
        return replace(
            self,
            partners=tuple(self.partners[rank] for rank in ranks),
            costs=tuple(self.costs[rank] for rank in ranks),
            links=tuple(self.links[rank] for rank in ranks),
        )

    def rename(self, labels: Labels) -> "Demand":
        """Express the demand in the nodes of a contracted problem."""
        home, partners = int(labels[self.home]), tuple(labels[list(self.partners)].tolist())
        kept, seen = [], set[int]()
        for partner in partners:
            kept.append(partner not in seen and home not in seen)
            seen.add(partner)
        return replace(self, home=home, partners=partners).keep(kept)

    def allowed(self, forbidden: Bools) -> "Demand":
        """Forget the partners that the home forbids."""
        return self.keep(~forbidden[self.home, list(self.partners)])

    def within(self, places: Labels) -> "Demand":
        """Express the demand in the nodes of a piece that holds its home and all partners."""
        partners = tuple(places[list(self.partners)].tolist())
        return replace(self, home=int(places[self.home]), partners=partners)


Demands = tuple[Demand, ...]
"""All demands on a problem."""


@dataclass(frozen=True)
class Problem:
    """A clustering problem as two symmetric matrices, and demands."""

    gains: Ints
    """The gain of every pair; 0 on the diagonal and for forbidden pairs."""
    forbidden: Bools
    """Which pairs must not share a cluster; false on the diagonal."""
    demands: Demands = ()
    """The nodes that must not stay alone."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.gains)

    @property
    def step(self) -> int:
        """The greatest common divisor of all gains and costs: values can only differ by its multiples."""
        costs = (cost for demand in self.demands for cost in demand.costs)
        return gcd(int(np.gcd.reduce(self.gains, axis=None)), *costs) or 1

    @cached_property
    def ceiling(self) -> int:
        """A first bound: the sum of all positive gains."""
        return int(np.maximum(self.gains, 0).sum()) // 2

    @property
    def key(self) -> bytes:
        """Name the problem by its content."""
        content = blake2b(self.gains.tobytes(), digest_size=16)
        content.update(self.forbidden.tobytes())
        return content.digest() + (repr(self.demands).encode() if self.demands else b"")

    @property
    def hopeless(self) -> bool:
        """Whether some demand has no partner left, so that no clustering meets it."""
        return any(not demand.partners for demand in self.demands)

    @property
    def forced(self) -> list[tuple[int, int]]:
        """The demands with one partner left, as homes and partners."""
        return [(demand.home, demand.partners[0]) for demand in self.demands if demand.forced]

    @property
    def adjacent(self) -> Bools:
        """Which pairs may not be solved apart: those that gain, and a home with its partners."""
        adjacent: Bools = self.gains > 0
        for demand in self.demands:
            outside = [partner for partner in demand.partners if partner != demand.home]
            adjacent[demand.home, outside] = adjacent[outside, demand.home] = True
        return adjacent

    @property
    def undemanding(self) -> "Problem":
        """The problem without its demands."""
        return replace(self, demands=()) if self.demands else self

    @property
    def shared(self) -> dict[Link, int]:
        """The links that cost something and that two demands could use, and their costs."""
        priced = [
            (link, cost)
            for demand in self.demands
            for link, cost in zip(demand.links, demand.costs, strict=True)
            if cost
        ]
        ends = Counter(link for link, _ in priced)
        return {link: cost for link, cost in priced if ends[link] > 1}

    def value(self, labels: Labels) -> int | None:
        """Return what a clustering gains, or `None` if it holds a forbidden pair or leaves a demand unmet."""
        together = labels[:, None] == labels[None, :]
        if bool((self.forbidden & together).any()):
            return None
        used: dict[Link, int] = {}
        for demand in self.demands:
            beside = np.flatnonzero(labels[list(demand.partners)] == labels[demand.home])
            if not len(beside):
                return None
            used[demand.links[beside[0]]] = demand.costs[beside[0]]
        return int(self.gains[together].sum()) // 2 - sum(used.values())

    def contract(self, labels: Labels) -> "tuple[Problem, int]":
        """Make each group of equally labelled nodes one node; return also the constant gained inside.

        Labels must be 0..m-1. Whether a group holds a forbidden pair is not looked at. Demands that are
        met by it are gone.
        """
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 1))
        if len(starts) == self.size or self.size <= FOLDED_AT_ONCE:
            inverse = np.ix_(order, order)
            gains, forbidden = self.gains[inverse], self.forbidden[inverse]
            if len(starts) == self.size:
                return Problem(gains, forbidden, self._renamed(labels, forbidden)), 0
            for axis in range(2):
                gains = np.add.reduceat(gains, starts, axis=axis)
                forbidden = np.logical_or.reduceat(forbidden, starts, axis=axis)
        else:
            names, rest = order[starts], np.delete(order, starts)
            gains = _folded(self.gains, labels, names, rest, np.add)
            forbidden = _folded(self.forbidden, labels, names, rest, np.logical_or)
        constant = int(np.trace(gains)) // 2
        np.fill_diagonal(gains, 0)
        np.fill_diagonal(forbidden, False)
        gains[forbidden] = 0
        return Problem(gains, forbidden, self._renamed(labels, forbidden)), constant

    def _renamed(self, labels: Labels, forbidden: Bools) -> Demands:
        """Express the demands in the nodes of a contracted problem, without those that are met."""
        demands = (demand.rename(labels).allowed(forbidden) for demand in self.demands)
        return tuple(demand for demand in demands if not demand.met)

    def restrict(self, nodes: Labels) -> "Problem":
        """Keep only some nodes, in the order given, with the demands of their homes and all partners."""
        chosen, demands = np.ix_(nodes, nodes), self.demands
        if demands:
            places = np.full(self.size, -1, dtype=np.intp)
            places[nodes] = np.arange(len(nodes))
            demands = tuple(demand.within(places) for demand in demands if places[demand.home] >= 0)
        return Problem(self.gains[chosen], self.forbidden[chosen], demands)

    def separate(self, apart: Bools) -> "Problem":
        """Forbid further pairs."""
        forbidden = self.forbidden | apart
        demands = tuple(demand.allowed(forbidden) for demand in self.demands)
        return Problem(np.where(forbidden, 0, self.gains), forbidden, demands)

    def forget(self, first: Sequence[Bools]) -> "Problem":
        """Keep, for every demand, the partners that may be `first` in a clustering worth finding."""
        shared, demands = self.shared, []
        for demand, chosen in zip(self.demands, first, strict=True):
            kept, shares = chosen.tolist(), False
            for rank in reversed(range(len(kept))):
                kept[rank] = kept[rank] or (shares and demand.costs[rank] > 0)
                shares |= kept[rank] and demand.links[rank] in shared
            demands.append(demand.keep(kept))
        return replace(self, demands=tuple(demands))

    def breaks(self, labels: Labels) -> bool:
        """Return whether some group holds a forbidden pair."""
        first, second = np.nonzero(self.forbidden)
        return bool((labels[first] == labels[second]).any())


def _folded(
    matrix: NDArray[Any], labels: Labels, names: Labels, rest: Labels, join: np.ufunc
) -> NDArray[Any]:
    """Join the rows of a symmetric matrix that have one label, then the columns.

    `names` has one node for each label, `rest` all others. In large matrices, adding one row after the other
    takes a tenth of the time of `reduceat`, which looks at every group of every line.
    """
    lines = list(zip(rest.tolist(), labels[rest].tolist(), strict=True))
    for _ in range(2):
        rows = matrix[names]
        for node, label in lines:
            join(rows[label], matrix[node], out=rows[label])
        matrix = np.ascontiguousarray(rows.T)
    return matrix


def components(adjacent: Bools) -> Labels:
    """Label the connected components of a graph, numbered by their smallest node.

    >>> components(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    labels = np.full(len(adjacent), -1, dtype=np.intp)
    count = 0
    for start in range(len(adjacent)):
        if labels[start] >= 0:
            continue
        labels[start] = count
        frontier = np.array([start])
        while len(frontier):
            reached = adjacent[frontier].any(axis=0) & (labels < 0)
            labels[reached] = count
            frontier = np.flatnonzero(reached)
        count += 1
    return labels


def connected_groups(adjacent: Bools) -> list[Labels]:
    """Return the nodes of each connected component of two nodes or more.

    >>> adjacent = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> [group.tolist() for group in connected_groups(adjacent)]
    [[0, 2]]
    """
    labels = components(adjacent)
    groups = (np.flatnonzero(labels == label) for label in range(int(labels.max(initial=-1)) + 1))
    return [group for group in groups if len(group) > 1]


def renumber(labels: Labels) -> Labels:
    """Number groups by their smallest node.

    >>> renumber(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    smallest = firsts(labels)[labels]
    return (np.cumsum(smallest == np.arange(len(labels))) - 1)[smallest]


def firsts(labels: Labels) -> Labels:
    """Return the smallest node of every group, in the order of the groups' numbers.

    >>> firsts(np.array([1, 0, 1, 2])).tolist()
    [1, 0, 3]
    """
    first = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.intp)
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # the last to be written is the smallest node
    return first


def joined(size: int, first: Labels, second: Labels) -> Labels:
    """Label the groups that pairs of nodes make when each pair is put together.

    >>> joined(4, np.array([0, 3]), np.array([2, 0])).tolist()
    [0, 1, 0, 0]
    """
    if size + len(first) <= FEW:
        return _joined_one_by_one(size, first.tolist(), second.tolist())
    labels = np.arange(size)
    # Of many pairs, most are in one group already when their turn comes.
    for start in range(0, len(first), JOINED):
        labels = _joined_more(labels, first[start : start + JOINED], second[start : start + JOINED])
    return renumber(labels)


def _joined_more(labels: Labels, first: Labels, second: Labels) -> Labels:
    """Put some more pairs together; each group is named by its smallest node."""
    while True:
        own, theirs = labels[first], labels[second]
        low, high = np.minimum(own, theirs), np.maximum(own, theirs)
        apart = low < high
        if not apart.any():
            return labels
        np.minimum.at(labels, high[apart], low[apart])
        while (labels[labels] != labels).any():
            labels = labels[labels]
        first, second = first[apart], second[apart]


def _joined_one_by_one(size: int, first: list[int], second: list[int]) -> Labels:
    """Join a few pairs; every node points to a smaller one of its group, or is the smallest."""
    towards = list(range(size))
    for u, v in zip(first, second, strict=True):
        while towards[u] != u:
            u = towards[u]
        while towards[v] != v:
            v = towards[v]
        towards[max(u, v)] = min(u, v)
    labels: list[int] = []
    count = 0
    for node, smaller in enumerate(towards):
        labels.append(count if node == smaller else labels[smaller])
        count += node == smaller
    return np.array(labels, dtype=np.intp)


def exact_sum(numbers: Ints) -> int:
    """Add up numbers whose sum may exceed 64 bits.

    Each number is high * 2^32 + low with 0 <= low < 2^32 and |high| <= 2^31, so the sums of the high and
    of the low halves of fewer than 2^31 numbers stay below 2^63.

    >>> exact_sum(np.full(3, 1 << 62)) == 3 << 62, exact_sum(np.array([-5, 3]))
    (True, -2)
    """
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFF_FFFF).sum())


def product(left: Bools | Ints, right: Bools | Ints, watch: Watch | None = None) -> Ints:
    """Multiply two matrices of whole numbers, by way of floats where these are exact.

    `ExpiredError` is raised when it is time to stop.

    Every sum of |left| * |right| along a row must fit into 64 bits. Below `EXACT`, all partial sums are
    whole numbers that a float holds exactly, whatever the order in which they are added.
    """
    largest = max(int(np.abs(left).sum(axis=1).max(initial=0)), 1)
    largest *= max(int(np.abs(right).max(initial=0)), 1)
    kind: type = np.int64
    if largest < EXACT:
        kind = np.float32 if largest < SHORT else np.float64
    factor: NDArray[Any] = right.astype(kind)
    done = np.empty((len(left), right.shape[1]), dtype=np.int64)
    # Whole numbers of 64 bits are multiplied far more slowly.
    rows = max(1, (AT_ONCE >> (5 if kind is np.int64 else 0)) // max(1, right.size))
    for start in range(0, len(left), rows):
        if watch is not None:
            watch.check()
        done[start : start + rows] = left[start : start + rows].astype(kind) @ factor
    return done
