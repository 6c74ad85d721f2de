"""Weights, coverage, variants, nesting and singletons mixed: engines, certificates and review files agree."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from caspr.adjudication import adjudicate_document
from caspr.formats import review_file
from caspr.proof.certificate import verify_documents
from caspr.proof.prove import prove_results
from caspr.result import Result
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.stored_settings import read_settings, write_settings
from caspr.task.weights import AnnotatorWeights, Factor, WeightsTable
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span

NAMES = ("anna", "ben", "carla", "dora")
TOKENS = 9


def random_annotations(rng: random.Random) -> tuple[Annotation, ...]:
    """Make annotations over few mentions, whose boundaries annotators see differently now and then."""
    document = Document("doc", tuple(f"w{number}" for number in range(1, TOKENS + 1)))
    spans = sorted(
        {Span(start, min(TOKENS, start + rng.choice((0, 1, 2)))) for start in rng.sample(range(1, 9), 4)}
    )
    return tuple(
        Annotation.of(name, document, _chains(rng, spans)) for name in NAMES[: rng.choice((2, 3, 3, 4))]
    )


def _chains(rng: random.Random, spans: Sequence[Span]) -> list[Chain]:
    chains: dict[str, set[Span]] = {}
    for span in spans:
        if rng.random() < 0.9:
            end = min(TOKENS, span.end + 1) if rng.random() < 0.15 else span.end
            chains.setdefault(rng.choice("112"), set()).add(Span(span.start, end))
    return [Chain.of(id, mentions) for id, mentions in chains.items()]


def random_settings(rng: random.Random, names: Sequence[str]) -> Settings:
    weights = WeightsTable(
        tuple(AnnotatorWeights(name, rng.randint(0, 5), rng.randint(0, 3)) for name in NAMES),
        rng.choice((None, 0, 2)),
    )
    seen = {
        name: [(1, rng.randint(3, TOKENS))] if rng.random() < 0.5 else [(rng.randint(1, 7), TOKENS)]
        for name in names
    }
    return Settings(
        rng.choice(list(OBJECTIVES.values())),
        nested=rng.choice(list(Nesting)),
        singletons=rng.choice(list(Singletons)),
        factors=(Factor(rng.choice(names), rng.randint(0, 7), rng.choice((1, 2, 3))),)
        if rng.random() < 0.4
        else (),
        weights=weights if rng.random() < 0.4 else None,
        coverage=rng.choice((None, "marks", Coverage.of(seen))),
        variants=rng.random() < 0.6,
        forced_votes=rng.random() < 0.2,
    )


def random_decisions(rng: random.Random, annotations: Sequence[Annotation]) -> Decisions:
    marked = sorted({span for annotation in annotations for span in annotation.mentions})
    if rng.random() < 0.4 or len(marked) < 2:
        return Decisions()
    kind = rng.choice((StatementKind.APART, StatementKind.ABSENT, StatementKind.TOGETHER))
    count = 1 if kind is StatementKind.ABSENT else 2
    return Decisions.of(statements=[Statement.of(kind, rng.sample(marked, count))])


def solved(rng: random.Random) -> Result | None:
    """Adjudicate a random document under random settings; `None` if the decisions cannot hold."""
    annotations = random_annotations(rng)
    settings = random_settings(rng, [annotation.annotator for annotation in annotations])
    try:
        return adjudicate_document(annotations, random_decisions(rng, annotations), settings)
    except ContradictionError:
        return None


@pytest.mark.parametrize("seed", range(8))
def test_engines_agree_and_certificates_verify(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        result = solved(rng)
        if result is None or result.given is None:
            continue
        given = result.given
        for engine in ("brute", "clingo"):
            other = adjudicate_document(
                given.annotations, given.decisions, replace(given.settings, engine=engine)
            )
            assert (other.value, other.bound) == (result.value, result.bound)
        data, missing = prove_results([result])
        assert not missing
        written = json.loads(json.dumps(data))
        (verified,) = verify_documents(written, [(given.annotations, given.decisions)])
        assert verified.value == result.value


@pytest.mark.parametrize("seed", range(8, 14))
def test_a_review_file_needs_no_other_file(seed: int) -> None:
    """What was written leads to the same result, and to the same bytes when it is written again."""
    rng = random.Random(seed)
    for _ in range(15):
        result = solved(rng)
        if result is None or result.given is None:
            continue
        text = review_file.write([review_file.review_of(result, result.gold)])
        (one,) = review_file.parse(text, "review.conll")
        assert [annotation.chains for annotation in one.annotations] == [a.chains for a in result.annotations]
        again = adjudicate_document(one.annotations, one.decisions, read_settings(one.settings))
        assert (again.value, again.gold.chains) == (result.value, result.gold.chains)
        assert again.given is not None
        assert write_settings(again.given.settings) == write_settings(result.given.settings)


@pytest.mark.parametrize("seed", range(14, 20))
def test_the_order_of_annotators_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(15):
        result = solved(rng)
        if result is None or result.given is None:
            continue
        given = result.given
        turned = tuple(rng.sample(given.annotations, len(given.annotations)))
        other = adjudicate_document(turned, given.decisions, given.settings)
        assert (other.value, other.gold.chains, other.gold.singletons) == (
            result.value,
            result.gold.chains,
            result.gold.singletons,
        )
