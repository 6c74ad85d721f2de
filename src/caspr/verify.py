"""Verify a certificate of optimality with nothing but the annotations: no solver, no floats, no numpy.

A certificate lists chains, and for every *part* of the text's mentions a bound on what they can gain.
Checked, in this order:

    1. the chains break no rule and cost the value;
    2. nodes are single mentions, enforced groups, or twins: mentions of one signature that gain by
       being together and that no listed conflict tells apart (an optimum holds them together);
    3. mentions in no node lose by every link, so an optimum may leave them alone;
    4. no pair of mentions in different parts gains, so an optimum may keep parts apart;
    5. each part's proof: a tree of pairs decided both ways, with a list of star inequalities and
       multipliers at every leaf. A star (centre c, leaves T) says that the sum of x_ct minus the sum of
       x_st over pairs of leaves is at most 1, which every clustering satisfies. By weak duality the
       gains are at most the sum of the multipliers plus all reduced gains that are positive.

Rules that a certificate does not mention (nested pairs without a vote, connectedness) are left out of
the bound: leaving out rules can only make it weaker. The bound must equal the value.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import gcd
from typing import Any

from caspr.document import Span
from caspr.errors import EngineError
from caspr.instance import Instance
from caspr.pricing import classes_of, pairs_of, price
from caspr.rules import violations
from caspr.solution import canonical
from caspr.votes import shared

Certificate = Mapping[str, Any]
"""A certificate as read from JSON."""
Gains = dict[tuple[int, int], int]
"""Gains of pairs of nodes, the smaller first; forbidden pairs are missing."""


def verify(certificate: Certificate, instance: Instance) -> int:
    """Check a certificate and return the optimal value it proves; raise `EngineError` if it does not."""
    try:
        return _verify(certificate, instance)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error


def _verify(certificate: Certificate, instance: Instance) -> int:
    value = certificate["value"]
    chains = canonical(_spans(chain) for chain in certificate["chains"])
    for broken in violations(instance, chains):
        raise EngineError(f"certificate: {broken}")
    _require(price(instance, chains).total == value, "the chains do not cost the value")
    parts = [[_spans(node) for node in part["nodes"]] for part in certificate["parts"]]
    conflicts = [tuple(_spans(pair)) for pair in certificate["conflicts"]]
    gain = _gain_table(instance)
    _check_conflicts(instance, conflicts)
    _check_nodes(instance, parts, {span for pair in conflicts for span in pair}, gain)
    _check_parts(instance, parts, gain)
    gained = sum(
        _part_bound(instance, nodes, conflicts, gain, part["proof"])
        for nodes, part in zip(parts, certificate["parts"], strict=True)
    )
    bound = instance.objective.omit * instance.votes.total - gained
    _require(bound == value, f"it proves the bound {bound}, not the value {value}")
    return bound


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise EngineError(f"certificate: {message}")


def _spans(mentions: Sequence[Sequence[int]]) -> list[Span]:
    return [Span(int(start), int(end)) for start, end in mentions]


def _gain_table(instance: Instance) -> list[int]:
    """Return the gain of a pair in one chain by its evidence, at its cheapest choice."""
    objective, n = instance.objective, instance.votes.annotators
    unused = -(objective.invent or 0)
    used = [objective.omit * k - objective.use * (n - k) for k in range(n + 1)]
    return [used[k] if objective.prefers_use(k, n) else unused for k in range(n + 1)]


def _check_conflicts(instance: Instance, conflicts: Sequence[Sequence[Span]]) -> None:
    for first, second in conflicts:
        nested = first.nests_with(second) and not instance.allow_nested
        told = nested or instance.decisions.separates(first, second)
        _require(told, f"{tuple(first)} and {tuple(second)} may share a chain")


def _check_nodes(
    instance: Instance, parts: list[list[list[Span]]], told_apart: set[Span], gain: list[int]
) -> None:
    votes, enforced = instance.votes, instance.decisions.group_of
    placed: set[Span] = set()
    for node in (node for nodes in parts for node in nodes):
        _require(len(set(node)) == len(node) > 0 and placed.isdisjoint(node), "a mention is in two nodes")
        placed |= set(node)
        if node[0] in enforced:
            _require(
                set(node) == set(enforced[node[0]].mentions), "a node splits or extends an enforced chain"
            )
        elif len(node) > 1:
            signature = votes.signature(node[0])
            alike = all(votes.signature(mention) == signature for mention in node)
            untold = told_apart.isdisjoint(node) and enforced.keys().isdisjoint(node)
            _require(alike and untold, "the mentions of a node are not twins")
            _require(gain[shared(signature, signature)] > 0, "twins of a node do not gain")
    _require(placed <= set(instance.mentions), "a node has a mention that cannot exist")
    for mention in set(instance.mentions) - placed:
        signature = votes.signature(mention)
        dead = mention not in enforced and gain[shared(signature, signature)] <= 0
        _require(dead, f"{tuple(mention)} is in no part")


def _check_parts(instance: Instance, parts: list[list[list[Span]]], gain: list[int]) -> None:
    """Check that no pair across parts gains; pairs without a shared chain never do."""
    holders: dict[tuple[int, int], set[tuple[Any, int]]] = {}
    for number, nodes in enumerate(parts):
        for signature in {instance.votes.signature(mention) for node in nodes for mention in node}:
            for chain in signature:
                holders.setdefault(chain, set()).add((signature, number))
    for kinds in holders.values():
        if len({number for _, number in kinds}) > 1:
            for (one, part), (other, another) in combinations(kinds, 2):
                _require(part == another or gain[shared(one, other)] <= 0, "two parts are not independent")


def _part_bound(
    instance: Instance,
    nodes: list[list[Span]],
    conflicts: Sequence[Sequence[Span]],
    gain: list[int],
    proof: Certificate,
) -> int:
    omit = instance.objective.omit
    inside = sum(
        pairs.count * (omit * pairs.evidence if pairs.free else gain[pairs.evidence])
        for node in nodes
        for pairs in pairs_of(classes_of(instance, node))
    )
    return inside + _tree_bound(_gains(instance, nodes, conflicts, gain), proof)


def _gains(
    instance: Instance, nodes: list[list[Span]], conflicts: Sequence[Sequence[Span]], gain: list[int]
) -> Gains:
    """Compute the gains between the nodes of a part, leaving out forbidden pairs."""
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    forbidden = {frozenset(where.get(span, -1) for span in pair) for pair in conflicts}
    classes = [classes_of(instance, node) for node in nodes]
    separates = instance.decisions.separates
    gains: Gains = {}
    for one, other in combinations(range(len(nodes)), 2):
        if separates(nodes[one][0], nodes[other][0]) or frozenset((one, other)) in forbidden:
            continue
        evidence = [
            (shared(first[0], second[0]), count * more)
            for first, count in classes[one].items()
            for second, more in classes[other].items()
        ]
        if instance.objective.invent is not None or all(k for k, _ in evidence):
            gains[one, other] = sum(gain[k] * count for k, count in evidence)
    return gains


def _tree_bound(gains: Gains, proof: Certificate) -> int:
    if "pair" not in proof:
        return _leaf_bound(gains, int(proof["shift"]), proof["stars"])
    first, second = sorted(map(int, proof["pair"]))
    rest = {pair: gain for pair, gain in gains.items() if pair != (first, second)}
    if (first, second) not in gains:
        return _tree_bound(gains, proof["apart"])
    joined = gains[first, second] + _tree_bound(_contract(gains, first, second), proof["together"])
    return max(joined, _tree_bound(rest, proof["apart"]))


def _contract(gains: Gains, keep: int, drop: int) -> Gains:
    """Make two nodes one, under the first one's number; what either forbids, both forbid."""
    merged = {pair: gain for pair, gain in gains.items() if keep not in pair and drop not in pair}
    nodes = {node for pair in gains for node in pair} - {keep, drop}
    for node in nodes:
        one, other = _ordered(keep, node), _ordered(drop, node)
        if one in gains and other in gains:
            merged[one] = gains[one] + gains[other]
    return merged


def _ordered(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _leaf_bound(gains: Gains, shift: int, stars: Sequence[Sequence[int]]) -> int:
    """Recompute the bound that star inequalities and their multipliers give."""
    _require(0 <= shift <= 60, "the unit of the multipliers is absurd")
    reduced = {pair: gain << shift for pair, gain in gains.items()}
    total = 0
    for multiplier, centre, *leaves in stars:
        valid = multiplier >= 0 and len({centre, *leaves}) == len(leaves) + 1 > 2
        _require(valid and isinstance(multiplier, int), "an inequality is not a star")
        total += multiplier
        for leaf in leaves:
            _add(reduced, centre, leaf, -multiplier)
        for one, other in combinations(leaves, 2):
            _add(reduced, one, other, multiplier)
    scaled = total + sum(gain for gain in reduced.values() if gain > 0)
    step = gcd(*gains.values()) or 1
    return (scaled >> shift) // step * step


def _add(reduced: Gains, one: int, other: int, amount: int) -> None:
    pair = _ordered(one, other)
    if pair in reduced:
        reduced[pair] += amount
