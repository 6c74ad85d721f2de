"""Who decided what, and when, in a review file.

    # caspr together: 1-3 6-6 by "Ann" at 2026-11-17T09:30:05Z      behind a statement
    # caspr cells: 1-3 6-6 in 2 by "Ann" at 2026-11-17T09:30:05Z    for mentions that enforced cells express
    # caspr empty: 5 by "Ann" at 2026-11-17T09:30:05Z               for tokens that enforced cells leave empty
    # caspr done: by "Ann" at 2026-11-17T09:30:05Z                  Ann has nothing more to decide here
    ... at 2026-11-17T09:30:05Z category "boundary" confidence low  what it corrects, and how sure Ann is

1. `cells` and `empty` decide nothing: the cells do. They keep apart what was decided at different times, and
   one whose cells are not there any more is ignored.
2. What has no author was written by hand.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from caspr.errors import FormatError
from caspr.formats.messages import quoted
from caspr.task.authorship import CONFIDENCES, EDITOR, Authorship
from caspr.task.decisions import Decisions, Statement
from caspr.task.names import EntityName
from caspr.text.printable import is_encodable

CELLS, EMPTY, DONE = "cells", "empty", "done"
"""The keywords of lines that only say who did something."""
_SUFFIX = re.compile(
    r'(?P<rest>.*?)(?:\s+|^)by\s+(?P<who>"(?:[^"\\]|\\.)*")\s+at\s+'
    r"(?P<when>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)"
    r'(?:\s+category\s+(?P<category>"(?:[^"\\]|\\.)*"))?(?:\s+confidence\s+(?P<confidence>\w+))?\s*',
    re.DOTALL,
)
_EXPECTED = (
    '`by "name" at 2026-11-17T09:30:05Z` at the end of the line, with `category "..."` and '
    f"`confidence {'|'.join(CONFIDENCES)}` behind it or not"
)


@dataclass(frozen=True)
class Authors:
    """Who made the decisions about one document, as far as that is known."""

    statements: Mapping[Statement, Authorship] = field(default_factory=dict)
    """The author of each statement."""
    cells: tuple[tuple[Statement, Authorship], ...] = ()
    """What enforced cells express, one decision each: mentions in a chain."""
    empty: tuple[tuple[tuple[int, ...], Authorship], ...] = ()
    """The tokens that enforced cells leave empty, one decision each."""
    names: Mapping[EntityName, Authorship] = field(default_factory=dict)
    """Who named each entity."""
    done: Authorship | None = None
    """Who has said that nothing is left to decide."""


def number_of_acts(decisions: Decisions, authors: Authors) -> int:
    """Count how often somebody decided something, however many decisions one answer on the page made.

    What one person signed at one moment is one act. What was written by hand has no moment of its own: each
    chain of cells, empty cell, statement and name is one.
    """
    signed_cells = {(one.chain, span): made for one, made in authors.cells for span in one.mentions}
    signed_tokens = {token: made for tokens, made in authors.empty for token in tokens}
    makers = [
        *(authors.statements.get(one) for one in decisions.statements),
        *(authors.names.get(one) for one in decisions.names),
        *(signed_tokens.get(token) for token in sorted(decisions.empty_cells)),
    ]
    for chain in decisions.chains:
        makers += dict.fromkeys(signed_cells.get((chain.id, span)) for span in chain.mentions)
    by_hand = sum(made is None or made.who == EDITOR for made in makers)
    return by_hand + len({(made.who, made.when) for made in makers if made and made.who != EDITOR})


NOBODY = Authors()
"""Nothing is known about who decided anything."""


def signed(line: str, made: Authorship | None) -> str:
    """Put the author behind a line."""
    if made is None:
        return line
    category = f" category {_quoted(made.category)}" if made.category else ""
    confidence = f" confidence {made.confidence}" if made.confidence else ""
    return f"{line} by {_quoted(made.who)} at {made.when}{category}{confidence}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def split_signature(rest: str, source: str, line: int) -> tuple[str, Authorship | None]:
    """Split what follows a keyword into its content and its author."""
    found = _SUFFIX.fullmatch(rest)
    if found is None:
        if re.search(r"(?:^|\s)by\s", rest):
            raise FormatError(source, line, quoted(rest.strip()), _EXPECTED)
        return rest, None
    confidence = found["confidence"] or ""
    if confidence and confidence not in CONFIDENCES:
        raise FormatError(source, line, f"confidence {quoted(confidence)}", _EXPECTED)
    who, category = (_unquoted(one or '""', source, line) for one in (found["who"], found["category"]))
    return found["rest"], Authorship(who, found["when"], category, confidence)


def _unquoted(text: str, source: str, line: int) -> str:
    try:
        value = str(json.loads(text, strict=False))
    except ValueError:
        value = "\ud800"
    if not is_encodable(value):
        raise FormatError(source, line, quoted(text), f"{_EXPECTED}, with texts that are JSON")
    return value


def author_lines(authors: Authors) -> list[str]:
    """Write who made cells and who is done, a line each."""
    lines = [signed(f"# caspr {CELLS}: {_spelled(one)} in {one.chain}", made) for one, made in authors.cells]
    lines += [
        signed(f"# caspr {EMPTY}: {' '.join(map(str, tokens))}", made) for tokens, made in authors.empty
    ]
    return lines if authors.done is None else [*lines, signed(f"# caspr {DONE}:", authors.done)]


def _spelled(statement: Statement) -> str:
    return " ".join(f"{span.start}-{span.end}" for span in statement.mentions)


def read_empty(rest: str, source: str, line: int, tokens: int) -> tuple[int, ...]:
    """Read the tokens of an `empty` line."""
    words = rest.split()
    if not words or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise FormatError(source, line, quoted(rest.strip()), "`# caspr empty: 5 7`, one or more tokens")
    found = tuple(sorted({int(word) for word in words}))
    if not 1 <= found[0] <= found[-1] <= tokens:
        expected = f"tokens from 1 to {tokens}, those of its document"
        raise FormatError(source, line, f"tokens {quoted(rest.strip())}", expected)
    return found
