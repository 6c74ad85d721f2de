"""Nothing vanishes: tokens, documents and annotators that go in come out, or are named."""

import random

import pytest

from caspr.adjudication import adjudicate_document, by_document
from caspr.formats import conll
from caspr.report.summary import document_summary
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.text.document import Annotation, Chain, Document

WORDS = ("the", "girl", "«Ünï»", "-", "(1)", "#end", "😀", "=", "|")


def random_files(rng: random.Random) -> list[list[Annotation]]:
    """Make a few annotators' files over a few documents, some of which some of them lack."""
    documents = [
        Document(f"doc {number}", tuple(rng.choice(WORDS) for _ in range(rng.randint(1, 7))), part)
        for number, part in enumerate(rng.choices((None, "000"), k=3))
    ]
    return [
        [
            Annotation.of(f"a{annotator}", document, random_chains(rng, len(document.tokens)))
            for document in documents
            if rng.random() < 0.8
        ]
        for annotator in range(rng.randint(2, 4))
    ]


def random_chains(rng: random.Random, tokens: int) -> list[Chain]:
    chains: dict[str, set[tuple[int, int]]] = {}
    for _ in range(rng.randint(0, 6)):
        start = rng.randint(1, tokens)
        span = (start, min(tokens, start + rng.randint(0, 2)))
        chains.setdefault(rng.choice("xyz"), set()).add(span)
    return [Chain.of(id, spans) for id, spans in chains.items()]


@pytest.mark.parametrize("seed", range(60))
def test_what_goes_in_comes_out(seed: int) -> None:
    rng = random.Random(seed)
    files = random_files(rng)
    titles = {one.document.title for file in files for one in file}
    holders = {title: sum(one.document.title == title for file in files for one in file) for title in titles}
    if max(holders.values(), default=0) < 2:
        return
    # Through text, as a user's files would come.
    files = [conll.parse(conll.write(file), "f", file[0].annotator) for file in files if file]
    documents, findings = by_document(files)
    settings = Settings(
        rng.choice(list(OBJECTIVES.values())), singletons=rng.choice(list(Singletons)), nested=Nesting.ALWAYS
    )
    results = [adjudicate_document(group, settings=settings) for group in documents]
    golds = conll.parse(conll.write(result.gold for result in results), "gold", "gold")
    named = {finding.where for finding in findings if finding.code == "single-annotation"}
    assert {gold.document.title for gold in golds} | named == titles
    for gold, result, group in zip(golds, results, documents, strict=True):
        assert gold.document.tokens == group[0].document.tokens
        assert gold.chains == result.gold.chains
        assert gold.singletons == result.gold.singletons
        assert gold.mentions <= frozenset().union(*(one.mentions for one in group))
        assert document_summary(result)["annotators"] == holders[gold.document.title]
