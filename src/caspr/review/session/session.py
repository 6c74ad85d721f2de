"""A session: one review file with all its documents, and what several people do to it. No HTTP.

    do        check the version, the file and the operation; solve; write the file; only then it counts
    poll      read the file again if somebody edited it
    go on     look for a better result where the first look was too short, price questions, and open the
              other documents, in the background until the next operation

Every acknowledged operation is on the disk before `do` returns. A file that was edited outside is read
again before anything else happens, and an operation that was meant for the old one is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from caspr.errors import CasprError, InputError
from caspr.review.session.background import BackgroundWorker, Cancelled
from caspr.review.session.documents import ReviewDocument, folders, same_documents
from caspr.review.session.history import History, Step
from caspr.review.session.operations import OperationError
from caspr.review.session.store import Store
from caspr.task.limits import Limits
from caspr.task.settings import Settings

FIRST_LOOK = 0.5
"""Seconds after which the best so far is shown while the search goes on."""
PRICING = 20.0
"""Seconds spent on pricing questions after each change, if nobody needs the processor."""

Listener = Callable[[int, str, dict[str, Any]], None]
"""Told of every change: the document's number, the kind of event, and its data."""


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
    folders: list[ReviewDocument]
    """Its documents."""
    problem: str | None = None
    """What is wrong with the file as somebody edited it; nothing is written meanwhile."""
    fresh: bool = False
    """Whether the file has no results yet."""
    listeners: list[Listener] = field(default_factory=list)
    """Who is told of changes."""
    lock: RLock = field(default_factory=RLock)
    """Held by whoever changes anything."""
    _worker: BackgroundWorker = field(default_factory=BackgroundWorker)

    @classmethod
    def open(cls, store: Store, chosen: Callable[[Settings], Settings]) -> "ReviewSession":
        """Open a review file, with the settings in it or what the user chose instead."""
        session = cls(store, folders(store.read(), store.path, chosen))
        for folder in session.folders:
            folder.check()
        return session

    def case(self, number: int) -> History:
        """Return a document, which is opened now if it was not yet; raise `IndexError` if there is none."""
        if not 0 <= number < len(self.folders):
            raise IndexError(number)
        with self.lock:
            folder = self.folders[number]
            if folder.case is None:
                folder.take(folder.open())
                self._go_on(number)
            assert folder.case is not None
            return folder.case

    def state(self, number: int) -> dict[str, Any]:
        """Return everything about one document."""
        with self.lock:
            case = self.case(number)
            if case.working and self._worker.idle:
                self._go_on(number)
            document = case.board.document
            breaks = [1, *(end + 1 for end in document.sentence_ends if end < len(document.tokens))]
            return {
                "index": number,
                "count": len(self.folders),
                "title": document.title,
                "source": self.store.path.name,
                "tokens": list(document.tokens),
                "breaks": breaks if document.tokens else [],
                "annotators": [annotation.annotator for annotation in case.board.annotations],
                **case.viewer.whole(case.position),
                **case.standing(),
                "problem": self.problem,
            }

    def overview(self) -> list[dict[str, Any]]:
        """Return a line about each document."""
        with self.lock:
            return [{"index": number, **one.overview()} for number, one in enumerate(self.folders)]

    def do(self, number: int, operation: Any, version: object) -> dict[str, Any]:
        """Carry out an operation and return the update; on any error nothing has changed."""
        self._worker.cancel()
        with self.lock:
            self.poll()
            case = self.case(number)
            if self.problem is not None:
                raise OperationError(self.problem)
            if version != case.version:
                raise StaleError("this was meant for an older state of the document", case.version)
            first = _first_look(case.board.settings.limits)
            step = case.next(operation, first)
            self._write(number, step)
            update = case.commit(step, working=_goes_on(step, case, first))
            self._publish(number, "update", update)
            self._go_on(number)
            return update

    def cancel(self, number: int) -> None:
        """Stop what runs in the background; the best so far stays."""
        self._worker.cancel()
        with self.lock:
            case = self.case(number)
            if case.working:
                case.working = False
                self._publish(number, "update", _unchanged(case))

    def poll(self) -> None:
        """Read the file again if somebody edited it; tell what changed, or what is wrong with it."""
        with self.lock:
            if not self.store.changed():
                return
            self._worker.cancel()
            try:
                self._renew(folders(self.store.read(), self.store.path, lambda settings: settings))
                problem = None
            except CasprError as error:
                problem = f"the file was edited outside and cannot be used: {error}"
            if problem != self.problem:
                self.problem = problem
                for number, folder in enumerate(self.folders):
                    if folder.case is not None:
                        self._publish(number, "update", _unchanged(folder.case))

    def start(self) -> None:
        """Begin to open all documents in the background."""
        self._worker.run(self._open_rest)

    def close(self) -> None:
        """Stop all work and let go of the file."""
        self._worker.end()
        with self.lock:
            self.store.release()

    def save(self) -> None:
        """Write the file as it stands."""
        with self.lock:
            self.store.write("".join(folder.text for folder in self.folders).encode("utf-8"))

    def _write(self, number: int, step: Step) -> None:
        text = self.case(number).text(step.position)
        texts = [text if n == number else folder.text for n, folder in enumerate(self.folders)]
        self.store.write("".join(texts).encode("utf-8"))
        self.folders[number].text = text

    def _renew(self, edited: list[ReviewDocument]) -> None:
        """Take over a file that somebody edited: all of it, or nothing if any of it cannot be."""
        if not same_documents(self.folders, edited):
            raise InputError(f"{self.store.path}: found other documents than before, expected the same ones")
        steps: list[Step | None] = []
        for old, new in zip(self.folders, edited, strict=True):
            same = old.review.annotations == new.review.annotations
            if old.case is not None and same and old.review.settings == new.review.settings:
                steps.append(old.case.renewed(new.review, _first_look(old.settings.limits)))
            else:
                new.check()
                steps.append(None)
        for number, (new, step) in enumerate(zip(edited, steps, strict=True)):
            self._take_over(number, new, step)

    def _take_over(self, number: int, new: ReviewDocument, step: Step | None) -> None:
        old = self.folders[number]
        if step is not None and old.case is not None:
            old.review, old.text = new.review, new.text
            if step.position is not old.case.position:
                self._publish(number, "update", old.case.commit(step))
        else:
            new.version = (old.case.version if old.case is not None else old.version) + 1
            self.folders[number] = new
            if old.case is not None:
                self._publish(number, "update", {**self.case(number).standing(), "full": True})

    def _publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        data.setdefault("problem", self.problem)
        for listener in list(self.listeners):
            listener(number, kind, data)

    def _go_on(self, number: int) -> None:
        """Do in the background what nobody waits for, until the next operation."""
        self._worker.run(lambda cancelled: self._background(number, cancelled))

    def _background(self, number: int, cancelled: Cancelled) -> None:
        case = self.folders[number].case
        if case is not None and case.working:
            self._improve(number, case, cancelled)
        if case is not None:
            known = 0
            for known, _ in enumerate(case.queue.price(case.position, PRICING, cancelled), 1):
                if known % 20 == 0:
                    self._publish(number, "questions", {})
            if known % 20:
                self._publish(number, "questions", {})
        self._open_rest(cancelled)

    def _open_rest(self, cancelled: Cancelled) -> None:
        """Open the documents that nobody looked at yet, so that they are there when somebody does."""
        for folder in list(self.folders):
            if folder.case is None and not cancelled():
                case = folder.open(cancelled)
                with self.lock:
                    if folder.case is None and not cancelled():
                        folder.take(case)
        with self.lock:
            self.poll()
            if self.fresh and self.problem is None and all(folder.case for folder in self.folders):
                self.save()
                self.fresh = False

    def _improve(self, number: int, case: History, cancelled: Cancelled) -> None:
        before = case.position
        limits = replace(case.board.settings.limits, solutions=1, jobs=1, cancelled=cancelled)

        def progress(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
            told = {"value": value, "bound": bound, "done": done, "parts": parts}
            self._publish(number, "progress", told)

        after = case.board.solve(before.entries, before.notes, before, limits, progress)
        with self.lock:
            self.poll()
            if self.problem is not None or case.position is not before or cancelled():
                return
            better = (after.value, -after.bound) < (before.value, -before.bound)
            step = Step(after if better else before, case.past, case.future)
            self._write(number, step)
            self._publish(number, "update", case.commit(step))


def _first_look(limits: Limits) -> Limits:
    """Return limits for an answer that somebody waits for."""
    seconds = FIRST_LOOK if limits.seconds is None else min(FIRST_LOOK, limits.seconds)
    return Limits(seconds, limits.megabytes)


def _goes_on(step: Step, case: History, first: Limits) -> bool:
    """Tell whether a better result may be found in the time that is left."""
    seconds = case.board.settings.limits.seconds
    return not step.position.optimal and (seconds is None or seconds > (first.seconds or 0))


def _unchanged(case: History) -> dict[str, Any]:
    """Return an update that says where a document stands, without a change of its own."""
    return case.commit(Step(case.position, case.past, case.future), working=case.working)
