"""Dictionaries with tokens and clusters: rows of Hugging Face datasets, outputs of resolvers and models.

Words are a list `tokens`, or a list of lists `sentences`. Chains are one of

    clusters, predicted_clusters  [[[first, last], ...], ...], tokens from 0 over the whole text
    mention_clusters              [[[sentence, begin, end], ...], ...], as in PreCo, the end excluded
    coref_spans                   [[chain, first, last], ...] in each sentence, as in CoNLL-2012, whose
                                  sentences are dictionaries with `words`, and may be of several parts

The name of a document is its `doc_key`, `document_id`, `id` or `name`; otherwise its number among the rows.
What entities are called can be in `cluster_names` and `cluster_types`, one text for each of the clusters.
`to_rows` writes `doc_key`, `annotator`, `sentences`, `clusters`, `cluster_names` and `cluster_types`, from
which `datasets.Dataset.from_list` makes a dataset.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from caspr.errors import InputError
from caspr.text.arguments import annotations_of, refused
from caspr.text.document import Annotation, Chain, Document, Span

NAMES = ("doc_key", "document_id", "id", "name")
"""The fields that name a document, the first that is there."""
CLUSTERS = ("clusters", "predicted_clusters")
"""The fields of chains over the whole text; an empty one gives way to the next."""


def from_rows(rows: Iterable[Mapping[str, Any]], annotator: str) -> list[Annotation]:
    """Take the annotations of one annotator or system from rows.

    >>> row = {"doc_key": "d", "tokens": ["Anna", "said", "she", "slept"], "clusters": [[[0, 0], [2, 2]]]}
    >>> from_rows([row], "model")[0].chains[0].mentions
    (Span(start=1, end=1), Span(start=3, end=3))
    """
    annotations: list[Annotation] = []
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise refused("caspr.from_rows", rows, "a list of rows, each a dictionary")
        try:
            annotations.extend(_annotations(row, annotator, number))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise InputError(
                f"row {number} cannot be read ({type(error).__name__}: {error}): it needs tokens or "
                "sentences, and clusters, as in docs/notebook.md"
            ) from error
    return annotations


def to_rows(annotations: Iterable[Annotation]) -> list[dict[str, Any]]:
    """Return a row for each annotation.

    >>> text = Document("d", ("Anna", "said", "she", "slept"), sentence_ends=(2, 4))
    >>> row = to_rows([Annotation.of("ann", text, [Chain.of("1", [(1, 1), (3, 3)])])])[0]
    >>> row["sentences"], row["clusters"]
    ([['Anna', 'said'], ['she', 'slept']], [[[0, 0], [2, 2]]])
    """
    return [
        {
            "doc_key": annotation.document.title,
            "annotator": annotation.annotator,
            "sentences": _sentences(annotation.document),
            "clusters": [
                [[span.start - 1, span.end - 1] for span in chain.mentions] for chain in annotation.all_chains
            ],
            "cluster_names": [chain.name for chain in annotation.all_chains],
            "cluster_types": [chain.type for chain in annotation.all_chains],
        }
        for annotation in annotations_of(annotations, "caspr.to_rows")
    ]


def _sentences(document: Document) -> list[list[str]]:
    ends = [end for end in document.sentence_ends if end < len(document.tokens)]
    starts = [0, *ends]
    return [list(document.tokens[a:b]) for a, b in zip(starts, [*ends, len(document.tokens)], strict=True)]


def _annotations(row: Mapping[str, Any], annotator: str, number: int) -> Iterator[Annotation]:
    name = next((str(row[field]) for field in NAMES if row.get(field) is not None), str(number))
    sentences = row.get("sentences")
    if sentences and isinstance(sentences[0], Mapping):
        parts: dict[Any, list[Mapping[str, Any]]] = {}
        for sentence in sentences:
            parts.setdefault(sentence.get("part_id"), []).append(sentence)
        for part, members in parts.items():
            yield _of_sentences(
                name, part if len(parts) > 1 else row.get("part_id", part), members, annotator
            )
        return
    words = [list(sentence) for sentence in sentences] if sentences is not None else [list(row["tokens"])]
    document = _document(name, None, words)
    clusters = list(_clusters(row, words, document))
    names, types = (_called(row, field, len(clusters)) for field in ("cluster_names", "cluster_types"))
    chains = [
        replace(Chain.of(str(id), spans), name=name, type=type)
        for id, (spans, name, type) in enumerate(zip(clusters, names, types, strict=True), 1)
        if spans
    ]
    yield Annotation.of(annotator, document, chains)


def _called(row: Mapping[str, Any], field: str, clusters: int) -> list[str]:
    """Return the name or the type of each cluster, empty where a row does not say."""
    called = row.get(field) or [""] * clusters
    if len(called) != clusters:
        raise ValueError(f"{len(called)} {field} for {clusters} clusters")
    return [str(text or "") for text in called]


def _document(name: str, part: str | None, sentences: Sequence[Sequence[str]]) -> Document:
    tokens = [token for sentence in sentences for token in sentence]
    ends, position = [], 0
    for sentence in sentences:
        position += len(sentence)
        ends.append(position)
    known = tuple(dict.fromkeys(end for end in ends if end)) if len(sentences) > 1 else ()
    return Document(name, tuple(map(str, tokens)), part, sentence_ends=known)


def _of_sentences(
    name: str, part: object, sentences: Sequence[Mapping[str, Any]], annotator: str
) -> Annotation:
    document = _document(
        name, None if part is None else f"{part:0>3}", [sentence["words"] for sentence in sentences]
    )
    chains: dict[str, list[Span]] = {}
    offset = 0
    for sentence in sentences:
        for chain, first, last in sentence.get("coref_spans", ()):
            chains.setdefault(str(chain), []).append(_checked(document, offset + first, offset + last))
        offset += len(sentence["words"])
    return Annotation.of(annotator, document, [Chain.of(id, spans) for id, spans in chains.items()])


def _clusters(
    row: Mapping[str, Any], sentences: Sequence[Sequence[str]], document: Document
) -> Iterator[list[Span]]:
    if row.get("mention_clusters"):
        starts = [0]
        for sentence in sentences:
            starts.append(starts[-1] + len(sentence))
        for cluster in row["mention_clusters"]:
            yield [_checked(document, starts[s] + begin, starts[s] + end - 1) for s, begin, end in cluster]
        return
    for cluster in next((row[field] for field in CLUSTERS if row.get(field)), ()):
        yield [_checked(document, first, last) for first, last in cluster]


def _checked(document: Document, first: int, last: int) -> Span:
    if not 0 <= first <= last < len(document.tokens):
        raise ValueError(f"tokens {first} to {last} of {len(document.tokens)}")
    return Span(int(first) + 1, int(last) + 1)
