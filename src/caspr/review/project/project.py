"""A project: a folder of review files, opened one by one as somebody looks at them.

Opening a project reads its list and the first lines of each file, no more. A document is opened when its
page is, with its own session, lock and background work; sessions that nobody used for a while are closed
again. Meanwhile the project counts, one document at a time, how many questions are left in those that
nobody opened.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from typing import Any

from caspr.errors import CasprError, InputError
from caspr.exchange import stamp_of
from caspr.files import write_all
from caspr.formats.review_file.project import NAME, ProjectFile, project_text, read_project
from caspr.locks import FileLock
from caspr.review.project.listing import Index, ProjectRow, first_row
from caspr.review.project.workplace import Watched, in_time, last_steps
from caspr.review.session.documents import ChangeSettings, read_documents
from caspr.review.session.record import Line, Record
from caspr.review.session.session import Listener, ReviewSession
from caspr.review.session.store import Store

MOST_OPEN = 8
"""How many documents stay open, apart from those that somebody looks at."""
LONGEST_NAME = 200
"""How many characters a name may have."""


@dataclass
class _Open:
    """An open document."""

    session: ReviewSession
    used: float
    """When it was last asked for."""


@dataclass
class Project:
    """A folder of review files."""

    folder: Path
    """The folder."""
    change_settings: ChangeSettings
    """Returns the settings of a document as changed by the options the user gave."""
    who: str = "adjudicator"
    """Who acts, unless an operation says otherwise."""
    listeners: list[Listener] = field(default_factory=list)
    """Called with every event, from any thread."""
    rows: list[ProjectRow] = field(default_factory=list)
    """What is known about each document."""
    file: ProjectFile = field(default_factory=ProjectFile)
    """The project file."""
    _open: dict[int, _Open] = field(default_factory=dict)
    _versions: dict[int, int] = field(default_factory=dict)
    _opening: dict[int, Lock] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)
    _ended: Event = field(default_factory=Event)

    @classmethod
    def opened(cls, folder: Path, change_settings: ChangeSettings, who: str = "adjudicator") -> "Project":
        """Open a project, or raise `InputError` if another process has it open."""
        project = cls(folder, change_settings, who)
        project._file_lock = FileLock(folder / NAME)
        project._file_lock.acquire()
        try:
            project.reload()
            project._sweep()
        except BaseException:
            project._file_lock.release()
            raise
        return project

    def __post_init__(self) -> None:
        """Prepare what is not a value."""
        self._file_lock = FileLock(self.folder / NAME)
        self._index = Index(self.folder)
        self._counting: Thread | None = None
        self._watched: Watched = lambda _: False

    def watch(self, watched: Watched) -> None:
        """Take a function that says which documents somebody looks at; these stay open."""
        self._watched = watched

    def reload(self) -> None:
        """Read the project file and the first lines of every document."""
        with self._lock:
            self.file = read_project(self.folder)
            self.rows = [self._index.apply(first_row(self.folder, one)) for one in self.file.documents]

    def _sweep(self) -> None:
        """Remove what a killed server left: locks that nobody holds, and files that it was writing."""
        for row in self.rows:
            lock = FileLock(self.folder / row.file)
            if lock.lock_path.exists():
                with suppress(CasprError):
                    lock.acquire()
                    lock.release()

    @property
    def title(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.rows)

    def at(self, number: int) -> tuple[ReviewSession, int]:
        """Return the session of a document, opened if it is not."""
        if not 0 <= number < self.count:
            raise IndexError(number)
        with self._lock:
            opening = self._opening.setdefault(number, Lock())
        with opening:
            with self._lock:
                known = self._open.get(number)
                if known is not None:
                    known.used = time.monotonic()
                    return known.session, 0
            session = self._session(number)
            with self._lock:
                self._open[number] = _Open(session, time.monotonic())
        self._close_unused()
        return session, 0

    def _session(self, number: int) -> ReviewSession:
        """Open the session of a document."""
        store = Store(self.folder / self.rows[number].file)
        store.acquire()
        try:
            session = ReviewSession.open(store, self.change_settings)
            if len(session.documents) != 1:
                raise InputError(
                    f"{store.path}: found {len(session.documents)} documents, expected one in each file of a "
                    "project: open this file alone"
                )
        except BaseException:
            store.release()
            raise
        session.who = self.who
        session.documents[0].version = self._versions.get(number, 1)
        session.listeners.append(lambda _, kind, data: self._on_event(number, kind, data))
        return session

    def _on_event(self, number: int, kind: str, data: dict[str, Any]) -> None:
        """Forward an event, and keep the row of its document up to date."""
        if kind == "update":
            self._refresh(number)
        for listener in list(self.listeners):
            listener(number, kind, data)

    def _refresh(self, number: int) -> None:
        with self._lock:
            known = self._open.get(number)
            if known is not None and known.session.documents[0].history is not None:
                summary = known.session.documents[0].summary()
                self.rows[number] = updated(self.rows[number], summary)
                self._versions[number] = summary["version"]

    def _close_unused(self) -> None:
        """Close the documents that were not used for longest, if there are too many."""
        with self._lock:
            by_use = sorted(self._open, key=lambda number: self._open[number].used)
            unused = [number for number in by_use[:-MOST_OPEN] if not self._watched(number)]
            closing = [self._open.pop(number).session for number in unused if not self._is_working(number)]
        for session in closing:
            session.close()

    def _is_working(self, number: int) -> bool:
        history = self._open[number].session.documents[0].history
        if history is not None:
            self._refresh(number)
            self._index.keep(self.rows[number])
        return history is not None and history.working

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""
        with self._lock:
            for number in self._open:
                self._refresh(number)
            return [
                {"index": number, **vars(row), "assigned": self.file.assigned.get(row.file, "")}
                for number, row in enumerate(self.rows)
            ]

    def assign(self, number: int, who: str) -> None:
        """Assign a document to somebody, or to nobody."""
        name = " ".join(who.split())[:LONGEST_NAME]
        with self._lock:
            if not 0 <= number < self.count:
                raise IndexError(number)
            assigned = {**self.file.assigned, self.rows[number].file: name}
            kept = {file: one for file, one in assigned.items() if one}
            self._write(replace(self.file, assigned=kept))

    def _write(self, file: ProjectFile) -> None:
        write_all({self.folder / NAME: project_text(file)})
        self.file = file

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time, in all documents."""
        records = [(row.title, Record.beside(self.folder / row.file)) for row in self.rows]
        return in_time(records, since)

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in the documents that somebody changed within so many seconds, and when."""
        recent = []
        for number, row in enumerate(self.rows):
            stamp = stamp_of(Record.path_beside(self.folder / row.file))
            if stamp is not None and stamp[1] / 1e9 > time.time() - seconds:
                recent.append((number, row.title, Record.beside(self.folder / row.file)))
        return last_steps(recent, seconds)

    def poll(self) -> None:
        """Look for edits of the open documents from outside."""
        with self._lock:
            sessions = [one.session for one in self._open.values()]
        for session in sessions:
            session.poll()

    def start(self) -> None:
        """Start counting in the background."""
        self._counting = Thread(target=self._count, daemon=True)
        self._counting.start()

    def _count(self) -> None:
        """Count the questions of every document that was not opened yet."""
        for number in range(self.count):
            if self._ended.is_set():
                return
            with self._lock:
                row, known = self.rows[number], number in self._open
            if row.asked is not None or known or row.status == "missing":
                continue
            counted = self._counted(row)
            with self._lock:
                if counted is not None and self.rows[number] is row:
                    self.rows[number] = counted
                    self._index.keep(counted)
        self._index.save()

    def _counted(self, row: ProjectRow) -> ProjectRow | None:
        """Count the questions of a document without optimising it, unless its file has faults."""
        path = self.folder / row.file
        try:
            [document] = read_documents(path.read_bytes(), path, self.change_settings)
            return updated(row, document.summary())
        except (CasprError, OSError, ValueError):
            return None

    def close(self) -> None:
        """Stop all work, keep what was counted and release all files."""
        self._ended.set()
        with self._lock:
            for number in self._open:
                self._is_working(number)
            sessions = [one.session for one in self._open.values()]
            self._open.clear()
        for session in sessions:
            session.close()
        if self._counting is not None:
            self._counting.join(10)
        self._index.save()
        self._file_lock.release()


def updated(row: ProjectRow, summary: Mapping[str, Any]) -> ProjectRow:
    """Return a row with what the summary of its document says."""
    known = {field.name for field in fields(ProjectRow)} - {"file", "title", "cost"}
    return replace(row, **{name: summary[name] for name in known})
