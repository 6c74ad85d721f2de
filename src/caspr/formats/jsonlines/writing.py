"""Write jsonlines: new clusters in the object a document was read from."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from caspr.formats.jsonlines.lines import with_gold
from caspr.formats.jsonlines.reading import JsonlinesLayout, name_and_part
from caspr.formats.losses import lost_entities, lost_marks
from caspr.formats.messages import quoted
from caspr.formats.text_layer.cut_words import mend, whole_words, widened
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding, times, warning


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each with the other fields of the object it was read from."""
    return "".join(f"{_line(_mended(annotation))}\n" for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = [*lost_marks(annotation, labels=False, gaps=False), *lost_entities(annotation)]
    layout = annotation.document.layout
    if not isinstance(layout, JsonlinesLayout):
        return tuple(marks)
    if layout.subtokens:
        return (*marks, *widened(annotation))
    return (*marks, *_lost_fields(annotation, layout))


def _mended(annotation: Annotation) -> Annotation:
    layout = annotation.document.layout
    subtokens = isinstance(layout, JsonlinesLayout) and layout.subtokens
    return whole_words(annotation) if subtokens else mend(annotation)


def _lost_fields(annotation: Annotation, layout: JsonlinesLayout) -> Iterator[Finding]:
    """Name the fields that cannot be written because words were cut."""
    document = _mended(annotation).document
    if not document.origin:
        return
    lost = sorted(layout.fields.keys() - _recut(layout, document).keys())
    if lost:
        message = (
            f"{times(len(lost), 'field')} that may count tokens not written, because words were cut: "
            f"{', '.join(map(quoted, lost))}"
        )
        yield warning("lost-fields", message, count=len(lost), where=annotation.document.title)


def _line(annotation: Annotation) -> str:
    document, layout = annotation.document, annotation.document.layout
    fields: dict[str, Any]
    if isinstance(layout, JsonlinesLayout) and not document.origin:
        fields, words, key = dict(layout.fields), layout.words, layout.key
    else:
        fields = _recut(layout, document) if isinstance(layout, JsonlinesLayout) else {}
        key = layout.key if isinstance(layout, JsonlinesLayout) else "clusters"
        fields = {"doc_key": "", **fields, "sentences": _sentences(document.tokens, document)}
        words = tuple((place, place) for place in range(len(document.tokens)))
    if name_and_part(fields.get("doc_key", "")) != (document.name, document.part):
        fields["doc_key"] = (
            document.name if document.part is None else f"({document.name}); part {document.part}"
        )
    fields[key] = [
        [[words[span.start - 1][0], words[span.end - 1][1]] for span in chain.mentions]
        for chain in _ordered(annotation.all_chains)
    ]
    return json.dumps(with_gold(fields, annotation), ensure_ascii=False)


def _recut(layout: JsonlinesLayout, document: Document) -> dict[str, Any]:
    """Return the fields that still hold after words were cut, those with a text for each token cut along."""
    near = list(_nearest(document.origin))
    shape = [len(sentence) for sentence in layout.fields["sentences"]]
    kept: dict[str, Any] = {}
    for name, value in layout.fields.items():
        if name == layout.key:
            kept[name] = []
        elif isinstance(value, list) and _is_flat(value, sum(shape)):
            kept[name] = [value[token - 1] for token in near]
        elif isinstance(value, list) and _is_nested(value, shape):
            flat = [one for sentence in value for one in sentence]
            kept[name] = _sentences([flat[token - 1] for token in near], document)
        elif not (isinstance(value, (list, dict)) and _has_numbers(value)):
            kept[name] = value
    return kept


def _nearest(origin: Sequence[int]) -> Iterator[int]:
    """Return for each token the last token of the file up to it."""
    before = 1
    for token in origin:
        before = token or before
        yield before


def _is_flat(value: Sequence[object], length: int) -> bool:
    return len(value) == length and not any(isinstance(one, (list, dict, int)) for one in value)


def _is_nested(value: Sequence[object], shape: Sequence[int]) -> bool:
    return len(value) == len(shape) and all(
        isinstance(one, list) and _is_flat(one, length) for one, length in zip(value, shape, strict=True)
    )


def _has_numbers(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_numbers, value.values()))
    if isinstance(value, list):
        return any(map(_has_numbers, value))
    return type(value) is int


def _sentences(values: Sequence[str], document: Document) -> list[list[str]]:
    """Sort something said of each token into sentences."""
    bounds = sorted({0, *document.sentence_ends, len(values)})
    return [list(values[a:b]) for a, b in pairwise(bounds)]


def _ordered(chains: Sequence[Chain]) -> Iterator[Chain]:
    """Put numbered chains in the order of their numbers, so that reading them gives the same numbers."""
    if all(re.fullmatch("[0-9]{1,9}", chain.id) for chain in chains):
        return iter(sorted(chains, key=lambda chain: int(chain.id)))
    return iter(chains)
