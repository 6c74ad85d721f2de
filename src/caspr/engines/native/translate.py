"""The way from mentions to nodes, and back: the only module of the search that knows what a mention is.

Mentions of one kind (equal signature) have equal gain with everything else. If that gain is positive among
themselves, every optimum holds them together unless they are forbidden with different others: twins, the
limit case of the near-twin rule in `reductions`. They become one node before any pair exists. A kind that
gains nothing, neither within itself nor with another, ends alone. Mentions that must be together form a
*bundle*, one node of several kinds. What happens to twins around mentions that must not stay alone is
explained at the end.

What a pair gains in one chain follows from its evidence (`task.pair_price`); a pair with an enforced
and free link gains all that omitting it would cost. A pair of kinds that nobody linked gains what a pair
without a link does that was seen by as many: the same for all if everybody saw everything.

Pairs with costs of rules (`task.own_rules`) depart from their kinds: their mentions are nodes of their own,
and their gains are written down one by one. A pair that gains by a rule has a link that the rule gives.

*Mentions with costs.* Let a rule charge c for a mention m that is in a chain (`Instance.chain_gains` -c). The
part has the constant -c and a node more, the *marker* of m, which gains c with m and must not be with
anything else: a clustering puts it there exactly if m is alone, and c is charged exactly if it is not. Let a
rule charge d for m in no chain (+d). In every solution m is alone, or used links hold its chain together; so
m is demanded, with its marker as one more partner, at the cost d, and the part has the constant d. A mention
that is in a chain in every solution only adds to the constant.

A part is what positive gains connect. When all optima are wanted, gains of 0 connect as well, if the
link can be used: a chain whose parts touch only by pairs of gain 0 that nobody linked, or whose links are
better left unused, is not connected.

No gain wraps. A coefficient is at most `LARGEST_COEFFICIENT` = 10^6, so a pair of mentions gains or loses at
most 10^6 (N + 1), and the pairs of a part of M mentions, counted twice, at most 10^6 (N + 1) M^2. A part for
which that bound (with the gains of this instance) exceeds `partition.problem.LARGEST_MASS` is refused before
any gain is multiplied: with twelve annotators and the largest coefficients, one of over 148,000 mentions.

**Demands.** A mention that a decision wants in some chain, without saying with which other, is *demanded* as
long as nothing else is in its bundle. In every solution used links hold its chain together, so one of them
ends in it: its partner is one of the mentions that an annotator linked it with. The demand of its node
(`partition.problem`) has all nodes with such a mention as partners, each at what its cheapest link costs
beyond leaving it unused.

*Order.* Partners are in the order of cost, then of node. Let a solution pay for the links that connect the
pieces of its chains (`task.pricing`) as a minimum spanning tree does, with ties decided by the
numbers of the two nodes, the smaller first. A demanded mention whose first partner costs something is a piece
of its own, and of all links that end in a piece, the first in that order is in the tree. For one mention
the order by both numbers is the order by the other node's number. So a solution pays for the links of all
first partners, each once, and no first partner is dearer than another in the cluster.

*Twins.* Mentions of one kind that nothing distinguishes could be swapped. Let d demanded mentions be linked
with the kind. Some optimum has all mentions of the kind that are not first partners together if they gain
together (each may move to the others, which leaves all first partners where they are), and alone if they do
not (none of their pairs gains). The at most d first partners may be any of the kind. So d of them are nodes
of their own, and the others are one node of twins, or are left out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise

import numpy as np

from caspr.engines.native.connectivity import extra
from caspr.engines.native.links import (
    Links,
    Listed,
    PairGains,
    find_links,
    gain_inside,
    list_pairs,
    lonely_node,
)
from caspr.engines.native.partition.problem import (
    LARGEST_MASS,
    Demand,
    Demands,
    Labels,
    Problem,
    joined,
    renumber,
)
from caspr.engines.native.partition.sparse import BLOCK, SparseProblem, filled, order
from caspr.engines.native.partition.watch import Watch, check, checked
from caspr.errors import EngineError
from caspr.task.decisions import Pair
from caspr.task.instance import Instance, Nesting
from caspr.task.pair_price import PairPrice
from caspr.task.votes import Signature
from caspr.text.document import Span

FEW = 20
"""How many sets of links are kept."""
LARGE = 300
"""A part of more mentions is not begun when a limit was reached."""

OwnPair = tuple[Pair, int, bool]
"""A pair that rules give another gain than its kind has, that gain, and whether its link can be used."""
Bundles = tuple[tuple[Span, ...], ...]
"""Disjoint sets of mentions that must each be in one chain; one alone is a bundle where it is enforced."""


@dataclass(frozen=True)
class Part:
    """A piece of the task that is solved on its own."""

    problem: SparseProblem
    nodes: tuple[tuple[Span, ...], ...]
    """The mentions of each node."""
    constant: int
    """What the pairs inside the nodes gain."""
    demands: Demands = ()
    """The nodes that must not stay alone."""

    @cached_property
    def key(self) -> bytes:
        """Name the problem by its content."""
        return self.problem.key + repr(self.demands).encode() if self.demands else self.problem.key

    @property
    def whole(self) -> Problem | SparseProblem:
        """The problem with its demands, all pairs written down if there are any."""
        return replace(self.problem.dense(), demands=self.demands) if self.demands else self.problem

    @property
    def first(self) -> Span:
        """The first of all mentions."""
        return min(node[0] for node in self.nodes)

    def places(self, part: "Part") -> Labels:
        """Return, for each node of another part, the node here that shares most mentions; -1 for none."""
        home = {mention: number for number, node in enumerate(self.nodes) for mention in node}
        shared = (Counter(home.get(mention, -1) for mention in node) for node in part.nodes)
        return np.array([counts.most_common(1)[0][0] for counts in shared], dtype=np.intp)

    @cached_property
    def mentions(self) -> frozenset[Span]:
        """The mentions of all nodes, without markers."""
        return frozenset(span for node in self.nodes for span in node if span.start > 0)

    def chains(self, labels: Labels) -> list[list[Span]]:
        """Turn a clustering into chains of two mentions or more."""
        clusters: dict[int, list[Span]] = {}
        for node, label in enumerate(labels.tolist()):
            if self.nodes[node][0].start > 0:
                clusters.setdefault(label, []).extend(self.nodes[node])
        return [cluster for cluster in clusters.values() if len(cluster) > 1]


def enforced_bundles(instance: Instance) -> Bundles:
    """Return the mentions that decisions put into one chain, and single ones that gain by being in one."""
    gaining = (span for span, gain in instance.chain_gains.items() if gain > 0)
    grouped = instance.constraints.group_of
    return (*instance.bundles, *((span,) for span in sorted(gaining) if span not in grouped))


def marker(mention: Span) -> Span:
    """Return what stands for a mention that stays alone; markers of mentions are no mentions."""
    return Span(-mention.start, -mention.end)


def forbidden_pairs(instance: Instance, *, all_pairs: bool) -> frozenset[Pair]:
    """Return the pairs that a chain must not hold: decided to be apart, forbidden by rules, or nested.

    Nested pairs, and those of rules, without evidence are seldom together in an optimum, but keep hundreds of
    twins from being merged: they may be left out and added when a solution breaks them. Those that are
    forbidden anyway, because nobody linked them, distinguish nobody.
    """
    apart = (
        instance.constraints.apart if all_pairs else instance.decisions.apart.union(_linked_faults(instance))
    )
    if instance.nested is Nesting.ALWAYS:
        return apart
    nested: Iterable[Pair] = instance.votes.nested_links
    if all_pairs:
        every = instance.votes.nested.union(_nested_with(_unlinked(instance), instance))
        nested = (pair for pair in every if instance.price(*pair).allowed)
    allowed = frozenset(instance.mentions)
    return apart.union(
        pair for pair in nested if allowed.issuperset(pair) and instance.forbids_nesting(*pair)
    )


def _linked_faults(instance: Instance) -> Iterator[Pair]:
    """Yield the pairs that rules forbid and an annotator linked."""
    for pair in instance.rules.faults(instance.mentions):
        if instance.votes.evidence(*pair).givers:
            yield pair


def _unlinked(instance: Instance) -> Iterable[Span]:
    """Return the mentions that nobody linked and that may be in chains: enforced, or linked by rules."""
    return (*instance.constraints.group_of, *instance.rules.given)


def _nested_with(enforced: Iterable[Span], instance: Instance) -> Iterator[Pair]:
    """Yield the nested pairs of enforced mentions that nobody linked."""
    for mention in enforced:
        if mention not in instance.votes.signatures:
            for marked in instance.mentions:
                if mention.nests_with(marked):
                    yield (mention, marked) if mention.contains(marked) else (marked, mention)


@dataclass(frozen=True)
class _Kinds:
    """The mentions by kind and bundle, and which kinds go into one part."""

    of: Mapping[Span, int]
    """The kind of each mention that may end in a chain."""
    links: Links
    gains: PairGains
    live: Sequence[bool]
    """Whether mentions of this kind gain anything, together or with others."""
    part_of: Sequence[int]
    """The part each kind belongs to."""
    bundle_of: Mapping[Span, Span]
    """The bundle of each mention that is in one, named by its first mention."""
    single: frozenset[Span]
    """The mentions that stay single because a demanded mention may need one as its partner."""

    def counts(self, mention: Span) -> bool:
        """Return whether a mention can be in a chain of an optimum."""
        kind = self.of.get(mention)
        wanted = mention in self.bundle_of or mention in self.single
        return kind is not None and (self.live[kind] or wanted)

    @cached_property
    def attract(self) -> Sequence[bool]:
        """Whether two mentions of each kind gain something together."""
        attract: list[bool] = (self.gains.linked[self.links.inside] > 0).tolist()
        return attract

    def gain_inside(self, instance: Instance, atom: Sequence[Span]) -> int:
        """Return what the pairs of some mentions of one kind, in one bundle or in none, gain in one chain."""
        if atom[0] in self.bundle_of or atom[0] in instance.free_groups:
            return gain_inside(instance, atom)
        return len(atom) * (len(atom) - 1) // 2 * int(self.gains.linked[self.links.inside[self.of[atom[0]]]])


class Translator:
    """Translates one instance, with one set of bundles after another.

    `ExpiredError` is raised where a limit is reached before links or large parts are known.
    `parts` and `links` keep what was made before. They may be shared by instances with the same annotations,
    objective and rules, as long as decisions do not count as votes.
    """

    def __init__(
        self,
        instance: Instance,
        parts: dict[object, Part] | None = None,
        links: dict[tuple[Signature, ...], Links] | None = None,
        *,
        watch: Watch | None = None,
    ) -> None:
        self.instance, self.watch = instance, watch or Watch()
        if len(instance.votes.signatures) > LARGE:
            self.watch.check()
        self.parts = {} if parts is None or instance.forced_votes else parts
        numbers: dict[Signature, int] = {}
        signature = instance.votes.signature
        self.of = {span: numbers.setdefault(signature(span), len(numbers)) for span in instance.mentions}
        self.by_kind: list[list[Span]] = [[] for _ in numbers]
        for span, kind in self.of.items():
            self.by_kind[kind].append(span)
        self.enforced = {
            span: (group.mentions[0], group.ids)
            for group in instance.constraints.groups
            for span in group.mentions
        }
        self.own = tuple(_own_pairs(instance, self.of))
        """The pairs that rules of one's own make depart from their kinds, and what they gain."""
        self.links = _found(instance, tuple(numbers), {} if links is None else links, self.watch)
        self.gains = PairGains.of(instance, self.links)
        self.clock = self.watch if len(self.links.first) > BLOCK else None
        """The clock, if sorting the links takes long enough for it to count."""
        self.last: tuple[object, tuple[Part, ...]] | None = None
        """What was asked for last, and the answer."""

    def attracts(self, kind: int) -> bool:
        """Return whether two mentions of a kind gain something together."""
        return bool(self.gains.linked[self.links.inside[kind]] > 0)

    def translate(
        self,
        bundles: Bundles,
        forbidden: Collection[Pair],
        *,
        demanded: Collection[Span] = (),
        ties: bool = False,
    ) -> tuple[Part, ...]:
        """Write the instance as independent problems; mentions in none of them end alone.

        The bundles must not contradict the rules (see `connectivity.contradicts`). Mentions that are
        `demanded`, bundles of one, must not stay alone: each is in one part with all that it is linked with.
        """
        asked = bundles, frozenset(forbidden), frozenset(demanded), ties
        # Heuristics and the exact search ask for the same parts, mostly one after the other.
        if self.last is None or self.last[0] != asked:
            self.last = asked, self._translated(bundles, forbidden, demanded, ties=ties)
        return self.last[1]

    def _translated(
        self, bundles: Bundles, forbidden: Collection[Pair], demanded: Collection[Span], *, ties: bool
    ) -> tuple[Part, ...]:
        kinds = self._kinds(bundles, forbidden, demanded, ties=ties)
        members: dict[int, list[Span]] = {}
        for kind, mentions in enumerate(self.by_kind):
            if not kinds.live[kind]:
                mentions = [mention for mention in mentions if kinds.counts(mention)]
            if mentions:
                members.setdefault(kinds.part_of[kind], []).extend(mentions)
        home = {mention: number for number, mentions in members.items() for mention in mentions}
        apart: dict[int | None, list[Pair]] = {}
        for pair in forbidden:
            apart.setdefault(_part_of(home, pair), []).append(pair)
        own: dict[int | None, list[OwnPair]] = {}
        for departing in self.own:
            own.setdefault(_part_of(home, departing[0]), []).append(departing)
        evidence, nothing = (
            _evidence_by_part(kinds, self.clock),
            kinds.links.chosen(np.empty(0, dtype=np.intp)),
        )
        parts = [
            self._remembered(
                kinds,
                mentions,
                (sorted(apart.get(number, [])), own.get(number, [])),
                evidence.get(number, nothing),
                demanded,
            )
            for number, mentions in members.items()
        ]
        return tuple(sorted(parts, key=lambda part: (part.problem.size, part.nodes[0])))

    def _kinds(
        self, bundles: Bundles, forbidden: Collection[Pair], demanded: Collection[Span], *, ties: bool
    ) -> _Kinds:
        links, linked = self.links, linked_kinds(self.instance, self.of, demanded)
        useful = self.gains.useful(ties=ties)
        clock = self.clock
        strong = filled(len(links.first), lambda part: useful[links.evidence[part]], clock, bool)
        chained = [(self.of[a], self.of[b]) for bundle in bundles for a, b in pairwise(bundle)]
        chained += [(self.of[mention], kind) for mention, kinds in linked.items() for kind in sorted(kinds)]
        drawn = [
            (self.of[a], self.of[b]) for (a, b), gain, connects in self.own if _draws(gain, connects, ties)
        ]
        chained += drawn
        more = np.array(chained, dtype=np.intp).reshape(-1, 2)
        starts, ends = (column[strong] for column in checked((links.first, links.second), clock))
        live = useful[links.inside]
        live[starts] = live[ends] = True
        live[[kind for pair in drawn for kind in pair]] = True
        first, second = (
            np.append(column, chain).astype(np.intp, copy=False)
            for column, chain in checked(zip((starts, ends), more.T, strict=True), clock)
        )
        part_of = joined(len(links.inside), first, second).tolist()
        if self.gains.all_useful(ties=ties):
            part_of, live = [0] * len(live), np.ones_like(live)
        bundle_of = {mention: bundle[0] for bundle in bundles for mention in bundle}
        gaining = [(span,) for span in self.instance.chain_gains]
        distinguished = [*forbidden, *(pair for pair, _, _ in self.own), *gaining]
        single = single_partners(self.by_kind, linked, bundle_of, distinguished)
        return _Kinds(self.of, links, self.gains, live.tolist(), part_of, bundle_of, single)

    def _remembered(
        self,
        kinds: _Kinds,
        mentions: list[Span],
        pairs: tuple[list[Pair], list[OwnPair]],
        links: Links,
        demanded: Collection[Span],
    ) -> Part:
        apart, own = pairs
        bundled = tuple(
            (span, kinds.bundle_of[span], self.enforced.get(span))
            for span in mentions
            if span in kinds.bundle_of
        )
        alone = tuple(mention for mention in mentions if mention in demanded)
        single = tuple(mention for mention in mentions if mention in kinds.single) if alone else ()
        key = (tuple(mentions), tuple(apart), bundled, alone, single)
        if key not in self.parts:
            watch = self.watch if len(mentions) > LARGE else None
            check(watch)
            part = _part(self.instance, kinds, mentions, apart, own, links, watch)
            part = _with_markers(self.instance, kinds, part, alone)
            if alone:
                demands = demands_of(self.instance, part.problem, part.nodes, alone, watch)
                part = replace(part, demands=demands)
            self.parts[key] = part
        return self.parts[key]


def _part_of(home: Mapping[Span, int], pair: Pair) -> int | None:
    """Return the part that both mentions of a pair are in, if there is one."""
    first, second = pair
    part = home.get(first)
    return part if part == home.get(second) else None


def _own_pairs(instance: Instance, kinds: Mapping[Span, int]) -> Iterator[OwnPair]:
    """Yield the pairs with costs of rules that may share a chain by votes, with what they gain."""
    prices: dict[tuple[int, int, bool], PairPrice] = {}
    given = instance.rules.apart
    for pair in instance.rules.pairs_within(kinds.keys()):
        alike = kinds[pair[0]], kinds[pair[1]], pair in given
        price = prices.get(alike)
        if price is None:
            price = prices[alike] = instance.price(*pair)
        if price.allowed or instance.is_free(*pair):
            yield pair, instance.own_gain(*pair, price), price.connects


def _draws(gain: int, connects: bool, ties: bool) -> bool:
    """Return whether a pair puts its kinds into one part."""
    return gain > 0 or (ties and gain == 0 and connects)


def _found(
    instance: Instance,
    kinds: tuple[Signature, ...],
    known: dict[tuple[Signature, ...], Links],
    watch: Watch,
) -> Links:
    """Find links, unless they are known for the same kinds; a few are kept."""
    if kinds not in known:
        if len(known) >= FEW:
            known.pop(next(iter(known)))
        known[kinds] = find_links(kinds, watch, counted=instance.prices.counted)
    return known[kinds]


def _evidence_by_part(kinds: _Kinds, watch: Watch | None) -> dict[int, Links]:
    """Sort the links into the parts; links between parts gain nothing."""
    links, part_of = kinds.links, np.array(kinds.part_of, dtype=np.intp)

    def parts(some: slice) -> Labels:
        part = part_of[links.first[some]]
        return np.where(part == part_of[links.second[some]], part, -1)

    part = filled(len(links.first), parts, watch, np.intp)
    positions = order(part, watch)
    within = positions[int(np.count_nonzero(part < 0)) :]
    if not len(within):
        return {}
    part = filled(len(within), lambda some: part[within[some]], watch, np.intp)
    starts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    pieces = np.split(within, starts[1:])
    return {
        number: links.chosen(piece, watch)
        for number, piece in zip(part[starts].tolist(), pieces, strict=True)
    }


def _part(
    instance: Instance,
    kinds: _Kinds,
    mentions: list[Span],
    apart: list[Pair],
    own: list[OwnPair],
    links: Links,
    watch: Watch | None,
) -> Part:
    _refuse_overflow(max(kinds.gains.largest, *(abs(gain) for _, gain, _ in own), 0), len(mentions))
    distinct = kinds.single.union(*(pair for pair, _, _ in own), instance.chain_gains)
    atoms = _atoms(kinds, mentions, distinct, apart)
    if len(atoms) == 1:
        # Most chains that nobody disputes: one node, and no pairs.
        return Part(lonely_node(len(atoms[0])), tuple(atoms), kinds.gain_inside(instance, atoms[0]))
    kind = np.array([kinds.of[atom[0]] for atom in atoms], dtype=np.intp)
    sizes = np.array([len(atom) for atom in atoms], dtype=np.int64)
    where = {span: number for number, atom in enumerate(atoms) for span in atom}
    kept_apart = np.array([(where[a], where[b]) for a, b in apart], dtype=np.intp).reshape(-1, 2)
    own_pairs = np.array([(where[a], where[b]) for (a, b), _, _ in own], dtype=np.intp).reshape(-1, 2)
    own_gains = np.array([gain for _, gain, _ in own], dtype=np.int64)
    departing = Listed(own_pairs[:, 0], own_pairs[:, 1], own_gains, np.zeros(len(own), dtype=bool))
    apart_nodes = kept_apart[:, 0], kept_apart[:, 1]
    problem = list_pairs(kind, sizes, links, kinds.gains, apart_nodes, watch, departing)
    return _bundled(instance, kinds, atoms, problem)


def _with_markers(instance: Instance, kinds: _Kinds, part: Part, demanded: Collection[Span]) -> Part:
    """Add what rules let mentions gain by being in chains, with markers for those that may stay alone."""
    gains = instance.chain_gains
    home = {span: number for number, node in enumerate(part.nodes) for span in node} if gains else {}
    bundled = Counter(kinds.bundle_of[span] for span in kinds.bundle_of) if gains else Counter()
    alone = [
        span for span in sorted(gains.keys() & home.keys()) if bundled[kinds.bundle_of.get(span, span)] <= 1
    ]
    if not alone:
        return part
    constant = part.constant + sum(gains[span] for span in alone)
    marked = [
        span for span in alone if span not in instance.demands and (gains[span] < 0 or span in demanded)
    ]
    nodes = np.array([home[span] for span in marked], dtype=np.intp)
    worth = np.array([max(-gains[span], 0) for span in marked], dtype=np.int64)
    problem = part.problem.extended(nodes, worth)
    return replace(
        part,
        problem=problem,
        nodes=(*part.nodes, *((marker(span),) for span in marked)),
        constant=constant,
    )


def _refuse_overflow(largest: int, mentions: int) -> None:
    """Refuse a part whose gains could add up to more than 64 bits hold."""
    mass = largest * mentions**2
    if mass > LARGEST_MASS:
        raise EngineError(
            f"engine native: found gains of up to {mass:.1e} in a part of {mentions:,} mentions, expected at "
            f"most {LARGEST_MASS:.1e}; choose smaller costs in the same proportion"
        )


def _atoms(
    kinds: _Kinds, mentions: Iterable[Span], single: Collection[Span], apart: Iterable[Pair]
) -> list[tuple[Span, ...]]:
    """Gather twins: by kind, bundle, and what they are kept apart from."""
    against: dict[Span, set[Span]] = {}
    for first, second in apart:
        against.setdefault(first, set()).add(second)
        against.setdefault(second, set()).add(first)
    shared = {span: frozenset(spans) for span, spans in against.items()}
    atoms: dict[object, list[Span]] = {}
    for mention in mentions:
        kind, bundle = kinds.of[mention], kinds.bundle_of.get(mention)
        twins = bundle is not None or kinds.attract[kind]
        key = ("twins", kind, bundle, shared.get(mention)) if twins and mention not in single else mention
        atoms.setdefault(key, []).append(mention)
    return sorted(tuple(atom) for atom in atoms.values())


def _bundled(
    instance: Instance, kinds: _Kinds, atoms: list[tuple[Span, ...]], problem: SparseProblem
) -> Part:
    """Contract the bundles, forbid what decisions keep apart, and count what nodes gain inside."""
    bundle = [kinds.bundle_of.get(atom[0]) for atom in atoms]
    if not any(bundle):
        return Part(problem, tuple(atoms), sum(kinds.gain_inside(instance, atom) for atom in atoms))
    count = len(atoms)
    numbers = {name: count + number for number, name in enumerate(dict.fromkeys(bundle))}
    labels = renumber(np.array([i if b is None else numbers[b] for i, b in enumerate(bundle)], dtype=np.intp))
    nodes: dict[int, list[Span]] = {}
    for label, atom in zip(labels.tolist(), atoms, strict=True):
        nodes.setdefault(label, []).extend(atom)
    problem, _ = problem.contract(labels)
    enforced = instance.constraints.group_of
    named = {span: group.ids for span, group in enforced.items() if group.ids}
    ids = [next((named[span] for span in nodes[n] if span in named), None) for n in range(len(nodes))]
    names = {id: number for number, id in enumerate(dict.fromkeys(id for id in ids if id is not None))}
    number = np.array([-1 if id is None else names[id] for id in ids], dtype=np.intp)
    named_nodes = np.flatnonzero(number >= 0)
    first, second = (named_nodes[side] for side in np.triu_indices(len(named_nodes), 1))
    differ = number[first] != number[second]
    constant = sum(gain_inside(instance, nodes[node]) for node in range(len(nodes)))
    ordered = tuple(tuple(sorted(nodes[node])) for node in range(len(nodes)))
    return Part(problem.separate(first[differ], second[differ]), ordered, constant)


def linked_kinds(
    instance: Instance, kind_of: Mapping[Span, int], demanded: Collection[Span]
) -> Mapping[Span, frozenset[int]]:
    """Return the kinds of the mentions that each demanded mention is linked with."""
    return {
        mention: frozenset(kind_of[near] for near in instance.neighbours(mention) if near in kind_of)
        for mention in sorted(demanded)
    }


def single_partners(
    by_kind: Sequence[Sequence[Span]],
    linked: Mapping[Span, frozenset[int]],
    bundled: Collection[Span],
    forbidden: Collection[Sequence[Span]],
) -> frozenset[Span]:
    """Return the mentions that are nodes of their own because a demanded mention may be linked with one."""
    distinguished = {span for spans in forbidden for span in spans} if linked else set()
    single: set[Span] = set()
    for kind, count in Counter(kind for kinds in linked.values() for kind in kinds).items():
        mentions = [mention for mention in by_kind[kind] if mention not in bundled]
        single.update(mention for mention in mentions if mention in distinguished)
        single.update(islice((mention for mention in mentions if mention not in distinguished), count))
    return frozenset(single)


def demands_of(
    instance: Instance,
    problem: SparseProblem,
    nodes: Sequence[Sequence[Span]],
    demanded: Collection[Span],
    watch: Watch | None,
) -> Demands:
    """Return the demands of the demanded mentions among the nodes of a problem."""
    home = {mention: number for number, mentions in enumerate(nodes) for mention in mentions}
    own = checked((mention for mention in sorted(demanded) if mention in home), watch)
    return tuple(_demand(instance, problem, home, mention) for mention in own)


def _demand(instance: Instance, problem: SparseProblem, home: Mapping[Span, int], mention: Span) -> Demand:
    own = home[mention]
    cheapest: dict[int, int] = {}
    for partner in instance.neighbours(mention):
        node, cost = home.get(partner, own), extra(instance, mention, partner)
        if cost is not None and node != own:
            cheapest[node] = min(cost, cheapest.get(node, cost))
    beside = home.get(marker(mention))
    if beside is not None:
        cheapest[beside] = instance.chain_gains[mention]
    barred = problem.forbidden_with(own)
    ranked = sorted((cost, node) for node, cost in cheapest.items() if not barred[node])
    return Demand(
        own,
        own,
        tuple(node for _, node in ranked),
        tuple(cost for cost, _ in ranked),
        tuple((min(own, node), max(own, node)) for _, node in ranked),
    )
