"""Lines of brat's .ann files.

T1   PER 0 4;10 15      Anna Meier     a mention, with gaps where it has several pairs of offsets
R1   Coref Arg1:T1 Arg2:T2             a relation
*    Equiv T1 T2 T3                    a set
E1   Link:T1 next:E2                   an event: its trigger, then roles
A1 M1 N1 #1                            attributes, normalisations and notes: kept as they are
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from caspr.errors import FormatError
from caspr.formats.columns.blocks import Line
from caspr.formats.messages import quoted
from caspr.formats.text_layer.characters import Extent

_MENTION = re.compile(r"(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*)")
_ROLE = re.compile(r"([^\s:]+):(\S+)")


@dataclass(frozen=True)
class Mention:
    """A line that marks text."""

    id: str
    """Such as T1."""
    type: str
    """Its type."""
    pieces: tuple[Extent, ...]
    """Its characters."""
    line: Line
    """Where it stands."""


@dataclass(frozen=True)
class Link:
    """A line that connects others: a relation, a set or an event."""

    id: str
    """Such as R1 or E1; `*` for a set."""
    type: str
    """Its type."""
    roles: tuple[tuple[str, str], ...]
    """Names and ids of what it connects; the trigger of an event comes first, members have no names."""
    line: Line
    """Where it stands."""


@dataclass
class Lines:
    """All lines of a file, sorted by kind."""

    mentions: dict[str, Mention] = field(default_factory=dict)
    """By id."""
    links: list[Link] = field(default_factory=list)
    """Relations, sets and events in order."""
    triggers: dict[str, str] = field(default_factory=dict)
    """The mention of each event."""


def parse(text: str, source: str, length: int) -> Lines:
    """Read the lines about a text of so many characters, or raise `FormatError`."""
    found = Lines()
    seen: dict[str, int] = {}
    for number, content in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        line = Line(number, content)
        id, _, rest = content.partition("\t")
        if not content.strip() or id[:1] in ("A", "M", "N", "#"):
            continue
        if id[:1] not in ("T", "R", "E", "*"):
            raise FormatError(
                source, number, quoted(content), "a line that starts with T, R, E, A, M, N, # or *"
            )
        if id != "*" and seen.setdefault(id, number) != number:
            expected = f"each id once; the first is in line {seen[id]}"
            raise FormatError(source, number, f"id {quoted(id)} for the second time", expected)
        if id.startswith("T"):
            found.mentions[id] = _mention(id, rest, line, source, length)
        else:
            link = _link(id, rest, line, source)
            found.links.append(link)
            if id.startswith("E"):
                found.triggers[id] = link.roles[0][1]
    _refuse_missing(found, source)
    return found


def joined_lines(content: str, text: str) -> str:
    """Join the lines of mentions whose text holds line ends, which some programs copy into the .ann file.

    >>> joined_lines("T1\\tPER 0 8\\tSir\\nWill\\nT2\\tPER 0 3\\tSir\\n", "Sir\\nWill")
    'T1\\tPER 0 8\\tSir Will\\nT2\\tPER 0 3\\tSir\\n'
    """
    given = content.replace("\r\n", "\n").split("\n")
    if len(given) == 1 or "\n" not in text:
        return content
    joined: list[str] = []
    place = 0
    while place < len(given):
        more = _continued(given, place, text)
        joined.append(" ".join(given[place : place + 1 + more]))
        place += 1 + more
    return "\n".join(joined) if len(joined) < len(given) else content


def _continued(given: list[str], place: int, text: str) -> int:
    """Count the lines behind a mention that go on with its text."""
    id, _, rest = given[place].partition("\t")
    head, _, said = rest.partition("\t")
    parts = _MENTION.fullmatch(head.rstrip(" ")) if id.startswith("T") else None
    if parts is None:
        return 0
    pairs = [tuple(map(int, pair.split(" "))) for pair in parts[2].split(";")]
    words = " ".join(text[start:end] for start, end in pairs).replace("\r\n", "\n").split("\n")
    more = len(words) - 1
    same = [one.split() for one in (said, *given[place + 1 : place + 1 + more])] == [
        one.split() for one in words
    ]
    return more if same else 0


def new_id(kind: str, taken: set[str]) -> Iterator[str]:
    """Count ids of a kind that are not taken."""
    numbers = (int(id[1:]) for id in taken if id[:1] == kind and id[1:].isascii() and id[1:].isdecimal())
    number = max(numbers, default=0)
    while True:
        number += 1
        yield f"{kind}{number}"


def _mention(id: str, rest: str, line: Line, source: str, length: int) -> Mention:
    head = rest.partition("\t")[0]
    parts = _MENTION.fullmatch(head.rstrip(" "))
    if parts is None:
        raise FormatError(source, line.number, quoted(line.text), "`T1<tab>Type 0 4<tab>text`")
    pieces = []
    for pair in parts[2].split(";"):
        start, end = map(int, pair.split(" "))
        if not start <= end <= length:
            expected = f"offsets in order and at most {length}, the length of the text"
            raise FormatError(source, line.number, f"offsets {pair}", expected)
        pieces.append((start, end))
    return Mention(id, parts[1], tuple(sorted(pieces)), line)


def _link(id: str, rest: str, line: Line, source: str) -> Link:
    head, *words = rest.partition("\t")[0].split(" ")
    if id == "*":
        members = tuple(("", word) for word in words if word)
        if head and members:
            return Link(id, head, members, line)
    else:
        given = [word for word in ([head, *words] if id.startswith("E") else words) if word]
        roles = [_ROLE.fullmatch(word) for word in given]
        pairs = tuple((role[1], role[2]) for role in roles if role)
        if head and pairs and len(pairs) == len(given):
            return Link(id, pairs[0][0] if id.startswith("E") else head, pairs, line)
    expected = "`R1<tab>Type Arg1:T1 Arg2:T2`, `*<tab>Type T1 T2` or `E1<tab>Type:T1 role:T2`"
    raise FormatError(source, line.number, quoted(line.text), expected)


def _refuse_missing(found: Lines, source: str) -> None:
    known = found.mentions.keys() | {link.id for link in found.links}
    for link in found.links:
        for _, id in link.roles:
            if id not in known:
                raise FormatError(source, link.line.number, f"a link to {quoted(id)}", "a line with that id")
        if link.id.startswith("E") and link.roles[0][1] not in found.mentions:
            raise FormatError(source, link.line.number, f"trigger {link.roles[0][1]}", "a trigger such as T1")
