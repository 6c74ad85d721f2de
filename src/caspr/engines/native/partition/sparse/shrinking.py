"""Reductions of large problems, in time near the number of listed pairs.

The argument is that of `reductions`, with two more changes that cannot improve an optimum: u or v may also be
taken out alone. Let the five changes

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

and the rules of `reductions` are those with other weights: near-twin (1, 1, 0, 0, 0), leaf (0, 1, 0, 0, 0),
heavy edge (0, 0, 1, 0, 0). With c < 0, nodes of other components are in neither A nor B (`problem`).

A component in which no pair loses and none is forbidden is one cluster in every optimum: only that reaches
the sum of its positive gains, which connect it.

Before any row is looked at, sums of positive gains over a few blocks of nodes exclude most pairs: for a, b
> 0 the sum over k is at least the sum over blocks of |a P(u) - b P(v)|, P being the sum of the positive
gains with a block. All found in one round is applied together, as all inequalities are strict.

No number wraps: sums are at most 6 masses times the largest weight, and rules with large weights are left
out where that could exceed 2^62.
"""

from dataclasses import dataclass

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, firsts, joined
from caspr.engines.native.partition.sparse.beside import Beside, heavy_non_edges
from caspr.engines.native.partition.sparse.blocks import blocks
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import ExpiredError, Watch, checked

BLOCKS = 16
"""How many blocks of nodes the quick test adds up gains over."""
AT_ONCE = 1 << 20
"""How many entries of rows are looked at between two looks at the clock."""
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

    one: Labels
    """u of each pair."""
    two: Labels
    """v of each pair."""
    weights: Ints
    """a, b, p, x, y of each, one row for each pair."""

    def chosen(self, which: Labels | Bools) -> "Trials":
        """Keep some of them."""
        return Trials(self.one[which], self.two[which], self.weights[which])


def shrink(problem: SparseProblem, watch: Watch, *, all_optima: bool = False) -> Shrunk:
    """Apply the rules until none applies or a limit is reached; keep all optima."""
    labels, constant = np.arange(problem.size), 0
    try:
        while problem.size > 1 and len(problem.first):
            watch.check()
            problem = problem.without(heavy_non_edges(problem, watch)) if problem.common is None else problem
            problem.index(watch)
            one, two = _whole_components(problem, watch)
            if not len(one):
                one, two = _together(problem, watch, ties=all_optima)
            if not len(one):
                break
            step = joined(problem.size, one, two)
            problem, gained = problem.contract(step, watch)
            labels, constant = step[labels], constant + gained
    except ExpiredError:
        pass
    return Shrunk(problem, labels, constant)


def _whole_components(problem: SparseProblem, watch: Watch) -> tuple[Labels, Labels]:
    """Return pairs that put together the components in which no pair loses and none is forbidden."""
    home = problem.components()
    count = int(home.max(initial=-1)) + 1
    held, fine = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    lost = np.zeros(problem.size, dtype=np.intp)
    for part in blocks(len(problem.first), watch):
        one, two = problem.first[part], problem.second[part]
        gains, within = problem.gains[part], home[one]
        inside = within == home[two]
        held += np.bincount(within[inside], minlength=count)
        good = inside & (gains >= 0) & ~problem.forbidden[part]
        fine += np.bincount(within[good], minlength=count)
        idle = gains <= 0
        lost += np.bincount(np.append(one[idle], two[idle]), minlength=problem.size)
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


def _together(problem: SparseProblem, watch: Watch, *, ties: bool) -> tuple[Labels, Labels]:
    """Return pairs that every optimum puts together."""
    trials = _trials(problem, watch)
    home = problem.components(ties=ties)
    spare = _spare(problem, trials, home, None, watch)
    trials = trials.chosen(spare > 0)
    if problem.common is None and len(trials.one):
        # What it takes to send nodes off was counted at its least; only here is it worked out.
        spare = _spare(problem, trials, home, Beside(problem, watch), watch)
        trials = trials.chosen(spare > 0)
    return trials.one, trials.two


def _trials(problem: SparseProblem, watch: Watch) -> Trials:
    """Return the pairs that quick tests leave, with the rules to try on them."""
    one, two, gains = _pairs_to_try(problem)
    table = _block_sums(problem, watch)
    found: list[Trials] = []
    for start in checked(range(0, max(1, len(one)), TRIED), watch):
        part = slice(start, start + TRIED)
        found += _trials_of(problem, table, one[part], two[part], gains[part])
    return Trials(
        np.concatenate([trials.one for trials in found]),
        np.concatenate([trials.two for trials in found]),
        np.concatenate([trials.weights for trials in found]),
    )


def _trials_of(problem: SparseProblem, table: Ints, one: Labels, two: Labels, gains: Ints) -> list[Trials]:
    """Return which of some pairs to try each rule on."""
    sums, sizes = problem.positive, problem.sizes
    at_one, at_two = sums[one] - gains, sums[two] - gains
    found = [
        _with_weights(one, two, gains > np.maximum(at_one, at_two), (0, 0, 1, 0, 0)),
        _with_weights(one, two, gains > at_two, (0, 1, 0, 0, 0)),
        _with_weights(one, two, gains > at_one, (1, 0, 0, 0, 0)),
    ]
    unit = np.ones(len(one), dtype=np.int64)
    found.append(_with_weights(one, two, _alike(table, one, two, gains, unit, unit), (1, 1, 0, 0, 0)))
    if problem.common is not None and 6 * problem.mass * int(sizes.max(initial=1)) < 1 << 62:
        common = np.gcd(sizes[one], sizes[two])
        of_one, of_two = sizes[one] // common, sizes[two] // common
        none = np.zeros_like(unit)
        alike = (of_one != of_two) & _alike(table, one, two, gains, of_two, of_one)
        found += [
            Trials(one[mask], two[mask], np.column_stack([weights[mask] for weights in columns]))
            for mask, columns in (
                (alike, (of_two, of_one, none, none, none)),
                (gains > at_two, (none, of_one, none, of_two, none)),
                (gains > at_one, (of_two, none, none, none, of_one)),
            )
        ]
    return found


def _with_weights(one: Labels, two: Labels, mask: Bools, weights: tuple[int, ...]) -> Trials:
    count = int(np.count_nonzero(mask))
    return Trials(one[mask], two[mask], np.tile(np.array(weights, dtype=np.int64), (count, 1)))


def _pairs_to_try(problem: SparseProblem) -> tuple[Labels, Labels, Ints]:
    """Return the listed pairs that gain; where all others gain as well, also a chain through all nodes."""
    gaining = problem.gains > 0
    one, two, gains = problem.first[gaining], problem.second[gaining], problem.gains[gaining]
    if problem.common is None or problem.common <= 0:
        return one, two, gains
    order = np.argsort(problem.positive, kind="stable")
    first, second = np.minimum(order[1:], order[:-1]), np.maximum(order[1:], order[:-1])
    _, known = problem.neighbours.find(first * problem.size + second)
    first, second = first[~known], second[~known]
    more = problem.common * problem.sizes[first] * problem.sizes[second]
    return np.append(one, first), np.append(two, second), np.append(gains, more)


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
        one, two = problem.first[part], problem.second[part]
        gains = np.maximum(problem.gains[part], 0) - common * problem.sizes[one] * problem.sizes[two]
        np.add.at(table, (one, two % BLOCKS), gains)
        np.add.at(table, (two, one % BLOCKS), gains)
    return table


def _alike(table: Ints, one: Labels, two: Labels, gains: Ints, a: Ints, b: Ints) -> Bools:
    """Find the pairs that may be near-twins, judging by the sums over blocks."""
    alike = np.zeros(len(one), dtype=bool)
    for start in range(0, len(one), AT_ONCE // BLOCKS):
        part = slice(start, start + AT_ONCE // BLOCKS)
        u, v, lines = one[part], two[part], np.arange(len(one[part]))
        left, right = table[u], table[v]
        left[lines, v % BLOCKS] -= gains[part]
        right[lines, u % BLOCKS] -= gains[part]
        apart = np.abs(a[part, None] * left - b[part, None] * right).sum(axis=1)
        alike[part] = (a[part] + b[part]) * gains[part] > apart
    return alike


def _spare(problem: SparseProblem, trials: Trials, home: Labels, beside: Beside | None, watch: Watch) -> Ints:
    """Return by how much the gain of each pair outweighs all that could be lost."""
    rows = problem.neighbours
    length = np.diff(rows.starts)
    total = np.cumsum(length[trials.one] + length[trials.two])
    spare = np.zeros(len(trials.one), dtype=np.int64)
    start = 0
    while start < len(spare):
        watch.check()
        before = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, before + AT_ONCE, side="right")))
        chunk = np.arange(start, end)
        spare[chunk] = _spare_of(problem, trials.chosen(chunk), home, beside)
        start = end
    return spare


def _spare_of(problem: SparseProblem, trials: Trials, home: Labels, beside: Beside | None) -> Ints:
    one, two = trials.one, trials.two
    gain, _, _ = _looked_up(problem, one, two)
    entries = _entries(problem, one, two)
    if problem.common is not None:
        entries = entries.chosen(home[entries.node] == home[one[entries.owner]])
    a, b, p, x, y = trials.weights.T
    loss = np.zeros(len(one), dtype=np.int64)
    at, k = entries.owner, entries.node
    with_u, with_v = (a + p + x)[at] * entries.gain_u, (b + p + y)[at] * entries.gain_v
    if beside is not None:
        best_u, best_v = beside.of(one[at], k, entries.blocks_v), beside.of(two[at], k, entries.blocks_u)
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
        rest = np.bincount(home, weights=problem.sizes).astype(np.int64)[home[one]]
        rest -= problem.sizes[one] + np.where(home[one] == home[two], problem.sizes[two], 0)
        np.subtract.at(rest, at, problem.sizes[k])
        of_u, of_v = problem.common * problem.sizes[one], problem.common * problem.sizes[two]
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


def _entries(problem: SparseProblem, one: Labels, two: Labels) -> _Entries:
    rows, size = problem.neighbours, problem.size
    places, owner = rows.of(two)
    node = rows.others[places]
    kept = node != one[owner]
    places, owner, node = places[kept], owner[kept], node[kept]
    gain_v, never_v = problem.gains[rows.pairs[places]], problem.forbidden[rows.pairs[places]]
    gain_u, never_u, _ = _looked_up(problem, one[owner], node)
    more, owner_of_more = rows.of(one)
    node_of_more = rows.others[more]
    _, listed = rows.find(two[owner_of_more] * size + node_of_more)
    kept = ~listed & (node_of_more != two[owner_of_more])
    more, owner_of_more, node_of_more = more[kept], owner_of_more[kept], node_of_more[kept]
    other_v, other_never, _ = _looked_up(problem, two[owner_of_more], node_of_more)
    return _Entries(
        np.append(owner, owner_of_more),
        np.append(node, node_of_more),
        np.append(gain_u, problem.gains[rows.pairs[more]]),
        np.append(gain_v, other_v),
        np.append(never_u, problem.forbidden[rows.pairs[more]]),
        np.append(never_v, other_never),
    )


def _looked_up(problem: SparseProblem, nodes: Labels, others: Labels) -> tuple[Ints, Bools, Labels]:
    """Return gain, forbiddance and position of pairs, listed or not."""
    rows = problem.neighbours
    places, listed = rows.find(nodes * problem.size + others)
    pairs = rows.pairs[places]
    default = (problem.common or 0) * problem.sizes[nodes] * problem.sizes[others]
    gains = np.where(listed, problem.gains[pairs], default)
    never = np.where(listed, problem.forbidden[pairs], problem.common is None)
    return gains, never, places
