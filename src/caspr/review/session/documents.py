"""The documents of a review file, each opened and optimised on first access.

Optimising all documents of a large file takes seconds. Of a document that was not opened yet only what the
file holds is known, and its text in the file stays as it is.
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
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.limits import Limits
from caspr.task.price.contradictions import refuse_contradictions
from caspr.task.settings import Settings
from caspr.task.settings.stored import read_settings, write_settings
from caspr.text.document import Document

FIRST_LOOK = 3.0
"""Seconds of search after which an opened document is shown with the best result so far."""


ChangeSettings = Callable[[Settings], Settings]
"""Returns the settings in a file as changed by the options the user gave."""


@dataclass
class ReviewDocument:
    """One document of the review file, opened or not."""

    review: review_file.Review
    """The document as the file holds it."""
    settings: Settings
    """The objective, the rules and the limits of the search."""
    text: str
    """Its lines in the file."""
    version: int = 1
    """The version that its history starts with."""
    history: History | None = None
    """Its snapshots, once it was opened."""
    _solver: Solver | None = field(default=None, repr=False)

    @property
    def document(self) -> Document:
        """The text of the document."""
        return self.solver.document if self.history else self.review.gold.document

    @property
    def solver(self) -> Solver:
        """The solver of this document, made on first use; nothing is optimised yet."""
        if self._solver is None:
            self._solver = Solver(self.review.annotations, self.settings)
        return self._solver

    def check(self) -> None:
        """Raise `ContradictionError` if the decisions in the file cannot hold together."""
        if self.review.decisions:
            refuse_contradictions(self.solver.instance(self.review.decisions))

    def open(self, cancelled: Callable[[], bool] | None = None) -> History:
        """Optimise the document around the decisions in the file."""
        first = first_look(self.settings.limits, FIRST_LOOK, cancelled)
        history = History.of(self.review, self.solver, first)
        history.version = self.version
        history.working = can_improve(history.snapshot, self.settings.limits, first)
        return history

    def attach(self, history: History) -> None:
        """Keep the history that `open` returned, and the text of its result."""
        self.history = history
        self.text = history.text(history.snapshot)

    def summary(self) -> dict[str, Any]:
        """Return one row of the list of documents; what needs optimising is `None` before it."""
        decisions = self.review.decisions
        known: dict[str, Any] = {"chains": None, "value": None, "optimal": None}
        queue = Queue(self.solver) if self.history is None else self.history.queue
        entries = len(decisions.groups) + len(decisions.statements)
        if self.history is not None:
            snapshot = self.history.snapshot
            decisions, entries = snapshot.decisions, len(snapshot.entries)
            known = {"chains": len(snapshot.chains), "value": snapshot.value, "optimal": snapshot.optimal}
        return {
            "title": self.document.title,
            "tokens": len(self.document.tokens),
            "annotators": len(self.review.annotations),
            "decisions": entries,
            **known,
            **queue.progress(decisions),
        }


def first_look(limits: Limits, seconds: float, cancelled: Callable[[], bool] | None = None) -> Limits:
    """Return the limits of a search for a first result, which takes at most so many seconds."""
    most = seconds if limits.seconds is None else min(seconds, limits.seconds)
    return Limits(most, limits.megabytes, cancelled=cancelled)


def can_improve(snapshot: Snapshot, limits: Limits, first: Limits) -> bool:
    """Return whether `limits` leave time to improve a snapshot that was found within `first`."""
    return not snapshot.optimal and (limits.seconds is None or limits.seconds > (first.seconds or 0))


def read_documents(data: bytes, path: Path, change_settings: ChangeSettings) -> list[ReviewDocument]:
    """Read all documents of a review file, each with its settings as the user changed them."""
    documents = []
    for one, text in review_file.parse_apart(decode(data, str(path)), str(path)):
        try:
            settings = change_settings(read_settings(one.settings))
        except InputError as error:
            raise InputError(f"{path}: document '{one.gold.document.title}': {error}") from error
        if write_settings(settings) != write_settings(read_settings(one.settings)):
            one = replace(one, settings=write_settings(settings))
            text = review_file.write([one])
        documents.append(ReviewDocument(one, settings, text))
    return documents


def same_documents(ours: Sequence[ReviewDocument], theirs: Sequence[ReviewDocument]) -> bool:
    """Return whether two files hold the same documents in the same order."""
    return [one.review.gold.document.key for one in ours] == [one.review.gold.document.key for one in theirs]
