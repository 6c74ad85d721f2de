"""Read SACR: braces, properties and the lines about the document."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate
from caspr.text.document import Annotation, Document

GOLD_LINE = "#CASPR-GOLD: the result of an adjudication"
"""Stands in a file that is one."""
_GOLD = "#CASPR-GOLD:"
MENTION = "#CASPR-MENTION:"
"""Begins a line with a mention that braces cannot express."""
_PROPERTY = r'[A-Za-z_][\w.-]*=(?:"(?:[^"\\]|\\.)*"|\w+)'
_PROPERTIES = rf":(?:{_PROPERTY}(?:[,;]\s*{_PROPERTY})*)?|(?=\s)"
_OPENING = re.compile(rf"\{{([^\s:{{}}]+)({_PROPERTIES}) ?")
_VALUE = re.compile(r'=(?:"((?:[^"\\]|\\.)*)"|(\w+))')
_EXPECTED = '`{chain text}` or `{chain:property="value" text}`; a brace of the text behind a backslash'
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b]")
_META = re.compile(r"#[A-Z][A-Z-]*:.*")
_HIDDEN = re.compile(rf"{MENTION} (\S+) ([0-9]{{1,12}}) ([0-9]{{1,12}}) ?(.*)")


@dataclass(frozen=True)
class SacrLayout:
    """What a file says beyond its text and mentions."""

    comments: tuple[tuple[int, str], ...]
    """Lines about the document, each with the number of lines of text before it."""
    properties: dict[str, str]
    """The properties of each mention with the colon before them, by its key."""
    marked: tuple[Marked, ...]
    """The mentions."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    whole = read_text(path)
    _refuse_no_text(whole, str(path))
    lines = whole.replace("\r\n", "\n").removesuffix("\n").split("\n")
    body = [number for number, line in enumerate(lines) if not _is_comment(line)]
    comments = [(bisect_left(body, number), line) for number, line in enumerate(lines) if _is_comment(line)]
    text, marked, properties = _parse(lines, body, str(path))
    marked += _hidden([line for _, line in comments], len(text), str(path))
    kept = tuple(one for one in comments if not one[1].startswith((MENTION, _GOLD)))
    layout = SacrLayout(kept, properties, tuple(marked))
    document = Document(path.stem, (), source=str(path), layout=layout)
    ends = [place for place, sign in enumerate(text) if sign == "\n"]
    who = path.stem if annotator is None else annotator
    names = {one.chain: one.chain for one in marked if not re.fullmatch(r"[A-Z]?[0-9]+", one.chain)}
    facts = EntityFacts(names, labels_are_types=True)
    annotation = annotate(document, who, Text(text, None, ends), marked, facts=facts)
    return [replace(annotation, adjudicated=any(line.startswith(_GOLD) for _, line in comments))]


def _refuse_no_text(text: str, source: str) -> None:
    """Refuse an empty file, and one that holds something else than text."""
    if not text:
        raise FormatError(source, None, "an empty file", "a text with mentions in braces")
    if odd := _CONTROL.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise FormatError(source, line, f"the control character U+{ord(odd[0]):04X}", "plain text")


def _is_comment(line: str) -> bool:
    """Return whether a line says something of the document; one with braces is text that begins with `#`."""
    return line.startswith("#") and (_META.fullmatch(line) is not None or "{" not in line)


def _parse(
    lines: Sequence[str], numbers: Sequence[int], source: str
) -> tuple[str, list[Marked], dict[str, str]]:
    """Take the braces out of a text, which stands in the lines of these numbers."""
    body = "\n".join(lines[number] for number in numbers)
    parts: list[str] = []
    length = place = 0
    opened: list[tuple[re.Match[str], int, str]] = []
    keys = map(str, count(1))
    marked: list[Marked] = []
    properties: dict[str, str] = {}

    def refused(place: int, found: str, expected: str) -> FormatError:
        return FormatError(source, numbers[body.count("\n", 0, place)] + 1, found, expected)

    for sign in re.finditer(r"[{}\\]", body):
        if sign.start() < place:
            continue
        parts.append(body[place : sign.start()])
        length += sign.start() - place
        place = sign.end()
        if sign[0] == "\\":
            parts.append(body[place : place + 1])
            length += len(body[place : place + 1])
            place += 1
        elif sign[0] == "{":
            found = _OPENING.match(body, sign.start())
            if found is None:
                raise refused(sign.start(), quoted(body[sign.start() : sign.start() + 30]), _EXPECTED)
            opened.append((found, length, next(keys)))
            place = found.end()
        elif not opened:
            raise refused(sign.start(), "`}`, which closes nothing", "`{` before it")
        else:
            opening, start, key = opened.pop()
            marked.append(Marked(opening[1], ((start, length),), _label(opening[2]), key))
            properties[key] = opening[2]
    if opened:
        opening = opened[-1][0]
        raise refused(opening.start(), f"`{{{opening[1]}`, which is never closed", "`}` after it")
    return "".join([*parts, body[place:]]), marked, properties


def _label(properties: str) -> str:
    """Return the value of the first property."""
    value = _VALUE.search(properties)
    return next(filter(None, value.groups()), "") if value else ""


def _hidden(meta: Sequence[str], length: int, source: str) -> list[Marked]:
    """Read the mentions that braces cannot express."""
    found = []
    for line in meta:
        if line.startswith(MENTION):
            parts = _HIDDEN.fullmatch(line)
            if parts is None or not int(parts[2]) <= int(parts[3]) <= length:
                raise FormatError(source, None, quoted(line), f"`{MENTION} chain 0 4`, places in the text")
            found.append(Marked(parts[1], ((int(parts[2]), int(parts[3])),), parts[4]))
    return found
