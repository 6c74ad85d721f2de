"""The list of the documents of a project, known without opening them.

Of a file that nobody opened yet, only the lines before its text are read: how many annotators and decisions
there are, who made the last one, and whether somebody is done. How many mentions are decided takes more
work; it is counted in the background, and kept in `.caspr-index.json` for as long as the file does not
change.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.exchange import Stamp, stamp_of
from caspr.files import write_all
from caspr.formats.review_file.authors import CELLS, EMPTY
from caspr.formats.review_file.project import NAME, ProjectDocument
from caspr.task.decisions import StatementKind

INDEX = ".caspr-index.json"
"""Keeps what was counted."""
_CHUNK = 1 << 16
"""How many bytes are read at a time until the text of a document begins."""
_DECISION = re.compile(
    rf"# caspr (?:(?:{'|'.join(StatementKind)}|{CELLS}|{EMPTY}):|(?:name|type): .* by \".*\" at )"
)
_DONE = re.compile(r'# caspr done:\s*by ("(?:[^"\\]|\\.)*") at (\S+)')
_SIGNED = re.compile(r'.* by ("(?:[^"\\]|\\.)*") at ([0-9TZ:-]+)(?:\s+(?:category|confidence)\s.*)?\s*$')


@dataclass(frozen=True)
class ProjectRow:
    """What is known about one document."""

    file: str
    """Its review file, relative to the folder of the project."""
    title: str
    """Its name."""
    tokens: int | None = None
    """How many tokens it has."""
    annotators: int | None = None
    """How many annotators it has."""
    cost: int | None = None
    """The cost of the result before anything was decided."""
    decisions: int = 0
    """How many decisions were made."""
    status: str = "open"
    """`open`, `in work` or `done`, or `missing` if there is no file."""
    by: str = ""
    """Who is done, or decided last."""
    at: str = ""
    """When that was."""
    asked: int | None = None
    """How many mentions are asked about, once they were counted."""
    answered: int | None = None
    """How many of them have no open question."""
    close: int | None = None
    """How many of the others annotators are about evenly divided on."""
    chains: int | None = None
    """How many chains the result has, once the document was opened."""
    value: int | None = None
    """What the result costs, once the document was opened."""
    optimal: bool | None = None
    """Whether the result is proven optimal, once the document was opened."""


def first_row(folder: Path, document: ProjectDocument) -> ProjectRow:
    """Return what the project file and the first lines of a review file say about a document."""
    row = ProjectRow(document.file, document.title, document.tokens, document.annotators, document.cost)
    head = _head(folder / document.file)
    if head is None:
        return replace(row, status="missing")
    return _with_head(row, head)


def _with_head(row: ProjectRow, head: list[str]) -> ProjectRow:
    decisions, last, done = 0, ("", ""), None
    for line in head:
        if line.startswith("# caspr review:"):
            row = _with_header(row, line)
        elif _DECISION.match(line):
            decisions += 1
            if found := _SIGNED.match(line):
                last = max(last, (found[2], found[1]))
        elif found := _DONE.match(line):
            done = found[2], found[1]
    when, who = done or last
    status = "done" if done else "in work" if decisions else "open"
    return replace(row, decisions=decisions, status=status, by=_name(who), at=when)


def _with_header(row: ProjectRow, line: str) -> ProjectRow:
    with suppress(ValueError, KeyError, TypeError):
        header = json.loads(line.partition(":")[2])
        return replace(row, tokens=header.get("tokens"), annotators=len(header["annotators"]))
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
    except OSError:
        return None
    return data.partition(b"#begin")[0].decode("utf-8", "replace").splitlines()


class Index:
    """What was counted in the documents of a project, each with the stamp of its file."""

    COUNTED = ("asked", "answered", "close", "chains", "value", "optimal", "decisions")
    """What is kept of a row."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / INDEX
        self._folder = folder
        self._counts: dict[str, tuple[Stamp, Mapping[str, Any]]] = {}
        self._dirty = False
        with suppress(OSError, ValueError, KeyError, TypeError):
            for file, (stamp, counts) in json.loads(self._path.read_bytes()).items():
                self._counts[file] = (stamp[0], stamp[1], stamp[2]), counts

    def apply(self, row: ProjectRow) -> ProjectRow:
        """Add what was counted to a row, if its file is still the same."""
        known = self._counts.get(row.file)
        if known is None or known[0] != stamp_of(self._folder / row.file):
            return row
        counts: dict[str, Any] = {name: known[1].get(name) for name in self.COUNTED}
        return replace(row, **counts)

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


def is_project(folder: Path) -> bool:
    """Return whether a folder is a project."""
    return (folder / NAME).is_file()
