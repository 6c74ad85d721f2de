"""Decisions: what the adjudicator enforced (the paper's section 3.2).

The unit is the cell of one token in the result column of a review file. An enforced cell says: exactly
these mentions start and end here. From all enforced cells together follow

    chains     mentions that must exist, with those of one id together and those of two ids apart;
    closed     tokens where no other mention may start or end (`=-` closes a token to all of them).

Cells are also the unit of blame: when decisions contradict each other, a minimal set of cells is named.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from caspr.document import Chain, Span


@dataclass(frozen=True)
class Decisions:
    """The enforced part of the answer."""

    chains: tuple[Chain, ...] = ()
    """Enforced mentions by chain; the ids are kept in the result. A chain may have one mention."""
    closed: frozenset[int] = frozenset()
    """Tokens at which only permitted mentions may start or end."""
    permitted: frozenset[Span] = frozenset()
    """Mentions that closed tokens let through."""
    lone: frozenset[Span] = frozenset()
    """Mentions enforced alone under their id, which need another mention to be with."""

    @classmethod
    def of(cls, chains: Iterable[Chain] = (), empty: Iterable[int] = ()) -> "Decisions":
        """Enforce mentions in chains, and tokens without any boundary; chains of one id are one."""
        by_id: dict[str, list[Span]] = {}
        for chain in chains:
            by_id.setdefault(chain.id, []).extend(chain.mentions)
        enforced = [Chain.of(id, spans) for id, spans in by_id.items()]
        enforced.sort(key=lambda chain: (chain.mentions, chain.id))
        mentions = frozenset(span for chain in enforced for span in chain.mentions)
        lone = frozenset(chain.mentions[0] for chain in enforced if len(chain.mentions) == 1)
        boundaries = {token for span in mentions for token in span}
        return cls(tuple(enforced), frozenset(empty) | boundaries, mentions, lone)

    def __bool__(self) -> bool:
        """Tell whether anything is enforced."""
        return bool(self.closed)

    @cached_property
    def chain_ids(self) -> Mapping[Span, tuple[str, ...]]:
        """The chain ids each enforced mention was put into: one, or more where cells contradict."""
        ids: dict[Span, tuple[str, ...]] = {}
        for chain in self.chains:
            for span in chain.mentions:
                ids[span] = (*ids.get(span, ()), chain.id)
        return ids

    def rules_out(self, mention: Span) -> bool:
        """Tell whether a closed token forbids a mention."""
        touches = mention.start in self.closed or mention.end in self.closed
        return touches and mention not in self.permitted

    def joins(self, first: Span, second: Span) -> bool:
        """Tell whether two mentions were enforced into one chain."""
        ids = self.chain_ids.get(first)
        return ids is not None and ids == self.chain_ids.get(second)

    def separates(self, first: Span, second: Span) -> bool:
        """Tell whether two mentions were enforced into different chains."""
        one, other = self.chain_ids.get(first), self.chain_ids.get(second)
        return one is not None and other is not None and one != other

    def restricted_to(self, tokens: Collection[int]) -> "Decisions":
        """Keep only the cells of some tokens.

        A mention stays enforced when both its cells stay; one that was enforced together with others does
        not become a lone mention by losing them. So the fewer cells, the more is allowed: this is what
        makes a minimal contradiction well defined.
        """
        kept = frozenset(tokens)
        chains = (
            Chain(chain.id, tuple(span for span in chain.mentions if kept.issuperset(span)))
            for chain in self.chains
        )
        return Decisions(
            tuple(chain for chain in chains if chain.mentions),
            self.closed & kept,
            self.permitted,
            frozenset(span for span in self.lone if kept.issuperset(span)),
        )
