"""fastcoref: the jsonlines that the resolver writes, with texts and characters.

    {"text": "A girl sang. She ...", "clusters": [[[0, 6], [13, 16]]], "clusters_strings": [[...]]}

1. A mention is its first character and the one behind its last, counted in code points from 0.
2. A document is called as its field `doc_key` says, or by the number of its line.
3. `clusters_strings` is written anew; everything else in the object is kept.
"""

import json
from pathlib import Path
from typing import Any

from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format
from caspr.formats.jsonlines.lines import (
    LineFault,
    LineSource,
    ObjectLayout,
    pairs_of,
    readers,
    text_of,
    with_gold,
    writer,
)
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import name_and_part
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Marked, Text, annotate, plan, wide_pieces
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_STRINGS = "clusters_strings"
_EXAMPLE = '{"text": "A girl sang", "clusters": [[[0, 6]]]}'


class FastcorefLayout(ObjectLayout):
    """The object of a document."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "text", "clusters") and not has_fields(head, "sentences")


def _annotation(fields: dict[str, Any], source: LineSource) -> Annotation:
    text = fields.get("text")
    if not isinstance(text, str):
        raise LineFault("no text", _EXAMPLE)
    key = source.layer or "clusters"
    clusters = pairs_of(fields.get(key) or [], len(text), key)
    name, part = name_and_part(text_of(fields, "doc_key", str(source.line)))
    nameless = 0 if "doc_key" in fields else source.line
    layout = FastcorefLayout(fields, key)
    document = Document(name, (), part, source.path, layout=layout, nameless=nameless)
    marked = [Marked(str(n), (pair,)) for n, cluster in enumerate(clusters, 1) for pair in cluster]
    ends = [place for place, sign in enumerate(text) if sign == "\n"]
    return annotate(document, source.annotator, Text(text, None, ends), marked)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=False, gaps=False)
    return (*marks, *lost_edges(annotation), *lost_entities(annotation))


def _line(annotation: Annotation) -> str:
    document, layout = annotation.document, annotation.document.layout
    text, _ = spell(document)
    known = layout if isinstance(layout, FastcorefLayout) else FastcorefLayout({}, "clusters")
    fields = dict(known.fields) or {"doc_key": document.title}
    named = "doc_key" in fields
    if named and fields["doc_key"] != document.title:
        fields["doc_key"] = document.title
    fields["text"] = text
    clusters = [
        [list(one.pieces[0]) for one in wide_pieces(mentions)] for _, mentions in plan(annotation, ())
    ]
    fields[known.key] = clusters
    if _STRINGS in fields or not known.fields:
        fields[_STRINGS] = [[text[start:end] for start, end in cluster] for cluster in clusters]
    return json.dumps(with_gold(fields, annotation), ensure_ascii=False)


read, read_each = readers(_annotation, name="doc_key", example=_EXAMPLE)
FORMAT = Format(
    name="fastcoref",
    suffixes=(".fastcoref.jsonlines", ".fastcoref.jsonl"),
    detect=detect,
    read=read,
    write=writer(_line),
    losses=losses,
    many_documents=True,
    shared_suffixes=(".jsonlines", ".jsonl"),
    read_each=read_each,
)
