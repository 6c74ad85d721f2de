"""Reductions: pairs that every optimum puts together or apart, seen without any search.

Write u_k, v_k for the gains of u and v with a third node k, and let an optimum hold u in A + u and v in
B + v, apart. It cannot be improved by moving u into B, by moving v into A, or by taking both out as a
pair of their own. Any weighted mean (l1, l2, l3) of these three changes is therefore at most 0; but it
is at least

    w_uv - sum over k of max(0, (l1 + l3) u_k - l2 v_k, (l2 + l3) v_k - l1 u_k).

If that is positive, u and v are *together in every optimum*. The weights used:

    near-twin    (1/2, 1/2, 0)   2 w_uv > sum |u_k - v_k|      both moves must be allowed, so u and v
                                                               must forbid the same nodes
    heavy edge   (0, 0, 1)       w_uv > sum max(u_k, v_k, 0)
    leaf         (0, 1, 0)       w_uv > sum |v_k|              v must forbid nothing that u allows;
                                                               nodes u forbids count with max(v_k, 0)

    heavy non-edge: if -w_uv > sum of max(u_k, 0) over the k that v allows, u leaves any cluster it
    shares with v: *apart in every optimum*.

All inequalities are strict, so all optima survive, and all pairs found at once may be applied at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.problem import Bools, Ints, Labels, Problem, joined

EXACT = 1 << 52
"""Sums of floats below this are exact whole numbers, so matrix products may use floats."""


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


def reduce(problem: Problem) -> Reduced:
    """Apply all reductions until none applies."""
    labels = np.arange(problem.size)
    constant = 0
    while problem.size > 1:
        apart = heavy_non_edges(problem)
        if apart.any():
            problem = problem.separate(apart)
        together = near_twins(problem) | leaves_and_heavy_edges(problem)
        first, second = np.nonzero(np.triu(together))
        if not len(first):
            if apart.any():
                continue
            break
        step = joined(problem.size, first, second)
        problem, gained = problem.contract(step)
        labels, constant = step[labels], constant + gained
    return Reduced(problem, labels, constant)


def near_twins(problem: Problem) -> Bools:
    """Find the pairs with equal forbidden nodes and nearly equal gains."""
    gains, n = problem.gains, problem.size
    together = np.zeros((n, n), dtype=bool)
    for group in _equal_rows(problem.forbidden):
        for position, node in enumerate(group[:-1]):
            others = group[position + 1 :]
            others = others[gains[node, others] > 0]
            if len(others):
                differences = np.abs(gains[others] - gains[node]).sum(axis=1)
                # The nodes themselves count in the sum: |0 - w| twice.
                together[node, others] = 4 * gains[node, others] > differences
    return together | together.T


def _equal_rows(rows: Bools) -> list[Labels]:
    """Group the positions of equal rows, leaving out those that have no equal."""
    packed = np.packbits(rows, axis=1)
    groups: dict[bytes, list[int]] = {}
    for position in range(len(packed)):
        groups.setdefault(packed[position].tobytes(), []).append(position)
    return [np.array(group, dtype=np.intp) for group in groups.values() if len(group) > 1]


def leaves_and_heavy_edges(problem: Problem) -> Bools:
    """Find the pairs whose gain outweighs everything else at one or both ends."""
    gains, forbidden = problem.gains, problem.forbidden
    positive = np.maximum(gains, 0)
    high, low = positive.sum(axis=1), np.maximum(-gains, 0).sum(axis=1)
    # A cheap necessary condition first: the full sums are needed for few pairs only.
    heavy = gains > np.maximum(high[:, None], high[None, :]) - gains
    leaf = gains > (high[None, :] - positive)
    together = np.zeros_like(forbidden)
    for u, v in zip(*(side.tolist() for side in np.nonzero(heavy & (gains > 0))), strict=True):
        both = np.maximum(positive[u], positive[v])
        together[u, v] = gains[u, v] > int(both.sum()) - both[u] - both[v]
    for u, v in zip(*(side.tolist() for side in np.nonzero(leaf & (gains > 0))), strict=True):
        if not together[u, v] and not (forbidden[v] & ~forbidden[u]).any():
            loss = int(high[v] - gains[u, v] + low[v] - np.maximum(-gains[v], 0)[forbidden[u]].sum())
            together[u, v] = gains[u, v] > loss
    return together | together.T


def heavy_non_edges(problem: Problem) -> Bools:
    """Find the pairs whose loss outweighs all that one end could gain beside the other."""
    positive = np.maximum(problem.gains, 0)
    best = _products(positive, ~problem.forbidden)
    apart: Bools = -problem.gains > np.minimum(best, best.T)
    np.fill_diagonal(apart, False)
    return apart & ~problem.forbidden


def _products(positive: Ints, allowed: Bools) -> Ints | NDArray[np.float64]:
    if int(positive.sum()) < EXACT:
        return positive.astype(np.float64) @ allowed.T.astype(np.float64)
    return positive @ allowed.T.astype(np.int64)
