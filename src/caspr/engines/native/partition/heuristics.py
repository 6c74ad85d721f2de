"""Heuristics: good clusterings, quickly. Nothing here proves anything.

greedy    join the two clusters of largest positive gain until there are none (additive contraction);
polish    move single nodes, join whole clusters, as long as the value rises;
kick      take a few clusters apart, or squeeze a node into one, and polish again; from a fixed seed: same
          problem, same answer.
"""

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, joined, product, renumber
from caspr.engines.native.partition.watch import ExpiredError, Watch

FORBIDDEN = -(1 << 61)
"""Stands for minus infinity where the best of many gains is wanted.

It is less than any sum of gains (`problem.LARGEST_MASS`), and twice it still fits into 64 bits.
"""


def start(problem: Problem, watch: Watch | None = None, *, kicks: int = 20, seed: int = 1) -> Labels:
    """Return a good clustering; what there is when a limit is reached."""
    polished = polish(problem, greedy(problem, watch=watch), watch)
    return kick(problem, polished, watch, kicks=kicks, seed=seed)


def greedy(problem: Problem, labels: Labels | None = None, watch: Watch | None = None) -> Labels:
    """Join the pair of clusters with the largest positive gain until none is left."""
    watch = watch or Watch()
    begin = np.arange(problem.size) if labels is None else renumber(labels)
    small = problem if labels is None else problem.contract(begin)[0]
    gains = np.where(small.forbidden, FORBIDDEN, small.gains)
    np.fill_diagonal(gains, FORBIDDEN)
    target, best = gains.argmax(axis=1), gains.max(axis=1)
    first, second = [], []
    while not watch.expired():
        one = int(best.argmax())
        if best[one] <= 0:
            break
        other = int(target[one])
        first.append(one)
        second.append(other)
        _join(gains, target, best, one, other)
    groups = joined(small.size, np.array(first, dtype=np.intp), np.array(second, dtype=np.intp))
    return renumber(groups[begin])


def _join(gains: Ints, target: Labels, best: Ints, one: int, other: int) -> None:
    """Add row `other` to row `one`, in place, and keep every row's best partner up to date."""
    row = np.maximum(gains[one] + gains[other], FORBIDDEN)
    row[gains[one] == FORBIDDEN] = FORBIDDEN
    row[gains[other] == FORBIDDEN] = FORBIDDEN
    gains[one], gains[:, one] = row, row
    gains[other], gains[:, other] = FORBIDDEN, FORBIDDEN
    best[other] = FORBIDDEN
    outdated = (target == one) | (target == other)
    outdated[one] = True
    stale = np.flatnonzero(outdated)
    target[stale], best[stale] = gains[stale].argmax(axis=1), gains[stale].max(axis=1)
    better = row > best
    target[better], best[better] = one, row[better]


def polish(problem: Problem, labels: Labels, watch: Watch | None = None) -> Labels:
    """Move nodes and join clusters until neither raises the value, or a limit is reached."""
    watch = watch or Watch()
    while not watch.expired():
        moved = _move(problem, labels, watch)
        labels = greedy(problem, moved, watch)
        if labels.max(initial=0) == moved.max(initial=0):
            break
    return labels


def _move(problem: Problem, labels: Labels, watch: Watch) -> Labels:
    """Move nodes that gain by it, those that gain most first; one empty cluster is always on offer."""
    labels = renumber(labels)
    clusters = int(labels.max(initial=0)) + 2
    members: Bools = labels[:, None] == np.arange(clusters)
    try:
        held = product(problem.gains, members, watch)
        blocked = product(problem.forbidden, members, watch)
    except ExpiredError:
        return labels
    nodes = np.arange(problem.size)
    while True:
        rise = np.where(blocked > 0, FORBIDDEN, held).max(axis=1) - held[nodes, labels]
        hopeful = np.flatnonzero(rise > 0)
        if not len(hopeful):
            return renumber(labels)
        for node in hopeful[np.argsort(-rise[hopeful], kind="stable")].tolist():
            if watch.expired():
                return renumber(labels)
            row = np.where(blocked[node] > 0, FORBIDDEN, held[node])
            cluster, old = int(row.argmax()), int(labels[node])
            # Earlier moves of this sweep may have spoilt it.
            if row[cluster] > row[old]:
                labels[node] = cluster
                for place, sign in ((old, -1), (cluster, 1)):
                    held[:, place] += sign * problem.gains[node]
                    blocked[:, place] += sign * problem.forbidden[node]
        if (labels == held.shape[1] - 1).any():
            held, blocked = np.pad(held, ((0, 0), (0, 1))), np.pad(blocked, ((0, 0), (0, 1)))


def kick(problem: Problem, labels: Labels, watch: Watch | None = None, *, kicks: int, seed: int) -> Labels:
    """Shake a clustering and polish it, again and again; keep what is not worse."""
    watch = watch or Watch()
    random = np.random.default_rng(seed)
    shakes = (_scatter, _squeeze) if problem.forbidden.any() else (_scatter,)
    best, value = labels, problem.value(labels) or 0
    for number in range(kicks):
        if watch.expired():
            break
        trial = polish(problem, renumber(shakes[number % len(shakes)](problem, best, random)), watch)
        reached = problem.value(trial) or 0
        if reached >= value:
            best, value = trial, reached
    return best


def _scatter(problem: Problem, labels: Labels, random: np.random.Generator) -> Labels:
    """Take the clusters around a random node apart."""
    node = int(random.integers(problem.size))
    near = np.flatnonzero(problem.gains[node] > 0)
    chosen = np.isin(labels, labels[np.append(near[random.random(len(near)) < 0.5], node)])
    scattered = np.flatnonzero(chosen & (random.random(problem.size) < 0.6))
    return _alone(labels, scattered)


def _squeeze(problem: Problem, labels: Labels, random: np.random.Generator) -> Labels:
    """Put a random node beside one it gains with, and turn out whom it must not meet there.

    Where many pairs are forbidden, no chain of single moves that each gain leads there.
    """
    for _ in range(int(random.integers(1, 3))):
        node = int(random.integers(problem.size))
        near = np.flatnonzero((problem.gains[node] > 0) & (labels != labels[node]))
        if len(near):
            pull = problem.gains[node, near].cumsum()
            host = labels[near[np.searchsorted(pull, random.random() * pull[-1], side="right")]]
            labels = _alone(labels, np.flatnonzero((labels == host) & problem.forbidden[node]))
            labels[node] = host
    return labels


def _alone(labels: Labels, nodes: Labels) -> Labels:
    """Return labels in which some nodes are each on their own."""
    changed = labels.copy()
    changed[nodes] = int(labels.max(initial=0)) + 1 + nodes
    return changed
