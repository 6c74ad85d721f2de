"""Problems of many nodes, as a common gain and a list of the pairs that depart from it.

A node stands for some mentions, its *size*. A pair u, v that is not listed gains `common` times both sizes,
or is forbidden if there is no common gain. Contraction keeps that form, because sizes add up:

    sum over u in U, v in V of c s_u s_v  =  c (sum of s_u) (sum of s_v),

so only what listed pairs depart from it by is ever added up. Without a common gain, two groups may share a
cluster exactly if all their pairs are listed. Memory and time are near the number of listed pairs, whatever
the number of nodes: a novel has one pair in two hundred.

No number wraps: every sum here is of gains that count each pair at most twice (`problem.LARGEST_MASS`), if
|common| times the square of the sum of all sizes is no larger than that mass, which `translate` sees to.

**Blocks.** One sort of ten million numbers, or one product of columns of that length, takes a second and
cannot be interrupted; so there is a look at the clock before each block. In blocks it takes no longer: a
block and what is computed on the way stay in the cache, and little new memory is touched.

The functions on blocks return what NumPy would, and raise `ExpiredError` when it is time to stop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, joined
from caspr.engines.native.partition.watch import Watch, check, checked


@dataclass(frozen=True)
class Neighbours:
    """The listed pairs, each from both ends, sorted by node."""

    starts: Labels
    """Where the pairs of each node begin."""
    others: Labels
    """The node at the other end."""
    pairs: Labels
    """The position of the pair in the list."""
    keys: Ints
    """node * size + other: sorted, to look pairs up."""

    def of(self, nodes: Labels) -> tuple[Labels, Labels]:
        """Return the positions of the pairs of some nodes, and for each the place of its node in the row."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        owner = np.repeat(np.arange(len(nodes)), counts)
        offsets = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.starts[nodes][owner] + offsets, owner

    def find(self, keys: Ints) -> tuple[Labels, Bools]:
        """Return the positions of pairs by key, and which of them are listed."""
        entries = np.searchsorted(self.keys, keys)
        entries[entries == len(self.keys)] = 0
        return entries, (self.keys[entries] == keys) if len(self.keys) else np.zeros(len(keys), dtype=bool)


@dataclass(frozen=True)
class SparseProblem:
    """A clustering problem as a common gain and listed pairs."""

    sizes: Ints
    """How many mentions each node stands for."""
    common: int | None
    """What a pair that is not listed gains per pair of mentions; `None` if it is forbidden."""
    first: Labels
    """The smaller node of every listed pair; pairs are sorted, and each is listed once."""
    second: Labels
    """The larger one."""
    gains: Ints
    """What each listed pair gains; 0 if it is forbidden."""
    forbidden: Bools
    """Which listed pairs must not share a cluster; none if pairs that are not listed must not, either."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.sizes)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The listed pairs by node."""
        return self._by_node(None)

    def index(self, watch: Watch) -> None:
        """Find the neighbours now, with a look at the clock now and then."""
        if "neighbours" not in self.__dict__:
            self.__dict__["neighbours"] = self._by_node(watch)

    def _by_node(self, watch: Watch | None) -> Neighbours:
        """Write the pairs down from both ends: of each node first those with smaller nodes."""
        size, count = self.size, len(self.first)
        smaller = np.bincount(self.second, minlength=size)
        larger = np.bincount(self.first, minlength=size)
        starts = np.append(0, np.cumsum(smaller + larger))
        neighbours, pairs = np.empty(2 * count, dtype=np.intp), np.empty(2 * count, dtype=np.intp)
        by_second = order(self.second, watch)
        from_second = starts[:-1] - (np.cumsum(smaller) - smaller)
        from_first = starts[:-1] + smaller - (np.cumsum(larger) - larger)
        for part in blocks(count, watch):
            pair = by_second[part]
            position = np.arange(part.start, part.start + len(pair))
            at = position + from_second[self.second[pair]]
            neighbours[at], pairs[at] = self.first[pair], pair
            at = position + from_first[self.first[part]]
            neighbours[at], pairs[at] = self.second[part], position
        nodes = np.repeat(np.arange(size), smaller + larger)
        keys = filled(2 * count, lambda part: nodes[part] * size + neighbours[part], watch)
        return Neighbours(starts, neighbours, pairs, keys)

    def _unlisted(self, part: slice) -> Ints:
        return (self.common or 0) * self.sizes[self.first[part]] * self.sizes[self.second[part]]

    def _change(self, part: slice) -> Ints:
        return self.gains[part] - self._unlisted(part) if self.common else self.gains[part]

    def change(self, watch: Watch | None = None) -> Ints:
        """Return what each listed pair gains more than a pair that is not listed."""
        return filled(len(self.first), self._change, watch)

    @cached_property
    def positive(self) -> Ints:
        """The sum of the positive gains of each node."""
        sums = np.zeros(self.size, dtype=np.int64)
        for part in blocks(len(self.first), None):
            gains = np.maximum(self.gains[part], 0)
            np.add.at(sums, self.first[part], gains)
            np.add.at(sums, self.second[part], gains)
        if self.common is not None and self.common > 0:
            rest = self.sizes.sum() - self.sizes
            np.subtract.at(rest, self.first, self.sizes[self.second])
            np.subtract.at(rest, self.second, self.sizes[self.first])
            sums += self.common * self.sizes * rest
        return sums

    @cached_property
    def ceiling(self) -> int:
        """A first bound: the sum of all positive gains."""
        if self.common is None or self.common <= 0:
            return int(np.maximum(self.gains, 0).sum())
        return int(self.positive.sum()) // 2

    @property
    def step(self) -> int:
        """A common divisor of all gains: values can only differ by its multiples."""
        every = int(np.gcd.reduce(self.gains, initial=0))
        return max(1, gcd(every, (self.common or 0) * int(np.gcd.reduce(self.sizes, initial=0)) ** 2))

    @cached_property
    def mass(self) -> int:
        """A bound on the sum of |gain| over all ordered pairs."""
        return 2 * int(np.abs(self.gains).sum()) + abs(self.common or 0) * int(self.sizes.sum()) ** 2

    @property
    def key(self) -> bytes:
        """Name the problem by its content."""
        content = blake2b(str((self.size, self.common)).encode(), digest_size=16)
        for column in (self.sizes, self.first, self.second, self.gains, self.forbidden):
            for part in blocks(len(column), None):
                content.update(column[part].tobytes())
        return content.digest()

    def forbidden_with(self, node: int) -> Bools:
        """Return which nodes must not share a cluster with one."""
        barred = np.full(self.size, self.common is None)
        entries, _ = self.neighbours.of(np.array([node]))
        barred[self.neighbours.others[entries]] = self.forbidden[self.neighbours.pairs[entries]]
        barred[node] = False
        return barred

    def value(self, labels: Labels) -> int | None:
        """Return the value of a clustering, or `None` if it holds a forbidden pair."""
        gained = held = 0
        for part in blocks(len(self.first), None):
            inside = labels[self.first[part]] == labels[self.second[part]]
            if self.forbidden[part][inside].any():
                return None
            gained += int(self._change(part)[inside].sum())
            held += int(np.count_nonzero(inside))
        _, cluster = np.unique(labels, return_inverse=True)
        if self.common is not None:
            return gained + self._unlisted_within(cluster)
        members = np.bincount(cluster)
        return gained if int((members * (members - 1)).sum()) // 2 == held else None

    def _unlisted_within(self, labels: Labels) -> int:
        """Return what clusters would gain if no pair were listed."""
        held = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(held, labels, self.sizes)
        pairs = (int((held * held).sum()) - int((self.sizes * self.sizes).sum())) // 2
        return (self.common or 0) * pairs

    def extended(self, nodes: Labels, gains: Ints) -> "SparseProblem":
        """Add a node for each of some nodes, which gains something with it and must be with no other.

        It stands for no mention, so that pairs with it do not count.
        """
        if not len(nodes):
            return self
        size, more = self.size, len(nodes)
        new = np.arange(size, size + more)
        first, second, worth, forbidden = [nodes], [new], [gains], [np.zeros(more, dtype=bool)]
        if self.common is not None:
            for number, (own, node) in enumerate(zip(nodes.tolist(), new.tolist(), strict=True)):
                others = np.delete(np.arange(size + number), own)
                first.append(others)
                second.append(np.full(len(others), node))
                worth.append(np.zeros(len(others), dtype=np.int64))
                forbidden.append(np.ones(len(others), dtype=bool))
        columns = [
            np.concatenate([column, *added])
            for column, added in zip(
                (self.first, self.second, self.gains, self.forbidden),
                (first, second, worth, forbidden),
                strict=True,
            )
        ]
        order = np.lexsort((columns[1], columns[0]))
        one, two, every, barred = (column[order] for column in columns)
        return SparseProblem(
            np.append(self.sizes, np.zeros(more, np.int64)), self.common, one, two, every, barred
        )

    def contract(self, labels: Labels, watch: Watch | None = None) -> "tuple[SparseProblem, int]":
        """Make each group of equally labelled nodes one node; return also the constant gained inside.

        Labels must be 0..m-1, and no group may hold a forbidden pair. `ExpiredError` is raised when it is
        time to stop.
        """
        count = int(labels.max(initial=-1)) + 1
        sizes = np.zeros(count, dtype=np.int64)
        np.add.at(sizes, labels, self.sizes)
        keys, change, forbidden, inside = self._between(labels, count, watch)
        constant = inside + self._unlisted_within(labels)
        if not len(keys):
            return SparseProblem(sizes, self.common, keys, keys, change, forbidden), constant
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        check(watch)
        first = filled(len(begins), lambda part: keys[begins[part]] // count, watch, np.intp)
        second = filled(len(begins), lambda part: keys[begins[part]] % count, watch, np.intp)
        blocked = np.logical_or.reduceat(forbidden, begins)
        check(watch)
        gains = np.add.reduceat(change, begins)
        small = SparseProblem(sizes, self.common, first, second, gains, blocked)
        for part in blocks(len(begins), watch):
            gains[part] += small._unlisted(part)
        gains[blocked] = 0
        if self.common is None:
            members = np.bincount(labels, minlength=count)
            listed = np.diff(np.append(begins, len(keys)))
            return small._chosen(listed == members[first] * members[second], watch), constant
        return small._chosen(blocked | (small.change(watch) != 0), watch), constant

    def _between(self, labels: Labels, count: int, watch: Watch | None) -> tuple[Ints, Ints, Bools, int]:
        """Return the listed pairs between groups, in order: key, change, forbidden; and the change inside."""
        nothing, inside = np.empty(0, dtype=np.int64), 0
        keys, change, forbidden = [nothing], [nothing], [nothing.astype(bool)]
        for part in blocks(len(self.first), watch):
            first, second = labels[self.first[part]], labels[self.second[part]]
            more, across = self._change(part), first != second
            inside += int(more[~across].sum())
            keys.append((np.minimum(first, second) * count + np.maximum(first, second))[across])
            change.append(more[across])
            forbidden.append(self.forbidden[part][across])
        every, changes, never = np.concatenate(keys), np.concatenate(change), np.concatenate(forbidden)
        positions = order(every, watch)
        return (
            filled(len(positions), lambda part: every[positions[part]], watch),
            filled(len(positions), lambda part: changes[positions[part]], watch),
            filled(len(positions), lambda part: never[positions[part]], watch, bool),
            inside,
        )

    def _chosen(self, kept: Bools, watch: Watch | None) -> "SparseProblem":
        """Keep some of the listed pairs."""
        if kept.all():
            return self
        first = self.first[kept]
        check(watch)
        second = self.second[kept]
        check(watch)
        return SparseProblem(self.sizes, self.common, first, second, self.gains[kept], self.forbidden[kept])

    def restrict(self, nodes: Labels) -> "SparseProblem":
        """Keep only some nodes, given in order."""
        if len(nodes) == self.size:
            return self
        position = np.full(self.size, -1, dtype=np.intp)
        position[nodes] = np.arange(len(nodes))
        entries, _ = self.neighbours.of(nodes)
        pairs = self.neighbours.pairs[entries]
        # Pairs inside are met from both ends; once is enough, in the order of the list.
        pairs = pairs[self.neighbours.others[entries] == self.second[pairs]]
        pairs = np.sort(pairs[position[self.second[pairs]] >= 0])
        return SparseProblem(
            self.sizes[nodes],
            self.common,
            position[self.first[pairs]],
            position[self.second[pairs]],
            self.gains[pairs],
            self.forbidden[pairs],
        )

    def without(self, apart: Bools) -> "SparseProblem":
        """Forbid some of the listed pairs."""
        if self.common is None:
            kept = ~apart
            return SparseProblem(
                self.sizes, None, self.first[kept], self.second[kept], self.gains[kept], self.forbidden[kept]
            )
        gains = np.where(apart, 0, self.gains)
        return SparseProblem(self.sizes, self.common, self.first, self.second, gains, self.forbidden | apart)

    def separate(self, first: Labels, second: Labels) -> "SparseProblem":
        """Forbid further pairs, listed or not."""
        if not len(first):
            return self
        keys = np.minimum(first, second) * self.size + np.maximum(first, second)
        apart = np.isin(self.first * self.size + self.second, keys)
        if self.common is None:
            return self.without(apart)
        more = np.unique(keys)
        every = np.concatenate([more, (self.first * self.size + self.second)[~apart]])
        gains = np.concatenate([np.zeros(len(more), dtype=np.int64), self.gains[~apart]])
        forbidden = np.concatenate([np.ones(len(more), dtype=bool), self.forbidden[~apart]])
        order = np.argsort(every, kind="stable")
        u, v = np.divmod(every[order], self.size)
        return SparseProblem(self.sizes, self.common, u, v, gains[order], forbidden[order])

    def components(self, *, ties: bool = False) -> Labels:
        """Label the connected components of positive gains; with `ties`, gains of 0 connect as well."""
        least = 0 if ties else 1
        if self.common is not None and self.common >= least:
            return np.zeros(self.size, dtype=np.intp)
        strong = (self.gains >= least) & ~self.forbidden
        return joined(self.size, self.first[strong], self.second[strong])

    def dense(self) -> Problem:
        """Write all pairs down."""
        shape = (self.size, self.size)
        if self.common is None:
            gains, forbidden = np.zeros(shape, dtype=np.int64), np.ones(shape, dtype=bool)
        else:
            gains, forbidden = np.outer(self.sizes, self.sizes), np.zeros(shape, dtype=bool)
            gains *= self.common
        for rows, columns in ((self.first, self.second), (self.second, self.first)):
            gains[rows, columns], forbidden[rows, columns] = self.gains, self.forbidden
        np.fill_diagonal(gains, 0)
        np.fill_diagonal(forbidden, False)
        return Problem(gains, forbidden)


def listed(problem: Problem, sizes: Ints | None = None, common: int | None = None) -> SparseProblem:
    """List the pairs of a problem that depart from a common gain, or all that are allowed."""
    sizes = np.ones(problem.size, dtype=np.int64) if sizes is None else sizes
    if common is None:
        mask = ~problem.forbidden
    else:
        mask = problem.forbidden | (problem.gains != common * np.outer(sizes, sizes))
    first, second = np.nonzero(np.triu(mask, 1))
    return SparseProblem(
        sizes, common, first, second, problem.gains[first, second], problem.forbidden[first, second]
    )


BLOCK = 1 << 19
"""How many pairs are worked on between two looks at the clock: some hundredths of a second."""
SAMPLED = 1 << 8
"""One number in this many is sampled to find where blocks of a sort begin."""
NARROW = 1 << 16
"""Numbers below this are sorted as 16-bit numbers, by their digits: in a tenth of the time."""


def blocks(count: int, watch: Watch | None, length: int | None = None) -> Iterator[slice]:
    """Yield the blocks that an array of `count` entries falls into."""
    length = max(1, length or BLOCK)
    for start in checked(range(0, count, length), watch):
        yield slice(start, start + length)


def filled(
    count: int, work: Callable[[slice], NDArray[Any]], watch: Watch | None, kind: type = np.int64
) -> NDArray[Any]:
    """Return a column of which a function computes each block."""
    if count <= BLOCK:
        check(watch)
        return work(slice(0, count))
    column: NDArray[Any] = np.empty(count, dtype=kind)
    for part in blocks(count, watch):
        column[part] = work(part)
    return column


def order(keys: NDArray[np.int64], watch: Watch | None = None) -> NDArray[np.intp]:
    """Return the positions of numbers in ascending order, equal ones as they stand.

    >>> order(np.array([3, 1, 3, 2])).tolist()
    [1, 3, 0, 2]
    """
    check(watch)
    if len(keys) <= BLOCK:
        return np.argsort(keys, kind="stable")
    low, high = int(keys.min()), int(keys.max())
    check(watch)
    if high - low < NARROW:
        small = filled(len(keys), lambda part: (keys[part] - low).astype(np.uint16), watch, np.uint16)
        return np.argsort(small, kind="stable")
    positions, start = np.empty(len(keys), dtype=np.intp), 0
    for least, most in pairwise(_borders(keys, low, high)):
        inside = _between(keys, least, most, watch)
        check(watch)
        positions[start : start + len(inside)] = inside[np.argsort(keys[inside], kind="stable")]
        start += len(inside)
    return positions


def _borders(keys: NDArray[np.int64], low: int, high: int) -> list[int]:
    """Return numbers between which there are about as many as fit into a block."""
    sample = np.sort(keys[::SAMPLED])
    number = len(keys) // BLOCK + 1
    inner = sample[np.arange(1, number) * len(sample) // number].tolist()
    # A number that fills a block is a block of its own, which is sorted already.
    often = [border + 1 for border, after in pairwise(inner) if border == after]
    return sorted({low, *inner, *often, high + 1})


def _between(keys: NDArray[np.int64], least: int, most: int, watch: Watch | None) -> NDArray[np.intp]:
    """Return the positions of the numbers of an interval."""
    positions = []
    for start in checked(range(0, len(keys), 8 * BLOCK), watch):
        some = keys[start : start + 8 * BLOCK]
        positions.append(start + np.flatnonzero((some >= least) & (some < most)))
    return np.concatenate(positions)
