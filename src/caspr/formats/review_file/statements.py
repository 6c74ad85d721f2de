"""Decisions and notes in a review file: comment lines before a document, each with its author.

    # caspr enforced: 1-3 6-6 in 2      these are mentions, in the chain called 2
    # caspr together: 1-3 6-6           these are mentions, in one chain, whichever that is
    # caspr entity: 1-3 6-6 9-9         the same; answers about these mentions go before it
    # caspr exists: 5-5                 each of these is a mention, in some chain
    # caspr mention: 5-5                this is a mention, in a chain or alone
    # caspr alone: 5-5                  this is a mention, in no chain with others
    # caspr absent: 5-7                 none of these is a mention
    # caspr apart: 1-3 6-6              these two are not in one chain
    # caspr nested: 1-3 3-3             these two may be in one chain, though one is inside the other
    # caspr note: {"mention": "5-7", "text": "ask Ann"}
    # caspr note: {"mention": "5-7", "flag": "generic", "text": ""}
    # caspr done: by "Ann" at 2026-11-17T09:30:05Z       Ann has nothing more to decide here

1. A mention is its first and its last token, numbered from 1 in each document.
2. Each line is one decision; their order is kept. No token is closed to other mentions.
3. A note is JSON on one line; its mention is null where it concerns the whole document.
4. A line may end with its author; what has none was written by hand:

    ... by "Ann" at 2026-11-17T09:30:05Z
    ... by "Ann" at 2026-11-17T09:30:05Z category "boundary" confidence low

5. What `=` cells decide has lines only to say who did: the cells decide. These lines keep apart what was
   decided at different times, and one whose cells are gone is ignored.

    # caspr cells: 1-3 6-6 in 2 by "Ann" at 2026-11-17T09:30:05Z
    # caspr empty: 5 by "Ann" at 2026-11-17T09:30:05Z

Names and types of entities are those that annotators voted for, and those of the adjudicator:

    # caspr name: 3 "William"                                                     voted by the annotators
    # caspr name: 3 "Sir William" by "Ann" at 2026-11-17T09:30:05Z                given by Ann
    # caspr type: 3 "person" by "Ann" at 2026-11-17T09:30:05Z
    # caspr name: - "Lady Mary" of 7-8 12-12 by "Ann" at 2026-11-17T09:30:05Z     waits for its mentions

6. The id is that of a chain in the result column, as the file has it. `of` names the mentions instead, where
   no chain has most of them.
7. A line without `by` and `of` whose text an annotator gave to some entity is a vote, and computed again. Any
   other was written by hand, and is a decision.
8. An empty text says that the entity has no name, or no type, whatever annotators voted.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from caspr.errors import FormatError
from caspr.formats.bracket_cells import parse
from caspr.formats.columns import KEYWORDS, Line
from caspr.formats.containers.json import parse_object, parse_value
from caspr.formats.format import quoted
from caspr.task.decisions import (
    CONFIDENCES,
    EDITOR,
    IN_CELLS,
    JOINING,
    LONGEST_FLAG,
    OF_PAIRS,
    Authorship,
    Decision,
    Note,
    Statement,
    StatementKind,
    is_flag,
    match_names,
    signature_values,
    spelled,
)
from caspr.text.document import Annotation, Chain, Span, is_id
from caspr.text.findings import is_encodable

DONE = "done"
"""The keyword of the line that says who has nothing more to decide."""
_SUFFIX = re.compile(
    r'(?P<rest>.*?)(?:\s+|^)by\s+(?P<who>"(?:[^"\\]|\\.)*")\s+at\s+'
    r"(?P<when>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)"
    r'(?:\s+category\s+(?P<category>"(?:[^"\\]|\\.)*"))?(?:\s+confidence\s+(?P<confidence>\w+))?\s*',
    re.DOTALL,
)
_EXPECTED_AUTHOR = (
    '`by "name" at 2026-11-17T09:30:05Z` at the end of the line, with `category "..."` and '
    f"`confidence {'|'.join(CONFIDENCES)}` after it or not"
)


def number_of_acts(decisions: Iterable[Decision]) -> int:
    """Count how often somebody decided something, however many decisions one answer on the page made.

    What one person signed at one moment is one act. What was written by hand has no moment of its own: each
    chain of cells, empty cell, statement and name is one.
    """
    return sum(answers_by_person(decisions).values())


def answers_by_person(decisions: Iterable[Decision]) -> dict[str, int]:
    """Count, for each person, how often they decided something; `EDITOR` for what was written by hand."""
    makers = [decision.made for decision in decisions]
    signed = {(made.who, made.when) for made in makers if made and made.who != EDITOR}
    by_hand = sum(made is None or made.who == EDITOR for made in makers)
    return {**Counter(who for who, _ in signed), **({EDITOR: by_hand} if by_hand else {})}


def signed(line: str, made: Authorship | None) -> str:
    """Put the author after a line."""
    if made is None:
        return line
    category = f" category {_quoted(made.category)}" if made.category else ""
    confidence = f" confidence {made.confidence}" if made.confidence else ""
    return f"{line} by {_quoted(made.who)} at {made.when}{category}{confidence}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def split_signature(rest: str, line: int) -> tuple[str, Authorship | None]:
    """Split what follows a keyword into its content and its author."""
    signature = _SUFFIX.fullmatch(rest)
    if signature is None:
        if re.search(r"(?:^|\s)by\s", rest):
            raise FormatError(line, quoted(rest.strip()), _EXPECTED_AUTHOR)
        return rest, None
    confidence = signature["confidence"] or ""
    if confidence and confidence not in CONFIDENCES:
        raise FormatError(line, f"confidence {quoted(confidence)}", _EXPECTED_AUTHOR)
    who, category = (_unquoted(text or '""', line) for text in (signature["who"], signature["category"]))
    return signature["rest"], Authorship(who, signature["when"], category, confidence)


def _unquoted(text: str, line: int) -> str:
    try:
        value = str(json.loads(text, strict=False))
    except ValueError:
        value = "\ud800"
    if not is_encodable(value):
        raise FormatError(line, quoted(text), f"{_EXPECTED_AUTHOR}, with texts that are JSON")
    return value


def _empty(rest: str, line: int, tokens: int) -> Statement:
    """Read the tokens of an `empty` line."""
    words = rest.split()
    if not words or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise FormatError(line, quoted(rest.strip()), "`# caspr empty: 5 7`, one or more tokens")
    numbers = [int(word) for word in words]
    if not 1 <= min(numbers) <= max(numbers) <= tokens:
        expected = f"tokens from 1 to {tokens}, those of its document"
        raise FormatError(line, f"tokens {quoted(rest.strip())}", expected)
    return Statement.of(StatementKind.EMPTY, ((token, token) for token in numbers))


_KEYWORD = re.compile(r"# caspr +([^\s:\[]+)(?:\[[0-9]+\])?:(.*)", re.DOTALL)
_MENTION = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_ELSEWHERE = ("review", "same-chain", *KEYWORDS)
"""Keywords that are read elsewhere."""
_SHAPES = {
    StatementKind.ENFORCED: "`# caspr enforced: 1-3 6-6 in 2`, mentions and the id of their chain",
    StatementKind.TOGETHER: "`# caspr together: 1-3 6-6`, two or more mentions",
    StatementKind.ENTITY: "`# caspr entity: 1-3 6-6`, two or more mentions",
    StatementKind.EXISTS: "`# caspr exists: 5-5`, one or more mentions",
    StatementKind.MENTION: "`# caspr mention: 5-5`, one or more mentions",
    StatementKind.ALONE: "`# caspr alone: 5-5`, one or more mentions",
    StatementKind.ABSENT: "`# caspr absent: 5-7`, one or more mentions",
    StatementKind.APART: "`# caspr apart: 1-3 6-6`, two mentions",
    StatementKind.NESTED: "`# caspr nested: 1-3 3-3`, two mentions",
    StatementKind.CELLS: "`# caspr cells: 1-3 6-6 in 2`, mentions and the id of their chain",
}
_NOTE = '`# caspr note: {"mention": "5-7", "text": "..."}`, a text with a mention or null'


def decision_lines(decisions: Iterable[Decision], done: Authorship | None) -> list[str]:
    """Write decisions, a line each: statements, then who decided what about cells, and who is done."""
    stated, cells, empty = list[str](), list[str](), list[str]()
    for decision in decisions:
        kind, mentions = decision.statement.kind, " ".join(map(spelled, decision.statement.mentions))
        if kind is StatementKind.NAME or (kind in IN_CELLS and decision.made is None):
            continue
        if kind is StatementKind.EMPTY:
            empty.append(
                signed(f"# caspr {kind}: {' '.join(map(str, decision.statement.tokens))}", decision.made)
            )
            continue
        chain = f" in {decision.statement.chain}" if decision.statement.chain else ""
        lines = cells if kind is StatementKind.CELLS else stated
        lines.append(signed(f"# caspr {kind}: {mentions}{chain}", decision.made))
    return [*stated, *cells, *empty, *([] if done is None else [signed(f"# caspr {DONE}:", done)])]


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Write notes, a line each."""
    return [f"# caspr note: {json.dumps(_note_values(note))}" for note in notes]


def _note_values(note: Note) -> dict[str, str | None]:
    made = {} if note.made is None else signature_values(note.made)
    about = None if note.mention is None else spelled(note.mention)
    return {"mention": about, **({"flag": note.flag} if note.flag else {}), "text": note.text, **made}


@dataclass
class HeadLines:
    """What the lines before a document say."""

    decisions: list[Decision] = field(default_factory=list)
    """Statements; and who decided what about cells, which decides nothing by itself."""
    notes: list[Note] = field(default_factory=list)
    done: Authorship | None = None
    """Who has said that nothing is left to decide."""


def read_lines(lines: Iterable[Line], tokens: int) -> HeadLines:
    """Read decisions and notes among the lines before a document of this many tokens."""
    content = HeadLines()
    for line in lines:
        match = _KEYWORD.fullmatch(line.text)
        if match is None or match[1] in _ELSEWHERE:
            continue
        keyword, rest = match[1], match[2]
        if keyword == "note":
            content.notes.append(_note(line, rest, tokens))
        elif keyword == DONE:
            content.done = split_signature(rest, line.number)[1] or content.done
        elif keyword == StatementKind.EMPTY or keyword in _SHAPES:
            said, made = split_signature(rest, line.number)
            if keyword in IN_CELLS and made is None:
                continue
            if keyword == StatementKind.EMPTY:
                statement = _empty(said, line.number, tokens)
            else:
                statement = _statement(line, StatementKind(keyword), said, tokens)
            content.decisions.append(Decision(statement, made))
        else:
            known = ", ".join((*_ELSEWHERE[:2], *_SHAPES, "note", "empty", DONE, *KEYWORDS))
            raise FormatError(line.number, f"{quoted(line.text)}", f"one of {known}")
    return content


def _statement(line: Line, kind: StatementKind, rest: str, tokens: int) -> Statement:
    words = rest.split()
    chain = ""
    if kind in (StatementKind.ENFORCED, StatementKind.CELLS):
        if len(words) < 3 or words[-2] != "in" or not is_id(words[-1]):
            raise FormatError(line.number, quoted(line.text), _SHAPES[kind])
        chain = words[-1]
        words = words[:-2]
    mentions = [read_mention(line, word, tokens, _SHAPES[kind]) for word in words]
    statement = Statement.of(kind, mentions, chain)
    least = 2 if kind in OF_PAIRS or kind in JOINING else 1
    most = 2 if kind in OF_PAIRS else tokens * tokens
    if not least <= len(statement.mentions) <= most:
        raise FormatError(line.number, quoted(line.text), _SHAPES[kind])
    return statement


def read_mention(line: Line, word: str, tokens: int, expected: str) -> Span:
    """Read back a mention that `spelled` wrote."""
    match = _MENTION.fullmatch(word)
    if match is None:
        raise FormatError(line.number, f"{quoted(word)} in {quoted(line.text)}", expected)
    span = Span(int(match[1]), int(match[2]))
    if not 1 <= span.start <= span.end <= tokens:
        inside = f"a mention inside the tokens 1 to {tokens} of its document"
        raise FormatError(line.number, f"mention {quoted(word)}", inside)
    return span


def _check_flag(line: Line, data: Mapping[str, object]) -> None:
    if not is_flag(data["flag"]):
        expected = f"a flag of one line, of up to {LONGEST_FLAG} characters, such as generic"
        raise FormatError(line.number, f"flag {quoted(str(data['flag']))}", expected)
    if data.get("mention") is None:
        raise FormatError(line.number, f"flag {quoted(str(data['flag']))} without a mention", _NOTE)


def _note(line: Line, rest: str, tokens: int) -> Note:
    data = parse_object(rest, _NOTE, line=line.number)
    flag = data.get("flag", "")
    if flag != "":
        _check_flag(line, data)
        data.setdefault("text", "")
    if not isinstance(data.get("text"), str):
        raise FormatError(line.number, f"a note {quoted(rest.strip())}", _NOTE)
    if not is_encodable(data["text"] + str(data.get("by")) + flag):
        expected = "text that can be saved as UTF-8: remove what is written \\ud800 to \\udfff from it"
        raise FormatError(line.number, "a note with half a character (a lone surrogate)", expected)
    mention = data.get("mention")
    if mention is not None and not isinstance(mention, str):
        raise FormatError(line.number, f"a note on {quoted(str(mention))}", _NOTE)
    who, when = data.get("by"), data.get("at")
    made = Authorship(who, when) if isinstance(who, str) and isinstance(when, str) else None
    about = None if mention is None else read_mention(line, mention, tokens, _NOTE)
    return Note(data["text"], about, made, flag)


NOWHERE = "-"
"""Stands for the id of an entity that no chain has most mentions of."""
_LINE = re.compile(r'# caspr (name|type): (\S+) +("(?:[^"\\]|\\.)*")(.*)', re.DOTALL)
_RESULT = re.compile(r"# caspr (name|type):")
_OF = re.compile(r"\s+of((?:\s+[0-9]+-[0-9]+)+)(.*)", re.DOTALL)
_EXPECTED_NAME = (
    '`# caspr name: 3 "Sir William"`, the id of a chain in the result column and a text in double quotes, '
    "or the mentions after it: `of 1-3 6-6`"
)
Homes = Mapping[str, Sequence[Span]]
"""The mentions of each id in the result column."""


def is_name(line: Line) -> bool:
    """Return whether a line names a chain of the result."""
    return _RESULT.match(line.text) is not None


def name_lines(chains: Iterable[Chain], decisions: Iterable[Decision]) -> list[str]:
    """Write names and types of the chains of the result, in the order of the chains, then those that wait."""
    result, names = (
        list(chains),
        [decision for decision in decisions if decision.statement.kind is StatementKind.NAME],
    )
    matched = match_names(result, [decision.statement for decision in names])
    own = {chain: names[name] for name, chain in matched.items()}
    lines: list[str] = []
    for number, chain in enumerate(result):
        decided = Statement(StatementKind.NAME, ())
        if number in own:
            decided = own[number].statement
            lines += _decided(own[number], chain.id)
        voted = (("name", chain.name, decided.name), ("type", chain.type, decided.type))
        lines += [
            _name_line(keyword, chain.id, text) for keyword, text, said in voted if text and said is None
        ]
    for number, name in enumerate(names):
        if number not in matched:
            lines += _decided(name, NOWHERE)
    return lines


def _decided(name: Decision, id: str) -> list[str]:
    said = name.statement
    # Without an author, the mentions tell the line from a vote.
    where = f" of {' '.join(map(spelled, said.mentions))}" if id == NOWHERE or name.made is None else ""
    return [
        signed(_name_line(keyword, id, text) + where, name.made)
        for keyword, text in (("name", said.name), ("type", said.type))
        if text is not None
    ]


def _name_line(keyword: str, id: str, value: str) -> str:
    return f"# caspr {keyword}: {id} {json.dumps(value, ensure_ascii=False)}"


def read_names(
    lines: Iterable[Line], tokens: int, annotations: Iterable[Annotation], homes: Callable[[], Homes]
) -> list[Decision]:
    """Read what the adjudicator called entities, each with its author if known.

    `homes` finds the mentions of the ids in the result column; it is called if a line needs it.
    """
    voted = {
        said
        for annotation in annotations
        for chain in annotation.all_chains
        for said in (("name", chain.name), ("type", chain.type))
    }
    texts: dict[tuple[Span, ...], dict[str, str]] = {}
    authors: dict[tuple[Span, ...], Authorship | None] = {}
    known: Homes | None = None
    for line in filter(is_name, lines):
        keyword, id, value, mentions, made = _read(line, tokens)
        if not mentions:
            if made is None and (keyword, value) in voted:
                continue
            known = homes() if known is None else known
            mentions = tuple(sorted(known.get(id, ())))
        if not mentions:
            raise FormatError(line.number, f"a {keyword} for chain {quoted(id)}", _EXPECTED_NAME)
        if texts.setdefault(mentions, {}).setdefault(keyword, value) != value:
            found = f"a second {keyword} of chain {quoted(id)}, {quoted(value)}"
            raise FormatError(
                line.number, found, f"one {keyword} of each chain: delete the line of the other"
            )
        authors[mentions] = made or authors.get(mentions)
    return [
        Decision(
            Statement(StatementKind.NAME, mentions, "", said.get("name"), said.get("type")), authors[mentions]
        )
        for mentions, said in texts.items()
    ]


def _read(line: Line, tokens: int) -> tuple[str, str, str, tuple[Span, ...], Authorship | None]:
    """Split a line into keyword, id, text, mentions if it names any, and author."""
    said = _LINE.fullmatch(line.text)
    if said is None:
        raise FormatError(line.number, quoted(line.text), _EXPECTED_NAME)
    value = parse_value(said[3], _EXPECTED_NAME, line=line.number)
    rest, mentions = said[4], tuple[Span, ...]()
    if stated := _OF.fullmatch(rest):
        spans = {read_mention(line, word, tokens, _EXPECTED_NAME) for word in stated[1].split()}
        rest, mentions = stated[2], tuple(sorted(spans))
    rest, made = split_signature(rest, line.number)
    if rest.strip() or not isinstance(value, str):
        raise FormatError(line.number, quoted(line.text), _EXPECTED_NAME)
    return said[1], said[2], value, mentions, made


def result_homes(results: Sequence[str], aliases: Mapping[str, str]) -> Homes:
    """Find the chains of the result column; what is malformed in it is left out, as it is computed again.

    >>> result_homes(["=(1", "(2)", "1)", "2)"], {})
    {'2': [Span(start=2, end=2)], '1': [Span(start=1, end=3)]}
    """
    spans: dict[str, list[Span]] = defaultdict(list)
    opened: dict[str, list[int]] = defaultdict(list)
    for token, cell in enumerate(results, 1):
        try:
            items = parse(cell.removeprefix("="))
        except ValueError:
            continue
        for item in items:
            if item.opens:
                opened[item.id].append(token)
            if item.closes and opened[item.id]:
                spans[aliases.get(item.id, item.id)].append(Span(opened[item.id].pop(), token))
    return dict(spans)
