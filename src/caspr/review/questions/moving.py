"""What it costs to move one mention alone: a fast estimate of the price of answering a question otherwise.

Moving a mention out of its chain loses what it gains with the others there, and moving it into another chain
wins what it gains with those. One link with them must be used, and members of that chain that the rule on
nesting keeps apart from it must leave. Mentions of equal signature gain the same, so a chain counts as its
signatures. A mention that annotators put into the same chain as others that are all in no chain of the result
may be joined with one of these.

Another boundary costs what the votes for it and for the one of the result differ in. Where variants are one
mention, votes count for all boundaries alike, and another one costs nothing: that is a tie.

The exact price may be lower, since the best solution with another answer may move more than one mention.
The estimate is there at once and does not change while exact prices are computed: it orders the questions.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.placing import Placing
from caspr.task.instance import Instance, Nesting
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
    longest: int
    gains: dict[Signature, int] = field(default_factory=dict)
    extras: dict[Signature, int] = field(default_factory=dict)

    def near(self, span: Span) -> Iterator[Span]:
        """Yield the members that may be nested with a span."""
        mentions = self.chain.mentions
        first = bisect_left(mentions, (span.end - self.longest, 0))
        yield from mentions[first : bisect_left(mentions, (span.end + 1, 0))]


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
        known, own = self._gains(chain), self.instance.votes.signature(span)
        if own not in known.gains:
            known.gains[own] = sum(
                self._pair(own, other) * count for other, count in known.signatures.items()
            )
        return known.gains[own] - (self._pair(own, own) if span in known.members else 0)

    def _gains(self, chain: Chain) -> _ChainGains:
        known = self._known.get(id(chain))
        if known is None:
            signatures = Counter(map(self.instance.votes.signature, chain.mentions))
            longest = max(span.end - span.start for span in chain.mentions)
            known = _ChainGains(chain, frozenset(chain.mentions), signatures, longest)
            self._known[id(chain)] = known
        return known

    def entering(self, span: Span, chain: Chain) -> int:
        """Return what it costs that a mention joins a chain of which it is no member.

        One of their links must be used, and members that the rule on nesting keeps apart from it must leave.
        """
        known, own = self._gains(chain), self.instance.votes.signature(span)
        if own not in known.extras:
            prices = (self.instance.prices.of(meet(own, other)) for other in known.signatures)
            extras = [price.extra for price in prices if price.extra is not None]
            known.extras[own] = min(extras, default=0)
        leaving = [other for other in known.near(span) if self.instance.forbids_nesting(span, other)]
        lost = sum(self.gain(other, chain) + self.pair_gain(span, other) for other in leaving)
        return known.extras[own] + lost - self.gain(span, chain)

    def pair_gain(self, span: Span, other: Span) -> int:
        """Return what two mentions gain in one chain."""
        votes = self.instance.votes
        return self._pair(votes.signature(span), votes.signature(other))

    def joining(self, span: Span, other: Span) -> int:
        """Return what a chain of two mentions costs, whose link must be used."""
        votes = self.instance.votes
        extra = self.instance.prices.of(meet(votes.signature(span), votes.signature(other))).extra
        return (extra or 0) - self.pair_gain(span, other)

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
            united = placing.solver.settings.variants
            return min((self.exchange(span, other, home, united=united) for other in others), default=0)
        moved = [
            here + self.entering(span, chain) for chain in placing.reachable(question) if chain is not home
        ]
        if home is not None and len(home.mentions) > 1:
            return min((here, *moved))
        if moved and not placing.is_missed(question):
            return min(moved)
        unplaced = (place for _, place in placing.partners(question.mention, span))
        loose = (self.joining(span, place) for place in unplaced if place not in placing.chain_of)
        return min((*moved, *loose), default=0)

    def exchange(self, span: Span, other: Span, home: Chain | None, *, united: bool) -> int:
        """Estimate what another boundary in the place of one costs; 0 for a mention in no chain.

        If boundaries are `united`, the votes are the same for both, and only nesting can make a difference.
        """
        if home is None or other == span:
            return 0
        if not united:
            return self.gain(span, home) - self.gain(other, home) + self.pair_gain(other, span)
        if self.instance.nested is Nesting.ALWAYS:
            return 0
        inside = (one for one in self._gains(home).near(other) if one != span and one.nests_with(other))
        return sum(max(0, self.gain(one, home)) for one in inside if not one.nests_with(span))
