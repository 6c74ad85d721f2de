"""Leaves: nodes that cling to one other node, and what to do where several of them want its place.

A node v *clings* to u if more than half of its positive gains is with u, its *host*. It is a *leaf* if moving
it to u always gains (`reductions` has the rule): then the two are together in every optimum. That fails where
v forbids nodes that u allows, its *blockers*: one of them may be with u instead, as two lengths of one
mention often are. In what follows an optimum holds u in A + u, and w_uv is the gain of u and v, v_k that of v
and k.

**Guests.** Let the blockers of v forbid each other, so that A holds at most one of them, and let v be in B +
v, apart from u. If no blocker is in A, moving v to A is as for a leaf with no blocker counted. If r is, v
takes its place; either r goes where v was, and the nodes there that r forbids leave, or r leaves alone. That
changes the value by at least

    w_uv - w_ur - sum over k of max(0, in A: r_k - v_k, in B: v_k - r_k)     r goes to B
    w_uv - w_ur - sum over k of max(0, in A: r_k - v_k, in B: v_k)           r leaves alone

where k is in A only if u and r allow it (then v does, too, for r is its only blocker in A), and in B only if
v does; if r forbids k, best(k, v) stands for v_k - r_k: what k can gain beside v. Now that r is gone, other
nodes may come that r kept away, the *fellows* x of v: each is apart from u, and moving it to u changes the
value by at least what it does for a leaf, r not counted. If v gains by a move that no blocker is in the way
of, and, for every blocker, by one of the two others with all fellows after it, u and v are *together in every
optimum*.

In a text, r may be a phrase and v and x two mentions inside it: neither outweighs r, but both together do.

**Couples.** u and v forbid each other, s and t forbid each other; apart from that u and s forbid the same
nodes, and so do v and t. Let u, v be in the clusters A, B and s, t in C, D. Moving u, v to C, D changes the
value by D1, moving s, t to A, B by D2. Each third node k counts in both, once as what u (or v) gains with it
and once as what s (or t) does; let d_k = u_k - s_k and e_k = v_k - t_k. So unless A = C and B = D already,

    D1 + D2 >= 2 min(w_us, w_vt, w_us + w_vt - max(0, w_ut) - max(0, w_vs))
               - sum over k of max(|d_k|, |e_k|, |d_k - e_k|)

since D1 gains w_us if A and C differ, w_vt if B and D do, and loses w_ut only if A = D, w_vs only if B = C,
for which both must differ. If that is positive, one of the moves improves the optimum, so *every optimum* has
u with s and v with t. Hundreds of nearly equal choices between two mentions become a few that way.

**Rivals** keep only *some* optimum. v and v' forbid each other, forbid the same nodes otherwise, and both
gain most with u; there may be several v', which forbid each other, too. If u and v make a leaf with no v'
counted as blocking, every optimum has v or a v' beside u. Where it is v', they can swap places, which changes
the value by at least w_uv - w_uv' - sum |v_k - v'_k|, k other than u. If that is not negative for any v',
*some optimum has v beside u*. A swap moves v and a v' only, so rules that move different nodes, and no other
rule's u, may be applied together. Many mentions that one annotator gave two lengths are rivals; without the
rule each pair doubles the work.

No sum here wraps: best(k, v) adds up to at most the mass over any nodes k (`problem`), and what fellows gain
to half of it, as each has a gain with u of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.partition.watch import Watch

AT_ONCE = 1 << 21
"""How many gains are compared between two looks at the clock."""
Row = tuple[int, ...]
"""Of guests u, v and the fellows of v; of couples u, s, v, t; of rivals u, v and the rivals of v."""
Places = dict[str, list[Row]]
"""What one of the rules found, by its name."""


@dataclass(frozen=True)
class Clinging:
    """Pairs u, v with more than half of the positive gains of v; each v has at most one such u."""

    host: Labels
    """u."""
    node: Labels
    """v."""
    spare: Ints
    """By how much the gain of the pair outweighs everything else at v."""

    @classmethod
    def of(cls, problem: Problem, best: Ints) -> "Clinging":
        """Find the nodes that cling to another."""
        positive = np.maximum(problem.gains, 0)
        host, node = np.nonzero((positive > 0) & (2 * positive > positive.sum(axis=1)))
        spare = np.zeros(len(node), dtype=np.int64)
        for chunk in chunks(len(node), problem.size):
            spare[chunk] = spare_of(problem, best, host[chunk], node[chunk])
        return cls(host, node, spare)

    def leaves(self, problem: Problem) -> Bools:
        """Return the pairs whose gain outweighs everything else at one end."""
        together = np.zeros_like(problem.forbidden)
        u, v = self.host[self.spare > 0], self.node[self.spare > 0]
        together[u, v] = together[v, u] = True
        return together


def spare_of(problem: Problem, best: Ints, u: Labels, v: Labels) -> Ints:
    """Return by how much the gain of each pair outweighs everything else at its end v."""
    never = problem.forbidden[u]
    gain, theirs = problem.gains[u, v], problem.gains[v]
    loss = np.where(never, np.maximum(theirs, 0), np.abs(theirs)).sum(axis=1) - gain
    blocking = problem.forbidden[v] & ~never
    spare: Ints = gain - loss - np.where(blocking, best.T[u], 0).sum(axis=1)
    return spare


def chunks(count: int, size: int) -> Iterator[slice]:
    """Divide `count` rows into chunks that do not take much memory."""
    rows = max(1, AT_ONCE // max(1, size))
    return (slice(start, start + rows) for start in range(0, count, rows))


def find_places(
    problem: Problem, best: Ints, clinging: Clinging, watch: Watch | None = None, *, all_optima: bool = False
) -> Places:
    """Apply the first of the three rules that finds something; `all_optima` if no optimum may be lost."""
    guests = find_guests(problem, best, clinging, watch)
    if guests:
        return {"guests": guests}
    couples = find_couples(problem, clinging, watch)
    if couples:
        return {"couples": couples}
    rivalries = [] if all_optima else find_rivals(problem, best, clinging)
    return {"rivals": rivalries} if rivalries else {}


def joined_by(places: Places, size: int) -> Bools:
    """Mark the pairs that a rule puts together: the first two nodes of a row, for couples the others, too."""
    together = np.zeros((size, size), dtype=bool)
    for kind, rows in places.items():
        for row in rows:
            for u, v in (row[:2], row[2:])[: 2 if kind == "couples" else 1]:
                together[u, v] = together[v, u] = True
    return together


@dataclass(frozen=True)
class _Blocked:
    """A node that would be a leaf if the nodes were gone that keep it from its host."""

    host: int
    node: int
    blockers: Labels
    spare: int
    """What moving it to its host gains at least where no blocker is there."""


def find_guests(problem: Problem, best: Ints, clinging: Clinging, watch: Watch | None = None) -> list[Row]:
    """Find pairs u, v that every optimum has together, although v has blockers."""
    waiting: dict[tuple[int, int], list[_Blocked]] = {}
    blocked = _blocked(problem, best, clinging)
    for each in blocked:
        if len(each.blockers) == 1:
            waiting.setdefault((each.host, int(each.blockers[0])), []).append(each)
    guests: list[Row] = []
    for each in blocked:
        if watch is not None:
            watch.check()
        u, v, fellows = each.host, each.node, list[int]()
        if not _forbid_each_other(problem, each.blockers):
            continue
        for r in each.blockers.tolist():
            others = [other for other in waiting.get((u, r), ()) if other.node != v]
            more = sum(other.spare for other in others) + int(problem.gains[u, v] - problem.gains[u, r])
            if more <= 0 or more <= _least_loss(problem, best, u, v, r):
                break
            fellows += (other.node for other in others)
        else:
            guests.append((u, v, *dict.fromkeys(fellows)))
    return guests


def _blocked(problem: Problem, best: Ints, clinging: Clinging) -> list[_Blocked]:
    """Return the nodes that are no leaves, but would be without their blockers."""
    found: list[_Blocked] = []
    rows = zip(clinging.host.tolist(), clinging.node.tolist(), clinging.spare.tolist(), strict=True)
    for u, v, spare in rows:
        blockers = np.flatnonzero(problem.forbidden[v] & ~problem.forbidden[u])
        unblocked = spare + int(best[blockers, u].sum())
        if len(blockers) and unblocked > 0:
            found.append(_Blocked(u, v, blockers, unblocked))
    return found


def _forbid_each_other(problem: Problem, nodes: Labels) -> bool:
    pairs = problem.forbidden[np.ix_(nodes, nodes)]
    return int(np.count_nonzero(pairs)) == len(nodes) * (len(nodes) - 1)


def _least_loss(problem: Problem, best: Ints, u: int, v: int, r: int) -> int:
    """Return what is lost with third nodes at most if v takes the place of r beside u, the better way."""
    gains, forbidden = problem.gains, problem.forbidden
    beside_u = np.where(forbidden[u] | forbidden[r], 0, gains[r] - gains[v])
    swapped = np.where(forbidden[r], best[:, v], gains[v] - gains[r])
    losses = [np.maximum(np.where(forbidden[v], 0, left), beside_u) for left in (swapped, gains[v])]
    for loss in losses:
        loss[[u, v, r]] = 0
    return min(int(np.maximum(loss, 0).sum()) for loss in losses)


def find_couples(problem: Problem, clinging: Clinging, watch: Watch | None = None) -> list[Row]:
    """Find couples that cling to one host, of which every optimum decides several alike."""
    positive = np.maximum(problem.gains, 0).sum(axis=1)
    found: list[Row] = []
    for (host, _, _), couples in _alike(problem, clinging, watch).items():
        if len(couples) > 1:
            nodes = np.array(couples)
            order = np.lexsort((*positive[nodes].T, *problem.gains[host, nodes].T))
            found += [
                (u, s, v, t)
                for (u, v), (s, t) in pairwise(nodes[order].tolist())
                if len({u, s, v, t}) == 4 and _align(problem, u, s, v, t)
            ]
    return found


def _alike(
    problem: Problem, clinging: Clinging, watch: Watch | None
) -> dict[tuple[int, bytes, bytes], list[tuple[int, int]]]:
    """Group pairs that forbid each other and cling to one host by what else they forbid, both ways round."""
    hosts = dict(zip(clinging.node.tolist(), clinging.host.tolist(), strict=True))
    groups: dict[tuple[int, bytes, bytes], list[tuple[int, int]]] = {}
    for u, host in hosts.items():
        if watch is not None:
            watch.check()
        for v in np.flatnonzero(problem.forbidden[u]).tolist():
            if hosts.get(v) == host:
                ours, theirs = problem.forbidden[u].copy(), problem.forbidden[v].copy()
                ours[v] = theirs[u] = False
                groups.setdefault((host, ours.tobytes(), theirs.tobytes()), []).append((u, v))
    return groups


def _align(problem: Problem, u: int, s: int, v: int, t: int) -> bool:
    """Return whether every optimum has u with s and v with t, where u, v and s, t forbid each other."""
    gains = problem.gains
    us, vt = int(gains[u, s]), int(gains[v, t])
    crossed = max(0, int(gains[u, t])) + max(0, int(gains[v, s]))
    d, e = gains[u] - gains[s], gains[v] - gains[t]
    loss = np.maximum(np.maximum(np.abs(d), np.abs(e)), np.abs(d - e))
    loss[[u, s, v, t]] = 0
    return 2 * min(us, vt, us + vt - crossed) > int(loss.sum())


def find_rivals(problem: Problem, best: Ints, clinging: Clinging) -> list[Row]:
    """Find pairs u, v that some optimum has together, although rivals of v cling to u, too."""
    barred = problem.forbidden | np.eye(problem.size, dtype=bool)
    guests: dict[tuple[int, bytes], list[int]] = {}
    for v, u in sorted(zip(clinging.node.tolist(), clinging.host.tolist(), strict=True)):
        guests.setdefault((u, barred[v].tobytes()), []).append(v)
    rivalries: list[Row] = []
    moved: set[int] = set()
    hosts: set[int] = set()
    for (u, _), nodes in guests.items():
        if len(nodes) > 1 and u not in moved and hosts.isdisjoint(nodes) and moved.isdisjoint(nodes):
            rivalry = _rivalry(problem, best, u, nodes)
            if rivalry is not None:
                rivalries.append(rivalry)
                moved.update(rivalry[1:])
                hosts.add(u)
    return rivalries


def _rivalry(problem: Problem, best: Ints, u: int, nodes: list[int]) -> Row | None:
    """Choose one of some nodes that forbid each other, and otherwise the same, to be with u."""
    for v in sorted(nodes, key=lambda node: (-int(problem.gains[u, node]), node)):
        rivals = [rival for rival in nodes if rival != v and _may_swap(problem, u, v, rival)]
        if rivals:
            spare = int(spare_of(problem, best, np.array([u]), np.array([v]))[0])
            if spare + int(best[rivals, u].sum()) > 0:
                return u, v, *rivals
    return None


def _may_swap(problem: Problem, u: int, v: int, rival: int) -> bool:
    """Return whether v may always take the place of its rival beside u."""
    gains = problem.gains
    change = np.abs(gains[v] - gains[rival])
    return bool(gains[u, v] - gains[u, rival] >= change.sum() - change[u])
