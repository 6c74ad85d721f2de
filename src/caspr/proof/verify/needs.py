"""Mentions that must not stay alone: whom each could be linked with, and what that says about a bound.

A *need* is an enforced mention that nothing else is assumed to be in one chain with. Its chain holds more,
and used links connect the chain, so one of them ends in it. The nodes with a mention that an annotator
linked it with are its *partners*, in the order of what the cheapest such link costs beyond leaving it
unused, then of their numbers. The first of them in its cluster is its *first partner*.

*What first partners cost.* Let a solution pay for the links that connect the pieces of its chains as a
minimum spanning tree does, ties decided by the numbers of the two nodes, the smaller first. A need whose
first partner costs something is a piece of its own, and of all links that end in it the first in that order
is in the tree. So a clustering gains at most what its pairs gain, minus the costs of the links with first
partners, each link once.

*Twins and dead mentions.* Let d needs be linked with a signature, and take the mentions that have it and
are in no bundle and no conflict: any two may be swapped. At most d of them are first partners. Of the
others, some best clustering has all together if they gain together, and all alone if not: to move one of
them leaves first partners where they are. So it suffices that d of them, or all, are nodes of their own;
the rest may be one node, or be left out if they gain nothing. None of them may be in another part.

*Leaves of the tree* (`tree`). With y_j = 1 for the first partner j of a need with home m, just one y_j is
1, and

    y_j <= x_mj                      ties;
    y_j <= z                         for a link that costs something and that two needs could use, z = 1 if
    used; a star + multiples of y_j <= 1   if j is the first partner, no partner before j is with m or j: so
    1 y_j may be added
                                     if the centre is m or j and all leaves are partners before j, or if the
                                     centre is a partner before j and m and j are leaves; 2 y_j if there are
                                     no other leaves.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from caspr.proof.verify.facts import Assumptions, Facts, Mentions
from caspr.proof.verify.reading import Proof, read_integer, require
from caspr.text.document import Span

Link = tuple[int, int]
"""The link between a need and a partner, by the numbers of their nodes, the smaller first."""
Add = Callable[[int, int, int], None]
"""Adds an amount to the gain of a pair of nodes."""


@dataclass(frozen=True)
class Need:
    """A node that must share its cluster with a partner."""

    home: int
    """The node."""
    partners: tuple[int, ...]
    """Nodes in order of preference."""
    costs: tuple[int, ...]
    """What the link with each costs."""
    links: tuple[Link, ...]
    """The link with each."""

    def keep(self, places: Iterable[int]) -> "Need":
        """Keep the partners at some places."""
        chosen = list(places)
        return replace(
            self,
            partners=tuple(self.partners[place] for place in chosen),
            costs=tuple(self.costs[place] for place in chosen),
            links=tuple(self.links[place] for place in chosen),
        )

    def among(self, allowed: Collection[tuple[int, int]]) -> "Need":
        """Forget the partners whose pair with the home is not allowed."""
        pairs = (_pair(self.home, one) for one in self.partners)
        return self.keep(place for place, pair in enumerate(pairs) if pair in allowed)

    def without(self, one: int, other: int) -> "Need":
        """Forget a partner that must not be with the home."""
        return self.keep(
            place for place, partner in enumerate(self.partners) if {self.home, partner} != {one, other}
        )

    def contract(self, keep: int, drop: int, allowed: Collection[tuple[int, int]]) -> "Need | None":
        """Make two nodes one, under the first one's number; `None` if that meets the need at no cost.

        Of several partners in one node the first counts, and none after one that is inside the home. Of the
        others, those remain whose pair with the home is `allowed` then.
        """
        home = keep if self.home == drop else self.home
        partners = tuple(keep if partner == drop else partner for partner in self.partners)
        if (home, 0) in zip(partners, self.costs, strict=True):
            return None
        places = []
        for place, partner in enumerate(partners):
            if partners.index(partner) == place and (partner == home or _pair(home, partner) in allowed):
                places.append(place)
            if partner == home:
                break
        return replace(self, home=home, partners=partners).keep(places)

    def sharpens(self, centre: int, leaves: Sequence[int]) -> list[tuple[int, int]]:
        """Return the places of partners that sharpen a star, and by how much.

        >>> need = Need(9, (1, 2, 3), (0, 0, 0), ((1, 9), (2, 9), (3, 9)))
        >>> need.sharpens(9, [1]), need.sharpens(3, [1, 2]), need.sharpens(1, [2, 9]), need.sharpens(3, [9])
        ([(1, 1), (2, 1)], [(2, 1)], [(1, 2)], [])
        """
        place = {partner: number for number, partner in enumerate(self.partners) if partner != self.home}
        if self.home in leaves:
            times = 2 if len(leaves) == 2 else 1
            # A centre that is no partner comes before nobody.
            begin = place.get(centre, len(self.partners))
            # mutant: equivalent (boundary), because the centre of a star is none of its leaves
            return [(place[leaf], times) for leaf in leaves if place.get(leaf, -1) > begin]
        if not all(leaf in place for leaf in leaves):
            return []
        after = range(max(place[leaf] for leaf in leaves) + 1, len(self.partners))
        return [(number, 1) for number in after if centre in (self.home, self.partners[number])]


def _pair(one: int, other: int) -> Link:
    return min(one, other), max(one, other)


Needs = Mapping[int, Need]
"""Needs by the number that their node has at the root of a tree."""


def read_needs(
    facts: Facts,
    nodes: Sequence[Sequence[Span]],
    given: Sequence[Any],
    conflicts: Iterable[tuple[Span, Span]],
    assumed: Assumptions,
    scope: Mentions,
) -> tuple[Needs, Mentions]:
    """Read which nodes must not stay alone; return also the mentions that no other part may hold."""
    homes = {number: nodes[number][0] for number in map(read_integer, given)}
    require(all(number >= 0 for number in homes), "a need is no node")
    for mention in homes.values():
        lone = assumed.bundles.get(mention) == frozenset({mention})
        require(lone and mention in facts.instance.required, f"{tuple(mention)} need not have a partner")
    linked = {mention: facts.linked(mention) for mention in homes.values()}
    where = {mention: number for number, node in enumerate(nodes) for mention in node}
    wanted = frozenset[Span]().union(*linked.values())
    for mention in sorted(wanted - scope):
        require(False, f"the partner {tuple(mention)} is beyond its part")
    special = assumed.bundles.keys() | {span for pair in conflicts for span in pair}
    _check_singles(facts, nodes, linked, special)
    needs = {
        number: _need(facts, number, mention, linked[mention], where) for number, mention in homes.items()
    }
    return needs, wanted - where.keys()


def _check_singles(
    facts: Facts, nodes: Sequence[Sequence[Span]], linked: Mapping[Span, Mentions], special: Collection[Span]
) -> None:
    """Check that all special partners have a node, and of those that may be swapped enough, each its own."""
    signature_of = facts.instance.votes.signature
    single = {node[0] for node in nodes if len(node) == 1}
    placed = {mention for node in nodes for mention in node}
    needed = Counter(
        signature for others in linked.values() for signature in {signature_of(one) for one in others}
    )
    known = Counter(signature_of(mention) for mention in single if mention not in special)
    for mention in sorted(frozenset[Span]().union(*linked.values()) - single):
        if mention in special:
            require(mention in placed, "a partner is in no node")
        else:
            signature = signature_of(mention)
            require(known[signature] >= needed[signature], "too few partners are nodes of their own")


def _need(facts: Facts, number: int, mention: Span, linked: Mentions, where: Mapping[Span, int]) -> Need:
    costs: dict[int, int] = {}
    for other in sorted(linked & where.keys()):
        # mutant: equivalent (drop-operand 2), because a link that an annotator gave has a price
        cost, node = facts.extra(mention, other) or 0, where[other]
        costs[node] = min(cost, costs.get(node, cost))
    ranked = sorted((cost, node) for node, cost in costs.items())
    return Need(
        number,
        tuple(node for _, node in ranked),
        tuple(cost for cost, _ in ranked),
        tuple(_pair(number, node) for _, node in ranked),
    )


def bound_needs(needs: Needs, leaf: Proof, shift: int, add: Add) -> int | None:
    """Bound what first partners cost, by the inequalities of a leaf; `None` if a need has no partner.

    `add` takes what the inequalities add to the gain of a pair. The bound is in units of 2^-shift.
    """
    if any(not need.partners for need in needs.values()):
        return None
    ends = Counter(
        link for need in needs.values() for link, cost in zip(need.links, need.costs, strict=True) if cost
    )
    shared: dict[Link, int] = {}
    gains: dict[int, list[int]] = {}
    for number, need in needs.items():
        for link, cost in zip(need.links, need.costs, strict=True):
            alone = ends[link] < 2
            gains.setdefault(number, []).append(-cost << shift if alone else 0)
            shared |= {} if alone else {link: -cost << shift}
    total = 0
    for multiplier, number, centre, *leaves in _read_rows(leaf, "partner_stars"):
        require(len({centre, *leaves}) == len(leaves) + 1, "an inequality is not a star")
        total += multiplier
        for one in leaves:
            add(centre, one, -multiplier)
        for one, other in combinations(leaves, 2):
            add(one, other, multiplier)
        for place, times in needs[number].sharpens(centre, leaves):
            gains[number][place] -= times * multiplier
    for multiplier, number, partner in _read_rows(leaf, "ties"):
        need = needs[number]
        require(partner != need.home, "a tie is about a partner inside its home")
        gains[number][need.partners.index(partner)] -= multiplier
        add(need.home, partner, multiplier)
    for multiplier, number, partner in _read_rows(leaf, "shared"):
        place = needs[number].partners.index(partner)
        gains[number][place] -= multiplier
        shared[needs[number].links[place]] += multiplier
    return total + sum(map(max, gains.values())) + sum(max(gain, 0) for gain in shared.values())


def _read_rows(leaf: Proof, kind: str) -> Iterator[list[int]]:
    for row in leaf.get(kind, ()):
        numbers = [read_integer(number) for number in row]
        require(numbers[0] >= 0, "a multiplier is negative")
        yield numbers
