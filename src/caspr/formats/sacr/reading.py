"""Read SACR: braces, properties and the lines about the document."""

import re
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
MENTION = "#CASPR-MENTION:"
"""Begins a line with a mention that braces cannot express."""
_PROPERTY = r'[A-Za-z_][\w.-]*="(?:[^"\\]|\\.)*"'
_OPENING = re.compile(rf"\{{([^\s:{{}}]+):((?:{_PROPERTY}(?:,\s*{_PROPERTY})*)?)(?: |(?=[^\s]))")
_VALUE = re.compile(r'="((?:[^"\\]|\\.)*)"')
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b]")
_META = re.compile(r"#[A-Z][A-Z-]*:.*")
_HIDDEN = re.compile(rf"{MENTION} (\S+) ([0-9]{{1,12}}) ([0-9]{{1,12}}) ?(.*)")


@dataclass(frozen=True)
class SacrLayout:
    """What a file says beyond its text and mentions."""

    meta: tuple[str, ...]
    """Lines about the document."""
    properties: dict[str, str]
    """The properties of each mention, by its key."""
    marked: tuple[Marked, ...]
    """The mentions."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    whole = read_text(path)
    lines = whole.replace("\r\n", "\n").removesuffix("\n").split("\n")
    _refuse_no_text(whole, str(path))
    meta = tuple(line for line in lines if _META.fullmatch(line))
    body = "\n".join(line for line in lines if not _META.fullmatch(line))
    text, marked, properties = _parse(body, str(path))
    marked += _hidden(meta, len(text), str(path))
    kept = tuple(line for line in meta if not line.startswith((MENTION, "#CASPR-GOLD:")))
    layout = SacrLayout(kept, properties, tuple(marked))
    document = Document(path.stem, (), source=str(path), layout=layout)
    ends = [place for place, sign in enumerate(text) if sign == "\n"]
    who = path.stem if annotator is None else annotator
    names = {one.chain: one.chain for one in marked if not re.fullmatch(r"[A-Z]?[0-9]+", one.chain)}
    facts = EntityFacts(names, labels_are_types=True)
    annotation = annotate(document, who, Text(text, None, ends), marked, facts=facts)
    return [replace(annotation, adjudicated=any(line.startswith("#CASPR-GOLD:") for line in meta))]


def _refuse_no_text(text: str, source: str) -> None:
    """Refuse an empty file, and one that holds something else than text."""
    if not text:
        raise FormatError(source, None, "an empty file", "a text with mentions in braces")
    if odd := _CONTROL.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise FormatError(source, line, f"the control character U+{ord(odd[0]):04X}", "plain text")


def _parse(body: str, source: str) -> tuple[str, list[Marked], dict[str, str]]:
    """Take the braces out of a text."""
    parts: list[str] = []
    length = place = 0
    opened: list[tuple[str, str, int, int, str]] = []
    keys = map(str, count(1))
    marked: list[Marked] = []
    properties: dict[str, str] = {}
    for sign in re.finditer(r"[{}\\]", body):
        if sign.start() < place:
            continue
        parts.append(body[place : sign.start()])
        length += sign.start() - place
        place = sign.end()
        line = body.count("\n", 0, sign.start()) + 1
        if sign[0] == "\\":
            parts.append(body[place : place + 1])
            length += len(body[place : place + 1])
            place += 1
        elif sign[0] == "{":
            found = _OPENING.match(body, sign.start())
            if found is None:
                shown = quoted(body[sign.start() : sign.start() + 30])
                raise FormatError(source, line, shown, '`{chain:property="value" text}`')
            opened.append((found[1], found[2], length, line, next(keys)))
            place = found.end()
        elif not opened:
            raise FormatError(source, line, "`}`, which closes nothing", "`{` before it")
        else:
            chain, given, start, _, key = opened.pop()
            value = _VALUE.search(given)
            marked.append(Marked(chain, ((start, length),), value[1] if value else "", key))
            properties[key] = given
    if opened:
        raise FormatError(
            source, opened[-1][3], f"`{{{opened[-1][0]}:`, which is never closed", "`}` after it"
        )
    return "".join([*parts, body[place:]]), marked, properties


def _hidden(meta: tuple[str, ...], length: int, source: str) -> list[Marked]:
    """Read the mentions that braces cannot express."""
    found = []
    for line in meta:
        if line.startswith(MENTION):
            parts = _HIDDEN.fullmatch(line)
            if parts is None or not int(parts[2]) <= int(parts[3]) <= length:
                raise FormatError(source, None, quoted(line), f"`{MENTION} chain 0 4`, places in the text")
            found.append(Marked(parts[1], ((int(parts[2]), int(parts[3])),), parts[4]))
    return found
