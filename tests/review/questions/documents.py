"""Small documents with disputed mentions, and queues over them."""

from collections.abc import Mapping, Sequence
from typing import Any

from caspr.review.history import History
from caspr.review.questions.queue import Queue
from caspr.review.session import fresh_review
from caspr.review.solver import Solver
from caspr.task.decisions import Authorship
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.text.document import Annotation, Chain, Document

TEXT = [
    "Anna",
    "met",
    "Bea",
    ".",
    "Anna",
    "smiled",
    ",",
    "she",
    "waved",
    ".",
    "the",
    "old",
    "girl",
    "sang",
    "her",
    "song",
]
"""1 Anna, 3 Bea, 5 Anna, 8 she, 11-13 the old girl, 15 her."""
NAMES = ("ann", "bob", "carl")
QUICK = Limits(seconds=5)
NOBODY = Authorship("test", "2020-01-01T00:00:00Z")
ANNA, BEA, ANNA_AGAIN, SHE, GIRL, HER = (1, 1), (3, 3), (5, 5), (8, 8), (11, 13), (15, 15)
GIRL_ONLY = (13, 13)

Chains = Sequence[Sequence[tuple[int, int]]]


def annotated(given: Mapping[str, Chains]) -> tuple[Annotation, ...]:
    """Return annotations of the text."""
    document = Document("d", tuple(TEXT))
    return tuple(
        Annotation.of(
            name, document, [Chain.of(str(number), chain) for number, chain in enumerate(chains, 1)]
        )
        for name, chains in given.items()
    )


def opened(given: Mapping[str, Chains], **settings: Any) -> History:
    """Return the history of a review of annotations in which nothing is decided."""
    annotations, chosen = annotated(given), Settings(**settings)
    return History.of(fresh_review(annotations, chosen), Solver(annotations, chosen), QUICK, NOBODY)


def act(history: History, operation: dict[str, Any]) -> None:
    """Carry out an operation."""
    history.commit(history.step_for(operation, QUICK, NOBODY))


def asked(history: History, order: str = "") -> list[str]:
    """Return the ids of the open questions."""
    return [one.id for one in history.queue.open(history.snapshot, order)]


def card(history: History, id: str) -> dict[str, Any]:
    """Return a question as the page gets it."""
    queue: Queue = history.queue
    question = queue.question(id)
    assert question is not None, f"{id} is none of {[one.id for one in queue.questions]}"
    return queue.card(question, history.snapshot)


def mentions(history: History, span: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the mentions of the chain that a span is in."""
    return next(
        (
            [(one.start, one.end) for one in chain.mentions]
            for chain in history.snapshot.chains
            if span in chain.mentions
        ),
        [],
    )
