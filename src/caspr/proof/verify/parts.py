"""Check conflicts, nodes and parts, and add up what the parts gain.

See `caspr.proof.verify` for what each check is needed for. Parts are proven by a tree (`tree`) or by cases
(`cases`), which come back here with more assumed.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, product

from caspr.proof.verify.cases import bound_by_cases
from caspr.proof.verify.facts import Assumptions, Facts, Mentions
from caspr.proof.verify.needs import Needs, read_needs
from caspr.proof.verify.reading import Proof, read_spans, require
from caspr.proof.verify.tree import Gains, bound_tree
from caspr.task.price.classes import classes_of, pairs_of
from caspr.task.votes import Signature, meet
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
            mentions = _check_nodes(facts, nodes, conflicts, assumed)
            needs, absent = read_needs(facts, nodes, part.get("needs", ()), conflicts, assumed, scope)
            reserved |= absent
            gain = _bound_part(facts, nodes, conflicts, part["proof"], needs)
        parts.append(mentions)
        gains.append(gain)
    _check_parts(facts, parts, scope, assumed)
    require(reserved.isdisjoint(frozenset[Span]().union(*parts)), "a partner is in another part")
    known = [gain for gain in gains if gain is not None]
    return sum(known) if len(known) == len(gains) else None


def _bound_part(
    facts: Facts, nodes: list[Node], conflicts: Conflicts, proof: Proof, needs: Needs
) -> int | None:
    """Bound what the pairs of a part gain, those inside nodes included; `None` if its needs cannot be met."""
    gains = _gains(facts, nodes, conflicts)
    possible = {number: need.among(gains) for number, need in needs.items()}
    across = bound_tree(gains, proof, possible)
    return None if across is None else _gain_inside(facts, nodes) + across


def _read_conflicts(facts: Facts, given: Sequence[Sequence[Sequence[int]]]) -> Conflicts:
    """Read pairs that must not share a chain, once a rule or a decision is found that says so."""
    conflicts: Conflicts = []
    for first, second in map(read_spans, given):
        nested = facts.instance.forbids_nesting(first, second)
        forbidden = nested or facts.instance.decisions.separates(first, second)
        require(forbidden, f"{tuple(first)} and {tuple(second)} may share a chain")
        conflicts.append((first, second))
    return conflicts


def _check_nodes(facts: Facts, nodes: list[Node], conflicts: Conflicts, assumed: Assumptions) -> Mentions:
    """Check that the mentions of every node are together in some optimum; return all of them."""
    signature_of = facts.instance.votes.signature
    special = assumed.bundles.keys() | {span for pair in conflicts for span in pair}
    for node in nodes:
        if node[0] in assumed.bundles:
            require(set(node) == assumed.bundles[node[0]], "a node splits or extends a bundle")
        elif len(node) > 1:
            signature = signature_of(node[0])
            alike = all(signature_of(mention) == signature for mention in node)
            require(alike and special.isdisjoint(node), "the mentions of a node are not twins")
            require(facts.gain(signature, signature) > 0, "twins of a node do not gain")
    placed = frozenset(mention for node in nodes for mention in node)
    require(len(placed) == sum(map(len, nodes)), "a mention is in two nodes")
    return placed


def _check_parts(facts: Facts, parts: list[Mentions], scope: Mentions, assumed: Assumptions) -> None:
    """Check that parts are disjoint and in scope, and that no pair gains outside of them."""
    placed = frozenset[Span]().union(*parts)
    require(len(placed) == sum(map(len, parts)), "a mention is in two parts")
    require(placed <= scope, "a part has a mention that does not belong there")
    outside = scope - placed
    for mention in sorted(outside & assumed.bundles.keys()):
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
        for one, other in combinations(signatures.values(), 2):
            _require_no_gain(facts, one, other, "two parts are not independent")
        alone = signatures.get(len(parts), set())
        _require_no_gain(facts, alone, alone, "mentions that gain are in no part")


def _require_no_gain(facts: Facts, one: set[Signature], other: set[Signature], message: str) -> None:
    require(all(facts.gain(first, second) <= 0 for first, second in product(one, other)), message)


def _gain_inside(facts: Facts, nodes: list[Node]) -> int:
    """Return what the pairs inside nodes gain, which are in one chain whatever the proof decides."""
    total = 0
    for node in nodes:
        for pairs in pairs_of(classes_of(facts.instance, node), counted=facts.instance.prices.counted):
            price = facts.instance.prices.of(pairs.evidence)
            total += pairs.number * (price.omitted if pairs.free else price.gain)
    return total


def _gains(facts: Facts, nodes: list[Node], conflicts: Conflicts) -> Gains:
    """Compute the gains between the nodes of a part, leaving out forbidden pairs.

    No pair across nodes is free: enforced links are inside bundles, and bundles inside nodes.
    """
    instance = facts.instance
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    forbidden = {frozenset(where.get(span, -1) for span in pair) for pair in conflicts}
    classes = [classes_of(instance, node) for node in nodes]
    enforced = instance.decisions.group_of
    named = [{id for span in node if span in enforced for id in enforced[span].ids} for node in nodes]
    gains: Gains = {}
    for one, other in combinations(range(len(nodes)), 2):
        if len(named[one] | named[other]) > 1 or frozenset((one, other)) in forbidden:
            continue
        prices = [
            (instance.prices.of(meet(first[0], second[0])), count * more)
            for first, count in classes[one].items()
            for second, more in classes[other].items()
        ]
        if all(price.allowed for price, _ in prices):
            gains[one, other] = sum(price.gain * count for price, count in prices)
    return gains
