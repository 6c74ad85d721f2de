"""The documents of a review file, each opened and optimised on first access.

Optimising all documents of a large file takes seconds. Of a document that has not been opened, only what the
file holds is known, and its text in the file stays as it is.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.formats import review_file
from caspr.formats.review_file.statements import answers_by_person, number_of_acts
from caspr.review.history import History, Step, kept_line
from caspr.review.questions.queue import Queue
from caspr.review.record import DamagedError, Line, Record, change_line, digest_of
from caspr.review.solver import Snapshot, Solver
from caspr.storage import decode
from caspr.task.contradictions import ContradictionError, refuse_contradictions
from caspr.task.decisions import EDITOR, Authorship
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.task.solution import Costs
from caspr.task.stored_settings import read_settings, write_settings
from caspr.text.document import Document

DAMAGED = (
    "the record of earlier steps was damaged: all decisions in the file are kept, but what was done before "
    "cannot be undone"
)
OPEN_WITHIN = 3.0
"""Seconds of search after which an opened document is shown with the best result so far."""


ChangeSettings = Callable[[Settings], Settings]
"""Returns the settings in a file as changed by the options the user gave."""


@dataclass
class ReviewDocument:
    """One document of the review file, opened or not."""

    review: review_file.Review
    settings: Settings
    text: str
    version: int = 1
    """The version that its history starts with."""
    history: History | None = None
    """Its snapshots, once it was opened."""
    saved: str = ""
    """When the file was saved, for what was written into it by hand."""
    record: Record | None = None
    damaged: bool = False
    """Whether the record was found not to fit, and begins anew when the history is attached."""
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
        """Refuse decisions and rules that cannot hold together, and rules that cannot be used."""
        if self.review.decisions or self.settings.rules:
            refuse_contradictions(self.solver.instance(self.review.decisions))

    def open(self, cancelled: Callable[[], bool] | None = None) -> History:
        """Optimise the document around the decisions in the file."""
        first = first_look(self.settings.limits, OPEN_WITHIN, cancelled)
        history = self._resumed(first) or History.of(self.review, self.solver, first, self.editor)
        history.version = self.version
        history.working = can_improve(history.snapshot, self.settings.limits, first)
        return history

    def has_settings(self, settings: Mapping[str, object]) -> bool:
        """Return whether settings in the file are those of this document, as read or as written."""
        known = [self.review.settings]
        if self.history is not None:
            known.append(self.history.settings)
        return json.dumps(settings, sort_keys=True) in [json.dumps(own, sort_keys=True) for own in known]

    @property
    def editor(self) -> Authorship:
        """The author of what was written into the file by hand."""
        return Authorship(EDITOR, self.saved)

    def _resumed(self, limits: Limits) -> History | None:
        """Return the history that the record of an earlier session leads to, if there is one that fits."""
        if self.record is None:
            return None
        tokens = len(self.solver.document.tokens)
        try:
            replay = self.record.replay(self.title, digest_of(self.text), tokens)
            if replay is None:
                return None
            solver = self.solver if replay.kept is None else self.solver.keeping(replay.kept)
            return History.resumed(replay, self.review, solver, limits, self.editor)
        except DamagedError:
            self.damaged = True
            return None
        except (ContradictionError, InputError):
            # Settings or annotations changed: the decisions in the file hold, but not those before them.
            return None

    def attach(self, history: History) -> None:
        """Keep the history that `open` returned, and the text of its result."""
        if self.damaged and self.record is not None:
            self.damaged = False
            logging.getLogger(__name__).warning("%s: '%s': %s", self.record.path, self.title, DAMAGED)
            self.record.append(self.title, self._beginning(history, DAMAGED))
        edited, history.unrecorded = history.unrecorded, None
        if edited is not None and self.record is not None:
            before = edited.past[-1][0]
            self.record.append(self.title, edited.line(before, self.text))
        self.history, self._solver = history, history.solver
        self.text = history.text(history.snapshot)

    def take(self, step: Step, *, working: bool = False) -> dict[str, Any]:
        """Commit a step whose text is in the file, and return the update for the page."""
        assert self.history is not None
        if step.solver is not None:
            [self.review] = review_file.parse(self.text, self.document.source)
            self._solver = step.solver
        return self.history.commit(step, working=working)

    def record_step(self, step: Step, text: str) -> Callable[[], None]:
        """Write a step to the record before the file gets its text; return what takes that back."""
        history, record = self.history, self.record
        if record is None or history is None:
            return lambda: None
        if not record.lines.get(self.title) or step.verb == "open":
            record.append(self.title, self._beginning(history))
        position = record.append(self.title, step.line(history.snapshot, text))
        return lambda: record.retract(self.title, position)

    def _beginning(self, history: History, label: str = "") -> Line:
        """Return the line with which the record of a document begins."""
        tokens = len(history.solver.document.tokens)
        full = {**change_line(None, history.snapshot), "tokens": tokens, "digest": digest_of(self.text)}
        signed = {"do": "open", "label": label, "by": "", "at": self.saved}
        return {**signed, **full, **kept_line(history.solver)}

    @property
    def title(self) -> str:
        """The name of the document, and of its part if it is one."""
        return self.review.gold.document.title

    def summary(self) -> dict[str, Any]:
        """Return one row of the list of documents; what needs optimising is `None` before it."""
        review = self.review
        decisions, entries, done = review.decisions, len(review.decided), review.done
        notes = review.notes
        known: dict[str, Any] = {"chains": None, "value": None, "optimal": None, "version": self.version}
        queue = Queue(self.solver) if self.history is None else self.history.queue
        snapshot = Snapshot(review.decided, (), review.gold.all_chains, 0, 0, Costs())
        made = [decision.made for decision in review.decided if decision.made is not None]
        if self.history is not None:
            snapshot = self.history.snapshot
            decisions, entries, done = snapshot.decisions, len(snapshot.entries), snapshot.done
            notes = tuple(note for _, note in snapshot.notes)
            made = [entry.made for entry in snapshot.entries if entry.made is not None]
            known = {"chains": len(snapshot.chains), "value": snapshot.value, "optimal": snapshot.optimal}
            known["version"] = self.history.version
        last = done or max(made, key=lambda signature: signature.when, default=Authorship("", ""))
        return {
            "title": self.document.title,
            "tokens": len(self.document.tokens),
            "annotators": tuple(annotation.annotator for annotation in self.review.annotations),
            "decisions": entries,
            "status": "done" if done else "in progress" if entries else "open",
            "by": last.who,
            "at": last.when,
            "answers": number_of_acts(snapshot.entries),
            "people": answers_by_person(snapshot.entries),
            "stake": queue.stake(snapshot),
            "flags": tuple(note for note in notes if note.flag),
            **known,
            **queue.progress(decisions),
        }


def first_look(limits: Limits, seconds: float, cancelled: Callable[[], bool] | None = None) -> Limits:
    """Return the limits of a search for a first result, which takes at most some seconds."""
    most = seconds if limits.seconds is None else min(seconds, limits.seconds)
    return Limits(most, limits.megabytes, cancelled=cancelled)


ANSWER_WITHIN, PER_MENTION = 0.5, 1e-4
"""Seconds after which an operation is answered with the best result so far, and more for each mention:
in a long text, combining what is known of its parts takes longer. The search goes on after the answer."""


def quick_look(solver: Solver) -> Limits:
    """Return the limits of the search between an operation and its answer."""
    return first_look(solver.settings.limits, ANSWER_WITHIN + PER_MENTION * len(solver.candidates))


def can_improve(snapshot: Snapshot, limits: Limits, first: Limits) -> bool:
    """Return whether `limits` leave time to improve a snapshot that was found within `first`."""
    return not snapshot.optimal and (limits.seconds is None or limits.seconds > (first.seconds or 0))


def read_documents(
    data: bytes,
    path: Path,
    change_settings: ChangeSettings,
    *,
    saved: str = "",
    record: Record | None = None,
) -> list[ReviewDocument]:
    """Read all documents of a review file, each with its settings as the user changed them.

    `saved` is when the file was saved, and `record` what was recorded of its history.
    """
    documents = []
    for review, text in review_file.parse_apart(decode(data, str(path)), str(path)):
        try:
            settings = change_settings(read_settings(review.settings))
        except InputError as error:
            raise InputError(f"{path}: document '{review.gold.document.title}': {error}") from error
        if write_settings(settings) != write_settings(read_settings(review.settings)):
            review = replace(review, settings=write_settings(settings))
            text = review_file.write([review])
        documents.append(ReviewDocument(review, settings, text, saved=saved, record=record))
    return documents


def same_documents(ours: Sequence[ReviewDocument], theirs: Sequence[ReviewDocument]) -> bool:
    """Return whether two files hold the same documents in the same order."""
    own, new = ([document.review.gold.document.key for document in side] for side in (ours, theirs))
    return own == new
