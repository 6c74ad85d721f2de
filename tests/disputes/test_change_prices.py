"""What a change costs, against brute force."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from caspr.adjudication import adjudicate, adjudicate_document
from caspr.cli.shared.reports import report_text
from caspr.disputes import find_disputes, share_time, with_prices
from caspr.engines import brute
from caspr.formats import read_all
from caspr.result import ChangePrice
from caspr.task.instance import Nesting
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.pricing import price, violations
from caspr.task.settings import Settings
from caspr.task.solution import Partition
from caspr.text.document import Span
from tests.instances import paper_annotations, random_instance
from tests.task.test_pricing import random_partition


def holds(partition: Partition, pair: tuple[object, object]) -> bool:
    return any(set(pair) <= set(chain) for chain in partition)


@pytest.mark.parametrize("seed", range(6))
def test_links_that_cost_something_to_flip_are_in_every_optimum(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(15):
        instance = random_instance(rng, mentions=6)
        settings = Settings(instance.objective, nested=Nesting.NEVER, prices=60)
        result = adjudicate_document(instance.annotations, settings=settings)
        optima = brute.solve(instance, Limits(solutions=10**6)).partitions
        for pair, change in (result.change_prices or {}).items():
            here = holds(result.solution.partitions[0], pair)
            same = all(holds(optimum, pair) == here for optimum in optima)
            assert same is (change.price != 0 or not change.possible)
            if change.price is not None and change.exact:
                check_price(rng, result.instance, pair, here, result.value + change.price)


def check_price(rng: random.Random, instance, pair, here: bool, least: int) -> None:  # type: ignore[no-untyped-def]
    """No partition that decides the pair otherwise costs less than the price says."""
    for _ in range(30):
        partition = random_partition(rng, instance)
        if holds(partition, pair) != here and not any(violations(instance, partition)):
            assert price(instance, partition).total >= least


def test_what_another_optimum_decides_costs_nothing_to_flip() -> None:
    result = adjudicate_document(paper_annotations(), settings=Settings(OBJECTIVES["v"], prices=10))
    [pair] = [tuple(chain) for chain in result.solution.partitions[0]]
    assert (result.change_prices or {})[pair[0], pair[1]] == ChangePrice(0)


def test_no_time_no_answer() -> None:
    result = adjudicate_document(paper_annotations())
    assert result.change_prices is None
    assert with_prices(result, 0) is result


def test_a_hard_pair_does_not_take_the_time_of_the_others() -> None:
    pairs = [(Span(number, number), Span(9, 9)) for number in range(5)]
    hard = pairs[1]
    priced: list[object] = []

    def price(pair: tuple[Span, Span], limit: float) -> bool:
        priced.append(pair)
        time.sleep(limit if pair == hard else 0)
        return pair != hard

    share_time(pairs, 0.5, price, lambda: False)
    assert priced == [*pairs, hard]
    priced.clear()
    share_time(pairs, 60, price, lambda: len(priced) == 1)
    assert priced == pairs[:1]


def test_a_report_says_what_it_had_no_time_for() -> None:
    song = Path(__file__).parents[2] / "examples" / "song"
    [result] = adjudicate(read_all(sorted(song.glob("*.conll"))))
    first, *others = (dispute.pair for dispute in find_disputes(result))
    assert others
    short = replace(result, change_prices={first: ChangePrice(3)})
    assert "was not computed in time (allow more with --prices)" in report_text([short], "text")
    assert "was not computed in time" not in report_text([result], "text")
