"""What the server works on: one review file, or a project of many; both look the same to it.

A document has a number. `using` gives the session that has it, and its number in that session, and sees to
it that the session stays open meanwhile. A document keeps its version while it is closed.

A project is a folder of review files. Opening it reads its list and the lines before the text of each file:
how many annotators and decisions there are, who made the last one, and whether somebody is done. A document
is opened when its page is, with its own session, lock and background work, so that a click costs the same
whether there are ten documents or ten thousand; sessions that nobody used for a while are closed again. How
many questions are left in documents that nobody opened is counted in the background, one at a time, and kept
in `.caspr-index.json` for as long as the file does not change.
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from types import NoneType
from typing import Any, Protocol

from caspr.errors import CasprError, InputError
from caspr.formats.review_file.project import (
    NAME,
    ProjectDocument,
    ProjectFile,
    is_project,
    project_text,
    read_project,
)
from caspr.review.documents import ChangeSettings, read_documents
from caspr.review.record import Line, Record, digest_of
from caspr.review.session import Listener, MissingError, ReviewSession, Store, open_review
from caspr.storage import FileLock, Stamp, stamp_of, write_all
from caspr.task.decisions import EDITOR, Authorship, Note, StatementKind, is_flag, read_spelled

INDEX = ".caspr-index.json"
"""Keeps what was counted."""
_CHUNK = 1 << 16
"""How many bytes are read at a time until the text of a document begins."""
_DECISION = re.compile(
    rf"# caspr (?:(?:{'|'.join(set(StatementKind) - {StatementKind.NAME})}):|(?:name|type): .* by \".*\" at )"
)
_DONE = re.compile(r'# caspr done:\s*by ("(?:[^"\\]|\\.)*") at (\S+)')
_SIGNED = re.compile(r'.* by ("(?:[^"\\]|\\.)*") at ([0-9TZ:-]+)(?:\s+(?:category|confidence)\s.*)?\s*$')


@dataclass(frozen=True)
class ProjectRow:
    """What is known about one document."""

    file: str
    """Its review file, relative to the folder of the project."""
    title: str
    tokens: int | None = None
    annotators: tuple[str, ...] = ()
    """Who annotated it."""
    cost: int | None = None
    """The cost of the result before anything was decided."""
    proven: bool | None = None
    """Whether that was proven optimal, where the corpus that made the project said so."""
    decisions: int = 0
    status: str = "open"
    """`open`, `in progress` or `done`, or `missing` if there is no file."""
    by: str = ""
    """Who is done, or decided last."""
    at: str = ""
    asked: int | None = None
    """How many mentions are asked about, once they were counted."""
    answered: int | None = None
    """How many of them have no open question."""
    answers: int = 0
    """How many answers were given: decisions that somebody made at one moment are one."""
    people: Mapping[str, int] = field(default_factory=dict)
    """How many of them each person gave."""
    stake: float | None = None
    """What its next question is worth beside those of others, the less the more, once it was counted."""
    chains: int | None = None
    """How many chains the result has, once the document was opened."""
    value: int | None = None
    """What the result costs, once the document was opened."""
    optimal: bool | None = None
    """Whether the result is proven optimal, once the document was opened."""
    flags: tuple[Note, ...] = ()
    """The flags of its mentions."""


def first_row(folder: Path, document: ProjectDocument) -> ProjectRow:
    """Return what the project file and the first lines of a review file say about a document."""
    proven = document.proven if document.bytes == _size(folder / document.file) else None
    row = ProjectRow(document.file, document.title, document.tokens, cost=document.cost, proven=proven)
    head = _head(folder / document.file)
    if head is None:
        return replace(row, status="missing")
    row = _with_head(row, head)
    return replace(row, optimal=row.proven if row.status == "open" else None)


def _size(path: Path) -> int | None:
    """Return how long a file is; one of another length is no longer as the corpus wrote it."""
    with suppress(OSError):
        return path.stat().st_size
    return None


def _with_head(row: ProjectRow, head: list[str]) -> ProjectRow:
    decisions, last, done = 0, ("", ""), None
    signatures: set[tuple[str, str]] = set()
    by_hand, flags = 0, []
    for line in head:
        if line.startswith("# caspr review:"):
            row = _with_header(row, line)
        elif _DECISION.match(line):
            decisions += 1
            signed = _SIGNED.match(line)
            if signed is None or _name(signed[1]) == EDITOR:
                by_hand += 1
            else:
                signatures.add((signed[2], signed[1]))
            last = max(last, (signed[2], signed[1])) if signed else last
        elif signed := _DONE.match(line):
            done = signed[2], signed[1]
        elif line.startswith("# caspr note:"):
            flags += _flags(line)
    when, who = done or last
    status = "done" if done else "in progress" if decisions else "open"
    people = {**Counter(_name(name) for _, name in signatures), **({EDITOR: by_hand} if by_hand else {})}
    row = replace(row, decisions=decisions, answers=sum(people.values()), people=people)
    return replace(row, status=status, by=_name(who), at=when, flags=tuple(flags))


def _flags(line: str) -> list[Note]:
    """Return the flag in a line; what is not a flag is left to whoever reads the whole file."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        said = json.loads(line.partition(":")[2])
        if is_flag(said.get("flag")):
            made = Authorship(str(said["by"]), str(said["at"])) if said.get("by") else None
            return [Note(str(said.get("text", "")), read_spelled(said["mention"]), made, said["flag"])]
    return []


def _with_header(row: ProjectRow, line: str) -> ProjectRow:
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        header = json.loads(line.partition(":")[2])
        tokens = header.get("tokens")
        return replace(
            row,
            tokens=tokens if type(tokens) is int else None,
            annotators=tuple(map(str, header["annotators"])),
        )
    return row


def _name(quoted: str) -> str:
    with suppress(ValueError):
        return str(json.loads(quoted))
    return ""


def _head(path: Path) -> list[str] | None:
    """Read the lines before the text of the first document, or return `None` if there is no file."""
    data = b""
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                data += chunk
                if b"#begin" in chunk:
                    break
    except (OSError, ValueError):
        return None
    return data.partition(b"#begin")[0].decode("utf-8", "replace").splitlines()


class Index:
    """What was counted in the documents of a project, each with the stamp of its file."""

    COUNTED = ("asked", "answered", "stake", "chains", "value", "optimal", "decisions", "answers")
    """What is kept of a row."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / INDEX
        self._folder = folder
        self._counts: dict[str, tuple[Stamp, Mapping[str, Any]]] = {}
        self._dirty = False
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            for file, (stamp, counts) in json.loads(self._path.read_bytes()).items():
                if all(type(counts[name]) in (int, float, bool, NoneType) for name in self.COUNTED):
                    self._counts[file] = (stamp[0], stamp[1], stamp[2]), counts

    def apply(self, row: ProjectRow) -> ProjectRow:
        """Add what was counted to a row, if its file is still the same."""
        known = self._counts.get(row.file)
        if known is None or known[0] != stamp_of(self._folder / row.file):
            return row
        counts: dict[str, Any] = {name: known[1].get(name) for name in self.COUNTED}
        return _as_found(replace(row, **counts))

    def keep(self, row: ProjectRow) -> None:
        """Keep what was counted in a document."""
        stamp = stamp_of(self._folder / row.file)
        if stamp is not None:
            self._counts[row.file] = stamp, {name: getattr(row, name) for name in self.COUNTED}
            self._dirty = True

    def save(self) -> None:
        """Write what was counted, if anything was; failing to is no harm."""
        if self._dirty:
            self._dirty = False
            with suppress(Exception):
                write_all({self._path: json.dumps(self._counts)})


def _as_found(row: ProjectRow) -> ProjectRow:
    """Return a row with the proof that the corpus found, while its result is the one that it proved."""
    known = row.proven and not row.decisions and row.value in (None, row.cost)
    return replace(row, optimal=True) if known else row


Watched = Callable[[int], bool]
"""Returns whether some page shows a document."""


class Workplace(Protocol):
    """Documents under review, by number."""

    @property
    def listeners(self) -> list[Listener]:
        """Called with every event, from any thread."""

    def watch(self, watched: Watched) -> None:
        """Take a function that says which documents somebody looks at; these stay open."""

    @property
    def title(self) -> str:
        """The name of the file or folder."""

    @property
    def count(self) -> int:
        """How many documents there are."""

    def using(self, number: int) -> AbstractContextManager[tuple[ReviewSession, int]]:
        """Use the session of a document, and its number there; raise `MissingError` if there is none.

        Nobody closes the session meanwhile.
        """

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""

    def assign(self, numbers: Collection[int], who: str) -> None:
        """Assign documents to somebody, or to nobody."""

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time, in all documents, in the order of time."""

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in the documents that somebody changed within some seconds, and when."""

    def poll(self) -> None:
        """Look for edits from outside."""

    def start(self) -> None:
        """Start working in the background."""

    def close(self) -> None:
        """Stop all work and release all files."""


@dataclass
class SingleFile:
    """One review file with all its documents."""

    session: ReviewSession

    def watch(self, watched: Watched) -> None:
        """Ignore it: all documents of a file stay open."""

    @property
    def listeners(self) -> list[Listener]:
        """Called with every event."""
        return self.session.listeners

    @property
    def title(self) -> str:
        """The name of the file."""
        return self.session.store.path.name

    @property
    def count(self) -> int:
        """How many documents the file has."""
        return len(self.session.documents)

    @contextmanager
    def using(self, number: int) -> Iterator[tuple[ReviewSession, int]]:
        """Use the session, and the number of the document in the file."""
        if not 0 <= number < self.count:
            raise MissingError(number)
        yield self.session, number

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""
        return [{**row, "assigned": "", "cost": None} for row in self.session.summaries()]

    def assign(self, numbers: Collection[int], who: str) -> None:  # noqa: ARG002
        """Refuse to assign: a file alone has no place for that."""
        raise MissingError(numbers)

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time."""
        records = [(document.title, self.session.record) for document in self.session.documents]
        return in_time(records, since)

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in each document."""
        titles = [(number, document.title) for number, document in enumerate(self.session.documents)]
        return last_steps([(number, title, self.session.record) for number, title in titles], seconds)

    def poll(self) -> None:
        """Look for edits from outside."""
        self.session.poll()

    def start(self) -> None:
        """Open all documents in the background."""
        self.session.start()

    def close(self) -> None:
        """Stop all work and release the file."""
        self.session.close()


def last_steps(records: Iterable[tuple[int, str, Record]], seconds: float) -> list[tuple[int, str, str]]:
    """Return the last step of each document whose record was written within some seconds."""
    steps = []
    for number, title, record in records:
        written = stamp_of(record.path)
        if written is not None and written[1] / 1e9 > time.time() - seconds:
            steps += [(number, step["by"], step["at"]) for step in record.steps(title)[-1:]]
    return steps


def in_time(records: list[tuple[str, Record]], since: str) -> list[Line]:
    """Return the steps of several documents in the order of time."""
    steps = ({"document": title, **step} for title, record in records for step in record.steps(title, since))
    return sorted(steps, key=lambda step: step["at"])


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
    users: int = 0
    """How many use it now; it is closed only where nobody does."""


@dataclass
class Project:
    """A folder of review files."""

    folder: Path
    change_settings: ChangeSettings
    """Returns the settings of a document as changed by the options the user gave."""
    who: str = "adjudicator"
    """Who acts, unless an operation says otherwise."""
    listeners: list[Listener] = field(default_factory=list)
    """Called with every event, from any thread."""
    rows: list[ProjectRow] = field(default_factory=list)
    file: ProjectFile = field(default_factory=ProjectFile)
    _open: dict[int, _Open] = field(default_factory=dict)
    _versions: dict[int, tuple[int, str]] = field(default_factory=dict)
    """The last version of each document that was open, and the digest of its text."""
    _opening: dict[int, Lock] = field(default_factory=lambda: defaultdict(Lock))
    """Held while a document is opened or closed."""
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
            self.rows = [
                self._index.apply(first_row(self.folder, document)) for document in self.file.documents
            ]

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
        """Return the session of a document, which stays open until enough others are used."""
        with self.using(number) as found:
            return found

    @contextmanager
    def using(self, number: int) -> Iterator[tuple[ReviewSession, int]]:
        """Use the session of a document, opened if it is not."""
        if not 0 <= number < self.count:
            raise MissingError(number)
        with self._opening[number]:
            with self._lock:
                entry = self._open.get(number)
            if entry is None:
                entry = _Open(self._session(number), 0)
            with self._lock:
                entry.used, entry.users = time.monotonic(), entry.users + 1
                self._open[number] = entry
        try:
            yield entry.session, 0
        finally:
            self._leave(entry)
            self._close_unused()

    def _leave(self, entry: _Open) -> None:
        with self._lock:
            entry.users -= 1

    def _session(self, number: int) -> ReviewSession:
        """Open the session of a document."""
        store = Store(self.folder / self.rows[number].file)
        store.acquire()
        try:
            session = ReviewSession.open(store, self.change_settings)
            if len(session.documents) != 1:
                raise InputError(
                    f"{store.path}: this file has {len(session.documents)} documents, and in a project each "
                    "has its own: open this file alone"
                )
        except BaseException:
            store.release()
            raise
        session.who = self.who
        version, digest = self._versions.get(number, (1, ""))
        document = session.documents[0]
        document.version = version + (digest not in ("", digest_of(document.text)))
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
                text = known.session.documents[0].text
                self._versions[number] = summary["version"], digest_of(text)

    def _close_unused(self) -> None:
        """Close the documents that were not used for longest, if there are too many."""
        with self._lock:
            by_use = sorted(self._open, key=lambda number: self._open[number].used)
        for number in by_use[:-MOST_OPEN]:
            # Whoever wants to use it meanwhile waits, and opens it again.
            with self._opening[number]:
                with self._lock:
                    entry = self._open.get(number)
                    if entry is None or entry.users or self._watched(number) or self._is_working(number):
                        continue
                    del self._open[number]
                entry.session.close()

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

    def assign(self, numbers: Collection[int], who: str) -> None:
        """Assign documents to somebody, or to nobody."""
        name = " ".join(who.split())[:LONGEST_NAME]
        with self._lock:
            if any(not 0 <= number < self.count for number in numbers):
                raise MissingError(numbers)
            assigned = {**self.file.assigned, **{self.rows[number].file: name for number in numbers}}
            kept = {file: person for file, person in assigned.items() if person}
            self._write(replace(self.file, assigned=kept))

    def _write(self, file: ProjectFile) -> None:
        write_all({self.folder / NAME: project_text(file)})
        self.file = file

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time, in all documents."""
        records = [(row.title, Record.beside(self.folder / row.file)) for row in self.rows]
        return in_time(records, since)

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in the documents that somebody changed within some seconds, and when."""
        recent = []
        for number, row in enumerate(self.rows):
            stamp = stamp_of(Record.path_beside(self.folder / row.file))
            if stamp is not None and stamp[1] / 1e9 > time.time() - seconds:
                recent.append((number, row.title, Record.beside(self.folder / row.file)))
        return last_steps(recent, seconds)

    def poll(self) -> None:
        """Look for edits of the open documents from outside."""
        with self._lock:
            entries = list(self._open.values())
            for entry in entries:
                entry.users += 1
        for entry in entries:
            try:
                entry.session.poll()
            finally:
                self._leave(entry)

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
            sessions = [entry.session for entry in self._open.values()]
            self._open.clear()
        for session in sessions:
            session.close()
        if self._counting is not None:
            self._counting.join(10)
        self._index.save()
        self._file_lock.release()


def open_existing(path: Path, change_settings: ChangeSettings, who: str) -> Workplace:
    """Open a project or a review file to go on with it."""
    if is_project(path):
        return Project.opened(path, change_settings, who)
    session = open_review(path, change_settings)
    session.who = who
    return SingleFile(session)


def updated(row: ProjectRow, summary: Mapping[str, Any]) -> ProjectRow:
    """Return a row with what the summary of its document says."""
    known = {field.name for field in fields(ProjectRow)} - {"file", "title", "cost", "proven"}
    return _as_found(replace(row, **{name: summary[name] for name in known}))
