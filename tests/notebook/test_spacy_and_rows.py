"""spaCy documents and rows of datasets: what goes in comes out again, also through the real packages."""

import os
import random
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import caspr
from caspr.text.document import Annotation, Chain, Document


def library(name: str) -> Any:
    """Import a package of the extra `integrations`, which `dev.py test --all` installs and requires."""
    if os.environ.get("CASPR_INTEGRATIONS") == "required":
        return import_module(name)
    return pytest.importorskip(name)


def drawn(seed: int) -> Annotation:
    rng = random.Random(seed)
    tokens = tuple(f"w{number}" for number in range(rng.randint(1, 12)))
    spans = sorted({tuple(sorted(rng.choices(range(1, len(tokens) + 1), k=2))) for _ in range(8)})
    chains: list[list[tuple[int, int]]] = [[] for _ in range(3)]
    for one in spans:
        rng.choice(chains).append((one[0], one[1]))
    ends = tuple(sorted({*rng.choices(range(1, len(tokens) + 1), k=2), len(tokens)}))
    document = Document("d", tokens, sentence_ends=ends)
    return Annotation.of("ann", document, [Chain.of(str(n), c) for n, c in enumerate(chains) if c])


def mentions(annotation: Annotation) -> list[tuple[Any, ...]]:
    return sorted(chain.mentions for chain in annotation.all_chains)


@pytest.mark.parametrize("seed", range(30))
def test_rows_come_back(seed: int) -> None:
    annotation = drawn(seed)
    [row] = caspr.to_rows([annotation])
    [again] = caspr.from_rows([row], "ann")
    assert again.document == annotation.document
    assert again.document.sentence_ends in (annotation.document.sentence_ends, ())
    assert mentions(again) == mentions(annotation)


def test_rows_of_well_known_datasets() -> None:
    preco = {
        "id": "p",
        "sentences": [["A", "girl", "sang"], ["She", "left"]],
        "mention_clusters": [[[0, 0, 2], [1, 0, 1]]],
    }
    ontonotes = {
        "document_id": "bc/x",
        "sentences": [
            {"part_id": 0, "words": ["A", "girl", "sang"], "coref_spans": [[5, 0, 1]]},
            {"part_id": 0, "words": ["She", "left"], "coref_spans": [[5, 0, 0]]},
            {"part_id": 1, "words": ["Bye"], "coref_spans": []},
        ],
    }
    [one] = caspr.from_rows([preco], "a")
    two, other = caspr.from_rows([ontonotes], "a")
    assert mentions(one) == mentions(two) == [((1, 2), (4, 4))]
    assert (two.document.title, other.document.title) == ("bc/x; part 000", "bc/x; part 001")
    assert one.document.sentence_ends == two.document.sentence_ends == (3, 5)
    predicted = {"tokens": ["a", "b"], "clusters": [], "predicted_clusters": [[[0, 0], [1, 1]]]}
    [third] = caspr.from_rows([predicted], "model")
    assert (third.document.name, mentions(third)) == ("0", [((1, 1), (2, 2))])


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"tokens": ["a"], "clusters": [[[0, 1]]]},
        {"tokens": ["a"], "clusters": [[[-1, 0]]]},
        {"tokens": ["a", "b"], "clusters": [[[1, 0]]]},
        {"tokens": ["a"], "clusters": [[0]]},
        {"sentences": [["a"]], "mention_clusters": [[[4, 0, 1]]]},
        {"tokens": None},
    ],
)
def test_rows_that_cannot_be_read(row: dict[str, Any]) -> None:
    with pytest.raises(caspr.CasprError, match=r"row 0 cannot be read .*: it needs tokens or sentences"):
        caspr.from_rows([row], "a")


def test_a_real_dataset() -> None:
    datasets = library("datasets")
    rows = caspr.to_rows([drawn(seed) for seed in range(5)])
    for number, row in enumerate(rows):
        row["doc_key"] = str(number)
    dataset = datasets.Dataset.from_list(rows)
    again = caspr.from_rows(dataset, "ann")
    assert [mentions(one) for one in again] == [mentions(drawn(seed)) for seed in range(5)]


TEXT = "John is a musician. \n\n He played a new song.  A girl listened."


class TestSpacy:
    def doc(self) -> Any:
        spacy = library("spacy")
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        doc = nlp(TEXT)
        doc.spans["coref_clusters_1"] = [doc[0:1], doc[2:4], doc[6:7]]
        doc.spans["coref_clusters_2"] = [doc[8:11]]
        doc.spans["other"] = [doc[0:2]]
        return doc

    def test_in(self) -> None:
        annotation = caspr.from_spacy(self.doc(), "model", name="song")
        assert annotation.document.name == "song"
        assert "\n" not in "".join(annotation.document.tokens)
        text = annotation.document.text
        found = [[text(span) for span in chain.mentions] for chain in annotation.all_chains]
        assert found == [["John", "a musician", "He"], ["a new song"]]
        for token, (begin, end) in zip(annotation.document.tokens, annotation.document.offsets, strict=True):
            assert TEXT[begin:end] == token
        ends = [annotation.document.tokens[end - 1] for end in annotation.document.sentence_ends]
        assert ends == ["."] * 3

    def test_out_again(self) -> None:
        first, second = self.doc(), self.doc()
        annotation = caspr.from_spacy(first)
        second.spans["coref_clusters_9"] = [second[0:1]]
        caspr.to_spacy(annotation, second)
        assert sorted(second.spans) == ["coref_clusters_1", "coref_clusters_2", "other"]
        for key in second.spans:
            assert [(one.start, one.end) for one in second.spans[key]] == [
                (one.start, one.end) for one in first.spans[key]
            ]

    def test_names_and_types_come_back(self) -> None:
        given = caspr.from_spacy(self.doc())
        [one, *others] = given.all_chains
        chains = [replace(one, name="Sir John", type="person"), *others]
        doc = caspr.to_spacy(Annotation.of("a", given.document, chains), self.doc())
        assert doc.spans["coref_clusters_2"].attrs == {}
        again = caspr.from_spacy(doc)
        assert [(chain.name, chain.type) for chain in again.all_chains] == [("Sir John", "person"), ("", "")]

    def test_other_words_and_empty_spans(self) -> None:
        doc = self.doc()
        with pytest.raises(caspr.CasprError, match="differ from word 1 on"):
            caspr.to_spacy(drawn(1), doc)
        doc.spans["coref_clusters_3"] = [doc[5:6]]
        with pytest.raises(caspr.CasprError, match="has a span of no words"):
            caspr.from_spacy(doc)


def test_systems_are_merged_like_annotators() -> None:
    tokens = ["Anna", "met", "Eva", ".", "She", "left", "."]
    outputs = {"one": [[[0, 0], [4, 4]]], "two": [[[0, 0], [4, 4]]], "three": [[[2, 2], [4, 4]]]}
    files = [
        caspr.from_rows([{"doc_key": "d", "tokens": tokens, "clusters": clusters}], name)
        for name, clusters in outputs.items()
    ]
    [result] = caspr.adjudicate(files)
    assert [chain.mentions for chain in result.chains if len(chain.mentions) > 1] == [((1, 1), (5, 5))]
