"""Forged proofs about instances with rules of one's own, each stopped by one check."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from caspr.engines.native import solve
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.proof.verify.facts import Facts
from caspr.proof.verify.parts import _gain_alone, _graph
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance, Singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.text.document import Span
from tests.instances import annotation
from tests.proof.verify.forging import optimum, part, proof, proves_the_optimum, task
from tests.proof.verify.forging import refused as plainly_refused

RULE = Rule("ours.lp", 1, "a rule")
A, B, C, D, E = (Span(token, token) for token in range(1, 6))
LINKED = [[(1, 1), (2, 2), (5, 5)], [(3, 3), (4, 4)]]


Said = tuple[Effect, tuple[Span, ...], int]


def derived(*said: Said) -> DerivedRules:
    return DerivedRules(tuple(Consequence(effect, spans, RULE, cost) for effect, spans, cost in said))


def instance(*said: Said, exists: Span | None = None, together: tuple[Span, ...] = ()) -> Instance:
    """Return two annotators who agree, under what a rule derived."""
    annotations = annotation("a", LINKED), annotation("b", LINKED)
    stated = () if exists is None else (Statement.of(StatementKind.EXISTS, [exists]),)
    if together:
        stated = (*stated, Statement.of(StatementKind.TOGETHER, together))
    return Instance(annotations, OBJECTIVES["va"], Decisions.of(statements=stated), rules=derived(*said))


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


def test_a_marker_is_of_a_mention_that_its_part_has_and_that_rules_charge() -> None:
    task = instance(CHARGED, LEFT)

    def marked(mention: list[int], part: list[int]) -> Callable[[dict[str, Any]], object]:
        return lambda proof: part_with(proof, [part])["nodes"].append([mention])

    refused(task, r"marker of \(3, 3\) is needless", marked([-3, -3], [1, 1]))
    refused(task, r"marker of \(2, 2\) is needless", marked([-2, -2], [1, 1]))
    refused(task, r"marker of \(0, 0\) is needless", marked([0, 0], [1, 1]))


@pytest.mark.parametrize("singletons", [Singletons.DROP, Singletons.VOTE])
def test_a_mention_that_must_be_with_others_has_no_marker(singletons: Singletons) -> None:
    task = replace(instance(CHARGED, together=(A, B)), singletons=singletons)
    refused(
        task,
        "may not stay alone",
        lambda proof: part_with(proof, [[1, 1], [2, 2]])["nodes"].append([[-1, -1]]),
    )


@pytest.mark.parametrize(
    ("cost", "exists", "marked", "gained"),
    [
        (-9, False, False, 9),
        (-9, False, True, 9),
        (9, False, False, 0),
        (9, False, True, -9),
        (9, True, False, -9),
        (0, False, False, 0),
    ],
)
def test_what_a_mention_gains_in_a_chain_counts_unless_it_may_lose_it_alone(
    cost: int, exists: bool, marked: bool, gained: int
) -> None:
    facts = Facts(instance((Effect.MENTION_COST, (A,), cost), exists=A if exists else None))
    assert _gain_alone(facts, [[B], [A]], {A: (1, 2)} if marked else {}) == gained
    assert _gain_alone(facts, [[A, B]], {}) == 0


def test_a_mention_that_gains_only_by_being_in_a_chain_is_in_a_part() -> None:
    """Nobody gains by being with 3, but it gains by being with somebody."""
    ruled = task([[3, 4]], [], [], []).under(derived(LEFT))
    assert optimum(ruled) == 3
    proof_of(ruled)
    assert plainly_refused(ruled, proof(), "(3, 3) is in no part")


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


def test_partners_that_rules_distinguish_are_nodes_of_their_own() -> None:
    """1 must be with 2 or with 3, which three annotators did not say; 3 costs 5 more."""
    ruled = task([[1, 2, 3]], [], [], [], exists=[1]).under(derived((Effect.MENTION_COST, (C,), 5)))
    proof_of(ruled)
    without = part([1], [3], [(-3, -3)], demands=[0])
    assert plainly_refused(ruled, proof(without), "too few partners are nodes of their own")


def test_pairs_inside_a_node_are_no_pairs_of_nodes() -> None:
    ruled = instance((Effect.APART_COST, (A, B), 5), (Effect.APART_COST, (A, C), 5), together=(A, B))
    graph = _graph(Facts(ruled), [[A, B], [C], [D]], [(A, B), (A, D)])
    assert graph.rows[0].keys() == {1, 2}
    assert graph.gain(0, 2) is None


def test_twins_stay_twins_if_a_rule_charges_for_what_votes_forbid() -> None:
    """Nobody linked 1 or 2 with 4, so that no rule need tell them apart."""
    charged = derived((Effect.TOGETHER_COST, (A, D), 3))
    ruled = task([[1, 2]], [[4, 5]], objective="u").under(charged)
    assert Facts(ruled).ruled({A, B, D}) == set()
    assert proves_the_optimum(ruled, proof(part([1, 2]), part([4, 5])))
    given = task([[1, 2]], [[4, 5]], objective="ua").under(charged)
    assert Facts(given).ruled({A, B, D}) == {A, D}
