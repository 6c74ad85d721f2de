"""The shelf: the documents of a review file, each opened when somebody looks at it.

Opening a document means to optimise it, which takes seconds where a file has many. A document that was
not opened is known by what the file says of it, and its text stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.files import decode
from caspr.formats import review_file
from caspr.review.session.history import History
from caspr.review.session.questions import Queue
from caspr.review.session.solver import Solver
from caspr.task.limits import Limits
from caspr.task.price.contradictions import refuse_contradictions
from caspr.task.settings import Settings, read_settings, write_settings
from caspr.text.document import Document

FIRST_LOOK = 3.0
"""Seconds after which a document is shown with the best so far."""


@dataclass
class ReviewDocument:
    """One document on the shelf."""

    review: review_file.Review
    """What the file says."""
    settings: Settings
    """What is optimal, and the limits of the search."""
    text: str
    """Its text in the file."""
    version: int = 1
    """The version to open it with."""
    case: History | None = None
    """The document, once it was opened."""
    _board: Solver | None = field(default=None, repr=False)

    @property
    def document(self) -> Document:
        """The text of the document."""
        return self.board.document if self.case else self.review.gold.document

    @property
    def board(self) -> Solver:
        """The document with its annotations, not optimised yet."""
        if self._board is None:
            self._board = Solver(self.review.annotations, self.settings)
        return self._board

    def check(self) -> None:
        """Refuse decisions that cannot hold together."""
        if self.review.decisions:
            refuse_contradictions(self.board.instance(self.review.decisions))

    def open(self, cancelled: Callable[[], bool] | None = None) -> History:
        """Optimise the document around the decisions in the file."""
        limits = self.settings.limits
        seconds = FIRST_LOOK if limits.seconds is None else min(FIRST_LOOK, limits.seconds)
        first = Limits(seconds, limits.megabytes, cancelled=cancelled)
        case = History.of(self.review, self.board, first)
        case.version = self.version
        case.working = not case.position.optimal and (limits.seconds is None or limits.seconds > seconds)
        return case

    def take(self, case: History) -> None:
        """Put the opened document and its result in place."""
        self.case = case
        self.text = case.text(case.position)

    def overview(self) -> dict[str, Any]:
        """Return a line about the document; what is not known before it is opened is left open."""
        decisions = self.review.decisions
        known: dict[str, Any] = {"chains": None, "value": None, "optimal": None}
        queue = Queue(self.board) if self.case is None else self.case.queue
        entries = len(decisions.groups) + len(decisions.statements)
        if self.case is not None:
            position = self.case.position
            decisions, entries = position.decisions, len(position.entries)
            known = {"chains": len(position.chains), "value": position.value, "optimal": position.optimal}
        return {
            "title": self.document.title,
            "tokens": len(self.document.tokens),
            "annotators": len(self.review.annotations),
            "decisions": entries,
            **known,
            **queue.progress(decisions),
        }


def folders(data: bytes, path: Path, chosen: Callable[[Settings], Settings]) -> list[ReviewDocument]:
    """Read all documents of a review file, with the settings the user chose for each."""
    found = []
    for one, text in review_file.parse_apart(decode(data, str(path)), str(path)):
        try:
            settings = chosen(read_settings(one.settings))
        except InputError as error:
            raise InputError(f"{path}: document '{one.gold.document.title}': {error}") from error
        if write_settings(settings) != write_settings(read_settings(one.settings)):
            one = replace(one, settings=write_settings(settings))
            text = review_file.write([one])
        found.append(ReviewDocument(one, settings, text))
    return found


def same_documents(ours: Sequence[ReviewDocument], theirs: Sequence[ReviewDocument]) -> bool:
    """Tell whether two files hold the same documents in the same order."""
    return [one.review.gold.document.key for one in ours] == [one.review.gold.document.key for one in theirs]
