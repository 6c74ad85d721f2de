"""Pooled scores agree with the package's; intervals hold what resampling by hand finds."""

import numpy as np
import pytest

from bench.corpora import DS2, generate
from bench.quality.judged import Judged
from bench.quality.scoring import MEASURES, Scored, compare, score_documents
from caspr.measures.scores import score

DOCUMENTS = [Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.2))[5:12]]


def first(documents: list[Judged], number: int = 0) -> Scored:
    return score_documents(
        documents, {one.name: one.annotations[number] for one in documents}, singletons=False
    )


def test_pooled_scores_are_those_of_the_package() -> None:
    expected = score(
        [one.gold for one in DOCUMENTS], [one.annotations[0] for one in DOCUMENTS], singletons=False
    )
    for measure in (*MEASURES, "conll"):
        exact = expected.f1(measure)
        assert exact is not None
        assert first(DOCUMENTS).f1(measure) == pytest.approx(100 * float(exact))


def test_an_interval_holds_the_middle_of_the_differences_of_drawn_documents() -> None:
    ours, theirs = first(DOCUMENTS, 0), first(DOCUMENTS, 1)
    found = compare(ours, theirs)
    random = np.random.default_rng(7)
    names = list(ours.documents)
    drawn = [[names[place] for place in random.integers(len(names), size=len(names))] for _ in range(1500)]
    differences = [ours.at(some).f1("conll") - theirs.at(some).f1("conll") for some in drawn]
    assert found.difference == pytest.approx(ours.f1("conll") - theirs.f1("conll"))
    spread = float(np.std(differences))
    assert found.low == pytest.approx(np.percentile(differences, 2.5), abs=spread / 3)
    assert found.high == pytest.approx(np.percentile(differences, 97.5), abs=spread / 3)


def test_only_documents_that_both_have_are_compared() -> None:
    found = compare(first(DOCUMENTS[:3]), first(DOCUMENTS, 1))
    assert found == compare(first(DOCUMENTS[:3]), first(DOCUMENTS[:3], 1))
