"""What the server works on: one review file, or a project of many; both look the same to it.

A document has a number. `at` returns the session that has it, and its number in that session. A project
opens sessions as they are asked for, so that a click costs the same whether there are ten documents or ten
thousand.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from caspr.exchange import stamp_of
from caspr.review.session.record import Line, Record, shown_steps
from caspr.review.session.session import Listener, ReviewSession

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

    def at(self, number: int) -> tuple[ReviewSession, int]:
        """Return the session of a document, and its number there; raise `IndexError` if there is none."""

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""

    def assign(self, number: int, who: str) -> None:
        """Assign a document to somebody, or to nobody."""

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time, in all documents, in the order of time."""

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in the documents that somebody changed within so many seconds, and when."""

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
    """The review of the file."""

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

    def at(self, number: int) -> tuple[ReviewSession, int]:
        """Return the session, and the number of the document in the file."""
        if not 0 <= number < self.count:
            raise IndexError(number)
        return self.session, number

    def summaries(self) -> list[dict[str, Any]]:
        """Return a row for each document."""
        return [{**row, "assigned": "", "cost": None} for row in self.session.summaries()]

    def assign(self, number: int, who: str) -> None:  # noqa: ARG002
        """Refuse to assign: a file alone has no place for that."""
        raise IndexError(number)

    def steps(self, since: str = "") -> list[Line]:
        """Return who did what since a time."""
        records = [(one.title, self.session.record) for one in self.session.documents]
        return in_time(records, since)

    def last_acts(self, seconds: float) -> list[tuple[int, str, str]]:
        """Return who acted last in each document."""
        titles = [(number, one.title) for number, one in enumerate(self.session.documents)]
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
    """Return the last step of each document whose record was written within so many seconds."""
    found = []
    for number, title, record in records:
        written = stamp_of(record.path)
        if written is not None and written[1] / 1e9 > time.time() - seconds:
            found += [(number, one["by"], one["at"]) for one in record.steps(title)[-1:]]
    return found


def in_time(records: list[tuple[str, Record]], since: str) -> list[Line]:
    """Return the steps of several documents in the order of time."""
    return sorted(shown_steps(records, since), key=lambda step: step["at"])
