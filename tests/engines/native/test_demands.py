"""Mentions that must exist: value, optima and certificates are right, by brute force and by clingo."""

import json
from dataclasses import replace
from random import Random

import pytest

from caspr.engines import brute
from caspr.engines.native import solve
from caspr.engines.native.incremental import IncrementalSolver
from caspr.engines.native.proof_writer import prove_optimal
from caspr.proof.certify import certify
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance, Singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Status
from tests.engines.native.random_instances import needy_instance
from tests.engines.native.test_against_clingo import compare_with_clingo, random_document

EVERYTHING = Limits(solutions=1_000_000)


@pytest.mark.parametrize("block", range(12))
def test_value_and_certificate_are_right(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        instance = needy_instance(seed)
        ours, theirs = solve(instance, Limits()), brute.solve(instance, Limits())
        certify(instance, ours)
        assert (ours.status, ours.value, ours.bound) == (theirs.status, theirs.value, theirs.bound), seed
        if ours.status is Status.OPTIMAL:
            written = prove_optimal(instance, ours, Limits())
            assert written is not None, seed
            assert verify(json.loads(json.dumps(written)), instance) == ours.value, seed


@pytest.mark.parametrize("block", range(6))
def test_all_optima_are_those_of_brute_force(block: int) -> None:
    for seed in range(50_000 + block * 100, 50_100 + block * 100):
        instance = needy_instance(seed, mentions=7)
        ours, theirs = solve(instance, EVERYTHING), brute.solve(instance, EVERYTHING)
        assert (ours.value, set(ours.partitions)) == (theirs.value, set(theirs.partitions)), seed
        assert ours.complete


def larger(seed: int) -> Instance:
    """Make a noisy document of some 20 to 40 mentions, several of which must exist."""
    base, random = random_document(2 * seed), Random(f"exists {seed}")
    candidates = [mention for mention in base.mentions if base.votes.neighbours(mention)]
    chosen = random.sample(candidates, min(len(candidates), random.randint(2, 6)))
    statements = [Statement.of(StatementKind.EXISTS, [mention]) for mention in chosen]
    objective = random.choice(list(OBJECTIVES.values()))
    decisions = Decisions.of([], [], statements)
    return replace(base, decisions=decisions, objective=objective, singletons=Singletons.DROP)


@pytest.mark.parametrize("block", range(6))
def test_value_is_that_of_clingo(block: int) -> None:
    compare_with_clingo(map(larger, range(block * 6, block * 6 + 6)))


@pytest.mark.parametrize("seed", [3, 8])
def test_the_same_decisions_give_the_same_chains_whatever_was_decided_before(seed: int) -> None:
    instance = larger(seed)
    statements = instance.decisions.statements
    solver = IncrementalSolver(replace(instance, decisions=Decisions()))
    solver.solve()
    for order in (statements, statements[::-1]):
        for number in range(1, len(statements) + 1):
            decisions = Decisions.of([], [], order[:number])
            clicked = solver.decide(decisions)
            scratch = solve(replace(instance, decisions=decisions), Limits())
            assert clicked.partitions == scratch.partitions
            assert (clicked.value, clicked.bound) == (scratch.value, scratch.bound)
            certify(solver.instance, clicked)
