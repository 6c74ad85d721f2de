"""A review session: one review file with all its documents, changed by tabs and from outside. No HTTP.

    do           check the version, the file and the operation; solve; write the file; commit; answer
    poll         read the file again if it was edited outside
    background   until the next operation: search on where the first look found no proven optimum, price
                 questions, and open the other documents

Every acknowledged operation is on the disk before `do` returns. A file that was edited outside is read
again before anything else happens, and an operation that was meant for the old version is refused. The
`Store` sees to that: it holds the lock that keeps other commands away, replaces the file as a whole and only
if it is what was read or written last, and notices an editor's save by size, time, inode and digest; an
editor's save always wins. One thread works in the background, on the newest task only (`BackgroundWorker`).

A session is opened over a review file, which is resumed in place, or over annotators' files, which are never
written: they are merged into a new review file, or one that holds the same annotations is resumed.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from threading import Condition, Event, RLock, Thread
from typing import Any

from caspr.adjudication import by_document
from caspr.errors import CasprError, InputError
from caspr.formats import review_file
from caspr.formats.sources import read_files
from caspr.result import GOLD
from caspr.review.documents import (
    ChangeSettings,
    ReviewDocument,
    can_improve,
    quick_look,
    read_documents,
    same_documents,
)
from caspr.review.history import History, Step
from caspr.review.operations import OperationError
from caspr.review.operations.context import worded
from caspr.review.record import Record
from caspr.storage import (
    ChangedError,
    FileLock,
    Stamp,
    read_bytes,
    refuse_overwriting,
    refuse_unwritable,
    stamp_of,
    write_all,
    write_unless_changed,
)
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Authorship, utc
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.task.stored_settings import write_settings
from caspr.text.alignment import align
from caspr.text.document import Annotation
from caspr.text.findings import Finding

Cancelled = Callable[[], bool]
BackgroundWork = Callable[[Cancelled], None]
"""Work that calls its argument now and then, and returns early when that is true."""


class BackgroundWorker:
    """Runs the newest task and cancels the one before it."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._task: BackgroundWork | None = None
        self._cancel = Event()
        self._thread: Thread | None = None
        self._ended = False
        self._running = False

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._changed:
            return self._task is None and not self._running

    def cancel(self) -> None:
        """Cancel the running task and drop the waiting one."""
        with self._changed:
            self._task = None
            self._cancel.set()

    def run(self, task: BackgroundWork) -> None:
        """Cancel the running task, and start this one as soon as that has returned."""
        with self._changed:
            if self._ended:
                return
            self._task = task
            self._cancel.set()
            if self._thread is None:
                self._thread = Thread(target=self._loop, daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self, seconds: float = 10.0) -> None:
        """Cancel everything, accept no more tasks, and wait until the running one has returned."""
        with self._changed:
            self._ended = True
            self._task = None
            self._cancel.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)

    def _loop(self) -> None:
        while True:
            with self._changed:
                while self._task is None and not self._ended:
                    self._changed.wait()
                if self._ended or self._task is None:
                    return
                task, self._task = self._task, None
                self._cancel = Event()
                cancelled = self._cancel.is_set
                self._running = True
            try:
                task(cancelled)
            except Exception:
                # A task that fails must not end the thread: the next one needs it.
                logging.getLogger(__name__).exception("work in the background failed")
            finally:
                with self._changed:
                    self._running = False


@dataclass
class Store:
    """One file on the disk."""

    path: Path
    lock: FileLock = field(init=False, repr=False)
    _seen: Stamp | None = None
    """The stamp when it was last read or written."""
    _digest: bytes = b""

    def __post_init__(self) -> None:
        """Make the lock, which is not taken yet."""
        self.lock = FileLock(self.path)

    def acquire(self) -> None:
        """Take the lock, or raise `InputError` if another process has it."""
        self.lock.acquire()

    def release(self) -> None:
        """Release the lock."""
        self.lock.release()

    def read(self) -> bytes:
        """Read the file and remember it."""
        before = stamp_of(self.path)
        data = read_bytes(self.path)
        self._seen, self._digest = before, _digest(data)
        return data

    def write(self, data: bytes) -> None:
        """Replace the file, synced when this returns.

        Raise `ChangedError` if it is not what was read or written last, or `OutputError` if it cannot be
        written; nothing has changed then.
        """
        stamp = write_unless_changed(self.path, data, lambda content: _digest(content) == self._digest)
        # The stamp of the file that was written, not of what is there now.
        self._seen, self._digest = stamp, _digest(data)

    def withdraw(self) -> None:
        """Delete a file that was not there before, unless somebody has changed it since it was written."""
        if self._seen is not None and not self.changed():
            self.path.unlink(missing_ok=True)

    def saved(self) -> str:
        """Return when the content that was last read or written was saved, in UTC."""
        seconds = 0 if self._seen is None else self._seen[1] // 10**9
        return utc(datetime.fromtimestamp(seconds, UTC))

    def changed(self) -> bool:
        """Return whether the content was changed outside since the last read or write."""
        stamp = stamp_of(self.path)
        if stamp == self._seen:
            return False
        if stamp is None:
            return False  # deleted: the next write restores it
        try:
            data = read_bytes(self.path)
        except InputError:
            return True
        if _digest(data) == self._digest:
            self._seen = stamp
            return False
        return True


@dataclass
class LaterStore(Store):
    """A file whose new content is kept, to be written together with that of others.

    Its record has a step then that the file has not; if that is not written, the step is dropped again.
    """

    content: bytes | None = None
    """What is to be written."""

    def write(self, data: bytes) -> None:
        """Keep the content, unless somebody else has saved the file."""
        if self.changed():
            raise ChangedError(f"{self.path}: it was saved by another program meanwhile")
        self.content = data


def write_together(stores: Iterable[LaterStore]) -> None:
    """Write what is kept of several files, none before all of them are safely on the disk."""
    some = {store.path: store for store in stores if store.content is not None}

    def compare() -> None:
        for store in some.values():
            if store.changed():
                raise ChangedError(f"{store.path}: it was saved by another program meanwhile: try again")

    write_all({path: store.content or b"" for path, store in some.items()}, before_replacing=compare)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


PRICING_SECONDS = 20.0
"""Seconds for pricing questions in the background after each change."""

Listener = Callable[[int, str, dict[str, Any]], None]
"""Called with every event: the number of the document, the kind of event, and its data."""


class MissingError(Exception):
    """Say that there is no such document or question; nothing else may look like it."""


class UnusableError(OperationError):
    """Refuse an operation because the file was edited outside and cannot be used."""


class StaleError(CasprError):
    """Refuse an operation that was meant for an older version."""

    def __init__(self, message: str, version: int) -> None:
        """Keep the newest version beside the message."""
        self.version = version
        super().__init__(message)


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass
class ReviewSession:
    """One review file being reviewed."""

    store: Store
    documents: list[ReviewDocument]
    record: Record
    who: str = "adjudicator"
    """Who acts, unless an operation says otherwise."""
    problem: str | None = None
    """What is wrong with the file as it was edited outside; nothing is written meanwhile."""
    fresh: bool = False
    """Whether the file has no results yet."""
    rests: bool = False
    """Whether nothing is searched or priced in the background."""
    listeners: list[Listener] = field(default_factory=list)
    """Called with every event, from any thread."""
    lock: RLock = field(default_factory=RLock)
    """Held while anything is changed."""
    _worker: BackgroundWorker = field(default_factory=BackgroundWorker)
    _acted: datetime = _LONG_AGO
    """When somebody acted last."""

    @classmethod
    def open(cls, store: Store, change_settings: ChangeSettings) -> "ReviewSession":
        """Read a review file; refuse decisions and rules that contradict each other, and unusable rules."""
        record, data = Record.beside(store.path), store.read()
        documents = read_documents(data, store.path, change_settings, saved=store.saved(), record=record)
        record.drop_unwritten({document.title: document.text for document in documents})
        session = cls(store, documents, record)
        for document in session.documents:
            document.check()
        return session

    def history(self, number: int) -> History:
        """Return the history of a document, opened on first access; raise `MissingError` if there is none."""
        if not 0 <= number < len(self.documents):
            raise MissingError(number)
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
            return [{"index": number, **document.summary()} for number, document in enumerate(self.documents)]

    def do(self, number: int, operation: Any, version: object, who: str = "") -> dict[str, Any]:
        """Carry out an operation and return the update; on any error nothing has changed."""
        self._worker.cancel()
        with self.lock:
            self.poll()
            history = self.history(number)
            author = Authorship(who or self.who, self._moment())
            try:
                return self._carry_out(number, history, operation, version, author)
            finally:
                self._run_background(number)

    def _moment(self) -> str:
        """Return the time of an act; each has a second of its own, since what has one time is one act."""
        self._acted = max(datetime.now(UTC), self._acted + timedelta(seconds=1))
        return utc(self._acted)

    def _carry_out(
        self, number: int, history: History, operation: Any, version: object, author: Authorship
    ) -> dict[str, Any]:
        if self.problem is not None:
            raise UnusableError(self.problem)
        if version != history.version:
            raise StaleError("The document has changed since you loaded it.", history.version)
        limits, quick = history.solver.settings.limits, quick_look(history.solver)
        step = history.step_for(operation, quick, author)
        self._write_or_reload(number, step)
        update = self.documents[number].take(step, working=can_improve(step.snapshot, limits, quick))
        self._publish(number, "update", update)
        return update

    def take_steps(self, steps_of: Callable[[Sequence[ReviewDocument]], Mapping[int, Step]]) -> None:
        """Take the steps that a function returns, by the numbers of their documents, all of them or none.

        Only a disk that is full, or an editor that saves the file meanwhile, may end it in between.
        """
        self._worker.cancel()
        with self.lock:
            self.poll()
            if self.problem is not None:
                raise UnusableError(self.problem)
            steps: Mapping[int, Step] = {}
            try:
                steps = steps_of(self.documents)
                for number, step in steps.items():
                    self._write_or_reload(number, step)
                    document = self.documents[number]
                    limits = document.settings.limits
                    working = can_improve(step.snapshot, limits, Limits(seconds=0.0))
                    self._publish(number, "update", document.take(step, working=working))
            finally:
                self._run_background(*(steps or range(len(self.documents))))

    def cancel(self, number: int) -> None:
        """Stop the background work; the best result so far stays."""
        self._worker.cancel()
        with self.lock:
            history = self.history(number)
            if history.working:
                self._rest(number, history)

    def _rest(self, number: int, history: History) -> None:
        """Keep the result, and say that nothing is searched any more."""
        history.working = False
        self._publish(number, "update", _republished(history))

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
                        self._publish(number, "update", _republished(document.history))
            self._run_background(*self._working())

    def _working(self) -> list[int]:
        """Return the documents whose results can still be improved."""
        histories = enumerate(document.history for document in self.documents)
        return [number for number, history in histories if history is not None and history.working]

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
                    raise StaleError("The file was edited in the meantime.", now) from None
                # Only what is ignored when the file is read was edited, such as a result.

    def _write(self, number: int, step: Step) -> None:
        text = self.history(number).text_after(step)
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
            raise InputError(f"{self.store.path}: the documents are not those that the file had before")
        steps: list[Step | None] = []
        for old, new in zip(self.documents, edited, strict=True):
            try:
                steps.append(_step_to(old, new))
            except ContradictionError as error:
                document = new.review.gold.document
                where = document.place(error.tokens[0]) if error.tokens else document.source
                raise InputError(f"{where}: {worded(document, error.fault)}") from error
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
                limits = old.settings.limits
                working = can_improve(step.snapshot, limits, quick_look(old.history.solver))
                self._publish(number, "update", old.history.commit(step, working=working))
        else:
            new.version = (old.history.version if old.history is not None else old.version) + 1
            self.documents[number] = new
            if old.history is not None:
                self._publish(number, "update", {**self.history(number).status(), "full": True})

    def _publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        data.setdefault("problem", self.problem)
        for listener in list(self.listeners):
            listener(number, kind, data)

    def _run_background(self, *numbers: int) -> None:
        """Start the background work for some documents; the next operation cancels it."""
        if self.rests:
            return
        self._worker.run(lambda cancelled: self._background(numbers, cancelled))

    def _background(self, numbers: Iterable[int], cancelled: Cancelled) -> None:
        for number in numbers:
            history = self.documents[number].history
            if history is not None and history.working:
                self._improve(number, history, cancelled)
            if history is not None:
                history.queue.price_first(history.snapshot, PRICING_SECONDS, cancelled)
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
            if (after.value, -after.bound) >= (before.value, -before.bound):
                self._rest(number, history)
                return
            step = Step(replace(after, done=before.done), history.past, history.future)
            try:
                self._write_or_reload(number, step)
            except StaleError:
                return
            self._publish(number, "update", history.commit(step))


def _step_to(old: ReviewDocument, new: ReviewDocument) -> Step | None:
    """Return the step to a document as it was edited, or `None` if it must be opened again."""
    same = old.review.annotations == new.review.annotations
    if old.history is not None and same and old.has_settings(new.review.settings):
        return old.history.step_to(new.review, quick_look(old.history.solver), new.editor)
    new.check()
    return None


def _republished(history: History) -> dict[str, Any]:
    """Return an update with the status of a document that did not change."""
    return history.commit(Step(history.snapshot, history.past, history.future), working=history.working)


DEFAULT = Path("review.conll")
"""Where a new review file is written unless the user names another place."""


def open_review(
    path: Path, change_settings: ChangeSettings, store_of: Callable[[Path], Store] = Store
) -> ReviewSession:
    """Resume a review file."""
    store = store_of(path)
    store.acquire()
    try:
        return ReviewSession.open(store, change_settings)
    except BaseException:
        store.release()
        raise


def open_annotations(
    files: Sequence[Path],
    work: Sequence[Sequence[Annotation]],
    output: Path,
    change_settings: ChangeSettings,
    *,
    allow_gold: bool = False,
) -> tuple[ReviewSession, tuple[Finding, ...]]:
    """Merge annotations into a new review file, or resume one that holds the same annotations."""
    refuse_overwriting(output, read_files(files))
    refuse_unwritable(output)
    documents, findings = by_document(work, allow_gold=allow_gold)
    aligned = [align(annotations) for annotations in documents]
    store = Store(output)
    store.acquire()
    try:
        if output.exists():
            _refuse_different(output, review_file.read(output), aligned)
            return ReviewSession.open(store, change_settings), findings
        return _open_fresh(store, aligned, change_settings(Settings())), findings
    except BaseException:
        store.release()
        raise


def _open_fresh(store: Store, documents: Sequence[Sequence[Annotation]], settings: Settings) -> ReviewSession:
    """Write a new review file and open it; if that fails or is interrupted, there is none."""
    session = None
    try:
        fresh = [fresh_review(annotations, settings) for annotations in documents]
        store.write(review_file.write(fresh).encode("utf-8"))
        session = ReviewSession.open(store, lambda _: settings)
        session.fresh = True
        if len(fresh) == 1:
            session.history(0)  # opens and optimises it
            session.save()
            session.fresh = False
    except BaseException:
        if session is not None:
            session.close()
        store.withdraw()
        raise
    return session


def fresh_review(annotations: Sequence[Annotation], settings: Settings) -> review_file.Review:
    """Return a review of annotations in which nothing is decided, without a result."""
    gold = Annotation(GOLD, annotations[0].document, ())
    return review_file.Review(gold, tuple(annotations), (), write_settings(settings))


def _refuse_different(
    output: Path, there: Sequence[review_file.Review], documents: Sequence[Sequence[Annotation]]
) -> None:
    """Refuse to resume a review of other documents or annotations."""
    known = [_content(review.annotations) for review in there]
    if known != [_content(annotations) for annotations in documents]:
        raise InputError(
            f"{output}: this is a review of other annotations: name another file with -o, or open this one "
            "alone"
        )


def _content(annotations: Sequence[Annotation]) -> object:
    """Return what must be equal for annotations to be the same, whatever files they come from."""
    return [
        (
            annotation.annotator,
            annotation.document.key,
            annotation.document.tokens,
            annotation.chains,
            annotation.singletons,
        )
        for annotation in annotations
    ]
