"""Recompute the bound of a proof: statements that make a graph smaller, inequalities that bound what is left.

A proof is a list of statements about a graph (`graph`). Each is checked against the graph as it is by then;
the bound is what nodes put together gain, plus the bound of what is left. An *optimum* is a clustering that
meets all demands and gains most. Some optimum has each cluster within one *component*, what positive gains
and demands connect: to cut a cluster there loses nothing. Only such are meant, and no rule is about a
component with demands, where moving a node may leave one unmet.

**together** u, v and weights a, b, p, x, y >= 0. Let an optimum hold u in A + u and v in B + v, apart. It
does not get better if u moves to B, v moves to A, both leave as a pair, u leaves alone, or v leaves alone.
With these weights the five changes add up to at most 0, but to at least

    (a + b + p) w_uv - sum over k of max(0, in A: (a + p + x) w_uk - b w_vk, in B: (b + p + y) w_vk - a w_uk),

where k is any other node of the component; in A only if u allows it, in B only if v does. A node k in A
that v forbids leaves before v comes, which loses at most best(k, u), what k gains with nodes that u allows:
then best(k, u) takes the place of -w_vk; and likewise in B. If the sum is positive, *every* optimum has u
and v together, so all such pairs of one statement become one.

**apart** u, v: if -w_uv > best(u, v) or best(v, u), that node leaves any cluster with the other, so *every*
optimum has them apart.

**cores**: sets of nodes with weights that *every* optimum holds together (`cores`).

**rivals** u, v, r, ...: v and every r forbid each other and otherwise the same nodes, and u allows them: no
two of them share a cluster. If moving v to u as above gains, no r counted, every optimum has v or an r beside
u. If it is an r, the two can swap places, which changes the value by at least w_uv - w_ur - sum of
|w_vk - w_rk| over k other than u. If that is not negative for any r, *some* optimum has v beside u. A swap
moves v and an r only, so several of these hold at once if none moves what another moves or moves to.

**guests** u, v, x, ...: the nodes that v forbids and u allows, its *blockers*, forbid each other, so at most
one of them, r, is in A + u. Moving v to u must gain, no blocker counted. If r is there, it changes the value
by at least w_uv - w_ur - sum over k of max(0, in A: w_rk - w_vk, in B: w_vk - w_rk) that v and r swap places,
where best(k, v) stands for the last difference if r forbids k, which leaves then; or, if r leaves alone, by
the same with w_vk in its place. Here k is in A only if u and r allow it (then v does), and in B only if v
does. Then any x that forbids r may move to u, which it was apart from: that adds at least what moving it
gains, r not counted. If for every r one of these sums is positive, *every* optimum has u and v together.

**couples** u, s, v, t: u and v forbid each other, s and t forbid each other, and apart from that u forbids
what s does, v what t does. For u, v in A, B and s, t in C, D, moving u, v to C, D and moving s, t to A, B
change the value, if A and C or B and D differ, by at least twice the least of w_us, w_vt and w_us + w_vt -
max(0, w_ut) - max(0, w_vs), minus the sum of max(|d|, |e|, |d - e|) over k with d = w_uk - w_sk and e = w_vk
- w_tk: each k counts once on either side of each difference. If that is positive, *every* optimum has u with
s and v with t.

**forced**: a home whose demand has only one partner left is with it in every clustering that meets it.

**goal** g, with inequalities: these give a bound, and for each pair a reduced gain r (below). A clustering
that has a pair together with r < 0, or apart with r > 0, gains at most the bound minus |r|; one whose first
partner has a smaller reduced gain than the best, at most the bound minus the difference. Where that is
below g, the pair is decided, and the partner need not be considered, for clusterings of g and more; all
others gain at most the largest possible value below g. A partner whose link costs something is kept if a
later one that is kept shares its link: else that link might be paid by another demand. Unless it **joins**,
pairs are put apart only. If pairs put together are forbidden, or a demand has no partner left, no
clustering gains g.

**pair**: it is in one cluster, or it is not. The larger bound counts.

**parts** that no positive gain and no demand connects with each other or with other nodes: their bounds add
up. In the proof of a part its i-th node has the number i.

**all**: there are so few nodes that all clusterings are tried.

**Inequalities.** A *star* with centre c and leaves T says

    sum of x_ct over t in T  -  sum of x_st over pairs of T  <=  1,    x = 1 for pairs in one cluster, else 0.

Every clustering satisfies it: with m leaves in the cluster of c, the left side is at most m - m (m - 1) / 2.
A *two-partition* with disjoint sets S and T says

    sum of x_st over S x T  -  sum of x over pairs of S  -  sum of x over pairs of T  <=  min(|S|, |T|).

A cluster with s nodes of S and t of T adds (s + t - (s-t)^2) / 2 <= min(s, t) to the left side. A *pentagon*,
five nodes around a ring, says

    sum of x over its sides  -  sum of x over its diagonals  <=  2.

Two neighbouring sides and the diagonal between their ends are a star: the five of these add up to twice the
sides minus once the diagonals <= 5, so twice the left side is at most 5, and the left side a whole number.

With y_j = 1 for the first partner j of a demand with home m, just one y_j is 1, and

    y_j <= x_mj                 a *tie*;
    y_j <= z                    *shared*: a link that costs something and that two demands could use, z = 1 if
                                it is used;
    a star + multiples of y_j <= 1   a *partner star*: if j is the first partner, no partner before j is with
                                m or j. So 1 y_j may be added if the centre is m or j and all leaves are
                                partners before j, or if the centre is a partner before j and m and j are
                                leaves; 2 y_j if there are no other leaves.

Multipliers of at least 0, in units of 2^-shift, give by weak duality, with b the right sides,

    gain  <=  sum of b times multipliers  +  sum over pairs of max(0, r)  +  sum over demands of the largest
              r of its partners  +  sum over shared links of max(0, r),

where r is what a pair, partner or link gains minus what the inequalities take from it. The gain is a multiple
of the greatest common divisor of all gains and costs, so the bound is rounded down to one. An inequality may
name nodes that became one (x = 1 between them) and nodes that are not there (x = 0).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import gcd
from typing import Any

from caspr.proof.verify.cores import ProvenCore
from caspr.proof.verify.facts import Proof, read_integer, require, required
from caspr.proof.verify.graph import Link, NodePair, ProofGraph, ordered, summed

FINEST = 60
"""The finest unit of multipliers is 2^-60: `--certificate` writes at most 20."""
MOVE = (0, 1, 0, 0, 0)
"""The weights by which v moves to u, and nothing else changes."""
MOST_TRIED = 8
"""How many nodes a graph may have for all its clusterings to be tried."""


def bound_tree(graph: ProofGraph, proof: Sequence[Proof]) -> int | None:
    """Bound what a clustering gains; `None` if none meets the demands. The graph is used up.

    >>> triangle = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
    >>> bound_tree(ProofGraph.of(triangle), [])
    4
    >>> bound_tree(ProofGraph.of(triangle), [{"shift": 0, "stars": [[2, 0, 1, 2]]}])
    2
    """
    gained, floors = 0, list[int]()
    for statement in proof:
        if "goal" in statement:
            floor = _largest_below(graph, read_integer(statement["goal"]))
            floors.append(gained + floor)
            more = _fix(graph, statement)
            if more is None:
                return max(floors)
            gained += more
        elif "pair" not in statement and not STEPS.keys().isdisjoint(statement):
            [(kind, rows)] = statement.items()
            gained += STEPS[kind](graph, [list(map(read_integer, row)) for row in rows])
        else:
            rest = _bound_end(graph, statement)
            break
    else:
        rest = ProvenBound.of(graph, {}).value
    if rest is not None:
        floors.append(gained + rest)
    return max(floors, default=None)


def _bound_end(graph: ProofGraph, statement: Proof) -> int | None:
    """Bound what is left by the last statement."""
    if "pair" in statement:
        return _bound_branches(graph, statement)
    if "parts" in statement:
        return _bound_parts(graph, statement["parts"])
    if "all" in statement:
        return _try_all(graph)
    return ProvenBound.of(graph, statement).value


def _bound_branches(graph: ProofGraph, statement: Proof) -> int | None:
    """Decide a pair both ways."""
    first, second = (graph.find(read_integer(node)) for node in statement["pair"])
    require(first in graph.sizes and second in graph.sizes and first != second, "a pair is not there")
    gain = graph.gain(first, second)
    bounds: list[int] = []
    if gain is not None:
        contracted = graph.copy()
        contracted.join(first, second)
        together = bound_tree(contracted, statement["together"])
        bounds += [] if together is None else [gain + together]
    graph.forbid(first, second)
    graph.forget_forbidden()
    apart = bound_tree(graph, statement["apart"])
    bounds += [] if apart is None else [apart]
    return max(bounds, default=None)


def _bound_parts(graph: ProofGraph, parts: Sequence[Any]) -> int | None:
    """Bound independent parts, and what is in none of them by its positive gains."""
    number_of: dict[int, int] = {}
    listed = [([read_integer(node) for node in nodes], proof) for nodes, proof in parts]
    for number, (nodes, _) in enumerate(listed):
        for node in nodes:
            require(node in graph.sizes and node not in number_of, "a node is in two parts, or in none")
            number_of[node] = number
    linked = graph.linked()
    for node in graph.sizes:
        near = {neighbour for neighbour, _ in graph.positive(node)} | linked.get(node, set())
        alone = all(number_of.get(neighbour) == number_of.get(node) for neighbour in near)
        require(alone, "parts of a graph are not independent")
    bounds = [bound_tree(graph.restrict(nodes), proof) for nodes, proof in listed]
    rest = [node for node in graph.sizes if node not in number_of]
    require(not any(node in linked for node in rest), "a demand is in no part")
    outside = sum(gain for node in rest for _, gain in graph.positive(node)) // 2
    return summed((outside, *bounds))


def _try_all(graph: ProofGraph) -> int | None:
    """Try all clusterings of a few nodes."""
    nodes = sorted(graph.sizes)
    require(len(nodes) <= MOST_TRIED, "there are too many nodes to try all clusterings")

    def tried(position: int, clusters: list[list[int]], gained: int) -> Iterator[int]:
        if position == len(nodes):
            cost = _cost(graph, clusters)
            if cost is not None:
                yield gained - cost
            return
        node = nodes[position]
        for number, cluster in enumerate([*clusters, []]):
            gain = summed(graph.gain(node, member) for member in cluster)
            if gain is not None:
                larger = [*clusters[:number], [*cluster, node], *clusters[number + 1 :]]
                yield from tried(position + 1, larger, gained + gain)

    return max(tried(0, [], 0), default=None)


def _cost(graph: ProofGraph, clusters: Sequence[Sequence[int]]) -> int | None:
    """Return what the links with first partners cost; `None` if a demand is not met."""
    home = {node: number for number, cluster in enumerate(clusters) for node in cluster}
    paid: dict[Link, int] = {}
    for demand in graph.demands.values():
        beside = (rank for rank, partner in enumerate(demand.partners) if home[partner] == home[demand.home])
        first = next(beside, None)
        if first is None:
            return None
        paid[demand.links[first]] = demand.costs[first]
    return sum(paid.values())


def _step_of(graph: ProofGraph) -> int:
    """Return the greatest common divisor of all gains and costs; 1 if all are 0."""
    costs = (cost for demand in graph.demands.values() for cost in demand.costs)
    gains = (gain for row in graph.rows.values() for gain in row.values() if gain is not None)
    sizes = 0 if graph.common is None else gcd(*graph.sizes.values()) ** 2 * graph.common
    return gcd(sizes, *gains, *costs) or 1


def _largest_below(graph: ProofGraph, goal: int) -> int:
    """Return the largest value below a goal that a clustering can have."""
    step = _step_of(graph)
    return (goal - 1) // step * step


@dataclass
class ProvenBound:
    """What inequalities and their multipliers say of a graph, in units of 2^-shift."""

    graph: ProofGraph
    shift: int
    total: int = 0
    """What multipliers come to with the right sides, and with pairs that are together."""
    taken: dict[NodePair, int] = field(default_factory=dict)
    """What is taken from the gain of each pair."""
    chosen: dict[int, list[int]] = field(default_factory=dict)
    """The reduced gain of each partner as the first, for every demand."""
    links: dict[Link, int] = field(default_factory=dict)
    """The reduced gains of shared links."""

    @classmethod
    def of(cls, graph: ProofGraph, statement: Proof) -> "ProvenBound":
        """Read the inequalities of a statement."""
        shift = read_integer(statement.get("shift", 0))
        require(0 <= shift <= FINEST, "the unit of the multipliers is absurd")
        bound = cls(graph, shift)
        bound._open_demands()
        for multiplier, centre, *leaves in _rows(statement, "stars"):
            bound._add_star(multiplier, centre, leaves)
        for weight, *sides in statement.get("two_partitions", ()):
            bound._add_two_partition(read_integer(weight), *(list(map(read_integer, side)) for side in sides))
        for multiplier, *ring in _rows(statement, "pentagons"):
            bound._add_pentagon(multiplier, ring)
        for multiplier, number, centre, *leaves in _rows(statement, "partner_stars"):
            bound._add_partner_star(multiplier, number, centre, leaves)
        for multiplier, number, partner in _rows(statement, "ties"):
            demand, rank = bound._partner(number, partner)
            require(demand.partners[rank] != demand.home, "a tie is about a partner inside its home")
            bound.chosen[number][rank] -= multiplier
            bound._take(demand.home, demand.partners[rank], -multiplier)
        for multiplier, number, partner in _rows(statement, "shared"):
            demand, rank = bound._partner(number, partner)
            bound.chosen[number][rank] -= multiplier
            bound.links[demand.links[rank]] += multiplier
        return bound

    @property
    def hopeless(self) -> bool:
        """Whether a demand has no partner."""
        return any(not chosen for chosen in self.chosen.values())

    @property
    def scaled(self) -> int:
        """The bound."""
        pairs = sum(max(gain, 0) for gain in self._gaining())
        demands = sum(map(max, self.chosen.values()))
        return self.total + pairs + demands + sum(max(gain, 0) for gain in self.links.values())

    @property
    def value(self) -> int | None:
        """The bound as a value that a clustering can have; `None` if none meets the demands."""
        if self.hopeless:
            return None
        step = _step_of(self.graph)
        return (self.scaled >> self.shift) // step * step

    def reduced(self, first: int, second: int) -> int | None:
        """Return the reduced gain of a pair; `None` if it is forbidden."""
        gain = self.graph.gain(first, second)
        return None if gain is None else (gain << self.shift) - self.taken.get(ordered(first, second), 0)

    def _gaining(self) -> Iterator[int]:
        """Yield the reduced gains of all pairs that may have a positive one."""
        for first in self.graph.sizes:
            for second, gain in self.graph.positive(first):
                if first < second:
                    yield (gain << self.shift) - self.taken.get((first, second), 0)
        for (first, second), taken in self.taken.items():
            loss = self.graph.gain(first, second)
            if loss is not None and loss <= 0:
                yield (loss << self.shift) - taken

    def _open_demands(self) -> None:
        """Begin with what first partners cost, where two demands could pay one link apart from both."""
        shared = self.graph.shared()
        for number, demand in self.graph.demands.items():
            self.chosen[number] = []
            for link, cost in zip(demand.links, demand.costs, strict=True):
                self.chosen[number].append(0 if link in shared else -cost << self.shift)
                if link in shared:
                    self.links[link] = -cost << self.shift

    def _partner(self, number: int, partner: int) -> tuple[Any, int]:
        demand = self.graph.demands[number]
        return demand, demand.partners.index(self.graph.find(partner))

    def _take(self, u: int, v: int, amount: int) -> None:
        """Take an amount from the gain of a pair."""
        first, second = self.graph.find(u), self.graph.find(v)
        if first == second:
            self.total -= amount
        elif first in self.graph.sizes and second in self.graph.sizes:
            pair = ordered(first, second)
            self.taken[pair] = self.taken.get(pair, 0) + amount

    def _add_star(self, multiplier: int, centre: int, leaves: Sequence[int]) -> None:
        require(len({centre, *leaves}) == len(leaves) + 1, "an inequality is not a star")
        self.total += multiplier
        for leaf in leaves:
            self._take(centre, leaf, multiplier)
        for first, second in combinations(leaves, 2):
            self._take(first, second, -multiplier)

    def _add_two_partition(self, multiplier: int, left: Sequence[int], right: Sequence[int]) -> None:
        require(multiplier >= 0, "a multiplier is negative")
        require(len({*left, *right}) == len(left) + len(right), "an inequality is not a two-partition")
        self.total += multiplier * min(len(left), len(right))
        for first, second in product(left, right):
            self._take(first, second, multiplier)
        for first, second in (*combinations(left, 2), *combinations(right, 2)):
            self._take(first, second, -multiplier)

    def _add_pentagon(self, multiplier: int, ring: Sequence[int]) -> None:
        require(len({*ring}) == len(ring) == 5, "an inequality is not a pentagon")
        self.total += 2 * multiplier
        for corner in range(5):
            self._take(ring[corner - 1], ring[corner], multiplier)
            self._take(ring[corner - 2], ring[corner], -multiplier)

    def _add_partner_star(self, multiplier: int, number: int, centre: int, leaves: Sequence[int]) -> None:
        """Add a star of nodes as they are by now, for these are what the demand is about."""
        centre, *leaves = map(self.graph.find, (centre, *leaves))
        self._add_star(multiplier, centre, leaves)
        for rank, times in self.graph.demands[number].sharpens(centre, leaves):
            self.chosen[number][rank] -= times * multiplier


def _rows(statement: Proof, kind: str) -> Iterator[list[int]]:
    for row in statement.get(kind, ()):
        numbers = [read_integer(number) for number in row]
        require(numbers[0] >= 0, "a multiplier is negative")
        yield numbers


def _fix(graph: ProofGraph, statement: Proof) -> int | None:
    """Decide what clusterings that reach a goal decide alike; return what is gained by it.

    `None` if no clustering reaches it.
    """
    bound = ProvenBound.of(graph, statement)
    if bound.hopeless:
        return None
    gap = bound.scaled - (read_integer(statement["goal"]) << bound.shift)
    together, apart = list[NodePair](), list[NodePair]()
    for pair in combinations(sorted(graph.sizes), 2):
        reduced = bound.reduced(*pair)
        if reduced is not None and reduced > gap:
            together.append(pair)
        if reduced is not None and -reduced > gap:
            apart.append(pair)
    _forget(graph, bound, gap)
    for pair in apart:
        graph.forbid(*pair)
    graph.forget_forbidden()
    return _join_all(graph, together if statement["joins"] else [])


def _forget(graph: ProofGraph, bound: ProvenBound, gap: int) -> None:
    """Forget the partners that are first in no clustering that reaches a goal."""
    shared = graph.shared()
    for number, demand in list(graph.demands.items()):
        chosen = bound.chosen[number]
        kept: list[int] = []
        shares = False
        for rank in reversed(range(len(chosen))):
            if max(chosen) - chosen[rank] <= gap or (shares and demand.costs[rank] > 0):
                kept.append(rank)
                shares = shares or demand.links[rank] in shared
        graph.demands[number] = demand.keep(reversed(kept))


def _join_all(graph: ProofGraph, pairs: Sequence[NodePair]) -> int | None:
    """Join pairs; return what that gains, or `None` if one is forbidden by then."""
    gained = 0
    for pair in pairs:
        first, second = map(graph.find, pair)
        if first != second:
            if graph.gain(first, second) is None:
                return None
            gained += graph.join(first, second)
    return gained


class _Moves:
    """What moving nodes to other clusters changes, for the rules about one graph."""

    def __init__(self, graph: ProofGraph) -> None:
        self.graph = graph
        self.known: dict[NodePair, int] = {}
        self.components: dict[int, set[int]] = {}

    def component(self, node: int) -> set[int]:
        """Return the component of a node, once it is seen that it has no demands."""
        require(node in self.graph.sizes, "a rule is about a node that is not there")
        if node not in self.components:
            members = self.graph.component(node)
            homes = {demand.home for demand in self.graph.demands.values()}
            require(homes.isdisjoint(members), "a rule is about nodes with demands")
            self.components |= dict.fromkeys(members, members)
        return self.components[node]

    def best(self, node: int, beside: int) -> int:
        """Return what a node can gain at most in a cluster with another."""
        key = node, beside
        if key not in self.known:
            self.known[key] = sum(
                gain
                for partner, gain in self.graph.positive(node)
                if partner == beside or self.graph.gain(partner, beside) is not None
            )
        return self.known[key]

    def spare(self, u: int, v: int, weights: Sequence[int], rivals: Collection[int] = ()) -> int:
        """Return by how much five changes gain more than they can lose; rivals are left out."""
        graph, (a, b, p, x, y) = self.graph, weights
        inside = self.component(u)
        require(v in inside and u != v, "a rule is about nodes of two components")
        gain = required(graph.gain(u, v), "a rule is about a forbidden pair")
        listed = ((graph.rows[u].keys() | graph.rows[v].keys()) & inside) - {u, v}
        loss = sum(self._loss(u, v, k, weights) for k in listed if k not in rivals)
        if graph.common is not None:
            size = sum(graph.sizes[k] for k in inside) - sum(graph.sizes[k] for k in (*listed, u, v))
            of_u, of_v = graph.common * graph.sizes[u], graph.common * graph.sizes[v]
            loss += size * max(0, (a + p + x) * of_u - b * of_v, (b + p + y) * of_v - a * of_u)
        return (a + b + p) * gain - loss

    def _loss(self, u: int, v: int, k: int, weights: Sequence[int]) -> int:
        """Return what the changes can lose by a third node, in the cluster of u or of v."""
        a, b, p, x, y = weights
        of_u, of_v = self.graph.gain(u, k), self.graph.gain(v, k)
        loss = 0
        if of_u is not None:
            loss = (a + p + x) * of_u + b * (self.best(k, u) if of_v is None else -of_v)
        if of_v is not None:
            loss = max(loss, (b + p + y) * of_v + a * (self.best(k, v) if of_u is None else -of_u))
        return max(loss, 0)

    def takes_place(self, u: int, v: int, r: int, fellows: Sequence[int]) -> int:
        """Return what it gains at least that v, then its fellows, go to u, where r is that they forbid."""
        graph = self.graph
        swapped = alone = 0
        for k in self.component(u) - {u, v, r}:
            beside, own, theirs = (graph.gain(node, k) for node in (u, v, r))
            stays = 0 if beside is None or theirs is None else theirs - (own or 0)
            if own is None:
                leaves = goes = 0
            else:
                leaves, goes = own, self.best(k, v) if theirs is None else own - theirs
            alone += max(0, stays, leaves)
            swapped += max(stays, goes)  # one of these is 0, or they are opposites
        allowed = "a guest takes a place that nobody has"
        ahead = required(graph.gain(u, v), allowed) - required(graph.gain(u, r), allowed)
        more = sum(self.spare(u, x, MOVE, [r]) for x in fellows if graph.gain(x, r) is None)
        return ahead + more - min(alone, swapped)

    def aligned(self, u: int, s: int, v: int, t: int) -> bool:
        """Return whether every optimum has u with s and v with t, where u, v and s, t forbid each other."""
        graph, lost = self.graph, 0
        for k in self.component(u) - {u, s, v, t}:
            gains = [graph.gain(node, k) for node in (u, s, v, t)]
            if (gains[0] is None) != (gains[1] is None) or (gains[2] is None) != (gains[3] is None):
                return False
            one, same, other, alike = (gain or 0 for gain in gains)
            d, e = one - same, other - alike
            lost += max(abs(d), abs(e), abs(d - e))
        between = [graph.gain(*pair) for pair in ((u, s), (v, t), (u, t), (v, s))]
        us, vt, ut, vs = (required(gain, "couples forbid each other crosswise") for gain in between)
        return 2 * min(us, vt, us + vt - max(0, ut) - max(0, vs)) > lost

    def may_swap(self, u: int, v: int, rival: int) -> bool:
        """Return whether v may take the place of its rival beside u without loss."""
        graph = self.graph
        change = 0
        for k in self.component(u) - {u, v, rival}:
            own, theirs = graph.gain(v, k), graph.gain(rival, k)
            if (own is None) != (theirs is None):
                return False
            change += abs((own or 0) - (theirs or 0))
        beside, instead = graph.gain(u, v), graph.gain(u, rival)
        return beside is not None and instead is not None and beside - instead >= change


def _put_together(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join the pairs that a rule puts together in every optimum."""
    moves = _Moves(graph)
    for u, v, *weights in rows:
        require(len(weights) == 5 and min(weights) >= 0, "the weights of a rule are negative")
        require(moves.spare(u, v, weights) > 0, "a rule does not put two nodes together")
    return _joined(graph, rows)


def _put_cores(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join the sets of nodes that every optimum holds together."""
    moves, nodes = _Moves(graph), set[int]()
    for row in rows:
        require(len(row) > 2, "a core has no weights")
        core = ProvenCore.of(graph, moves.component(row[0]), row)
        require(nodes.isdisjoint(core.weights), "a node is in two cores")
        require(core.holds, "a core does not hold")
        nodes |= core.weights.keys()
    return sum(graph.join(*row[::2]) for row in rows)


def _put_rivals(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join the pairs of which some optimum has all together."""
    moves, moved, hosts = _Moves(graph), set[int](), set[int]()
    for u, v, *rivals in rows:
        require(moved.isdisjoint({u, v, *rivals}) and hosts.isdisjoint({v, *rivals}), "rivals move twice")
        require(moves.component(u) - {u, v} >= {*rivals}, "a rival is not there")
        require(all(graph.gain(v, rival) is None for rival in rivals), "rivals do not forbid each other")
        require(moves.spare(u, v, MOVE, rivals) > 0, "a rule does not put two nodes together")
        require(all(moves.may_swap(u, v, rival) for rival in rivals), "rivals may not swap")
        moved |= {v, *rivals}
        hosts.add(u)
    return _joined(graph, rows)


def _put_guests(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join pairs that every optimum has together, although one of them forbids what the other allows."""
    moves = _Moves(graph)
    for u, v, *fellows in rows:
        inside = moves.component(u)
        distinct = len({u, v, *fellows}) == len(fellows) + 2
        require(distinct and inside.issuperset({v, *fellows}), "a guest is not there")
        blockers = [
            k for k in sorted(inside - {u, v}) if graph.gain(v, k) is None and graph.gain(u, k) is not None
        ]
        apart = all(graph.gain(*pair) is None for pair in combinations(blockers, 2))
        require(apart, "nodes that keep a guest away do not forbid each other")
        require(moves.spare(u, v, MOVE, blockers) > 0, "a rule does not put two nodes together")
        taken = all(moves.takes_place(u, v, r, fellows) > 0 for r in blockers)
        require(taken, "a guest does not take the place of another")
    return _joined(graph, rows)


def _put_couples(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join the nodes of couples that every optimum decides alike."""
    moves = _Moves(graph)
    for u, s, v, t in rows:
        distinct = len({u, s, v, t}) == 4
        require(distinct and moves.component(u).issuperset({s, v, t}), "a couple is not there")
        require(graph.gain(u, v) is None is graph.gain(s, t), "a couple does not forbid each other")
        require(moves.aligned(u, s, v, t), "couples are not decided alike")
    return _joined(graph, [pair for row in rows for pair in (row[:2], row[2:])])


def _joined(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    return required(_join_all(graph, [(u, v) for u, v, *_ in rows]), "a rule joins a forbidden pair")


def _put_apart(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Forbid the pairs that every optimum has apart."""
    moves, pairs = _Moves(graph), list[NodePair]()
    for u, *partners in rows:
        for v in partners:
            require(moves.component(u) is not None is not moves.component(v), "a rule is about no nodes")
            gain = None if u == v else graph.gain(u, v)
            heavy = gain is not None and -gain > min(moves.best(u, v), moves.best(v, u))
            require(heavy, "a rule does not put two nodes apart")
            pairs.append((u, v))
    for pair in pairs:
        graph.forbid(*pair)
    return 0


def _put_forced(graph: ProofGraph, rows: Sequence[Sequence[int]]) -> int:
    """Join homes with the only partners that they have left."""
    gained = 0
    for pair in rows:
        home, partner = map(graph.find, pair)
        if home != partner:
            demands = (demand for demand in graph.demands.values() if demand.home == home)
            forced = any(demand.partners in ((partner,), ()) for demand in demands)
            require(forced, "a demand has more than one partner")
            if graph.gain(home, partner) is not None:
                gained += graph.join(home, partner)
    return gained


STEPS = {
    "apart": _put_apart,
    "together": _put_together,
    "cores": _put_cores,
    "guests": _put_guests,
    "couples": _put_couples,
    "rivals": _put_rivals,
    "forced": _put_forced,
}
"""The statements that make a graph smaller by a rule; each returns what is gained by it."""
