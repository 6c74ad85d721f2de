"""Every engine and encoding gives the same answers as brute force on random small instances."""

import random
from dataclasses import replace

import pytest

from caspr.adjudication import adjudicate_document
from caspr.engines import Engine, brute, choose
from caspr.proof.certify import certify
from caspr.task.contradictions import feasible
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.settings import Settings
from caspr.task.solution import Solution, Status
from caspr.text.document import Chain
from tests.engines.asp.wasp import with_wasp
from tests.instances import annotation, random_instance
from tests.sweeps import how_many

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


@pytest.mark.parametrize("block", range(10))
def test_clingo_mm(block: int) -> None:
    _, engine = choose("clingo", "mm")
    for instance in instances(block, 80):
        expected = brute.solve(instance, ALL)
        solution = engine(instance, ALL, silent)
        certify(instance, solution)
        compare(solution, expected)


@pytest.mark.parametrize("block", range(10, 16))
def test_clingo_cm(block: int) -> None:
    _, engine = choose("clingo", "cm")
    for instance in instances(block, 80):
        check(engine, instance)


def check(engine: Engine, instance: Instance) -> None:
    solution = engine(instance, ALL, silent)
    certify(instance, solution)
    compare(solution, brute.solve(instance, ALL))


@pytest.mark.parametrize("block", range(16, 20))
def test_native_agrees_with_clingo_beyond_brute_force(block: int) -> None:
    native, clingo = choose("native")[1], choose("clingo", "mm")[1]
    rng = random.Random(block)
    for size in (12, 16, 20, 24):
        instance = random_instance(rng, mentions=size, tokens=size, decisions=rng.random() < 0.4)
        solution, expected = native(instance, Limits(), silent), clingo(instance, Limits(seconds=5), silent)
        certify(instance, solution)
        assert expected.bound <= solution.value <= expected.value
        assert solution.status in (expected.status, Status.OPTIMAL)


def many_pairs(pairs: int) -> Instance:
    """Make an instance whose optimum has more chains than any annotator: each gives one pair."""
    tokens = 2 * pairs
    links = [annotation(f"a{n}", [[(2 * n - 1,) * 2, (2 * n,) * 2]], tokens) for n in range(1, pairs + 1)]
    return Instance(tuple(links), OBJECTIVES["u"])


@pytest.fixture
def three_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower CM's least limit: proving that pigeons do not fit into ten holes takes too long."""
    monkeypatch.setattr("caspr.engines.asp.program.LEAST_CHAIN_LIMIT", 3)


@pytest.mark.usefixtures("three_chains")
@pytest.mark.parametrize("limits", [Limits(), ALL])
def test_cm_is_worse_only_where_its_limit_binds_and_says_so(limits: Limits) -> None:
    _, cm = choose("clingo", "cm")
    enough = cm(many_pairs(3), limits, silent)
    assert (enough.value, enough.status, enough.findings) == (0, Status.OPTIMAL, ())
    instance = many_pairs(5)
    bound = cm(instance, limits, silent)
    certify(instance, bound)
    assert (bound.value, bound.bound, bound.status) == (4, 0, Status.FEASIBLE)
    assert [finding.code for finding in bound.findings] == ["chain-limit"]
    assert not bound.complete
    assert choose("clingo", "mm")[1](instance, limits, silent).value == 0


@pytest.mark.usefixtures("three_chains")
def test_cm_raises_its_limit_where_decisions_leave_no_solution_within_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("caspr.engines.asp.solve.chain_limit", lambda _: 3)
    chains = [Chain.of(str(token), [(token, token)]) for token in (1, 3, 5, 7)]
    instance = replace(many_pairs(5), decisions=Decisions.of(chains))
    solution = choose("clingo", "cm")[1](instance, Limits(), silent)
    certify(instance, solution)
    assert solution.value == 0


@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_gringo_clasp(encoding: str) -> None:
    _, engine = choose("gringo-clasp", encoding)
    for instance in instances(21, how_many(12, 4)):
        check(engine, instance)


@with_wasp
@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_gringo_wasp(encoding: str, wasp: None) -> None:
    _, engine = choose("gringo-wasp", encoding)
    for instance in instances(22, how_many(8, 3)):
        check(engine, instance)


@pytest.mark.parametrize("block", range(30, 36))
def test_contradictions_are_exactly_the_infeasible_instances(block: int) -> None:
    rng = random.Random(block)
    for _ in range(150):
        instance = random_instance(rng, mentions=6, decisions=True, odd=True)
        solvable = brute.solve(instance, Limits()).status is not Status.INFEASIBLE
        assert feasible(instance, instance.decisions) == solvable


@pytest.mark.parametrize("invent", [0, 1])
@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_mentions_enforced_together_are_connected_by_links(invent: int, encoding: str) -> None:
    """A number of a chain connects nothing: with forced votes, somebody's links have to."""
    annotations = (
        annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5), (6, 6)]]),
        annotation("b", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]]),
    )
    together = Statement.of(StatementKind.TOGETHER, [(1, 1), (3, 3), (5, 5)])
    decisions = Decisions.of(statements=[together])
    settings = Settings(Objective(2, 1, invent), encoding=encoding, forced_votes=True)
    values = {
        engine: adjudicate_document(annotations, decisions, replace(settings, engine=engine)).value
        for engine in ("brute", "clingo", "native")
    }
    assert len(set(values.values())) == 1, values
