"""Read brat: the lines of an .ann file over the characters of the .txt file beside it."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from caspr.errors import FormatError, InputError
from caspr.files import decode, read_bytes
from caspr.formats.brat.ann import Lines, Mention, joined_lines, parse
from caspr.formats.brat.conventions import GOLD_NOTE, entity_names, find_chains, link_types, unread
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import EntityFacts, Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning

_MARK = "\ufeff"
"""The byte order mark, as a character."""
_ONE_PIECE = re.compile(r"^T[^\t\n]*\t\S+ ([0-9]{1,9}) ([0-9]{1,9})\t([^\t\r\n]*)", re.MULTILINE)
"""A mention without gaps: where it begins and ends, and its words."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the .ann file of one document, and the text beside it."""
    path = path.with_suffix(".ann")
    content = decode(read_bytes(path), str(path))
    text_path = _text_path(path)
    text = _text(text_path, content)
    if not text and any(int(end) for _, end, _ in _ONE_PIECE.findall(content)):
        raise FormatError(str(text_path), None, "an empty file", f"the text that {path.name} annotates")
    content = joined_lines(content, text)
    lines = parse(content, str(path), len(text))
    options = options or ReadOptions()
    layout = find_chains(content, lines, options, str(path))
    document = Document(path.stem, (), source=str(path), layout=layout, layers=link_types(lines))
    document = replace(document, text_source=str(text_path))
    ends = [end.start() for end in re.finditer("\n", text)]
    who = path.stem if annotator is None else annotator
    odd = (*_strange_texts(lines, text, str(path)), *unread(layout, options, str(path)))
    facts = EntityFacts(entity_names(layout), labels_are_types=True)
    # The mark counts as a character, but is no part of a word: other annotators' texts may lack it.
    blank = re.sub(f"^{_MARK}", " ", text)
    annotation = annotate(document, who, Text(blank, None, ends), layout.marked, odd, facts=facts)
    document = replace(annotation.document, characters=text)
    return [replace(annotation, document=document, adjudicated=GOLD_NOTE.search(content) is not None)]


def _text(path: Path, content: str) -> str:
    """Read a text, with the byte order mark that it may begin with.

    The mark counts as a character in brat. An editor can have put it there after the text was annotated:
    without it, more mentions of the .ann file have the words that the file gives them.
    """
    data = read_bytes(path)
    text = decode(data, str(path))
    if not data.startswith(codecs.BOM_UTF8):
        return text
    found = [
        (int(start), int(end), "".join(said.split())) for start, end, said in _ONE_PIECE.findall(content)
    ]
    counted, added = (
        sum(said == "".join(characters[start:end].split()) for start, end, said in found)
        for characters in (_MARK + text, text)
    )
    return text if added > counted else _MARK + text


def companions(path: Path) -> list[Path]:
    """Return the text that is read with an .ann file, if it exists."""
    try:
        return [_text_path(path)]
    except InputError:
        return []


def _text_path(path: Path) -> Path:
    text = path.with_suffix(".txt")
    if not text.exists():
        texts = list(path.parent.glob("*.txt"))
        if len(texts) == 1 and len(list(path.parent.glob("*.ann"))) == 1:
            return texts[0]
        raise InputError(f"{path}: found no {text.name} beside it, expected the text that it annotates")
    return text


def _strange_texts(lines: Lines, text: str, source: str) -> Iterator[Finding]:
    """Count mentions whose text in the .ann file is not that of the .txt file."""
    strange = [mention for mention in lines.mentions.values() if _is_strange(mention, text)]
    if strange:
        message = (
            f"{times(len(strange), 'mention')} whose text is not what the .txt file has there (first: "
            f"{strange[0].id}); the offsets count{_line_ends(strange, text)}"
        )
        yield warning(
            "text-mismatch", message, count=len(strange), where=f"{source}:{strange[0].line.number}"
        )


def _is_strange(mention: Mention, text: str) -> bool:
    said = mention.line.text.split("\t")[2:3]
    found = " ".join(text[start:end] for start, end in mention.pieces)
    return bool(said) and "".join(said[0].split()) != "".join(found.split())


def _line_ends(strange: Sequence[Mention], text: str) -> str:
    """Return a hint if mentions have their text where a line end counts as one character, as on Unix."""
    if "\r\n" not in text:
        return ""
    unix = text.replace("\r\n", "\n")
    fits = sum(not _is_strange(mention, unix) for mention in strange)
    return (
        f". The .txt file has Windows line ends, which count as two characters each; {fits:,} of these fit "
        "where they count as one: save the .txt file with Unix line ends"
        if fits
        else ""
    )
