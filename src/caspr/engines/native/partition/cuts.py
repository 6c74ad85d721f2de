"""Star inequalities: the cuts of the linear relaxation, with x_uv = 1 where u and v share a cluster.

For a centre c and leaves T, every clustering satisfies

    sum over t in T of x_ct  -  sum over pairs s, t in T of x_st  <=  1.

Proof: if m of the leaves share the centre's cluster, they share it pairwise, so the left side is at
most m - m(m-1)/2 <= 1. With two leaves this is the triangle inequality; more leaves cut off the
half-integral points that triangles leave (the 2-partition inequalities of Groetschel and Wakabayashi).
Renaming nodes by a contraction keeps a star valid as long as it keeps two distinct leaves besides the
centre. A pair that is forbidden has x = 0 and simply drops out.

Lifting: a leaf that is forbidden with all other leaves adds a term on the left and none that is
subtracted, so the star with it is stronger. Where many pairs are forbidden (U and V), maximal stars close
as much of the gap as the formulation over whole clusters does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.problem import Bools, Labels, Problem
from caspr.engines.native.partition.watch import Watch

Floats = NDArray[np.float64]
Array = NDArray[Any]
Star = tuple[int, ...]
"""A centre, then three or more leaves in order."""
TwoPartition = tuple[tuple[int, ...], tuple[int, ...]]
"""Two disjoint sets of two or more nodes, each in order, the smaller first (`two_partitions`)."""

EPSILON = 0.02
"""Violations below this are left alone: what a first-order method finds is only near the optimum."""
STARTS = 4000
"""From how many first leaves stars are grown in one round, over all centres."""
FEWEST, MOST = 8, 32
"""From how many at one centre."""
AT_ONCE = 1 << 21
"""How many entries of a matrix are looked at between two looks at the clock."""


@dataclass(frozen=True)
class Cuts:
    """A set of star inequalities, and of two-partition inequalities."""

    triangles: Labels
    """Those with two leaves, one row each: centre, leaf, leaf."""
    stars: tuple[Star, ...]
    """Those with more leaves."""
    weights: Floats
    """The multiplier each had in the last relaxation, in the order triangles, stars, two-partitions."""
    two_partitions: tuple[TwoPartition, ...] = ()
    """Those with several nodes on both sides."""

    @classmethod
    def of_two_partitions(cls, two_partitions: Iterable[TwoPartition]) -> "Cuts":
        """Make a set without stars."""
        chosen = tuple(two_partitions)
        return cls(np.empty((0, 3), dtype=np.intp), (), np.zeros(len(chosen)), chosen)

    def __len__(self) -> int:
        return len(self.triangles) + len(self.stars) + len(self.two_partitions)

    def __or__(self, other: "Cuts") -> "Cuts":
        """Unite two sets, keeping the order of first appearance."""
        kinds = zip(self._by_kind(self.weights), other._by_kind(other.weights), strict=True)
        return united(
            np.concatenate([self.triangles, other.triangles]),
            (*self.stars, *other.stars),
            np.concatenate([weights for both in kinds for weights in both]),
            (*self.two_partitions, *other.two_partitions),
        )

    def _by_kind(self, numbers: Array) -> Sequence[Array]:
        """Cut an array with a number for each cut into those of triangles, stars and two-partitions."""
        begin, end = len(self.triangles), len(self.triangles) + len(self.stars)
        return numbers[:begin], numbers[begin:end], numbers[end:]

    @property
    def rights(self) -> Labels:
        """The right side of every inequality."""
        smaller = np.array([len(one) for one, _ in self.two_partitions], dtype=np.intp)
        return np.append(np.ones(len(self.triangles) + len(self.stars), dtype=np.intp), smaller)

    def only_stars(self) -> "Cuts":
        """Leave out the two-partitions."""
        stars = len(self.triangles) + len(self.stars)
        return replace(self, weights=self.weights[:stars], two_partitions=())

    def weighing(self, weights: Floats) -> "Cuts":
        """Return the same cuts with other multipliers."""
        return replace(self, weights=weights)

    def keep(self, mask: Bools) -> "Cuts":
        """Keep some of the rows: triangles first, then stars, then two-partitions."""
        triangles, stars, two_partitions = self._by_kind(mask)
        return Cuts(
            self.triangles[triangles],
            tuple(compress(self.stars, stars.tolist())),
            self.weights[mask],
            tuple(compress(self.two_partitions, two_partitions.tolist())),
        )

    def rename(self, labels: Labels, problem: Problem) -> "Cuts":
        """Express the cuts in the nodes of a contracted problem, dropping those that say nothing."""
        stars: list[Star] = [()] * len(self.stars)
        for positions, array in self.by_size:
            if array.shape[1] > 3:
                named = _sorted(labels[array])
                clean = _is_clean(named, problem)
                for place, row, good in zip(positions.tolist(), named.tolist(), clean.tolist(), strict=True):
                    stars[place - len(self.triangles)] = tuple(row) if good else _cleaned(row, problem)
        own = self.only_stars()
        renamed = cuts_of(stars, labels[own.triangles], problem, own.weights)
        return renamed | self._renamed_two_partitions(labels) if self.two_partitions else renamed

    def _renamed_two_partitions(self, labels: Labels) -> "Cuts":
        """Rename two-partitions; those of which two nodes get one name no longer have their form."""
        names = labels.tolist()
        kept: dict[TwoPartition, float] = {}
        weights = self._by_kind(self.weights)[2].tolist()
        for sides, weight in zip(self.two_partitions, weights, strict=True):
            one, other = sorted((tuple(sorted(names[node] for node in side)) for side in sides), key=_order)
            if len({*one, *other}) == len(one) + len(other):
                kept.setdefault((one, other), weight)
        return Cuts.of_two_partitions(kept).weighing(np.array(list(kept.values())))

    def within(self, places: Labels, problem: Problem) -> "Cuts":
        """Express the cuts in the nodes of another problem, dropping those with a node that has no place."""
        return self.keep(self._at_home(places)).rename(places, problem)

    def _at_home(self, places: Labels) -> Bools:
        """Find the cuts all of whose nodes have a place."""
        home = (places >= 0).tolist()
        triangles = (places[self.triangles] >= 0).all(axis=1)
        others = [*self.stars, *((*one, *other) for one, other in self.two_partitions)]
        return np.append(triangles, np.array([all(home[n] for n in nodes) for nodes in others], dtype=bool))

    def through(self, places: Labels) -> "Cuts":
        """Express the cuts in the nodes of a similar problem, for `within` to sort out what they say there.

        Those with a node that has no place are dropped.
        """
        return self.keep(self._at_home(places)).named(places)

    def named(self, names: Labels) -> "Cuts":
        """Express the stars in other names for the nodes, distinct and in the same order."""
        listed = names.tolist()
        stars = (tuple(listed[node] for node in star) for star in self.stars)
        own = self.only_stars()
        return Cuts(names[own.triangles], tuple(stars), own.weights)

    @cached_property
    def by_size(self) -> Sequence[tuple[Labels, Labels]]:
        """All stars of one size as the rows of an array, with their positions, size by size."""
        positions: dict[int, list[int]] = {}
        for position, star in enumerate(self.stars):
            positions.setdefault(len(star), []).append(position)
        return [
            (np.arange(len(self.triangles)), self.triangles),
            *(
                (
                    np.array(chosen, dtype=np.intp) + len(self.triangles),
                    np.array([self.stars[position] for position in chosen], dtype=np.intp),
                )
                for chosen in positions.values()
            ),
        ]


NO_CUTS = Cuts(np.empty((0, 3), dtype=np.intp), (), np.empty(0))
"""No cuts."""


def _order(nodes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(nodes), nodes


def united(
    triangles: Labels,
    stars: Sequence[Star],
    weights: Floats,
    two_partitions: Sequence[TwoPartition] = (),
) -> Cuts:
    """Make a set of cuts, each once, in the order of first appearance."""
    base, split = int(triangles.max(initial=0)) + 1, len(triangles)
    _, first = np.unique(
        (triangles[:, 0] * base + triangles[:, 1]) * base + triangles[:, 2], return_index=True
    )
    first = np.sort(first)
    places: dict[Star, int] = {}
    for place, star in enumerate(stars, start=split):
        places.setdefault(star, place)
    others: dict[TwoPartition, int] = {}
    for place, both in enumerate(two_partitions, start=split + len(stars)):
        others.setdefault(both, place)
    kept = np.array([*places.values(), *others.values()], dtype=np.intp)
    return Cuts(triangles[first], tuple(places), weights[np.append(first, kept)], tuple(others))


def cuts_of(
    stars: Iterable[Star], triangles: Labels, problem: Problem, weights: Floats | None = None
) -> Cuts:
    """Make a set from triangles in any order and stars of any size; weights, if any, in that order."""
    stars = list(stars)
    if weights is None:
        weights = np.zeros(len(triangles) + len(stars))
    size = np.array([len(star) for star in stars], dtype=np.intp)
    small = np.array([star for star in stars if len(star) == 3], dtype=np.intp).reshape(-1, 3)
    rows = np.concatenate([triangles, small])
    rows = np.column_stack([rows[:, 0], rows[:, 1:].min(axis=1), rows[:, 1:].max(axis=1)])
    centre, one, other = rows.T
    distinct = (centre != one) & (centre != other) & (one != other)
    useful = distinct & ~problem.forbidden[centre, one] & ~problem.forbidden[centre, other]
    own, theirs = weights[: len(triangles)], weights[len(triangles) :]
    return united(
        rows[useful],
        [star for star in stars if len(star) > 3],
        np.concatenate([np.concatenate([own, theirs[size == 3]])[useful], theirs[size > 3]]),
    )


def _sorted(stars: Labels) -> Labels:
    """Sort the leaves of stars of one size."""
    return np.column_stack([stars[:, 0], np.sort(stars[:, 1:], axis=1)])


def _is_clean(stars: Labels, problem: Problem) -> Bools:
    """Find the stars without a leaf twice, the centre as a leaf or a leaf that the centre forbids."""
    centre, leaves = stars[:, :1], stars[:, 1:]
    dirty = (leaves == centre) | problem.forbidden[centre, leaves]
    dirty[:, 1:] |= leaves[:, 1:] == leaves[:, :-1]
    clean: Bools = ~dirty.any(axis=1)
    return clean


def _cleaned(star: list[int], problem: Problem) -> Star:
    centre, leaves = star[0], sorted({*star[1:]} - {star[0]})
    return (centre, *(leaf for leaf in leaves if not problem.forbidden[centre, leaf]))


def lifted(cuts: Cuts, problem: Problem, watch: Watch | None = None) -> Cuts:
    """Add to every cut the leaves that are forbidden with all its leaves, those that gain most first.

    Triangles whose leaves may share a cluster stay as they are; so do all cuts from when a limit is reached.
    """
    watch = watch or Watch()
    if not problem.forbidden.any():
        return cuts
    _, one, other = cuts.triangles.T
    blocked = problem.forbidden[one, other]
    grown: dict[Star, None] = {}
    for _, stars in cuts.keep(np.append(blocked, np.ones(len(cuts.stars), dtype=bool))).by_size:
        lines = max(1, AT_ONCE // problem.size)
        for start in range(0, len(stars), lines):
            some = stars[start : start + lines]
            grown |= dict.fromkeys(map(tuple, some.tolist()) if watch.expired() else _lift(some, problem))
    return cuts_of(grown, cuts.triangles[~blocked], problem)


def _lift(stars: Labels, problem: Problem) -> Iterator[Star]:
    """Grow stars of one size, all at the same time."""
    gains = problem.gains[stars[:, 0]]
    free = gains > 0
    for leaf in stars[:, 1:].T:
        free &= problem.forbidden[leaf]
    added: list[list[int]] = [[] for _ in stars]
    rows = np.flatnonzero(free.any(axis=1))
    while len(rows):
        best = np.where(free[rows], gains[rows], 0).argmax(axis=1)
        for row, leaf in zip(rows.tolist(), best.tolist(), strict=True):
            added[row].append(leaf)
        free[rows] &= problem.forbidden[best]
        rows = rows[free[rows].any(axis=1)]
    for (centre, *leaves), more in zip(stars.tolist(), added, strict=True):
        yield (centre, *sorted(leaves + more)) if more else (centre, *leaves)


def violated_triangles(
    problem: Problem, x: Floats, watch: Watch | None = None, *, limit: int, crowd: int
) -> Cuts:
    """Find, for each third side, the triangle that is violated most; return the worst of them.

    No pair is a short side of more than about `crowd` of these: more of them would say the same again. When a
    limit is reached, those found so far are returned.
    """
    watch = watch or Watch()
    n = problem.size
    worst = np.zeros((n, n))
    centre_of = np.full((n, n), -1, dtype=np.intp)
    stakes = np.maximum(problem.gains, 0) + 1.0
    for centre in range(n):
        if watch.expired():
            break
        reach = x[centre].copy()
        reach[centre] = 0.0
        near = np.flatnonzero(reach > EPSILON)
        # A violated triangle has a short side above one half.
        far = np.flatnonzero(reach > 0.5)
        if len(near) > 1 and len(far):
            excess = (reach[far, None] - 1.0) + reach[near] - x[np.ix_(far, near)]
            one, other = np.nonzero(excess > EPSILON)
            first, second = far[one], near[other]
            score = excess[one, other] * np.minimum(stakes[centre, first], stakes[centre, second])
            better = score > worst[first, second]
            first, second = first[better], second[better]
            worst[first, second], centre_of[first, second] = score[better], centre
    flipped = worst < worst.T
    worst, centre_of = np.where(flipped, worst.T, worst), np.where(flipped, centre_of.T, centre_of)
    first, second = np.nonzero(np.triu(centre_of >= 0, 1))
    order = np.argsort(-worst[first, second], kind="stable")
    first, second = first[order], second[order]
    centres = centre_of[first, second]
    fresh = _ranks(centres * n + first) < crowd
    fresh &= _ranks(centres * n + second) < crowd
    rows = np.column_stack([centres, first, second])[fresh][:limit]
    return Cuts(rows, (), np.zeros(len(rows)))


def _ranks(keys: Labels) -> Labels:
    """Number the occurrences of each key in order: 0 for its first, 1 for its second.

    >>> _ranks(np.array([5, 7, 5, 5, 7])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(keys) else order
    ranks = np.empty(len(keys), dtype=np.intp)
    ranks[order] = np.arange(len(keys)) - np.repeat(begins, np.diff(np.append(begins, len(keys))))
    return ranks


def violated_stars(
    problem: Problem, x: Floats, watch: Watch | None = None, *, thorough: bool = False
) -> Cuts:
    """Grow stars greedily: from several first leaves, add the leaf that raises the left side most.

    A thorough search has more first leaves, and takes the deepest star on the way instead of the last one.
    """
    watch = watch or Watch()
    starts = min(max(STARTS // max(1, problem.size), FEWEST), MOST) if thorough else FEWEST
    found: list[Star] = []
    for centre in range(problem.size):
        if watch.expired():
            break
        near = np.flatnonzero((x[centre] > EPSILON) & (x[centre] < 1 - EPSILON))
        if len(near) > 2:
            reach = x[centre, near]
            grown = _grow(reach, x[np.ix_(near, near)], starts, deepest=thorough)
            found += ((centre, *near[leaves].tolist()) for leaves in grown)
    return cuts_of(dict.fromkeys(found), NO_CUTS.triangles, problem)


def _grow(reach: Floats, inner: Floats, starts: int, *, deepest: bool) -> Bools:
    """Grow one star from each of the leaves nearest to one half, all at the same time; return their leaves.

    A star is violated most when it is as large as it gets, but a smaller one is often *deeper*: the point is
    farther away from where it holds with equality, by its violation divided by the length of the row.
    """
    first = np.argsort(np.abs(reach - 0.5), kind="stable")[:starts]
    lines, sizes = np.arange(len(first)), np.ones(len(first))
    chosen = np.zeros((len(first), len(reach)), dtype=bool)
    chosen[lines, first] = True
    left, depth, deep = reach[first].copy(), np.zeros(len(first)), chosen.copy()
    rise = reach[None, :] - inner[first]
    rise[chosen] = -1.0
    while True:
        best = rise.argmax(axis=1)
        amount = rise[lines, best]
        growing = amount > 1e-6
        if not growing.any():
            break
        rows, leaves = lines[growing], best[growing]
        left[rows] += amount[growing]
        chosen[rows, leaves] = True
        rise[rows] -= inner[leaves]
        rise[chosen] = -1.0
        if deepest:
            sizes[rows] += 1
            reached = (left - 1 - EPSILON) / np.sqrt(sizes * (sizes + 1) / 2)
            deeper = reached > depth
            depth[deeper], deep[deeper] = reached[deeper], chosen[deeper]
    found: Bools = deep[depth > 0] if deepest else chosen[left > 1 + EPSILON]
    large: Bools = found[found.sum(axis=1) > 1]
    return large
