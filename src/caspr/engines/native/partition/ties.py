"""The first optimum of a problem: of all clusterings of the largest value the one that comes first by a rule.

The rule (`caspr.task.ties`) in the words of nodes that stand for some mentions each: the fewest pairs of
mentions in one cluster; then the fewest mentions in clusters of two or more; then the first in
lexicographic order of labels, with clusters numbered by their smallest node. (Nodes are in the order of
their first mentions, and all mentions of a node are in one cluster, so at the first mention whose cluster
begins elsewhere a node begins.)

**Fewest pairs** is again a clustering problem. Let s_u be the number of mentions of node u, and let P pairs
be in one cluster in some optimum of value v. With gains

    w'_uv = (P + 1) w_uv / step - s_u s_v

a clustering of value v with p pairs gains (P + 1) v / step - p, and one of a smaller value at most (P + 1)
(v / step - 1), which is less than that of the optimum with P pairs. So the optima of w' are the optima of w
with the fewest pairs. Such numbers would spoil the relaxation of a whole part; here they are small, because
the problem was reduced before: only pairs between nodes that are not together in every optimum count.

*What the reductions keep.* Strict rules keep every optimum (`reductions`). Those of large problems assume
that no cluster holds nodes that positive gains do not connect. An optimum with the fewest pairs has none:
cutting such a cluster loses nothing, and takes pairs away. For the same reason components of positive gains
are decided one by one.

**Rivals** are nodes v < v' of one size that forbid each other and are alike in all else: two lengths of one
mention, as a rule. Swapping them changes neither value nor pairs nor mentions, so each such pair would
double the number of optima. Let u be the first node that they may be with. If v' is with u, all else in the
cluster of v begins later, and labels come earlier once the two are swapped: v gets a cluster that begins no
later than before; and if it begins with v both times, the next node of the cluster of u does. So the first
optimum does not have v' with u, and that pair is forbidden; this holds for all rivals at once, as any that
broke it could be swapped.

**The steps**, each on what the one before leaves, component by component: strict reductions of w; where
they do not suffice, what a relaxation fixes in all optima; where its rounds get dear, a trial of one pair: if
no clustering that decides it in another way than the optimum known gains as much, all optima decide it alike.
A trial may do no more work than the rounds before it did. Where trials find another optimum or the bound
stalls, what all optima hold together, learned by a few searches; then w', and the same steps again. What is
left has few nodes, whose optima are listed, so that the first can be taken. Mentions add up over components,
and labels are compared node by node, so each component is decided on its own. Most problems have no more than
one optimum with the fewest pairs, and reductions show it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from caspr.engines.native.partition.cuts import Floats
from caspr.engines.native.partition.exhaustive import Walk, enumerate_optima
from caspr.engines.native.partition.optima import ENUMERATED, Budget, Clustering, all_optima
from caspr.engines.native.partition.outcome import COLD, SearchOutcome, Start, raised
from caspr.engines.native.partition.problem import (
    LARGEST_MASS,
    UNMET,
    Bools,
    Ints,
    Labels,
    Problem,
    connected_groups,
    firsts,
    joined,
    renumber,
)
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.search import PROGRESS, fix_in_all_optima, search, undecided
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import WRITTEN_OUT, Split, fits, shrunk_if_sparse
from caspr.engines.native.partition.watch import Watch

LISTED = 25_000
"""How many optima of one component are compared: all that nine nodes can have, and more."""
ROUNDS = 20
"""How many optima are looked for to learn what all of them hold together."""
DEAR = 30_000_000
"""Fixing that takes less work is no dearer than what comes before the first relaxation of a trial."""
TRIES = 300
"""How many partners of demands are tried one by one in one problem."""


@dataclass(frozen=True)
class FirstOptimum:
    """An optimum, and whether it is proven to be the first."""

    labels: Labels
    proven: bool


def first_optimum(
    problem: SparseProblem, outcome: SearchOutcome, watch: Watch, reduced: Split | None = None
) -> FirstOptimum:
    """Return the first optimum of a problem, given the outcome of its search, and how it was reduced."""
    found = FirstOptimum(renumber(outcome.labels), proven=False)
    if problem.size == 1 or _is_one_cluster(problem):
        return replace(found, proven=True)
    if not outcome.proven:
        return found
    if reduced is not None and reduced.unique:
        return replace(found, proven=True)
    labels, value = np.arange(problem.size), outcome.value
    if problem.size > WRITTEN_OUT:
        shrunk = reduced.shrunk if reduced is not None else None
        shrunk = shrunk or shrunk_if_sparse(problem, watch)
        problem, labels, value = shrunk.problem, shrunk.labels, value - shrunk.constant
    # An optimum with a cluster that positive gains do not connect may be none of those that are kept.
    start = Start(cuts=outcome.cuts)
    for known in (outcome.labels[firsts(labels)], None):
        first = _by_components(problem, known, labels, start, watch)
        if problem.value(first.labels) == value:
            return replace(first, labels=renumber(first.labels[labels]))
    return found


def _is_one_cluster(problem: SparseProblem) -> bool:
    """Return whether every two nodes gain something, so that only one cluster is optimal."""
    every = 2 * len(problem.first) == problem.size * (problem.size - 1)
    return every and int(problem.gains.min(initial=1)) > 0


def _by_components(
    problem: SparseProblem, known: Labels | None, labels: Labels, start: Start, watch: Watch
) -> FirstOptimum:
    """Decide each component of positive gains, beginning with an optimum of the whole if one is known.

    `start` is for a larger problem, for whose nodes `labels` has those here.
    """
    chosen, proven = np.arange(problem.size), True
    for group in _groups(problem.components()):
        part, own = problem.restrict(group), None if known is None else renumber(known[group])
        if fits(part.size, watch):
            dense = part.dense()
            inside = _start_within(start, dense, group, labels)
            first = _reduced_first(dense, part.sizes, own, watch, inside)
        else:
            first = FirstOptimum(np.arange(part.size) if own is None else own, proven=False)
        chosen[group], proven = group[first.labels], proven and first.proven
    return FirstOptimum(renumber(chosen), proven)


def _groups(labels: Labels) -> list[Labels]:
    """Return the nodes of each group of two or more."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    return [group for group in np.split(order, ends[:-1]) if len(group) > 1]


def _reduced_first(
    problem: Problem, sizes: Ints, known: Labels | None, watch: Watch, start: Start = COLD
) -> FirstOptimum:
    """Reduce a problem; of what is left, decide each component of positive gains."""
    problem, known = _unswapped(problem, sizes, known)
    reduced = reduce(problem, watch, all_optima=True)
    small, names, held = reduced.problem, firsts(reduced.labels), _added(sizes, reduced.labels)
    start = start.contracted(reduced.labels, small, reduced.constant)
    every, chosen, proven = np.arange(small.size), np.arange(small.size), True
    for group in connected_groups(small.gains > 0):
        part = small.restrict(group)
        if known is None:
            outcome = search(part, watch)
            own, proven = renumber(outcome.labels), proven and outcome.proven
        else:
            own = renumber(known[names][group])
        first = _fixed_first(part, held[group], own, watch, _start_within(start, part, group, every))
        chosen[group], proven = group[first.labels], proven and first.proven
    return FirstOptimum(renumber(chosen[reduced.labels]), proven)


def _unswapped(problem: Problem, sizes: Ints, known: Labels | None) -> tuple[Problem, Labels | None]:
    """Part the later of two rivals that could be swapped from the first node they may be with."""
    apart = np.zeros_like(problem.forbidden)
    barred = problem.forbidden | np.eye(problem.size, dtype=bool)
    rows: dict[tuple[int, bytes, bytes], int] = {}
    known = None if known is None else known.copy()
    for node, size in enumerate(sizes.tolist()):
        # Equal rows: each is forbidden for the other, as for itself, and all else is alike.
        rival = rows.setdefault((size, problem.gains[node].tobytes(), barred[node].tobytes()), node)
        allowed = np.flatnonzero(~barred[node])
        if rival == node or not len(allowed):
            continue
        apart[node, allowed[0]] = apart[allowed[0], node] = True
        if known is not None and known[node] == known[allowed[0]]:
            known[[rival, node]] = known[[node, rival]]
    return (problem.separate(apart), known) if apart.any() else (problem, known)


def _start_within(start: Start, part: Problem, group: Labels, labels: Labels) -> Start:
    """Express where a relaxation starts in the nodes of a component; `labels` are those of the whole."""
    places = np.full(int(labels.max()) + 1, -1, dtype=np.intp)
    places[group] = np.arange(len(group))
    return start.within(places[labels], part, None)


def _fixed_first(problem: Problem, sizes: Ints, known: Labels, watch: Watch, start: Start) -> FirstOptimum:
    """Fix what all optima of a large problem decide alike, then look for the first."""
    value = problem.value(known)
    if problem.size <= ENUMERATED or value is None:
        return _fewest_pairs(problem, sizes, known, watch)
    groups, narrowed, start = _settled(problem, known, value, watch, start)
    if (groups == known).all():
        # Any other optimum holds the same pairs together, and more.
        return FirstOptimum(known, proven=True)
    if not _is_smaller(groups, narrowed, watch):
        return _fewest_pairs(narrowed, sizes, known, watch)
    small, constant = narrowed.contract(groups)
    start = start.contracted(groups, small, constant)
    first = _reduced_first(small, _added(sizes, groups), known[firsts(groups)], watch, start)
    return replace(first, labels=renumber(first.labels[groups]))


def _settled(
    problem: Problem, known: Labels, value: int, watch: Watch, start: Start
) -> tuple[Labels, Problem, Start]:
    """Fix and try pairs until the problem is smaller, or learn all that the optima hold together."""
    floor, gap, going_on = value - problem.step, np.inf, True
    while going_on:
        before = watch.work
        groups, problem, start, x = _fixed(problem, value, watch, start, known)
        if _is_smaller(groups, problem, watch):
            return groups, problem, start
        pair, left = undecided(problem, x), (start.bound or 0) - floor
        going_on, gap = left < (1 - PROGRESS) * gap and not watch.expired(), left
        spent = watch.work - before
        if spent < DEAR:
            continue
        with watch.allowing(spent):
            other = _decided_otherwise(problem, pair, known, floor, watch, start)
        if other.bound > floor:
            going_on = going_on and other.value <= floor
        elif known[pair[0]] == known[pair[1]]:
            return _joining(problem, pair), problem, start
        else:
            problem, going_on = problem.separate(_marked(problem, pair)), True
    return _held_together(problem, known, value, watch, start), problem, start


def _decided_otherwise(
    problem: Problem, pair: tuple[int, int], known: Labels, floor: int, watch: Watch, start: Start
) -> SearchOutcome:
    """Search for clusterings above a floor that decide a pair in another way than a known one."""
    start = replace(start, floor=floor)
    if known[pair[0]] == known[pair[1]]:
        return search(problem.separate(_marked(problem, pair)), watch, start)
    groups = _joining(problem, pair)
    small, constant = problem.contract(groups)
    outcome = search(small, watch, start.contracted(groups, small, constant))
    return replace(outcome, value=outcome.value + constant, bound=raised(outcome.bound, constant))


def _joining(problem: Problem, pair: tuple[int, int]) -> Labels:
    """Return the groups if two nodes are put together."""
    return joined(problem.size, *np.array([pair], dtype=np.intp).T)


def _marked(problem: Problem, pair: tuple[int, int]) -> Bools:
    """Mark a pair."""
    marked = np.zeros_like(problem.forbidden)
    marked[pair] = marked[pair[::-1]] = True
    return marked


def _is_smaller(groups: Labels, problem: Problem, watch: Watch) -> bool:
    """Return whether a problem has fewer nodes with some put together, falls apart or can be reduced."""
    if int(groups.max()) + 1 < problem.size or len(connected_groups(problem.gains > 0)) != 1:
        return True
    return reduce(problem, watch, all_optima=True).problem.size < problem.size


def _fixed(
    problem: Problem, value: int, watch: Watch, start: Start = COLD, known: Labels | None = None
) -> tuple[Labels, Problem, Start, Floats]:
    """Return what all optima hold together, the problem without what all part, and where to start below.

    The last is the point of the last relaxation.
    """
    fixed = fix_in_all_optima(problem, value, watch, start, known)
    groups = joined(problem.size, *np.nonzero(fixed.together))
    return groups, problem.separate(fixed.apart), fixed.below, fixed.x


def _added(sizes: Ints, labels: Labels) -> Ints:
    """Add up the sizes of the nodes of every group."""
    added = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(added, labels, sizes)
    return added


def _fewest_pairs(problem: Problem, sizes: Ints, known: Labels, watch: Watch) -> FirstOptimum:
    """Return the first optimum of a problem, given one."""
    pairs = _pairs(sizes, known)
    if not pairs:
        # Only the clustering without any pair has so few.
        return FirstOptimum(known, proven=True)
    scaled = _scaled(problem, pairs + 1, np.outer(sizes, sizes))
    return FirstOptimum(known, proven=False) if scaled is None else _first(scaled, sizes, watch)


def _pairs(sizes: Ints, labels: Labels) -> int:
    """Count the pairs of mentions of different nodes that a clustering holds together."""
    held = _added(sizes, labels)
    return (int((held * held).sum()) - int((sizes * sizes).sum())) // 2


def _scaled(problem: Problem, factor: int, less: Ints | Bools) -> Problem | None:
    """Multiply gains, in units of the step, and take a little from them; `None` if they grow too large."""
    step = problem.step
    costs = sum(cost for demand in problem.demands for cost in demand.costs)
    if factor * (int(np.abs(problem.gains).sum()) + costs) // step + int(less.sum()) > LARGEST_MASS:
        return None
    gains = factor * (problem.gains // step) - less
    gains[problem.forbidden] = 0
    np.fill_diagonal(gains, 0)
    demands = tuple(
        replace(demand, costs=tuple(factor * cost // step for cost in demand.costs))
        for demand in problem.demands
    )
    return Problem(gains, problem.forbidden, demands)


def first_meeting_demands(
    problem: Problem, sizes: Ints, outcome: SearchOutcome, watch: Watch
) -> FirstOptimum:
    """Return the first optimum of a problem with demands, given the outcome of its search."""
    known = renumber(outcome.labels)
    scaled = _scaled(problem, _pairs(sizes, known) + 1, np.outer(sizes, sizes)) if outcome.proven else None
    if scaled is None or outcome.value == UNMET:
        return FirstOptimum(known, proven=False)
    best = search(scaled, watch, Start(known=known))
    if not best.proven:
        return FirstOptimum(known, proven=False)
    return _WithDemands(watch).first(scaled, sizes, renumber(best.labels))


class _WithDemands:
    """Looks for the first optimum of one problem with demands."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.left = watch, TRIES

    def first(self, problem: Problem, sizes: Ints, known: Labels) -> FirstOptimum:
        """Decide each component, given an optimum of all; those without demands as ever."""
        chosen, proven = np.arange(problem.size), True
        for group in connected_groups(problem.adjacent | _usable(problem)):
            part, own = problem.restrict(group), renumber(known[group])
            if part.demands:
                first = self._connected(part, sizes[group], own)
            else:
                first = _first(part, sizes[group], self.watch)
            chosen[group], proven = group[first.labels], proven and first.proven
        return FirstOptimum(renumber(chosen), proven)

    def _connected(self, problem: Problem, sizes: Ints, known: Labels) -> FirstOptimum:
        """Contract what all optima hold together, then try partners; list the optima of few nodes."""
        value = problem.value(known)
        if value is None or self.watch.expired():
            return FirstOptimum(known, proven=False)
        if problem.size <= ENUMERATED:
            every = (labels for _, labels in Walk(problem, value, self.watch).clusterings())
            listed = [labels for labels in every if problem.value(np.array(labels, dtype=np.intp)) == value]
            count = None if self.watch.expired() else len(listed)
            # A limit may come before the first of them.
            return _first_of(listed or [tuple(known.tolist())], count, sizes)
        groups = _held_together(problem, known, value, self.watch)
        if (groups == known).all():
            return FirstOptimum(known, proven=True)
        if int(groups.max()) + 1 < problem.size:
            return self._contracted(problem, sizes, groups, known)
        return self._by_partner(problem, sizes, known, value)

    def _contracted(self, problem: Problem, sizes: Ints, groups: Labels, known: Labels) -> FirstOptimum:
        """Decide a problem with some nodes put together, given an optimum that holds them together."""
        small, _ = problem.contract(groups)
        first = self.first(small, _added(sizes, groups), known[firsts(groups)])
        return replace(first, labels=renumber(first.labels[groups]))

    def _by_partner(self, problem: Problem, sizes: Ints, known: Labels, value: int) -> FirstOptimum:
        """Put the home of a demand together with each of its partners, and take the first of all optima."""
        demands = [demand for demand in problem.demands if demand.home not in demand.partners]
        demand = min(demands, key=lambda demand: len(demand.partners), default=None)
        if demand is None or len(demand.partners) > self.left:
            return FirstOptimum(known, proven=False)
        self.left -= len(demand.partners)
        found, proven = [tuple(known.tolist())], True
        for partner in demand.partners:
            groups = joined(problem.size, np.array([demand.home]), np.array([partner]))
            small, constant = problem.contract(groups)
            outcome = search(small, self.watch)
            if outcome.proven and outcome.value + constant == value:
                first = self._contracted(problem, sizes, groups, outcome.labels[groups])
                found.append(tuple(first.labels.tolist()))
                proven = proven and first.proven
            proven = proven and outcome.proven
        return replace(_first_of(found, len(found), sizes), proven=proven)


def _first(problem: Problem, sizes: Ints, watch: Watch) -> FirstOptimum:
    """Return the first optimum of a problem whose optima have equally many pairs."""
    reduced = reduce(problem, watch, all_optima=True)
    small, held = reduced.problem, _added(sizes, reduced.labels)
    chosen, proven = np.arange(small.size), True
    for group in connected_groups(_usable(small)):
        part = small.restrict(group)
        first = (_first_listed if len(group) <= ENUMERATED else _first_fixed)(part, held[group], watch)
        chosen[group], proven = group[first.labels], proven and first.proven
    return FirstOptimum(renumber(chosen[reduced.labels]), proven)


def _first_listed(problem: Problem, sizes: Ints, watch: Watch) -> FirstOptimum:
    """Try all clusterings of a few nodes."""
    optima = enumerate_optima(problem, limit=LISTED, watch=watch)
    if optima is None:  # a limit came before the first of them
        return FirstOptimum(np.arange(problem.size), proven=False)
    return _first_of(optima.clusterings, optima.count, sizes)


def _first_fixed(problem: Problem, sizes: Ints, watch: Watch) -> FirstOptimum:
    """Fix what all optima decide alike, and decide the rest; if that is everything, list them."""
    outcome = search(problem, watch)
    known = renumber(outcome.labels)
    if not outcome.proven or watch.expired():
        return FirstOptimum(known, proven=False)
    groups, narrowed, _, _ = _fixed(problem, outcome.value, watch)
    if not _falls_apart(groups, _usable(narrowed)):
        groups = _held_together(narrowed, known, outcome.value, watch)
    if (groups == known).all():
        return FirstOptimum(known, proven=True)
    if _falls_apart(groups, _usable(narrowed)):
        small, _ = narrowed.contract(groups)
        first = _first(small, _added(sizes, groups), watch)
        return replace(first, labels=renumber(first.labels[groups]))
    every = all_optima(narrowed, outcome.value, Budget(watch, LISTED))
    return _first_of(every.listed or (tuple(known.tolist()),), every.count, sizes)


def _falls_apart(groups: Labels, adjacent: Bools) -> bool:
    """Return whether a problem falls apart, or has fewer nodes once those of each group are one."""
    return int(groups.max()) + 1 < len(groups) or len(connected_groups(adjacent)) != 1


def _usable(problem: Problem) -> Bools:
    """Find the pairs that an optimum may hold together without losing by it."""
    usable: Bools = (problem.gains >= 0) & ~problem.forbidden
    return usable


def _held_together(problem: Problem, known: Labels, value: int, watch: Watch, start: Start = COLD) -> Labels:
    """Return the groups of nodes that all optima hold together, given one; nodes alone if that stays open.

    Take a little from the gain of each pair that all optima found so far hold together: less from all of
    them than one unit of the value. The best clustering is then an optimum that misses as many of them as
    possible. Once it misses none, all optima hold them together.
    """
    alone = np.arange(problem.size)
    sure: Bools = known[:, None] == known[None, :]
    np.fill_diagonal(sure, False)
    for _ in range(ROUNDS):
        less = _scaled(problem, int(sure.sum()) // 2 + 1, sure) if sure.any() else None
        found = None if less is None else _better(problem, less, known, watch, start)
        if found is None or problem.value(found) != value:
            return alone
        missed = sure & (found[:, None] != found[None, :])
        if not missed.any():
            return joined(problem.size, *np.nonzero(sure))
        sure &= ~missed
        known = found
    return alone


def _better(problem: Problem, less: Problem, known: Labels, watch: Watch, start: Start) -> Labels | None:
    """Return an optimum of a problem scaled from another, whose optimum is known; `None` if it stays open.

    The search begins where that of the other one ended, and looks only for what is better.
    """
    floor = less.value(known)
    assert floor is not None
    scale = 1 if not problem.gains.any() else float(np.abs(less.gains).max() / np.abs(problem.gains).max())
    cuts = start.cuts.weighing(start.cuts.weights * scale)
    outcome = search(less, watch, Start(floor=floor, cuts=cuts, near=start.near))
    if outcome.value > floor:
        return outcome.labels if outcome.proven else None
    return known if outcome.bound <= floor else None


def _first_of(listed: Sequence[Clustering], count: int | None, sizes: Ints) -> FirstOptimum:
    """Return the first of the optima that are listed, and whether these are all."""
    first = min(listed, key=lambda labels: (_mentions(labels, sizes), labels))
    return FirstOptimum(np.array(first, dtype=np.intp), proven=count == len(listed))


def _mentions(labels: Clustering, sizes: Ints) -> int:
    """Return how many mentions are in clusters of two or more of them."""
    held = _added(sizes, np.array(labels, dtype=np.intp))
    return int(held[held > 1].sum())
