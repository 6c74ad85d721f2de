"""PreCo: jsonlines with sentences, and mentions that count words of one sentence.

    {"id": "d", "sentences": [["A", "girl", "sang"]], "mention_clusters": [[[0, 0, 2]]]}

1. A mention is the number of its sentence, its first word and the word behind its last, counted from 0.
2. Chains of one are given like others. Everything else in the object is kept.
3. Sentences are joined where a mention goes on from one to the next, which the format cannot express.
"""

import json
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format
from caspr.formats.jsonlines.lines import LineFault, LineSource, readers, text_of, with_gold, writer
from caspr.formats.losses import lost_entities, lost_marks
from caspr.formats.messages import quoted
from caspr.formats.naming import name_and_part
from caspr.formats.text_layer.cut_words import mend
from caspr.formats.text_layer.standoff import Marked, assemble
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding

_KEY = "mention_clusters"
_EXAMPLE = '{"id": ..., "sentences": [["A", "girl"]], "mention_clusters": [[[0, 0, 2]]]}'


@dataclass(frozen=True)
class PrecoLayout:
    """The object of a document."""

    fields: dict[str, Any]
    """The whole object."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, _KEY)


def _annotation(fields: dict[str, Any], source: LineSource) -> Annotation:
    sentences = fields.get("sentences")
    good = isinstance(sentences, list) and all(isinstance(one, list) for one in sentences)
    if not good or not all(isinstance(word, str) for one in sentences or () for word in one):
        raise LineFault("no list of sentences", _EXAMPLE)
    assert isinstance(sentences, list)
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))
    words = tuple(word for sentence in sentences for word in sentence)
    clusters = fields.get(_KEY, [])
    if not isinstance(clusters, list) or not all(isinstance(cluster, list) for cluster in clusters):
        raise LineFault(f"{_KEY} that are no lists", _EXAMPLE)
    marked = [
        (str(number), _span(mention, starts))
        for number, cluster in enumerate(clusters, 1)
        for mention in cluster
    ]
    ends = tuple(sorted({end for end in starts[1:] if end}))
    name, part = name_and_part(text_of(fields, "id", str(source.line)))
    document = Document(
        name,
        words,
        part,
        source.path,
        (source.line,) * len(words),
        PrecoLayout(fields),
        sentence_ends=ends,
        nameless=0 if "id" in fields else source.line,
    )
    mentions = [Marked(chain, ()) for chain, _ in marked]
    return assemble(document, source.annotator, mentions, [(span,) for _, span in marked])


def _span(mention: object, starts: list[int]) -> Span:
    good = isinstance(mention, list) and len(mention) == 3 and all(type(one) is int for one in mention)
    if not good:
        raise LineFault(f"mention {quoted(str(mention))}", "[sentence, first word, behind the last]")
    assert isinstance(mention, list)
    sentence, first, behind = mention
    inside = (
        0 <= sentence < len(starts) - 1 and 0 <= first < behind <= starts[sentence + 1] - starts[sentence]
    )
    if not inside:
        raise LineFault(f"mention {quoted(str(mention))}", "words of one sentence in order")
    return Span(starts[sentence] + first + 1, starts[sentence] + behind)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return (*lost_marks(annotation, labels=False, gaps=False), *lost_entities(annotation))


def _line(given: Annotation) -> str:
    annotation = mend(given)
    document, layout = annotation.document, annotation.document.layout
    fields = dict(layout.fields) if isinstance(layout, PrecoLayout) else {}
    crossed = {
        end for start, last in annotation.mentions for end in document.sentence_ends if start <= end < last
    }
    ends = sorted({*document.sentence_ends, len(document.tokens)} - crossed - {0})
    fields["id"] = document.title
    fields["sentences"] = [list(document.tokens[a:b]) for a, b in pairwise([0, *ends])]
    starts = [0, *ends]
    fields[_KEY] = [
        [_mention(span, ends, starts) for span in chain.mentions] for chain in annotation.all_chains
    ]
    return json.dumps(with_gold(fields, annotation), ensure_ascii=False)


def _mention(span: Span, ends: list[int], starts: list[int]) -> list[int]:
    sentence = bisect_left(ends, span.start)
    return [sentence, span.start - 1 - starts[sentence], span.end - starts[sentence]]


read, read_each = readers(_annotation, name="id", example=_EXAMPLE)
FORMAT = Format(
    name="preco",
    suffixes=(".preco.jsonl",),
    detect=detect,
    read=read,
    write=writer(_line),
    losses=losses,
    many_documents=True,
    shared_suffixes=(".jsonl", ".jsonlines", ".json"),
    read_each=read_each,
)
