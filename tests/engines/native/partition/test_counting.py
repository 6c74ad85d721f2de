"""Optima are counted as exhaustive search counts them, and as mathematics says where there are too many."""

from itertools import count, islice
from math import comb
from random import Random

import numpy as np
import pytest

from caspr.engines import brute
from caspr.engines.native import solve
from caspr.engines.native.partition.exhaustive import enumerate_optima
from caspr.engines.native.partition.optima import Budget, Census, GaveUpError, OptimaSet, all_optima, combine
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.watch import Watch
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.text.document import Annotation, Chain, Document
from tests.instances import annotation


def tying_problem(random: Random, size: int) -> Problem:
    """Make a problem with many zeros, some nodes of which are alike."""
    low, high = random.choice([(0, 0), (0, 1), (-1, 1), (-2, 3)])
    share, kinds = random.random(), [random.randrange(4) for _ in range(size)]
    gains, forbidden = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=bool)
    alike = random.random() < 0.5
    drawn: dict[object, tuple[bool, int]] = {}
    for one in range(size):
        for other in range(one):
            pair = tuple(sorted((kinds[one], kinds[other]))) if alike else (one, other)
            new = (random.random() < share, random.randint(low, high))
            apart, gain = drawn.setdefault(pair, new)
            forbidden[one, other] = forbidden[other, one] = apart
            gains[one, other] = gains[other, one] = 0 if apart else gain
    return Problem(gains, forbidden)


@pytest.mark.parametrize("block", range(5))
def test_counts_and_lists_what_exhaustive_search_does(block: int) -> None:
    random = Random(block)
    for _ in range(120):
        problem = tying_problem(random, random.randint(1, 8))
        optima = enumerate_optima(problem, limit=10**6)
        assert optima is not None
        census = Census(problem, 10**6)
        best = census.whole()
        assert (best.value, best.ways) == (optima.value, optima.count)
        listed = {frozenset(map(frozenset, clusters)) for clusters in census.clusterings()}
        assert len(listed) == best.ways


@pytest.mark.parametrize("seed", range(3, 20))
def test_larger_components_are_counted_like_exhaustive_search(seed: int) -> None:
    problem = tying_problem(Random(seed), 10)
    optima = enumerate_optima(problem, limit=10**6)
    assert optima is not None
    found = all_optima(problem, optima.value, Budget(Watch(), 10**6))
    assert found.complete and set(found.listed) == set(optima.clusterings)


def test_too_many_steps_are_given_up() -> None:
    problem = tying_problem(Random(3), 9)
    census = Census(problem, 2)
    with pytest.raises(GaveUpError):
        census.whole()


def test_counting_is_given_up_at_every_look() -> None:
    problem, looks = tying_problem(Random(3), 9), count()
    Census(problem, 10**6, Watch(cancelled=lambda: next(looks) < 0))
    begun = next(looks)
    assert begun >= problem.size
    for moment in range(begun):
        calls = count()
        with pytest.raises(GaveUpError):
            Census(problem, 10**6, Watch(cancelled=lambda: next(calls) >= moment))  # noqa: B023


def test_no_more_than_one_choice_is_listed_without_time() -> None:
    independent, looks = [OptimaSet("ab", 2), OptimaSet("xyz", 3)], count()
    assert combine(independent, 10, Watch(deadline=0.0)) == OptimaSet((("a", "x"),), 6, 6)
    some = combine(independent, 10, Watch(cancelled=lambda: next(looks) >= 3))
    assert (len(some.listed), some.count, some.complete) == (4, 6, False)


@pytest.mark.parametrize("size", [9, 40, 200])
def test_a_long_path_of_ties_is_counted(size: int) -> None:
    # Every set of pairs that do not touch is an optimum: Fibonacci's numbers.
    gains, forbidden = np.zeros((size, size), dtype=np.int64), ~np.eye(size, dtype=bool)
    place = np.arange(size - 1)
    forbidden[place, place + 1] = forbidden[place + 1, place] = False
    ways = [1, 1]
    for _ in range(size - 1):
        ways.append(ways[-1] + ways[-2])
    census = Census(Problem(gains, forbidden), 10**6)
    assert census.whole().ways == ways[-1]
    listed = list(islice(census.clusterings(), 30))
    assert len(set(listed)) == 30


def one_of_three(mentions: int) -> Instance:
    """Make a chain that one of three annotators gave: under V each of its links may be there or not."""
    document = Document("d", ("w",) * mentions)
    chain = Chain.of("1", [(token, token) for token in range(1, mentions + 1)])
    chains: list[list[Chain]] = [[chain], [], []]
    return Instance(
        tuple(Annotation.of(f"a{number}", document, given) for number, given in enumerate(chains)),
        OBJECTIVES["v"],
    )


def partitions(size: int) -> int:
    """Return in how many ways a set can be partitioned (Bell's numbers)."""
    found = [1]
    for number in range(size):
        found.append(sum(comb(number, chosen) * found[chosen] for chosen in range(number + 1)))
    return found[size]


@pytest.mark.parametrize("mentions", [2, 9, 10, 25])
def test_a_link_that_makes_no_difference_may_be_there_or_not(mentions: int) -> None:
    solution = solve(one_of_three(mentions), Limits(solutions=5))
    assert solution.count == solution.at_least == partitions(mentions)
    assert len(solution.partitions) == min(5, partitions(mentions))


@pytest.mark.parametrize("seed", range(60))
def test_three_annotators_under_v_and_va(seed: int) -> None:
    random = Random(seed)
    chains = [
        [random.sample([(token, token) for token in range(1, 9)], random.randint(2, 5)) for _ in range(2)]
        for _ in range(3)
    ]
    annotations = tuple(annotation(f"a{number}", given, 8) for number, given in enumerate(chains))
    instance = Instance(annotations, OBJECTIVES[random.choice(["v", "va"])])
    every = brute.solve(instance, Limits(solutions=10**6)).partitions
    ours = solve(instance, Limits(solutions=3))
    assert ours.count == ours.at_least == len(every)
    assert set(ours.partitions) <= set(every)


def test_what_cannot_be_counted_is_at_least_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "__init__", lambda self, watch, limit: _poor(self, watch, limit))
    two = one_of_three(12)
    solution = solve(two, Limits(solutions=5))
    assert solution.count is None and not solution.complete
    assert len(solution.partitions) <= solution.at_least <= partitions(12)


def _poor(budget: Budget, watch: Watch, limit: int) -> None:
    budget.watch, budget.limit, budget.branchings, budget.steps = watch, limit, 3, 4
