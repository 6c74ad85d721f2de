"""Verify a certificate of optimality with nothing but the annotations: no solver, no floats, no numpy.

A certificate lists chains, and for every *part* of the text's mentions a bound on what they can gain.
Checked, in this order:

    1. the chains break no rule and cost the value;
    2. nodes are single mentions, bundles (mentions that must be in one chain: at first those that
       decisions put there), or twins: mentions of one signature that gain by being together and that no
       listed conflict tells apart (an optimum holds them together);
    3. mentions in no part lose by every link, so an optimum may leave them alone;
    4. no pair of mentions in different parts gains, so an optimum may keep parts apart;
    5. each part's proof: a tree of pairs decided both ways, with a list of star inequalities and
       multipliers at every leaf. A star (centre c, leaves T) says that the sum of x_ct minus the sum of
       x_st over pairs of leaves is at most 1, which every clustering satisfies. By weak duality the
       gains are at most the sum of the multipliers plus all reduced gains that are positive.

Gains count every pair at its cheapest choice, link used or not. That leaves out that an enforced mention
must not stay alone, and that a chain hangs together by used links. Where these rules cost something, a part
is proven by cases instead:

    6. a *piece* is an enforced mention that is a bundle alone, or some but not all mentions of a bundle.
       Its chain holds more than the piece, so some link from the piece to another mention is used. There
       must be a case for every mention it can be (for several that are interchangeable, one will do),
       and all of them must lie in the part. In its case the mention's bundle joins that of the piece; a link
       that would rather stay unused adds what using it costs more. Such a link is charged once: piece
       and mention are glued from then on, and pieces never cut through what is glued.
    7. a case is proven like the whole, on the mentions of its part; the part gains at most what the best
       of its cases does.

Rules that a certificate does not mention (nested pairs without a vote, connectedness) are left out of
the bound: leaving out rules can only make it weaker. The bound must equal the value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import gcd
from typing import Any

from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.price.pricing import classes_of, pairs_of, price
from caspr.task.price.rules import violations
from caspr.task.solution import canonical
from caspr.task.votes import shared
from caspr.text.document import Span
from caspr.text.links import nested_pairs

Certificate = Mapping[str, Any]
"""A certificate as read from JSON."""
Gains = dict[tuple[int, int], int]
"""Gains of pairs of nodes, the smaller first; forbidden pairs are missing."""
Mentions = frozenset[Span]

MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading JSON of another shape than ours can raise; JSON of Python may hold `Infinity`."""


@dataclass(frozen=True)
class _State:
    """What is assumed in a case."""

    bundles: Mapping[Span, Mentions]
    """For every mention that must be in one chain with others, or in some chain, all of these."""
    glued: Mapping[Span, Mentions]
    """For every mention with a link that was charged, the mentions it is glued to, itself included."""

    def joined(self, piece: Mentions, others: Mentions) -> "_State":
        """Assume that a piece has a used link to one of some others."""
        return _State(_united(self.bundles, piece | others), _united(self.glued, piece | others))


def _united(blocks: Mapping[Span, Mentions], mentions: Mentions) -> Mapping[Span, Mentions]:
    """Unite some mentions with all that are in a block with one of them."""
    union = mentions.union(*(blocks[mention] for mention in mentions if mention in blocks))
    return {**blocks, **dict.fromkeys(union, union)}


@dataclass(frozen=True)
class _Task:
    """An instance, and what follows from it for every case."""

    instance: Instance

    @cached_property
    def gain(self) -> list[int]:
        """The gain of a pair in one chain by its evidence, at its cheapest choice."""
        objective, n = self.instance.objective, self.instance.votes.annotators
        unused = -(objective.invent or 0)
        used = [objective.omit * k - objective.use * (n - k) for k in range(n + 1)]
        return [used[k] if objective.prefers_use(k, n) else unused for k in range(n + 1)]

    def extra(self, first: Span, second: Span) -> int | None:
        """Return what using a link costs beyond the cheapest choice; `None` if it cannot be used."""
        instance = self.instance
        if instance.is_free(first, second):
            return 0
        k, n = instance.votes.evidence(first, second), instance.votes.annotators
        used = instance.objective.omit * k - instance.objective.use * (n - k)
        return self.gain[k] - used if k else None

    @cached_property
    def allowed(self) -> Mentions:
        """The mentions that may exist."""
        return frozenset(self.instance.mentions)

    @cached_property
    def told_apart(self) -> Mentions:
        """The mentions that a rule or a decision may tell from others of their signature."""
        instance = self.instance
        nested = () if instance.allow_nested else nested_pairs(instance.mentions)
        forbidden = instance.objective.invent is None
        # Where pairs without a vote are forbidden, so they are for all of one signature.
        telling = (pair for pair in nested if not forbidden or instance.votes.evidence(*pair))
        pairs = (*telling, *instance.decisions.apart)
        return frozenset(span for pair in pairs for span in pair) | instance.decisions.group_of.keys()


def verify(certificate: Certificate, instance: Instance) -> int:
    """Check a certificate and return the optimal value it proves; raise `EngineError` if it does not."""
    try:
        return _verify(certificate, instance)
    except MALFORMED as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error


def _verify(certificate: Certificate, instance: Instance) -> int:
    value = certificate["value"]
    chains = canonical(_spans(chain) for chain in certificate["chains"])
    for broken in violations(instance, chains):
        raise EngineError(f"certificate: {broken}")
    _require(price(instance, chains).total == value, "the chains do not cost the value")
    task = _Task(instance)
    groups = (frozenset(group.mentions) for group in instance.decisions.groups)
    state = _State({mention: group for group in groups for mention in group}, {})
    gained = _gained(task, certificate, task.allowed, state)
    bound = None if gained is None else instance.objective.omit * instance.votes.total - gained
    _require(bound == value, f"it proves the bound {bound}, not the value {value}")
    return int(value)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise EngineError(f"certificate: {message}")


def _spans(mentions: Sequence[Sequence[int]]) -> list[Span]:
    return [Span(int(start), int(end)) for start, end in mentions]


def _gained(task: _Task, proof: Certificate, scope: Mentions, state: _State) -> int | None:
    """Bound what some mentions gain, part by part; `None` if they cannot be as the state says."""
    conflicts = [tuple(_spans(pair)) for pair in proof["conflicts"]]
    _check_conflicts(task, conflicts)
    told_apart = {span for pair in conflicts for span in pair}
    parts: list[Mentions] = []
    gains: list[int | None] = []
    for part in proof["parts"]:
        if "cases" in part:
            parts.append(_checked_mentions(part["mentions"], state))
            gains.append(_by_cases(task, part, parts[-1], state))
        else:
            nodes = [_spans(node) for node in part["nodes"]]
            parts.append(_checked_nodes(task, nodes, told_apart, state))
            gains.append(_part_bound(task, nodes, conflicts, part["proof"]))
    _check_parts(task, parts, scope, state)
    known = [gain for gain in gains if gain is not None]
    return sum(known) if len(known) == len(gains) else None


def _check_conflicts(task: _Task, conflicts: Sequence[Sequence[Span]]) -> None:
    for first, second in conflicts:
        nested = first.nests_with(second) and not task.instance.allow_nested
        told = nested or task.instance.decisions.separates(first, second)
        _require(told, f"{tuple(first)} and {tuple(second)} may share a chain")


def _checked_mentions(given: Sequence[Sequence[int]], state: _State) -> Mentions:
    """Read the mentions of a part that is proven by cases."""
    mentions = frozenset(_spans(given))
    whole = all(state.bundles[mention] <= mentions for mention in mentions if mention in state.bundles)
    _require(whole, "a part splits mentions that must be together")
    return mentions


def _checked_nodes(task: _Task, nodes: list[list[Span]], told_apart: set[Span], state: _State) -> Mentions:
    """Check that the mentions of every node are together in some optimum; return all of them."""
    votes = task.instance.votes
    for node in nodes:
        _require(len(node) > 0, "a node is empty")
        if node[0] in state.bundles:
            _require(set(node) == state.bundles[node[0]], "a node splits or extends an enforced chain")
        elif len(node) > 1:
            signature = votes.signature(node[0])
            alike = all(votes.signature(mention) == signature for mention in node)
            untold = told_apart.isdisjoint(node) and state.bundles.keys().isdisjoint(node)
            _require(alike and untold, "the mentions of a node are not twins")
            _require(task.gain[shared(signature, signature)] > 0, "twins of a node do not gain")
    placed = frozenset(mention for node in nodes for mention in node)
    _require(len(placed) == sum(map(len, nodes)), "a mention is in two nodes")
    return placed


def _check_parts(task: _Task, parts: list[Mentions], scope: Mentions, state: _State) -> None:
    """Check that parts are disjoint, that nothing which could gain is in none, and no pair across gains."""
    votes, placed = task.instance.votes, frozenset[Span]().union(*parts)
    _require(len(placed) == sum(map(len, parts)), "a mention is in two parts")
    _require(placed <= scope, "a part has a mention that does not belong there")
    for mention in scope - placed:
        signature = votes.signature(mention)
        dead = mention not in state.bundles and task.gain[shared(signature, signature)] <= 0
        _require(dead, f"{tuple(mention)} is in no part")
    holders: dict[tuple[int, int], set[tuple[Any, int]]] = {}
    for number, mentions in enumerate(parts):
        for signature in {votes.signature(mention) for mention in mentions}:
            for chain in signature:
                holders.setdefault(chain, set()).add((signature, number))
    for kinds in holders.values():
        if len({number for _, number in kinds}) > 1:
            for (one, part), (other, another) in combinations(kinds, 2):
                alone = part == another or task.gain[shared(one, other)] <= 0
                _require(alone, "two parts are not independent")


def _by_cases(task: _Task, part: Certificate, scope: Mentions, state: _State) -> int | None:
    """Bound what a part gains by the best of its cases, once these are seen to be all there are."""
    piece = frozenset(_spans(part["piece"]))
    bundle = _bundle_of(task, piece, scope, state)
    best: int | None = None
    covered: set[Span] = set()
    for case in part["cases"]:
        others = frozenset(_spans(case["with"]))
        _require(others <= scope - piece, "a case is about a mention outside its part")
        _require(others <= bundle or len(others) == 1, "a case is about several mentions")
        costs = [task.extra(one, other) for one in piece for other in others]
        links = [cost for cost in costs if cost is not None]
        _require(bool(links), "a case is about mentions that nobody linked")
        gained = _gained(task, case, scope, state.joined(piece, others))
        if gained is not None:
            best = gained - min(links) if best is None else max(best, gained - min(links))
        covered |= others
    _check_cases(task, _open_cases(task, piece, bundle, state), covered, scope, state)
    return best


def _bundle_of(task: _Task, piece: Mentions, scope: Mentions, state: _State) -> Mentions:
    """Return the bundle a piece is of, once it is seen that its chain must hold more than the piece."""
    first = min(piece)
    bundle = state.bundles.get(first, frozenset())
    alone = piece == bundle == {first} and first in task.instance.required
    _require((alone or piece < bundle) and bundle <= scope, "a piece need not be linked to anything")
    whole = all(state.glued[mention] <= piece for mention in piece if mention in state.glued)
    _require(whole, "a piece cuts through what is glued")
    return bundle


def _open_cases(task: _Task, piece: Mentions, bundle: Mentions, state: _State) -> Iterator[Span]:
    """Yield the mentions to which a piece can have a used link."""
    instance = task.instance
    free = (mention for mention in bundle if any(instance.is_free(mention, one) for one in piece))
    linked = {other for one in piece for other in instance.votes.neighbours(one)}
    for mention in sorted((linked.union(free) & task.allowed) - piece):
        joining = state.bundles.get(mention, frozenset({mention})) - bundle
        if not any(instance.is_forbidden(one, other) for one in bundle for other in joining):
            yield mention


def _check_cases(
    task: _Task, found: Iterable[Span], covered: set[Span], scope: Mentions, state: _State
) -> None:
    """Check that every mention, or one that is interchangeable with it, has its case."""
    special = task.told_apart | state.bundles.keys()
    signature = task.instance.votes.signature
    kinds = {signature(mention) for mention in covered - special}
    for mention in found:
        alike = mention not in special and signature(mention) in kinds
        _require(mention in scope, f"the case of {tuple(mention)} reaches beyond its part")
        _require(mention in covered or alike, f"the case of {tuple(mention)} is missing")


def _part_bound(
    task: _Task, nodes: list[list[Span]], conflicts: Sequence[Sequence[Span]], proof: Certificate
) -> int:
    omit = task.instance.objective.omit
    inside = sum(
        pairs.number * (omit * pairs.evidence if pairs.free else task.gain[pairs.evidence])
        for node in nodes
        for pairs in pairs_of(classes_of(task.instance, node))
    )
    return inside + _tree_bound(_gains(task, nodes, conflicts), proof)


def _gains(task: _Task, nodes: list[list[Span]], conflicts: Sequence[Sequence[Span]]) -> Gains:
    """Compute the gains between the nodes of a part, leaving out forbidden pairs."""
    instance = task.instance
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    forbidden = {frozenset(where.get(span, -1) for span in pair) for pair in conflicts}
    classes = [classes_of(instance, node) for node in nodes]
    enforced = instance.decisions.group_of
    named = [{id for span in node if span in enforced for id in enforced[span].ids} for node in nodes]
    gains: Gains = {}
    for one, other in combinations(range(len(nodes)), 2):
        if len(named[one] | named[other]) > 1 or frozenset((one, other)) in forbidden:
            continue
        evidence = [
            (shared(first[0], second[0]), count * more)
            for first, count in classes[one].items()
            for second, more in classes[other].items()
        ]
        if instance.objective.invent is not None or all(k for k, _ in evidence):
            gains[one, other] = sum(task.gain[k] * count for k, count in evidence)
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
