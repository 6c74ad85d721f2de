"""Good clusterings of large problems, quickly. Nothing here proves anything.

Clusters grow by joining pairs that are each other's best partner, all such pairs at a time; then single nodes
move to the cluster where they gain most. Whenever a limit is reached, what is there is a clustering.
"""

import numpy as np

from caspr.engines.native.partition.problem import Ints, Labels, joined, renumber
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import Watch

JOINS = 300
"""How often pairs are joined."""
ROUNDS = 30
"""How often nodes move."""


def grow(problem: SparseProblem, watch: Watch) -> Labels:
    """Return a clustering without forbidden pairs."""
    labels, small = np.arange(problem.size), problem
    for _ in range(JOINS):
        one, two = _best_pairs(small)
        if not len(one) or watch.expired():
            break
        step = joined(small.size, one, two)
        labels = step[labels]
        if watch.expired():
            break
        small, _ = small.contract(step)
    for _ in range(ROUNDS):
        if watch.expired():
            break
        moved = _moved(problem, labels)
        if moved is None:
            break
        labels = moved
    return renumber(labels)


def _best_pairs(problem: SparseProblem) -> tuple[Labels, Labels]:
    """Return the pairs of nodes of which each gains most with the other; no node is in two."""
    gaining = np.flatnonzero(problem.gains > 0)
    one, two, gains = problem.first[gaining], problem.second[gaining], problem.gains[gaining]
    if problem.common is not None and problem.common > 0 and problem.size > 1:
        # Every pair that is not listed gains as well: a chain through all nodes stands for them.
        first, second = np.arange(problem.size - 1), np.arange(1, problem.size)
        _, known = problem.neighbours.find(first * problem.size + second)
        first, second = first[~known], second[~known]
        one, two = np.append(one, first), np.append(two, second)
        gains = np.append(gains, problem.common * problem.sizes[first] * problem.sizes[second])
    rank = np.empty(len(one), dtype=np.intp)
    rank[np.argsort(-gains, kind="stable")] = np.arange(len(one))
    best = np.full(problem.size, len(one), dtype=np.intp)
    np.minimum.at(best, one, rank)
    np.minimum.at(best, two, rank)
    mutual = (best[one] == rank) & (best[two] == rank)
    return one[mutual], two[mutual]


def _moved(problem: SparseProblem, labels: Labels) -> Labels | None:
    """Move nodes to where they gain more, no two moves touching one cluster; `None` if none moves."""
    labels = renumber(labels)
    node, cluster, held = _offers(problem, labels)
    present = np.zeros(problem.size, dtype=np.int64)
    at_home = cluster == labels[node]
    present[node[at_home]] = held[at_home]
    rise = held - present[node]
    better = np.flatnonzero(rise > 0)
    # Nodes that would do better alone; an empty cluster is always on offer.
    lonely = np.flatnonzero(present < 0)
    clusters = int(labels.max(initial=-1)) + 1
    node = np.append(node[better], lonely)
    target = np.append(cluster[better], clusters + np.arange(len(lonely)))
    rise = np.append(rise[better], -present[lonely])
    if not len(node):
        return None
    touched: set[int] = set()
    for place in np.argsort(-rise, kind="stable").tolist():
        here, there = int(labels[node[place]]), int(target[place])
        if here not in touched and there not in touched:
            touched |= {here, there}
            labels[node[place]] = there
    return labels


def _offers(problem: SparseProblem, labels: Labels) -> tuple[Labels, Labels, Ints]:
    """Return what nodes would gain in the clusters that they have a listed pair with, where they may be."""
    rows, clusters = problem.neighbours, int(labels.max(initial=-1)) + 1
    nodes = np.repeat(np.arange(problem.size), np.diff(rows.starts))
    keys = nodes * clusters + labels[rows.others]
    order = np.argsort(keys, kind="stable")
    keys, pairs = keys[order], rows.pairs[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else order
    if not len(begins):
        return begins, begins, np.empty(0, dtype=np.int64)
    node, cluster = np.divmod(keys[begins], clusters)
    held = np.add.reduceat((problem.gains - problem.unlisted)[pairs], begins)
    inside = labels[node] == cluster
    if problem.common is None:
        listed = np.diff(np.append(begins, len(keys)))
        legal = listed == np.bincount(labels, minlength=clusters)[cluster] - inside
    else:
        legal = ~np.logical_or.reduceat(problem.forbidden[pairs], begins)
        sizes = np.zeros(clusters, dtype=np.int64)
        np.add.at(sizes, labels, problem.sizes)
        rest = sizes[cluster] - np.where(inside, problem.sizes[node], 0)
        held += problem.common * problem.sizes[node] * rest
    return node[legal], cluster[legal], held[legal]
