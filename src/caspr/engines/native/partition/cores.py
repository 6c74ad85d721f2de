"""Cores: sets of nodes that every optimum holds together, although no two of them are near-twins.

With many annotators, the mentions of an undisputed chain all differ a little: each was missed by others. No
rule about two nodes (`reductions`) sees that they belong together, for each has a little more or less with
hundreds of others; and a few pairs that exclude each other, such as a mention inside another, keep the chain
from being one cluster at once. But all of them together outweigh that by far.

Let S be a set of n nodes of which no two are forbidden, and d any other node. Write m_d for the mean of w_sd
over S, and h = n / 2, rounded up. Let each s in S have a *hold*, the sum of its h smallest gains with others
of S, and a *pull* e_sd of each d:

    |w_sd - m_d|                       if no node of S forbids d,
    0                                  if all do,
    2 B_d                              if some do and s is one of them,
    max(w_sd, 0) + B_d / n             if some do and s is not one of them,

where B_d is the largest best(d, s) over the nodes of S that allow d: what d can gain at most in a cluster with
one of them (`reductions`).

Claim: if the hold of every s exceeds the sum of its pulls, S is in one cluster in *every optimum*. Proof: let
an optimum divide S among clusters S_1 + D_1, ..., S_r + D_r, r > 1, the D outside S. For each i consider the
change to S + D_i: those of D_i that some of S forbid leave first, alone; then all other nodes of S come, and
leave their D_j behind. Take the mean of these r changes with weights l_i = |S_i| / n. As none of them improves
the optimum, it is at most 0. But it is at least

    W - sum over d of loss(d),

where W is what all pairs of S in different clusters gain, and for d in D_i

    loss(d) = (1 - l_i) w(S_i, d) - l_i w(S - S_i, d) = sum over s in S_i of (w_sd - m_d)    if no s forbids d,
    loss(d) <= (1 - l_i) w(S_i, d) + l_i B_d <= B_d                                          if some s does:

then d leaves when the others come, which loses no more than all that d gains beside some s of S_i.

(a) No S_i has more than half of S. Every s has at least h nodes of S in other clusters, so twice W is at least
the sum of all holds (the gains of a hold are not all negative, so more than h nodes gain no less). The
w_sd - m_d add up to 0 over S, so those of S_i add up to at most half the sum of |w_sd - m_d|; and where some s
forbids d, half its pull is B_d. So twice all losses are at most the sum of all pulls, and W exceeds them.

(b) S_1 has more than half, h nodes or more. Let T be the rest of S, and q what pairs of T in different clusters
gain. Every s of T has S_1 elsewhere, and its hold is at most w(s, S_1), and at most what it gains with all that
are elsewhere. The first sums to W - q over T, the second to W + q, so W is at least the sum of the holds of T.
Each loss is at most the sum of the pulls of d on T: if no s forbids d, it is minus the sum of w_sd - m_d over T
for d in D_1, and a sum over a part of T for another D_i; if some s does, one of these is in T, whose pull is
at least B_d, or all are in S_1, so that d is in some D_i within T, and loses at most the sum of max(w_sd, 0) +
B_d / n over S_i. Again W exceeds all losses.

So the mean is positive: a contradiction. With two nodes this is the near-twin rule. All is multiplied by n, so
that only whole numbers are compared; a problem in which these could exceed 2^62 is left alone.
"""

from collections.abc import Iterator

import numpy as np

from caspr.engines.native.partition.heuristics import greedy
from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.partition.watch import Watch

LEAST = 3
"""Fewer nodes are no core: two are near-twins."""
SHARE = 4
"""One in this many of the nodes that do not hold is dropped at a time, once the worst are gone."""


def find_cores(problem: Problem, best: Ints, watch: Watch) -> list[Labels]:
    """Find sets of nodes that every optimum holds together, within the clusters of a heuristic."""
    mass = int(np.abs(problem.gains).sum())
    if problem.size < LEAST or 8 * problem.size * mass >= 1 << 62:
        return []
    labels = greedy(problem, watch=watch)
    cores = (_core(problem, best, cluster, watch) for cluster in _clusters(labels))
    return [core for core in cores if len(core)]


def _clusters(labels: Labels) -> Iterator[Labels]:
    """Yield the nodes of each cluster that may be a core."""
    for label in np.flatnonzero(np.bincount(labels) >= LEAST):
        yield np.flatnonzero(labels == label)


def _core(problem: Problem, best: Ints, nodes: Labels, watch: Watch) -> Labels:
    """Drop nodes from a cluster until all others hold; return none if too few are left."""
    first = True
    while len(nodes) >= LEAST:
        watch.check()
        others = np.flatnonzero(~problem.forbidden[nodes].all(axis=0))
        others = others[~np.isin(others, nodes)]
        spare = spare_holds(
            problem.gains[np.ix_(nodes, nodes)],
            problem.gains[np.ix_(nodes, others)],
            problem.forbidden[np.ix_(nodes, others)],
            best[np.ix_(others, nodes)].T,
        )
        loose = np.flatnonzero(spare <= 0)
        if not len(loose):
            return nodes
        dropped = loose if first else loose[np.argsort(spare[loose])][: -(-len(loose) // SHARE)]
        nodes, first = np.delete(nodes, dropped), False
    return nodes[:0]


def spare_holds(inside: Ints, outside: Ints, forbidden: Bools, best: Ints) -> Ints:
    """Return by how much, times n, the hold of each node exceeds its pulls.

    `outside` has a row for each node of the set and a column for each other node, and so have `forbidden` and
    `best`, what the column's node can gain at most beside the row's.
    """
    size = len(inside)
    among = inside.copy()
    np.fill_diagonal(among, np.iinfo(np.int64).max)
    half = -(-size // 2)
    hold = np.partition(among, half - 1, axis=1)[:, :half].sum(axis=1)
    barred = forbidden.any(axis=0)
    allowed, some = outside[:, ~barred], forbidden[:, barred]
    pull = np.abs(size * allowed - allowed.sum(axis=0)).sum(axis=1)
    most = np.where(some, 0, best[:, barred]).max(axis=0, initial=0)
    pulls = np.where(some, 2 * size * most, size * np.maximum(outside[:, barred], 0) + most)
    spare: Ints = size * hold - pull - pulls.sum(axis=1)
    return spare
