"""jsonlines: sub-tokens, predictions and the other fields of a line."""

import json
from collections.abc import Mapping
from pathlib import Path

from caspr.formats.format import ReadOptions
from caspr.formats.json_documents import DIALECTS, FORMATS, write
from caspr.formats.sources import read_one
from caspr.text.alignment import align
from caspr.text.document import Annotation, Chain, Document
from tests.formats.everywhere import chain_texts
from tests.formats.sound import put

JSONLINES = DIALECTS[0]
losses = FORMATS["jsonlines"].losses


def test_with_subtokens(tmp_path: Path) -> None:
    line = {
        "doc_key": "(d); part 003",
        "sentences": [["[CLS]", "An", "##na", "is", "[SEP]"], ["[CLS]", "she", "[SEP]"]],
        "subtoken_map": [0, 0, 0, 1, 1, 1, 2, 2],
        "clusters": [[[1, 2], [6, 6]], []],
        "speakers": ["x"],
    }
    [annotation] = read_one(put(tmp_path, "x.jsonl", json.dumps(line)))
    assert annotation.document.tokens == ("Anna", "is", "she")
    assert (annotation.document.name, annotation.document.part) == ("d", "003")
    assert chain_texts(annotation) == [["Anna", "she"]]
    assert json.loads(write(JSONLINES, [annotation])) == {**line, "clusters": [[[1, 2], [6, 6]]]}


def test_predictions(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["a", "b"]],
        "clusters": [[]],
        "predicted_clusters": [[[0, 0], [1, 1]]],
    }
    path = put(tmp_path, "x.jsonl", json.dumps({**line, "clusters": []}))
    assert chain_texts(read_one(path)[0]) == [["a", "b"]]
    assert chain_texts(read_one(path, options=ReadOptions("clusters"))[0]) == []
    [odd] = read_one(put(tmp_path, "y.jsonl", json.dumps(line)))[0].findings
    assert odd.code == "empty-chain"


def cut_words(tmp_path: Path, line: Mapping[str, object]) -> Annotation:
    """Read a document, mark a part of its first word, which another annotator cut, and the word after it."""
    [annotation] = read_one(put(tmp_path, "x.jsonl", json.dumps(line)))
    first, *others = annotation.document.tokens
    other = Annotation.of("other", Document("d", ("", first[:4], first[4:], *others)), [])
    moved = align([annotation, other])[0]
    return Annotation.of("gold", moved.document, [Chain.of("1", [(2, 2), (4, 4)])])


def test_fields_when_words_are_cut(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["Annas", "here"], [], ["she"]],
        "clusters": [[[0, 0], [2, 2]]],
        "speakers": [["a", "b"], [], ["c"]],
        "pos": ["N", "R", "P"],
        "genre": ["nw"],
        "weight": 3,
    }
    gold = cut_words(tmp_path, {**line, "predicted_clusters": [[[0, 0]]], "paragraphs": [[0, 2]]})
    [lost] = losses(gold)
    assert (lost.code, lost.count) == ("lost-fields", 2)
    assert "'paragraphs', 'predicted_clusters'" in lost.message
    assert json.loads(write(JSONLINES, [gold])) == {
        **line,
        "sentences": [["Anna", "s", "here"], ["she"]],
        "clusters": [[[0, 0], [2, 2]]],
        "speakers": [["a", "a", "b"], ["c"]],
        "pos": ["N", "N", "R", "P"],
    }


def test_subtokens_are_never_cut(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["[CLS]", "Anna", "##s", "here"]],
        "subtoken_map": [0, 0, 0, 1],
        "sentence_map": [0, 0, 0, 0],
        "clusters": [],
    }
    gold = cut_words(tmp_path, line)
    [warned] = losses(gold)
    assert warned.code == "widened-mention"
    assert json.loads(write(JSONLINES, [gold])) == {**line, "clusters": [[[1, 2], [3, 3]]]}
