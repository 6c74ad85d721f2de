"""Nested links are found chain by chain, and not counted where there are too many."""

import random

import pytest

from caspr.task import instance as instance_module
from caspr.task import votes as votes_module
from caspr.task.instance import Instance, check_task
from caspr.text.checks import _crossing
from caspr.text.document import Span, count_overlaps, nested_pairs
from tests.instances import annotation, random_instance


@pytest.mark.parametrize("block", range(5))
def test_nested_links_are_the_nested_pairs_that_somebody_linked(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        votes = random_instance(random.Random(seed), odd=True).votes
        expected = {pair for pair in nested_pairs(votes.signatures) if votes.evidence(*pair).givers}
        assert votes.nested_links == expected
        assert votes.overlapping_links >= len(expected)


@pytest.mark.parametrize("block", range(5))
def test_overlaps_and_crossings_are_counted_without_looking_at_pairs(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        starts = [rng.randint(1, 9) for _ in range(rng.randint(0, 9))]
        spans = sorted({Span(start, start + rng.randint(0, 4)) for start in starts})
        pairs = [(one, other) for one in spans for other in spans if one < other and one.overlaps(other)]
        assert count_overlaps(spans) == len(pairs)
        crossing = {other for one, other in pairs if one.start < other.start and one.end < other.end}
        assert _crossing(spans) == len(crossing)


def test_too_many_nested_links_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = [[(start, 41 - start) for start in range(1, 20)]]
    task = Instance(tuple(annotation(name, nest, 40) for name in "ab"))
    [counted] = [one for one in check_task(task) if one.code == "nested-links"]
    assert counted.count == 2 * 19 * 18 // 2

    def never(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(instance_module, "MOST_NESTED", 10)
    monkeypatch.setattr(votes_module, "nested_pairs", never)
    task = Instance(task.annotations)
    [said] = [one for one in check_task(task) if one.code == "nested-links"]
    assert "more than 10 links" in said.message
