"""What it costs to move one mention alone: a fast estimate of the price of answering a question otherwise.

Moving a mention out of its chain loses what it gains with the others there, and moving it into another chain
wins what it gains with those. Mentions of equal signature gain the same, so a chain counts as its signatures.
The exact price may be lower, since the best solution with another answer may move more than one mention.
The estimate is there at once and does not change while exact prices are computed: it orders the questions.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.placing import Placing
from caspr.task.instance import Instance
from caspr.task.votes import Signature, meet
from caspr.text.document import Chain, Span

FORBIDDEN = 1_000_000
"""What a pair that must not share a chain counts as."""


@dataclass
class _ChainGains:
    """The signatures of a chain, and what mentions gain with all of it."""

    chain: Chain
    members: frozenset[Span]
    signatures: Counter[Signature]
    gains: dict[Signature, int] = field(default_factory=dict)


@dataclass
class Moves:
    """What mentions gain in chains, computed once for each signature and chain."""

    instance: Instance
    """The task; its decisions do not matter here."""
    _known: dict[int, _ChainGains] = field(default_factory=dict, repr=False)
    """By the identity of a chain, which is the same object in the next snapshot unless it changed."""

    def forget_others(self, chains: Iterable[Chain]) -> None:
        """Forget all chains but some."""
        kept = {id(chain) for chain in chains}
        # A copy, since other threads may add chains meanwhile.
        self._known = {key: known for key, known in self._known.copy().items() if key in kept}

    def gain(self, span: Span, chain: Chain | None) -> int:
        """Return what a mention gains with the other mentions of a chain; 0 if there is none."""
        if chain is None:
            return 0
        known = self._known.get(id(chain))
        if known is None:
            signatures = Counter(map(self.instance.votes.signature, chain.mentions))
            known = self._known[id(chain)] = _ChainGains(chain, frozenset(chain.mentions), signatures)
        own = self.instance.votes.signature(span)
        if own not in known.gains:
            known.gains[own] = sum(
                self._pair(own, other) * count for other, count in known.signatures.items()
            )
        return known.gains[own] - (self._pair(own, own) if span in known.members else 0)

    def pair_gain(self, span: Span, other: Span) -> int:
        """Return what two mentions gain in one chain."""
        votes = self.instance.votes
        return self._pair(votes.signature(span), votes.signature(other))

    def _pair(self, one: Signature, other: Signature) -> int:
        price = self.instance.prices.of(meet(one, other))
        return price.gain if price.allowed else -FORBIDDEN

    def price(self, placing: Placing, question: Question) -> int:
        """Estimate what the cheapest other answer to a question costs; 0 or less is a tie."""
        span = placing.span(question.mention)
        home = placing.chains.get(placing.home(question.mention) or "")
        if span is None:
            return 0
        here = self.gain(span, home)
        if question.kind is QuestionKind.BOUNDARY:
            others = [one for one in question.spans if one not in placing.ruled_out and one != span]
            return min((self.exchange(span, other, home) for other in others), default=0)
        moved = [here - self.gain(span, chain) for chain in placing.reachable(question) if chain is not home]
        if home is not None and len(home.mentions) > 1:
            return min((here, *moved))
        if not placing.has_loose_partners(question):
            return min(moved, default=0)
        unplaced = (place for _, place in placing.partners(question.mention, span))
        loose = (-self.pair_gain(span, place) for place in unplaced if place not in placing.chain_of)
        return min((*moved, *loose), default=0)

    def exchange(self, span: Span, other: Span, home: Chain | None) -> int:
        """Estimate what another boundary in the place of one costs; 0 for a mention in no chain."""
        if home is None or other == span:
            return 0
        return self.gain(span, home) - self.gain(other, home) + self.pair_gain(other, span)
