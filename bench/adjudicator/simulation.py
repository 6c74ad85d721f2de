"""Work through the questions of a document, and score the result after each answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.adjudicator.oracle import Operation, Oracle
from bench.adjudicator.pairs import PairQueue
from bench.quality.judged import Judged
from bench.quality.scoring import counts, pooled_f1
from caspr.review.history import History
from caspr.review.operations import OperationError
from caspr.review.questions.queue import ORDERS, differ
from caspr.review.session import fresh_review
from caspr.review.solver import Solver
from caspr.task.decisions import Authorship
from caspr.task.limits import Limits
from caspr.task.settings import Settings

PAIRS = "pairs"
"""The questions about pairs, in their own order."""
WAYS = (PAIRS, *ORDERS)
"""What is compared."""
SOLVING = Limits(seconds=5.0)
"""Limits of each solve."""
ORACLE = Authorship("oracle", "")


@dataclass
class Course:
    """How one document went."""

    scores: list[NDArray[np.float64]]
    """The counts behind the scores before the first answer and after each."""
    changes: list[bool] = field(default_factory=list)
    """Whether each answer changed the result."""
    stakes: list[float] = field(default_factory=list)
    """What the next question was worth before each answer, where cards are answered."""
    close: int = 0
    """On how many mentions annotators are about evenly divided."""
    refused: list[str] = field(default_factory=list)
    """Why answers were refused, one for each that was."""

    def after(self, answers: int) -> NDArray[np.float64]:
        """Return the counts after a number of answers, or after the last one."""
        return self.scores[min(answers, len(self.scores) - 1)]

    @property
    def changed(self) -> int:
        """How many answers changed the result."""
        return sum(self.changes)

    @property
    def answers(self) -> int:
        """How many questions were answered."""
        return len(self.scores) - 1


def work_through(judged: Judged, way: str, settings: Settings) -> Course:
    """Answer the questions of a document from its gold until none is open."""
    solver = Solver(judged.annotations, settings)
    history = History.of(fresh_review(judged.annotations, settings), solver, SOLVING, ORACLE)
    oracle = Oracle(judged.gold)
    course = Course([_score(judged, history)], close=_close_calls(history))
    questions = _pairs if way == PAIRS else _cards(way)
    for operation in questions(history, oracle):
        course.stakes.append(history.queue.stake(history.snapshot) or 0.0)
        before = history.snapshot
        try:
            history.commit(history.step_for(operation, SOLVING, ORACLE))
        except OperationError as refusal:
            course.refused.append(str(refusal))
        course.changes.append(differ(before, history.snapshot))
        course.scores.append(_score(judged, history))
    return course


def _close_calls(history: History) -> int:
    return len({question.mention for question in history.queue.questions if question.distance <= 1})


def _score(judged: Judged, history: History) -> NDArray[np.float64]:
    return np.array(counts(judged.gold, history.solver.gold(history.snapshot), singletons=False))


Answers = Callable[[History, Oracle], Iterator[Operation]]


def _cards(order: str) -> Answers:
    """Return what answers the cards of the page in an order; a card that was refused is not asked again."""

    def answers(history: History, oracle: Oracle) -> Iterator[Operation]:
        asked: set[str] = set()
        while left := [one for one in history.queue.open(history.snapshot, order) if one.id not in asked]:
            asked.add(left[0].id)
            card = history.queue.card(left[0], history.snapshot)
            yield oracle.answer(card, history.snapshot.chain_of)

    return answers


def _pairs(history: History, oracle: Oracle) -> Iterator[Operation]:
    queue, asked = PairQueue(history.solver), set()
    while left := [one for one in queue.open(history.snapshot) if one not in asked]:
        asked.add(left[0])
        yield left[0].answer(oracle)


def f1_after(courses: list[Course], answers: int) -> float:
    """Return CoNLL F1 in percent, pooled over documents, after a number of answers in each."""
    return float(pooled_f1(np.sum([course.after(answers) for course in courses], axis=0), "conll"))
