"""Problems: nodes 0..n-1 to be put into clusters, whole-number gains and forbidden pairs.

The value of a clustering is the sum of the gains of all pairs inside a cluster. Two facts carry the
whole package:

    contraction   The clusterings of P in which certain nodes are together are the clusterings of the
                  contracted problem, whose gains are sums; values differ by the constant of the pairs
                  that were contracted. The way back is an array of labels: old node -> new node.
    components    Where no gain is positive between two sets of nodes, some optimum puts no pair across
                  (every cluster may be cut there without loss), so both sets are solved on their own.

Why no number wraps. Gains are integers of 64 bits. The *mass* of a problem is the sum of |gain| over all
ordered pairs, and must not exceed `LARGEST_MASS` = 2^58: `translation.translate` refuses larger ones, the
only place that makes a problem from something else. Contracting, restricting and forbidding pairs never
raise the mass, by |a + b| <= |a| + |b|; so it is true of every problem that arises. A sum of gains in
which each pair counts at most c times is then at most c * 2^58, and no array here or in `reductions`,
`heuristics`, `cuts` and `exhaustive` holds more than 5 masses. `lp` scales gains up, and says how far.
Values and bounds are Python's integers, and so is all arithmetic of `counting` and `exhaustive` once
gains are read.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.watch import Watch

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Labels = NDArray[np.intp]
"""The cluster (or new node) of every node."""


LARGEST_MASS = 1 << 58
"""The largest sum of |gain| over all ordered pairs of a problem."""
EXACT = 1 << 52
"""Sums of floats below this are exact whole numbers, so matrix products may use floats."""
SHORT = 1 << 23
"""The same for floats of half the length, which are twice as fast."""
SMALL = 24
"""Matrices up to this size are folded at once."""
FEW = 100
"""So few nodes and pairs are joined without arrays."""
AT_ONCE = 1 << 31
"""How many numbers are multiplied between two looks at the clock: about a tenth of a second."""
JOINED = 1 << 19
"""How many pairs are put together at a time."""


@dataclass(frozen=True)
class Problem:
    """A clustering problem as two symmetric matrices."""

    gains: Ints
    """The gain of every pair; 0 on the diagonal and for forbidden pairs."""
    forbidden: Bools
    """Which pairs must not share a cluster; false on the diagonal."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.gains)

    @property
    def step(self) -> int:
        """The greatest common divisor of all gains: values can only differ by its multiples."""
        return max(1, int(np.gcd.reduce(self.gains, axis=None)))

    @cached_property
    def ceiling(self) -> int:
        """A first bound: the sum of all positive gains."""
        return int(np.maximum(self.gains, 0).sum()) // 2

    @property
    def key(self) -> bytes:
        """Name the problem by its content."""
        content = blake2b(self.gains.tobytes(), digest_size=16)
        content.update(self.forbidden.tobytes())
        return content.digest()

    def value(self, labels: Labels) -> int | None:
        """Return the value of a clustering, or `None` if it holds a forbidden pair."""
        together = labels[:, None] == labels[None, :]
        if bool((self.forbidden & together).any()):
            return None
        return int(self.gains[together].sum()) // 2

    def contract(self, labels: Labels) -> "tuple[Problem, int]":
        """Make each group of equally labelled nodes one node; return also the constant gained inside.

        Labels must be 0..m-1. Whether a group holds a forbidden pair is not looked at.
        """
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 1))
        if len(starts) == self.size or self.size <= SMALL:
            inverse = np.ix_(order, order)
            gains, forbidden = self.gains[inverse], self.forbidden[inverse]
            if len(starts) == self.size:
                return Problem(gains, forbidden), 0
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
        return Problem(gains, forbidden), constant

    def restrict(self, nodes: Labels) -> "Problem":
        """Keep only some nodes, in the order given."""
        chosen = np.ix_(nodes, nodes)
        return Problem(self.gains[chosen], self.forbidden[chosen])

    def separate(self, apart: Bools) -> "Problem":
        """Forbid further pairs."""
        forbidden = self.forbidden | apart
        return Problem(np.where(forbidden, 0, self.gains), forbidden)

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
    found = 0
    for start in range(len(adjacent)):
        if labels[start] >= 0:
            continue
        labels[start] = found
        frontier = np.array([start])
        while len(frontier):
            reached = adjacent[frontier].any(axis=0) & (labels < 0)
            labels[reached] = found
            frontier = np.flatnonzero(reached)
        found += 1
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
    # Most of many pairs are in one group already when their turn comes.
    for start in range(0, len(first), JOINED):
        labels = _joined_more(labels, first[start : start + JOINED], second[start : start + JOINED])
    return renumber(labels)


def _joined_more(labels: Labels, first: Labels, second: Labels) -> Labels:
    """Put some more pairs together; each group is named by its smallest node."""
    while True:
        one, other = labels[first], labels[second]
        low, high = np.minimum(one, other), np.maximum(one, other)
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
    for one, other in zip(first, second, strict=True):
        while towards[one] != one:
            one = towards[one]
        while towards[other] != other:
            other = towards[other]
        towards[max(one, other)] = min(one, other)
    labels: list[int] = []
    found = 0
    for node, smaller in enumerate(towards):
        labels.append(found if node == smaller else labels[smaller])
        found += node == smaller
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
