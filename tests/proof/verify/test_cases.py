"""Forged proofs by cases: each is stopped by one check, most would prove too large a value without it."""

from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.proof import verify as package
from caspr.task.instance import Instance, Nesting, Singletons
from tests.proof.verify.forging import (
    Forgery,
    Mention,
    Plain,
    by_cases,
    case,
    claimed,
    optimum,
    part,
    proof,
    proves_the_optimum,
    refused,
    task,
)

HELD = task([[1, 2]], [[2, 3]], *[[[4, 5]]] * 6, objective="va", chains=[[1, 3]], forced_votes=True)
"""Mentions 1 and 3 must be in one chain, where every link costs 5 more used than unused."""
ELSEWHERE = part([4], [5])
LONE = task([[1, 2, 4]], [], [], [], exists=[1])
"""Mention 1 must be with 2 or with 4, which are alike, and loses 1 by either."""
WITH_TWO = by_cases([1, 2, 4], [1], case([2], part([1, 2], [4])))


def test_a_chain_is_connected_by_links_that_cost() -> None:
    cases = by_cases([1, 2, 3], [1], case([3], part([1, 3], [2])), case([2], part([1, 2, 3])))
    assert proves_the_optimum(HELD, proof(cases, ELSEWHERE)) and optimum(HELD) == 15


def test_a_link_is_charged_once(forgery: Forgery) -> None:
    """Charging the link of 1 and 3 three times would make it cost more than two links."""
    all_three = part([1, 2, 3])
    cases = part([1, 3])
    for _ in range(3):
        last = case([2], all_three)
        cases = by_cases([1, 2, 3], [1], case([3], cases), last)
    last["parts"] = [by_cases([1, 2, 3], [3], case([1], all_three), case([2], all_three))]
    assert forgery(HELD, proof(cases, ELSEWHERE), "a piece cuts through what is glued", 22)


def test_a_part_may_be_one_bundle() -> None:
    instance = task(*[[[4, 5]]] * 6, objective="va", chains=[[1, 3]], forced_votes=True)
    assert proves_the_optimum(instance, proof(by_cases([1, 3], [1], case([3], part([1, 3]))), ELSEWHERE))


def test_mentions_that_are_alike_need_one_case() -> None:
    assert proves_the_optimum(LONE, proof(WITH_TWO)) and optimum(LONE) == 7


def test_a_case_that_is_missing(forgery: Forgery) -> None:
    instance = task([[1, 2]], [[1, 4]], [[1, 4]], [], [], [], exists=[1])
    assert forgery(instance, proof(WITH_TWO), "the case of (4, 4) is missing", 9)


@pytest.mark.parametrize("decided", [{"apart": [4, 9]}, {"apart": [2, 9]}, {"exists": [1, 4]}], ids=str)
def test_mentions_that_a_decision_distinguishes_need_their_own_cases(decided: dict[str, Any]) -> None:
    instance = task([[1, 2, 4]], [], [], [], **{"exists": [1], **decided})
    assert refused(instance, proof(WITH_TWO), "the case of (4, 4) is missing")


NESTED: list[list[list[Mention]]] = [[[1, 2, 4]], [[(3, 5), 7]], [], []]
VOTED: list[list[list[Mention]]] = [[[1, 2, 4]], [[(3, 5), 2, 4]], [], []]


def test_mentions_that_a_nested_pair_distinguishes_need_their_own_cases() -> None:
    nested = by_cases([1, 2, 4, (3, 5)], [1], case([2], part([1, 2], [4], [(3, 5)])))
    missing = "the case of (4, 4) is missing"
    assert refused(task(*VOTED, exists=[1]), proof(nested), missing)
    assert refused(task(*VOTED, exists=[1], objective="va"), proof(nested), missing)
    assert refused(task(*NESTED, exists=[1], objective="va"), proof(nested, part([7])), missing)


def test_mentions_that_no_nested_pair_distinguishes_need_one_case() -> None:
    assert proves_the_optimum(task(*NESTED, exists=[1]), proof(WITH_TWO))
    free = task(*NESTED, exists=[1], objective="va", nested=Nesting.ALWAYS)
    assert proves_the_optimum(free, proof(WITH_TWO))


def test_a_case_outside_its_part() -> None:
    outside = "a case is about a mention outside its part"
    assert refused(LONE, proof(by_cases([1, 2], [1], case([4], part([1, 4])))), outside)
    assert refused(LONE, proof(by_cases([1, 2, 4], [1], case([1], part([1], [2], [4])))), outside)


def test_everything_a_piece_can_be_linked_to_is_in_its_part() -> None:
    cases = by_cases([1, 2], [1], case([2], part([1, 2])))
    assert refused(LONE, proof(cases), "the case of (4, 4) reaches beyond its part")


def test_a_case_of_several_mentions(forgery: Forgery) -> None:
    cases = by_cases([1, 2, 4], [1], case([2, 4], part([1, 2, 4])))
    assert forgery(LONE, proof(cases), "a case is about several mentions", 9)


def test_a_case_of_mentions_that_nobody_linked() -> None:
    instance = task([[1, 2], [3, 4]], objective="ua", exists=[1])
    cases = by_cases([1, 2, 3, 4], [1], case([3], part([1, 3], [2], [4])))
    assert refused(instance, proof(cases), "a case is about mentions that nobody linked")


def test_a_piece_of_all_mentions_of_a_bundle(forgery: Forgery) -> None:
    instance = task([[1, 3, 5]], [], [], [], chains=[[1, 3]])
    cases = by_cases([1, 3, 5], [1, 3], case([5], part([1, 3, 5])))
    assert forgery(instance, proof(cases), "a piece need not be linked to anything", 6)


def test_a_piece_of_more_than_a_bundle(forgery: Forgery) -> None:
    cases = by_cases([1, 2, 4], [1, 2], case([4], part([1, 2, 4])))
    assert forgery(LONE, proof(cases), "a piece need not be linked to anything", 9)


@pytest.mark.parametrize(
    "instance",
    [
        task([[1, 2]], [], [], []),
        task([[1, 2]], [], [], [], exists=[1], singletons=Singletons.VOTE),
    ],
    ids=["not enforced", "may stay alone"],
)
def test_a_piece_that_may_stay_alone(forgery: Forgery, instance: Instance) -> None:
    cases = by_cases([1, 2], [1], case([2], part([1, 2])))
    assert forgery(instance, proof(cases), "a piece need not be linked to anything", 3)


def test_a_piece_outside_its_part() -> None:
    assert refused(LONE, proof(by_cases([2, 4], [1])), "a piece is outside its part")


def test_an_empty_piece() -> None:
    assert refused(LONE, proof(by_cases([1, 2, 4], [])), "malformed")


GROUP = task([[1, 5]], objective="va", chains=[[5, 6]], exists=[1])
"""Mention 1 must be with 5, and so with 6, which decisions link with 5 for nothing."""


def group_proof(*cases: Plain, piece: tuple[int, ...] = (1, 5)) -> Plain:
    return proof(by_cases([1, 5, 6], [1], case([5], by_cases([1, 5, 6], piece, *cases))))


def test_enforced_links_lead_to_cases() -> None:
    whole = part([1, 5, 6])
    assert proves_the_optimum(GROUP, group_proof(case([6], whole)))
    assert refused(GROUP, group_proof(), "the case of (6, 6) is missing")
    assert refused(GROUP, proof(by_cases([1, 5, 6], [6])), "the case of (5, 5) is missing")


def test_a_case_of_several_mentions_of_the_bundle() -> None:
    assert proves_the_optimum(GROUP, group_proof(case([1, 5], part([1, 5, 6])), piece=(6,)))


def test_a_mention_of_the_bundle_that_nothing_links_with_the_piece_needs_no_case() -> None:
    assert proves_the_optimum(GROUP, group_proof(case([5], part([1, 5, 6])), piece=(6,)))


def test_a_bundle_that_is_joined_comes_as_a_whole() -> None:
    cases = by_cases([1, 5, 6], [1], case([5], part([1, 5], [6])))
    assert refused(GROUP, proof(cases), "a node splits or extends a bundle")


def test_mentions_that_are_ruled_out_need_no_case() -> None:
    instance = task([[1, 2, 4]], [], [], [], exists=[1], absent=[4])
    assert proves_the_optimum(instance, proof(by_cases([1, 2], [1], case([2], part([1, 2])))))


def test_mentions_that_must_not_join_need_no_case() -> None:
    """Mention 1 may not be with 5: nobody linked it with 6."""
    instance = task([[1, 2]], [[1, 5]], [], [], chains=[[5, 6]], exists=[1])
    cases = by_cases([1, 2], [1], case([2], part([1, 2])))
    assert proves_the_optimum(instance, proof(cases, part([5, 6])))


def test_a_bundle_that_must_not_be_has_cases_like_any_other() -> None:
    """1 cannot be with 5 and 6. The case of 5 need not be given; if it is given, it is proven."""
    instance = task([[1, 2]], [[1, 5]], [], [], chains=[[5, 6]], exists=[1])
    impossible = case([5], by_cases([1, 2, 5, 6], [6]))
    cases = by_cases([1, 2, 5, 6], [1], case([2], part([1, 2], [5, 6])), impossible)
    assert refused(instance, proof(cases), "the case of (5, 5) is missing")


def test_a_piece_of_several_mentions_has_no_case_for_its_own() -> None:
    instance = task(*[[[4, 6]]] * 9, objective="va", chains=[[1, 3, 5]], forced_votes=True)
    whole = part([1, 3, 5])
    cases = by_cases(
        [1, 3, 5],
        [1],
        case([3], by_cases([1, 3, 5], [1, 3], case([5], whole))),
        case([5], by_cases([1, 3, 5], [1, 5], case([3], whole))),
    )
    assert proves_the_optimum(instance, proof(cases, part([4], [6])))


def test_a_case_that_cannot_be_counts_for_nothing() -> None:
    """If 1 is with 2, then 3, which is linked with 2 only, has no chain it may join."""
    instance = task([[1, 2]], [[2, 3]], [[1, 4]], [], exists=[1, 3])
    everything = [1, 2, 3, 4]
    possible = by_cases(everything, [3], case([2], part([1, 4], [2, 3])))
    cases = by_cases(everything, [1], case([2], by_cases(everything, [3])), case([4], possible))
    assert proves_the_optimum(instance, proof(cases)) and optimum(instance) == 8


def test_a_proof_that_there_is_no_solution_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot come about while a solution exists; were it to, it would be refused."""
    monkeypatch.setattr(package, "bound_gain", lambda *_: None)
    with pytest.raises(EngineError, match="it proves the bound None"):
        package.verify(claimed(LONE, 7, proof()), LONE)
