"""Questions about pairs of mentions, as the page asked them before there were cards, for comparison.

    mention   a span that some annotators marked and some did not: is it a mention?
    link      for every mention that an annotator has in a chain after others: is it the same as the earlier
              mention of that chain with which most annotators link it, the nearest of these? Not asked where
              all link it with some earlier mention.

Ties come first, then the closest votes, then the order of the text. A tie is a link that another optimum
decides otherwise.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.adjudicator.oracle import Operation, Oracle
from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Decisions, spelled
from caspr.task.limits import Limits
from caspr.task.votes import Signature, meet
from caspr.text.document import Span

PRICE = Limits(seconds=2.0)
"""Limits for finding out whether a link is a tie."""


@dataclass(frozen=True)
class PairQuestion:
    """Something annotators disagree on."""

    mentions: tuple[Span, ...]
    """Two for a link, one for a mention."""
    yes: int
    """How many annotators say yes."""
    no: int
    """How many say no."""

    def answer(self, oracle: Oracle) -> Operation:
        """Return the operation that answers it from the gold."""
        spans = [spelled(span) for span in self.mentions]
        if len(spans) == 1:
            return {"do": "exists" if spans[0] in oracle.chain_of else "absent", "mentions": spans}
        return {"do": "together" if oracle.same(*spans) else "apart", "mentions": spans}


@dataclass(frozen=True)
class PairQueue:
    """The questions about pairs of one document."""

    solver: Solver

    @cached_property
    def questions(self) -> tuple[PairQuestion, ...]:
        """All questions, each once, in the order of the text."""
        return tuple(sorted(find_pairs(self.solver), key=lambda one: one.mentions))

    def open(self, snapshot: Snapshot) -> list[PairQuestion]:
        """Return the questions that no decision answers, the most valuable first."""
        decisions = snapshot.decisions
        ruled_out = self.solver.ruled_out(decisions)
        left = [one for one in self.questions if not _is_answered(one, decisions, ruled_out)]
        ties = self._ties(snapshot, left)
        return sorted(left, key=lambda one: (one not in ties, abs(one.yes - one.no), one.mentions))

    def _ties(self, snapshot: Snapshot, questions: Sequence[PairQuestion]) -> set[PairQuestion]:
        instance = self.solver.instance(snapshot.decisions)
        allowed, solution = set(instance.mentions), self.solver.solution(snapshot)
        found = set()
        for one in questions:
            if snapshot.optimal and len(one.mentions) == 2 and allowed.issuperset(one.mentions):
                pair = one.mentions[0], one.mentions[1]
                [flip] = self.solver.incremental.flip_prices(instance, solution, [pair], PRICE)
                if flip.exact and flip.price == 0:
                    found.add(one)
        return found


def find_pairs(solver: Solver) -> Iterator[PairQuestion]:
    """Yield everything annotators disagree on, each once."""
    instance = solver.incremental.instance
    annotators, votes = len(instance.annotations), instance.votes
    marks = Counter(span for annotation in instance.annotations for span in annotation.mentions)
    for span, marked in marks.items():
        if marked < annotators:
            yield PairQuestion((span,), marked, annotators - marked)
    seen: dict[tuple[Span, Span], int] = {}
    for annotation in instance.annotations:
        for chain in annotation.chains:
            seen |= dict(_doubtful(chain.mentions, votes.signatures, annotators))
    for pair, evidence in seen.items():
        yield PairQuestion(pair, evidence, annotators - evidence)


def _doubtful(
    mentions: Sequence[Span], signatures: Mapping[Span, Signature], annotators: int
) -> Iterator[tuple[tuple[Span, Span], int]]:
    """Yield for every mention of a chain its best earlier one, unless all annotators agree on some."""
    last: dict[Signature, Span] = {}
    for mention in mentions:
        signature = signatures[mention]
        if last:
            evidence, earlier = max((meet(signature, kind).k, span) for kind, span in last.items())
            if 0 < evidence < annotators:
                yield (earlier, mention), evidence
        last[signature] = mention


def _is_answered(question: PairQuestion, decisions: Decisions, ruled_out: frozenset[Span]) -> bool:
    """Return whether decisions answer a question or rule out one of its mentions."""
    if not ruled_out.isdisjoint(question.mentions):
        return True
    if len(question.mentions) == 1:
        return question.mentions[0] in decisions.group_of
    first, second = question.mentions
    return decisions.joins(first, second) or decisions.separates(first, second)
