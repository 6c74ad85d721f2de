"""Settings compared: counts as if links were listed, distances as the scores have them."""

import random
from dataclasses import replace
from itertools import combinations

import pytest

from caspr.adjudication import adjudicate_document
from caspr.measures.scores import score
from caspr.measures.settings_comparison import compare_settings
from caspr.result import Result
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.text.document import Annotation
from tests.instances import random_instance


def links(annotation: Annotation) -> set[tuple[object, object]]:
    return {pair for chain in annotation.chains for pair in combinations(chain.mentions, 2)}


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_those_of_listed_links_and_scores(seed: int) -> None:
    annotations = random_instance(random.Random(seed), mentions=12, tokens=20).annotations
    results = {
        name: [adjudicate_document(annotations, settings=Settings(OBJECTIVES[name]))]
        for name in ("v", "va", "ua", "u")
    }
    key = results["u"][0].gold
    compared = compare_settings(results, [key])
    assert compared.documents == 1
    golds = [some[0].gold for some in results.values()]
    for row, gold in zip(compared.rows, golds, strict=True):
        assert row.kept == sum(len(links(one) & links(gold)) for one in annotations)
        assert row.given == sum(len(links(one)) for one in annotations)
        assert row.mentions == sum(len(chain.mentions) for chain in gold.chains)
        assert row.costs == results[row.settings][0].costs
        assert row.proven == 1
        for one in annotations:
            assert row.annotators[one.annotator] == score([gold], [one], singletons=False).conll
        scored = [score([key], [gold], singletons=singletons).conll for singletons in (False, True)]
        assert list(row.scores or ()) == scored
    for (left, gold), (right, another) in combinations(enumerate(golds), 2):
        expected = score([gold], [another], singletons=False).conll
        assert (compared.matrix[left][right], compared.matrix[right][left]) == (expected, expected)


def test_documents_are_pooled_and_annotators_may_lack_some() -> None:
    first, second = (
        random_instance(random.Random(seed), mentions=12, tokens=20).annotations for seed in (3, 4)
    )
    second = tuple(Annotation.of(one.annotator, one.document, one.chains) for one in second[1:])
    results: list[Result] = [adjudicate_document(some) for some in (first, second)]
    [row] = compare_settings({"v": results}).rows
    only = first[0].annotator
    assert row.annotators[only] == score([results[0].gold], [first[0]], singletons=False).conll
    assert row.given == sum(len(links(one)) for one in (*first, *second))
    assert row.scores is None


def test_a_gain_is_clear_where_every_draw_has_one() -> None:
    """The same errors in each document, and so the same gain in each draw."""
    annotations = random_instance(random.Random(5), mentions=12, tokens=20).annotations
    good, bad = (adjudicate_document(annotations, settings=Settings(OBJECTIVES[name])) for name in ("v", "u"))
    key = good.gold
    renamed = [
        [
            replace(result, instance=replace(result.instance, annotations=called(annotations, f"d{number}")))
            for number in range(6)
        ]
        for result in (bad, good)
    ]
    keys = [replace(key, document=replace(key.document, name=f"d{number}")) for number in range(6)]
    first, second = compare_settings({"bad": renamed[0], "good": renamed[1]}, keys).rows
    assert first.gain is None
    assert second.gain is not None
    assert second.gain.interval is not None
    assert second.gain.difference > 0
    assert second.gain.is_clear
    assert second.gain.interval.low == pytest.approx(second.gain.difference)
    assert second.gain.interval.high == pytest.approx(second.gain.difference)
    _, worse = compare_settings({"good": renamed[1], "bad": renamed[0]}, keys).rows
    assert worse.gain is not None
    assert not worse.gain.is_clear


def called(annotations: tuple[Annotation, ...], name: str) -> tuple[Annotation, ...]:
    return tuple(replace(one, document=replace(one.document, name=name)) for one in annotations)
