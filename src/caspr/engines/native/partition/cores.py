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
from typing import Protocol

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.watch import Watch

LEAST, LARGE = 3, 8
"""Fewer nodes are no core: two are near-twins. Cores of at least LARGE are worth a look before twins are."""
SHARE, SPARSE = 2, 16
"""One in SHARE of the nodes that do not hold is dropped at a time, the worst.

All are, where they are at most one in SPARSE of the whole set.
"""
FINE = 256
"""The weights of nodes are whole numbers, on average this."""
MANY = 500
"""In larger sets weights are much the same, and a median is found faster without them."""
FITTED = 6
"""How often weights are adjusted to what nodes gain."""
AT_ONCE = 1 << 19
"""How many pairs of a core with other nodes are looked at between two looks at the clock."""
Row = tuple[Labels, Ints, Bools]
"""Nodes, what one node gains with each, and whether it allows them."""
Core = tuple[Labels, Ints]
"""Nodes and their weights."""
Entries = tuple[Labels, Labels, Ints]
"""Pairs that are allowed: which of some nodes, by its place among them, with which other, and the gain."""


def find_cores(problem: Problem, watch: Watch) -> list[Core]:
    """Find sets of nodes that every optimum holds together, among those that may be such."""
    if problem.size < LEAST or not _is_safe(problem.size, int(np.abs(problem.gains).sum())):
        return []
    sums, most = np.maximum(problem.gains, 0).sum(axis=1), problem.gains.max(axis=1)
    return _found(_Matrix(problem), sums, most, watch, LEAST)


def find_listed_cores(problem: SparseProblem, watch: Watch, least: int = LEAST) -> list[Core]:
    """Find the same where pairs that are not listed are forbidden, and no matrix is written down.

    Sets of fewer nodes than `least` are not looked at.
    """
    if not _is_safe(problem.size, problem.mass):
        return []
    most = np.zeros(problem.size, dtype=np.int64)
    np.maximum.at(most, problem.first, problem.gains)
    np.maximum.at(most, problem.second, problem.gains)
    return _found(_Listed(problem), problem.positive, most, watch, least)


def _found(table: "_Table", sums: Ints, most: Ints, watch: Watch, least: int) -> list[Core]:
    clusters = _clusters(sums, most, table.row, watch)
    cores = (_core(table, nodes, watch) for nodes in clusters if len(nodes) >= least)
    return [core for core in cores if core is not None]


class _Table(Protocol):
    """Looks pairs up."""

    @property
    def size(self) -> int: ...

    def row(self, node: int) -> Row:
        """Return what one node gains."""

    def counts(self, nodes: Labels) -> Ints:
        """Return how many entries each of some nodes has."""

    def entries(self, nodes: Labels) -> Entries:
        """Return the pairs of some nodes with all that they allow."""


@dataclass(frozen=True)
class _Matrix:
    problem: Problem

    @property
    def size(self) -> int:
        return self.problem.size

    def row(self, node: int) -> Row:
        return np.arange(self.size), self.problem.gains[node], ~self.problem.forbidden[node]

    def counts(self, nodes: Labels) -> Ints:
        return np.full(len(nodes), self.size)

    def entries(self, nodes: Labels) -> Entries:
        gains = self.problem.gains[nodes]
        owner, others = np.nonzero(~self.problem.forbidden[nodes])
        return owner, others, gains[owner, others]


@dataclass(frozen=True)
class _Listed:
    problem: SparseProblem

    @property
    def size(self) -> int:
        return self.problem.size

    def row(self, node: int) -> Row:
        rows = self.problem.neighbours
        entries = slice(rows.starts[node], rows.starts[node + 1])
        others = rows.others[entries]
        return others, self.problem.gains[rows.pairs[entries]], np.ones(len(others), dtype=bool)

    def counts(self, nodes: Labels) -> Ints:
        starts = self.problem.neighbours.starts
        return starts[nodes + 1] - starts[nodes]

    def entries(self, nodes: Labels) -> Entries:
        rows = self.problem.neighbours
        entries, owner = rows.of(nodes)
        return owner, rows.others[entries], self.problem.gains[rows.pairs[entries]]


def _is_safe(size: int, mass: int) -> bool:
    """Return whether no number can wrap: the weights of a core add up to less than 2 * FINE * size."""
    return 16 * FINE * size * mass < 1 << 62


def _in_blocks(counts: Ints) -> Iterator[slice]:
    """Divide nodes into blocks that do not take much memory, by how many entries each node has."""
    if counts.sum() <= AT_ONCE:
        yield slice(0, len(counts))
        return
    total = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, before + AT_ONCE, side="right")))
        yield slice(start, end)
        start = end


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
        yield np.sort(np.array(chosen))


def _core(table: _Table, nodes: Labels, watch: Watch) -> Core | None:
    """Drop nodes from a cluster until all others hold; `None` if too few are left."""
    while len(nodes) >= LEAST:
        rows = CoreRows(table, nodes, watch)
        among = rows.among()
        weights = _fitted_weights(among)
        pulls = Pulls.of(rows, weights)
        hold, total = holds(among, weights), int(weights.sum())
        # Where one node outweighs all others, nothing needs to hold it.
        light = 2 * weights <= total
        spare = hold - np.maximum(2 * pulls.out, pulls.over)
        loose = np.flatnonzero((spare <= 0) & light)
        other = total * hold - pulls.share
        if np.count_nonzero((other <= 0) & light) < len(loose):
            other -= pulls.of_leaving()
            fewer = np.flatnonzero((other <= 0) & light)
            loose, spare = min((loose, spare), (fewer, other), key=lambda kind: len(kind[0]))
        if not len(loose):
            return nodes, weights
        number = len(loose) if SPARSE * len(loose) <= len(nodes) else -(-len(loose) // SHARE)
        nodes = np.delete(nodes, loose[np.argsort(spare[loose])][:number])
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
    size = len(inside)
    parts = _in_blocks(np.full(size, size))
    return np.concatenate([_hold_of(inside[part], weights, np.arange(size)[part]) for part in parts])


def _hold_of(inside: Ints, weights: Ints, nodes: Labels) -> Ints:
    """Return this for some nodes, of which `inside` has the rows."""
    ratio = inside / weights
    lines, half = np.arange(len(nodes)), -(-int(weights.sum()) // 2)
    ratio[lines, nodes] = np.inf
    if len(weights) > MANY:
        last = np.argpartition(ratio, len(weights) // 2, axis=1)[:, len(weights) // 2]
    else:
        order = np.argsort(ratio, axis=1)
        reached = np.cumsum(weights[order], axis=1)
        last = order[lines, np.minimum((reached < half).sum(axis=1), len(weights) - 2)]
    rise, weight = np.maximum(inside[lines, last], 0), weights[last]
    below = np.minimum(weight[:, None] * inside - np.outer(rise, weights), 0).sum(axis=1)
    # The node itself, which gains nothing, was counted with all others.
    hold: Ints = (rise * (half + weights[nodes]) + below) // weight
    return hold


class CoreRows:
    """All entries of the nodes of a core, block by block; a single block is looked up once."""

    def __init__(self, table: _Table, nodes: Labels, watch: Watch) -> None:
        self.table, self.nodes, self.watch = table, nodes, watch
        self._parts = [*_in_blocks(table.counts(nodes))]
        self._only: Entries | None = None

    def __iter__(self) -> Iterator[tuple[slice, Entries]]:
        for part in self._parts:
            self.watch.check()
            entries = self._only or self.table.entries(self.nodes[part])
            if len(self._parts) == 1:
                self._only = entries
            yield part, entries

    def among(self) -> Ints:
        """Return what the nodes gain with each other, none of them forbidden."""
        place = np.full(self.table.size, -1, dtype=np.intp)
        place[self.nodes] = np.arange(len(self.nodes))
        gains = np.zeros((len(self.nodes), len(self.nodes)), dtype=np.int64)
        for part, (owner, others, worth) in self:
            column = place[others]
            inside = column >= 0
            gains[part.start + owner[inside], column[inside]] = worth[inside]
        return gains

    def positive(self, counted: Bools) -> Ints:
        """Return the positive gains of these nodes with those that are counted, by node; 0 for others."""
        sums = np.zeros(self.table.size, dtype=np.int64)
        for part, (owner, others, gains) in self:
            np.add.at(sums, self.nodes[part][owner], np.where(counted[others], np.maximum(gains, 0), 0))
        return sums


@dataclass(frozen=True)
class Pulls:
    """How strongly other nodes pull on each node of a core."""

    rows: CoreRows
    weights: Ints
    allowing: Ints
    """Of every node, the weight of the core that allows it; of those of the core, all of it."""
    share: Ints
    """Times the weight of the core, without what nodes lose that leave (`of_leaving`)."""
    out: Ints
    over: Ints

    @classmethod
    def of(cls, rows: CoreRows, weights: Ints) -> "Pulls":
        """Add up the pulls of all nodes outside."""
        nodes, total = rows.nodes, int(weights.sum())
        allowing, column = np.zeros((2, rows.table.size), dtype=np.int64)
        for part, (owner, others, gains) in rows:
            np.add.at(allowing, others, weights[part][owner])
            np.add.at(column, others, gains)
        free = allowing == total
        free[nodes] = False
        allowing[nodes] = total
        barred = np.flatnonzero((2 * allowing > total) & (allowing < total))
        leaving = CoreRows(rows.table, barred, rows.watch).positive(2 * allowing > total)
        share, out, over = np.full((3, len(nodes)), leaving.sum()) * [[total], [0], [1]]
        for part, (owner, others, gains) in rows:
            outside = (allowing[others] < total) | free[others]
            owner, others, gains = owner[outside] + part.start, others[outside], gains[outside]
            least, without = np.maximum(gains, 0), leaving[others]
            even = np.abs(total * gains - weights[owner] * column[others])
            each = np.where(free[others], even, 2 * total * least)
            np.add.at(share, owner, each - total * without)
            np.add.at(out, owner, least)
            np.add.at(over, owner, np.abs(gains) - without)
        return cls(rows, weights, allowing, share, out, over)

    def of_leaving(self) -> Ints:
        """Return what adds to the share: what nodes lose that some of the core forbid, B_d, at most."""
        near = self.allowing > 0
        some = np.flatnonzero(near & (self.allowing < self.weights.sum()))
        most = CoreRows(self.rows.table, some, self.rows.watch).positive(near)
        lost = np.zeros(len(self.weights), dtype=np.int64)
        for part, (owner, others, _) in self.rows:
            np.add.at(lost, owner + part.start, most[others])
        return 2 * self.weights * lost
