"""Names of entities: what the adjudicator calls the chains of the result.

A name is about an entity, and a chain of the result may change with every decision. So a name knows the
mentions that its entity had last, and goes to the chain that has more than half of them now:

    named        "Sir William" {1, 4, 9}
    result now   {1, 9, 12}     Sir William
                 {4, 7}

1. No chain gets two names; where names compete, most shared mentions win, then the earlier name.
2. A name waits while no chain has more than half of its mentions.
3. What the adjudicator says of an entity replaces what annotators voted for, name and type apart from each
   other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from caspr.text.document import Chain, Span
from caspr.text.grouping import match_one_to_one


@dataclass(frozen=True)
class EntityName:
    """What the adjudicator calls an entity."""

    mentions: tuple[Span, ...]
    """The mentions that the entity had last, in text order."""
    name: str | None = None
    """Its name, empty for none; `None` if the annotators' votes decide."""
    type: str | None = None
    """Its type, empty for none; `None` if the annotators' votes decide."""

    def __str__(self) -> str:
        """Say it in words.

        >>> print(EntityName((Span(1, 3),), "Sir William", "person"))
        (1, 3) is named "Sir William", of type "person"
        """
        listed = ", ".join(str(tuple(mention)) for mention in self.mentions[:1])
        more = f" and {len(self.mentions) - 1} more" if len(self.mentions) > 1 else ""
        parts = [
            f'{verb} "{value}"' if value else without
            for verb, without, value in (
                ("is named", "has no name", self.name),
                ("of type", "has no type", self.type),
            )
            if value is not None
        ]
        return f"{listed}{more} {', '.join(parts)}"

    def on(self, chain: Chain) -> Chain:
        """Return a chain under this name."""
        return replace(
            chain,
            name=chain.name if self.name is None else self.name,
            type=chain.type if self.type is None else self.type,
        )


def match_names(chains: Sequence[Chain], names: Sequence[EntityName]) -> Mapping[int, int]:
    """Return the chain of each name that has one, both by their positions.

    >>> chains = [Chain.of("1", [(1, 1), (9, 9), (12, 12)]), Chain.of("2", [(4, 4), (7, 7)])]
    >>> match_names(chains, [EntityName((Span(1, 1), Span(4, 4), Span(9, 9)), "Sir William")])
    {0: 0}
    """
    if not names:
        return {}
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain.mentions}
    claims: dict[tuple[int, int], int] = {}
    for number, name in enumerate(names):
        for mention in name.mentions:
            if mention in holder:
                claim = number, holder[mention]
                claims[claim] = claims.get(claim, 0) + 1
    most = (claim for claim in claims if 2 * claims[claim] > len(names[claim[0]].mentions))
    return match_one_to_one(sorted(most, key=lambda claim: (-claims[claim], claim)))


def follow_names(
    names: Sequence[EntityName], before: Sequence[Chain], after: Sequence[Chain]
) -> tuple[EntityName, ...]:
    """Return names with the mentions that their entities have after a change of the result.

    An entity keeps its id, whatever mentions it gains or loses; one whose id is gone is where most of its
    mentions are, unless that chain has a name.
    """
    had, places = match_names(before, names), {chain.id: number for number, chain in enumerate(after)}
    placed = {name: places[before[chain].id] for name, chain in had.items() if before[chain].id in places}
    waiting = [number for number in range(len(names)) if number not in placed]
    free = [number for number in range(len(after)) if number not in placed.values()]
    found = match_names([after[number] for number in free], [names[number] for number in waiting])
    placed |= {waiting[name]: free[chain] for name, chain in found.items()}
    return tuple(
        replace(name, mentions=after[placed[number]].mentions) if number in placed else name
        for number, name in enumerate(names)
    )


def with_names(chains: Iterable[Chain], names: Sequence[EntityName]) -> tuple[Chain, ...]:
    """Give chains the names that the adjudicator gave their entities."""
    given = tuple(chains)
    named = {chain: names[name] for name, chain in match_names(given, names).items()}
    return tuple(named[number].on(chain) if number in named else chain for number, chain in enumerate(given))
