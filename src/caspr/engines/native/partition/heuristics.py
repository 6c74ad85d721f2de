"""Heuristics: good clusterings, quickly. Nothing here proves anything.

greedy    join the two clusters of largest positive gain until there are none (additive contraction);
polish    move single nodes, join whole clusters, as long as the value rises;
chain     move nodes one after the other, each once, also where that loses; go back to the best on the way
          (Kernighan and Lin 1970);
kick      take a few clusters apart, or squeeze a node into one, polish and chain; go on from there, even from
          a little less. From a fixed seed: same problem, same answer.

*Large problems* (`sparse`). Clusters grow by joining pairs that are each other's best partner, all such
pairs at a time; then single nodes move to the cluster where they gain most. Whenever a limit is reached,
what is there is a clustering.

*Demands.* To meet all demands, each home is *glued* to one partner, and what is glued is contracted: so the
heuristics for ordinary problems apply, and no step of theirs leaves a demand unmet. Then nodes move on their
own again, where no home loses its last partner by it.

A clustering and the point of a relaxation mostly agree. Searching only what lies *between* them, with all
pairs decided in which they do, is a small problem that holds the clustering and what the point suggests
(relaxation induced neighbourhood search; Danna, Rothberg and Le Pape 2005).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import numpy as np

from caspr.engines.native.partition.cuts import Floats
from caspr.engines.native.partition.lp import Point
from caspr.engines.native.partition.problem import (
    UNMET,
    Bools,
    Demand,
    Demands,
    Ints,
    Labels,
    Problem,
    joined,
    product,
    renumber,
)
from caspr.engines.native.partition.sparse import BLOCK, SparseProblem, blocks, order
from caspr.engines.native.partition.watch import ExpiredError, Watch, checked

FORBIDDEN = -(1 << 61)
"""Stands for minus infinity where the best of many gains is wanted.

It is less than any sum of gains (`problem.LARGEST_MASS`), and twice it still fits into 64 bits.
"""
JOINS = 300
"""How often pairs are joined."""
ROUNDS = 30
"""How often nodes move."""
KICKS = 2
"""How often a clustering is shaken."""
AGREED = 0.4
"""A point agrees with a clustering on a pair if it is no farther than this from it."""
FALL = 100
"""A clustering may lose one in so much of its value when it is shaken, to leave where no small step gains."""
LOSING = 50
"""How many moves a chain makes at most without reaching more."""
MOVES = 64
"""How many moves are considered between two looks at the clock."""


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
        kept = int(best.argmax())
        if best[kept] <= 0:
            break
        merged = int(target[kept])
        first.append(kept)
        second.append(merged)
        _join(gains, target, best, kept, merged)
    groups = joined(small.size, np.array(first, dtype=np.intp), np.array(second, dtype=np.intp))
    return renumber(groups[begin])


def _join(gains: Ints, target: Labels, best: Ints, kept: int, merged: int) -> None:
    """Add row `merged` to row `kept`, in place, and keep every row's best partner up to date."""
    row = gains[kept] + gains[merged]
    # Far below all sums of gains: one of the two is forbidden, or both.
    row[row < FORBIDDEN // 2] = FORBIDDEN
    gains[kept], gains[:, kept] = row, row
    gains[merged], gains[:, merged] = FORBIDDEN, FORBIDDEN
    best[merged] = FORBIDDEN
    outdated = (target == kept) | (target == merged)
    outdated[kept] = True
    stale = np.flatnonzero(outdated)
    target[stale] = gains[stale].argmax(axis=1)
    best[stale] = gains[stale, target[stale]]
    better = row > best
    target[better], best[better] = kept, row[better]


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
        for side, sign in ((int(self.labels[node]), -1), (cluster, 1)):
            self.held[:, side] += sign * self.problem.gains[node]
            self.blocked[:, side] += sign * self.problem.forbidden[node]
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


def chain(problem: Problem, labels: Labels, watch: Watch) -> Labels:
    """Move nodes one after the other as chains of them raise the value, or until a limit is reached."""
    with suppress(ExpiredError):
        better = _chained(Placement(problem, labels, watch), watch)
        while better is not None:
            labels = better
            better = _chained(Placement(problem, labels, watch), watch)
    return labels


def _chained(placement: Placement, watch: Watch) -> Labels | None:
    """Move each node at most once, always the one that gains most or loses least; return the best on the way.

    `None` if nothing on the way gains.
    """
    nodes, still = np.arange(placement.problem.size), np.ones(placement.problem.size, dtype=bool)
    gained = most = losing = 0
    best: Labels | None = None
    while losing < LOSING and still.any() and not watch.expired():
        rises = placement.rises()
        rises[nodes, placement.labels] = FORBIDDEN
        rises[~still] = FORBIDDEN
        node, cluster = divmod(int(rises.argmax()), rises.shape[1])
        if rises[node, cluster] < FORBIDDEN // 2:
            break
        gained, losing, still[node] = gained + int(rises[node, cluster]), losing + 1, False
        placement.move(node, cluster)
        placement.offer_empty()
        if gained > most:
            most, losing, best = gained, 0, renumber(placement.labels)
    return best


def kick(problem: Problem, labels: Labels, watch: Watch | None = None, *, kicks: int, seed: int) -> Labels:
    """Shake a clustering and improve it, again and again; return the best."""
    watch = watch or Watch()
    return shaken(
        problem,
        labels,
        watch.during(range(kicks)),
        seed,
        improve=lambda trial: chain(problem, polish(problem, trial, watch), watch),
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
    """Shake a clustering and improve it, once in each round; return the best.

    What is shaken next is the new one, unless it is clearly worse than the last.
    """
    random = np.random.default_rng(seed)
    shakes = (_scatter, _squeeze) if problem.forbidden.any() else (_scatter,)
    best, most = labels, value(labels)
    last = most
    for number in rounds:
        trial = improve(renumber(shakes[number % len(shakes)](problem, labels, random)))
        reached = value(trial)
        if reached >= last - abs(last) // FALL:
            labels, last = trial, reached
        if reached > most:
            best, most = trial, reached
    return best


def _scatter(problem: Problem, labels: Labels, random: "np.random.Generator") -> Labels:
    """Take the clusters around a random node apart."""
    node = int(random.integers(problem.size))
    near = np.flatnonzero(problem.gains[node] > 0)
    chosen = np.isin(labels, labels[np.append(near[random.random(len(near)) < 0.5], node)])
    scattered = np.flatnonzero(chosen & (random.random(problem.size) < 0.6))
    return _alone(labels, scattered)


def _squeeze(problem: Problem, labels: Labels, random: "np.random.Generator") -> Labels:
    """Put a random node beside one it gains with, and take out what it must not share a cluster with.

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


def grow(problem: SparseProblem, watch: Watch) -> Labels:
    """Return a clustering without forbidden pairs."""
    labels, small = np.arange(problem.size), problem
    with suppress(ExpiredError):
        for _ in range(JOINS):
            first, second = _best_pairs(small, watch)
            if not len(first):
                break
            step = joined(small.size, first, second)
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
    u, v, gains = problem.first[gaining], problem.second[gaining], problem.gains[gaining]
    if problem.common is not None and problem.common > 0 and problem.size > 1:
        # Every pair that is not listed gains as well: a chain through all nodes stands for them.
        first, second = np.arange(problem.size - 1), np.arange(1, problem.size)
        problem.index(watch)
        _, known = problem.neighbours.find(first * problem.size + second)
        first, second = first[~known], second[~known]
        u, v = np.append(u, first), np.append(v, second)
        gains = np.append(gains, problem.common * problem.sizes[first] * problem.sizes[second])
    ranked = order(-gains, watch)
    best = np.full(problem.size, len(u), dtype=np.intp)
    for part in blocks(len(u), watch):
        some = ranked[part]
        rank = np.arange(part.start, part.start + len(some))
        np.minimum.at(best, u[some], rank)
        np.minimum.at(best, v[some], rank)
    # Of the pairs that are best for their first node, keep those that are best for the second, too.
    nodes = np.flatnonzero(best < len(u))
    pairs = ranked[best[nodes]]
    pairs = np.sort(pairs[(u[pairs] == nodes) & (best[v[pairs]] == best[nodes])])
    return u[pairs], v[pairs]


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
    for offer in np.argsort(-rise, kind="stable").tolist():
        here, there = int(labels[node[offer]]), int(target[offer])
        if here not in touched and there not in touched:
            touched |= {here, there}
            labels[node[offer]] = there
    return labels


def _offers(problem: SparseProblem, labels: Labels, watch: Watch) -> tuple[Labels, Labels, Ints]:
    """Return what nodes would gain in the clusters that they have a listed pair with, where they may be."""
    problem.index(watch)
    rows, clusters = problem.neighbours, int(labels.max(initial=-1)) + 1
    change = problem.change(watch)
    members = np.bincount(labels, minlength=clusters)
    sizes = np.zeros(clusters, dtype=np.int64)
    np.add.at(sizes, labels, problem.sizes)
    offers = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.int64))]
    for begin, end in checked(_runs(rows.starts), watch):
        entries = slice(int(rows.starts[begin]), int(rows.starts[end]))
        nodes = np.repeat(np.arange(begin, end), np.diff(rows.starts[begin : end + 1]))
        keys = nodes * clusters + labels[rows.others[entries]]
        order = np.argsort(keys, kind="stable")
        keys, pairs = keys[order], rows.pairs[entries][order]
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
        offers.append((node[legal], cluster[legal], held[legal]))
    node, cluster, held = (np.concatenate(column) for column in zip(*offers, strict=True))
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


def rounded(problem: Problem, point: Point, watch: Watch) -> Labels | None:
    """Turn a fractional point into a clustering and polish it; `None` if it meets no demands.

    Every home is glued to the partner that the point prefers, and what is left is clustered as it says.
    """
    if not problem.demands:
        return polish(problem, greedy(_pull(problem, point.x), watch=watch), watch)
    wanted = [
        [demand.partners[rank] for rank in np.argsort(-first, kind="stable").tolist()]
        for demand, first in zip(problem.demands, point.first, strict=True)
    ]
    glued = _glue(problem, wanted)
    if glued is None:
        return None
    pulled, _ = _pull(problem, point.x).contract(glued)
    small, _ = problem.undemanding.contract(glued)
    labels = polish(small, greedy(pulled, watch=watch), watch)[glued]
    return improve(problem, labels, watch, kicks=0)


def _pull(problem: Problem, x: Floats) -> Problem:
    """Return the problem in which pairs gain that a point has rather together."""
    pull = np.rint((x - 0.5) * 1000).astype(np.int64)
    np.fill_diagonal(pull, 0)
    pull[problem.forbidden] = 0
    return Problem(pull, problem.forbidden)


def between(problem: Problem, labels: Labels, x: Floats) -> tuple[Problem, Labels, int] | None:
    """Decide the pairs in which a clustering and a point agree; return what is left, if anything is.

    That is a contracted problem, the node of every node there, and the constant gained inside. The clustering
    is one of its own, and so are many that the point is near to; only few pairs are undecided.
    """
    same = labels[:, None] == labels[None, :]
    groups = joined(problem.size, *np.nonzero(same & (x > 1 - AGREED)))
    small, constant = problem.separate(~same & (x < AGREED)).contract(groups)
    return (small, groups, constant) if small.size > 1 else None


def _glue(problem: Problem, wanted: list[list[int]]) -> Labels | None:
    """Put every home with the first wanted partner that is not kept out; `None` if there is none."""
    forbidden = problem.forbidden
    groups: dict[int, list[int]] = {}
    for demand, partners in zip(problem.demands, wanted, strict=True):
        own = groups.get(demand.home, [demand.home])
        if any(partner in own for partner in demand.partners):
            continue
        for partner in partners:
            theirs = groups.get(partner, [partner])
            if not forbidden[np.ix_(own, theirs)].any():
                union = [*own, *theirs]
                groups |= dict.fromkeys(union, union)
                break
        else:
            return None
    labels = np.arange(problem.size)
    for group in groups.values():
        labels[group] = min(group)
    return renumber(labels)


def meet(problem: Problem, labels: Labels, watch: Watch) -> Labels | None:
    """Change a clustering so that it meets all demands: join a partner's cluster, or take the partner out."""
    try:
        placement = Placement(problem, labels, watch)
        wanted = [_by_change(placement, demand) for demand in problem.demands]
    except ExpiredError:
        wanted = [list(demand.partners) for demand in problem.demands]
    glued = _glue(problem, wanted)
    if glued is None:
        return None
    small, _ = problem.undemanding.contract(glued)
    return improve(problem, start(small, watch, kicks=0)[glued], watch, kicks=KICKS)


def improve(problem: Problem, labels: Labels, watch: Watch, *, kicks: int) -> Labels:
    """Move nodes, and shake the clustering, as long as no demand is left unmet that was met."""

    def value(trial: Labels) -> int:
        reached = problem.value(trial)
        return UNMET if reached is None else reached

    def moved(trial: Labels) -> Labels:
        placement = Placement(problem, trial, watch)
        _repair(problem, placement)
        return _climb(problem, placement, watch)

    try:
        labels = moved(labels)
        rounds = watch.during(range(kicks))
        return shaken(problem, labels, rounds, 1, improve=moved, value=value)
    except ExpiredError:
        return labels


def _repair(problem: Problem, placement: Placement) -> None:
    """Put every home that has no partner with the one that costs least: in its cluster, or the two alone."""
    labels = placement.labels
    for demand in problem.demands:
        if (labels[list(demand.partners)] != labels[demand.home]).all():
            partner = _by_change(placement, demand)[0]
            apart, joined = _changes(placement, demand.home, np.array([partner]))
            if joined[0] < apart[0]:
                placement.offer_empty()
                placement.move(partner, placement.empty)
            placement.move(demand.home, int(labels[partner]))
    placement.offer_empty()


def _climb(problem: Problem, placement: Placement, watch: Watch) -> Labels:
    """Move nodes that gain by it, those that gain most first, if no home loses its last partner by it."""
    held, moved = _Held(problem.demands, placement.labels), True
    while moved and not watch.expired():
        moved, rises = False, placement.rises()
        nodes, clusters = np.nonzero(rises > 0)
        order = np.argsort(-rises[nodes, clusters], kind="stable")
        for number, offer in enumerate(order.tolist()):
            if number % MOVES == 0 and watch.expired():
                break
            node, cluster = int(nodes[offer]), int(clusters[offer])
            # Earlier moves of this sweep may have spoilt it.
            if placement.rise(node, cluster) > 0 and held.may_move(node, cluster):
                placement.move(node, cluster)
                moved = True
        placement.offer_empty()
    return renumber(placement.labels)


class _Held:
    """Which nodes must stay where they are: homes, and the last partners that they have."""

    def __init__(self, demands: Demands, labels: Labels) -> None:
        self.labels = labels
        self.own: dict[int, list[Demand]] = {}
        self.served: dict[int, list[Demand]] = {}
        for demand in demands:
            self.own.setdefault(demand.home, []).append(demand)
            for partner in demand.partners:
                self.served.setdefault(partner, []).append(demand)

    def may_move(self, node: int, cluster: int) -> bool:
        """Return whether every home still has a partner after a move."""
        labels, old = self.labels, self.labels[node]
        return all(self._has(demand, cluster, node) for demand in self.own.get(node, ())) and all(
            labels[demand.home] != old or demand.home == node or self._has(demand, old, node)
            for demand in self.served.get(node, ())
        )

    def _has(self, demand: Demand, cluster: int, without: int) -> bool:
        return any(self.labels[partner] == cluster and partner != without for partner in demand.partners)


def _by_change(placement: Placement, demand: Demand) -> list[int]:
    """Order the partners of a demand by what it costs to be with them, the cheapest first."""
    partners = np.array(demand.partners, dtype=np.intp)
    change = np.maximum(*_changes(placement, demand.home, partners)) - np.array(demand.costs)
    return [int(partners[rank]) for rank in np.argsort(-change, kind="stable")]


def _changes(placement: Placement, home: int, partners: Labels) -> tuple[Ints, Ints]:
    """Return what it gains to have a home and a partner on their own, and to put the home in its cluster."""
    there = placement.labels[partners]
    apart = placement.problem.gains[home, partners] - placement.held[partners, there]
    joined = np.where(placement.blocked[home, there] > 0, FORBIDDEN, placement.held[home, there])
    return apart, joined
