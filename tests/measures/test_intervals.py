"""Intervals: sums give the exact numbers, a draw is what pooling gives, and all is deterministic."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from caspr.measures.agreement import ALPHAS, Tally, tally, tally_all
from caspr.measures.comparison import MEASURES, compare
from caspr.measures.intervals import (
    ALPHA_OF,
    F1_OF,
    Bootstrap,
    alpha_sums,
    comparison_intervals,
    interval,
    score_intervals,
    score_sums,
)
from caspr.measures.scores import score
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document


def drawn(seed: int, documents: int, annotators: int = 3) -> list[list[Annotation]]:
    """Draw annotators who agree more or less, with documents that one of them lacks."""
    rng = random.Random(seed)
    found = []
    for number in range(documents):
        text = Document(f"d{number}", tuple("x" * 12))
        given = []
        for name in "abc"[:annotators]:
            chains: list[list[tuple[int, int]]] = [[] for _ in range(3)]
            for token in range(1, rng.choice([3, 13])):
                if rng.random() < 0.8:
                    chains[token % 3 if rng.random() < 0.7 else rng.randrange(3)].append((token, token))
            given.append(Annotation.of(name, text, [Chain.of(str(n), c) for n, c in enumerate(chains) if c]))
        found.append(given if number % 4 else given[:2])
    return found


def near(one: Fraction | None, other: float) -> None:
    assert np.isnan(other) if one is None else other == pytest.approx(float(one), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_sums_give_the_exact_numbers(seed: int) -> None:
    documents = drawn(seed, 5)
    whole = tally_all(documents)
    for kind in ALPHAS:
        rows = np.array([alpha_sums(tally(one), kind) for one in documents]).sum(axis=0)
        near(whole.alpha(kind), ALPHA_OF[kind](rows[None])[0])
    scores = score([one[0] for one in documents], [one[1] for one in documents], singletons=True)
    for measure, statistic in F1_OF.items():
        rows = np.array([score_sums(one, measure) for _, one in scores.documents]).sum(axis=0)
        near(scores.f1(measure), statistic(rows[None])[0])


def test_empty_sides_are_as_exact_scores_have_them() -> None:
    text = Document("d", tuple("xxxx"))
    empty = Annotation.of("a", text, [])
    full = Annotation.of("b", text, [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(3, 3), (4, 4)])])
    for one, other in ((empty, empty), (empty, full), (full, empty), (full, full)):
        scores = score([one], [other], singletons=True)
        for measure, statistic in F1_OF.items():
            near(scores.f1(measure), statistic(np.array([score_sums(scores, measure)]))[0])
    for kind in ALPHAS:
        assert np.isnan(ALPHA_OF[kind](np.array([alpha_sums(Tally(), kind)]))[0])


def test_a_draw_is_what_pooling_the_drawn_documents_gives() -> None:
    documents = drawn(3, 6)
    bootstrap = Bootstrap(6, draws=25)
    assert (bootstrap.weights.sum(axis=1) == 6).all()
    values = ALPHA_OF["masi"](bootstrap.sums([alpha_sums(tally(one), "masi") for one in documents]))
    for weights, value in zip(bootstrap.weights, values, strict=True):
        chosen = [one for one, times in zip(documents, weights, strict=True) for _ in range(int(times))]
        near(tally_all(chosen).alpha("masi"), value)


def test_every_number_has_an_interval_around_it() -> None:
    documents = drawn(5, 30)
    comparison, found = compare(documents), comparison_intervals(documents)
    assert found is not None
    for kind in ALPHAS:
        bounds = found.alpha[kind]
        assert bounds is not None
        assert bounds.low < float(comparison.alpha[kind] or 0) < bounds.high
    for matrix in (*ALPHAS, *MEASURES):
        for name in comparison.annotators:
            mean, bounds = comparison.with_others(matrix, name), found.annotators[matrix][name]
            assert bounds is not None
            assert bounds.low <= float(mean or 0) <= bounds.high
        assert found.pairs[matrix]["a", "b"] == found.pairs[matrix]["b", "a"]
    assert found == comparison_intervals(documents)


def test_intervals_count_those_who_saw_a_mention() -> None:
    documents = drawn(4, 12)
    seen = [Coverage.of({"a": [(1, 5)], "b": [(4, 12)]})] * len(documents)
    found, blind = comparison_intervals(documents, coverages=seen), comparison_intervals(documents)
    assert found is not None
    assert blind is not None
    comparison = compare(documents, coverages=seen)
    for kind in ALPHAS:
        bounds, number = found.alpha[kind], comparison.alpha[kind]
        assert bounds is not None
        assert number is not None
        assert bounds.low <= number <= bounds.high
        assert bounds != blind.alpha[kind]
    for kind in (*ALPHAS, "conll"):
        pair, of_pair = found.pairs[kind]["a", "c"], comparison.matrices[kind][0][2]
        assert pair is not None
        assert of_pair is not None
        assert pair.low <= of_pair <= pair.high
        assert pair != blind.pairs[kind]["a", "c"]


def test_scores_have_intervals_over_documents() -> None:
    documents = drawn(6, 12)
    scores = score([one[0] for one in documents], [one[1] for one in documents])
    for measure, bounds in score_intervals(scores).items():
        assert bounds is not None
        assert bounds.low <= float(scores.f1(measure) or 0) <= bounds.high


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_few_documents_have_no_interval(number: int) -> None:
    documents = drawn(1, number)
    assert comparison_intervals(documents) is None
    assert comparison_intervals([*documents, *([one[0]] for one in drawn(1, 6))]) is None
    assert score_intervals(score([one[0] for one in documents], [one[1] for one in documents])) == {}


def test_those_who_share_a_few_documents_have_no_interval() -> None:
    """Six documents have a and b, four of them c, too; d shares one with c only."""
    documents = drawn(2, 6)[:6]
    only = documents[1][2]
    documents.append([replace(only, document=replace(only.document, name=name)) for name in ["e"]])
    documents[-1].append(replace(documents[-1][0], annotator="d"))
    found = comparison_intervals(documents)
    assert found is not None
    for kind in ("conll", "passonneau"):
        assert found.alpha["passonneau"] is not None
        assert found.between[kind] is not None
        assert found.pairs[kind]["a", "b"] is not None
        assert not any(found.pairs[kind][pair] for pair in [("a", "c"), ("c", "d"), ("a", "d")])
        assert found.annotators[kind]["a"] is not None
        assert found.annotators[kind]["c"] is found.annotators[kind]["d"] is None


def test_what_is_mostly_undefined_has_no_interval() -> None:
    assert interval(np.array([0.5, np.nan, np.nan])) is None
    bounds = interval(np.array([0.5, 0.5, np.nan]))
    assert bounds == (0.5, 0.5)
