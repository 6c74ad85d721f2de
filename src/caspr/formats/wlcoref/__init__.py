"""wl-coref: the jsonlines of the word-level resolver, with flat lists of words and ends that are excluded.

    {"document_id": "d", "cased_words": ["A", "girl", "sang"], "sent_id": [0, 0, 0], "clusters": [[[0, 2]]]}

1. A mention is its first word and the word behind its last, counted from 0.
2. `clusters` are read; where they are missing or empty, `span_clusters`, which the resolver writes; `--layer`
   overrides that.
3. `sent_id` gives sentences, `part_id` the part of a document. Everything else is kept; lists with an item
   for each word are cut along where a mention cuts a word.
"""

import json
import re
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
from caspr.formats.losses import lost_entities, lost_marks
from caspr.formats.text_layer.cut_words import mend
from caspr.formats.text_layer.standoff import Marked, assemble
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding

_KEYS = ("clusters", "span_clusters")
_EXAMPLE = '{"document_id": ..., "cased_words": ["A", "girl"], "clusters": [[[0, 2]]]}'


class WlcorefLayout(ObjectLayout):
    """The object of a document, and the field with its clusters."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "cased_words")


def _annotation(fields: dict[str, Any], source: LineSource) -> Annotation:
    words = fields.get("cased_words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise LineFault("no list of cased_words", _EXAMPLE)
    name = text_of(fields, "document_id", str(source.line))
    part = fields.get("part_id")
    key = source.layer or next((key for key in _KEYS if fields.get(key)), "clusters")
    clusters = pairs_of(fields.get(key, []), len(words), key)
    if any(start == end for cluster in clusters for start, end in cluster):
        raise LineFault("a mention without words", "ends behind the last word")
    document = Document(
        name,
        tuple(words),
        str(part) if isinstance(part, (int, str)) and not isinstance(part, bool) else None,
        source.path,
        (source.line,) * len(words),
        WlcorefLayout(fields, key),
        sentence_ends=_ends(fields.get("sent_id"), len(words)),
        nameless=0 if "document_id" in fields else source.line,
    )
    marked = [
        (str(n), Span(start + 1, end)) for n, cluster in enumerate(clusters, 1) for start, end in cluster
    ]
    mentions = [Marked(chain, ()) for chain, _ in marked]
    return assemble(document, source.annotator, mentions, [(span,) for _, span in marked])


def _ends(sentences: object, words: int) -> tuple[int, ...]:
    if not isinstance(sentences, list) or len(sentences) != words:
        return (words,) if words else ()
    changes = [place for place in range(1, words) if sentences[place] != sentences[place - 1]]
    return (*changes, words) if words else ()


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return (*lost_marks(annotation, labels=False, gaps=False), *lost_entities(annotation))


def _line(given: Annotation) -> str:
    annotation = mend(given)
    document, layout = annotation.document, annotation.document.layout
    fields = dict(layout.fields) if isinstance(layout, WlcorefLayout) else {}
    if not fields or document.origin:
        fields = _recut(fields, document)
    fields["document_id"] = document.name
    if document.part is not None:
        # `045` is kept as a text, since a number would lose its zero.
        plain = document.part == "0" or re.fullmatch(r"[1-9][0-9]{0,8}", document.part)
        same = str(fields.get("part_id")) == document.part
        fields["part_id"] = fields["part_id"] if same else int(document.part) if plain else document.part
    key = layout.key if isinstance(layout, WlcorefLayout) else "clusters"
    fields[key] = [[[span.start - 1, span.end] for span in chain.mentions] for chain in annotation.all_chains]
    return json.dumps(with_gold(fields, annotation), ensure_ascii=False)


def _recut(fields: dict[str, Any], document: Document) -> dict[str, Any]:
    """Make the fields of new words: lists with an item for each word follow, those that count words go."""
    ends = {0, *document.sentence_ends}
    number = -1
    sentences = []
    for place in range(len(document.tokens)):
        number += place in ends
        sentences.append(number)
    old = len(fields.get("cased_words", ()))
    near = [max(token, 1) for token in document.origin]
    kept = {
        name: [value[token - 1] for token in near]
        for name, value in fields.items()
        if isinstance(value, list) and len(value) == old and all(isinstance(one, str) for one in value)
    }
    rest = {name: value for name, value in fields.items() if not isinstance(value, list)}
    new = {"cased_words": list(document.tokens), "sent_id": sentences}
    return {"document_id": document.name, **rest, **kept, **new}


read, read_each = readers(_annotation, name="document_id", example=_EXAMPLE)
FORMAT = Format(
    name="wlcoref",
    suffixes=(".wlcoref.jsonlines", ".wlcoref.jsonl"),
    detect=detect,
    read=read,
    write=writer(_line),
    losses=losses,
    many_documents=True,
    shared_suffixes=(".jsonlines", ".jsonl"),
    read_each=read_each,
)
