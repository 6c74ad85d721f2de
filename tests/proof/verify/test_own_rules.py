"""Forged proofs about instances with rules of one's own, each stopped by one check."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from caspr.engines.native import solve
from caspr.engines.native.prove import prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.text.document import Span
from tests.instances import annotation

RULE = Rule("ours.lp", 1, "a rule")
A, B, C, D, E = (Span(token, token) for token in range(1, 6))
LINKED = [[(1, 1), (2, 2), (5, 5)], [(3, 3), (4, 4)]]


def instance(*said: tuple[Effect, tuple[Span, ...], int], exists: Span | None = None) -> Instance:
    """Return two annotators who agree, under what a rule derived."""
    annotations = annotation("a", LINKED), annotation("b", LINKED)
    stated = () if exists is None else (Statement.of(StatementKind.EXISTS, [exists]),)
    rules = DerivedRules(tuple(Consequence(effect, spans, RULE, cost) for effect, spans, cost in said))
    return Instance(annotations, OBJECTIVES["va"], Decisions.of(statements=stated), rules=rules)


def proof_of(task: Instance) -> dict[str, Any]:
    solution = solve(task, Limits(certificate=True))
    proof = prove_optimal(task, solution, Limits())
    assert verify(proof, task) == solution.value
    return proof


def refused(task: Instance, message: str, forge: Callable[[dict[str, Any]], object]) -> None:
    """Check that a proof does not verify once it is forged."""
    proof = deepcopy(proof_of(task))
    forge(proof)
    with pytest.raises(EngineError, match=message):
        verify(proof, task)


def part_with(proof: dict[str, Any], node: list[list[int]]) -> dict[str, Any]:
    return next(part for part in proof["parts"] if node in part["nodes"])


CHARGED = (Effect.MENTION_COST, (A,), 3)
LEFT = (Effect.MENTION_COST, (C,), -9)


def test_markers_come_after_mentions_and_stand_for_one_each() -> None:
    refused(
        instance(CHARGED),
        "comes before",
        lambda proof: part_with(proof, [[-1, -1]])["nodes"].insert(0, [[-2, -2]]),
    )
    refused(
        instance(CHARGED), "several", lambda proof: part_with(proof, [[-1, -1]])["nodes"][-1].append([-2, -2])
    )
    refused(
        instance(CHARGED),
        "two markers",
        lambda proof: part_with(proof, [[-1, -1]])["nodes"].append([[-1, -1]]),
    )


def test_only_mentions_that_rules_charge_have_markers() -> None:
    refused(
        instance(CHARGED), "needless", lambda proof: part_with(proof, [[-1, -1]])["nodes"].append([[-3, -3]])
    )
    refused(
        instance(CHARGED, exists=A),
        "may not stay alone",
        lambda proof: part_with(proof, [[1, 1]])["nodes"].append([[-1, -1]]),
    )


def test_a_mention_that_gains_by_being_in_a_chain_is_in_a_part() -> None:
    def without(proof: dict[str, Any]) -> None:
        proof["parts"].remove(part_with(proof, [[3, 3]]))

    refused(instance(LEFT), "is in no part|gain are in no part", without)
    lonely = instance((Effect.TOGETHER_COST, (C, D), 90), LEFT)
    refused(lonely, "in no part", without)


def test_a_mention_that_need_not_pay_makes_no_demand() -> None:
    def demanding(proof: dict[str, Any]) -> None:
        part = part_with(proof, [[-1, -1]])
        part["demands"] = [part["nodes"].index([[1, 1]])]

    refused(instance(CHARGED), "need not have a partner", demanding)


def test_a_pair_that_gains_by_a_rule_is_within_a_part() -> None:
    def torn(proof: dict[str, Any]) -> None:
        proof["parts"] = [
            {"nodes": [[[1, 1]], [[2, 2]], [[5, 5]]], "proof": []},
            {"nodes": [[[3, 3]], [[4, 4]]], "proof": []},
        ]

    refused(instance((Effect.APART_COST, (B, C), 50)), "not within a part", torn)


def test_mentions_that_rules_charge_for_are_no_twins() -> None:
    def twins(proof: dict[str, Any]) -> None:
        part = next(part for part in proof["parts"] if any([1, 1] in node for node in part["nodes"]))
        part["nodes"] = [[[1, 1], [2, 2], [5, 5]]]
        part["proof"] = []

    refused(instance((Effect.TOGETHER_COST, (A, B), 9)), "not twins", twins)
    refused(instance(CHARGED), "not twins", twins)
    refused(instance((Effect.FORBID, (A, B), 0)), "not twins", twins)


def test_a_conflict_needs_a_rule() -> None:
    task = instance((Effect.FORBID, (A, B), 0))
    refused(task, "may share a chain", lambda proof: proof["conflicts"].append([[1, 1], [5, 5]]))


def test_costs_that_rules_do_not_charge_change_the_value() -> None:
    for said in (CHARGED, LEFT, (Effect.TOGETHER_COST, (A, B), 1), (Effect.APART_COST, (B, C), 3)):
        task = instance(said)
        proof = proof_of(task)
        with pytest.raises(EngineError):
            verify(proof, task.under(DerivedRules()))
