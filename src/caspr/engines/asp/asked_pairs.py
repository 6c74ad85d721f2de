"""Which pairs of mentions rules of one's own are asked about in a large text (`grounding`).

Mentions that are in the same chains are asked about in the same way, so one asks about *groups* of such
mentions. To the body of a rule about M1 and M2 comes `caspr_in(G,M1), caspr_ask(G,H), caspr_in(H,M2)`, where
the groups G and H share a chain: so each pair is found once, however many chains hold both.

*Mentions alike.* Where rules only look at what mentions are like (their words, types, names, labels), and not
at where they are, two mentions with the same facts can be swapped in all facts, and so in all that follows
from them. Then it is enough to ask about two of a kind in each group, and what is derived of these two holds
for all.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product

from caspr.task.own_rules import Consequence
from caspr.text.document import Span

Chains = Sequence[Collection[Span]]
Profiles = Mapping[Span, frozenset[str]]
"""What facts say of each mention."""
TIMES = 4
"""How many times as many facts as mentions in chains the pairs of groups may take."""


@dataclass(frozen=True)
class AskedPairs:
    """Pairs of mentions to ask about."""

    groups: Sequence[Sequence[Span]]
    near: Sequence[tuple[int, int]]
    """The groups between which all pairs are asked about, by number, in both orders."""

    @classmethod
    def about(cls, chains: Chains, known: Chains = ()) -> "AskedPairs":
        """Ask about the pairs within some chains, but for those within chains that were asked about."""
        homes, before = _homes(chains), _homes(known)
        nowhere: frozenset[int] = frozenset()
        groups: dict[tuple[frozenset[int], frozenset[int]], list[Span]] = defaultdict(list)
        for span in sorted(homes):
            groups[homes[span], before.get(span, nowhere)].append(span)
        inside: dict[int, list[int]] = defaultdict(list)
        for number, (own, _) in enumerate(groups):
            for chain in own:
                inside[chain].append(number)
        asked = [known for _, known in groups]
        near = {
            pair
            for numbers in inside.values()
            for first, second in combinations_with_replacement(numbers, 2)
            if asked[first].isdisjoint(asked[second])
            for pair in ((first, second), (second, first))
        }
        return cls(list(groups.values()), sorted(near))

    @classmethod
    def within(cls, chains: Chains) -> "AskedPairs":
        """Ask about the pairs within some chains; one by one where that takes fewer facts."""
        kinds = Counter(chain for kind in set(_homes(chains).values()) for chain in kind)
        if sum(number**2 for number in kinds.values()) > TIMES * sum(map(len, chains)):
            return cls(list(map(list, chains)), [(number, number) for number in range(len(chains))])
        return cls.about(chains)

    def facts(self, inside: str, near: str) -> Iterator[tuple[str, tuple[int, Span | int]]]:
        """Yield facts that say which mentions are in which group, and which groups are asked about."""
        for number, group in enumerate(self.groups):
            yield from ((inside, (number, span)) for span in group)
        yield from ((near, pair) for pair in self.near)

    def sample(self, profiles: Profiles) -> "AskedPairs":
        """Ask only about two mentions of each profile in each group."""
        groups = [
            [span for alike in _by_profile(group, profiles).values() for span in alike[:2]]
            for group in self.groups
        ]
        return AskedPairs(groups, self.near)

    def spread(self, derived: Iterable[Consequence], profiles: Profiles) -> Iterator[Consequence]:
        """Say of all mentions what was derived of two that are like them."""
        homes = {span: number for number, group in enumerate(self.groups) for span in group}
        kinds = [_by_profile(group, profiles) for group in self.groups]
        near, done = frozenset(self.near), set()
        for one in derived:
            numbers = [homes.get(span, -1) for span in one.mentions]
            if len(numbers) < 2 or tuple(numbers) not in near:
                yield one  # by a rule that is asked about everything
                continue
            first, second = (
                kinds[number][profiles.get(span, frozenset())]
                for number, span in zip(numbers, one.mentions, strict=True)
            )
            key = one.effect, one.cost, one.rule, frozenset((first[0], second[0]))
            if key in done:
                continue
            done.add(key)
            for a, b in combinations(first, 2) if first is second else product(first, second):
                yield Consequence(one.effect, (min(a, b), max(a, b)), one.rule, one.cost)


def _homes(chains: Chains) -> dict[Span, frozenset[int]]:
    """Return the chains, by number, that each mention is in."""
    homes: dict[Span, list[int]] = defaultdict(list)
    for number, chain in enumerate(chains):
        for span in chain:
            homes[span].append(number)
    return {span: frozenset(numbers) for span, numbers in homes.items()}


def _by_profile(group: Iterable[Span], profiles: Profiles) -> dict[frozenset[str], list[Span]]:
    kinds: dict[frozenset[str], list[Span]] = defaultdict(list)
    for span in group:
        kinds[profiles.get(span, frozenset())].append(span)
    return kinds
