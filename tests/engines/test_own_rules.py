"""Rules of one's own: all engines agree with brute force on what they derived, and forgeries of it fail."""

import random
from dataclasses import replace
from functools import partial
from itertools import combinations

import pytest

from caspr.engines import brute, choose
from caspr.engines.native import solve as solve_natively
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError
from caspr.proof.certify import certify
from caspr.proof.verify import verify
from caspr.task.contradictions import ContradictionError, feasible, refuse_contradictions
from caspr.task.decisions import Rule
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.pricing import price
from caspr.task.solution import canonical
from caspr.text.document import Span
from tests.instances import annotation, random_instance, with_random_rules

RULE = Rule("ours.lp", 3, "a rule")
A, B, C, D = (Span(token, token) for token in range(1, 5))


def ruled(instance: Instance, *said: tuple[Effect, tuple[Span, ...], int]) -> Instance:
    """Return an instance for which a rule derived something."""
    consequences = (Consequence(effect, mentions, RULE, cost) for effect, mentions, cost in said)
    return instance.under(DerivedRules(tuple(consequences)))


def some_instance(seed: int) -> Instance:
    """Make an instance with rules of every kind, decisions, weights, coverage and all objectives."""
    rng = random.Random(seed)
    instance = random_instance(rng, decisions=seed % 3 > 0, odd=seed % 2 == 0)
    return with_random_rules(rng, instance)


@pytest.mark.parametrize("block", range(20))
def test_native_agrees_with_brute_force_and_its_proofs_hold(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        instance = some_instance(seed)
        truth = brute.solve(instance, Limits())
        assert feasible(instance, instance.constraints) == bool(truth.partitions), seed
        solution = solve_natively(instance, Limits(certificate=True))
        assert (solution.status, solution.value) == (truth.status, truth.value), seed
        certify(instance, solution)
        assert solution.partitions == truth.partitions or solution.findings, f"{seed}: ties by the rule"
        if truth.partitions:
            assert verify(prove_optimal(instance, solution, Limits()), instance) == truth.value, seed


@pytest.mark.parametrize("encoding", ["mm", "cm"])
@pytest.mark.parametrize("block", range(20))
def test_clingo_agrees_with_brute_force(block: int, encoding: str) -> None:
    solve = choose("clingo", encoding)[1]
    for seed in range(5000 + 50 * block, 5000 + 50 * block + 50):
        instance = some_instance(seed)
        truth = brute.solve(instance, Limits())
        solution = solve(instance, Limits(), silent)
        assert (solution.status, solution.value) == (truth.status, truth.value), seed
        certify(instance, solution)
        assert solution.partitions == truth.partitions or solution.findings, f"{seed}: ties by the rule"


@pytest.mark.parametrize("block", range(6))
def test_all_optima_are_listed_unless_being_alone_costs(block: int) -> None:
    for seed in range(9000 + 50 * block, 9000 + 50 * block + 50):
        instance = some_instance(seed)
        truth = brute.solve(instance, Limits(solutions=10_000))
        solution = solve_natively(instance, Limits(solutions=10_000))
        if all(gain < 0 for gain in instance.chain_gains.values()):
            assert set(solution.partitions) == set(truth.partitions), seed
        else:
            assert set(solution.partitions) <= set(truth.partitions), seed
            assert not solution.complete or set(solution.partitions) == set(truth.partitions), seed


def forgeries(instance: Instance) -> list[Instance]:
    """Return the instance with one consequence less, and with costs that are others."""
    every = instance.rules.consequences
    fewer = [every[:number] + every[number + 1 :] for number in range(len(every))]
    dearer = [
        (*every[:number], replace(one, cost=one.cost + 1), *every[number + 1 :])
        for number, one in enumerate(every)
        if one.effect.costs and one.cost + 1
    ]
    return [instance.under(DerivedRules(tuple(forged))) for forged in (*fewer, *dearer)]


@pytest.mark.parametrize("block", range(6))
def test_a_proof_holds_for_no_other_rules_unless_they_have_the_same_optimum(block: int) -> None:
    for seed in range(12_000 + 25 * block, 12_000 + 25 * block + 25):
        instance = some_instance(seed)
        solution = solve_natively(instance, Limits(certificate=True))
        if not solution.partitions:
            continue
        proof = prove_optimal(instance, solution, Limits())
        for forged in forgeries(instance):
            try:
                accepted = verify(proof, forged)
            except EngineError:
                continue
            assert accepted == brute.solve(forged, Limits()).value, seed


def pair(first: Span, second: Span, objective: Objective = OBJECTIVES["va"]) -> Instance:
    linked = [[(first.start, first.end), (second.start, second.end)], [(3, 3), (4, 4)]]
    return Instance((annotation("a", linked), annotation("b", linked)), objective)


def test_costs_of_rules_are_a_kind_of_their_own() -> None:
    instance = ruled(
        pair(A, B),
        (Effect.TOGETHER_COST, (A, B), 1),
        (Effect.APART_COST, (A, C), 5),
        (Effect.MENTION_COST, (A,), 2),
        (Effect.MENTION_COST, (C,), -7),
    )
    joined, parted = canonical([[A, B], [C, D]]), canonical([])
    assert price(instance, joined).by_kind == {"omitted": 0, "used": 0, "invented": 0, "rules": 8}
    assert price(instance, parted).by_kind == {"omitted": 8, "used": 0, "invented": 0, "rules": 12}


def test_a_cost_of_being_apart_gives_the_link() -> None:
    """Where nobody linked two mentions and inventing is forbidden, a rule that wants them together may."""
    instance = ruled(pair(A, B, OBJECTIVES["v"]), (Effect.APART_COST, (B, C), 90))
    solution = solve_natively(instance, Limits())
    assert solution.partitions == brute.solve(instance, Limits()).partitions == (((B, C),),)
    assert price(instance, solution.partitions[0]).by_kind == {"omitted": 8, "used": 2, "invented": 0}


def test_votes_against_a_required_pair_still_cost() -> None:
    instance = ruled(pair(A, B), (Effect.REQUIRE, (B, C), 0))
    solution = solve_natively(instance, Limits())
    assert solution.partitions == (((A, B, C, D),),)
    assert price(instance, solution.partitions[0]).invented == 4


def test_rules_that_cannot_hold_are_named() -> None:
    instance = ruled(pair(A, B), (Effect.REQUIRE, (A, B), 0), (Effect.FORBID, (A, B), 0))
    with pytest.raises(ContradictionError, match=r"rules contradict.*your rules say.*'a rule' \(ours.lp:3\)"):
        refuse_contradictions(instance)


def test_many_mentions_that_are_kept_apart_from_the_same_others_stay_twins() -> None:
    chain = [(token, token) for token in range(1, 41)]
    instance = Instance((annotation("a", [chain], 40), annotation("b", [chain], 40)), OBJECTIVES["va"])
    spans = [Span(*span) for span in chain]
    said = [(Effect.FORBID, (one, far), 0) for one in spans[:38] for far in spans[38:]]
    instance = ruled(instance, *said)
    from caspr.engines.native.translate import Translator, forbidden_pairs

    (part,) = Translator(instance).translate((), forbidden_pairs(instance, all_pairs=False))
    assert sorted(map(len, part.nodes)) == [2, 38]
    solution = solve_natively(instance, Limits(certificate=True))
    assert sorted(map(len, solution.partitions[0])) == [2, 38]
    assert verify(prove_optimal(instance, solution, Limits()), instance) == solution.value


def test_ten_thousand_pairs_are_proven() -> None:
    rng = random.Random(3)
    chains = [[(token, token) for token in range(start, start + 50)] for start in range(1, 401, 50)]
    instance = Instance(tuple(annotation(name, chains, 400) for name in "abc"), OBJECTIVES["va"])
    pairs = rng.sample(list(combinations([Span(*span) for chain in chains for span in chain], 2)), 10_000)
    instance = ruled(instance, *((Effect.TOGETHER_COST, pair, 1) for pair in pairs))
    solution = solve_natively(instance, Limits(certificate=True))
    assert solution.status == "optimal"
    assert verify(prove_optimal(instance, solution, Limits()), instance) == solution.value


def test_the_review_page_solves_again_under_more_rules() -> None:
    from caspr.engines.native.incremental import IncrementalSolver

    instance = pair(A, B)
    solver = IncrementalSolver(instance)
    solve = partial(solver.answer, limits=Limits())
    assert solve(instance).partitions == (((A, B), (C, D)),)
    assert solve(ruled(instance, (Effect.FORBID, (A, B), 0))).partitions == (((C, D),),)
    assert solve(ruled(instance, (Effect.TOGETHER_COST, (A, B), 9))).partitions == (((C, D),),)
    assert solve(instance).partitions == (((A, B), (C, D)),)
