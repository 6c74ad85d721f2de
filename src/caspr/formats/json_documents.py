"""Documents as JSON objects: the jsonlines of neural resolvers and its dialects, one row of a table each.

    jsonlines  {"doc_key": "d", "sentences": [["A", "girl"]], "clusters": [[[0, 1]]]}
    wlcoref    {"document_id": "d", "cased_words": ["A", "girl"], "sent_id": [0, 0], "clusters": [[[0, 2]]]}
    preco      {"id": "d", "sentences": [["A", "girl"]], "mention_clusters": [[[0, 0, 2]]]}
    fastcoref  {"doc_key": "d", "text": "A girl", "clusters": [[[0, 6]]], "clusters_strings": [["A girl"]]}
    rucoco     {"entities": [[[0, 6]]], "includes": [[]], "text": "A girl"}

Each is a row of `DIALECTS`: the fields of name, content and clusters, and what the numbers of a mention
count: words or characters, from the start of the document or of a sentence, the last included or not. What
holds of all dialects:

1. Everything in an object that is not about chains is kept; a chain keeps its place if its id is a number.
2. A line that is malformed does not affect the others. A file that is one object, broken into lines for
   people to read, is one document. RuCoCo has one object in a file, all others one on each line.
3. The first field of `clusters` that holds any is read; `--layer` names another.
4. `caspr_gold` is true in the object of a document that is the result of an adjudication.
5. Where a mention cuts a word (see `text_layer.mend`), fields with a text for each token are cut, too. Those
   that may count tokens, lists of numbers, would be wrong: they are left out, with a warning.

And of single ones: with `subtoken_map`, the `sentences` of jsonlines hold sub-tokens, and the map gives the
word of each. Words are read and sub-tokens written; `[CLS]` and its like belong to no word, and a mention
that begins inside a word is widened. `sent_id` gives the sentences of wl-coref, `part_id` the part of a
document. PreCo cannot express a mention that runs into the next sentence: such sentences are written as one.
RuCoCo's `includes` says of each entity, by its place, which others it includes: where entities change, it is
left out with a warning, since the places mean something else then.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.formats.containers.json import has_fields, load_object, parse_kept
from caspr.formats.format import Each, Format, ReadOptions, lost, quoted, whole
from caspr.formats.naming import collect, name_and_part, stem, with_number
from caspr.formats.text_layer import (
    Marked,
    Text,
    annotate,
    assemble,
    mend,
    plan,
    spell,
    whole_sentences,
    whole_words,
    wide_pieces,
    widened,
)
from caspr.storage import read_bytes, read_text
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import Finding, note, times, warning

_GOLD = "caspr_gold"
_STRINGS, _INCLUDES = "clusters_strings", "includes"
_PART = re.compile(r"\((.*)\); part ([^\s;()]+)", re.DOTALL)
_SPECIAL = frozenset(("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>"))
Fields = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """How the objects of a format are made."""

    name: str
    suffixes: tuple[str, ...]
    shared: tuple[str, ...]
    """Suffixes that belong to another format, and that its files may have, too."""
    signs: tuple[str, ...]
    """The fields by which it is recognised."""
    without: tuple[str, ...]
    """A field that it does not have, and a dialect that looks like it has."""
    content: str
    """The field with the words, in sentences or not, or with the text."""
    clusters: tuple[str, ...]
    """The fields with the clusters, the one that is written first."""
    mention: str
    """What the numbers of a mention are."""
    example: str
    title: str = ""
    """The field with the name of the document, if any."""
    part: str = ""
    """The field with its part, if that is not in the name."""
    sentences: str = ""
    """The field with the number of each word's sentence, if words are one flat list."""
    characters: bool = False
    """Whether mentions count characters, not words."""
    in_sentence: bool = False
    """Whether mentions count from the start of a sentence, whose number comes first."""
    last_included: bool = False
    """Whether the second number is the last token, not the one after it."""
    scored: bool = False
    """Whether more may follow the numbers of a mention, such as a score."""
    numbered: bool = True
    """Whether a document without a name is called by its line, not after its file."""
    bracketed: bool = False
    """Whether a part is written as `(name); part 000`, not as `name; part 000`."""
    subtokens: str = ""
    """The field with the number of each token's word, if tokens may be parts of words."""


_LINES = (".jsonlines", ".jsonl")
DIALECTS = (
    Dialect(
        "jsonlines",
        _LINES,
        (),
        signs=("sentences",),
        without=("mention_clusters",),
        title="doc_key",
        content="sentences",
        clusters=("clusters", "predicted_clusters"),
        mention="[first, last]",
        last_included=True,
        scored=True,
        numbered=False,
        bracketed=True,
        subtokens="subtoken_map",
        example='{"doc_key": ..., "sentences": [["A", "girl"], ...]}',
    ),
    Dialect(
        "wlcoref",
        (".wlcoref.jsonlines", ".wlcoref.jsonl"),
        _LINES,
        signs=("cased_words",),
        without=(),
        title="document_id",
        part="part_id",
        content="cased_words",
        sentences="sent_id",
        clusters=("clusters", "span_clusters"),
        mention="[first, after the last]",
        example='{"document_id": ..., "cased_words": ["A", "girl"], "clusters": [[[0, 2]]]}',
    ),
    Dialect(
        "fastcoref",
        (".fastcoref.jsonlines", ".fastcoref.jsonl"),
        _LINES,
        signs=("text", "clusters"),
        without=("sentences",),
        title="doc_key",
        content="text",
        characters=True,
        clusters=("clusters",),
        mention="[first, after the last]",
        example='{"text": "A girl sang", "clusters": [[[0, 6]]]}',
    ),
    Dialect(
        "preco",
        (".preco.jsonl",),
        (*_LINES[::-1], ".json"),
        signs=("mention_clusters",),
        without=(),
        title="id",
        content="sentences",
        clusters=("mention_clusters",),
        mention="[sentence, first word, after the last]",
        in_sentence=True,
        example='{"id": ..., "sentences": [["A", "girl"]], "mention_clusters": [[[0, 0, 2]]]}',
    ),
    Dialect(
        "rucoco",
        (".rucoco.json",),
        (".json",),
        signs=("entities", _INCLUDES),
        without=(),
        content="text",
        characters=True,
        clusters=("entities",),
        mention="[first, after the last]",
        example='{"entities": [[[0, 4]]], "includes": [[]], "text": "..."}',
    ),
)


@dataclass(frozen=True)
class JsonLayout:
    """The object of a document, and where its words and clusters are."""

    dialect: str
    fields: Fields
    key: str
    """The field with the clusters."""
    places: tuple[tuple[int, int], ...] = ()
    """For each word the first and last place it has in the clusters."""
    shape: tuple[int, ...] = ()
    """How many tokens each sentence has in the object."""
    subtokens: bool = False
    """Whether its tokens are parts of words."""


@dataclass(frozen=True)
class _Origin:
    """Where an object comes from."""

    path: Path
    line: int
    annotator: str
    layer: str | None


def detect(dialect: Dialect, path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like a dialect."""
    return has_fields(head, *dialect.signs) and not (dialect.without and has_fields(head, *dialect.without))


def read(
    dialect: Dialect, path: Path, annotator: str | None = None, options: ReadOptions | None = None
) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(dialect, path, annotator, options))


def read_each(
    dialect: Dialect, path: Path, annotator: str | None = None, options: ReadOptions | None = None
) -> Iterator[Each]:
    """Yield each document's name with its annotation, or with what is wrong with it."""
    who, layer = path.stem if annotator is None else annotator, options.layer if options else None
    text = read_text(path)
    if layer is not None and json.dumps(layer) not in text and f'"{layer}"' not in text:
        # A field that only some documents have is empty in the others.
        raise FormatError(None, f"no field {quoted(layer)}", "the field that --layer names")
    seen: dict[tuple[str, str | None], int] = {}
    for number, line in _objects(text):
        fields: Fields = {}
        try:
            fields = parse_kept(line, "one JSON object on each line", line=number)
            annotation = _annotation(dialect, fields, _Origin(path, number, who, layer))
        except FormatError as error:
            error.line = number if error.line is None else error.line
            title = fields.get(dialect.title)
            yield title if isinstance(title, str) else f"{path.stem}, line {number}", error
            continue
        name, first = annotation.document.name, seen.setdefault(annotation.document.key, number)
        if first == number:
            yield name, annotation
        else:
            found = f"document {quoted(annotation.document.title)} for the second time"
            yield name, FormatError(number, found, f"each document once; the first is in line {first}")
    if not text.strip():
        yield path.stem, FormatError(None, "no document", f"at least one line {dialect.example}")


def read_single(
    dialect: Dialect, path: Path, annotator: str | None = None, options: ReadOptions | None = None
) -> list[Annotation]:
    """Read one annotator's file of one document."""
    fields = load_object(read_bytes(path), dialect.example)
    who, layer = path.stem if annotator is None else annotator, options.layer if options else None
    return [_annotation(dialect, fields, _Origin(path, 0, who, layer))]


def _objects(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is not empty with its number, or the whole text if it is one object."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    broken = len(lines) > 1 and not lines[0][1].rstrip().endswith("}")
    yield from [(lines[0][0], text)] if broken and _is_json(text) else lines


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _annotation(dialect: Dialect, fields: Fields, origin: _Origin) -> Annotation:
    key = origin.layer or next((key for key in dialect.clusters if fields.get(key)), dialect.clusters[0])
    document = _named(dialect, fields, origin)
    odd: list[Finding] = []
    if origin.layer is not None and origin.layer not in fields:
        message = f"no field {quoted(origin.layer)} in this document: it has no chains"
        odd.append(warning("missing-field", message, where=f":{origin.line}"))
    make = _in_characters if dialect.characters else _in_words
    clusters = fields.get(key) or []
    if not isinstance(clusters, list) or not all(isinstance(cluster, list) for cluster in clusters):
        raise FormatError(None, f"{key} that are not lists", dialect.example)
    if empty := sum(not any(mention != [] for mention in cluster) for cluster in clusters):
        odd.append(note("empty-chain", f"{times(empty, 'chain')} without mentions", count=empty))
    subtokens = fields.get(dialect.subtokens) is not None
    document = replace(document, layout=JsonLayout(dialect.name, fields, key, subtokens=subtokens))
    annotation = make(dialect, clusters, document, origin, odd)
    return replace(annotation, adjudicated=fields.get(_GOLD) is True)


def _named(dialect: Dialect, fields: Fields, origin: _Origin) -> Document:
    """Return a document without words, with the name in the object, or else that of its line or file."""
    if dialect.title not in fields:
        name = with_number(origin.path.stem, origin.line)
        name = str(origin.line) if dialect.numbered and origin.line else name
        document = Document(name, (), source=str(origin.path), nameless=origin.line)
    else:
        name, part = _name_and_part(dialect, fields[dialect.title])
        document = Document(name, (), part, str(origin.path))
    part = fields.get(dialect.part)
    return replace(document, part=str(part)) if type(part) in (int, str) else document


def _name_and_part(dialect: Dialect, title: object) -> tuple[str, str | None]:
    if not isinstance(title, str):
        raise FormatError(None, f"{dialect.title} {title!r}", f"a text as {dialect.title}")
    if dialect.part:
        return title, None
    if not dialect.bracketed:
        return name_and_part(title)
    parted = _PART.fullmatch(title)
    return (parted[1], parted[2]) if parted else (title, None)


def _extent(mention: object, dialect: Dialect, shape: Sequence[int]) -> tuple[int, int]:
    """Return the first place of a mention and the one after its last, counted over the whole document."""
    size = 2 + dialect.in_sentence
    numbers = mention[:size] if isinstance(mention, list) and (dialect.scored or len(mention) == size) else []
    if len(numbers) < size or not all(type(number) is int for number in numbers):
        raise FormatError(None, f"mention {quoted(str(mention))}", dialect.mention)
    first, end = numbers[-2], numbers[-1] + dialect.last_included
    if dialect.in_sentence:
        sentence = numbers[0]
        if not (0 <= sentence < len(shape) and 0 <= first < end <= shape[sentence]):
            raise FormatError(None, f"mention {quoted(str(mention))}", "words of one sentence in order")
        before = sum(shape[:sentence])
        return before + first, before + end
    if not 0 <= first <= numbers[-1] <= sum(shape) - dialect.last_included:
        expected = f"two places in order, from 0 to {sum(shape) - dialect.last_included}"
        raise FormatError(None, f"mention {quoted(str(mention))}", expected)
    return first, end


def _in_characters(
    dialect: Dialect, clusters: Sequence[Any], document: Document, origin: _Origin, odd: Sequence[Finding]
) -> Annotation:
    layout = document.layout
    assert isinstance(layout, JsonLayout)
    text = layout.fields.get(dialect.content)
    if not isinstance(text, str):
        raise FormatError(None, "no text", dialect.example)
    marked = [
        Marked(str(number), (_extent(mention, dialect, [len(text)]),))
        for number, cluster in enumerate(clusters, 1)
        for mention in cluster
        if mention != []
    ]
    return annotate(document, origin.annotator, Text.of_lines(text), marked, odd)


def _in_words(
    dialect: Dialect, clusters: Sequence[Any], document: Document, origin: _Origin, odd: Sequence[Finding]
) -> Annotation:
    layout = document.layout
    assert isinstance(layout, JsonLayout)
    sentences = _sentences(dialect, layout.fields)
    shape = tuple(map(len, sentences))
    flat = [token for sentence in sentences for token in sentence]
    words, index = _words(flat, layout.fields[dialect.subtokens] if layout.subtokens else None)
    pieces: dict[int, list[int]] = {}
    for piece, word in index.items():
        pieces.setdefault(word, []).append(piece)
    spans = [
        (str(number), _span(mention, dialect, shape, index))
        for number, cluster in enumerate(clusters, 1)
        for mention in cluster
        if mention != []
    ]
    extents = tuple((min(pieces[word]), max(pieces[word])) for word in range(1, len(words) + 1))
    last = (
        max((index[piece] for piece in range(a, b) if piece in index), default=0)
        for a, b in pairwise(accumulate(shape, initial=0))
    )
    document = replace(
        document,
        tokens=words,
        lines=(origin.line,) * len(words),
        layout=replace(layout, places=extents, shape=shape),
        sentence_ends=tuple(sorted(set(last) - {0})),
    )
    marked = [Marked(chain, ()) for chain, _ in spans]
    return assemble(document, origin.annotator, marked, [(span,) for _, span in spans], odd)


def _sentences(dialect: Dialect, fields: Fields) -> list[list[str]]:
    """Return the tokens of each sentence; a flat list is cut where the number of the sentence changes."""
    content = fields.get(dialect.content)
    nested: Any = [content] if dialect.sentences else content
    good = isinstance(nested, list) and all(isinstance(sentence, list) for sentence in nested)
    if not good or not all(isinstance(token, str) for sentence in nested for token in sentence):
        raise FormatError(None, f"no list of {dialect.content}", dialect.example)
    numbers = fields.get(dialect.sentences)
    if not isinstance(numbers, list) or len(numbers) != len(nested[0]):
        return list(nested)
    pairs = groupby(zip(numbers, nested[0], strict=True), key=lambda pair: pair[0])
    return [[word for _, word in group] for _, group in pairs]


def _words(flat: Sequence[str], mapped: object) -> tuple[tuple[str, ...], dict[int, int]]:
    """Return the words, and the word of each place that clusters may use; a map is that of sub-tokens."""
    if mapped is None:
        return tuple(flat), {number: number + 1 for number in range(len(flat))}
    if not isinstance(mapped, list) or len(mapped) != len(flat):
        expected = f"one number for each of {len(flat)} sub-tokens"
        raise FormatError(None, "a subtoken_map of another length", expected)
    words: list[str] = []
    index: dict[int, int] = {}
    before: int | None = None
    for number, (token, word) in enumerate(zip(flat, mapped, strict=True)):
        if token in _SPECIAL:
            continue
        if type(word) is not int or (before is not None and word < before):
            raise FormatError(None, f"{word!r} in subtoken_map", "whole numbers in rising order")
        if word == before:
            words[-1] += token.removeprefix("##")
        else:
            words.append(token.removeprefix("▁").removeprefix("Ġ"))
        before = word
        index[number] = len(words)
    return tuple(words), index


def _span(mention: object, dialect: Dialect, shape: Sequence[int], index: dict[int, int]) -> Span:
    first, end = _extent(mention, dialect, shape)
    if first == end:
        raise FormatError(None, f"mention {quoted(str(mention))}, a mention without words", dialect.mention)
    if first not in index or end - 1 not in index:
        raise FormatError(None, f"mention {quoted(str(mention))}", f"two of {len(index)} tokens in order")
    return Span(index[first], index[end - 1])


def write(dialect: Dialect, annotations: Iterable[Annotation]) -> str:
    """Write a line for each document, with the other fields of the object it was read from."""
    return "".join(f"{_written(dialect, annotation)}\n" for annotation in annotations)


def write_single(dialect: Dialect, annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect(
        (f"{stem(annotation.document)}.json", _written(dialect, annotation)) for annotation in annotations
    )


def losses(dialect: Dialect, annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation a dialect cannot carry."""
    findings = list(lost(annotation, edges=not dialect.characters))
    layout = _layout(dialect, annotation.document)
    if layout is not None and layout.subtokens:
        findings += widened(annotation)
    elif layout is not None and dialect.characters:
        findings += _lost_includes(annotation, layout)
    elif layout is not None:
        findings += _lost_fields(dialect, annotation)
    return tuple(findings)


def _layout(dialect: Dialect, document: Document) -> JsonLayout | None:
    """Return the object that a document was read from, if it was one of the dialect."""
    layout = document.layout
    return layout if isinstance(layout, JsonLayout) and layout.dialect == dialect.name else None


def _lost_fields(dialect: Dialect, annotation: Annotation) -> Iterator[Finding]:
    """Name the fields that cannot be written because words were cut."""
    document, layout = mend(annotation).document, _layout(dialect, annotation.document)
    if layout is None or not document.origin:
        return
    gone = sorted(layout.fields.keys() - _recut(layout, document).keys() - {dialect.sentences})
    if gone:
        message = (
            f"{times(len(gone), 'field')} that may count tokens not written, because words were cut: "
            f"{', '.join(map(quoted, gone))}"
        )
        yield warning("lost-fields", message, count=len(gone), where=annotation.document.title)


def _lost_includes(annotation: Annotation, layout: JsonLayout) -> Iterator[Finding]:
    """Count what entities include, which means something else where entities changed."""
    included = sum(map(bool, layout.fields.get(_INCLUDES) or ()))
    if included and _pairs(annotation) != _old_pairs(layout):
        message = (
            f"what {times(included, 'entity', 'entities')} include not written, because entities changed"
        )
        yield warning("lost-fields", message, count=included, where=annotation.document.title)


def _written(dialect: Dialect, annotation: Annotation) -> str:
    fields = (_written_characters if dialect.characters else _written_words)(dialect, annotation)
    fields.pop(_GOLD, None)
    if annotation.adjudicated:
        fields[_GOLD] = True
    return json.dumps(fields, ensure_ascii=False)


def _written_characters(dialect: Dialect, annotation: Annotation) -> Fields:
    document, layout = annotation.document, _layout(dialect, annotation.document)
    fields = dict(layout.fields) if layout else {}
    if not layout or dialect.title in fields:
        fields = _titled(dialect, fields, document)
    text, key = spell(document)[0], layout.key if layout else dialect.clusters[0]
    pairs = _pairs(annotation)
    if not layout or pairs != _old_pairs(layout):
        fields[key] = pairs
        if _INCLUDES in dialect.signs:
            fields[_INCLUDES] = [[] for _ in pairs]
    fields[dialect.content] = text
    if _STRINGS in fields or (not layout and dialect.title):
        fields[_STRINGS] = [[text[start:end] for start, end in cluster] for cluster in fields[key]]
    return fields


def _pairs(annotation: Annotation) -> list[list[list[int]]]:
    """Return the first character of each mention and the one after its last, by chain."""
    chains = {chain.id: mentions for chain, mentions in plan(annotation, ())}
    ordered = [chains[chain.id] for chain in _ordered(annotation.all_chains)]
    return [[list(mention.pieces[0]) for mention in wide_pieces(mentions)] for mentions in ordered]


def _old_pairs(layout: JsonLayout) -> list[list[list[int]]]:
    return [sorted(cluster) for cluster in layout.fields.get(layout.key) or []]


def _written_words(dialect: Dialect, original: Annotation) -> Fields:
    layout = _layout(dialect, original.document)
    annotation = whole_words(original) if layout and layout.subtokens else mend(original)
    document = annotation.document
    ends = sorted({*document.sentence_ends, len(document.tokens)} - {0})
    if dialect.in_sentence:
        ends = whole_sentences(document, annotation.mentions)
    fields: Fields = {} if layout is None else dict(layout.fields)
    if layout is not None and document.origin:
        fields = _recut(layout, document)
    if layout is None or document.origin or len(ends) < len(document.sentence_ends):
        fields = {dialect.title: "", **fields, **_content(dialect, _cut(document.tokens, ends))}
    extents = tuple((number, number) for number in range(len(document.tokens)))
    if layout is not None and not document.origin:
        extents = layout.places
    key = layout.key if layout else dialect.clusters[0]
    fields = _titled(dialect, fields, document)
    fields[key] = [
        [_numbers(dialect, span, extents, ends) for span in chain.mentions]
        for chain in _ordered(annotation.all_chains)
    ]
    return fields


def _content(dialect: Dialect, sentences: Sequence[Sequence[str]]) -> Fields:
    """Return the fields with the words of a document."""
    if not dialect.sentences:
        return {dialect.content: sentences}
    numbers = [number for number, sentence in enumerate(sentences) for _ in sentence]
    return {
        dialect.content: [word for sentence in sentences for word in sentence],
        dialect.sentences: numbers,
    }


def _titled(dialect: Dialect, fields: Fields, document: Document) -> Fields:
    """Put the name and the part of a document into its object, if they are not there already."""
    if not dialect.title:
        return fields
    part = document.part
    if dialect.part and part is not None and str(fields.get(dialect.part)) != part:
        # `045` is kept as a text, since a number would lose its zero.
        is_plain = part == "0" or re.fullmatch(r"[1-9][0-9]{0,8}", part)
        fields[dialect.part] = int(part) if is_plain else part
    name = (document.name, None if dialect.part else part)
    if dialect.title in fields and _name_and_part(dialect, fields[dialect.title]) == name:
        return fields
    parted = f"({document.name}); part {part}" if dialect.bracketed else document.title
    return {dialect.title: "", **fields} | {dialect.title: document.name if name[1] is None else parted}


def _numbers(
    dialect: Dialect, span: Span, extents: Sequence[tuple[int, int]], ends: Sequence[int]
) -> list[int]:
    first, end = extents[span.start - 1][0], extents[span.end - 1][1] + (not dialect.last_included)
    if not dialect.in_sentence:
        return [first, end]
    sentence = bisect_left(ends, span.start)
    before = ends[sentence - 1] if sentence else 0
    return [sentence, first - before, end - before]


def _recut(layout: JsonLayout, document: Document) -> Fields:
    """Return the fields that still hold after words were cut, those with a text for each token cut along."""
    near = list(accumulate(document.origin, lambda before, token: token or before, initial=1))[1:]
    ends = sorted({*document.sentence_ends, len(document.tokens)} - {0})
    kept: Fields = {}
    for name, value in layout.fields.items():
        if name == layout.key:
            kept[name] = []
        elif isinstance(value, list) and _is_flat(value, sum(layout.shape)):
            kept[name] = [value[token - 1] for token in near]
        elif isinstance(value, list) and _is_nested(value, layout.shape):
            flat = [item for sentence in value for item in sentence]
            kept[name] = _cut([flat[token - 1] for token in near], ends)
        elif not (isinstance(value, (list, dict)) and _has_numbers(value)):
            kept[name] = value
    return kept


def _cut(values: Sequence[str], ends: Sequence[int]) -> list[list[str]]:
    """Sort something said of each token into sentences."""
    return [list(values[start:end]) for start, end in pairwise([0, *ends])]


def _is_flat(value: Sequence[object], length: int) -> bool:
    return len(value) == length and not any(isinstance(item, (list, dict, int)) for item in value)


def _is_nested(value: Sequence[object], shape: Sequence[int]) -> bool:
    return len(value) == len(shape) and all(
        isinstance(row, list) and _is_flat(row, length) for row, length in zip(value, shape, strict=True)
    )


def _has_numbers(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_numbers, value.values()))
    if isinstance(value, list):
        return any(map(_has_numbers, value))
    return type(value) is int


def _ordered(chains: Sequence[Chain]) -> Sequence[Chain]:
    """Put numbered chains in the order of their numbers, so that reading them gives the same numbers."""
    if all(re.fullmatch("[0-9]{1,9}", chain.id) for chain in chains):
        return sorted(chains, key=lambda chain: int(chain.id))
    return chains


def _record(dialect: Dialect) -> Format:
    lines = bool(dialect.title)
    return Format(
        name=dialect.name,
        suffixes=dialect.suffixes,
        detect=partial(detect, dialect),
        read=partial(read if lines else read_single, dialect),
        write=partial(write, dialect) if lines else partial(write_single, dialect),
        losses=partial(losses, dialect),
        many_documents=lines,
        shared_suffixes=dialect.shared,
        read_each=partial(read_each, dialect) if lines else None,
    )


FORMATS = {dialect.name: _record(dialect) for dialect in DIALECTS}
