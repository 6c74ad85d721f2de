"""Cores: sets of nodes that every optimum holds together, although no two of them are near-twins.

With many annotators, the mentions of an undisputed chain all differ a little: each was missed by others. No
rule about two nodes (`reductions`) sees that they belong together, for each has a little more or less with
hundreds of others; and a few pairs that exclude each other, such as a mention inside another, keep the chain
from being one cluster at once. But all of them together outweigh that by far.

Let S be a set of nodes of which no two are forbidden, each with a weight; write l(X) for the share that the
nodes X have of all weight. The *hold* of s in S is what it gains at least with others of half the weight or
more. Another node is *firm* if the nodes of S that allow it have more than half the weight. For a node d
outside S let B_d be the sum of its positive gains with S and with all nodes that some of S allow, and F_d
that with S and with firm nodes only. Each d has *pulls* on s, of three kinds:

              no node of S forbids d     s forbids d            s allows d, others do not
    share     |w_sd - l(s) w(S, d)|      F_d, 0 if not firm     2 max(w_sd, 0) + 2 l(s) B_d
    out       max(w_sd, 0)               0                      max(w_sd, 0)
    over      |w_sd|                     F_d, 0 if not firm     |w_sd|

Claim: if the hold of every s, unless it has more than half the weight, exceeds the sum of its pulls of the
kind `share`, or twice that of the kind `out` and that of the kind `over`, S is in one cluster in *every
optimum*.

Proof: let an optimum divide S among clusters S_1 + D_1, ..., S_r + D_r, r > 1, the D outside S, and let W be
what all pairs of S in different clusters gain. No change improves the optimum. These are considered:

    in_i    all of S goes to D_i; those of D_i that one of S - S_i forbids leave before, alone;
    out     all of S leaves, as a cluster of its own.

*Out* gains W minus the sum of w(S_j, D_j), which is at most all pulls of the kind `out`. The mean of all
in_i with weights l_i = l(S_i) gains W minus the sum of loss(d) over all d, where for d in D_i

    loss(d) = (1 - l_i) w(S_i, d) - l_i w(S - S_i, d)
            = sum over S_i of w_sd - l(s) w(S, d)                 if no s forbids d,
    loss(d) <= (1 - l_i) w(S_i, d) + l_i B_d                      if some s does:

then d leaves when the others come, which loses at most what it gains with its cluster, all of which S_i
allows: at most B_d; and at most F_d if S_i has more than half the weight.

(a) No S_i has more than half the weight. Every s has half of it in other clusters, so twice W is at least
the sum of all holds. *Out* loses at most all pulls `out`. And w_sd - l(s) w(S, d) adds up to 0 over S, so
what S_i has of it is at most half the sum of its amounts; where some s forbids d, half of the pulls on S_i
are enough. So twice all losses of the mean are at most the sum of all pulls `share`.

(b) S_1 has more than half. Let T be the rest of S, and q what pairs of T in different clusters gain. The
hold of each s of T is at most w(s, S_1), and at most what s gains with all that are elsewhere. The first
sums to W - q over T, the second to W + q, so W is at least the sum of the holds of T. All of D_1 is firm.
in_1 gains W, plus w(T, d) for those d of D_1 that stay, minus F_d for those that leave, which a node of T
forbids, minus w(S_j, d) for those of other D_j: it loses no more than the pulls `over` on T. The mean loses
no more than the pulls `share` on T: if no s forbids d, that is minus the sum of w_sd - l(s) w(S, d) over T
for d in D_1, and a sum over a part of T for another D_i; if some s does, one of T does and d is in D_1, or d
is in another D_i, and its pulls on S_i are enough.

So some change improves the optimum: a contradiction. With two nodes of equal weight, `share` is the near-twin
rule. All is multiplied by the weight of S, so that only whole numbers are compared; a problem in which these
could exceed 2^62 is left alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.watch import Watch

LEAST = 3
"""Fewer nodes are no core: two are near-twins."""
SHARE = 2
"""One in this many of the nodes that do not hold is dropped at a time, the worst."""
FINE = 256
"""The weights of nodes are whole numbers, on average this."""
MANY = 500
"""In larger sets weights are much the same, and a median is found faster without them."""
FITTED = 6
"""How often weights are adjusted to what nodes gain."""
AT_ONCE = 1 << 21
"""How many pairs of a core with other nodes are looked at between two looks at the clock."""
Row = tuple[Labels, Ints, Bools]
"""Nodes, what one node gains with each, and whether it allows them."""
Core = tuple[Labels, Ints]
"""Nodes and their weights."""
Columns = tuple[Ints, Bools, Ints, Ints]
"""The gains of a core (rows) with others (columns), which pairs are forbidden, B_d and F_d of the others."""


def find_cores(problem: Problem, watch: Watch) -> list[Core]:
    """Find sets of nodes that every optimum holds together, among those that may be such."""

    def around(nodes: Labels, weights: Ints) -> Iterator[Columns]:
        allowing = weights @ ~problem.forbidden[nodes]
        near = np.flatnonzero(allowing)
        firm = 2 * allowing[near] > weights.sum()
        for some in _in_blocks(near[~np.isin(near, nodes)], len(nodes)):
            table = np.ix_(nodes, some)
            theirs = np.maximum(problem.gains[np.ix_(some, near)], 0)
            yield problem.gains[table], problem.forbidden[table], theirs.sum(axis=1), theirs @ firm

    if problem.size < LEAST or not _is_safe(problem.size, int(np.abs(problem.gains).sum())):
        return []
    sums, most = np.maximum(problem.gains, 0).sum(axis=1), problem.gains.max(axis=1)
    every = np.arange(problem.size)
    clusters = _clusters(
        sums, most, lambda node: (every, problem.gains[node], ~problem.forbidden[node]), watch
    )
    cores = (_core(nodes, lambda own: problem.gains[np.ix_(own, own)], around, watch) for nodes in clusters)
    return [core for core in cores if core is not None]


def find_listed_cores(problem: SparseProblem, watch: Watch) -> list[Core]:
    """Find the same where pairs that are not listed are forbidden, and no matrix is written down."""
    if not _is_safe(problem.size, problem.mass):
        return []
    table, most = _Listed(problem), np.zeros(problem.size, dtype=np.int64)
    np.maximum.at(most, problem.first, problem.gains)
    np.maximum.at(most, problem.second, problem.gains)
    clusters = _clusters(problem.positive, most, table.row, watch)
    cores = (_core(nodes, lambda own: table.between(own, own)[0], table.around, watch) for nodes in clusters)
    return [core for core in cores if core is not None]


@dataclass(frozen=True)
class _Listed:
    """Looks pairs up in a list."""

    problem: SparseProblem

    def row(self, node: int) -> Row:
        """Return what one node gains."""
        rows = self.problem.neighbours
        part = slice(int(rows.starts[node]), int(rows.starts[node + 1]))
        others = rows.others[part]
        return others, self.problem.gains[rows.pairs[part]], np.ones(len(others), dtype=bool)

    def between(self, nodes: Labels, others: Labels) -> tuple[Ints, Bools]:
        """Return what nodes gain with others, and which pairs are forbidden."""
        rows = self.problem.neighbours
        place = np.full(self.problem.size, -1, dtype=np.intp)
        place[others] = np.arange(len(others))
        entries, owner = rows.of(nodes)
        column = place[rows.others[entries]]
        entries, owner, column = entries[column >= 0], owner[column >= 0], column[column >= 0]
        gains = np.zeros((len(nodes), len(others)), dtype=np.int64)
        never = np.ones(gains.shape, dtype=bool)
        gains[owner, column] = self.problem.gains[rows.pairs[entries]]
        never[owner, column] = False
        return gains, never

    def around(self, nodes: Labels, weights: Ints) -> Iterator[Columns]:
        """Yield the pairs of a core with others, and what these gain."""
        rows = self.problem.neighbours
        entries, owner = rows.of(nodes)
        allowing = np.zeros(self.problem.size, dtype=np.int64)
        np.add.at(allowing, rows.others[entries], weights[owner])
        outside = allowing > 0
        outside[nodes] = False
        allowing[nodes] = weights.sum()
        for some in _in_blocks(np.flatnonzero(outside), len(nodes)):
            theirs, owner = rows.of(some)
            gains = np.maximum(self.problem.gains[rows.pairs[theirs]], 0)
            shared = allowing[rows.others[theirs]]
            most, firm = np.zeros((2, len(some)), dtype=np.int64)
            np.add.at(most, owner, np.where(shared > 0, gains, 0))
            np.add.at(firm, owner, np.where(2 * shared > weights.sum(), gains, 0))
            yield *self.between(nodes, some), most, firm


def _is_safe(size: int, mass: int) -> bool:
    """Return whether no number can wrap: the weights of a core add up to less than 2 * FINE * size."""
    return 16 * FINE * size * mass < 1 << 62


def _in_blocks(others: Labels, size: int) -> Iterator[Labels]:
    """Divide other nodes so that their pairs with a core do not take much memory."""
    columns = max(1, AT_ONCE // size)
    return (others[start : start + columns] for start in range(0, len(others), columns))


def _clusters(sums: Ints, most: Ints, row: Callable[[int], Row], watch: Watch) -> Iterator[Labels]:
    """Yield sets of nodes that may be cores: around a node, all that gain half their most with it.

    `sums` are the positive gains of each node, `most` its largest gain.
    """
    free, allowing = np.ones(len(sums), dtype=bool), np.zeros(len(sums), dtype=np.intp)
    for leader in watch.during(np.argsort(-sums, kind="stable").tolist()):
        if not free[leader]:
            continue
        others, gains, allowed = row(leader)
        likely = allowed & free[others] & (gains > 0) & (2 * gains >= most[others])
        near = others[likely][np.argsort(-gains[likely], kind="stable")]
        chosen = [leader]
        allowing[:] = 0
        allowing[others[allowed]] = 1
        for node in near.tolist():
            if node != leader and allowing[node] == len(chosen):
                chosen.append(node)
                theirs, _, allowed = row(node)
                allowing[theirs[allowed]] += 1
        free[chosen] = False
        if len(chosen) >= LEAST:
            yield np.sort(np.array(chosen))


def _core(
    nodes: Labels,
    inside: Callable[[Labels], Ints],
    around: Callable[[Labels, Ints], Iterator[Columns]],
    watch: Watch,
) -> Core | None:
    """Drop nodes from a cluster until all others hold; `None` if too few are left."""
    while len(nodes) >= LEAST:
        among = inside(nodes)
        weights = _fitted_weights(among)
        share, out, over = np.zeros((3, len(nodes)), dtype=np.int64)
        for columns in around(nodes, weights):
            watch.check()
            pulls = Pulls.of(weights, *columns)
            share, out, over = share + pulls.share, out + pulls.out, over + pulls.over
        hold = holds(among, weights)
        spares = int(weights.sum()) * hold - share, hold - np.maximum(2 * out, over)
        # Where one node outweighs all others, nothing needs to hold it.
        light = 2 * weights <= weights.sum()
        loose, spare = min(
            ((np.flatnonzero((spare <= 0) & light), spare) for spare in spares), key=lambda kind: len(kind[0])
        )
        if not len(loose):
            return nodes, weights
        worst = loose[np.argsort(spare[loose])][: -(-len(loose) // SHARE)]
        nodes = np.delete(nodes, worst)
    return None


def _fitted_weights(inside: Ints) -> Ints:
    """Return weights whose products are about what nodes gain with each other."""
    sums = np.maximum(np.maximum(inside, 0).sum(axis=1), 1).astype(np.float64)
    weights = sums / np.sqrt(sums.sum())
    for _ in range(FITTED):
        total = weights.sum()
        weights = sums / np.maximum(total - weights, total / 4)
    fine: Ints = np.rint(FINE * weights / weights.mean()).astype(np.int64) + 1
    return fine


def holds(inside: Ints, weights: Ints) -> Ints:
    """Return what each node gains at least with others of half the weight of all.

    With others X of weight H or more a node gains at least r H + the sum of w - r * weight over X, for any
    r >= 0, and that sum is no less than the sum of all of its terms below 0. The best r is about the median
    of w / weight.
    """
    ratio = inside / weights
    np.fill_diagonal(ratio, np.inf)
    lines, half = np.arange(len(inside)), -(-int(weights.sum()) // 2)
    if len(inside) > MANY:
        last = np.argpartition(ratio, len(inside) // 2, axis=1)[:, len(inside) // 2]
    else:
        order = np.argsort(ratio, axis=1)
        reached = np.cumsum(weights[order], axis=1)
        last = order[lines, np.minimum((reached < half).sum(axis=1), len(inside) - 2)]
    rise, weight = np.maximum(inside[lines, last], 0), weights[last]
    below = np.minimum(weight[:, None] * inside - np.outer(rise, weights), 0).sum(axis=1)
    # The node itself, which gains nothing, was counted with all others.
    hold: Ints = (rise * (half + weights) + below) // weight
    return hold


@dataclass(frozen=True)
class Pulls:
    """How strongly other nodes pull on each node of a core."""

    share: Ints
    """Times the weight of the core."""
    out: Ints
    over: Ints

    @classmethod
    def of(cls, weights: Ints, gains: Ints, forbidden: Bools, most: Ints, firm: Ints) -> "Pulls":
        """Add up the pulls of some columns."""
        total, barred = int(weights.sum()), forbidden.any(axis=0)
        free, some = gains[:, ~barred], forbidden[:, barred]
        share: Ints = np.abs(total * free - np.outer(weights, free.sum(axis=0))).sum(axis=1)
        leaving = (some * np.where(2 * (weights @ ~some) > total, firm[barred], 0)).sum(axis=1)
        kept = total * np.maximum(gains[:, barred], 0) + np.outer(weights, most[barred])
        share += 2 * np.where(some, 0, kept).sum(axis=1) + total * leaving
        return cls(share, np.maximum(gains, 0).sum(axis=1), np.abs(gains).sum(axis=1) + leaving)
