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
from itertools import accumulate, compress
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
"""Two disjoint sets of two or more nodes, each in order, the smaller first (`separation.two_partitions`)."""
Pentagon = tuple[int, ...]
"""Five nodes around a ring (`separation.pentagons`): the smallest first, then the smaller neighbour of it."""

EPSILON = 0.02
"""Violations below this are left alone: what a first-order method finds is only near the optimum."""
AT_ONCE = 1 << 21
"""How many entries of a matrix are looked at between two looks at the clock."""


@dataclass(frozen=True)
class Cuts:
    """A set of star inequalities, and of two-partition and pentagon inequalities."""

    triangles: Labels
    """Those with two leaves, one row each: centre, leaf, leaf."""
    stars: tuple[Star, ...]
    """Those with more leaves."""
    weights: Floats
    """The multiplier each had in the last relaxation, in the order of the fields."""
    two_partitions: tuple[TwoPartition, ...] = ()
    """Those with several nodes on both sides."""
    pentagons: tuple[Pentagon, ...] = ()
    """Those on the sides and diagonals of a ring."""

    @classmethod
    def beyond_stars(
        cls, two_partitions: Iterable[TwoPartition] = (), pentagons: Iterable[Pentagon] = ()
    ) -> "Cuts":
        """Make a set without stars."""
        chosen, rings = tuple(two_partitions), tuple(pentagons)
        nothing = np.empty((0, 3), dtype=np.intp)
        return cls(nothing, (), np.zeros(len(chosen) + len(rings)), chosen, rings)

    def __len__(self) -> int:
        return len(self.triangles) + len(self.stars) + self.others

    @property
    def others(self) -> int:
        """How many there are that are not stars."""
        return len(self.two_partitions) + len(self.pentagons)

    def __or__(self, other: "Cuts") -> "Cuts":
        """Unite two sets, keeping the order of first appearance."""
        kinds = zip(self._by_kind(self.weights), other._by_kind(other.weights), strict=True)
        return united(
            np.concatenate([self.triangles, other.triangles]),
            (*self.stars, *other.stars),
            np.concatenate([weights for both in kinds for weights in both]),
            (*self.two_partitions, *other.two_partitions),
            (*self.pentagons, *other.pentagons),
        )

    def _by_kind(self, numbers: Array) -> Sequence[Array]:
        """Cut an array with a number for each cut into those of each kind."""
        sizes = len(self.triangles), len(self.stars), len(self.two_partitions)
        return np.split(numbers, list(accumulate(sizes)))

    @property
    def rights(self) -> Labels:
        """The right side of every inequality."""
        smaller = np.array([len(one) for one, _ in self.two_partitions], dtype=np.intp)
        stars = np.ones(len(self.triangles) + len(self.stars), dtype=np.intp)
        return np.concatenate([stars, smaller, np.full(len(self.pentagons), 2)])

    def only_stars(self) -> "Cuts":
        """Leave out everything else."""
        stars = len(self.triangles) + len(self.stars)
        return replace(self, weights=self.weights[:stars], two_partitions=(), pentagons=())

    def weighing(self, weights: Floats) -> "Cuts":
        """Return the same cuts with other multipliers."""
        return replace(self, weights=weights)

    def keep(self, mask: Bools) -> "Cuts":
        """Keep some of the rows, which come in the order of the fields."""
        triangles, stars, two_partitions, pentagons = self._by_kind(mask)
        return Cuts(
            self.triangles[triangles],
            tuple(compress(self.stars, stars.tolist())),
            self.weights[mask],
            tuple(compress(self.two_partitions, two_partitions.tolist())),
            tuple(compress(self.pentagons, pentagons.tolist())),
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
        return renamed | self._renamed_others(labels) if self.others else renamed

    def _renamed_others(self, labels: Labels) -> "Cuts":
        """Rename what is not a star; where two nodes get one name, it no longer has its form."""
        names = labels.tolist()
        *_, heavy, light = self._by_kind(self.weights)
        kept: dict[TwoPartition, float] = {}
        for sides, weight in zip(self.two_partitions, heavy.tolist(), strict=True):
            one, other = sorted((tuple(sorted(names[node] for node in side)) for side in sides), key=_order)
            if len({*one, *other}) == len(one) + len(other):
                kept.setdefault((one, other), weight)
        rings: dict[Pentagon, float] = {}
        for ring, weight in zip(self.pentagons, light.tolist(), strict=True):
            renamed = [names[node] for node in ring]
            if len({*renamed}) == len(renamed):
                rings.setdefault(ring_from(renamed), weight)
        return Cuts.beyond_stars(kept, rings).weighing(np.array([*kept.values(), *rings.values()]))

    def within(self, places: Labels, problem: Problem) -> "Cuts":
        """Express the cuts in the nodes of another problem, dropping those with a node that has no place."""
        return self.keep(self._at_home(places)).rename(places, problem)

    def _at_home(self, places: Labels) -> Bools:
        """Find the cuts all of whose nodes have a place."""
        home = (places >= 0).tolist()
        triangles = (places[self.triangles] >= 0).all(axis=1)
        both = ((*one, *other) for one, other in self.two_partitions)
        others = [*self.stars, *both, *self.pentagons]
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


def ring_from(nodes: Sequence[int]) -> Pentagon:
    """Begin a ring at its smallest node and go on with the smaller neighbour of that.

    >>> ring_from([5, 1, 4, 2, 3])
    (1, 4, 2, 3, 5)
    """
    begin = nodes.index(min(nodes))
    ring = [*nodes[begin:], *nodes[:begin]]
    return tuple(ring if ring[1] < ring[-1] else [ring[0], *ring[:0:-1]])


def _order(nodes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(nodes), nodes


def united(
    triangles: Labels,
    stars: Sequence[Star],
    weights: Floats,
    two_partitions: Sequence[TwoPartition] = (),
    pentagons: Sequence[Pentagon] = (),
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
    rings: dict[Pentagon, int] = {}
    for place, ring in enumerate(pentagons, start=split + len(stars) + len(two_partitions)):
        rings.setdefault(ring, place)
    kept = np.array([*places.values(), *others.values(), *rings.values()], dtype=np.intp)
    return Cuts(triangles[first], tuple(places), weights[np.append(first, kept)], tuple(others), tuple(rings))


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
