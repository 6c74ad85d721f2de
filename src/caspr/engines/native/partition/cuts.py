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

*Partner stars* are stars sharpened by who is the first partner of a demand. Let y_j = 1 where j is the first
partner of a demand, so that just one y_j is 1. If that is j, then j shares the cluster of the home m, and the
partners before j share it with neither. So a star (centre c, leaves T) can be sharpened by a multiple of
every y_j for which the left side of the star is then at most 1 minus that multiple:

    + 1 y_j    c is m or j, and all leaves are partners before j: then no leaf is with the centre;
    + 1 y_j    c is a partner before j, and m and j are leaves: they are not with c but with each other, which
               takes 1 from what the other leaves make of the star, and that is at most 1;
    + 2 y_j    the same with no other leaf.

With one leaf u and c = j the first says y_j + x_ju <= 1; with c = m it says x_mu <= sum of y_i over i up to
u. Without the last two, a home that is half with two partners at once would count as not alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.problem import Bools, Demand, Labels, Problem
from caspr.engines.native.partition.watch import Watch

Floats = NDArray[np.float64]
Array = NDArray[Any]
Star = tuple[int, ...]
"""A centre, then three or more leaves in order."""
TwoPartition = tuple[tuple[int, ...], tuple[int, ...]]
"""Two disjoint sets of two or more nodes, each in order, the smaller first (`separation`)."""
Pentagon = tuple[int, ...]
"""Five nodes around a ring (`separation`): the smallest first, then the smaller neighbour of it."""
PartnerStar = tuple[int, Star]
"""The name of a demand, and a centre with leaves in order."""

EPSILON = 0.02
"""Violations below this are left alone: what a first-order method finds is only near the optimum."""
AT_ONCE = 1 << 21
"""How many entries of a matrix are looked at between two looks at the clock."""


@dataclass(frozen=True)
class Cuts:
    """A set of star inequalities, and of two-partition, pentagon and partner star inequalities."""

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
    partner_stars: tuple[PartnerStar, ...] = ()
    """Stars that demands sharpen."""

    @classmethod
    def beyond_stars(
        cls,
        two_partitions: Iterable[TwoPartition] = (),
        pentagons: Iterable[Pentagon] = (),
        partner_stars: Iterable[PartnerStar] = (),
    ) -> "Cuts":
        """Make a set without plain stars."""
        kinds = tuple(two_partitions), tuple(pentagons), tuple(partner_stars)
        nothing = np.empty((0, 3), dtype=np.intp)
        return cls(nothing, (), np.zeros(sum(map(len, kinds))), *kinds)

    def __len__(self) -> int:
        return len(self.triangles) + len(self.stars) + self.others + len(self.partner_stars)

    @property
    def others(self) -> int:
        """How many there are that are not stars."""
        return len(self.two_partitions) + len(self.pentagons)

    def __or__(self, other: "Cuts") -> "Cuts":
        """Unite two sets, keeping the order of first appearance."""
        if not len(other):
            return self
        kinds = zip(self._by_kind(self.weights), other._by_kind(other.weights), strict=True)
        return united(
            np.concatenate([self.triangles, other.triangles]),
            (*self.stars, *other.stars),
            np.concatenate([weights for both in kinds for weights in both]),
            (*self.two_partitions, *other.two_partitions),
            (*self.pentagons, *other.pentagons),
            (*self.partner_stars, *other.partner_stars),
        )

    def _by_kind(self, numbers: Array) -> Sequence[Array]:
        """Cut an array with a number for each cut into those of each kind."""
        sizes = len(self.triangles), len(self.stars), len(self.two_partitions), len(self.pentagons)
        return np.split(numbers, list(accumulate(sizes)))

    @property
    def rights(self) -> Labels:
        """The right side of every inequality."""
        smaller = np.array([len(side) for side, _ in self.two_partitions], dtype=np.intp)
        stars = np.ones(len(self.triangles) + len(self.stars), dtype=np.intp)
        sharpened = np.ones(len(self.partner_stars), dtype=np.intp)
        return np.concatenate([stars, smaller, np.full(len(self.pentagons), 2), sharpened])

    def only_stars(self) -> "Cuts":
        """Leave out two-partitions and pentagons."""
        if not self.others:
            return self
        triangles, stars, _, _, sharpened = self._by_kind(self.weights)
        weights = np.concatenate([triangles, stars, sharpened])
        return Cuts(self.triangles, self.stars, weights, partner_stars=self.partner_stars)

    def weighing(self, weights: Floats) -> "Cuts":
        """Return the same cuts with other multipliers."""
        return replace(self, weights=weights)

    def keep(self, mask: Bools) -> "Cuts":
        """Keep some of the rows, which come in the order of the fields."""
        triangles, stars, two_partitions, pentagons, sharpened = self._by_kind(mask)
        return Cuts(
            self.triangles[triangles],
            tuple(compress(self.stars, stars.tolist())),
            self.weights[mask],
            tuple(compress(self.two_partitions, two_partitions.tolist())),
            tuple(compress(self.pentagons, pentagons.tolist())),
            tuple(compress(self.partner_stars, sharpened.tolist())),
        )

    def rename(self, labels: Labels, problem: Problem) -> "Cuts":
        """Express the cuts in the nodes of a contracted problem, dropping those that say nothing."""
        stars: list[Star] = [()] * len(self.stars)
        for positions, array in self.by_size:
            if array.shape[1] > 3:
                named = _sorted(labels[array])
                clean = _is_clean(named, problem)
                for index, row, good in zip(positions.tolist(), named.tolist(), clean.tolist(), strict=True):
                    stars[index - len(self.triangles)] = tuple(row) if good else _cleaned(row, problem)
        weights = self.weights[: len(self.triangles) + len(self.stars)]
        renamed = cuts_of(stars, labels[self.triangles], problem, weights)
        if self.others:
            renamed |= self._renamed_others(labels)
        return renamed | self._renamed_partner_stars(labels, problem) if self.partner_stars else renamed

    def _renamed_partner_stars(self, labels: Labels, problem: Problem) -> "Cuts":
        """Rename partner stars, dropping those that nothing sharpens any more."""
        demands = {demand.name: demand for demand in problem.demands}
        kept: dict[PartnerStar, float] = {}
        weights = self._by_kind(self.weights)[-1].tolist()
        for (name, star), weight in zip(self.partner_stars, weights, strict=True):
            centre, *leaves = labels[list(star)].tolist()
            distinct = len({centre, *leaves}) == len(star)
            if distinct and name in demands and sharpen(demands[name], (centre, *leaves)):
                kept[name, (centre, *sorted(leaves))] = weight
        return Cuts.beyond_stars(partner_stars=kept).weighing(np.array(list(kept.values())))

    def _renamed_others(self, labels: Labels) -> "Cuts":
        """Rename two-partitions and pentagons; where two nodes get one name, they lose their form."""
        names = labels.tolist()
        *_, heavy, light, _ = self._by_kind(self.weights)
        kept: dict[TwoPartition, float] = {}
        for sides, weight in zip(self.two_partitions, heavy.tolist(), strict=True):
            small, large = sorted((tuple(sorted(names[node] for node in side)) for side in sides), key=_order)
            if len({*small, *large}) == len(small) + len(large):
                kept.setdefault((small, large), weight)
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
        both = ((*small, *large) for small, large in self.two_partitions)
        sharpened = (star for _, star in self.partner_stars)
        rest = [*self.stars, *both, *self.pentagons, *sharpened]
        return np.append(triangles, np.array([all(home[n] for n in nodes) for nodes in rest], dtype=bool))

    def through(self, places: Labels) -> "Cuts":
        """Express the cuts in the nodes of a similar problem, for `within` to sort out what they say there.

        Those with a node that has no place are dropped. Demands have the names of their nodes.
        """
        if not len(self):
            return self
        cuts, listed = self.keep(self._at_home(places)).named(places), places.tolist()
        return replace(cuts, partner_stars=tuple((listed[name], star) for name, star in cuts.partner_stars))

    def named(self, names: Labels) -> "Cuts":
        """Express the cuts in other names for the nodes, distinct and in the same order."""
        if not len(self):
            return self
        listed = names.tolist()

        def renamed(nodes: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(listed[node] for node in nodes)

        return Cuts(
            names[self.triangles],
            tuple(map(renamed, self.stars)),
            self.weights,
            tuple((renamed(small), renamed(large)) for small, large in self.two_partitions),
            tuple(map(renamed, self.pentagons)),
            tuple((name, renamed(star)) for name, star in self.partner_stars),
        )

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
    *rest: Sequence[Any],
) -> Cuts:
    """Make a set of cuts, each once, in the order of first appearance; `rest` are the further kinds."""
    base = int(triangles.max(initial=0)) + 1
    _, first = np.unique(
        (triangles[:, 0] * base + triangles[:, 1]) * base + triangles[:, 2], return_index=True
    )
    first = np.sort(first)
    kinds: list[dict[Any, int]] = []
    begin = len(triangles)
    for kind in (stars, *rest):
        positions: dict[Any, int] = {}
        for position, cut in enumerate(kind, start=begin):
            positions.setdefault(cut, position)
        kinds.append(positions)
        begin += len(kind)
    kept = np.array([position for positions in kinds for position in positions.values()], dtype=np.intp)
    chosen, *further = map(tuple, kinds)
    return Cuts(triangles[first], chosen, weights[np.append(first, kept)], *further)


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
    centre, low, high = rows.T
    distinct = (centre != low) & (centre != high) & (low != high)
    useful = distinct & ~problem.forbidden[centre, low] & ~problem.forbidden[centre, high]
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

    Triangles whose leaves may share a cluster stay as they are; so do all cuts once a limit is reached.
    """
    watch = watch or Watch()
    if not problem.forbidden.any():
        return cuts
    _, first, second = cuts.triangles.T
    blocked = problem.forbidden[first, second]
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


def sharpen(demand: Demand, star: Star) -> list[tuple[int, int]]:
    """Return by how much each first partner sharpens a star: the ranks of partners, and multiples.

    >>> demand = Demand(9, 9, (1, 2, 3), (0, 0, 0), ((1, 9), (2, 9), (3, 9)))
    >>> [sharpen(demand, star) for star in ((9, 1), (3, 1, 2), (1, 2, 9), (3, 9))]
    [[(1, 1), (2, 1)], [(2, 1)], [(1, 2)], []]
    """
    centre, leaves = star[0], set(star[1:])
    rank = demand.ranks
    if demand.home in leaves:
        if centre not in rank:
            return []
        later = (leaf for leaf in star[1:] if leaf != demand.home and rank.get(leaf, -1) > rank[centre])
        return [(rank[leaf], 2 if len(leaves) == 2 else 1) for leaf in later]
    if not leaves <= rank.keys():
        return []
    last = max(rank[leaf] for leaf in leaves)
    late = range(last + 1, len(demand.partners))
    return [(number, 1) for number in late if centre in (demand.home, demand.partners[number])]
