"""Prices are those that brute force's list of solutions gives."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from caspr.adjudication import by_document
from caspr.engines import brute
from caspr.engines.native import estimate, solve
from caspr.engines.native.incremental import FlipPrice, IncrementalSolver, flip_prices
from caspr.formats import read_all
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.solution import Partition, Solution, Status
from caspr.text.document import Span
from tests.engines.native.random_instances import random_decisions, random_instance


def instances(seeds: range, mentions: int) -> Iterator[tuple[Instance, Solution]]:
    """Yield instances with decisions of all kinds, rules on and off, and their optima."""
    for seed in seeds:
        random = Random(seed)
        instance = random_instance(seed, mentions=mentions)
        if random.random() < 0.5:
            instance = replace(instance, objective=random.choice(list(OBJECTIVES.values())))
        if random.random() < 0.5 and instance.mentions:
            instance = replace(instance, decisions=random_decisions(random, list(instance.mentions)))
        solution = solve(instance, Limits())
        if solution.status is Status.OPTIMAL:
            yield instance, solution


def prices(instance: Instance, solution: Solution) -> Iterator[tuple[FlipPrice, int | None]]:
    """Yield the price of flipping each pair of mentions, and the true one."""
    every = [(cost, _pairs(partition)) for cost, partition in brute.every_solution(instance)]
    pairs = list(combinations(instance.mentions, 2))
    for flip in flip_prices(instance, solution, pairs, Limits()):
        pair = (flip.first, flip.second)
        assert flip.together == (pair in _pairs(solution.partitions[0]))
        opposite = [cost for cost, linked in every if (pair in linked) != flip.together]
        yield flip, min(opposite) - solution.value if opposite else None


def _pairs(partition: Partition) -> set[object]:
    return {pair for chain in partition for pair in combinations(chain, 2)}


@pytest.mark.parametrize("block", range(8))
def test_prices_are_those_of_the_best_opposite(block: int) -> None:
    impossible = positive = 0
    for instance, solution in instances(range(block * 30, block * 30 + 30), mentions=7):
        for flip, price in prices(instance, solution):
            assert flip.exact and flip.price == price, (instance, flip)
            impossible, positive = impossible + (price is None), positive + bool(price)
    assert impossible and positive


@pytest.mark.parametrize("block", range(4))
def test_prices_of_dense_documents(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the estimate for dense documents offers must decide the pair the other way, too."""
    monkeypatch.setattr(estimate, "MANY", 0)
    monkeypatch.setattr(estimate, "DENSE", 0.0)
    for instance, solution in instances(range(4000 + block * 30, 4030 + block * 30), mentions=7):
        for flip, price in prices(instance, solution):
            assert flip.exact and flip.price == price, (instance, flip)


def test_prices_with_eight_mentions() -> None:
    for instance, solution in instances(range(1000, 1025), mentions=8):
        for flip, price in prices(instance, solution):
            assert flip.exact and flip.price == price


def test_no_time_gives_a_bound_on_the_price() -> None:
    for instance, solution in instances(range(2000, 2060), mentions=7):
        pairs = list(combinations(instance.mentions, 2))
        hasty = flip_prices(instance, solution, pairs, Limits(seconds=0))
        for flip, exact in zip(hasty, flip_prices(instance, solution, pairs, Limits()), strict=True):
            assert flip.together == exact.together
            if flip.exact or flip.price is None:
                assert flip.price == exact.price
            else:
                assert exact.price is None or 0 <= flip.price <= exact.price


def test_prices_stay_right_while_decisions_come_and_go() -> None:
    for instance, _ in instances(range(3000, 3030), mentions=6):
        solver, random = IncrementalSolver(instance), Random(5)
        for _ in range(3):
            decisions = (
                random_decisions(random, list(instance.mentions)) if instance.mentions else Decisions()
            )
            solution = solver.decide(decisions)
            now = solver.instance
            if solution.status is Status.OPTIMAL:
                pairs = list(combinations(now.mentions, 2))
                again = list(solver.flip_prices(now, solution, pairs, Limits()))
                assert again == list(flip_prices(now, solution, pairs, Limits()))


def test_a_price_ends_at_its_limit_where_the_dive_finds_no_solution() -> None:
    """Without a limit for the dive, this one takes minutes."""
    folder = Path(__file__).parents[3] / "examples/tales/miller"
    [annotations], _ = by_document(read_all(sorted(folder.glob("*.conll"))))
    instance = Settings().instance(annotations, Decisions())
    solution = solve(instance, Limits())
    [found] = flip_prices(instance, solution, [(Span(19, 20), Span(148, 148))], Limits(seconds=0.1))
    assert not found.together and not found.exact and found.price is not None
