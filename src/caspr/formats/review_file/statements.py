"""Statements and notes in a review file: comment lines before a document, for what cells cannot express.

    # caspr enforced: 1-3 6-6 in 2      these are mentions, in the chain called 2
    # caspr together: 1-3 6-6           these are mentions, in one chain, whichever that is
    # caspr exists: 5-5                 each of these is a mention, in some chain
    # caspr mention: 5-5                this is a mention, in a chain or alone
    # caspr alone: 5-5                  this is a mention, in no chain with others
    # caspr absent: 5-7                 none of these is a mention
    # caspr apart: 1-3 6-6              these two are not in one chain
    # caspr nested: 1-3 3-3             these two may be in one chain, though one is inside the other
    # caspr note: {"mention": "5-7", "text": "ask Ann"}

1. A mention is its first and its last token, numbered from 1 in each document.
2. Each line is one decision; their order is kept. No token is closed to other mentions.
3. A note is JSON on one line; its mention is null where it concerns the whole document.
4. Each may say who wrote it, and when: see `authors`.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator

from caspr.errors import FormatError
from caspr.formats.columns.blocks import Line
from caspr.formats.columns.entity_lines import KEYWORDS
from caspr.formats.containers.json import parse_object
from caspr.formats.messages import quoted
from caspr.formats.review_file.authors import (
    CELLS,
    DONE,
    EMPTY,
    NOBODY,
    Authors,
    read_empty,
    signed,
    split_signature,
)
from caspr.task.authorship import Authorship
from caspr.task.decisions import Statement, StatementKind
from caspr.task.notes import Note
from caspr.text.document import Span
from caspr.text.ids import is_id
from caspr.text.printable import is_encodable

_KEYWORD = re.compile(r"# caspr +([^\s:\[]+)(?:\[[0-9]+\])?:(.*)", re.DOTALL)
_MENTION = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_OTHERS = ("review", "same-chain", CELLS, EMPTY, DONE, *KEYWORDS)
"""Keywords that are read elsewhere."""
_SHAPES = {
    StatementKind.ENFORCED: "`# caspr enforced: 1-3 6-6 in 2`, mentions and the id of their chain",
    StatementKind.TOGETHER: "`# caspr together: 1-3 6-6`, two or more mentions",
    StatementKind.EXISTS: "`# caspr exists: 5-5`, one or more mentions",
    StatementKind.MENTION: "`# caspr mention: 5-5`, one or more mentions",
    StatementKind.ALONE: "`# caspr alone: 5-5`, one or more mentions",
    StatementKind.ABSENT: "`# caspr absent: 5-7`, one or more mentions",
    StatementKind.APART: "`# caspr apart: 1-3 6-6`, two mentions",
    StatementKind.NESTED: "`# caspr nested: 1-3 3-3`, two mentions",
}
_NOTE = '`# caspr note: {"mention": "5-7", "text": "..."}`, a text with a mention or null'


def statement_lines(statements: Iterable[Statement], authors: Authors = NOBODY) -> list[str]:
    """Write statements, a line each."""
    return [signed(_line(statement), authors.statements.get(statement)) for statement in statements]


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Write notes, a line each."""
    return [f"# caspr note: {json.dumps(_note_values(one))}" for one in notes]


def _note_values(note: Note) -> dict[str, str | None]:
    made = {} if note.made is None else {"by": note.made.who, "at": note.made.when}
    return {"mention": None if note.mention is None else spelled(note.mention), "text": note.text, **made}


def spelled(mention: Span) -> str:
    """Write a mention.

    >>> spelled(Span(1, 3))
    '1-3'
    """
    return f"{mention.start}-{mention.end}"


def read_statements(
    lines: Iterable[Line], source: str, tokens: int
) -> tuple[tuple[Statement, ...], tuple[Note, ...]]:
    """Read the statements and notes among the lines before a document of so many tokens."""
    statements: list[Statement] = []
    notes: list[Note] = []
    for line, keyword, rest in _ours(lines):
        if keyword == "note":
            notes.append(_note(line, rest, source, tokens))
        elif keyword in list(StatementKind):
            content, _ = split_signature(rest, source, line.number)
            statements.append(_statement(line, StatementKind(keyword), content, source, tokens))
        else:
            known = ", ".join((*_OTHERS[:2], *StatementKind, "note", *_OTHERS[2:]))
            raise FormatError(source, line.number, f"{quoted(line.text)}", f"one of {known}")
    return tuple(statements), tuple(notes)


def read_authors(lines: Iterable[Line], source: str, tokens: int) -> Authors:
    """Read who made the decisions about a document of so many tokens."""
    statements: dict[Statement, Authorship] = {}
    cells: list[tuple[Statement, Authorship]] = []
    empty: list[tuple[tuple[int, ...], Authorship]] = []
    done = None
    for line, keyword, rest in _ours(lines, ("review", "same-chain", "note", *KEYWORDS)):
        content, made = split_signature(rest, source, line.number)
        if made is None:
            continue
        if keyword == DONE:
            done = made
        elif keyword == EMPTY:
            empty.append((read_empty(content, source, line.number, tokens), made))
        elif keyword == CELLS:
            cells.append((_statement(line, StatementKind.ENFORCED, content, source, tokens), made))
        elif keyword in list(StatementKind):
            statements[_statement(line, StatementKind(keyword), content, source, tokens)] = made
    return Authors(statements, tuple(cells), tuple(empty), done=done)


def _ours(lines: Iterable[Line], others: Container[str] = _OTHERS) -> Iterator[tuple[Line, str, str]]:
    for line in lines:
        found = _KEYWORD.fullmatch(line.text)
        if found is not None and found[1] not in others:
            yield line, found[1], found[2]


def _line(statement: Statement) -> str:
    chain = f" in {statement.chain}" if statement.kind is StatementKind.ENFORCED else ""
    return f"# caspr {statement.kind}: {' '.join(map(spelled, statement.mentions))}{chain}"


def _statement(line: Line, kind: StatementKind, rest: str, source: str, tokens: int) -> Statement:
    words = rest.split()
    chain = ""
    if kind is StatementKind.ENFORCED:
        if len(words) < 3 or words[-2] != "in" or not is_id(words[-1]):
            raise FormatError(source, line.number, quoted(line.text), _SHAPES[kind])
        chain = words[-1]
        words = words[:-2]
    mentions = [read_mention(line, word, source, tokens, _SHAPES[kind]) for word in words]
    statement = Statement.of(kind, mentions, chain)
    least = 2 if kind in (StatementKind.APART, StatementKind.NESTED, StatementKind.TOGETHER) else 1
    most = 2 if kind in (StatementKind.APART, StatementKind.NESTED) else tokens * tokens
    if not least <= len(statement.mentions) <= most:
        raise FormatError(source, line.number, quoted(line.text), _SHAPES[kind])
    return statement


def read_mention(line: Line, word: str, source: str, tokens: int, expected: str) -> Span:
    """Read back a mention that `spelled` wrote."""
    found = _MENTION.fullmatch(word)
    if found is None:
        raise FormatError(source, line.number, f"{quoted(word)} in {quoted(line.text)}", expected)
    span = Span(int(found[1]), int(found[2]))
    if not 1 <= span.start <= span.end <= tokens:
        inside = f"a mention inside the tokens 1 to {tokens} of its document"
        raise FormatError(source, line.number, f"mention {quoted(word)}", inside)
    return span


def _note(line: Line, rest: str, source: str, tokens: int) -> Note:
    data = parse_object(rest, source, _NOTE, line=line.number)
    if not isinstance(data.get("text"), str):
        raise FormatError(source, line.number, f"a note {quoted(rest.strip())}", _NOTE)
    if not is_encodable(data["text"] + str(data.get("by"))):
        expected = "text that can be saved as UTF-8: remove what is written \\ud800 to \\udfff from it"
        raise FormatError(source, line.number, "a note with half a character (a lone surrogate)", expected)
    mention = data.get("mention")
    if mention is not None and not isinstance(mention, str):
        raise FormatError(source, line.number, f"a note on {quoted(str(mention))}", _NOTE)
    who, when = data.get("by"), data.get("at")
    made = Authorship(who, when) if isinstance(who, str) and isinstance(when, str) else None
    about = None if mention is None else read_mention(line, mention, source, tokens, _NOTE)
    return Note(data["text"], about, made)
