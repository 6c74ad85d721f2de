"""jsonlines: what most neural resolvers read and write, one JSON object for each document on a line.

    {"doc_key": "nw/wsj_0001", "sentences": [["A", "girl", "sang"]], "clusters": [[[0, 1]]]}

1. A mention is its first and last token, both included, counted from 0 over all sentences.
2. `clusters` are read; where they are missing or empty, `predicted_clusters`; `--layer` overrules.
3. With `subtoken_map`, `sentences` hold sub-tokens, and the map gives the word of each. Words are read and
   sub-tokens written; `[CLS]` and its like belong to no word. Such words cannot be cut: a mention that begins
   inside one is widened.
4. A `doc_key` of the form `(name); part 000` is a name and a part. Everything else in the object is kept.
5. Where a mention cuts a word (see `formats.cuts`), fields with a text for each token are cut along; those
   that may count tokens, lists of numbers, would be wrong and are left out.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.losses import lost_marks
from caspr.formats.messages import quoted
from caspr.formats.naming import Each, whole
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.cut_words import mend, whole_words, widened
from caspr.formats.text_layer.standoff import Marked, assemble
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import Finding, note, times, warning

_KEYS = ("clusters", "predicted_clusters")
_PART = re.compile(r"\((.*)\); part ([^\s;()]+)", re.DOTALL)
_SPECIAL = frozenset(("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>"))


@dataclass(frozen=True)
class _Layout:
    """What a line said beyond the text."""

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


class _Fault(Exception):  # noqa: N818
    """Something wrong with a line: what was found and what was expected."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether the beginning of a file looks like this format."""
    return head.lstrip().startswith("{") and '"sentences"' in head


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, choices))


def read_each(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> Iterator[Each]:
    """Yield each document's name with its annotation, or with what is wrong with it."""
    source, who = str(path), path.stem if annotator is None else annotator
    layer = choices.layer if choices else None
    seen: dict[tuple[str, str | None], int] = {}
    empty = True
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        empty = False
        fields: dict[str, Any] = {}
        try:
            fields = _object(line)
            annotation = _annotation(fields, source, number, who, layer)
        except _Fault as fault:
            name = fields.get("doc_key")
            called = name if isinstance(name, str) else f"{path.stem}, line {number}"
            yield called, FormatError(source, number, *fault.args)
            continue
        first = seen.setdefault(annotation.document.key, number)
        if first != number:
            title = f"document {quoted(annotation.document.title)} for the second time"
            expected = f"each document once; the first is in line {first}"
            yield annotation.document.name, FormatError(source, number, title, expected)
        else:
            yield annotation.document.name, annotation
    if empty:
        expected = 'at least one line {"doc_key": ..., "sentences": ...}'
        yield path.stem, FormatError(source, None, "no document", expected)


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each with the other fields of the object it was read from."""
    return "".join(f"{_line(_mended(annotation))}\n" for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=False, gaps=False)
    layout = annotation.document.layout
    if not isinstance(layout, _Layout):
        return tuple(marks)
    if layout.subtokens:
        return (*marks, *widened(annotation))
    return (*marks, *_lost_fields(annotation, layout))


def _mended(annotation: Annotation) -> Annotation:
    layout = annotation.document.layout
    subtokens = isinstance(layout, _Layout) and layout.subtokens
    return whole_words(annotation) if subtokens else mend(annotation)


def _lost_fields(annotation: Annotation, layout: _Layout) -> Iterator[Finding]:
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


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise _Fault("JSON nested too deeply", "a flat object") from None
    except UnicodeEncodeError:
        raise _Fault("a lone surrogate", "whole characters") from None
    except ValueError as error:
        raise _Fault(f"malformed JSON ({error})", "one JSON object on each line") from None
    if not isinstance(value, dict):
        raise _Fault(f"{quoted(line[:50])}", "one JSON object on each line")
    return value


def _annotation(fields: dict[str, Any], source: str, line: int, who: str, layer: str | None) -> Annotation:
    sentences = fields.get("sentences")
    if not isinstance(sentences, list) or not all(map(_is_sentence, sentences)):
        raise _Fault("no list of sentences", '"sentences": [["A", "girl"], ...]')
    name, part = _name(fields.get("doc_key", Path(source).stem))
    flat = [token for sentence in sentences for token in sentence]
    tokens, index = _words(fields, flat)
    key = _cluster_key(fields, layer)
    clusters = _clusters(fields.get(key, []), index, key)
    ends = _ends(sentences, index)
    words: dict[int, list[int]] = {}
    for place, word in index.items():
        words.setdefault(word, []).append(place)
    layout = _Layout(fields, key, tuple((min(words[n]), max(words[n])) for n in range(1, len(tokens) + 1)))
    document = Document(name, tokens, part, source, (line,) * len(tokens), layout, sentence_ends=ends)
    marked = [(Marked(str(n), ()), (span,)) for n, spans in enumerate(clusters, 1) for span in spans]
    empty = sum(not spans for spans in clusters)
    odd = [note("empty-chain", f"{times(empty, 'chain')} without mentions", count=empty)] if empty else []
    return assemble(document, who, [one for one, _ in marked], [runs for _, runs in marked], odd)


def _is_sentence(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def _name(key: object) -> tuple[str, str | None]:
    if not isinstance(key, str):
        raise _Fault(f"doc_key {key!r}", "a text as doc_key")
    parted = _PART.fullmatch(key)
    return (parted[1], parted[2]) if parted else (key, None)


def _cluster_key(fields: dict[str, Any], layer: str | None) -> str:
    if layer is not None:
        if layer not in fields:
            raise _Fault(f"no field {quoted(layer)}", "the field that --layer names")
        return layer
    return next((key for key in _KEYS if fields.get(key)), "clusters")


def _words(fields: dict[str, Any], flat: Sequence[str]) -> tuple[tuple[str, ...], dict[int, int]]:
    """Return the words, and the word of each index that clusters may use."""
    mapped = fields.get("subtoken_map")
    if mapped is None:
        return tuple(flat), {place: place + 1 for place in range(len(flat))}
    if not isinstance(mapped, list) or len(mapped) != len(flat):
        raise _Fault("a subtoken_map of another length", f"one number for each of {len(flat)} sub-tokens")
    words: list[str] = []
    index: dict[int, int] = {}
    before: int | None = None
    for place, (token, word) in enumerate(zip(flat, mapped, strict=True)):
        if token in _SPECIAL:
            continue
        if type(word) is not int or (before is not None and word < before):
            raise _Fault(f"{word!r} in subtoken_map", "whole numbers in rising order")
        if word == before:
            words[-1] += token.removeprefix("##")
        else:
            words.append(token.removeprefix("▁").removeprefix("Ġ"))
        before = word
        index[place] = len(words)
    return tuple(words), index


def _clusters(value: object, index: dict[int, int], key: str) -> list[list[Span]]:
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise _Fault(f"{key} that are no lists", "[[[0, 1], [5, 5]], ...]")
    return [[_span(mention, index) for mention in cluster if mention != []] for cluster in value]


def _span(mention: object, index: dict[int, int]) -> Span:
    good = isinstance(mention, list) and len(mention) >= 2 and all(type(end) is int for end in mention[:2])
    if not good:
        raise _Fault(f"mention {quoted(str(mention))}", "[first, last]")
    assert isinstance(mention, list)
    start, end = mention[:2]
    if start not in index or end not in index or start > end:
        raise _Fault(f"mention {quoted(str(mention))}", f"two of {len(index)} tokens in order")
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


def _line(annotation: Annotation) -> str:
    document, layout = annotation.document, annotation.document.layout
    fields: dict[str, Any]
    if isinstance(layout, _Layout) and not document.origin:
        fields, words, key = dict(layout.fields), layout.words, layout.key
    else:
        fields = _recut(layout, document) if isinstance(layout, _Layout) else {}
        key = layout.key if isinstance(layout, _Layout) else "clusters"
        fields = {"doc_key": "", **fields, "sentences": _sentences(document.tokens, document)}
        words = tuple((place, place) for place in range(len(document.tokens)))
    if _name(fields.get("doc_key", "")) != document.key:
        fields["doc_key"] = (
            document.name if document.part is None else f"({document.name}); part {document.part}"
        )
    fields[key] = [
        [[words[span.start - 1][0], words[span.end - 1][1]] for span in chain.mentions]
        for chain in _ordered(annotation.all_chains)
    ]
    return json.dumps(fields, ensure_ascii=False)


def _recut(layout: _Layout, document: Document) -> dict[str, Any]:
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
