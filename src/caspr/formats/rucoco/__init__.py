"""RuCoCo: one JSON object for a document, with its text and the characters of mentions.

    {"entities": [[[0, 4], [17, 20]]], "includes": [[]], "text": "Anna schlief. Dann ..."}

1. A mention is its first character and the one behind its last, counted in code points from 0.
2. `includes` says of each entity which others it includes, by their places. It is kept where the entities
   stay as they are; otherwise it is left out with a warning, since the places mean something else then.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import read_bytes
from caspr.formats.containers.json import has_fields, load_object
from caspr.formats.format import Format
from caspr.formats.jsonlines.lines import GOLD_FIELD, LineFault, pairs_of, with_gold
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Marked, Text, annotate, plan, wide_pieces
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning

_INCLUDES = "includes"


@dataclass(frozen=True)
class RucocoLayout:
    """The object of a document."""

    fields: dict[str, Any]
    """The whole object."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "entities", _INCLUDES)


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    source = str(path)
    expected = '{"entities": [[[0, 4]]], "includes": [[]], "text": "..."}'
    fields = load_object(read_bytes(path), source, expected)
    text = fields.get("text")
    if not isinstance(text, str):
        raise FormatError(source, None, "no text", expected)
    try:
        entities = pairs_of(fields.get("entities", []), len(text), "entities")
    except LineFault as error:
        raise FormatError(source, None, *error.args) from None
    marked = [Marked(str(n), (pair,)) for n, entity in enumerate(entities, 1) for pair in entity]
    document = Document(path.stem, (), source=source, layout=RucocoLayout(fields))
    ends = [place for place, sign in enumerate(text) if sign == "\n"]
    who = path.stem if annotator is None else annotator
    annotation = annotate(document, who, Text(text, None, ends), marked)
    return [replace(annotation, adjudicated=fields.get(GOLD_FIELD) is True)]


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(one.document)}.json", _written(one)) for one in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    marks = (*lost_marks(annotation, labels=False, gaps=False), *lost_edges(annotation))
    lost = (*marks, *lost_entities(annotation))
    included = sum(map(bool, layout.fields.get(_INCLUDES) or ())) if isinstance(layout, RucocoLayout) else 0
    if not isinstance(layout, RucocoLayout) or not included or _entities(annotation) == _old(layout):
        return lost
    message = f"what {times(included, 'entity', 'entities')} include not written, because entities changed"
    return (*lost, warning("lost-fields", message, count=included, where=annotation.document.title))


def _entities(annotation: Annotation) -> list[list[list[int]]]:
    planned = sorted(
        plan(annotation, ()), key=lambda pair: (not pair[0].id.isdecimal(), len(pair[0].id), pair[0].id)
    )
    return [[list(one.pieces[0]) for one in wide_pieces(mentions)] for _, mentions in planned]


def _old(layout: RucocoLayout) -> list[list[list[int]]]:
    return [sorted(entity) for entity in layout.fields.get("entities", [])]


def _written(annotation: Annotation) -> str:
    layout = annotation.document.layout
    entities = _entities(annotation)
    fields = dict(layout.fields) if isinstance(layout, RucocoLayout) else {}
    same = isinstance(layout, RucocoLayout) and entities == _old(layout)
    if not same:
        fields["entities"] = entities
        fields[_INCLUDES] = [[] for _ in entities]
    fields["text"] = spell(annotation.document)[0]
    return json.dumps(with_gold(fields, annotation), ensure_ascii=False)


FORMAT = Format(
    name="rucoco",
    suffixes=(".rucoco.json",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    shared_suffixes=(".json",),
)
