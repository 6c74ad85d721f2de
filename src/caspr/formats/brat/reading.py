"""Read brat: the lines of an .ann file over the characters of the .txt file beside it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from caspr.errors import InputError
from caspr.files import decode, read_bytes
from caspr.formats.brat.ann import Lines, joined_lines, parse
from caspr.formats.brat.conventions import GOLD_NOTE, entity_names, find_chains
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import EntityFacts, Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the .ann file of one document, and the text beside it."""
    path = path.with_suffix(".ann")
    content = decode(read_bytes(path), str(path))
    # A byte order mark counts as a character in brat.
    data = read_bytes(_text_path(path))
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    text = mark + decode(data, str(_text_path(path)))
    content = joined_lines(content, text)
    lines = parse(content, str(path), len(text))
    layout = find_chains(content, lines, options or ReadOptions(), str(path))
    document = Document(path.stem, (), source=str(path), layout=layout)
    ends = [end.start() for end in re.finditer("\n", text)]
    who = path.stem if annotator is None else annotator
    odd = _strange_texts(lines, text, str(path))
    facts = EntityFacts(entity_names(layout), labels_are_types=True)
    annotation = annotate(document, who, Text(text, None, ends), layout.marked, odd, facts=facts)
    return [replace(annotation, adjudicated=GOLD_NOTE.search(content) is not None)]


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
    strange = []
    for mention in lines.mentions.values():
        said = mention.line.text.split("\t")[2:3]
        found = " ".join(text[start:end] for start, end in mention.pieces)
        if said and "".join(said[0].split()) != "".join(found.split()):
            strange.append(mention)
    if strange:
        message = (
            f"{times(len(strange), 'mention')} whose text is not what the .txt file has there (first: "
            f"{strange[0].id}); the offsets count"
        )
        yield warning(
            "text-mismatch", message, count=len(strange), where=f"{source}:{strange[0].line.number}"
        )
