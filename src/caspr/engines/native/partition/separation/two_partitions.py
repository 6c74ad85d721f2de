"""Two-partition inequalities: pairs between two sets of nodes, minus those inside either.

For disjoint sets S and T, every clustering satisfies

    sum of x_st over S x T  -  sum of x over pairs of S  -  sum of x over pairs of T  <=  min(|S|, |T|).

Proof: a cluster that holds s nodes of S and t of T adds s t - s (s-1) / 2 - t (t-1) / 2 to the left side,
which is (s + t - (s-t)^2) / 2. With d = |s - t|, that is min(s, t) + (d - d^2) / 2 <= min(s, t); and the sum
over all clusters of min(s, t) is at most min(|S|, |T|).

With one node in S these are the stars (`cuts`). Larger sets are looked for only where stars no longer lower
the bound: where many pairs gain nothing, as between the nodes of either side of a bipartite graph, they close
most of the gap that stars leave.
"""

import numpy as np

from caspr.engines.native.partition.cuts import Cuts, Floats, TwoPartition
from caspr.engines.native.partition.problem import Bools, Labels, Problem
from caspr.engines.native.partition.watch import Watch

BEGINNINGS = 400
"""From how many stars, and from how many two-partitions, others are looked for at most."""
LIMIT = 400
"""How many a round adds at most."""
TIGHT = 0.05
"""A cut with less slack holds the point back."""
STEPS = 25
"""How many nodes are added or removed at most."""
BOLD, DESCENT = 2, 0.3
"""In so many first steps, the left side may fall by so much: a star is a local optimum."""
SHALLOW = 0.005
"""What is not as deep as this is left alone."""
NOISE = 1e-3
"""Ties are broken by chance, from a fixed seed, or most climbs would end in the same place."""
NEVER = -9.0
"""The gain of a step that cannot be made."""


def violated_two_partitions(
    problem: Problem, x: Floats, cuts: Cuts, slack: Floats, watch: Watch | None = None
) -> Cuts:
    """Look for inequalities that a point violates, starting from the cuts that hold it back.

    Those come first that the point is farthest away from, by violation divided by the length of the row.
    """
    watch = watch or Watch()
    begin = _beginnings(cuts, slack)
    inner = np.where(problem.forbidden, 0.0, x)
    np.fill_diagonal(inner, 0.0)
    found: dict[TwoPartition, None] = {}
    if begin:
        climb = _Climb(inner, begin)
        climb.run(watch)
        for line in np.argsort(-climb.depth, kind="stable").tolist():
            if climb.depth[line] < SHALLOW or len(found) == LIMIT:
                break
            sides = (np.flatnonzero(side[line]) for side in climb.deepest)
            one, other = sorted((tuple(side.tolist()) for side in sides), key=lambda side: (len(side), side))
            if len(one) > 1:
                found[one, other] = None
    return Cuts.beyond_stars(found)


def _beginnings(cuts: Cuts, slack: Floats) -> list[TwoPartition]:
    """Choose tight cuts, those with the largest multipliers first."""
    begin = len(cuts.triangles)
    stars = [((centre,), tuple(leaves)) for centre, *leaves in cuts.stars]
    chosen: list[TwoPartition] = []
    for kind in (stars, cuts.two_partitions):
        tight = np.flatnonzero(slack[begin : begin + len(kind)] < TIGHT)
        order = np.argsort(-cuts.weights[begin + tight], kind="stable")[:BEGINNINGS]
        chosen += (kind[place] for place in tight[order].tolist())
        begin += len(kind)
    return chosen


class _Climb:
    """Local searches for deep inequalities, all at the same time: add or remove the best node of all."""

    def __init__(self, inner: Floats, begin: list[TwoPartition]) -> None:
        self.inner = inner
        self.lines = np.arange(len(begin))
        self.sides = np.zeros((2, len(begin), len(inner)))
        for line, both in enumerate(begin):
            for side, nodes in zip(self.sides, both, strict=True):
                side[line, list(nodes)] = 1.0
        self.pull: Floats = self.sides @ inner
        self.depth = np.full(len(begin), NEVER)
        self.deepest: list[Bools] = [np.zeros(side.shape, dtype=bool) for side in self.sides]
        self._remember()

    def run(self, watch: Watch) -> None:
        """Climb until nothing rises."""
        random = np.random.default_rng(1)
        for step in range(STEPS):
            if watch.expired():
                break
            rise = self._rises()
            rise += NOISE * random.random(rise.shape)
            best = rise.argmax(axis=1)
            least = -DESCENT if step < BOLD else 2 * NOISE
            moving = np.flatnonzero(rise[self.lines, best] > least)
            if not len(moving):
                break
            self._step(moving, best[moving])
            self._remember()

    def _rises(self) -> Floats:
        """Return what each step raises the violation by: add to S, to T, remove from S, from T."""
        size = self.sides.sum(axis=2)[:, :, None]
        inside = self.sides > 0
        outside = ~(inside[0] | inside[1])
        small = np.minimum(size[0], size[1])
        rises = []
        for sign in (1, -1):
            for side, other in ((0, 1), (1, 0)):
                allowed = outside if sign > 0 else inside[side] & (size[side] > 1)
                rise = sign * (self.pull[other] - self.pull[side])
                rise = rise - (np.minimum(size[side] + sign, size[other]) - small)
                rises.append(np.where(allowed, rise, NEVER))
        return np.concatenate(rises, axis=1)

    def _step(self, moving: Labels, best: Labels) -> None:
        kind, node = np.divmod(best, len(self.inner))
        for number, (side, sign) in enumerate(((0, 1.0), (1, 1.0), (0, -1.0), (1, -1.0))):
            rows, nodes = moving[kind == number], node[kind == number]
            self.sides[side, rows, nodes] += sign
            self.pull[side, rows] += sign * self.inner[nodes]

    def _remember(self) -> None:
        """Keep what is deeper than all before."""
        (one, other), (near, far) = self.sides, self.pull
        left = (near * other).sum(axis=1) - (near * one).sum(axis=1) / 2 - (far * other).sum(axis=1) / 2
        sizes = self.sides.sum(axis=2)
        both = sizes.sum(axis=0)
        depth = (left - sizes.min(axis=0)) / np.sqrt(both * (both - 1) / 2)
        deeper = depth > self.depth
        self.depth[deeper] = depth[deeper]
        for deepest, side in zip(self.deepest, self.sides, strict=True):
            deepest[deeper] = side[deeper] > 0
