"""Disputes: every link on which annotators disagree, who is for and against it, and what the result decides.

Links on which all agree are disputes, too, where the result departs from them: a link that everybody gave and
that is not in the result, a pair of one chain that nobody linked.

A chain of three hundred mentions has fifty thousand links, but few *kinds* of links: two mentions that are
in the same chains of the same annotators, in the same chain of every solution, and enforced alike, have the
same votes, decision and certainty with any third mention. A dispute is therefore all links between two such
groups of mentions. Pairs of nested mentions are disputes of their own, because the nesting rule depends on
the pair.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

from caspr.result import Certainty, Result
from caspr.task.instance import Nesting
from caspr.task.solution import Status
from caspr.text.document import Span
from caspr.text.links import nested_pairs

ADJUDICATOR = "adjudicator"
"""The name of the voter for enforced links, where those count as votes."""


@dataclass(frozen=True)
class Dispute:
    """Disputed links with the same votes, decision and certainty."""

    first: tuple[Span, ...]
    """The mentions on one side, in text order."""
    second: tuple[Span, ...]
    """The mentions on the other side; none if the links are those among the first."""
    links: int
    """How many links, without those of nested mentions, which are disputes of their own."""
    supporters: tuple[str, ...]
    """Who gave the links."""
    opponents: tuple[str, ...]
    """Who saw both mentions and did not."""
    linked: bool
    """Whether the mentions are in one chain of the result."""
    chains: tuple[str | None, str | None]
    """The chains of the result that the two sides are in, if any."""
    certainty: Certainty
    """Whether every optimum decides so, and the price of deciding otherwise."""

    @property
    def pair(self) -> tuple[Span, Span]:
        """One of the links, in text order, which stands for all."""
        if self.second:
            return min(self.first[0], self.second[0]), max(self.first[0], self.second[0])
        return self.first[0], self.first[1]


@dataclass(frozen=True)
class _Grouping:
    """The mentions of a result in groups whose links have the same votes, decision and certainty."""

    result: Result
    """The result."""

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
        found: dict[Hashable, list[Span]] = defaultdict(list)
        decisions = instance.decisions
        single = {span for pair in decisions.apart for span in pair}
        for span in sorted(votes.signatures.keys() | decisions.group_of.keys()):
            key = (
                votes.signature(span),
                tuple(home.get(span) for home in self.homes),
                group.mentions[0] if (group := decisions.group_of.get(span)) else None,
                decisions.excludes(span),
                span if span in single else None,
            )
            found[key].append(span)
        return [tuple(spans) for spans in found.values()]

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
    grouping = _Grouping(result)
    nested = _nested(grouping)
    found: list[Dispute] = []
    for one, other in grouping.neighbours():
        first, second = grouping.groups[one], grouping.groups[other]
        count = len(first) * (len(first) - 1) // 2 if one == other else len(first) * len(second)
        pairs = nested.get((one, other), [])
        if count > len(pairs):
            found.extend(_disputes(grouping, first, () if one == other else second, count - len(pairs)))
        for outer, inner in pairs:
            found.extend(_disputes(grouping, (outer,), (inner,), 1))
    return sorted(found, key=lambda dispute: (dispute.pair, dispute.links))


def _nested(grouping: _Grouping) -> dict[tuple[int, int], list[tuple[Span, Span]]]:
    """Return the nested pairs by the groups of their mentions; none where nesting is allowed."""
    found: dict[tuple[int, int], list[tuple[Span, Span]]] = defaultdict(list)
    if grouping.result.instance.nested is Nesting.ALWAYS:
        return found
    number = {span: position for position, group in enumerate(grouping.groups) for span in group}
    for outer, inner in nested_pairs(number):
        low, high = sorted((number[outer], number[inner]))
        found[low, high].append((outer, inner))
    return found


def _disputes(
    grouping: _Grouping, first: tuple[Span, ...], second: tuple[Span, ...], links: int
) -> Iterator[Dispute]:
    """Yield the dispute about some links, unless the result is what all annotators say."""
    one, other = (first[0], second[0]) if second else first[:2]
    votes = grouping.result.instance.votes
    evidence = votes.evidence(one, other)
    home = grouping.homes[0]
    linked = one in home and home[one] == home.get(other)
    if evidence.givers == (evidence.viewers if linked else 0):
        return
    names = [annotation.annotator for annotation in grouping.result.instance.annotations]
    names += [ADJUDICATOR] * (votes.annotators - len(names))
    yield Dispute(
        first,
        second,
        links,
        supporters=_chosen(names, evidence.givers),
        opponents=_chosen(names, evidence.viewers & ~evidence.givers),
        linked=linked,
        chains=(home.get(one), home.get(other)),
        certainty=_certainty(grouping, one, other, linked),
    )


def _chosen(names: list[str], annotators: int) -> tuple[str, ...]:
    return tuple(name for number, name in enumerate(names) if annotators >> number & 1)


def _certainty(grouping: _Grouping, one: Span, other: Span, linked: bool) -> Certainty:
    """Return what is known about a pair: from the prices, and from the solutions that the engine listed."""
    result = grouping.result
    certainty = (result.certainties or {}).get((min(one, other), max(one, other)), Certainty())
    if not certainty.possible:
        return replace(certainty, always=True)
    if certainty.always is not None or result.status is not Status.OPTIMAL:
        return certainty
    if any((one in home and home[one] == home.get(other)) != linked for home in grouping.homes[1:]):
        return Certainty(always=False, flip=0)
    if certainty.flip is not None and (certainty.flip > 0 or certainty.exact):
        return replace(certainty, always=certainty.flip > 0)
    return Certainty(always=True) if result.solution.complete else certainty


def disputed_links(disputes: list[Dispute]) -> int:
    """Count the links of disputes."""
    return sum(dispute.links for dispute in disputes)


def links_by_mention(disputes: list[Dispute]) -> Iterator[tuple[Span, int]]:
    """Yield every mention of every dispute with the number of its links in the dispute."""
    for dispute in disputes:
        sides = len(dispute.second) or len(dispute.first) - 1
        for span in dispute.first:
            yield span, sides
        for span in dispute.second:
            yield span, len(dispute.first)
