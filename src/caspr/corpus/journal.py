"""The journal of a corpus: the documents that are done, each with a hash of what its files were made from.

It is an SQLite database in the output folder. A document is entered when its files are on the disk, so that a
stopped run can be resumed without loss. A run locks the journal, so that there is only one at a time.
"""

import json
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caspr.errors import InputError, OutputError

NAME = ".caspr-journal.sqlite"
"""The file name of the journal in the output folder."""
_COMMIT_INTERVAL = 0.5
_TABLE = """
CREATE TABLE IF NOT EXISTS entry (
    document TEXT PRIMARY KEY, fingerprint TEXT, run INTEGER NOT NULL, rows TEXT NOT NULL, files TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class JournalEntry:
    """What the journal says about one document."""

    fingerprint: str | None
    """The hash of its inputs, options and version of CaspR; `None` if it failed."""
    files: Mapping[str, str]
    """The files that were written, with the hash of each."""


class Journal:
    """The journal of one output folder, for one run."""

    def __init__(self, folder: Path) -> None:
        """Open or create the journal, and lock it."""
        self._path = folder / NAME
        try:
            self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            # An entry can get lost in a power failure, and only then: its document is then done again.
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_TABLE)
            self.broken_off = bool(self._database.execute("PRAGMA user_version").fetchone()[0])
            """Whether the run before this one was killed."""
            self._database.execute("PRAGMA user_version = 1")
            self._database.execute("BEGIN IMMEDIATE")
            last = self._database.execute("SELECT max(run) FROM entry").fetchone()[0]
        except sqlite3.Error as error:
            raise InputError(self._message(error)) from error
        self.run = 1 + (last or 0)
        self._committed = time.monotonic()

    def commit_if_due(self) -> None:
        """Commit if the last commit was half a second ago; what this process loses is done again."""
        if time.monotonic() - self._committed > _COMMIT_INTERVAL:
            self._change("COMMIT")
            self._change("BEGIN IMMEDIATE")
            self._committed = time.monotonic()

    def _message(self, error: sqlite3.Error) -> str:
        if "locked" in str(error):
            return f"{self._path.parent}: another run is writing to this folder: wait for it to end"
        if isinstance(error, sqlite3.OperationalError) and not re.search("no such|no column", str(error)):
            # The journal is not to blame, but the disk: it is full, fails, or may not be written.
            return f"{self._path.parent}: cannot write there: {error}"
        return f"{self._path}: cannot use this journal ({error}): delete it to do everything again"

    def _change(self, command: str, values: tuple[Any, ...] = ()) -> None:
        try:
            self._database.execute(command, values)
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: cannot write: {error}") from error

    def entry(self, document: str) -> JournalEntry | None:
        """Return the entry of a document, if it has one."""
        row = self._database.execute(
            "SELECT fingerprint, files FROM entry WHERE document = ?", (document,)
        ).fetchone()
        return None if row is None else JournalEntry(row[0], json.loads(row[1]))

    def record(
        self,
        document: str,
        fingerprint: str | None,
        rows: tuple[Mapping[str, Any], ...],
        files: Mapping[str, str],
    ) -> None:
        """Enter the outcome of a document in this run."""
        values = (document, fingerprint, self.run, json.dumps(rows, ensure_ascii=False), json.dumps(files))
        self._change("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", values)
        self.commit_if_due()

    def confirm(self, document: str) -> tuple[Mapping[str, Any], ...]:
        """Take a document over from an earlier run, and return its rows of the summary."""
        self._change("UPDATE entry SET run = ? WHERE document = ?", (self.run, document))
        self.commit_if_due()
        row = self._database.execute("SELECT rows FROM entry WHERE document = ?", (document,)).fetchone()
        return tuple(json.loads(row[0]))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all documents of this run, in order of their names."""
        query = "SELECT document, rows FROM entry WHERE run = ? ORDER BY document"
        for document, rows in self._database.execute(query, (self.run,)):
            for row in json.loads(rows):
                yield {"document": document, **row}

    @classmethod
    def rows_of_last_run(cls, folder: Path) -> Iterator[dict[str, Any]]:
        """Yield the rows of the last run that wrote to a folder."""
        with closing(cls(folder)) as journal:
            journal.run -= 1
            yield from journal.rows()

    def forgotten(self) -> Iterator[str]:
        """Yield the files of documents that are no longer in the corpus."""
        query = "SELECT files FROM entry WHERE run < ? ORDER BY document"
        for (files,) in self._database.execute(query, (self.run,)):
            yield from json.loads(files)

    def close(self) -> None:
        """Close the journal and release its lock."""
        try:
            if self._database.in_transaction:
                self._change("COMMIT")
            self._change("PRAGMA user_version = 0")
        finally:
            self._database.close()
