"""The adjudicators of a team, each with a link of their own.

    adjudicators.csv        name,token
                            Ann
                            Bob,k3Yx...

The token in a link says who opens it. Where the file has none, one is made and kept in `.caspr-links.json`
of the project, readable by its owner alone, so that a link stays the same after a restart.
"""

import csv
import io
import json
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError, InputError
from caspr.files import read_text, write_all

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
            raise FormatError(str(path), 1, repr(head.strip()[:60]), _EXPECTED)
        if cells["name"]:
            people.append(_person(cells["name"], cells.get("token", ""), str(path), line))
    if not people:
        raise FormatError(str(path), 1, "no names", _EXPECTED)
    for kind, given in (("name", [one.name for one in people]), ("token", [one.token for one in people])):
        twice = next((value for value in given if value and given.count(value) > 1), None)
        if twice is not None:
            raise InputError(f"{path}: found a {kind} twice, expected one of each person's own")
    return tuple(people)


def _person(name: str, token: str, source: str, line: int) -> Person:
    if len(name) > _LONGEST or not name.isprintable():
        raise FormatError(source, line, f"name {name[:40]!r}", f"a name of at most {_LONGEST} characters")
    if token and not _TOKEN.fullmatch(token):
        expected = "16 letters, digits, - or _ or more, which nobody can guess; or none, to have one made"
        raise FormatError(source, line, "an unsuitable token", expected)
    return Person(name, token)


def with_links(people: Sequence[Person], folder: Path | None) -> tuple[Person, ...]:
    """Return everybody with a token; those that were made are kept in the folder of the project, if any."""
    path = None if folder is None else folder / LINKS
    kept: dict[str, str] = {}
    if path is not None:
        with suppress(OSError, ValueError, AttributeError):
            read = json.loads(path.read_bytes())
            kept = {str(name): str(token) for name, token in read.items() if _TOKEN.fullmatch(str(token))}
    found = tuple(
        one if one.token else replace(one, token=kept.get(one.name) or secrets.token_urlsafe(24))
        for one in people
    )
    made = {one.name: one.token for one, given in zip(found, people, strict=True) if not given.token}
    if path is not None and not made.items() <= kept.items():
        _keep(path, {**kept, **made})
    return found


def _keep(path: Path, tokens: dict[str, str]) -> None:
    """Write the tokens so that only their owner can read them, from the first moment."""
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    write_all({path: json.dumps(tokens, indent=1, ensure_ascii=False) + "\n"})
