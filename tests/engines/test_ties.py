"""All engines return the same of several optima, whatever the order of annotators."""

import random
from collections.abc import Iterator, Mapping

import pytest

from caspr.engines import brute, choose
from caspr.engines.asp import solve as asp
from caspr.engines.native import Memory, solve_with
from caspr.engines.native.partition.watch import ExpiredError
from caspr.formats.registry import FORMATS
from caspr.proof.certify import certify
from caspr.result import make_gold, number_chains
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Solution, Status
from caspr.task.ties import rank
from caspr.text.document import Span
from tests.engines.asp.wasp import with_wasp
from tests.engines.native import random_instances
from tests.instances import annotation, permuted, random_instance
from tests.sweeps import how_many

ONE = Limits()
ALL = Limits(solutions=1_000_000)


def instances(block: int, count: int) -> Iterator[Instance]:
    """Make small instances of all kinds, with decisions and without."""
    for number in range(count):
        seed = 1_000 * block + number
        rng = random.Random(seed)
        yield random_instance(rng, mentions=7, decisions=rng.random() < 0.5, odd=rng.random() < 0.5)
        yield from (
            instance
            for instance in (random_instances.random_instance(seed), random_instances.needy_instance(seed))
            if len(instance.mentions) <= 8
        )


def written(instance: Instance, solution: Solution) -> str | Mapping[str, str | bytes]:
    """Return the file that a solution is written to."""
    if not solution.partitions:
        return {}
    chained = {mention for chain in solution.partitions[0] for mention in chain}
    alone = tuple((mention,) for mention in instance.kept_alone - chained)
    chains = number_chains((*solution.partitions[0], *alone), instance.decisions)
    gold = make_gold(instance.annotations[0].document, chains, instance.annotations)
    return FORMATS["conll"].write([gold])


def check(instance: Instance, name: str, encoding: str = "mm") -> None:
    """Compare what an engine returns with brute force."""
    expected, solution = brute.solve(instance, ONE), choose(name, encoding)[1](instance, ONE, silent)
    certify(instance, solution)
    assert (solution.status, solution.value, solution.bound) == (
        expected.status,
        expected.value,
        expected.bound,
    )
    assert solution.partitions == expected.partitions
    assert written(instance, solution) == written(instance, expected)
    assert not solution.findings


@pytest.mark.parametrize("block", range(20))
def test_native(block: int) -> None:
    for instance in instances(block, how_many(100, 25)):
        check(instance, "native")


@pytest.mark.parametrize("encoding", ["mm", "cm"])
@pytest.mark.parametrize("block", range(20, 28))
def test_clingo(block: int, encoding: str) -> None:
    for instance in instances(block, how_many(50, 5)):
        check(instance, "clingo", encoding)


@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_gringo_clasp(encoding: str) -> None:
    for instance in instances(30, how_many(5, 1)):
        check(instance, "gringo-clasp", encoding)


@with_wasp
def test_gringo_wasp() -> None:
    for instance in instances(31, how_many(3, 1)):
        check(instance, "gringo-wasp")


@pytest.mark.parametrize("block", range(40, 45))
def test_the_order_of_annotators_does_not_matter(block: int) -> None:
    rng = random.Random(block)
    for instance in instances(block, how_many(60, 8)):
        order = rng.sample(range(len(instance.annotations)), len(instance.annotations))
        other = permuted(instance, order)
        for engine in ("native", "brute"):
            solve = choose(engine)[1]
            one, two = solve(instance, ONE, silent), solve(other, ONE, silent)
            assert one.partitions == two.partitions
            assert written(instance, one) == written(other, two)


@pytest.mark.parametrize("block", range(50, 54))
def test_the_result_is_the_first_of_all_that_are_listed(block: int) -> None:
    for instance in instances(block, how_many(60, 8)):
        for limits in (ALL, Limits(solutions=2)):
            every, alone = (choose("native")[1](instance, limit, silent) for limit in (limits, ONE))
            assert every.partitions[:1] == alone.partitions
            assert list(every.partitions) == sorted(every.partitions, key=rank)


def tied() -> Instance:
    """Make an instance with two optima: three annotators, and a link that one gave."""
    chains = ([[(1, 1), (2, 2)]], [[(2, 2), (3, 3)]], [[(2, 2), (3, 3)], [(4, 4), (5, 5)]])
    return Instance(tuple(annotation(f"a{n}", chain) for n, chain in enumerate(chains)), OBJECTIVES["v"])


def test_a_link_that_one_of_three_gave_is_not_in_the_result() -> None:
    for name in ("native", "clingo", "brute"):
        solution = choose(name)[1](tied(), ALL, silent)
        assert solution.partitions == (
            ((Span(2, 2), Span(3, 3)),),
            ((Span(2, 2), Span(3, 3)), (Span(4, 4), Span(5, 5))),
        )


@pytest.mark.parametrize("error", [ExpiredError, KeyboardInterrupt])
def test_a_limit_among_ties_keeps_the_proven_optimum(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr("caspr.engines.native.ties.decide_ties", interrupted)
    solution = solve_with(tied(), ONE, memory=Memory())
    certify(tied(), solution)
    assert solution.status is Status.OPTIMAL
    assert [finding.code for finding in solution.findings] == ["ties-open"]


@pytest.mark.parametrize("end", [asp.End.TIME, asp.End.MEMORY, asp.End.INTERRUPT])
def test_a_limit_in_the_second_pass_keeps_the_proven_optimum(end: asp.End) -> None:
    passes: list[asp.Run] = []

    def backend(run: asp.Run) -> Iterator[asp.Event]:
        passes.append(run)
        if len(passes) == 1:
            return asp.in_process(run)
        return iter([end])

    solution = asp._solve(backend, "mm", tied(), ONE, silent)
    certify(tied(), solution)
    assert (len(passes), solution.status, solution.stop) == (2, Status.OPTIMAL, end.value)
    assert [finding.code for finding in solution.findings] == ["ties-open"]


def test_cm_says_that_its_limit_of_chains_leaves_ties_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caspr.engines.asp.program.LEAST_CHAIN_LIMIT", 1)
    same = [annotation(f"a{n}", [[(1, 1), (2, 2)]]) for n in range(2)]
    more = annotation("c", [[(1, 1), (2, 2), (3, 3), (4, 4)]])
    instance = Instance((*same, more), OBJECTIVES["v"])
    solution = choose("clingo", "cm")[1](instance, ONE, silent)
    assert solution.status is Status.FEASIBLE or [f.code for f in solution.findings] == ["ties-open"]


def test_cm_connects_what_a_decision_that_counts_as_a_vote_holds_together() -> None:
    """Two groups with one number are no chain, even if leaving their link unused is cheaper."""
    annotators = [annotation(f"a{n}", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]]) for n in range(6)]
    together = Decisions.of([], [], [Statement.of(StatementKind.TOGETHER, [(1, 1), (3, 3)])])
    instance = Instance(tuple(annotators), OBJECTIVES["va"], together, forced_votes=True)
    check(instance, "clingo", "cm")
    check(instance, "clingo", "mm")
