"""Where the annotators' mentions are at one moment: result and decisions, seen by mention.

A mention may have several boundaries (`finding`). Its *place* is the one that the result has in a chain, or
else that of most annotators which decisions allow. Decisions about any boundary are about the mention.

What an annotator *says* about a mention is the chain of the result that holds most of the other mentions of
the annotator's chain; if the result has none of them, it is an entity that the result lacks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from caspr.review.questions.finding import Question, QuestionKind, UnitedMentions
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Decisions
from caspr.task.instance import Singletons
from caspr.text.document import Chain, Span

AnnotatorChain = tuple[int, int]
"""An annotator and one of the annotator's chains, both as positions."""


class Stance(NamedTuple):
    """What one annotator says about a mention."""

    kind: str
    """`entity`, `alone`, `absent` or `unseen`."""
    entity: str | None = None
    """The id of the chain of the result; `None` for an entity that the result lacks."""


@dataclass(frozen=True)
class Placing:
    """The mentions of a document under some decisions, and in a result if there is one."""

    solver: Solver
    """The document and its annotations."""
    united: UnitedMentions
    """The mentions, with their boundaries."""
    decisions: Decisions
    """What is decided."""
    snapshot: Snapshot | None = None
    """The result; without one, questions can only be counted."""

    @cached_property
    def ruled_out(self) -> frozenset[Span]:
        """The annotators' spans that decisions forbid."""
        return self.solver.ruled_out(self.decisions)

    @cached_property
    def chain_of(self) -> Mapping[Span, str]:
        """The chain of each span of the result."""
        return {} if self.snapshot is None else self.snapshot.chain_of

    @cached_property
    def chains(self) -> Mapping[str, Chain]:
        """The chains of the result by id."""
        return {} if self.snapshot is None else {chain.id: chain for chain in self.snapshot.chains}

    @cached_property
    def fixed(self) -> frozenset[Span]:
        """The spans that decisions say are mentions."""
        return self.decisions.standing.union(self.decisions.group_of)

    @cached_property
    def _kept_apart(self) -> frozenset[Span]:
        return frozenset(span for pair in self.decisions.apart for span in pair)

    def span(self, mention: Span) -> Span | None:
        """Return the boundary that a mention has now; `None` if decisions forbid all."""
        if mention not in self.united.spans_of:
            return None if mention in self.ruled_out else mention
        left = [span for span in (mention, *self.united.spans(mention)) if span not in self.ruled_out]
        placed = [span for span in left if span in self.fixed] or [
            span for span in left if span in self.chain_of
        ]
        return next(iter(placed or left), None)

    def home(self, mention: Span) -> str | None:
        """Return the id of the chain of the result that a mention is in."""
        span = self.span(mention)
        return None if span is None else self.chain_of.get(span)

    def separates(self, first: Span, second: Span) -> bool:
        """Return whether decisions keep two spans out of one chain."""
        if self.decisions.alone and (first in self.decisions.alone or second in self.decisions.alone):
            return True
        return self.decisions.separates(first, second)

    def partners(self, mention: Span, span: Span) -> Iterator[tuple[Span, Span]]:
        """Yield the mentions that annotators link with one and that decisions allow, with their places."""
        for other in self.united.votes.neighbours(mention):
            place = self.span(other)
            if place is not None and not self.separates(span, place):
                yield other, place

    def is_open(self, question: Question) -> bool:
        """Return whether no decision answers a question."""
        if question.kind is QuestionKind.BOUNDARY:
            return self._boundary_open(question)
        span = self.span(question.mention)
        if span is None or span in self.decisions.alone:
            return False
        if question.kind is QuestionKind.LINK and self._link_open(question, span):
            return not self._is_placed(question, span)
        return question.marked < question.seen and self._mention_open(question.mention, span)

    def _boundary_open(self, question: Question) -> bool:
        """Return whether several boundaries are left, and not all of them are decided to be mentions."""
        left = [span for span in question.spans if span not in self.ruled_out]
        fixed = sum(span in self.fixed for span in left)
        if fixed and self.solver.settings.variants:
            return False
        return len(left) > max(1, fixed)

    def _link_open(self, question: Question, span: Span) -> bool:
        """Return whether some doubt is left: neither decided to be the same, nor to be different."""
        places = (self.span(doubt) for doubt in question.doubts)
        return not all(place is None or self._is_settled(span, place) for place in places)

    def _is_placed(self, question: Question, span: Span) -> bool:
        """Return whether decisions say of which entity a mention is: by its chain, or by an earlier mention.

        With an earlier mention the question stays open where the result has a doubt in the entity, too, that
        most annotators do not link with that mention: it is not decided whether two entities are one.
        """
        group = self.decisions.group_of.get(span)
        if group is None or len(group.mentions) < 2:
            return False
        if group.ids:
            return True
        home, earlier = self.chain_of.get(span), [one for one in group.mentions if one < span]
        if home is None or not earlier:
            return False
        return all(
            place is None
            or self.chain_of.get(place) != home
            or self._is_settled(span, place)
            or any(self._agreed(doubt, one) for one in earlier)
            for doubt, place in ((doubt, self.span(doubt)) for doubt in question.doubts)
        )

    def _agreed(self, mention: Span, span: Span) -> bool:
        """Return whether more than half of the annotators link a mention with a span."""
        evidence = self.united.votes.evidence(mention, self.united.mention(span))
        return 2 * evidence.k > evidence.n

    def _is_settled(self, span: Span, other: Span) -> bool:
        return self.separates(span, other) or self.decisions.joins(span, other)

    def settled(self, span: Span, others: Iterable[Span], question: Question) -> bool:
        """Return whether decisions say about all doubts among some mentions if they are the same as one."""
        doubts = {self.span(doubt) for doubt in question.doubts}
        return all(self._is_settled(span, other) for other in others if other in doubts)

    def _mention_open(self, mention: Span, span: Span) -> bool:
        """Return whether a mention is undecided, and can be in the result."""
        if span in self.fixed:
            return False
        if self.solver.settings.singletons is not Singletons.DROP:
            return True
        return next(self.partners(mention, span), None) is not None

    @cached_property
    def spread(self) -> Mapping[AnnotatorChain, Counter[str | None]]:
        """How many mentions of each annotator's chain are in which chain of the result."""
        found: dict[AnnotatorChain, Counter[str | None]] = {}
        for mention, signature in self.united.votes.signatures.items():
            if self.span(mention) is not None:
                home = self.home(mention)
                for chain in signature.chains:
                    found.setdefault(chain, Counter())[home] += 1
        return found

    def stances(self, mention: Span) -> Sequence[Stance]:
        """Return what each annotator says about a mention, in the order of the annotations."""
        votes, home = self.united.votes, self.home(mention)
        found = [Stance("unseen")] * votes.annotators
        marks, viewers = votes.marks.get(mention, 0), votes.viewers(mention)
        for number in range(votes.annotators):
            if viewers >> number & 1:
                found[number] = Stance("alone" if marks >> number & 1 else "absent")
        for annotator, chain in votes.signature(mention).chains:
            counts = self.spread.get((annotator, chain), Counter()).copy()
            counts[home] -= 1
            best = max(counts, key=lambda id: (counts[id], id is not None, id == home), default=None)
            if best in counts and counts[best] > 0:
                found[annotator] = Stance("entity", best)
        return found

    def is_missed(self, question: Question) -> bool:
        """Return whether an annotator says that a mention is of an entity that the result lacks."""
        return Stance("entity") in self.stances(question.mention)

    def reachable(self, question: Question) -> Iterator[Chain]:
        """Yield the chains of the result that annotators put a mention into and that decisions allow."""
        signature = self.united.votes.signature(question.mention)
        span = self.span(question.mention)
        for id in sorted({id for chain in signature.chains for id in self.spread.get(chain, ()) if id}):
            found = self.chains[id]
            if span in self._kept_apart and any(self.separates(span, other) for other in found.mentions):
                continue
            yield found
