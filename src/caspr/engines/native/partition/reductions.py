"""Reductions: pairs that every optimum puts together or apart, seen without any search.

Write u_k, v_k for the gains of u and v with a third node k, and let an optimum hold u in A + u and v in
B + v, apart. It cannot be improved by moving u into B, by moving v into A, or by taking both out as a
pair of their own. Any weighted mean (l1, l2, l3) of these three changes is therefore at most 0; but it
is at least

    w_uv - sum over k of max(0, (l1 + l3) u_k - l2 v_k, (l2 + l3) v_k - l1 u_k).

If that is positive, u and v are *together in every optimum*. The weights used:

    near-twin    (1/2, 1/2, 0)   2 w_uv > sum |u_k - v_k|
    leaf         (0, 1, 0)       w_uv > sum |v_k|, where nodes u forbids count only if v_k > 0
    heavy edge   (0, 0, 1)       w_uv > sum max(u_k, v_k, 0)

A move of v towards u is blocked by nodes k that v forbids and u allows. They can be sent off alone
first: that loses at most what k gains beside u, written best(k, u), the sum of the positive gains of k
with nodes that u allows. So each blocking k adds best(k, u) to the loss of that move; in the near-twin
rule, where the other move may lose u_k as well, best(k, u) + max(u_k, 0).

    heavy non-edge: if -w_uv > best(u, v), u leaves any cluster it shares with v: *apart in every
    optimum*.

All these inequalities are strict, so all optima survive, and all pairs found in one problem may be applied
together. One more rule keeps only *some* optimum:

    rivals: v and v' forbid each other, forbid the same nodes otherwise, and both gain most with u. If
    u and v make a leaf with v' not counted as blocking, every optimum has v or v' beside u. Where v' is,
    they can swap places, which changes the value by at least w_uv - w_uv' - sum |v_k - v'_k|, k other than
    u. If that is not negative, *some optimum has v beside u*. A swap moves v and v' only, so rules that
    move different nodes, and no other rule's u, may be applied together.

Many mentions that one annotator gave two lengths are rivals; without the rule each pair doubles the work.

No sum here wraps: best(k, u) is at most the sum of |gain| in row k, so the sum of best(k, u) over any
nodes k is at most the mass (`problem`); a pair gains at most half of it. The largest expression, 2 w_uv
and two sums of best(k, u) + max(u_k, 0) in the near-twin rule, stays below 5 masses.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, joined, product
from caspr.engines.native.partition.watch import ExpiredError, Watch

BLOCKS = 16
"""How many blocks of nodes the quick test for near-twins adds up gains over."""
SMALL = 60
"""In problems up to this size, that test is not worth its time."""
AT_ONCE = 1 << 21
"""How many gains are compared between two looks at the clock."""


@dataclass(frozen=True)
class Reduced:
    """A smaller problem and the way back."""

    problem: Problem
    labels: Labels
    """The new node of every old node."""
    constant: int
    """What the pairs put together gain: the old value is this plus the new one."""

    def lift(self, labels: Labels) -> Labels:
        """Turn a clustering of the new nodes into one of the old."""
        return labels[self.labels]


def reduce(problem: Problem, watch: Watch | None = None, *, all_optima: bool = False) -> Reduced:
    """Apply all reductions until none applies or a limit is reached; keep all optima, or at least one."""
    watch = watch or Watch()
    reduced = Reduced(problem, np.arange(problem.size), 0)
    try:
        while reduced.problem.size > 1:
            watch.check()
            smaller = _reduced_once(reduced, watch, all_optima=all_optima)
            if smaller is None:
                break
            reduced = smaller
    except ExpiredError:
        pass
    return reduced


def _reduced_once(reduced: Reduced, watch: Watch, *, all_optima: bool) -> Reduced | None:
    """Apply what the rules find in one problem; `None` if they find nothing."""
    problem = reduced.problem
    if not problem.forbidden.any() and problem.gains.min() >= 0:
        # What gains connect is together in every optimum, and no rule finds more.
        return _contracted(reduced, problem, problem.gains > 0)
    best = beside(problem, watch)
    apart = heavy_non_edges(problem, best)
    if apart.any():
        problem = problem.separate(apart)
        best = beside(problem, watch)
    together = leaves(problem, best) | heavy_edges(problem)
    if not together.any():
        # The dearest rule last: by now most nodes may be gone.
        together = near_twins(problem, best, watch)
    if not together.any() and not all_optima:
        together = rivals(problem, best)
    smaller = _contracted(reduced, problem, together)
    if smaller is None and apart.any():
        return Reduced(problem, reduced.labels, reduced.constant)
    return smaller


def _contracted(reduced: Reduced, problem: Problem, together: Bools) -> Reduced | None:
    """Contract pairs of a problem that was reduced before; `None` if there are none."""
    first, second = np.nonzero(together)
    if not len(first):
        return None
    step = joined(problem.size, first, second)
    problem, gained = problem.contract(step)
    return Reduced(problem, step[reduced.labels], reduced.constant + gained)


def beside(problem: Problem, watch: Watch | None = None) -> Ints:
    """Return best(k, u) as a matrix: what k can gain at most in a cluster with u."""
    return product(np.maximum(problem.gains, 0), ~problem.forbidden, watch)


def heavy_non_edges(problem: Problem, best: Ints) -> Bools:
    """Find the pairs whose loss outweighs all that one end could gain beside the other."""
    apart: Bools = -problem.gains > np.minimum(best, best.T)
    np.fill_diagonal(apart, False)
    return apart & ~problem.forbidden


def heavy_edges(problem: Problem) -> Bools:
    """Find the pairs whose gain outweighs everything else at both ends."""
    gains, positive = problem.gains, np.maximum(problem.gains, 0)
    high = positive.sum(axis=1)
    # A cheap necessary condition first: the full sums are needed for few pairs only.
    likely = (gains > 0) & (2 * gains > np.maximum(high[:, None], high[None, :]))
    together = np.zeros_like(problem.forbidden)
    one, two = np.nonzero(likely)
    for chunk in _chunks(len(one), problem.size):
        u, v = one[chunk], two[chunk]
        # Either end has the gain of the pair as its own with the other.
        others = np.maximum(positive[u], positive[v]).sum(axis=1) - 2 * gains[u, v]
        together[u, v] = gains[u, v] > others
    return together


def leaves(problem: Problem, best: Ints) -> Bools:
    """Find the pairs whose gain outweighs everything else at one end."""
    together = np.zeros_like(problem.forbidden)
    one, two = _likely_leaves(problem)
    for chunk in _chunks(len(one), problem.size):
        u, v = one[chunk], two[chunk]
        found = _spare(problem, best, u, v) > 0
        together[u[found], v[found]] = together[v[found], u[found]] = True
    return together


def _likely_leaves(problem: Problem) -> tuple[Labels, Labels]:
    """Return pairs u, v with more than half of the positive gains of v; v has at most one such u."""
    positive = np.maximum(problem.gains, 0)
    first, second = np.nonzero((positive > 0) & (2 * positive > positive.sum(axis=1)))
    return first, second


def _spare(problem: Problem, best: Ints, u: Labels, v: Labels) -> Ints:
    """Return by how much the gain of each pair outweighs everything else at its end v."""
    never = problem.forbidden[u]
    gain, theirs = problem.gains[u, v], problem.gains[v]
    loss = np.where(never, np.maximum(theirs, 0), np.abs(theirs)).sum(axis=1) - gain
    blocking = problem.forbidden[v] & ~never
    spare: Ints = gain - loss - np.where(blocking, best.T[u], 0).sum(axis=1)
    return spare


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Divide so many rows of a size into chunks that do not take much memory."""
    rows = max(1, AT_ONCE // max(1, size))
    return (slice(start, start + rows) for start in range(0, count, rows))


def rivals(problem: Problem, best: Ints) -> Bools:
    """Find pairs u, v that some optimum has together, although a rival of v gains most with u, too."""
    gains, forbidden = problem.gains, problem.forbidden
    together = np.zeros_like(forbidden)
    one, two = _likely_leaves(problem)
    likely = sorted(zip(two.tolist(), one.tolist(), strict=True))
    guests: dict[int, list[int]] = {}
    for v, u in likely:
        guests.setdefault(u, []).append(v)
    if len(guests) == len(likely):
        return together
    moved: set[int] = set()
    hosts: set[int] = set()
    for v, u in likely:
        spare = None
        for rival in guests[u]:
            if not forbidden[v, rival] or gains[u, v] < gains[u, rival] or forbidden[u, rival]:
                continue
            if moved & {u, v, rival} or hosts & {v, rival}:
                continue
            if spare is None:
                spare = int(_spare(problem, best, np.array([u]), np.array([v]))[0])
            if spare + best[rival, u] > 0 and _may_swap(problem, u, v, rival):
                together[u, v] = together[v, u] = True
                moved |= {v, rival}
                hosts.add(u)
    return together


def _may_swap(problem: Problem, u: int, v: int, rival: int) -> bool:
    """Return whether v may always take the place of its rival beside u."""
    gains, forbidden = problem.gains, problem.forbidden
    if np.count_nonzero(forbidden[v] != forbidden[rival]) != 2:  # each forbids the other
        return False
    change = np.abs(gains[v] - gains[rival])
    return bool(gains[u, v] - gains[u, rival] >= change.sum() - change[u])


def near_twins(problem: Problem, best: Ints, watch: Watch | None = None) -> Bools:
    """Find the pairs of nearly equal gains.

    Rows are compared only for pairs that a quick test leaves: what is lost is at least the sum over blocks of
    nodes of |P_u - P_v|, where P is the sum of the positive gains with a block.
    """
    watch = watch or Watch()
    gains, forbidden = problem.gains, problem.forbidden
    together = np.zeros_like(forbidden)
    one, two = _likely_twins(gains, watch)
    if not len(one):
        return together
    # blocked[v, u]: what it takes to send off the nodes that v forbids and u allows.
    blocked = product(forbidden, np.where(forbidden, 0, best + np.maximum(gains, 0).T), watch)
    spare = 2 * gains[one, two] - blocked[one, two] - blocked[two, one]
    one, two, spare = one[spare > 0], two[spare > 0], spare[spare > 0]
    for chunk in _chunks(len(one), problem.size):
        watch.check()
        u, v = one[chunk], two[chunk]
        # Nodes that only one of the two allows are counted in what is blocked; the two have |0 - w| each.
        both = ~(forbidden[u] | forbidden[v])
        differences = np.where(both, np.abs(gains[u] - gains[v]), 0).sum(axis=1) - 2 * gains[u, v]
        found = spare[chunk] > differences
        together[u[found], v[found]] = together[v[found], u[found]] = True
    return together


def _likely_twins(gains: Ints, watch: Watch) -> tuple[Labels, Labels]:
    """Return the pairs that sums over blocks of nodes do not exclude."""
    size = len(gains)
    if size <= SMALL:
        # One block of all nodes excludes enough.
        one, two = np.nonzero(np.triu(gains > 0, 1))
        sums = np.maximum(gains, 0).sum(axis=1)
        alike = 2 * gains[one, two] > np.abs(sums[one] - sums[two])
        return one[alike], two[alike]
    block = np.arange(size) % BLOCKS
    sums = product(np.maximum(gains, 0), block[:, None] == np.arange(BLOCKS), watch)
    first, second = [], []
    rows = max(1, AT_ONCE // (BLOCKS * size))
    for start in range(0, size, rows):
        watch.check()
        one, two = np.nonzero(np.triu(gains[start : start + rows] > 0, 1 + start))
        one += start
        own, other, gain = sums[one], sums[two], gains[one, two]
        own[np.arange(len(one)), two % BLOCKS] -= gain
        other[np.arange(len(one)), one % BLOCKS] -= gain
        alike = 2 * gain > np.abs(own - other).sum(axis=1)
        first.append(one[alike])
        second.append(two[alike])
    return np.concatenate(first), np.concatenate(second)
