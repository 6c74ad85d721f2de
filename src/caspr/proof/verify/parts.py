"""Check conflicts, nodes and parts, and add up what the parts gain.

See `caspr.proof.verify` for what each check is needed for. Parts are proven by statements (`tree`) or by
cases, which come back here with more assumed.

**Demands.** A demand is an enforced mention that nothing else is assumed to be in one chain with. Its chain
holds more, and used links connect the chain, so one of them ends in it. The nodes with a mention that an
annotator linked it with are its partners, in the order of what the cheapest such link costs beyond leaving it
unused, then of their numbers.

*What first partners cost.* Let a solution pay for the links that connect the pieces of its chains as a
minimum spanning tree does, ties decided by the numbers of the two nodes, the smaller first. A demand whose
first partner costs something is a piece of its own, and of all links that end in it the first in that order
is in the tree. So a clustering gains at most what its pairs gain, minus the costs of the links with first
partners, each link once.

*Twins and dead mentions.* Let d demands be linked with a signature, and take the mentions that have it and
are in no bundle and no conflict: any two may be swapped. At most d of them are first partners. Of the
others, some best clustering has all together if they gain together, and all alone if not: to move one of
them leaves first partners where they are. So it suffices that d of them, or all, are nodes of their own;
the rest may be one node, or be left out if they gain nothing. None of them may be in another part.

**Cases.** A *piece* is a bundle of one enforced mention, which must not stay alone, or some but not all
mentions of a bundle. Its chain holds more than the piece and is connected by used links, so some used link
leads from the piece to another mention. There must be a case for every mention that this can be, worked out
from the annotations and not taken from the proof, and all these mentions must be in the part. In its case
the mention's bundle joins the piece's, and the link is charged: a link that is cheaper left unused costs
what using it costs more.

*One case for several.* Let two mentions have one signature, be in no bundle, and let no rule or decision
distinguish them. Swapping them turns a solution in which the piece is linked with one into a solution of the
same cost in which it is linked with the other, so one case covers both. Both are in the part: so swaps in
different parts do not disturb each other. A case may also name several mentions of the piece's own bundle:
it assumes no more than the bundle already does, and charges the cheapest link.

*No link is charged twice.* Once a link is charged, the piece and the mentions of its case are glued, and
every later piece holds all or nothing of what is glued. So a link charged before is inside or outside of a
later piece and never leads out of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from caspr.proof.verify.facts import Assumptions, Facts, Mentions, Proof, read_integer, read_spans, require
from caspr.proof.verify.graph import NodePair, ProofDemand, ProofGraph, ordered, summed
from caspr.proof.verify.tree import bound_tree
from caspr.task.pricing import Class, classes_of, pairs_of
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Span

Node = list[Span]
"""Mentions that are in one chain: a single one, a bundle or twins."""
Conflicts = list[tuple[Span, Span]]


def bound_gain(facts: Facts, proof: Proof, scope: Mentions, assumed: Assumptions) -> int | None:
    """Bound what the mentions in scope gain, part by part; `None` if the assumptions cannot hold."""
    conflicts = _read_conflicts(facts, proof["conflicts"])
    parts: list[Mentions] = []
    gains: list[int | None] = []
    reserved: set[Span] = set()
    for part in proof["parts"]:
        if "cases" in part:
            mentions = frozenset(read_spans(part["mentions"]))
            require(not assumed.splits_bundle(mentions), "a part splits mentions that must be together")
            gain = bound_by_cases(facts, part, mentions, assumed, bound_gain)
        else:
            nodes = [read_spans(node) for node in part["nodes"]]
            own, markers = _split_markers(nodes)
            mentions = _check_nodes(facts, own, conflicts, assumed)
            homes = _check_markers(facts, own, markers, assumed)
            demands, absent = _read_demands(
                facts, own, part.get("demands", ()), conflicts, (assumed, scope), homes
            )
            reserved |= absent
            gain = _bound_part(facts, own, conflicts, part["proof"], demands, homes)
            if gain is not None:
                gain += _gain_alone(facts, own, homes)
        parts.append(mentions)
        gains.append(gain)
    _check_parts(facts, parts, scope, assumed)
    require(reserved.isdisjoint(frozenset[Span]().union(*parts)), "a partner is in another part")
    return summed(gains)


def _split_markers(nodes: list[Node]) -> tuple[list[Node], list[Span]]:
    """Return the nodes with mentions, and the mentions whose markers are the nodes after these."""
    own = [node for node in nodes if node[0].start > 0]
    require(own == nodes[: len(own)], "a marker comes before a mention")
    require(all(len(node) == 1 for node in nodes[len(own) :]), "a marker stands for several mentions")
    return own, [Span(-node[0].start, -node[0].end) for node in nodes[len(own) :]]


def _check_markers(
    facts: Facts, nodes: list[Node], markers: list[Span], assumed: Assumptions
) -> Mapping[Span, NodePair]:
    """Check that markers are of mentions that are nodes of their own, may stay alone, and gain or lose by it.

    Return for each of these mentions its node and that of its marker.
    """
    where = {node[0]: number for number, node in enumerate(nodes)}
    for mention in markers:
        require(
            mention in where and mention in facts.instance.chain_gains,
            f"the marker of {tuple(mention)} is needless",
        )
        alone = assumed.bundles.get(mention, frozenset({mention})) == {mention}
        require(alone and mention not in facts.instance.demands, f"{tuple(mention)} may not stay alone")
    require(len(set(markers)) == len(markers), "a mention has two markers")
    return {mention: (where[mention], len(nodes) + number) for number, mention in enumerate(markers)}


def _gain_alone(facts: Facts, nodes: list[Node], markers: Mapping[Span, NodePair]) -> int:
    """Return what mentions that are nodes gain by being in a chain, as far as nothing else counts it.

    One that loses by it and has no marker may do so unseen; that makes the bound weaker, not wrong.
    """
    total = 0
    for node in nodes:
        if len(node) == 1:
            gain = facts.instance.chain_gains.get(node[0], 0)
            counts = gain > 0 or node[0] in facts.instance.demands or node[0] in markers
            total += gain if counts else 0
    return total


def _bound_part(
    facts: Facts,
    nodes: list[Node],
    conflicts: Conflicts,
    proof: Sequence[Proof],
    demands: dict[int, ProofDemand],
    markers: Mapping[Span, NodePair] | None = None,
) -> int | None:
    """Bound what the pairs of a part gain, those inside nodes included; `None` if a demand cannot be met."""
    graph = _graph(facts, nodes, conflicts)
    for mention, (node, beside) in (markers or {}).items():
        graph.attach(beside, node, max(-facts.instance.chain_gains[mention], 0))
    graph.demands = demands
    graph.forget_forbidden()
    across = bound_tree(graph, proof)
    return None if across is None else _gain_inside(facts, nodes) + across


def _read_conflicts(facts: Facts, rows: Sequence[Sequence[Sequence[int]]]) -> Conflicts:
    """Read pairs that must not share a chain, once a rule or a decision is found that says so."""
    conflicts: Conflicts = []
    for first, second in map(read_spans, rows):
        nested = facts.instance.forbids_nesting(first, second)
        forbidden = nested or facts.instance.constraints.separates(first, second)
        require(forbidden, f"{tuple(first)} and {tuple(second)} may share a chain")
        conflicts.append((first, second))
    return conflicts


def _check_nodes(facts: Facts, nodes: list[Node], conflicts: Conflicts, assumed: Assumptions) -> Mentions:
    """Check that the mentions of every node are together in some optimum; return all of them."""
    signature_of = facts.instance.votes.signature
    special = assumed.bundles.keys() | facts.ruled({mention for node in nodes for mention in node})
    against = _conflicts_of(conflicts)
    for node in nodes:
        if node[0] in assumed.bundles:
            require(set(node) == assumed.bundles[node[0]], "a node splits or extends a bundle")
        elif len(node) > 1:
            signature = signature_of(node[0])
            apart = against.get(node[0])
            alike = all(
                signature_of(mention) == signature and against.get(mention) == apart for mention in node
            )
            require(alike and special.isdisjoint(node), "the mentions of a node are not twins")
            require(facts.gain(signature, signature) > 0, "twins of a node do not gain")
    placed = frozenset(mention for node in nodes for mention in node)
    require(len(placed) == sum(map(len, nodes)), "a mention is in two nodes")
    return placed


def _conflicts_of(conflicts: Conflicts) -> Mapping[Span, set[Span]]:
    """Return, for each mention in a conflict, what it is kept apart from."""
    against: dict[Span, set[Span]] = defaultdict(set)
    for first, second in conflicts:
        against[first].add(second)
        against[second].add(first)
    return against


def _check_parts(facts: Facts, parts: list[Mentions], scope: Mentions, assumed: Assumptions) -> None:
    """Check that parts are disjoint and in scope, and that no pair gains outside of them."""
    placed = frozenset[Span]().union(*parts)
    require(len(placed) == sum(map(len, parts)), "a mention is in two parts")
    require(placed <= scope, "a part has a mention that does not belong there")
    outside = scope - placed
    gaining = {span for span, gain in facts.instance.chain_gains.items() if gain > 0}
    for mention in sorted(outside & (assumed.bundles.keys() | gaining)):
        require(False, f"{tuple(mention)} is in no part")
    _check_independence(facts, parts, outside)


def _check_independence(facts: Facts, parts: list[Mentions], outside: Mentions) -> None:
    """Check that no pair gains whose mentions are in no part or in two, looking only at linked pairs."""
    holders: dict[tuple[int, int], dict[int, set[Signature]]] = defaultdict(lambda: defaultdict(set))
    for number, mentions in enumerate((*parts, outside)):
        for signature in {facts.instance.votes.signature(mention) for mention in mentions}:
            for chain in signature.chains:
                holders[chain][number].add(signature)
    for signatures in holders.values():
        for own, theirs in combinations(signatures.values(), 2):
            _require_no_gain(facts, own, theirs, "two parts are not independent")
        alone = signatures.get(len(parts), set())
        _require_no_gain(facts, alone, alone, "mentions that gain are in no part")
    home = {mention: number for number, mentions in enumerate(parts) for mention in mentions}
    for first, second in facts.instance.rules.pairs_within(outside.union(home)):
        together = first in home and home[first] == home.get(second)
        gains = facts.instance.own_gain(first, second) > 0
        require(together or not gains, "a pair that gains by a rule is not within a part")


def _require_no_gain(facts: Facts, own: set[Signature], theirs: set[Signature], message: str) -> None:
    require(all(facts.gain(first, second) <= 0 for first, second in product(own, theirs)), message)


def _gain_inside(facts: Facts, nodes: list[Node]) -> int:
    """Return what the pairs inside nodes gain, which are in one chain whatever the proof decides."""
    total = 0
    for node in nodes:
        for pairs in pairs_of(classes_of(facts.instance, node), counted=facts.instance.prices.counted):
            price = facts.instance.prices.of(pairs.evidence)
            total += pairs.number * (price.omitted if pairs.free else price.gain)
        total += facts.instance.gained_by_rules(node) if len(node) > 1 else 0
    return total


def _graph(facts: Facts, nodes: list[Node], conflicts: Conflicts) -> ProofGraph:
    """Compute the gains between the nodes of a part, and who is forbidden.

    Where everybody saw the same, all pairs that nobody linked gain the same, so only those are listed that
    share an annotator's chain. If votes allow these, they forbid no pair; if not, what is not listed is
    forbidden. No pair across nodes is free: enforced links are inside bundles, and bundles inside nodes.
    """
    instance = facts.instance
    classes = [classes_of(instance, node) for node in nodes]
    viewers = {signature.viewers for counts in classes for signature, *_ in counts}
    unlinked = instance.prices.of(Evidence(0, max(viewers, default=0)))
    everywhere = len(viewers) <= 1
    graph = ProofGraph(
        {number: len(node) for number, node in enumerate(nodes)},
        unlinked.gain if everywhere and unlinked.allowed else None,
        {number: {} for number in range(len(nodes))},
    )
    pairs = _linked_pairs(classes) if everywhere else combinations(range(len(nodes)), 2)
    for u, v in pairs:
        prices = [
            (instance.prices.of(meet(first[0], second[0])), count * more)
            for first, count in classes[u].items()
            for second, more in classes[v].items()
        ]
        if all(price.allowed for price, _ in prices):
            graph.put(u, v, sum(price.gain * count for price, count in prices))
    for u, v in _ruled(facts, nodes):
        pairs_of_mentions = list(product(nodes[u], nodes[v]))
        if all(facts.may_join(*pair) for pair in pairs_of_mentions):
            graph.put(u, v, sum(instance.own_gain(*pair) for pair in pairs_of_mentions))
    for u, v in _kept_apart(facts, nodes, conflicts):
        graph.forbid(u, v)
    return graph


def _ruled(facts: Facts, nodes: list[Node]) -> set[tuple[int, int]]:
    """Return the pairs of nodes with mentions that rules charge something for."""
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    pairs = facts.instance.rules.pairs_within(where.keys())
    return {ordered(where[first], where[second]) for first, second in pairs if where[first] != where[second]}


def _linked_pairs(classes: Sequence[Counter[Class]]) -> set[tuple[int, int]]:
    """Return the pairs of nodes that share an annotator's chain."""
    holders: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, counts in enumerate(classes):
        for chain in frozenset[tuple[int, int]]().union(*(signature.chains for signature, *_ in counts)):
            holders[chain].append(number)
    return {pair for numbers in holders.values() for pair in combinations(numbers, 2)}


def _kept_apart(facts: Facts, nodes: list[Node], conflicts: Conflicts) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes that conflicts or the ids of decisions keep apart."""
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    for first, second in conflicts:
        u, v = where.get(first), where.get(second)
        if u is not None and v is not None and u != v:
            yield u, v
    enforced = facts.instance.constraints.group_of
    named = {
        number: ids
        for number, node in enumerate(nodes)
        if (ids := {id for span in node if span in enforced for id in enforced[span].ids})
    }
    for u, v in combinations(named, 2):
        if len(named[u] | named[v]) > 1:
            yield u, v


def _read_demands(
    facts: Facts,
    nodes: Sequence[Sequence[Span]],
    listed: Sequence[Any],
    conflicts: Iterable[tuple[Span, Span]],
    within: tuple[Assumptions, Mentions],
    markers: Mapping[Span, NodePair],
) -> tuple[dict[int, ProofDemand], Mentions]:
    """Read which nodes must not stay alone; return also the mentions that no other part may hold."""
    assumed, scope = within
    homes = {number: nodes[number][0] for number in map(read_integer, listed)}
    require(all(number >= 0 for number in homes), "a demand is not a node")
    for mention in homes.values():
        lone = assumed.bundles.get(mention) == frozenset({mention})
        paying = mention in markers and facts.instance.chain_gains[mention] > 0
        needs = paying or (lone and mention in facts.instance.demands)
        require(needs, f"{tuple(mention)} need not have a partner")
    linked = {mention: facts.linked(mention) for mention in homes.values()}
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    wanted = frozenset[Span]().union(*linked.values())
    for mention in sorted(wanted - scope):
        require(False, f"the partner {tuple(mention)} is beyond its part")
    special = assumed.bundles.keys() | {span for pair in conflicts for span in pair}
    special |= facts.ruled(facts.allowed)
    _check_singles(facts, nodes, linked, (special, assumed.bundles.keys()))
    demands = {
        number: _demand(facts, (number, mention), linked[mention], where, markers.get(mention))
        for number, mention in homes.items()
    }
    return demands, wanted - where.keys()


def _check_singles(
    facts: Facts,
    nodes: Sequence[Sequence[Span]],
    linked: Mapping[Span, Mentions],
    kinds: tuple[Collection[Span], Collection[Span]],
) -> None:
    """Check that all special partners have a node, and of those that may be swapped enough, each its own."""
    special, bundled = kinds
    signature_of = facts.instance.votes.signature
    single = {node[0] for node in nodes if len(node) == 1}
    placed = {mention for node in nodes for mention in node}
    needed = Counter(
        signature for partners in linked.values() for signature in set(map(signature_of, partners))
    )
    known = Counter(signature_of(mention) for mention in single if mention not in special)
    for mention in sorted(frozenset[Span]().union(*linked.values()) - single):
        if mention in special:
            require(mention in placed, "a partner is in no node")
            require(mention in bundled, "a partner is not a node of its own")
        else:
            signature = signature_of(mention)
            require(known[signature] >= needed[signature], "too few partners are nodes of their own")


def _demand(
    facts: Facts, home: tuple[int, Span], linked: Mentions, where: Mapping[Span, int], marked: NodePair | None
) -> ProofDemand:
    number, mention = home
    costs: dict[int, int] = {} if marked is None else {marked[1]: facts.instance.chain_gains[mention]}
    for partner in sorted(linked & where.keys()):
        cost, node = facts.extra(mention, partner) or 0, where[partner]
        if node != number:
            costs[node] = min(cost, costs.get(node, cost))
    ranked = sorted((cost, node) for node, cost in costs.items())
    return ProofDemand(
        number,
        tuple(node for _, node in ranked),
        tuple(cost for cost, _ in ranked),
        tuple(ordered(number, node) for _, node in ranked),
    )


BoundGain = Callable[[Facts, Proof, Mentions, Assumptions], int | None]
"""Bounds what the mentions in scope gain; `None` if the assumptions cannot hold."""


def bound_by_cases(
    facts: Facts, part: Proof, scope: Mentions, assumed: Assumptions, bound_case: BoundGain
) -> int | None:
    """Bound what a part gains by the best of its cases, once these are seen to be all there are."""
    piece = frozenset(read_spans(part["piece"]))
    bundle = _bundle_of(facts, piece, scope, assumed)
    gains: list[int] = []
    covered: set[Span] = set()
    for case in part["cases"]:
        partners = frozenset(read_spans(case["with"]))
        require(partners <= scope - piece, "a case is about a mention outside its part")
        require(bundle.issuperset(partners) or len(partners) == 1, "a case is about several mentions")
        costs = [facts.extra(member, partner) for member in piece for partner in partners]
        links = [cost for cost in costs if cost is not None]
        require(bool(links), "a case is about mentions that nobody linked")
        gain = bound_case(facts, case, scope, assumed.linked(piece, partners))
        if gain is not None:
            gains.append(gain - min(links))
        covered |= partners
    _check_cases(facts, piece, bundle, covered, scope, assumed)
    return max(gains, default=None)


def _bundle_of(facts: Facts, piece: Mentions, scope: Mentions, assumed: Assumptions) -> Mentions:
    """Return the bundle a piece is of, once it is seen that its chain must hold more than the piece."""
    first = min(piece)
    bundle = assumed.bundles.get(first, frozenset())
    alone = piece == bundle == {first} and first in facts.instance.demands
    require(alone or piece < bundle, "a piece need not be linked to anything")
    require(bundle <= scope, "a piece is outside its part")
    require(not assumed.splits_glued(piece), "a piece cuts through what is glued")
    return bundle


def _check_cases(
    facts: Facts,
    piece: Mentions,
    bundle: Mentions,
    covered: set[Span],
    scope: Mentions,
    assumed: Assumptions,
) -> None:
    """Check that every mention the piece can be linked to, or one interchangeable with it, has its case."""
    special = facts.distinguished | assumed.bundles.keys()
    signature = facts.instance.votes.signature
    covered_signatures = {signature(mention) for mention in covered - special}
    for mention in _linkable(facts, piece, bundle, assumed):
        alike = mention not in special and signature(mention) in covered_signatures
        require(mention in scope, f"the case of {tuple(mention)} reaches beyond its part")
        require(mention in covered or alike, f"the case of {tuple(mention)} is missing")


def _linkable(facts: Facts, piece: Mentions, bundle: Mentions, assumed: Assumptions) -> Iterator[Span]:
    """Yield the mentions to which a piece can have a used link."""
    instance = facts.instance
    free = {mention for mention in bundle if any(instance.is_free(mention, member) for member in piece)}
    voted = {near for member in piece for near in instance.neighbours(member)}
    for mention in sorted(((voted | free) & facts.allowed) - piece):
        joining = assumed.bundles.get(mention, frozenset({mention})) - bundle
        if not any(instance.is_forbidden(held, new) for held in bundle for new in joining):
            yield mention
