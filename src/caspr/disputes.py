"""What annotators disagree on, what deciding otherwise would cost, and why the result decides as it does.

A *dispute* (`find_disputes`) is a link on which annotators disagree, with who is for and against it and what
the result decides. Links on which all agree are disputes, too, where the result departs from them: a link
that everybody gave and that is not in the result, a pair of one chain that nobody linked.

A chain of three hundred mentions has fifty thousand links, but few *kinds* of links: two mentions that are
in the same chains of the same annotators, in the same chain of every solution, and enforced alike, have the
same votes, decision and price with any third mention. A dispute is therefore all links between two such
groups of mentions. Pairs of nested mentions are disputes of their own, because the nesting rule depends on
the pair.

The votes say how sure a dispute is (`caspr.confidence`). The *price to flip* (`with_prices`) is how much more
the best solution costs that decides a pair otherwise: of one pair of every
dispute, in the order in which reports show them, and of links between consecutive mentions of each chain of
the result. It is what a change costs, and does not
say who is right. The native engine computes the prices, whichever engine found the result. A
pair that is hard to flip does not keep the others waiting: each gets a small share of the time, which grows
with every pair that needs more, and those come again at the end, with all that is left. For these, a price
may be a lower bound; pairs for which there is no time at all are left out.

The *reason* (`Explainer`) is why a disputed link is in the result, or is not:

    decision       the adjudicator enforced it, or put one of the mentions together with another one,
                   against the votes for this link
    rule           one mention is inside the other, or a rule of one's own decides, or outweighs the votes
    tie            as many annotators link the two as keep them apart
    votes          the votes for this link alone say so, weighed by the objective: not always most of them
    transitivity   the votes for this link alone say otherwise, but coreference is transitive: a link is
                   in the result with all links of its chains, and those outweigh it

The votes alone: what joining and what parting the two mentions costs (`task.pair_price`), which
`costs_in_words` explains to readers of a report. Sentences name annotators and words of the text first and
costs after.

Reports show all this and `adjudicate` computes it, so it lies below both.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise, product
from typing import NamedTuple

from caspr.confidence import Confidence
from caspr.result import ChangePrice, Result
from caspr.task.decisions import Pair
from caspr.task.instance import Instance, Nesting
from caspr.task.limits import Limits
from caspr.task.own_rules import Consequence, Effect
from caspr.task.solution import Status
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Span, nested_pairs
from caspr.text.findings import shorten, times

MOST_SHOWN = 1_000
"""How many disputes of a document a report for people shows, those that matter most; as many are priced."""
ADJUDICATOR = "adjudicator"
"""The name of the voter for enforced links, where those count as votes."""


@dataclass(frozen=True)
class Dispute:
    """Disputed links with the same votes, decision and price."""

    first: tuple[Span, ...]
    """The mentions on one side, in text order."""
    second: tuple[Span, ...]
    """The mentions on the other side; none if the links are those among the first."""
    links: int
    """How many links, without those of nested mentions, which are disputes of their own."""
    supporters: tuple[str, ...]
    opponents: tuple[str, ...]
    """Who saw both mentions and did not."""
    linked: bool
    """Whether the mentions are in one chain of the result."""
    chains: tuple[str | None, str | None]
    """The chains of the result that the two sides are in, if any."""
    confidence: Confidence
    """How sure the decision is."""
    change: ChangePrice
    """What the opposite decision costs."""

    @property
    def pair(self) -> tuple[Span, Span]:
        """One of the links, in text order, which stands for all."""
        if self.second:
            return min(self.first[0], self.second[0]), max(self.first[0], self.second[0])
        return self.first[0], self.first[1]


@dataclass(frozen=True)
class _Grouping:
    """The mentions of a result in groups whose links have the same votes, decision and price."""

    result: Result

    @cached_property
    def homes(self) -> list[dict[Span, str]]:
        """For every solution, the id of the chain that each mention is in."""
        return [
            {span: chain.id for chain in (*gold.chains, *gold.singletons) for span in chain.mentions}
            for gold in self.result.golds
        ]

    @cached_property
    def groups(self) -> list[tuple[Span, ...]]:
        """The groups, in order of their first mentions."""
        instance, votes = self.result.instance, self.result.instance.votes
        by_key: dict[Hashable, list[Span]] = defaultdict(list)
        decisions = instance.decisions
        single = {span for pair in decisions.apart for span in pair}
        ruled: dict[Span, set[Hashable]] = defaultdict(set)
        for said in instance.rules.consequences:
            for span in said.mentions:
                others = (mention for mention in said.mentions if mention != span)
                ruled[span].add((said.effect, said.rule, said.cost, *others))
        for span in sorted(votes.signatures.keys() | decisions.group_of.keys()):
            key = (
                votes.signature(span),
                tuple(home.get(span) for home in self.homes),
                group.mentions[0] if (group := decisions.group_of.get(span)) else None,
                decisions.excludes(span),
                span if span in single else None,
                frozenset(ruled.get(span, ())),
            )
            by_key[key].append(span)
        return [tuple(spans) for spans in by_key.values()]

    def neighbours(self) -> list[tuple[int, int]]:
        """Return the pairs of groups that share a chain of an annotator or of the result, in text order."""
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for number, (span, *_) in enumerate(self.groups):
            for chain in self.result.instance.votes.signature(span).chains:
                holders[chain].append(number)
            if span in self.homes[0]:
                holders[self.homes[0][span]].append(number)
        return sorted({p for numbers in holders.values() for p in combinations_with_replacement(numbers, 2)})


def find_disputes(result: Result) -> list[Dispute]:
    """Return all disputes of a document in text order."""
    disputes = disputes_about(result, ranked_links(result))
    return sorted(disputes, key=lambda dispute: (dispute.pair, dispute.links))


class DisputedLinks(NamedTuple):
    """Disputed links with the same votes, as `Dispute` has them."""

    first: tuple[Span, ...]
    second: tuple[Span, ...]
    number: int
    evidence: Evidence
    linked: bool
    pair: Pair
    """One of the links, in text order, which stands for all."""


def ranked_links(result: Result) -> tuple[DisputedLinks, ...]:
    """Return all disputed links of a document, those that matter most first (`weight`).

    They are kept with the result, since prices and reports ask for them one after the other.
    """
    sure = result.confidences

    def order(links: DisputedLinks) -> tuple[float, int, Pair]:
        return weight(sure.by_evidence(links.evidence, links.linked, links.pair), links.number, links.pair)

    if "ranked links" not in result.kept:
        result.kept["ranked links"] = tuple(sorted(_disputed(_Grouping(result)), key=order))
    ranked: tuple[DisputedLinks, ...] = result.kept["ranked links"]
    return ranked


def disputes_about(result: Result, links: Iterable[DisputedLinks]) -> list[Dispute]:
    """Return the disputes about some links, in their order."""
    grouping = _Grouping(result)
    return [_dispute(grouping, some) for some in links]


def _disputed(grouping: _Grouping) -> Iterator[DisputedLinks]:
    """Yield the links between every two groups, those of nested mentions apart, where they are disputed."""
    nested, votes = _nested(grouping), grouping.result.instance.votes
    kinds = [votes.signature(group[0]) for group in grouping.groups]
    for low, high in grouping.neighbours():
        first, second = grouping.groups[low], grouping.groups[high]
        count = len(first) * (len(first) - 1) // 2 if low == high else len(first) * len(second)
        pairs, evidence = nested.get((low, high), []), meet(kinds[low], kinds[high])
        if count > len(pairs):
            rest = first, () if low == high else second, count - len(pairs)
            yield from _if_disputed(grouping, *rest, evidence)
        for outer, inner in pairs:
            yield from _if_disputed(grouping, (outer,), (inner,), 1, evidence)


def _nested(grouping: _Grouping) -> dict[tuple[int, int], list[tuple[Span, Span]]]:
    """Return the nested pairs by the groups of their mentions; none where nesting is allowed."""
    by_groups: dict[tuple[int, int], list[tuple[Span, Span]]] = defaultdict(list)
    if grouping.result.instance.nested is Nesting.ALWAYS:
        return by_groups
    number = {span: position for position, group in enumerate(grouping.groups) for span in group}
    for outer, inner in nested_pairs(number):
        low, high = sorted((number[outer], number[inner]))
        by_groups[low, high].append((outer, inner))
    return by_groups


def _if_disputed(
    grouping: _Grouping, first: tuple[Span, ...], second: tuple[Span, ...], number: int, evidence: Evidence
) -> Iterator[DisputedLinks]:
    """Yield some links with the same votes, unless the result is what all annotators say."""
    a, b = (first[0], second[0]) if second else first[:2]
    home = grouping.homes[0]
    linked = a in home and home[a] == home.get(b)
    if evidence.givers != (evidence.viewers if linked else 0):
        pair = (b, a) if b < a else (a, b)
        yield DisputedLinks(first, second, number, evidence, linked, pair)


def _dispute(grouping: _Grouping, links: DisputedLinks) -> Dispute:
    """Return the dispute about some links."""
    first, second, number, evidence, linked, _ = links
    a, b = (first[0], second[0]) if second else first[:2]
    home = grouping.homes[0]
    names = [annotation.annotator for annotation in grouping.result.instance.annotations]
    names += [ADJUDICATOR] * (grouping.result.instance.votes.annotators - len(names))
    return Dispute(
        first,
        second,
        number,
        supporters=_chosen(names, evidence.givers),
        opponents=_chosen(names, evidence.viewers & ~evidence.givers),
        linked=linked,
        chains=(home.get(a), home.get(b)),
        confidence=grouping.result.confidences.link(a, b),
        change=_change(grouping, a, b, linked),
    )


def _chosen(names: list[str], annotators: int) -> tuple[str, ...]:
    return tuple(name for number, name in enumerate(names) if annotators >> number & 1)


def _change(grouping: _Grouping, first: Span, second: Span, linked: bool) -> ChangePrice:
    """Return the price of a pair: as it was computed, or 0 if an optimum that is listed decides otherwise."""
    result = grouping.result
    known = (result.change_prices or {}).get((min(first, second), max(first, second)), ChangePrice())
    if result.status is Status.OPTIMAL and any(
        (first in home and home[first] == home.get(second)) != linked for home in grouping.homes[1:]
    ):
        return ChangePrice(price=0)
    return known


def links_by_mention(disputed: Iterable[DisputedLinks]) -> Iterator[tuple[Span, int]]:
    """Yield every mention of every dispute with the number of its links in the dispute."""
    for links in disputed:
        sides = len(links.second) or len(links.first) - 1
        for span in links.first:
            yield span, sides
        for span in links.second:
            yield span, len(links.first)


_FIRST_SHARE = 1 / 50
"""The share of the time that a pair gets at first."""
_GROWTH = 1.5
"""By how much the share grows with each pair that needs more."""


def with_prices(result: Result, seconds: float, cancelled: Callable[[], bool] | None = None) -> Result:
    """Return the result with what it costs to flip its links, for as many as some seconds allow.

    Once `cancelled` returns true, as after Ctrl-C, no more are computed.
    """
    if seconds <= 0 or result.status is not Status.OPTIMAL:
        return result
    from caspr.engines.native import Memory
    from caspr.engines.native.incremental import flip_prices

    memory = Memory()
    known: dict[Pair, ChangePrice] = {}

    def price(pair: Pair, limit: float) -> bool:
        """Compute a price within some seconds, and return whether it is exact."""
        limits = Limits(seconds=limit, cancelled=cancelled)
        [flip] = flip_prices(result.instance, result.solution, [pair], limits, memory)
        known[pair] = ChangePrice(flip.price, flip.exact, possible=flip.price is not None)
        return flip.exact

    share_time(pairs_to_price(result), seconds, price, cancelled or (lambda: False))
    return result.with_more(prices=known)


def share_time(
    pairs: Sequence[Pair],
    seconds: float,
    price: Callable[[Pair, float], bool],
    cancelled: Callable[[], bool],
) -> None:
    """Price pairs within some seconds; `price` gets a pair and its time, and returns whether it is done."""
    deadline = time.monotonic() + seconds
    share = seconds * _FIRST_SHARE
    waiting = list(pairs)
    for again in (False, True):
        hard: list[Pair] = []
        for number, pair in enumerate(waiting):
            left = deadline - time.monotonic()
            limit = left / (len(waiting) - number) if again else min(share, left)
            if left <= 0 or cancelled():
                return
            if not price(pair, limit):
                hard.append(pair)
                share *= _GROWTH
        waiting = hard


def pairs_to_price(result: Result) -> list[Pair]:
    """Return the pairs whose price is computed: disputed ones in the order of reports, then the others.

    The least sure decisions come first, of these those about most links; there are no more pairs than
    reports show disputes.
    """
    votes = result.instance.votes
    allowed = set(result.instance.mentions)
    disputed = [links.pair for links in ranked_links(result) if allowed.issuperset(links.pair)]
    links = [pair for chain in result.solution.partitions[0] for pair in pairwise(chain)]

    def closeness(pair: Pair) -> tuple[int, Pair]:
        evidence = votes.evidence(*pair)
        return abs(2 * evidence.k - evidence.n), pair

    return list(dict.fromkeys((*disputed, *sorted(links, key=closeness))))[:MOST_SHOWN]


def weight(confidence: Confidence, links: int, pair: Pair) -> tuple[float, int, Pair]:
    """Order disputes by what matters: the least sure decisions first, of these those about most links."""
    return confidence.value, -links, pair


class Reason(StrEnum):
    """What decided a disputed link."""

    DECISION = "decision"
    RULE = "rule"
    TIE = "tie"
    VOTES = "votes"
    TRANSITIVITY = "transitivity"


@dataclass(frozen=True)
class Explanation:
    """Why a disputed link was decided as it was."""

    reason: Reason
    fact: str
    """What decided it, beside the votes for and against this link."""
    votes: str = ""
    """How many annotators say so, or say otherwise, where that matters."""

    @property
    def sentence(self) -> str:
        """Votes and fact, for where the votes are not beside it."""
        if not self.votes:
            return self.fact
        if self.reason in (Reason.TIE, Reason.VOTES):
            return f"{self.votes} ({self.fact})"
        return f"{self.votes}, but {self.fact}"


class DecidedLink(NamedTuple):
    """A pair of mentions, and what the result decides."""

    pair: Pair
    linked: bool


@dataclass(frozen=True)
class Explainer:
    """Explains the disputes of one result; caches the explanations that concern pairs of chains."""

    result: Result
    who: str = "the adjudicator"
    """Who decided, in sentences: a name where there was one person."""

    def explain(self, link: DecidedLink | Dispute) -> Explanation:
        """Return what decided a link, or the links of a dispute."""
        link = DecidedLink(link.pair, link.linked)
        first, second = link.pair
        return (
            self._decision(first, second)
            or self._own_rule(first, second)
            or self._rule(first, second)
            or self._balance(link)
            or self._put_elsewhere(link)
            or Explanation(*self._outweighed(link), self._votes(link.pair, not link.linked))
        )

    @property
    def _instance(self) -> Instance:
        return self.result.instance

    def _decision(self, first: Span, second: Span) -> Explanation | None:
        decisions = self._instance.decisions
        if decisions.joins(first, second):
            return Explanation(Reason.DECISION, f"{self.who} put both into one chain")
        for span in (first, second):
            if span in decisions.alone:
                return Explanation(Reason.DECISION, f"{self.who} left {self._quote(span)} alone")
        if decisions.separates(first, second):
            return Explanation(Reason.DECISION, f"{self.who} put them into different chains")
        for span in (first, second):
            if decisions.rules_out(span):
                return Explanation(Reason.DECISION, f"{self.who} ruled out {self._quote(span)}")
        return None

    def _own_rule(self, first: Span, second: Span) -> Explanation | None:
        """Name the rule of one's own that decides about a pair at any cost."""
        said = self._said(first, second)
        if Effect.FORBID in said:
            return Explanation(Reason.RULE, f"{said[Effect.FORBID].rule} keeps these apart")
        if Effect.REQUIRE in said:
            return Explanation(Reason.RULE, f"{said[Effect.REQUIRE].rule} puts both into one chain")
        for span in (first, second):
            alone = self._said(span)
            if Effect.FORBID_MENTION in alone:
                words = f"{alone[Effect.FORBID_MENTION].rule} rules out {self._quote(span)}"
                return Explanation(Reason.RULE, words)
        return None

    def _said(self, *mentions: Span) -> dict[Effect, Consequence]:
        """Return what rules of one's own say of a mention or a pair, by effect."""
        about = self._instance.rules.by_pair.get(tuple(sorted(mentions)), ())
        return {consequence.effect: consequence for consequence in about}

    def _charges(self, first: Span, second: Span) -> str:
        """Name the rules that charge for a pair."""
        about = self._instance.rules.by_pair.get((min(first, second), max(first, second)), ())
        being = {Effect.TOGETHER_COST: "being together", Effect.APART_COST: "being apart"}
        words = [
            f"{said.cost} by {said.rule} for {being[said.effect]}" for said in about if said.effect in being
        ]
        return f", including {' and '.join(words)}" if words else ""

    def _rule(self, first: Span, second: Span) -> Explanation | None:
        if not self._instance.forbids_nesting(first, second):
            return None
        inner, outer = (first, second) if second.contains(first) else (second, first)
        return Explanation(Reason.RULE, f"{self._quote(inner)} is inside {self._quote(outer)}")

    def _balance(self, link: DecidedLink) -> Explanation | None:
        """Compare the costs of joining and of parting, the votes for this link alone."""
        join, part = self._costs(*link.pair)
        if join != part and link.linked != (join is not None and join < part):
            return None
        joining = "joining them is not allowed" if join is None else f"joining them costs {join}"
        charges = self._charges(*link.pair)
        costs = f"either way costs {part}" if join == part else f"{joining}, parting them {part}"
        costs = f"{costs}{charges}"
        evidence = self._instance.votes.evidence(*link.pair)
        if 2 * evidence.k == evidence.n:
            return Explanation(Reason.TIE, costs, "as many annotators link them as keep them apart")
        if join == part and link.linked != (2 * evidence.k > evidence.n):
            return None
        if charges and self._tipped(link):
            return Explanation(Reason.RULE, costs, self._votes(link.pair, not link.linked))
        return Explanation(Reason.VOTES, costs, self._votes(link.pair, link.linked))

    def _tipped(self, link: DecidedLink) -> bool:
        """Return whether the votes for a link would decide otherwise without the costs of rules."""
        first, second = sorted(link.pair)
        join, part = self._costs(first, second)
        rules = self._instance.rules
        voted = part - rules.apart.get((first, second), 0)
        return join is not None and link.linked != (join - rules.together.get((first, second), 0) < voted)

    def _votes(self, pair: Pair, linked: bool) -> str:
        """Say how many annotators link two mentions, or do not."""
        evidence = self._instance.votes.evidence(*pair)
        number = evidence.k if linked else evidence.n - evidence.k
        verb, rest = ("link", "them") if linked else ("keep", "them apart")
        return f"{number} of {evidence.n} annotators {verb}{'s' if number == 1 else ''} {rest}"

    def _put_elsewhere(self, link: DecidedLink) -> Explanation | None:
        """Name the mention with which the adjudicator put one of two that are not in one chain."""
        if link.linked:
            return None
        for span in link.pair:
            for partner in self._side(span):
                if partner != span and self._instance.decisions.joins(span, partner):
                    words = f"{self.who} put {self._quote(span)} together with {self._quote(partner)}"
                    return Explanation(Reason.DECISION, words)
        return None

    def _costs(self, first: Span, second: Span) -> tuple[int | None, int]:
        """Return the costs of joining and of parting two mentions; `None` where joining is forbidden."""
        price, rules = self._instance.price(first, second), self._instance.rules
        pair = min(first, second), max(first, second)
        join = price.omitted - price.gain + rules.together.get(pair, 0)
        return (join if price.allowed else None), price.omitted + rules.apart.get(pair, 0)

    def _outweighed(self, link: DecidedLink) -> tuple[Reason, str]:
        """Say what weighs more than the votes for a link."""
        if link.linked:
            held = self._held_in_chain(link)
            return (Reason.RULE, held) if held else (Reason.TRANSITIVITY, self._held_together(link))
        key = tuple(sorted(self._side(span)[0] for span in link.pair))
        if key not in self._known:
            self._known[key] = self._kept_apart(*(self._side(span) for span in link.pair))
        return self._known[key]

    def _held_in_chain(self, link: DecidedLink) -> str:
        """Name the rules that hold one of two mentions in its chain, if the votes for its links do not."""
        for span in link.pair:
            wanted = self._said(span).get(Effect.REQUIRE_MENTION)
            held = self._mention_charges(span, -1)
            if wanted is not None:
                held = f"{wanted.rule} requires {self._quote(span)} in a chain"
            if held and self._extra((span,), [far for far in self._side(span) if far != span]) >= 0:
                return held
        return ""

    def _mention_charges(self, span: Span, sign: int) -> str:
        """Name the rules that charge for a mention in a chain, or with the sign -1, for one in none."""
        about = self._instance.rules.by_pair.get((span,), ())
        costs = ((said.rule, sign * said.cost) for said in about if said.effect is Effect.MENTION_COST)
        where = f"for {self._quote(span)} in {'a' if sign > 0 else 'no'} chain"
        return " and ".join(f"{rule} charges {cost:,} {where}" for rule, cost in costs if cost > 0)

    def _extra(self, side: Iterable[Span], far: Collection[Span]) -> int:
        """Return by how much more it costs to join mentions than to part them, by all votes."""
        costs = (self._costs(a, b) for a in side for b in far)
        return sum((join or 0) - part for join, part in costs)

    def _held_together(self, link: DecidedLink) -> str:
        """Name the mention with which both are linked most."""
        a, b = link.pair
        evidence = self._instance.votes.evidence
        side = self._side(a)
        near = (next((span for span in alike if span not in (a, b)), None) for alike in self._kinds(side))
        links = zip(near, self._linked_with(a, side), self._linked_with(b, side), strict=True)
        shared, third = max(
            ((min(own, theirs), span) for span, own, theirs in links if span is not None),
            default=(0, a),
            key=lambda ranked: (ranked[0], -ranked[1].start, -ranked[1].end),
        )
        if not shared:
            return "other mentions of the entity are linked with both"
        first, second = evidence(a, third), evidence(b, third)
        counts = f"{first.k} and {second.k} of {first.n} annotators"
        if first.n != second.n:
            counts = f"{first.k} of {first.n} and {second.k} of {second.n} annotators"
        return f"both are linked with {self._quote(third)}, by {counts}"

    def _kept_apart(self, side: tuple[Span, ...], far: tuple[Span, ...]) -> tuple[Reason, str]:
        """Name a forbidden pair that would be joined as well, the additional cost, or what rules charge."""
        chains = self._called(side, far)
        for a, b in product(side, far):
            if self._instance.is_forbidden(a, b):
                pair = f"{self._quote(a)} and {self._quote(b)}"
                words = f"joining {chains} would also join {pair}, {self._obstacle(a, b)}"
                return Reason.TRANSITIVITY, words
        extra = self._extra(side, far)
        charges = [self._mention_charges(spans[0], 1) for spans in (side, far) if len(spans) == 1]
        if extra > 0:
            links = times(len(side) * len(far), "link")
            words = f"most other votes keep {chains} apart (joining them costs {extra:,} more, {links})"
        elif any(charges):
            return Reason.RULE, " and ".join(filter(None, charges))
        elif self.result.status is not Status.OPTIMAL:
            words = "nothing better was found before the search ended"
        else:
            words = "one of them is linked more strongly with other mentions"
        return Reason.TRANSITIVITY, words

    def _called(self, side: tuple[Span, ...], far: tuple[Span, ...]) -> str:
        """Return what two chains are called: by the names of their entities, if both have one."""
        own, theirs = self._names.get(side[0]), self._names.get(far[0])
        return f"{own} and {theirs}" if own and theirs else "their chains"

    def _obstacle(self, first: Span, second: Span) -> str:
        if any(span in self._instance.decisions.alone for span in (first, second)):
            return f"one of which {self.who} left alone"
        if self._instance.decisions.separates(first, second):
            return f"which {self.who} put into different chains"
        forbidding = self._said(first, second).get(Effect.FORBID)
        if forbidding is not None:
            return f"which {forbidding.rule} keeps apart"
        if self._instance.forbids_nesting(first, second):
            return "one of which is inside the other"
        return "which nobody linked"

    def _kinds(self, chain: tuple[Span, ...]) -> list[list[Span]]:
        """Return the first three mentions of each signature in a chain: two of them may be asked about."""
        if chain[0] not in self._alike:
            kinds: dict[Signature, list[Span]] = {}
            for span in chain:
                alike = kinds.setdefault(self._instance.votes.signature(span), [])
                if len(alike) < 3:
                    alike.append(span)
            self._alike[chain[0]] = list(kinds.values())
        return self._alike[chain[0]]

    def _linked_with(self, span: Span, chain: tuple[Span, ...]) -> list[int]:
        """Return how many annotators link a mention with each of the kinds in a chain."""
        key = self._instance.votes.signature(span), chain[0]
        if key not in self._links:
            kinds = (self._instance.votes.signature(alike[0]) for alike in self._kinds(chain))
            self._links[key] = [meet(key[0], kind).k for kind in kinds]
        return self._links[key]

    @cached_property
    def _links(self) -> dict[tuple[Signature, Span], list[int]]:
        return {}

    @cached_property
    def _alike(self) -> dict[Span, list[list[Span]]]:
        return {}

    def _side(self, span: Span) -> tuple[Span, ...]:
        """Return the mentions of the chain that a mention is in, or the mention itself."""
        return self._sides.get(span, (span,))

    @cached_property
    def _known(self) -> dict[tuple[Span, ...], tuple[Reason, str]]:
        return {}

    @cached_property
    def _sides(self) -> dict[Span, tuple[Span, ...]]:
        return {span: chain.mentions for chain in self.result.chains for span in chain.mentions}

    @cached_property
    def _names(self) -> dict[Span, str]:
        return {span: chain.name for chain in self.result.chains for span in chain.mentions}

    def _quote(self, span: Span) -> str:
        return f"“{shorten(self.result.document.phrase(span))}”"


def costs_in_words(instance: Instance) -> str:
    """Say how the costs in reasons are counted, and how many votes a link needs.

    >>> from caspr.task.objectives import OBJECTIVES
    >>> print(costs_in_words(Instance((), OBJECTIVES["v"])))
    Parting two mentions costs 2 for each annotator who linked them; joining them costs 1 for each who did \
not. So the votes alone favour a link that more than 1 in 3 gave.
    """
    costs, objective = instance.coefficients, instance.objective
    if not costs.are_equal:
        constant = f" and {costs.constant}" if costs.constant else ""
        return (
            "Parting two mentions costs what the votes of those weigh who linked them (omit); joining them "
            f"costs what the votes of the others weigh (use){constant}{_unused(objective.invent)}."
        )
    share = Fraction(objective.use, (objective.omit + objective.use) or 1)
    enough = f"more than {share.numerator} in {share.denominator} gave" if share else "somebody gave"
    return (
        f"Parting two mentions costs {objective.omit} for each annotator who linked them; joining them costs "
        f"{objective.use} for each who did not{_unused(objective.invent)}. So the votes alone favour a link "
        f"that {enough}."
    )


def _unused(invent: int | None) -> str:
    """Say what joining two mentions costs if their link is not used."""
    return "" if invent is None else f" or, where that is less, {invent} more than parting them"
