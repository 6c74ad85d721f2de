"""The adjudicators of a team, each with a link of their own, and who is at work on what.

    adjudicators.csv        name,token
                            Ann
                            Bob,k3Yx...

The token in a link says who opens it. Where the file has none, one is made and kept in `.caspr-links.json`
of the project, readable by its owner alone, so that a link stays the same after a restart.

One person at a time works on a document, and all others watch (`Leases`): whoever acts on a document holds it
until ten minutes after the last act, until it is done, or until somebody takes it over. Nobody is locked out
by a colleague who went home; nobody overwrites one who is at work.
"""

import csv
import io
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from caspr.errors import CasprError, FormatError, InputError
from caspr.storage import read_text, write_all

LINKS = ".caspr-links.json"
"""Keeps the tokens that were made."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
_LONGEST = 200
_EXPECTED = "a column `name`, and perhaps a column `token`, as in its first line: name,token"


@dataclass(frozen=True)
class Person:
    """One adjudicator."""

    name: str
    """As decisions are signed."""
    token: str = ""
    """The secret in their link; empty until one is made."""


def read_team(path: Path) -> tuple[Person, ...]:
    """Read a table of adjudicators, separated by commas, semicolons or tabs."""
    text = read_text(path)
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    people: list[Person] = []
    for line, row in enumerate(rows, 2):
        cells = {str(name).strip().lower(): str(cell or "").strip() for name, cell in row.items() if name}
        if "name" not in cells:
            raise FormatError(1, repr(head.strip()[:60]), _EXPECTED, str(path))
        if cells["name"]:
            people.append(_person(cells["name"], cells.get("token", ""), str(path), line))
    if not people:
        raise FormatError(1, "no names", _EXPECTED, str(path))
    for kind, values in (
        ("name", [person.name for person in people]),
        ("token", [person.token for person in people]),
    ):
        twice = next((value for value in values if value and values.count(value) > 1), None)
        if twice is not None:
            raise InputError(f"{path}: two people have the same {kind}: give each their own")
    return tuple(people)


def _person(name: str, token: str, source: str, line: int) -> Person:
    if len(name) > _LONGEST or not name.isprintable():
        raise FormatError(line, f"name {name[:40]!r}", f"a name of at most {_LONGEST} characters", source)
    if token and not _TOKEN.fullmatch(token):
        expected = "16 letters, digits, - or _ or more, which nobody can guess; or none, to have one made"
        raise FormatError(line, "an unsuitable token", expected, source)
    return Person(name, token)


def with_links(people: Sequence[Person], folder: Path | None) -> tuple[Person, ...]:
    """Return everybody with a token; those that were made are kept in the folder of the project, if any."""
    path = None if folder is None else folder / LINKS
    kept: dict[str, str] = {}
    if path is not None:
        with suppress(OSError, ValueError, AttributeError):
            read = json.loads(path.read_bytes())
            kept = {str(name): str(token) for name, token in read.items() if _TOKEN.fullmatch(str(token))}
    linked = tuple(
        person if person.token else replace(person, token=kept.get(person.name) or secrets.token_urlsafe(24))
        for person in people
    )
    made = {person.name: person.token for person, old in zip(linked, people, strict=True) if not old.token}
    if path is not None and not made.items() <= kept.items():
        _keep(path, {**kept, **made})
    return linked


def _keep(path: Path, tokens: dict[str, str]) -> None:
    """Write the tokens so that only their owner can read them, from the first moment."""
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    write_all({path: json.dumps(tokens, indent=1, ensure_ascii=False) + "\n"})


SECONDS = 600.0
"""How long a document stays with whoever acted last."""


class LeaseError(CasprError):
    """Refuse an act on a document that somebody else works on."""

    def __init__(self, lease: "Lease") -> None:
        """Keep who holds the document beside the message."""
        self.lease = lease
        super().__init__(f"{lease.holder} is working on this document")


@dataclass(frozen=True)
class Lease:
    """Who works on a document."""

    holder: str
    until: float
    """When it ends, in seconds since 1970."""

    def view(self) -> dict[str, Any]:
        """Return it as JSON for the page."""
        when = datetime.fromtimestamp(self.until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"holder": self.holder, "until": when}


@dataclass
class Leases:
    """Who works on which document, by its number."""

    clock: Callable[[], float] = time.time
    """Returns seconds since 1970."""
    _held: dict[int, Lease] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, number: int) -> Lease | None:
        """Return who works on a document, if anybody does."""
        lease = self._held.get(number)
        return lease if lease is not None and lease.until > self.clock() else None

    def act(self, number: int, who: str) -> Lease:
        """Note that somebody acts, or raise `LeaseError` if the document is somebody else's now."""
        with self._lock:
            self.refuse_others(number, who)
            return self._give(number, who)

    def refuse_others(self, number: int, who: str) -> None:
        """Raise `LeaseError` if a document is somebody else's now."""
        lease = self.of(number)
        if lease is not None and lease.holder != who:
            raise LeaseError(lease)

    def take(self, number: int, who: str) -> Lease:
        """Take a document over, whoever has it."""
        with self._lock:
            return self._give(number, who)

    def release(self, number: int, who: str) -> None:
        """Give a document back, if one has it."""
        with self._lock:
            lease = self._held.get(number)
            if lease is not None and lease.holder == who:
                del self._held[number]

    def resume(self, number: int, who: str, at: str) -> None:
        """Let somebody go on who acted last before a restart."""
        try:
            acted = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return
        if acted + SECONDS > self.clock():
            self._held.setdefault(number, Lease(who, acted + SECONDS))

    def _give(self, number: int, who: str) -> Lease:
        lease = Lease(who, self.clock() + SECONDS)
        self._held[number] = lease
        return lease
