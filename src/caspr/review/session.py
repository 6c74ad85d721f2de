"""A session: one review file with all its documents, and what several people do to it. No HTTP.

    do        check the version, the file and the operation; solve; write the file; only then it counts
    poll      read the file again if somebody edited it
    continue  look for a better result in the background where the first look was too short

Every acknowledged operation is on the disk before `do` returns. A file that was edited outside is read
again before anything else happens, and an operation that was meant for the old one is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any

from caspr.errors import CasprError, InputError
from caspr.files import decode
from caspr.formats import review
from caspr.review.case import Case, Step
from caspr.review.operations import OperationError
from caspr.review.store import Store
from caspr.review.worker import Cancelled, Worker
from caspr.settings import read_settings

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
class Session:
    """One review file being reviewed."""

    store: Store
    cases: list[Case]
    inputs: tuple[Path, ...] = ()
    """The files that must never be written."""
    problem: str | None = None
    """What is wrong with the file as somebody edited it; nothing is written meanwhile."""
    listeners: list[Listener] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)
    _texts: list[str] = field(default_factory=list)
    """The text of each document as it is in the file."""
    _worker: Worker = field(default_factory=Worker)
    """Who does what nobody waits for."""

    @classmethod
    def open(cls, store: Store, settings: Callable[[review.Review], Any] | None = None) -> "Session":
        """Open a review file that is there."""
        reviews = _parsed(store.read(), store.path)
        chosen = settings or (lambda one: read_settings(one.settings))
        session = cls(store, [Case.of(one, chosen(one)) for one in reviews])
        session._texts = [""] * len(reviews)
        return session

    def state(self, number: int) -> dict[str, Any]:
        """Return everything about one document."""
        with self.lock:
            case = self.cases[number]
            document = case.board.document
            breaks = [1, *(end + 1 for end in document.sentence_ends if end < len(document.tokens))]
            return {
                "index": number,
                "count": len(self.cases),
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
            return [
                {
                    "index": number,
                    "title": case.board.document.title,
                    "tokens": len(case.board.document.tokens),
                    "annotators": len(case.board.annotations),
                    "chains": len(case.position.chains),
                    "decisions": len(case.position.entries),
                    "value": case.position.value,
                    "optimal": case.position.optimal,
                    **case.queue.progress(case.position),
                }
                for number, case in enumerate(self.cases)
            ]

    def do(self, number: int, operation: Any, version: object) -> dict[str, Any]:
        """Carry out an operation and return the update; on any error nothing has changed."""
        self._worker.cancel()
        with self.lock:
            self.poll()
            case = self.cases[number]
            if self.problem is not None:
                raise OperationError(self.problem)
            if version != case.version:
                raise StaleError("this was meant for an older state of the document", case.version)
            limits = replace(case.board.settings.limits, cancelled=None, solutions=1, jobs=1)
            first = min(FIRST_LOOK, limits.seconds) if limits.seconds is not None else FIRST_LOOK
            step = case.next(operation, replace(limits, seconds=first))
            self._write(number, step)
            longer = limits.seconds is None or limits.seconds > first
            update = case.commit(step, working=not step.position.optimal and longer)
            self._publish(number, "update", update)
            self._go_on(number)
            return update

    def cancel(self, number: int) -> None:
        """Stop what runs in the background; the best so far stays."""
        self._worker.cancel()
        with self.lock:
            case = self.cases[number]
            if case.working:
                case.working = False
                self._publish(number, "update", self._touched(number))

    def poll(self) -> None:
        """Read the file again if somebody edited it; tell what changed, or what is wrong with it."""
        with self.lock:
            if not self.store.changed():
                return
            self._worker.cancel()
            try:
                self._renew(_parsed(self.store.read(), self.store.path))
                problem = None
            except CasprError as error:
                problem = f"the file was edited outside and cannot be used: {error}"
            if problem != self.problem:
                self.problem = problem
                for number in range(len(self.cases)):
                    self._publish(number, "update", self._touched(number))

    def close(self) -> None:
        """Stop all work and let go of the file."""
        self._worker.end()
        with self.lock:
            self.store.release()

    def ensure(self, number: int) -> Case:
        """Return a case, or raise `IndexError`."""
        if not 0 <= number < len(self.cases):
            raise IndexError(number)
        return self.cases[number]

    def save(self) -> None:
        """Write the file as it stands."""
        with self.lock:
            self._texts = [case.text(case.position) for case in self.cases]
            self.store.write("".join(self._texts).encode("utf-8"))

    def _write(self, number: int, step: Step) -> None:
        texts = [text or case.text(case.position) for text, case in zip(self._texts, self.cases, strict=True)]
        texts[number] = self.cases[number].text(step.position)
        self.store.write("".join(texts).encode("utf-8"))
        self._texts = texts

    def _renew(self, reviews: Sequence[review.Review]) -> None:
        """Take over a file that somebody edited: all of it, or nothing if any of it cannot be."""
        keys = [one.gold.document.key for one in reviews]
        if keys != [case.board.document.key for case in self.cases]:
            raise InputError(f"{self.store.path}: found other documents than before, expected the same ones")
        steps: list[Step | Case] = []
        for one, case in zip(reviews, self.cases, strict=True):
            settings = read_settings(one.settings)
            same = one.annotations == case.board.annotations and _equal(settings, case.board.settings)
            steps.append(case.renewed(one) if same else Case.of(one, settings))
        for number, step in enumerate(steps):
            case = self.cases[number]
            self._texts[number] = ""
            if isinstance(step, Case):
                step.version = case.version + 1
                self.cases[number] = step
                self._publish(number, "update", {**step.standing(), "full": True})
            elif step.position is not case.position:
                self._publish(number, "update", case.commit(step))

    def _touched(self, number: int) -> dict[str, Any]:
        """Return an update that says where a document stands, without a change of its own."""
        case = self.cases[number]
        step = Step(case.position, case.past, case.future)
        return {**case.commit(step, working=case.working), "problem": self.problem}

    def _publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        data.setdefault("problem", self.problem)
        for listener in list(self.listeners):
            listener(number, kind, data)

    def _go_on(self, number: int) -> None:
        """Look for a better result, then for prices, in the background until the next operation."""
        self._worker.run(lambda cancelled: self._background(number, cancelled))

    def _background(self, number: int, cancelled: Cancelled) -> None:
        case = self.cases[number]
        if case.working:
            self._improve(number, case, cancelled)
        known = 0
        for known, _ in enumerate(case.queue.price(case.position, PRICING, cancelled), 1):
            if known % 20 == 0:
                self._publish(number, "questions", {})
        if known % 20:
            self._publish(number, "questions", {})

    def _improve(self, number: int, case: Case, cancelled: Cancelled) -> None:
        before = case.position
        limits = replace(case.board.settings.limits, solutions=1, jobs=1, cancelled=cancelled)

        def progress(value: int | None, bound: int | None) -> None:
            self._publish(number, "progress", {"value": value, "bound": bound})

        after = case.board.solve(before.entries, before.notes, before, limits, progress)
        with self.lock:
            self.poll()
            if self.problem is not None or case.position is not before or cancelled():
                return
            better = (after.value, -after.bound) < (before.value, -before.bound)
            step = Step(after if better else before, case.past, case.future)
            self._write(number, step)
            self._publish(number, "update", case.commit(step))


def _parsed(data: bytes, path: Path) -> list[review.Review]:
    return review.parse(decode(data, str(path)), str(path))


def _equal(one: Any, other: Any) -> bool:
    """Compare what review files keep of settings."""
    from caspr.settings import write_settings

    return write_settings(one) == write_settings(other)
