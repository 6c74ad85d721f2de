"""Exact prices of choices: what the best result costs more in which a mention is where a choice puts it.

The engine solves once more with the mention and the anchor joined, or with the mention left out; parts that
the mention does not touch are remembered. *Alone*, *not a mention* and *a new entity* all leave it without
the others, so they have one price.

Each price gets its share of the time that is left, so that one that is hard to prove does not keep the others
from being computed; the hard ones then get what is left of it. What is not proven in that time is a lower
bound, or not known, and stays so in this snapshot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from caspr.errors import ContradictionError, EngineError
from caspr.review.questions.choices import Choice
from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.placing import Placing
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Statement, StatementKind
from caspr.task.instance import Nesting
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status
from caspr.text.document import Span

LEAVE = "leave"
"""The id of what *alone*, *not a mention* and *a new entity* cost."""


@dataclass(frozen=True)
class ChoicePrice:
    """What a choice costs more than the result."""

    price: int | None
    """The price, at least; `None` if the choice is not possible, or if nothing is known."""
    exact: bool = True
    """Whether the price is proven, or that the choice is not possible; otherwise it is a lower bound."""

    @property
    def least(self) -> int:
        """What it costs at least."""
        return self.price or 0


NOT_KNOWN = ChoicePrice(None, exact=False)
"""The price of what no time was left for."""


@dataclass(frozen=True)
class PriceList:
    """Prices the choices of questions in one snapshot, one solve for each."""

    placing: Placing
    """The mentions in the snapshot."""
    snapshot: Snapshot
    """Decisions and result, which is proven optimal."""

    @property
    def _solver(self) -> Solver:
        return self.placing.solver

    def prices(
        self, question: Question, choices: Sequence[Choice], seconds: float, cancelled: Callable[[], bool]
    ) -> Iterator[tuple[str, ChoicePrice]]:
        """Yield the price of each choice by its id, and of leaving all, as exact as there is time for."""
        span = self.placing.span(question.mention)
        if span is None or not self.snapshot.optimal:
            return
        give_up = monotonic() + seconds
        tasks = list(self._tasks(question, choices, span))
        hard = []
        for number, (id, price) in enumerate(tasks):
            share = (give_up - monotonic()) / (len(tasks) - number)
            found = _within(share, price, cancelled)
            if cancelled():
                return
            if not found.exact:
                hard.append((id, price, found))
            yield id, found
        for id, price, found in hard:
            again = _within(give_up - monotonic(), price, cancelled)
            if cancelled():
                return
            yield id, again if again.exact or again.least > found.least else found

    def _tasks(
        self, question: Question, choices: Sequence[Choice], span: Span
    ) -> Iterator[tuple[str, Callable[[Limits], ChoicePrice]]]:
        spans = [one.anchor for one in choices]
        for choice in choices:
            if question.kind is QuestionKind.BOUNDARY:
                others = [other for other in spans if other != choice.anchor]
                yield choice.id, partial(self._without, others)
            elif choice.now:
                yield choice.id, _nothing
            else:
                yield choice.id, partial(self._joined, span, choice.anchor)
        yield LEAVE, partial(self._without, spans if question.kind is QuestionKind.BOUNDARY else [span])

    def _joined(self, span: Span, anchor: Span, limits: Limits) -> ChoicePrice:
        decisions = self.snapshot.decisions
        if self._solver.settings.nested is Nesting.VOTE and span.nests_with(anchor):
            # An answer goes before the vote on whether the two may share a chain.
            nested = Statement.of(StatementKind.NESTED, [span, anchor])
            decisions = replace(decisions, statements=(*decisions.statements, nested))
        instance = self._solver.instance(decisions)
        if not {span, anchor} <= set(instance.mentions):
            return NOT_KNOWN
        pair = min(span, anchor), max(span, anchor)
        solution = self._solver.solution(self.snapshot)
        [flip] = self._solver.incremental.flip_prices(instance, solution, [pair], limits)
        return ChoicePrice(0) if flip.together else ChoicePrice(flip.price, flip.exact)

    def _without(self, spans: Sequence[Span], limits: Limits) -> ChoicePrice:
        present = [span for span in spans if span not in self.placing.ruled_out]
        if not present or not any(span in self.placing.chain_of for span in present):
            return ChoicePrice(0)
        decisions = self.snapshot.decisions
        absent = Statement.of(StatementKind.ABSENT, present)
        instance = self._solver.instance(replace(decisions, statements=(*decisions.statements, absent)))
        try:
            solution: Solution = self._solver.incremental.answer(instance, limits)
        except ContradictionError:
            return ChoicePrice(None)
        if solution.status is Status.INFEASIBLE:
            return ChoicePrice(None)
        return ChoicePrice(
            max(0, solution.bound - self.snapshot.value), solution.status is not Status.FEASIBLE
        )


def other_prices(
    placing: Placing, question: Question, choices: Sequence[Choice], known: Mapping[str, ChoicePrice]
) -> tuple[ChoicePrice, ...]:
    """Return the prices of all answers to a question but what the result says."""
    home = placing.chains.get(placing.home(question.mention) or "")
    leaving = [known[LEAVE]] if home is not None and len(home.mentions) > 1 else []
    return (*(known[choice.id] for choice in choices if not choice.now), *leaving)


def _within(
    seconds: float, price: Callable[[Limits], ChoicePrice], cancelled: Callable[[], bool]
) -> ChoicePrice:
    """Return a price as exact as there is time for."""
    if seconds <= 0:
        return NOT_KNOWN
    try:
        return price(Limits(seconds=seconds, cancelled=cancelled))
    except EngineError:  # it was stopped before it had any solution
        return NOT_KNOWN


def _nothing(limits: Limits) -> ChoicePrice:  # noqa: ARG001
    """Return what it costs to choose what the result says."""
    return ChoicePrice(0)
