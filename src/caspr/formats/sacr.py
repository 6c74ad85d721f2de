"""SACR: a text with mentions in braces, as the annotation script of that name writes it.

    {Anna:EN="p PER" Anna Meier} slept . {Anna:EN="p PER" She} snored .

    #COLOR:Anna=hsl(50, 100%, 80%)

1. After the opening brace come the chain and a blank, or the chain, a colon, properties separated by commas
   or semicolons, and a blank. Lines that start with `#` are about the document or the lines that
   follow, such as `#speaker: Anna`: they are not text, and are kept in their places.
2. The value of the first property is the label of a mention. A chain whose name is more than a number has
   that as the name of its entity.
3. Braces are nested, so that mentions that cross others, and those without characters, cannot be written:
   lines `#CASPR-MENTION:` hold them, which other programs pass over.
4. A brace or a backslash of the text, and a `#` at the beginning of a line, is written after a backslash.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from caspr.errors import FormatError, OutputError
from caspr.formats.format import Format, ReadOptions, lost, quoted
from caspr.formats.naming import collect, numbered, stem
from caspr.formats.text_layer import EntityFacts, Marked, Text, annotate, plan, spell, wide_pieces
from caspr.storage import read_text
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding, times, warning

GOLD_LINE = "#CASPR-GOLD: the result of an adjudication"
"""The comment in a file that is the result of an adjudication."""
_GOLD = "#CASPR-GOLD:"
MENTION = "#CASPR-MENTION:"
"""Begins a line with a mention that braces cannot express."""
_PROPERTY = r'[A-Za-z_][\w.-]*=(?:"(?:[^"\\]|\\.)*"|\w+)'
_PROPERTIES = rf":(?:{_PROPERTY}(?:[,;]\s*{_PROPERTY})*)?|(?=\s)"
_OPENING = re.compile(rf"\{{([^\s:{{}}]+)({_PROPERTIES}) ?")
_VALUE = re.compile(r'=(?:"((?:[^"\\]|\\.)*)"|(\w+))')
_EXPECTED = '`{chain text}` or `{chain:property="value" text}`; a brace of the text after a backslash'
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


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    whole = read_text(path)
    _refuse_no_text(whole)
    lines = whole.replace("\r\n", "\n").removesuffix("\n").split("\n")
    body = [number for number, line in enumerate(lines) if not _is_comment(line)]
    comments = [(bisect_left(body, number), line) for number, line in enumerate(lines) if _is_comment(line)]
    text, marked, properties = _parse(lines, body)
    marked += _hidden([line for _, line in comments], len(text))
    kept = tuple(comment for comment in comments if not comment[1].startswith((MENTION, _GOLD)))
    layout = SacrLayout(kept, properties, tuple(marked))
    document = Document(path.stem, (), source=str(path), layout=layout)
    who = path.stem if annotator is None else annotator
    names = {
        mention.chain: mention.chain for mention in marked if not re.fullmatch(r"[A-Z]?[0-9]+", mention.chain)
    }
    facts = EntityFacts(names, labels_are_types=True)
    annotation = annotate(document, who, Text.of_lines(text), marked, facts=facts)
    return [replace(annotation, adjudicated=any(line.startswith(_GOLD) for _, line in comments))]


def _refuse_no_text(text: str) -> None:
    """Refuse an empty file, and one that holds something else than text."""
    if not text:
        raise FormatError(None, "an empty file", "a text with mentions in braces")
    if odd := _CONTROL.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise FormatError(line, f"the control character U+{ord(odd[0]):04X}", "plain text")


def _is_comment(line: str) -> bool:
    """Return whether a line says something of the document; one with braces is text that begins with `#`."""
    return line.startswith("#") and (_META.fullmatch(line) is not None or "{" not in line)


def _parse(lines: Sequence[str], numbers: Sequence[int]) -> tuple[str, list[Marked], dict[str, str]]:
    """Take the braces out of the text in the lines of these numbers."""
    body = "\n".join(lines[number] for number in numbers)
    parts: list[str] = []
    length = position = 0
    opened: list[tuple[re.Match[str], int, str]] = []
    keys = map(str, count(1))
    marked: list[Marked] = []
    properties: dict[str, str] = {}

    def refused(at: int, found: str, expected: str) -> FormatError:
        return FormatError(numbers[body.count("\n", 0, at)] + 1, found, expected)

    for sign in re.finditer(r"[{}\\]", body):
        if sign.start() < position:
            continue
        parts.append(body[position : sign.start()])
        length += sign.start() - position
        position = sign.end()
        if sign[0] == "\\":
            parts.append(body[position : position + 1])
            length += len(body[position : position + 1])
            position += 1
        elif sign[0] == "{":
            begin = _OPENING.match(body, sign.start())
            if begin is None:
                raise refused(sign.start(), quoted(body[sign.start() : sign.start() + 30]), _EXPECTED)
            opened.append((begin, length, next(keys)))
            position = begin.end()
        elif not opened:
            raise refused(sign.start(), "`}`, which closes nothing", "`{` before it")
        else:
            opening, start, key = opened.pop()
            marked.append(Marked(opening[1], ((start, length),), _label(opening[2]), key))
            properties[key] = opening[2]
    if opened:
        opening = opened[-1][0]
        raise refused(opening.start(), f"`{{{opening[1]}`, which is never closed", "`}` after it")
    return "".join([*parts, body[position:]]), marked, properties


def _label(properties: str) -> str:
    """Return the value of the first property."""
    value = _VALUE.search(properties)
    return next(filter(None, value.groups()), "") if value else ""


def _hidden(meta: Sequence[str], length: int) -> list[Marked]:
    """Read the mentions that braces cannot express."""
    hidden = []
    for line in meta:
        if line.startswith(MENTION):
            parts = _HIDDEN.fullmatch(line)
            if parts is None or not int(parts[2]) <= int(parts[3]) <= length:
                raise FormatError(None, quoted(line), f"`{MENTION} chain 0 4`, places in the text")
            hidden.append(Marked(parts[1], ((int(parts[2]), int(parts[3])),), parts[4]))
    return hidden


_CHAIN = re.compile(r"[^\s:{}]+")


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(annotation.document)}.sacr", _written(annotation)) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    findings = tuple(lost(annotation, labels=True, names=True, types=True))
    hidden = len(_split(annotation)[1])
    if not hidden:
        return findings
    message = (
        f"{times(hidden, 'mention')} that cross others or have no characters, in lines that only CaspR reads"
    )
    return (*findings, warning("hidden-mentions", message, count=hidden, where=annotation.annotator))


def _called(chains: Iterable[Chain]) -> list[Chain]:
    """Call chains by the names of their entities where that is possible, and by their ids otherwise."""
    every = list(chains)
    names = [chain.name.replace(" ", "_") for chain in every]
    often, ids = Counter(names), {chain.id for chain in every}
    fits = [bool(_CHAIN.fullmatch(name)) and often[name] == 1 and name not in ids for name in names]
    own = [chain.called(name) if fit else chain for chain, name, fit in zip(every, names, fits, strict=True)]
    return numbered(own, lambda id: _CHAIN.fullmatch(id) is not None)


def _split(annotation: Annotation) -> tuple[list[Marked], list[Marked]]:
    """Return the mentions in the order of their opening braces, and those that braces cannot express."""
    layout = annotation.document.layout
    known = layout.marked if isinstance(layout, SacrLayout) else ()
    chains = _called(annotation.all_chains)
    renamed = annotation.with_chains(chains)
    every = [
        Marked(chain.id, mention.pieces, mention.label, mention.key)
        for chain, mentions in plan(renamed, known, types=True)
        for mention in wide_pieces(mentions)
    ]
    nested: list[Marked] = []
    hidden: list[Marked] = []
    opened: list[int] = []
    for mention in sorted(
        every, key=lambda mention: (mention.pieces[0][0], -mention.pieces[0][1], int(mention.key or 0))
    ):
        start, end = mention.pieces[0]
        while opened and opened[-1] <= start:
            opened.pop()
        if start == end or (opened and opened[-1] < end):
            hidden.append(mention)
        else:
            opened.append(end)
            nested.append(mention)
    return nested, hidden


def _written(annotation: Annotation) -> str:
    text, _ = spell(annotation.document)
    if odd := _CONTROL.search(text):
        raise OutputError(
            f"document '{annotation.document.title}': the text holds the control character "
            f"U+{ord(odd[0]):04X}, which SACR files cannot: choose another format, or take it out of the text"
        )
    layout = annotation.document.layout
    known = layout if isinstance(layout, SacrLayout) else SacrLayout((), {}, ())
    nested, hidden = _split(annotation)
    pieces: dict[int, list[str]] = {}
    for mention in reversed(nested):
        start = mention.pieces[0][0]
        pieces.setdefault(start, []).insert(0, f"{{{mention.chain}{_properties(mention, known)} ")
    closings: dict[int, int] = {}
    for mention in nested:
        closings[mention.pieces[0][1]] = closings.get(mention.pieces[0][1], 0) + 1
    lines = "".join(_signs(text, pieces, closings)).split("\n")
    for number, comment in reversed(known.comments):
        lines.insert(number, comment)
    lines += [GOLD_LINE] if annotation.adjudicated else []
    lines += [_hidden_line(mention) for mention in hidden]
    # A reader takes the first byte order mark for that of the file: a text that begins with one gets two.
    mark = "\ufeff" if lines[0].startswith("\ufeff") else ""
    return mark + "".join(f"{line}\n" for line in lines)


def _hidden_line(mention: Marked) -> str:
    start, end = mention.pieces[0]
    return f"{MENTION} {mention.chain} {start} {end} {' '.join(mention.label.split())}".rstrip()


def _signs(text: str, openings: dict[int, list[str]], closings: dict[int, int]) -> Iterator[str]:
    for at in range(len(text) + 1):
        yield "}" * closings.get(at, 0)
        yield from openings.get(at, ())
        if at < len(text):
            first = at == 0 or text[at - 1] == "\n"
            escaped = text[at] in "{}\\" or (first and text[at] == "#")
            yield f"\\{text[at]}" if escaped else text[at]


def _properties(mention: Marked, layout: SacrLayout) -> str:
    if mention.key in layout.properties:
        return layout.properties[mention.key]
    value = re.sub(r'["\\\n]', "_", mention.label)
    return f':EN="{value}"' if value else ""


_BRACE = re.compile(r"(?<!\\)\{")
_SURE = re.compile(r'\{(?:[A-Z]+[0-9]+\s|[^\s:{}]+:[A-Za-z_][\w.-]*=")')
"""An opening brace that no other text has: after it a letter and a number, or a property."""


def detect(path: Path, head: str) -> bool:
    """Return whether a file is one of SACR's, by its name or because every brace in it begins a mention.

    The converter of SACR's author calls files after documents, without `.sacr`.
    """
    if path.suffix == ".sacr":
        return True
    closed = head.rpartition("}")[0]
    braces = [brace.start() for brace in _BRACE.finditer(closed)]
    return bool(braces) and all(_SURE.match(closed, brace) for brace in braces)


FORMAT = Format(name="sacr", suffixes=(".sacr",), detect=detect, read=read, write=write, losses=losses)
