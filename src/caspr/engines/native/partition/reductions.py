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

from dataclasses import dataclass

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, joined, product


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


def reduce(problem: Problem, *, all_optima: bool = False) -> Reduced:
    """Apply all reductions until none applies; keep all optima, or at least one."""
    labels = np.arange(problem.size)
    constant = 0
    while problem.size > 1:
        best = beside(problem)
        apart = heavy_non_edges(problem, best)
        if apart.any():
            problem = problem.separate(apart)
            best = beside(problem)
        together = leaves(problem, best) | heavy_edges(problem)
        if not together.any():
            # The dearest rule last: by now most nodes may be gone.
            together = near_twins(problem, best)
        if not together.any() and not all_optima:
            together = rivals(problem, best)
        first, second = np.nonzero(np.triu(together))
        if len(first):
            step = joined(problem.size, first, second)
            problem, gained = problem.contract(step)
            labels, constant = step[labels], constant + gained
        elif not apart.any():
            break
    return Reduced(problem, labels, constant)


def beside(problem: Problem) -> Ints:
    """Return best(k, u) as a matrix: what k can gain at most in a cluster with u."""
    return product(np.maximum(problem.gains, 0), ~problem.forbidden)


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
    likely = (gains > 0) & (gains > np.maximum(high[:, None], high[None, :]) - gains)
    together = np.zeros_like(problem.forbidden)
    for u, v in np.argwhere(np.triu(likely)).tolist():
        both = np.maximum(positive[u], positive[v])
        together[u, v] = together[v, u] = gains[u, v] > int(both.sum()) - both[u] - both[v]
    return together


def leaves(problem: Problem, best: Ints) -> Bools:
    """Find the pairs whose gain outweighs everything else at one end."""
    together = np.zeros_like(problem.forbidden)
    for u, v in _likely_leaves(problem):
        if _spare(problem, best, u, v) > 0:
            together[u, v] = together[v, u] = True
    return together


def _likely_leaves(problem: Problem) -> list[tuple[int, int]]:
    """Return pairs u, v with more than half of the positive gains of v; v has at most one such u."""
    positive = np.maximum(problem.gains, 0)
    high = positive.sum(axis=1)
    likely = np.argwhere((positive > 0) & (positive > high[None, :] - positive))
    return [(u, v) for u, v in likely.tolist()]


def _spare(problem: Problem, best: Ints, u: int, v: int) -> int:
    """Return by how much the gain of a pair outweighs everything else at its end v."""
    gains, forbidden = problem.gains, problem.forbidden
    loss = np.where(forbidden[u], np.maximum(gains[v], 0), np.abs(gains[v])).sum() - gains[u, v]
    blocking = forbidden[v] & ~forbidden[u]
    return int(gains[u, v] - loss - best[blocking, u].sum())


def rivals(problem: Problem, best: Ints) -> Bools:
    """Find pairs u, v that some optimum has together, although a rival of v gains most with u, too."""
    gains, forbidden = problem.gains, problem.forbidden
    together = np.zeros_like(forbidden)
    beside_of = {v: u for u, v in _likely_leaves(problem)}
    moved: set[int] = set()
    hosts: set[int] = set()
    for v, u in sorted(beside_of.items()):
        spare = None
        for rival in np.flatnonzero(forbidden[v]).tolist():
            if beside_of.get(rival) != u or gains[u, v] < gains[u, rival] or forbidden[u, rival]:
                continue
            if moved & {u, v, rival} or hosts & {v, rival}:
                continue
            spare = _spare(problem, best, u, v) if spare is None else spare
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


def near_twins(problem: Problem, best: Ints) -> Bools:
    """Find the pairs of nearly equal gains."""
    gains, forbidden = problem.gains, problem.forbidden
    # blocked[v, u]: what it takes to send off the nodes that v forbids and u allows.
    blocked = product(forbidden.astype(np.int64), np.where(forbidden, 0, best + np.maximum(gains, 0).T))
    counted = product(forbidden.astype(np.int64), np.abs(gains))
    spare = 2 * gains - blocked - blocked.T
    together = np.zeros_like(forbidden)
    likely = np.triu((gains > 0) & (spare > 0), 1)
    for node in np.flatnonzero(likely.any(axis=1)).tolist():
        others = np.flatnonzero(likely[node])
        differences = np.abs(gains[others] - gains[node]).sum(axis=1)
        # The two nodes count in the sum, each with |0 - w|; nodes only one of them allows count as well.
        differences -= 2 * gains[node, others] + counted[node, others] + counted[others, node]
        together[node, others] = spare[node, others] > differences
    return together | together.T
