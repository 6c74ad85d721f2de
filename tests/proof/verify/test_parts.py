"""Forged parts: each is stopped by one check, and would prove a value that is too large without it."""

from dataclasses import replace

import pytest

from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.proof.verify.facts import Facts
from caspr.proof.verify.graph import ProofDemand
from caspr.proof.verify.parts import _bound_part
from caspr.task.decisions import Statement, StatementKind
from caspr.task.instance import Nesting
from caspr.task.objectives import Objective
from caspr.text.document import Span
from tests.proof.verify.forging import (
    Forgery,
    Plain,
    by_cases,
    case,
    optimum,
    part,
    proof,
    proves_the_optimum,
    refused,
    task,
)

TRIPLE = task([[1, 2, 3]], objective="u")
"""One annotator, one chain: it costs nothing, or 6 if all three mentions are apart."""
DEAR = task([[1, 3, 5]], [], objective=Objective(0, 1, None), chains=[[1, 3]], forced_votes=True)
"""An enforced chain whose two mentions lose 1 by being together: it costs 1, or 5 with mention 5."""


def test_a_true_proof_is_accepted() -> None:
    assert proves_the_optimum(TRIPLE, proof(part([1, 2, 3])))
    assert proves_the_optimum(TRIPLE, proof(part([1], [2], [3])))
    assert proves_the_optimum(DEAR, proof(part([1, 3])))
    assert proves_the_optimum(DEAR, proof(part([1, 3]), part([5])))


def test_parts_that_are_not_independent(forgery: Forgery) -> None:
    assert optimum(TRIPLE) == 0
    assert forgery(TRIPLE, proof(part([1]), part([2]), part([3])), "two parts are not independent", 6)


def test_one_pair_across_parts_that_gains_is_enough(forgery: Forgery) -> None:
    instance = task([[1, 2, 3]], [[1, 2, 4]], [])
    assert forgery(instance, proof(part([1]), part([2], [3], [4])), "two parts are not independent", 12)


def test_parts_between_which_nothing_gains_are_independent() -> None:
    instance = task([[1, 2, 3, 4]], [[1, 2]], [[3, 4]])
    assert proves_the_optimum(instance, proof(part([1], [2]), part([3], [4])))


def test_a_mention_in_two_parts(forgery: Forgery) -> None:
    assert forgery(DEAR, proof(*[part([1, 3])] * 5), "a mention is in two parts", 5)


def test_a_mention_in_two_nodes(forgery: Forgery) -> None:
    assert forgery(DEAR, proof(part(*[[1, 3]] * 5)), "a mention is in two nodes", 5)


def test_a_part_of_a_case_with_mentions_from_elsewhere(forgery: Forgery) -> None:
    chains = [[1, 3, 5], [7, 8], [10, 11]]
    instance = task(
        chains, [[10, 11]], objective=Objective(0, 1, None), chains=[[1, 3]], exists=[7], forced_votes=True
    )
    true = proof(part([1, 3]), by_cases([7, 8], [7], case([8], part([7, 8]))))
    assert proves_the_optimum(instance, true)
    false = proof(part([1, 3]), by_cases([7, 8], [7], case([8], part([7, 8]), part([1, 3]))))
    assert forgery(instance, false, "a part has a mention that does not belong there", 4)


def test_a_mention_that_gains_is_in_some_part(forgery: Forgery) -> None:
    assert forgery(TRIPLE, proof(), "mentions that gain are in no part", 6)


def test_a_mention_that_is_enforced_is_in_some_part(forgery: Forgery) -> None:
    instance = task([[1, 3, 5, 7]], [], [], [], chains=[[1, 3]])
    assert proves_the_optimum(instance, proof(part([1, 3])))
    assert forgery(instance, proof(), "is in no part", 12)


def test_a_mention_that_cannot_gain_is_in_a_part_or_not() -> None:
    instance = task([[1, 2]], [[3, 4]], [[3, 4]])
    assert proves_the_optimum(instance, proof(part([3], [4])))
    assert proves_the_optimum(instance, proof(part([3], [4]), part([1], [2])))
    assert proves_the_optimum(task([[1, 2]], [], []), proof())


def test_a_node_that_splits_a_bundle(forgery: Forgery) -> None:
    instance = task([[1, 3], [5, 6]], [], chains=[[1, 3]])
    false = proof(part([1], [3]), part([5], [6]))
    assert forgery(instance, false, "a node splits or extends a bundle", 2)


def test_a_node_that_extends_a_bundle(forgery: Forgery) -> None:
    instance = task([[1, 3, 5], [2, 4]], [[2, 3]], objective="ua", chains=[[1, 3]])
    false = proof(part([1, 3, 2], [5], [4]))
    assert forgery(instance, false, "a node splits or extends a bundle", 4)


TANGLE = task([[1, 3, 5], [2, 4]], [[2, 3]], objective="ua")


def test_twins_of_different_signatures(forgery: Forgery) -> None:
    star = {"shift": 0, "stars": [[1, 0, 1, 3]]}
    false = proof(part([3, 2], [1], [5], [4], proof=star))
    assert forgery(TANGLE, false, "the mentions of a node are not twins", 4)


def test_all_twins_have_the_signature_of_the_first() -> None:
    assert refused(TANGLE, proof(part([1, 5, 4], [3], [2])), "the mentions of a node are not twins")


def test_twins_that_a_conflict_distinguishes(forgery: Forgery) -> None:
    instance = task([[1, 2, 3, 4, 5, 6]], objective="u", apart=[1, 3])
    false = proof(part([1, 2], [3, 4, 5, 6]), conflicts=[[1, 3]])
    assert forgery(instance, false, "the mentions of a node are not twins", 16)


def test_twins_of_which_one_is_enforced(forgery: Forgery) -> None:
    instance = task([[1, 2, 5, 6, 7, 8]], objective="u", chains=[[5, 6, 7], [1, 8]])
    false = proof(part([2, 1, 8], [5, 6, 7]))
    assert forgery(instance, false, "the mentions of a node are not twins", 18)


def test_twins_that_lose_by_being_together(forgery: Forgery) -> None:
    instance = task([[1, 2]], [], [], [])
    assert forgery(instance, proof(part([1, 2])), "twins of a node do not gain", 3)


def test_twins_gain_more_than_nothing() -> None:
    assert refused(task([[1, 2]], [], []), proof(part([1, 2])), "twins of a node do not gain")


def test_an_empty_node() -> None:
    assert refused(TRIPLE, proof(part([1, 2, 3], [])), "malformed")


def test_a_conflict_that_is_none(forgery: Forgery) -> None:
    instance = task([[1, 2]], objective="u")
    assert forgery(instance, proof(part([1], [2]), conflicts=[[1, 2]]), "may share a chain", 2)


def test_nested_mentions_are_a_conflict_unless_they_are_allowed(forgery: Forgery) -> None:
    strict = task([[2, (1, 3)]], objective="u")
    without, with_conflict = proof(part([2], [(1, 3)])), proof(part([2], [(1, 3)]), conflicts=[[2, (1, 3)]])
    assert proves_the_optimum(strict, with_conflict) and optimum(strict) == 2
    loose = replace(strict, nested=Nesting.ALWAYS)
    assert proves_the_optimum(loose, without) and optimum(loose) == 0
    assert forgery(loose, with_conflict, "may share a chain", 2)


@pytest.mark.parametrize("pair", [[1, 3], [3, 1]])
def test_mentions_that_a_decision_separates_are_a_conflict(pair: list[int]) -> None:
    stated = task([[1, 3]], objective="u", apart=[1, 3])
    assert proves_the_optimum(stated, proof(part([1], [3]), conflicts=[pair])) and optimum(stated) == 2
    named = task([[1, 3], [2, 4]], objective="ua", chains=[[1, 2], [3, 4]])
    assert proves_the_optimum(named, proof(part([1, 2], [3, 4]), conflicts=[pair]))


def test_nodes_with_different_ids_are_apart_without_a_conflict() -> None:
    instance = task([[1, 2, 3, 4]], objective="u", chains=[[1, 2], [3, 4]])
    assert proves_the_optimum(instance, proof(part([1, 2], [3, 4]))) and optimum(instance) == 8


def test_nodes_with_an_id_may_be_with_nodes_without() -> None:
    instance = task([[1, 2, 3], [4, 5, 6]], objective="u", chains=[[1, 2], [4, 5]])
    assert proves_the_optimum(instance, proof(part([1, 2], [3], [4, 5], [6]))) and optimum(instance) == 0
    assert proves_the_optimum(instance, proof(part([3], [6], [1, 2], [4, 5])))


def test_a_conflict_keeps_only_its_two_nodes_apart() -> None:
    instance = task([[1, 2, 3]], objective="u", apart=[1, 3])
    assert proves_the_optimum(
        instance, proof(part([1], [2], [3], proof={"shift": 0, "stars": [[2, 1, 0, 2]]}), conflicts=[[1, 3]])
    )


def test_where_invent_is_forbidden_every_pair_across_nodes_needs_a_vote() -> None:
    instance = task([[1, 2], [3, 4]], objective="u", chains=[[1, 3]])
    assert proves_the_optimum(instance, proof(part([1, 3], [2], [4]))) and optimum(instance) == 4
    invented = task([[1, 2, 5], [3, 4]], objective="ua", chains=[[1, 3]])
    star = {"shift": 0, "stars": [[1, 0, 1, 2]]}
    assert proves_the_optimum(invented, proof(part([1, 3], [2], [4], [5], proof=star)))


def test_a_part_has_no_bound_if_a_demand_has_only_a_partner_that_a_conflict_keeps_apart() -> None:
    one, two = Span(1, 1), Span(2, 2)
    demands = {0: ProofDemand(0, (1,), (0,), ((0, 1),))}
    assert _bound_part(Facts(TRIPLE), [[one], [two]], [], [], {**demands}) == 2
    assert _bound_part(Facts(TRIPLE), [[one], [two]], [(one, two)], [], {**demands}) is None


def test_a_part_by_cases_that_splits_a_bundle() -> None:
    instance = task([[1, 3]], objective="u", chains=[[1, 3]])
    assert refused(instance, proof(by_cases([1], [1])), "a part splits mentions that must be together")


def test_the_value_is_what_the_chains_cost_and_what_is_proven() -> None:
    true = proof(part([1, 2, 3]))
    assert refused_with(true, 1, [[[1, 1], [2, 2], [3, 3]]]) == "the chains do not cost the value"
    assert refused_with(true, 6, []) == "it proves the bound 0, not the value 6"
    assert refused_with(true, 4, [[[1, 1], [2, 2]]]) == "it proves the bound 0, not the value 4"
    assert refused_with(true, 0, [[[1, 1]]]).startswith("chain 1 has fewer than two mentions")


def refused_with(given: Plain, value: int, chains: list[list[list[int]]]) -> str:
    with pytest.raises(EngineError) as caught:
        verify({"value": value, "chains": chains, **given}, TRIPLE)
    return str(caught.value).removeprefix("certificate: ")


def test_a_conflict_may_be_with_a_mention_of_another_part() -> None:
    for pair in ([1, 3], [3, 1]):
        instance = task([[1, 2], [3, 4]], objective="u", apart=[1, 3])
        assert proves_the_optimum(instance, proof(part([1], [2]), part([3], [4]), conflicts=[pair]))


def test_where_annotators_saw_different_parts_pairs_that_nobody_linked_differ() -> None:
    """Nobody saw both 1 and 9, so they are together for nothing, where others would pay."""
    seen = (Span(1, 6),), (Span(4, 20),), (Span(1, 6),)
    instance = replace(task([[1, 5]], [[5, 9]], [[1, 5]], objective="va"), seen=seen)
    assert optimum(instance) == 0
    assert proves_the_optimum(
        instance, proof(part([1], [5], [9], proof={"shift": 0, "stars": [[1, 1, 0, 2]]}))
    )


def test_a_case_that_cannot_be_is_left_out() -> None:
    """3 is with 2 or 4, but 1 needs 2 and is kept apart from 3."""
    instance = task([[1, 2], [2, 3], [3, 4]], [], [], exists=[1, 3], apart=[1, 3])
    cases = [
        case([2], part([1], [3, 2], [4], demands=[0])),
        case([4], part([1], [2], [3, 4], demands=[0])),
    ]
    assert proves_the_optimum(instance, proof(by_cases([1, 2, 3, 4], [3], *cases)))


def test_a_partner_in_conflicts_is_a_node_of_its_own() -> None:
    instance = task([[1, 2, 3], [6, 7]], objective="va", exists=[1], apart=[2, 6])
    more = Statement.of(StatementKind.APART, [(3, 3), (6, 6)])
    stated = replace(instance.decisions, statements=(*instance.decisions.statements, more))
    false = proof(part([1], [2, 3], [6], [7], demands=[0]), conflicts=[[2, 6], [3, 6]])
    assert refused(replace(instance, decisions=stated), false, "a partner is not a node of its own")
