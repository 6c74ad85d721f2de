"""Every engine and encoding gives the same answers as brute force on random small instances."""

import random

import pytest

from caspr.certify import certify
from caspr.contradictions import feasible
from caspr.engines import Engine, brute, choose
from caspr.instance import Instance
from caspr.limits import Limits, silent
from caspr.solution import Solution, Status
from caspr.votes import count_votes
from tests.engines.wasp import with_wasp
from tests.instances import random_instance

ALL = Limits(solutions=1_000_000)


def compare(solution: Solution, expected: Solution) -> None:
    assert (solution.status, solution.value, solution.bound) == (
        expected.status,
        expected.value,
        expected.bound,
    )
    assert solution.partitions == expected.partitions
    assert solution.complete


def instances(seed: int, count: int, mentions: int = 6) -> list[Instance]:
    rng = random.Random(seed)
    return [
        random_instance(rng, mentions=mentions, decisions=rng.random() < 0.5, odd=rng.random() < 0.5)
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_clingo_mm(seed: int) -> None:
    _, engine = choose("clingo", "mm")
    for instance in instances(seed, 80):
        expected = brute.solve(instance, ALL)
        solution = engine(instance, ALL, silent)
        certify(instance, solution)
        compare(solution, expected)


@pytest.mark.parametrize("seed", range(10, 16))
def test_clingo_cm_is_worse_only_where_its_limit_binds(seed: int) -> None:
    _, engine = choose("clingo", "cm")
    for instance in instances(seed, 80):
        check_cm(engine, instance)


def check_cm(engine: Engine, instance: Instance) -> None:
    expected = brute.solve(instance, ALL)
    solution = engine(instance, ALL, silent)
    certify(instance, solution)
    if solution.findings:
        assert solution.findings[0].code == "chain-limit"
        assert solution.value >= expected.value >= solution.bound
    else:
        compare(solution, expected)


def test_cm_says_that_its_limit_binds() -> None:
    worse = 0
    _, engine = choose("clingo", "cm")
    for instance in instances(99, 150, mentions=8):
        solution = engine(instance, Limits(), silent)
        if solution.status is not Status.INFEASIBLE and solution.value > brute.solve(instance, ALL).value:
            worse += 1
            assert solution.status is Status.FEASIBLE
            assert [finding.code for finding in solution.findings] == ["chain-limit"]
    assert worse, "no instance where the limit binds: the test tests nothing"


@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_gringo_clasp(encoding: str) -> None:
    _, engine = choose("gringo-clasp", encoding)
    for instance in instances(21, 12):
        check_cm(engine, instance)


@with_wasp
@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_gringo_wasp(encoding: str, wasp: None) -> None:
    _, engine = choose("gringo-wasp", encoding)
    for instance in instances(22, 8):
        check_cm(engine, instance)


@pytest.mark.parametrize("seed", range(30, 36))
def test_contradictions_are_exactly_the_infeasible_instances(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        instance = random_instance(rng, mentions=6, decisions=True, odd=True)
        solvable = brute.solve(instance, Limits()).status is not Status.INFEASIBLE
        assert feasible(instance, instance.decisions, count_votes(instance.annotations)) == solvable
