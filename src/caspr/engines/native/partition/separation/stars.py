"""Triangles and other stars (`cuts`) that a point violates."""

import numpy as np

from caspr.engines.native.partition.cuts import EPSILON, NO_CUTS, Cuts, Floats, Star, cuts_of
from caspr.engines.native.partition.problem import Bools, Labels, Problem
from caspr.engines.native.partition.watch import Watch

STARTS = 4000
"""From how many first leaves stars are grown in one round, over all centres."""
FEWEST, MOST = 8, 32
"""From how many at one centre."""


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
    # A violated triangle has a short side above one half.
    short, half = x > EPSILON, x > 0.5
    np.fill_diagonal(short, False)
    np.fill_diagonal(half, False)
    for centre in np.flatnonzero((short.sum(axis=1) > 1) & half.any(axis=1)).tolist():
        if watch.expired():
            break
        reach, near, far = x[centre], np.flatnonzero(short[centre]), np.flatnonzero(half[centre])
        excess = (reach[far, None] - 1.0) + reach[near] - x[far[:, None], near]
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
    open_pairs = (x > EPSILON) & (x < 1 - EPSILON)
    for centre in np.flatnonzero(open_pairs.sum(axis=1) > 2).tolist():
        if watch.expired():
            break
        near = np.flatnonzero(open_pairs[centre])
        grown = _grow(x[centre, near], x[near[:, None], near], starts, deepest=thorough)
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
