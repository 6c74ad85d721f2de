"""Heuristics: good clusterings, quickly. Nothing here proves anything.

greedy    join the two clusters of largest positive gain until there are none (additive contraction);
polish    move single nodes, join whole clusters, as long as the value rises;
kick      take a few clusters apart, or squeeze a node into one, and polish again; from a fixed seed: same
          problem, same answer.
"""

from collections.abc import Callable, Iterable

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
    row = gains[one] + gains[other]
    # Far below all sums of gains: one of the two is forbidden, or both.
    row[row < FORBIDDEN // 2] = FORBIDDEN
    gains[one], gains[:, one] = row, row
    gains[other], gains[:, other] = FORBIDDEN, FORBIDDEN
    best[other] = FORBIDDEN
    outdated = (target == one) | (target == other)
    outdated[one] = True
    stale = np.flatnonzero(outdated)
    target[stale] = gains[stale].argmax(axis=1)
    best[stale] = gains[stale, target[stale]]
    better = row > best
    target[better], best[better] = one, row[better]


def polish(problem: Problem, labels: Labels, watch: Watch | None = None) -> Labels:
    """Move nodes and join clusters until neither raises the value, or a limit is reached."""
    watch = watch or Watch()
    while not watch.expired():
        try:
            placement = Placement(problem, labels, watch)
        except ExpiredError:
            return renumber(labels)
        _move(placement, watch)
        labels = renumber(placement.labels)
        if not placement.joinable():
            break
        labels = greedy(problem, labels, watch)
    return labels


class Placement:
    """Nodes in clusters, with what each gains in every cluster; one empty cluster is always on offer."""

    def __init__(self, problem: Problem, labels: Labels, watch: Watch) -> None:
        """Count; `ExpiredError` if there is no time for it."""
        self.problem, self.labels = problem, renumber(labels)
        members: Bools = self.labels[:, None] == np.arange(int(self.labels.max(initial=0)) + 2)
        self.held = product(problem.gains, members, watch)
        self.blocked = product(problem.forbidden, members, watch)

    def joinable(self) -> bool:
        """Return whether two clusters gain by joining."""
        members: Bools = np.arange(self.held.shape[1])[:, None] == self.labels
        gains, blocked = product(members, self.held), product(members, self.blocked)
        np.fill_diagonal(gains, 0)
        return bool(((gains > 0) & (blocked == 0)).any())

    def rises(self) -> Ints:
        """Return what each node gains by moving to each cluster, below 0 where it must not."""
        own = self.held[np.arange(self.problem.size), self.labels]
        return np.where(self.blocked > 0, FORBIDDEN, self.held) - own[:, None]

    def rise(self, node: int, cluster: int) -> int:
        """Return what a node gains by moving to a cluster, below 0 where it must not."""
        if self.blocked[node, cluster] > 0:
            return FORBIDDEN
        return int(self.held[node, cluster] - self.held[node, self.labels[node]])

    def best(self, node: int) -> tuple[int, int]:
        """Return the best cluster of a node, and what it gains by moving there."""
        row = np.where(self.blocked[node] > 0, FORBIDDEN, self.held[node])
        cluster = int(row.argmax())
        return cluster, int(row[cluster] - row[self.labels[node]])

    def move(self, node: int, cluster: int) -> None:
        """Move a node."""
        for place, sign in ((int(self.labels[node]), -1), (cluster, 1)):
            self.held[:, place] += sign * self.problem.gains[node]
            self.blocked[:, place] += sign * self.problem.forbidden[node]
        self.labels[node] = cluster

    @property
    def empty(self) -> int:
        """The last cluster: empty unless some node moved there since it was offered."""
        return int(self.held.shape[1]) - 1

    def offer_empty(self) -> None:
        """Offer another empty cluster if the last one is taken."""
        if (self.labels == self.empty).any():
            self.held = np.pad(self.held, ((0, 0), (0, 1)))
            self.blocked = np.pad(self.blocked, ((0, 0), (0, 1)))


def _move(placement: Placement, watch: Watch) -> None:
    """Move nodes that gain by it, those that gain most first."""
    while True:
        rise = placement.rises().max(axis=1)
        hopeful = np.flatnonzero(rise > 0)
        if not len(hopeful):
            return
        for node in hopeful[np.argsort(-rise[hopeful], kind="stable")].tolist():
            if watch.expired():
                return
            cluster, more = placement.best(node)
            # Earlier moves of this sweep may have spoilt it.
            if more > 0:
                placement.move(node, cluster)
        placement.offer_empty()


def kick(problem: Problem, labels: Labels, watch: Watch | None = None, *, kicks: int, seed: int) -> Labels:
    """Shake a clustering and polish it, again and again; keep what is not worse."""
    watch = watch or Watch()
    return shaken(
        problem,
        labels,
        watch.during(range(kicks)),
        seed,
        improve=lambda trial: polish(problem, trial, watch),
        value=lambda trial: problem.value(trial) or 0,
    )


def shaken(
    problem: Problem,
    labels: Labels,
    rounds: Iterable[int],
    seed: int,
    *,
    improve: Callable[[Labels], Labels],
    value: Callable[[Labels], int],
) -> Labels:
    """Shake a clustering and improve it, once in each round; keep what is not worse."""
    random = np.random.default_rng(seed)
    shakes = (_scatter, _squeeze) if problem.forbidden.any() else (_scatter,)
    best, most = labels, value(labels)
    for number in rounds:
        trial = improve(renumber(shakes[number % len(shakes)](problem, best, random)))
        reached = value(trial)
        if reached >= most:
            best, most = trial, reached
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
