"""Good clusterings of large problems, quickly. Nothing here proves anything.

Clusters grow by joining pairs that are each other's best partner, all such pairs at a time; then single nodes
move to the cluster where they gain most. Whenever a limit is reached, what is there is a clustering.
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from caspr.engines.native.partition.problem import Ints, Labels, joined, renumber
from caspr.engines.native.partition.sparse.blocks import BLOCK, blocks, order
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import ExpiredError, Watch, checked

JOINS = 300
"""How often pairs are joined."""
ROUNDS = 30
"""How often nodes move."""


def grow(problem: SparseProblem, watch: Watch) -> Labels:
    """Return a clustering without forbidden pairs."""
    labels, small = np.arange(problem.size), problem
    with suppress(ExpiredError):
        for _ in range(JOINS):
            one, two = _best_pairs(small, watch)
            if not len(one):
                break
            step = joined(small.size, one, two)
            labels = step[labels]
            small, _ = small.contract(step, watch)
    with suppress(ExpiredError):
        for _ in range(ROUNDS):
            moved = _moved(problem, labels, watch)
            if moved is None:
                break
            labels = moved
    return renumber(labels)


def _best_pairs(problem: SparseProblem, watch: Watch) -> tuple[Labels, Labels]:
    """Return the pairs of nodes of which each gains most with the other; no node is in two."""
    watch.check()
    gaining = np.flatnonzero(problem.gains > 0)
    one, two, gains = problem.first[gaining], problem.second[gaining], problem.gains[gaining]
    if problem.common is not None and problem.common > 0 and problem.size > 1:
        # Every pair that is not listed gains as well: a chain through all nodes stands for them.
        first, second = np.arange(problem.size - 1), np.arange(1, problem.size)
        problem.index(watch)
        _, known = problem.neighbours.find(first * problem.size + second)
        first, second = first[~known], second[~known]
        one, two = np.append(one, first), np.append(two, second)
        gains = np.append(gains, problem.common * problem.sizes[first] * problem.sizes[second])
    ranked = order(-gains, watch)
    best = np.full(problem.size, len(one), dtype=np.intp)
    for part in blocks(len(one), watch):
        places = ranked[part]
        rank = np.arange(part.start, part.start + len(places))
        np.minimum.at(best, one[places], rank)
        np.minimum.at(best, two[places], rank)
    # Of the pairs that are best for their first node, those that are for the second one, too.
    nodes = np.flatnonzero(best < len(one))
    pairs = ranked[best[nodes]]
    pairs = np.sort(pairs[(one[pairs] == nodes) & (best[two[pairs]] == best[nodes])])
    return one[pairs], two[pairs]


def _moved(problem: SparseProblem, labels: Labels, watch: Watch) -> Labels | None:
    """Move nodes to where they gain more, no two moves touching one cluster; `None` if none moves."""
    labels = renumber(labels)
    node, cluster, held = _offers(problem, labels, watch)
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


def _offers(problem: SparseProblem, labels: Labels, watch: Watch) -> tuple[Labels, Labels, Ints]:
    """Return what nodes would gain in the clusters that they have a listed pair with, where they may be."""
    problem.index(watch)
    rows, clusters = problem.neighbours, int(labels.max(initial=-1)) + 1
    change = problem.change(watch)
    members = np.bincount(labels, minlength=clusters)
    sizes = np.zeros(clusters, dtype=np.int64)
    np.add.at(sizes, labels, problem.sizes)
    found = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.int64))]
    for begin, end in checked(_runs(rows.starts), watch):
        entries = slice(int(rows.starts[begin]), int(rows.starts[end]))
        nodes = np.repeat(np.arange(begin, end), np.diff(rows.starts[begin : end + 1]))
        keys = nodes * clusters + labels[rows.others[entries]]
        places = np.argsort(keys, kind="stable")
        keys, pairs = keys[places], rows.pairs[entries][places]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        node, cluster = np.divmod(keys[begins], clusters)
        held = np.add.reduceat(change[pairs], begins)
        inside = labels[node] == cluster
        if problem.common is None:
            legal = np.diff(np.append(begins, len(keys))) == members[cluster] - inside
        else:
            legal = ~np.logical_or.reduceat(problem.forbidden[pairs], begins)
            held += (
                problem.common
                * problem.sizes[node]
                * (sizes[cluster] - np.where(inside, problem.sizes[node], 0))
            )
        found.append((node[legal], cluster[legal], held[legal]))
    node, cluster, held = (np.concatenate(column) for column in zip(*found, strict=True))
    return node, cluster, held


def _runs(starts: Labels) -> Iterator[tuple[int, int]]:
    """Yield runs of nodes with about as many entries as are sorted at once, from one node to another."""
    begin = 0
    while begin < len(starts) - 1:
        end = int(np.searchsorted(starts, starts[begin] + BLOCK, side="right")) - 1
        end = min(max(end, begin + 1), len(starts) - 1)
        if starts[end] > starts[begin]:
            yield begin, end
        begin = end
