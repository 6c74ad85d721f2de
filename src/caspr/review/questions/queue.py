"""The questions of one document: which are open, in which order, what they offer, and what is at stake.

What is listed is computed from the snapshot at once; choices and exact prices of a question only when it is
looked at. Prices belong to a snapshot and are forgotten with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from caspr.review.questions import cards
from caspr.review.questions.choices import Choice, find_choices
from caspr.review.questions.finding import Question, UnitedMentions, find_questions
from caspr.review.questions.moving import Moves
from caspr.review.questions.orders import ORDERS, Filter, without_waiting
from caspr.review.questions.placing import Placing
from caspr.review.questions.pricing import ChoicePrice, PriceList, other_prices
from caspr.review.questions.stakes import price_classes
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Decisions

FIRST_PRICED = 12
"""How many questions are priced before anybody looks at them, in the default order."""
PRICE_SECONDS = 2.0
"""Seconds for the prices of one question at most."""

DEFAULT_ORDER = next(iter(ORDERS))


@dataclass(frozen=True)
class _InSnapshot:
    """What is known about the questions in one snapshot."""

    placing: Placing
    snapshot: Snapshot
    moves: Moves
    prices: dict[str, dict[str, ChoicePrice]] = field(default_factory=dict)
    """The prices of the choices of each question, by their ids."""
    others: dict[str, tuple[ChoicePrice, ...]] = field(default_factory=dict)
    """The prices of all answers to each question but what the result says, where they are known."""
    estimates: dict[str, int] = field(default_factory=dict)
    """What the cheapest other answer to each question costs, by its id, where that was estimated."""

    def price(self, question: Question) -> int:
        """Estimate what the cheapest other answer to a question costs."""
        if question.id not in self.estimates:
            self.estimates[question.id] = self.moves.price(self.placing, question)
        return self.estimates[question.id]

    def stake(self, question: Question) -> int:
        """Return what the cheapest other answer costs, by prices if all are known, or else estimated."""
        prices = self.others.get(question.id, ())
        proven = [one.price for one in prices if one.price is not None and one.exact]
        complete = bool(prices) and all(one.exact for one in prices)
        return min(proven if complete and proven else (*proven, self.price(question)))


@dataclass
class Queue:
    """The questions of one document, and what is known about them in the last snapshot."""

    solver: Solver
    """The document and its annotations."""
    _known: _InSnapshot | None = field(default=None, repr=False)

    @cached_property
    def united(self) -> UnitedMentions:
        """The annotators' mentions, with one boundary each."""
        return UnitedMentions.of(self.solver)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in the order of the text."""
        return tuple(find_questions(self.united))

    @cached_property
    def _by_id(self) -> dict[str, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def moves(self) -> Moves:
        """What it costs to move one mention alone."""
        return Moves(self.solver.incremental.instance)

    def _at(self, snapshot: Snapshot) -> _InSnapshot:
        """Return what is known in a snapshot; other threads may ask about another one meanwhile."""
        known = self._known
        if known is None or known.snapshot is not snapshot:
            self.moves.forget_others(snapshot.chains)
            placing = Placing(self.solver, self.united, snapshot.decisions, snapshot)
            known = self._known = _InSnapshot(placing, snapshot, self.moves)
        return known

    def placing(self, snapshot: Snapshot) -> Placing:
        """Return where the mentions are in a snapshot."""
        return self._at(snapshot).placing

    def _counted(self, decisions: Decisions) -> Placing:
        """Return where mentions are under decisions, in the last result if that has them."""
        known = self._known
        if known is not None and known.placing.decisions is decisions:
            return known.placing
        return Placing(self.solver, self.united, decisions)

    def question(self, id: str) -> Question | None:
        """Find a question by its id."""
        return self._by_id.get(id)

    def open(self, snapshot: Snapshot, order: str = "") -> list[Question]:
        """Return the questions that no decision answers, in an order; one that is unknown is the default."""
        here = self._at(snapshot)
        left = without_waiting(one for one in self.questions if here.placing.is_open(one))
        return ORDERS.get(order, ORDERS[DEFAULT_ORDER])(here.placing, here.price, left)

    def filtered(self, questions: Sequence[Question], snapshot: Snapshot, wanted: Filter) -> list[Question]:
        """Return the questions that a filter lets through."""
        placing = self.placing(snapshot)
        return [one for one in questions if wanted.lets_through(placing, one)]

    def progress(self, decisions: Decisions) -> dict[str, int]:
        """Count the mentions that are asked about, and those of them without an open question."""
        asked = {one.mention for one in self.questions}
        if not decisions:
            return {"asked": len(asked), "answered": 0}
        placing = self._counted(decisions)
        left = {one.mention for one in self.questions if placing.is_open(one)}
        return {"asked": len(asked), "answered": len(asked) - len(left)}

    def close_calls(self, decisions: Decisions) -> int:
        """Count the mentions with an open question on which annotators are about evenly divided."""
        placing = self._counted(decisions)
        return len({one.mention for one in self.questions if one.distance <= 1 and placing.is_open(one)})

    def choices(self, question: Question, snapshot: Snapshot) -> list[Choice]:
        """Return the choices of a question."""
        return find_choices(self.placing(snapshot), self.moves, question)

    def price(
        self, question: Question, snapshot: Snapshot, seconds: float, cancelled: Callable[[], bool]
    ) -> bool:
        """Price the choices of a question that have no price yet; return whether all have one now."""
        here = self._at(snapshot)
        known = here.prices.setdefault(question.id, {})
        choices = find_choices(here.placing, self.moves, question)
        if len(known) <= len(choices):
            known.update(PriceList(here.placing, snapshot).prices(question, choices, seconds, cancelled))
        if len(known) <= len(choices):
            return False
        here.others[question.id] = other_prices(here.placing, question, choices, known)
        return True

    def price_first(self, snapshot: Snapshot, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Price the first questions of the default order, before anybody looks at them."""
        for question in self.open(snapshot)[:FIRST_PRICED]:
            if cancelled():
                return
            self.price(question, snapshot, min(seconds, PRICE_SECONDS), cancelled)

    def rows(self, questions: Sequence[Question], snapshot: Snapshot) -> list[dict[str, Any]]:
        """Return a list of questions as JSON for the page."""
        here = self._at(snapshot)
        return [cards.row(here.placing, one, tie=here.stake(one) <= 0) for one in questions]

    def card(self, question: Question, snapshot: Snapshot) -> dict[str, Any]:
        """Return a question with its choices as JSON for the page."""
        here = self._at(snapshot)
        choices = find_choices(here.placing, self.moves, question)
        return cards.card(here.placing, snapshot, question, choices, here.prices.get(question.id, {}))

    def stakes(self, snapshot: Snapshot, questions: Sequence[Question]) -> dict[str, int]:
        """Return how many of some questions are ties, close or clear, and which mentions they can move."""
        here = self._at(snapshot)
        return price_classes([(one.mention, here.stake(one)) for one in questions], self.solver.settings)
