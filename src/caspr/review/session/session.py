"""A review session: one review file with all its documents, changed by tabs and from outside. No HTTP.

    do           check the version, the file and the operation; solve; write the file; commit; answer
    poll         read the file again if it was edited outside
    background   until the next operation: search on where the first look found no proven optimum, price
                 questions, and open the other documents

Every acknowledged operation is on the disk before `do` returns. A file that was edited outside is read
again before anything else happens, and an operation that was meant for the old version is refused.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any

from caspr.errors import CasprError, ContradictionError, InputError
from caspr.exchange import ChangedError
from caspr.review.session.background import BackgroundWorker, Cancelled
from caspr.review.session.documents import (
    ChangeSettings,
    ReviewDocument,
    can_improve,
    first_look,
    read_documents,
    same_documents,
)
from caspr.review.session.history import History, Step
from caspr.review.session.operations import OperationError
from caspr.review.session.operations.refusals import worded
from caspr.review.session.record import Record
from caspr.review.session.store import Store, utc
from caspr.task.authorship import Authorship

FIRST_LOOK = 0.5
"""Seconds after which an operation is answered with the best result so far; the search continues."""
PRICING = 20.0
"""Seconds for pricing questions in the background after each change."""

Listener = Callable[[int, str, dict[str, Any]], None]
"""Called with every event: the number of the document, the kind of event, and its data."""


class StaleError(CasprError):
    """Refuse an operation that was meant for an older version."""

    def __init__(self, message: str, version: int) -> None:
        """Keep the newest version beside the message."""
        self.version = version
        super().__init__(message)


@dataclass
class ReviewSession:
    """One review file being reviewed."""

    store: Store
    """The file."""
    documents: list[ReviewDocument]
    """Its documents."""
    record: Record
    """How the file came about."""
    who: str = "adjudicator"
    """Who acts, unless an operation says otherwise."""
    problem: str | None = None
    """What is wrong with the file as it was edited outside; nothing is written meanwhile."""
    fresh: bool = False
    """Whether the file has no results yet."""
    listeners: list[Listener] = field(default_factory=list)
    """Called with every event, from any thread."""
    lock: RLock = field(default_factory=RLock)
    """Held while anything is changed."""
    _worker: BackgroundWorker = field(default_factory=BackgroundWorker)

    @classmethod
    def open(cls, store: Store, change_settings: ChangeSettings) -> "ReviewSession":
        """Read a review file; refuse decisions that contradict each other."""
        record, data = Record.beside(store.path), store.read()
        documents = read_documents(data, store.path, change_settings, saved=store.saved(), record=record)
        record.drop_unwritten({document.title: document.text for document in documents})
        session = cls(store, documents, record)
        for document in session.documents:
            document.check()
        return session

    def history(self, number: int) -> History:
        """Return the history of a document, opened on first access; raise `IndexError` if there is none."""
        if not 0 <= number < len(self.documents):
            raise IndexError(number)
        with self.lock:
            document = self.documents[number]
            if document.history is None:
                document.attach(document.open())
                self._run_background(number)
            assert document.history is not None
            return document.history

    def state(self, number: int) -> dict[str, Any]:
        """Return everything about one document."""
        with self.lock:
            history = self.history(number)
            if history.working and self._worker.idle:
                self._run_background(number)
            document = history.solver.document
            breaks = [1, *(end + 1 for end in document.sentence_ends if end < len(document.tokens))]
            return {
                "title": document.title,
                "tokens": list(document.tokens),
                "breaks": breaks if document.tokens else [],
                "annotators": [annotation.annotator for annotation in history.solver.annotations],
                **history.viewer.whole(history.snapshot),
                **history.status(),
                "problem": self.problem,
            }

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""
        with self.lock:
            return [{"index": number, **one.summary()} for number, one in enumerate(self.documents)]

    def do(self, number: int, operation: Any, version: object, who: str = "") -> dict[str, Any]:
        """Carry out an operation and return the update; on any error nothing has changed."""
        made = Authorship(who or self.who, utc(datetime.now(UTC)))
        self._worker.cancel()
        with self.lock:
            self.poll()
            history = self.history(number)
            if self.problem is not None:
                raise OperationError(self.problem)
            if version != history.version:
                raise StaleError("this was meant for an older state of the document", history.version)
            limits = history.solver.settings.limits
            first = first_look(limits, FIRST_LOOK)
            step = history.step_for(operation, first, made)
            self._write_or_reload(number, step)
            update = history.commit(step, working=can_improve(step.snapshot, limits, first))
            self._publish(number, "update", update)
            self._run_background(number)
            return update

    def cancel(self, number: int) -> None:
        """Stop the background work; the best result so far stays."""
        self._worker.cancel()
        with self.lock:
            history = self.history(number)
            if history.working:
                history.working = False
                self._publish(number, "update", _unchanged(history))

    def poll(self) -> None:
        """Read the file again if it was edited outside; publish what changed, or what is wrong with it."""
        with self.lock:
            if not self.store.changed():
                return
            self._worker.cancel()
            try:
                self._reload(self._read_again())
                problem = None
            except CasprError as error:
                problem = f"the file was edited outside and cannot be used: {error}"
            if problem != self.problem:
                self.problem = problem
                for number, document in enumerate(self.documents):
                    if document.history is not None:
                        self._publish(number, "update", _unchanged(document.history))

    def start(self) -> None:
        """Start opening all documents in the background."""
        self._worker.run(self._open_rest)

    def close(self) -> None:
        """Stop all work and release the file."""
        self._worker.end()
        with self.lock:
            self.store.release()

    def save(self) -> None:
        """Write all documents as they are."""
        with self.lock:
            self.store.write("".join(document.text for document in self.documents).encode("utf-8"))

    def _write_or_reload(self, number: int, step: Step) -> None:
        """Write a step; if an editor saved the file meanwhile, adopt that and raise `StaleError` instead."""
        history = self.history(number)
        while True:
            try:
                self._write(number, step)
                return
            except ChangedError:
                before = history.version
                self.poll()
                now = self.history(number).version
                if self.problem is not None or now != before:
                    raise StaleError("the file was edited in the meantime", now) from None
                # Only what is ignored when the file is read was edited, such as a result.

    def _write(self, number: int, step: Step) -> None:
        text = self.history(number).text(step.snapshot)
        texts = [text if n == number else document.text for n, document in enumerate(self.documents)]
        retract = self.documents[number].record_step(step, text)
        try:
            self.store.write("".join(texts).encode("utf-8"))
        except BaseException:
            retract()
            raise
        self.documents[number].text = text

    def _read_again(self) -> list[ReviewDocument]:
        data = self.store.read()
        return read_documents(
            data, self.store.path, lambda settings: settings, saved=self.store.saved(), record=self.record
        )

    def _reload(self, edited: list[ReviewDocument]) -> None:
        """Adopt a file that was edited outside: all of it, or raise and adopt nothing."""
        if not same_documents(self.documents, edited):
            raise InputError(f"{self.store.path}: found other documents than before, expected the same ones")
        steps: list[Step | None] = []
        for old, new in zip(self.documents, edited, strict=True):
            try:
                steps.append(_step_to(old, new))
            except ContradictionError as error:
                place, document = str(error).partition(": found ")[0], new.review.gold.document
                raise InputError(f"{place}: {worded(document, error.fault)}") from error
        for number, (new, step) in enumerate(zip(edited, steps, strict=True)):
            self._adopt(number, new, step)

    def _adopt(self, number: int, new: ReviewDocument, step: Step | None) -> None:
        """Commit the step to an edited document, or replace the document if there is none."""
        old = self.documents[number]
        if step is not None and old.history is not None:
            if step.snapshot is not old.history.snapshot:
                old.record_step(step, new.text)
            old.review, old.text = new.review, new.text
            if step.snapshot is not old.history.snapshot:
                self._publish(number, "update", old.history.commit(step))
        else:
            new.version = (old.history.version if old.history is not None else old.version) + 1
            self.documents[number] = new
            if old.history is not None:
                self._publish(number, "update", {**self.history(number).status(), "full": True})

    def _publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        data.setdefault("problem", self.problem)
        for listener in list(self.listeners):
            listener(number, kind, data)

    def _run_background(self, number: int) -> None:
        """Start the background work for a document; the next operation cancels it."""
        self._worker.run(lambda cancelled: self._background(number, cancelled))

    def _background(self, number: int, cancelled: Cancelled) -> None:
        history = self.documents[number].history
        if history is not None and history.working:
            self._improve(number, history, cancelled)
        if history is not None:
            history.queue.price_first(history.snapshot, PRICING, cancelled)
        self._open_rest(cancelled)

    def _open_rest(self, cancelled: Cancelled) -> None:
        """Open the documents that were not accessed yet, so that they are shown without delay."""
        for document in list(self.documents):
            if document.history is None and not cancelled():
                history = document.open(cancelled)
                with self.lock:
                    if document.history is None and not cancelled():
                        document.attach(history)
        with self.lock:
            self.poll()
            if self.fresh and self.problem is None and all(document.history for document in self.documents):
                with suppress(ChangedError):
                    self.save()
                    self.fresh = False

    def _improve(self, number: int, history: History, cancelled: Cancelled) -> None:
        """Search on within the full limits, and commit the result unless the document changed meanwhile."""
        before = history.snapshot
        limits = replace(history.solver.settings.limits, solutions=1, cancelled=cancelled)

        def progress(value: int | None, bound: int | None, **parts: int) -> None:  # noqa: ARG001
            self._publish(number, "progress", {"value": value, "bound": bound})

        after = history.solver.solve(before.entries, before.notes, before, limits, progress)
        with self.lock:
            self.poll()
            if self.problem is not None or history.snapshot is not before or cancelled():
                return
            better = (after.value, -after.bound) < (before.value, -before.bound)
            step = Step(after if better else before, history.past, history.future)
            try:
                self._write_or_reload(number, step)
            except StaleError:
                return
            self._publish(number, "update", history.commit(step))


def _step_to(old: ReviewDocument, new: ReviewDocument) -> Step | None:
    """Return the step to a document as it was edited, or `None` if it must be opened anew."""
    same = old.review.annotations == new.review.annotations
    if old.history is not None and same and old.has_settings(new.review.settings):
        limits = first_look(old.settings.limits, FIRST_LOOK)
        return old.history.step_to(new.review, limits, new.editor)
    new.check()
    return None


def _unchanged(history: History) -> dict[str, Any]:
    """Return an update with the status of a document that did not change."""
    return history.commit(Step(history.snapshot, history.past, history.future), working=history.working)
