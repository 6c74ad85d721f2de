"""The oracle: answers the cards of the review page from a gold standard, as one who reads them would.

boundary        the boundary that the gold has, or several, or none
entity          all offered entities that are the mention's in the gold, by most of their mentions
another entity  one of the result that is, if none is offered that is
alone           if the gold has the mention in a chain of one
a new entity    if the gold has other mentions with it, but the result has none of them
not a mention   if the gold does not have it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from caspr.task.decisions import spelled
from caspr.text.document import Annotation, Span

Card = Mapping[str, Any]
Operation = dict[str, Any]


@dataclass(frozen=True)
class Oracle:
    """One who knows the gold."""

    gold: Annotation

    @cached_property
    def chain_of(self) -> dict[str, str]:
        """The chain of each mention of the gold, by the mention as the page writes it."""
        return {spelled(span): chain.id for chain in self.gold.all_chains for span in chain.mentions}

    @cached_property
    def _alone(self) -> set[str]:
        return {chain.id for chain in self.gold.all_chains if len(chain.mentions) == 1}

    def same(self, one: str, other: str) -> bool:
        """Return whether the gold has two mentions in one chain."""
        return one in self.chain_of and self.chain_of[one] == self.chain_of.get(other)

    def is_entity(self, mention: str, shown: Sequence[str]) -> bool:
        """Return whether an entity is that of a mention, by most of its mentions that the gold has."""
        known = [other for other in shown if other != mention and other in self.chain_of]
        return 2 * sum(self.same(mention, other) for other in known) > len(known)

    def answer(self, card: Card, chain_of: Mapping[Span, str]) -> Operation:
        """Return the operation that answers a card; `chain_of` are the mentions of the result."""
        if card["kind"] == "boundary":
            return self._boundary(card)
        mention = card["mention"]
        if mention not in self.chain_of:
            return {"do": "absent", "mentions": [mention]}
        chosen = [one for one in card["choices"] if self.is_entity(mention, one["mentions"])]
        apart = [doubt for one in card["choices"] if one not in chosen for doubt in one["doubts"]]
        place: Operation = {"do": "place", "mention": mention, "with": [], "apart": apart}
        if chosen:
            return {**place, "with": [other for one in chosen for other in one["answer"]["with"]]}
        if self.chain_of[mention] in self._alone:
            return {"do": "alone", "mentions": [mention]}
        chains: dict[str, list[str]] = {}
        for span, id in sorted(chain_of.items()):
            chains.setdefault(id, []).append(spelled(span))
        known = next((id for id, chain in chains.items() if self.is_entity(mention, chain)), None)
        return {**place, "exists": True} if known is None else {**place, "chain": known}

    def _boundary(self, card: Card) -> Operation:
        spans = [choice["anchor"] for choice in card["choices"]]
        right = [span for span in spans if span in self.chain_of]
        if not right:
            return {"do": "absent", "mentions": spans}
        if len(right) == 1:
            answer: Operation = next(one["answer"] for one in card["choices"] if one["anchor"] == right[0])
            return answer
        wrong = [span for span in spans if span not in right]
        return {"do": "prefer", "mentions": right, "over": wrong}
