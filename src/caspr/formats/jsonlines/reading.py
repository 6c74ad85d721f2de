"""Read jsonlines: the object on each line, its words and its clusters."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.format import Each, whole
from caspr.formats.jsonlines.lines import GOLD_FIELD, LineFault, read_objects
from caspr.formats.messages import quoted
from caspr.formats.naming import with_number
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import Marked, assemble
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import note, times, warning

_KEYS = ("clusters", "predicted_clusters")
_PART = re.compile(r"\((.*)\); part ([^\s;()]+)", re.DOTALL)
_SPECIAL = frozenset(("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>"))


@dataclass(frozen=True)
class JsonlinesLayout:
    """The object of a line, and where its words and clusters are."""

    fields: dict[str, Any]
    """The whole object."""
    key: str
    """The field with the clusters."""
    words: tuple[tuple[int, int], ...]
    """For each token the first and last index it has in the clusters."""

    @property
    def subtokens(self) -> bool:
        """Whether its tokens are parts of words."""
        return self.fields.get("subtoken_map") is not None


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, options))


def read_each(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> Iterator[Each]:
    """Yield each document's name with its annotation, or with what is wrong with it."""
    source, who = str(path), path.stem if annotator is None else annotator
    layer = options.layer if options else None
    if layer is not None:
        _refuse_unknown_layer(read_text(path), layer, source)

    def make(fields: dict[str, Any], line: int) -> Annotation:
        return _annotation(fields, source, line, who, layer)

    return read_objects(path, make, name="doc_key", example='{"doc_key": ..., "sentences": ...}')


def _refuse_unknown_layer(text: str, layer: str, source: str) -> None:
    """Refuse a field that no document has; one that only some have is empty in the others."""
    if json.dumps(layer) not in text and f'"{layer}"' not in text:
        raise FormatError(source, None, f"no field {quoted(layer)}", "the field that --layer names")


def _annotation(fields: dict[str, Any], source: str, line: int, who: str, layer: str | None) -> Annotation:
    sentences = fields.get("sentences")
    if not isinstance(sentences, list) or not all(map(_is_sentence, sentences)):
        raise LineFault("no list of sentences", '"sentences": [["A", "girl"], ...]')
    nameless = 0 if "doc_key" in fields else line
    name, part = with_number(Path(source).stem, line), None
    if not nameless:
        name, part = name_and_part(fields["doc_key"])
    flat = [token for sentence in sentences for token in sentence]
    tokens, index = _words(fields, flat)
    key = _cluster_key(fields, layer)
    clusters = _clusters(fields.get(key, []), index, key)
    ends = _ends(sentences, index)
    words: dict[int, list[int]] = {}
    for place, word in index.items():
        words.setdefault(word, []).append(place)
    layout = JsonlinesLayout(
        fields, key, tuple((min(words[n]), max(words[n])) for n in range(1, len(tokens) + 1))
    )
    lines = (line,) * len(tokens)
    document = Document(name, tokens, part, source, lines, layout, sentence_ends=ends, nameless=nameless)
    marked = [(Marked(str(n), ()), (span,)) for n, spans in enumerate(clusters, 1) for span in spans]
    empty = sum(not spans for spans in clusters)
    odd = [note("empty-chain", f"{times(empty, 'chain')} without mentions", count=empty)] if empty else []
    if layer is not None and layer not in fields:
        message = f"no field {quoted(layer)} in this document: it has no chains"
        odd.append(warning("missing-field", message, where=f"{source}:{line}"))
    annotation = assemble(document, who, [one for one, _ in marked], [runs for _, runs in marked], odd)
    return replace(annotation, adjudicated=fields.get(GOLD_FIELD) is True)


def _is_sentence(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def name_and_part(key: object) -> tuple[str, str | None]:
    """Split a `doc_key` into the name and the part of a document."""
    if not isinstance(key, str):
        raise LineFault(f"doc_key {key!r}", "a text as doc_key")
    parted = _PART.fullmatch(key)
    return (parted[1], parted[2]) if parted else (key, None)


def _cluster_key(fields: dict[str, Any], layer: str | None) -> str:
    if layer is not None:
        return layer
    return next((key for key in _KEYS if fields.get(key)), "clusters")


def _words(fields: dict[str, Any], flat: Sequence[str]) -> tuple[tuple[str, ...], dict[int, int]]:
    """Return the words, and the word of each index that clusters may use."""
    mapped = fields.get("subtoken_map")
    if mapped is None:
        return tuple(flat), {place: place + 1 for place in range(len(flat))}
    if not isinstance(mapped, list) or len(mapped) != len(flat):
        raise LineFault("a subtoken_map of another length", f"one number for each of {len(flat)} sub-tokens")
    words: list[str] = []
    index: dict[int, int] = {}
    before: int | None = None
    for place, (token, word) in enumerate(zip(flat, mapped, strict=True)):
        if token in _SPECIAL:
            continue
        if type(word) is not int or (before is not None and word < before):
            raise LineFault(f"{word!r} in subtoken_map", "whole numbers in rising order")
        if word == before:
            words[-1] += token.removeprefix("##")
        else:
            words.append(token.removeprefix("▁").removeprefix("Ġ"))
        before = word
        index[place] = len(words)
    return tuple(words), index


def _clusters(value: object, index: dict[int, int], key: str) -> list[list[Span]]:
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise LineFault(f"{key} that are no lists", "[[[0, 1], [5, 5]], ...]")
    return [[_span(mention, index) for mention in cluster if mention != []] for cluster in value]


def _span(mention: object, index: dict[int, int]) -> Span:
    good = isinstance(mention, list) and len(mention) >= 2 and all(type(end) is int for end in mention[:2])
    if not good:
        raise LineFault(f"mention {quoted(str(mention))}", "[first, last]")
    assert isinstance(mention, list)
    start, end = mention[:2]
    if start not in index or end not in index or start > end:
        raise LineFault(f"mention {quoted(str(mention))}", f"two of {len(index)} tokens in order")
    return Span(index[start], index[end])


def _ends(sentences: Sequence[Sequence[str]], index: dict[int, int]) -> tuple[int, ...]:
    ends: list[int] = []
    place = 0
    for sentence in sentences:
        inside = [index[at] for at in range(place, place + len(sentence)) if at in index]
        place += len(sentence)
        if inside and (not ends or inside[-1] > ends[-1]):
            ends.append(inside[-1])
    return tuple(ends)
