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
together. So it is with two more rules, for nodes that want the same place (`leaves`); a third one there keeps
only *some* optimum.

No sum here wraps: best(k, u) is at most the sum of |gain| in row k, so the sum of best(k, u) over any
nodes k is at most the mass (`problem`); a pair gains at most half of it. The largest expression, 2 w_uv
and two sums of best(k, u) + max(u_k, 0) in the near-twin rule, stays below 5 masses.

**Large problems** are reduced in time near the number of listed pairs (`sparse`). The argument is the same,
with two more changes that cannot improve an optimum: u or v may also be taken out alone. Let the five changes

    u moves to B,   v moves to A,   both leave as a pair,   u leaves alone,   v leaves alone

have weights a, b, p, x, y >= 0. For an optimum with u in A + u and v in B + v, apart, their weighted sum is
at most 0, and at least

    (a + b + p) w_uv - sum over k of max(0, (a + p + x) u_k - b v_k, (b + p + y) v_k - a u_k),

the second term if k is in A, the third if it is in B. If that is positive, u and v are *together in every
optimum*. A node k in A that v forbids leaves before v comes, which loses at most best(k, u): it adds
b best(k, u) in place of -b v_k; and likewise in B.

Which weights? Pairs that are not listed gain c s_u s_k, so their terms vanish if (a + p + x) s_u = b s_v and
(b + p + y) s_v <= a s_u, or the other way round. With c < 0 these pairs are nearly all there are, so rules
that count them see nothing in a large problem. Two rules do not:

    near-twin    a = s_v, b = s_u             gains per mention, as it were, are nearly equal
    leaf         b = s_u, x = s_v             v clings to u, whose own cluster cannot be large without loss

and the rules above are those with other weights: near-twin (1, 1, 0, 0, 0), leaf (0, 1, 0, 0, 0),
heavy edge (0, 0, 1, 0, 0). With c < 0, nodes of other components are in neither A nor B (`problem`).

A component in which no pair loses and none is forbidden is one cluster in every optimum: only that reaches
the sum of its positive gains, which connect it.

Before any row is looked at, sums of positive gains over a few blocks of nodes exclude most pairs: for a, b
> 0 the sum over k is at least the sum over blocks of |a P(u) - b P(v)|, P being the sum of the positive
gains with a block. All found in one round is applied together, as all inequalities are strict.

No number wraps: sums are at most 6 masses times the largest weight, and rules with large weights are left
out where that could exceed 2^62.
"""

from dataclasses import dataclass, replace

import numpy as np

from caspr.engines.native.partition import statements
from caspr.engines.native.partition.cores import LARGE, Core, find_cores, find_listed_cores
from caspr.engines.native.partition.leaves import (
    AT_ONCE,
    Clinging,
    Places,
    chunks,
    find_places,
    joined_by,
    spare_of,
)
from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem, firsts, joined, product
from caspr.engines.native.partition.sparse import BLOCK, SparseProblem, blocks, filled
from caspr.engines.native.partition.statements import Statement, renamed, spanning
from caspr.engines.native.partition.watch import ExpiredError, Watch, checked

BLOCKS = 16
"""How many blocks of nodes the quick test for near-twins adds up gains over."""
TOO_FEW_FOR_BLOCKS = 60
"""In problems up to this size, that test is not worth its time."""
WEIGHTS = np.array([(1, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0), (1, 0, 0, 0, 0)])
"""The weights (a, b, p, x, y) of near-twins, heavy edges, and leaves v and u."""


@dataclass(frozen=True)
class Reduced:
    """A smaller problem and the way back."""

    problem: Problem
    labels: Labels
    """The new node of every old node."""
    constant: int
    """What the pairs put together gain: the old value is this plus the new one."""
    held: Labels | None = None
    """What all optima hold together, in place of `labels`, if rivals made that keep only some optima."""

    def lift(self, labels: Labels) -> Labels:
        """Turn a clustering of the new nodes into one of the old."""
        return labels[self.labels]


def reduce(
    problem: Problem,
    watch: Watch | None = None,
    *,
    all_optima: bool = False,
    record: list[Statement] | None = None,
    cores: bool = True,
) -> Reduced:
    """Apply all reductions until none applies or a limit is reached; keep all optima, or at least one.

    What was applied is added to `record`, if given. `cores` says whether to look for these, too: first, and
    again when nothing else applies.
    """
    watch = watch or Watch()
    reduced = Reduced(problem, np.arange(problem.size), 0)
    smaller: Reduced | None = None
    without = 0
    """The size of the problem in which no cores were found."""
    try:
        while reduced.problem.size > 1:
            watch.check()
            if cores and smaller is None and reduced.problem.size != without:
                smaller, without = _with_cores(reduced, watch, record), reduced.problem.size
            else:
                smaller = _reduced_once(reduced, watch, all_optima=all_optima, record=record)
                if smaller is None and (not cores or reduced.problem.size == without):
                    break
            reduced = smaller or reduced
    except ExpiredError:
        pass
    return reduced


def _with_cores(reduced: Reduced, watch: Watch, record: list[Statement] | None) -> Reduced | None:
    """Contract the cores of a problem; `None` if there are none."""
    problem = reduced.problem
    undisputed = not problem.forbidden.any() and problem.gains.min() >= 0
    cores = [] if undisputed else find_cores(problem, watch)
    if not cores:
        return None
    if record is not None:
        record.append(renamed(statements.cores(cores), firsts(reduced.labels)))
    step = joined(problem.size, *_chained(cores))
    problem, gained = problem.contract(step)
    return Reduced(problem, step[reduced.labels], reduced.constant + gained, reduced.held)


def _reduced_once(
    reduced: Reduced, watch: Watch, *, all_optima: bool, record: list[Statement] | None
) -> Reduced | None:
    """Apply what the rules find in one problem; `None` if they find nothing."""
    problem = reduced.problem
    if not problem.forbidden.any() and problem.gains.min() >= 0:
        # What gains connect is together in every optimum, and no rule finds more. Proofs need not say so.
        return _contracted(reduced, problem, problem.gains > 0)
    best = beside(problem, watch)
    apart = heavy_non_edges(problem, best)
    if apart.any():
        problem = problem.separate(apart)
        best = beside(problem, watch)
    heavy, clinging = heavy_edges(problem), Clinging.of(problem, best)
    together = clinging.leaves(problem) | heavy
    twins, places = np.zeros_like(heavy), Places()
    if not together.any():
        # The dearest rule last: by now most nodes may be gone.
        together = twins = near_twins(problem, best, watch)
    if not together.any():
        places = find_places(problem, best, clinging, watch, all_optima=all_optima)
        together = joined_by(places, problem.size)
    if record is not None:
        names = firsts(reduced.labels)
        if apart.any():
            record.append(statements.apart(names, apart))
        if places:
            record.append(renamed(places, names))
        elif together.any():
            record.append(_written(problem, names, together, best, heavy, twins))
    smaller = _contracted(reduced, problem, together)
    if smaller is None and apart.any():
        return replace(reduced, problem=problem)
    if smaller is None or "rivals" not in places or reduced.held is not None:
        return smaller
    return replace(smaller, held=reduced.labels)


def _written(
    problem: Problem, names: Labels, together: Bools, best: Ints, heavy: Bools, twins: Bools
) -> Statement:
    """Write down pairs that every optimum puts together, with the weights of the rule that says so."""
    first, second = spanning(problem.size, *np.nonzero(np.triu(together, 1)))
    leaf = spare_of(problem, best, first, second) > 0
    rules = np.where(leaf, 2, 3)
    rules[heavy[first, second]] = 1
    rules[twins[first, second]] = 0
    return statements.together(names[first], names[second], WEIGHTS[rules])


def _contracted(reduced: Reduced, problem: Problem, together: Bools) -> Reduced | None:
    """Contract pairs of a problem that was reduced before; `None` if there are none."""
    first, second = np.nonzero(together)
    if not len(first):
        return None
    step = joined(problem.size, first, second)
    problem, gained = problem.contract(step)
    return Reduced(problem, step[reduced.labels], reduced.constant + gained, reduced.held)


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
    first, second = np.nonzero(likely)
    for chunk in chunks(len(first), problem.size):
        u, v = first[chunk], second[chunk]
        # Either end has the gain of the pair as its own with the other.
        rest = np.maximum(positive[u], positive[v]).sum(axis=1) - 2 * gains[u, v]
        together[u, v] = gains[u, v] > rest
    return together


def _chained(cores: list[Core]) -> tuple[Labels, Labels]:
    """Return pairs that put each core together."""
    first = np.concatenate([np.full(len(core) - 1, core[0]) for core, _ in cores])
    return first, np.concatenate([core[1:] for core, _ in cores])


def near_twins(problem: Problem, best: Ints, watch: Watch | None = None) -> Bools:
    """Find the pairs of nearly equal gains.

    Rows are compared only for pairs that a quick test leaves: what is lost is at least the sum over blocks of
    nodes of |P_u - P_v|, where P is the sum of the positive gains with a block.
    """
    watch = watch or Watch()
    gains, forbidden = problem.gains, problem.forbidden
    together = np.zeros_like(forbidden)
    first, second = _likely_twins(gains, watch)
    if not len(first):
        return together
    # blocked[v, u]: what it takes to send off the nodes that v forbids and u allows.
    blocked = product(forbidden, np.where(forbidden, 0, best + np.maximum(gains, 0).T), watch)
    spare = 2 * gains[first, second] - blocked[first, second] - blocked[second, first]
    first, second, spare = first[spare > 0], second[spare > 0], spare[spare > 0]
    for chunk in chunks(len(first), problem.size):
        watch.check()
        u, v = first[chunk], second[chunk]
        # Nodes that only one of the two allows are counted in what is blocked; the two have |0 - w| each.
        both = ~(forbidden[u] | forbidden[v])
        differences = np.where(both, np.abs(gains[u] - gains[v]), 0).sum(axis=1) - 2 * gains[u, v]
        sure = spare[chunk] > differences
        together[u[sure], v[sure]] = together[v[sure], u[sure]] = True
    return together


def _likely_twins(gains: Ints, watch: Watch) -> tuple[Labels, Labels]:
    """Return the pairs that sums over blocks of nodes do not exclude."""
    size = len(gains)
    if size <= TOO_FEW_FOR_BLOCKS:
        # One block of all nodes excludes enough.
        u, v = np.nonzero(np.triu(gains > 0, 1))
        sums = np.maximum(gains, 0).sum(axis=1)
        alike = 2 * gains[u, v] > np.abs(sums[u] - sums[v])
        return u[alike], v[alike]
    block = np.arange(size) % BLOCKS
    sums = product(np.maximum(gains, 0), block[:, None] == np.arange(BLOCKS), watch)
    first, second = [], []
    rows = max(1, AT_ONCE // (BLOCKS * size))
    for start in range(0, size, rows):
        watch.check()
        u, v = np.nonzero(np.triu(gains[start : start + rows] > 0, 1 + start))
        u += start
        own, theirs, gain = sums[u], sums[v], gains[u, v]
        own[np.arange(len(u)), v % BLOCKS] -= gain
        theirs[np.arange(len(u)), u % BLOCKS] -= gain
        alike = 2 * gain > np.abs(own - theirs).sum(axis=1)
        first.append(u[alike])
        second.append(v[alike])
    return np.concatenate(first), np.concatenate(second)


ENTRIES_AT_ONCE = 1 << 20
"""How many entries of rows are looked at between two looks at the clock."""


class Beside:
    """best(k, u): what k can gain at most in a cluster with u, where pairs not listed are forbidden."""

    def __init__(self, problem: SparseProblem, watch: Watch) -> None:
        self.problem, self.watch = problem, watch
        problem.index(watch)
        self.known = np.full(len(problem.neighbours.keys), -1, dtype=np.int64)

    def of(self, u: Labels, k: Labels, wanted: Bools) -> Ints:
        """Return best(k, u) where it is wanted, 0 elsewhere; u and k must be listed there."""
        best = np.zeros(len(u), dtype=np.int64)
        for part in blocks(len(u), self.watch, BLOCK // 4):
            best[part] = self._of_some(u[part], k[part], wanted[part])
        return best

    def _of_some(self, u: Labels, k: Labels, wanted: Bools) -> Ints:
        rows, size = self.problem.neighbours, self.problem.size
        best = np.zeros(len(u), dtype=np.int64)
        entries, _ = rows.find(u[wanted] * size + k[wanted])
        missing = np.unique(entries[self.known[entries] < 0])
        total = np.cumsum(np.diff(rows.starts)[rows.others[missing]])
        start = 0
        while start < len(missing):
            self.watch.check()
            before = int(total[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(total, before + ENTRIES_AT_ONCE, side="right")))
            self._work_out(missing[start:end])
            start = end
        best[wanted] = self.known[entries]
        return best

    def _work_out(self, entries: Labels) -> None:
        rows, size = self.problem.neighbours, self.problem.size
        u, k = rows.keys[entries] // size, rows.others[entries]
        theirs, owner = rows.of(k)
        node = rows.others[theirs]
        _, listed = rows.find(u[owner] * size + node)
        gains = np.maximum(self.problem.gains[rows.pairs[theirs]], 0)
        sums = np.zeros(len(entries), dtype=np.int64)
        np.add.at(sums, owner, np.where(listed | (node == u[owner]), gains, 0))
        self.known[entries] = sums


def listed_non_edges(problem: SparseProblem, watch: Watch) -> Bools:
    """Find the listed pairs whose loss outweighs all that one end could gain beside the other."""
    sums = problem.positive
    apart = filled(
        len(problem.first),
        lambda part: -problem.gains[part] > np.minimum(sums[problem.first[part]], sums[problem.second[part]]),
        watch,
        bool,
    )
    doubtful = np.flatnonzero((problem.gains < 0) & ~apart)
    if len(doubtful):
        beside, every = Beside(problem, watch), np.ones(len(doubtful), dtype=bool)
        first, second = problem.first[doubtful], problem.second[doubtful]
        best = np.minimum(beside.of(first, second, every), beside.of(second, first, every))
        watch.check()
        apart[doubtful] = -problem.gains[doubtful] > best
    return apart


TRIED = 500_000
"""On how many pairs quick tests are made between two looks at the clock."""


@dataclass(frozen=True)
class Shrunk:
    """A smaller problem and the way back."""

    problem: SparseProblem
    labels: Labels
    """The new node of every old node."""
    constant: int
    """What the pairs put together gain: the old value is this plus the new one."""


@dataclass(frozen=True)
class Trials:
    """Pairs of nodes, each with the weights of a rule."""

    u: Labels
    v: Labels
    weights: Ints
    """a, b, p, x, y of each, one row for each pair."""

    def chosen(self, which: Labels | Bools | slice) -> "Trials":
        """Keep some of them."""
        return Trials(self.u[which], self.v[which], self.weights[which])

    def with_more(self, others: "Trials") -> "Trials":
        """Return these and others."""
        pairs = (np.append(self.u, others.u), np.append(self.v, others.v))
        return Trials(*pairs, np.concatenate([self.weights, others.weights]))


def shrink(
    problem: SparseProblem,
    watch: Watch,
    *,
    all_optima: bool = False,
    record: list[Statement] | None = None,
) -> Shrunk:
    """Apply the rules until none applies or a limit is reached; keep all optima.

    What was applied is added to `record`, if given; that whole components are one cluster need not be said.
    """
    labels, constant, fresh = np.arange(problem.size), 0, True
    try:
        while problem.size > 1 and len(problem.first):
            watch.check()
            if problem.common is None:
                apart = listed_non_edges(problem, watch)
                _note_apart(problem, labels, apart, record)
                problem = problem.without(apart)
            problem.index(watch)
            found = _found(problem, watch, fresh=fresh, ties=all_optima)
            if found is None:
                break
            first, second, statement = found
            if record is not None and statement is not None:
                record.append(renamed(statement, firsts(labels)))
            step = joined(problem.size, first, second)
            problem, gained = problem.contract(step, watch)
            labels, constant, fresh = step[labels], constant + gained, False
    except ExpiredError:
        pass
    return Shrunk(problem, labels, constant)


def _found(
    problem: SparseProblem, watch: Watch, *, fresh: bool, ties: bool
) -> tuple[Labels, Labels, Statement | None] | None:
    """Return pairs that every optimum puts together, and the statement that says so; `None` if none is found.

    Large cores come first in a fresh problem; all others last, when the other rules made it smaller.
    """
    first, second = _whole_components(problem, watch)
    if len(first):
        return first, second, None
    cores = find_listed_cores(problem, watch, LARGE) if fresh and problem.common is None else []
    if not cores:
        trials = _together(problem, watch, ties=ties)
        if len(trials.u):
            spanned = spanning(problem.size, trials.u, trials.v, trials.weights)
            return trials.u, trials.v, statements.together(*spanned)
        cores = find_listed_cores(problem, watch) if problem.common is None else []
    return (*_chained(cores), statements.cores(cores)) if cores else None


def _note_apart(problem: SparseProblem, labels: Labels, apart: Bools, record: list[Statement] | None) -> None:
    """Record pairs that are kept apart; no proof needs those between components."""
    if record is not None and apart.any():
        home, names = problem.components(), firsts(labels)
        inside = apart & (home[problem.first] == home[problem.second])
        if inside.any():
            record.append(
                statements.listed_apart(names[problem.first[inside]], names[problem.second[inside]])
            )


def _whole_components(problem: SparseProblem, watch: Watch) -> tuple[Labels, Labels]:
    """Return pairs that put together the components in which no pair loses and none is forbidden."""
    home = problem.components()
    count = int(home.max(initial=-1)) + 1
    held, fine = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    lost = np.zeros(problem.size, dtype=np.intp)
    for part in blocks(len(problem.first), watch):
        first, second = problem.first[part], problem.second[part]
        gains, within = problem.gains[part], home[first]
        inside = within == home[second]
        held += np.bincount(within[inside], minlength=count)
        good = inside & (gains >= 0) & ~problem.forbidden[part]
        fine += np.bincount(within[good], minlength=count)
        idle = gains <= 0
        lost += np.bincount(np.append(first[idle], second[idle]), minlength=problem.size)
    members = np.bincount(home, minlength=count)
    # Pairs that are not listed lose, or gain as much as the others, or nothing.
    wanted = members * (members - 1) // 2
    if problem.common is not None and problem.common >= 0:
        wanted = held
    whole = (fine == wanted) & (members > 1)
    if problem.common is not None and problem.common > 0:
        # All nodes are taken for one component; if each gains with half of the others, they are connected.
        whole &= 2 * int(lost.max(initial=0)) <= problem.size - 1
    nodes = np.flatnonzero(whole[home])
    return nodes, firsts(home)[home[nodes]]


def _together(problem: SparseProblem, watch: Watch, *, ties: bool) -> Trials:
    """Return pairs that every optimum puts together: enough of them to connect all that are found.

    Twins make many pairs, of which few are needed. So every node is tried with one other first, then with a
    second one, and pairs that are connected by then are not tried.
    """
    trials = _trials(problem, watch)
    trials = trials.chosen(_by_turns(trials.v))
    home, groups = problem.components(ties=ties), np.arange(problem.size)
    beside = Beside(problem, watch) if problem.common is None and len(trials.u) else None
    found, batch = trials.chosen(slice(0)), problem.size
    while len(trials.u) and 4 * len(found.u) < problem.size:
        sure = _sure(problem, trials.chosen(slice(batch)), home, beside, watch)
        if len(sure.u):
            found = found.with_more(sure)
            groups = joined(problem.size, found.u, found.v)
        trials = trials.chosen(slice(batch, None))
        trials = trials.chosen(groups[trials.u] != groups[trials.v])
        batch *= 2
    return found


def _by_turns(nodes: Labels) -> Labels:
    """Order positions such that those where nodes stand for the first time come first, then the second."""
    order = np.argsort(nodes, kind="stable")
    starts = np.cumsum(np.bincount(nodes)) - np.bincount(nodes)
    turn = np.empty(len(nodes), dtype=np.intp)
    turn[order] = np.arange(len(nodes)) - starts[nodes[order]]
    return np.argsort(turn, kind="stable")


def _sure(
    problem: SparseProblem, trials: Trials, home: Labels, beside: Beside | None, watch: Watch
) -> Trials:
    """Return the pairs whose gain outweighs all that could be lost."""
    spare = _spare_listed(problem, trials, home, None, watch)
    trials = trials.chosen(spare > 0)
    if beside is not None:
        # So far, sending nodes off was counted at the least it can cost; only here is it computed.
        spare = _spare_listed(problem, trials, home, beside, watch)
        trials = trials.chosen(spare > 0)
    return trials


def _trials(problem: SparseProblem, watch: Watch) -> Trials:
    """Return the pairs that quick tests leave, with the rules to try on them."""
    first, second, gains = _pairs_to_try(problem)
    table = _block_sums(problem, watch)
    by_rule: list[Trials] = []
    for start in checked(range(0, max(1, len(first)), TRIED), watch):
        part = slice(start, start + TRIED)
        by_rule += _trials_of(problem, table, first[part], second[part], gains[part])
    return Trials(
        np.concatenate([trials.u for trials in by_rule]),
        np.concatenate([trials.v for trials in by_rule]),
        np.concatenate([trials.weights for trials in by_rule]),
    )


def _trials_of(problem: SparseProblem, table: Ints, u: Labels, v: Labels, gains: Ints) -> list[Trials]:
    """Return which of some pairs to try each rule on."""
    sums, sizes = problem.positive, problem.sizes
    at_u, at_v = sums[u] - gains, sums[v] - gains
    by_rule = [
        _with_weights(u, v, gains > np.maximum(at_u, at_v), (0, 0, 1, 0, 0)),
        _with_weights(u, v, gains > at_v, (0, 1, 0, 0, 0)),
        _with_weights(u, v, gains > at_u, (1, 0, 0, 0, 0)),
    ]
    unit = np.ones(len(u), dtype=np.int64)
    by_rule.append(_with_weights(u, v, _alike(table, u, v, gains, unit, unit), (1, 1, 0, 0, 0)))
    if problem.common is not None and 6 * problem.mass * int(sizes.max(initial=1)) < 1 << 62:
        common = np.gcd(sizes[u], sizes[v])
        of_u, of_v = sizes[u] // common, sizes[v] // common
        none = np.zeros_like(unit)
        alike = (of_u != of_v) & _alike(table, u, v, gains, of_v, of_u)
        by_rule += [
            Trials(u[mask], v[mask], np.column_stack([weights[mask] for weights in columns]))
            for mask, columns in (
                (alike, (of_v, of_u, none, none, none)),
                (gains > at_v, (none, of_u, none, of_v, none)),
                (gains > at_u, (of_v, none, none, none, of_u)),
            )
        ]
    return by_rule


def _with_weights(u: Labels, v: Labels, mask: Bools, weights: tuple[int, ...]) -> Trials:
    count = int(np.count_nonzero(mask))
    return Trials(u[mask], v[mask], np.tile(np.array(weights, dtype=np.int64), (count, 1)))


def _pairs_to_try(problem: SparseProblem) -> tuple[Labels, Labels, Ints]:
    """Return the listed pairs that gain; where all others gain as well, also a chain through all nodes."""
    gaining = problem.gains > 0
    u, v, gains = problem.first[gaining], problem.second[gaining], problem.gains[gaining]
    if problem.common is None or problem.common <= 0:
        return u, v, gains
    order = np.argsort(problem.positive, kind="stable")
    first, second = np.minimum(order[1:], order[:-1]), np.maximum(order[1:], order[:-1])
    _, known = problem.neighbours.find(first * problem.size + second)
    first, second = first[~known], second[~known]
    more = problem.common * problem.sizes[first] * problem.sizes[second]
    return np.append(u, first), np.append(v, second), np.append(gains, more)


def _block_sums(problem: SparseProblem, watch: Watch) -> Ints:
    """Return the sum of the positive gains of every node with each block of nodes."""
    table = np.zeros((problem.size, BLOCKS), dtype=np.int64)
    common = max(problem.common or 0, 0)
    if common:
        block = np.arange(problem.size) % BLOCKS
        held = np.bincount(block, weights=problem.sizes, minlength=BLOCKS).astype(np.int64)
        table += common * problem.sizes[:, None] * held
        table[np.arange(problem.size), block] -= common * problem.sizes**2
    for part in blocks(len(problem.first), watch):
        first, second = problem.first[part], problem.second[part]
        gains = np.maximum(problem.gains[part], 0) - common * problem.sizes[first] * problem.sizes[second]
        np.add.at(table, (first, second % BLOCKS), gains)
        np.add.at(table, (second, first % BLOCKS), gains)
    return table


def _alike(table: Ints, first: Labels, second: Labels, gains: Ints, a: Ints, b: Ints) -> Bools:
    """Find the pairs that may be near-twins, judging by the sums over blocks."""
    alike = np.zeros(len(first), dtype=bool)
    for start in range(0, len(first), ENTRIES_AT_ONCE // BLOCKS):
        part = slice(start, start + ENTRIES_AT_ONCE // BLOCKS)
        u, v, lines = first[part], second[part], np.arange(len(first[part]))
        left, right = table[u], table[v]
        left[lines, v % BLOCKS] -= gains[part]
        right[lines, u % BLOCKS] -= gains[part]
        apart = np.abs(a[part, None] * left - b[part, None] * right).sum(axis=1)
        alike[part] = (a[part] + b[part]) * gains[part] > apart
    return alike


def _spare_listed(
    problem: SparseProblem, trials: Trials, home: Labels, beside: Beside | None, watch: Watch
) -> Ints:
    """Return by how much the gain of each pair outweighs all that could be lost."""
    rows = problem.neighbours
    length = np.diff(rows.starts)
    total = np.cumsum(length[trials.u] + length[trials.v])
    spare = np.zeros(len(trials.u), dtype=np.int64)
    start = 0
    while start < len(spare):
        watch.check()
        before = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, before + ENTRIES_AT_ONCE, side="right")))
        chunk = np.arange(start, end)
        spare[chunk] = _spare_of(problem, trials.chosen(chunk), home, beside)
        start = end
    return spare


def _spare_of(problem: SparseProblem, trials: Trials, home: Labels, beside: Beside | None) -> Ints:
    u, v = trials.u, trials.v
    gain, _, _ = _looked_up(problem, u, v)
    entries = _entries(problem, u, v)
    if problem.common is not None:
        entries = entries.chosen(home[entries.node] == home[u[entries.owner]])
    a, b, p, x, y = trials.weights.T
    loss = np.zeros(len(u), dtype=np.int64)
    at, k = entries.owner, entries.node
    with_u, with_v = (a + p + x)[at] * entries.gain_u, (b + p + y)[at] * entries.gain_v
    if beside is not None:
        best_u, best_v = beside.of(u[at], k, entries.blocks_v), beside.of(v[at], k, entries.blocks_u)
    elif problem.common is not None:
        best_u = best_v = problem.positive[k]
    else:
        best_u, best_v = np.maximum(entries.gain_u, 0), np.maximum(entries.gain_v, 0)
    in_a = with_u + b[at] * np.where(entries.never_v, best_u, -entries.gain_v)
    in_b = with_v + a[at] * np.where(entries.never_u, best_v, -entries.gain_u)
    in_a[entries.never_u] = 0
    in_b[entries.never_v] = 0
    np.add.at(loss, at, np.maximum(np.maximum(in_a, in_b), 0))
    if problem.common:
        rest = np.bincount(home, weights=problem.sizes).astype(np.int64)[home[u]]
        rest -= problem.sizes[u] + np.where(home[u] == home[v], problem.sizes[v], 0)
        np.subtract.at(rest, at, problem.sizes[k])
        of_u, of_v = problem.common * problem.sizes[u], problem.common * problem.sizes[v]
        each = np.maximum((a + p + x) * of_u - b * of_v, (b + p + y) * of_v - a * of_u)
        loss += np.maximum(each, 0) * rest
    spare: Ints = (a + b + p) * gain - loss
    return spare


@dataclass(frozen=True)
class _Entries:
    """Third nodes k of pairs u, v with which at least one of the two is listed."""

    owner: Labels
    """Which pair."""
    node: Labels
    """k."""
    gain_u: Ints
    gain_v: Ints
    """u_k and v_k; 0 if forbidden."""
    never_u: Bools
    never_v: Bools
    """Whether u or v forbids k."""

    @property
    def blocks_v(self) -> Bools:
        """Whether v forbids k, and u does not."""
        return self.never_v & ~self.never_u

    @property
    def blocks_u(self) -> Bools:
        """Whether u forbids k, and v does not."""
        return self.never_u & ~self.never_v

    def chosen(self, mask: Bools) -> "_Entries":
        """Keep some of them."""
        return _Entries(
            self.owner[mask],
            self.node[mask],
            self.gain_u[mask],
            self.gain_v[mask],
            self.never_u[mask],
            self.never_v[mask],
        )


def _entries(problem: SparseProblem, u: Labels, v: Labels) -> _Entries:
    rows, size = problem.neighbours, problem.size
    entries, owner = rows.of(v)
    node = rows.others[entries]
    kept = node != u[owner]
    entries, owner, node = entries[kept], owner[kept], node[kept]
    gain_v, never_v = problem.gains[rows.pairs[entries]], problem.forbidden[rows.pairs[entries]]
    gain_u, never_u, _ = _looked_up(problem, u[owner], node)
    more, owner_of_more = rows.of(u)
    node_of_more = rows.others[more]
    _, listed = rows.find(v[owner_of_more] * size + node_of_more)
    kept = ~listed & (node_of_more != v[owner_of_more])
    more, owner_of_more, node_of_more = more[kept], owner_of_more[kept], node_of_more[kept]
    other_v, other_never, _ = _looked_up(problem, v[owner_of_more], node_of_more)
    return _Entries(
        np.append(owner, owner_of_more),
        np.append(node, node_of_more),
        np.append(gain_u, problem.gains[rows.pairs[more]]),
        np.append(gain_v, other_v),
        np.append(never_u, problem.forbidden[rows.pairs[more]]),
        np.append(never_v, other_never),
    )


def _looked_up(problem: SparseProblem, nodes: Labels, partners: Labels) -> tuple[Ints, Bools, Labels]:
    """Return gain, forbiddance and position of pairs, listed or not."""
    rows = problem.neighbours
    entries, listed = rows.find(nodes * problem.size + partners)
    pairs = rows.pairs[entries]
    default = (problem.common or 0) * problem.sizes[nodes] * problem.sizes[partners]
    gains = np.where(listed, problem.gains[pairs], default)
    never = np.where(listed, problem.forbidden[pairs], problem.common is None)
    return gains, never, entries
