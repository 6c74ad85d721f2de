"""Certificates that prove by cases: nothing but the true optimum can be proven, however they are changed."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from caspr.engines import brute
from caspr.engines.native import solve
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.random_instances import random_instance
from tests.engines.native.test_limits import noisy
from tests.instances import annotation
from tests.proof.verify.forging import by_cases, case, claimed, part, plain, proof

Plain = dict[str, Any]


def proven(instance: Instance) -> Plain:
    written = prove_optimal(instance, solve(instance, Limits()), Limits(seconds=60))
    assert written is not None
    plain: Plain = json.loads(json.dumps(written))
    return plain


def must_exist(objective: str = "v") -> Instance:
    """Make a mention exist that is cheaper alone and has two kinds of mentions to be with."""
    steady = [[(2, 2), (3, 3)], [(4, 4), (5, 5)]]
    chains = [[[(1, 1), (2, 2), (3, 3)], steady[1]], [[(1, 1), (4, 4)], steady[0]], steady, steady, steady]
    annotations = [annotation(f"a{number}", given) for number, given in enumerate(chains)]
    statement = Statement.of(StatementKind.EXISTS, [(1, 1)])
    return Instance(tuple(annotations), OBJECTIVES[objective], Decisions.of(statements=[statement]))


def held_by_links() -> Instance:
    """Enforce a chain whose mentions hang together only by links better left unused."""
    pairs = [[[(1, 1), (2, 2)]], [[(2, 2), (3, 3)]], *([[(4, 4), (5, 5)]] for _ in range(6))]
    annotations = tuple(annotation(f"a{number}", given) for number, given in enumerate(pairs))
    enforced = [Chain.of("1", [(1, 1), (3, 3)])]
    return Instance(annotations, OBJECTIVES["va"], Decisions.of(enforced), forced_votes=True)


def proven_by_cases() -> Plain:
    """Prove by cases that the mention that must exist is best with two others."""
    first = case([2], part([1, 2], [3]), part([4], [5]))
    second = case([4], part([2, 3]), part([1, 4], [5]))
    return claimed(must_exist(), 11, proof(by_cases(range(1, 6), [1], first, second)))


def cases_of(certificate: Plain) -> Plain:
    return next(part for part in certificate["parts"] if "cases" in part)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_enforced_mention_that_would_rather_stay_alone(objective: str) -> None:
    instance = must_exist(objective)
    assert verify(proven(instance), instance) == brute.solve(instance, Limits()).value


def test_links_used_only_to_hold_a_chain_together() -> None:
    instance = held_by_links()
    certified = proven(instance)
    assert verify(certified, instance) == brute.solve(instance, Limits()).value
    del cases_of(certified)["cases"][0]
    with pytest.raises(EngineError):
        verify(certified, instance)


def test_one_of_several_interchangeable_mentions_is_enough() -> None:
    assert verify(proven_by_cases(), must_exist()) == 11


def lower_value(plain: Plain) -> None:
    plain["value"] -= 1


def missing_case(plain: Plain) -> None:
    cases_of(plain)["cases"].pop()


def missing_first_case(plain: Plain) -> None:
    del cases_of(plain)["cases"][0]


def no_case(plain: Plain) -> None:
    cases_of(plain)["cases"] = []


def wrong_case(plain: Plain) -> None:
    cases_of(plain)["cases"][0]["with"] = cases_of(plain)["cases"][1]["with"]


def case_of_two(plain: Plain) -> None:
    first, second = cases_of(plain)["cases"]
    first["with"] += second["with"]
    cases_of(plain)["cases"] = [first]


def other_piece(plain: Plain) -> None:
    cases_of(plain)["piece"] = [[2, 2]]


def no_piece(plain: Plain) -> None:
    cases_of(plain)["piece"] = []


def smaller_part(plain: Plain) -> None:
    cases_of(plain)["mentions"] = [[1, 1], *cases_of(plain)["cases"][0]["with"]]


def missing_part_of_a_case(plain: Plain) -> None:
    cases_of(plain)["cases"][0]["parts"].pop()


def invented_conflict_in_a_case(plain: Plain) -> None:
    cases_of(plain)["cases"][0]["conflicts"].append([[1, 1], [2, 2]])


def bundle_not_joined(plain: Plain) -> None:
    for one in cases_of(plain)["cases"][0]["parts"]:
        one["nodes"] = [[mention] for node in one["nodes"] for mention in node]


def changed_chain(plain: Plain) -> None:
    plain["chains"][0].pop()


def too_deep(plain: Plain) -> None:
    for _ in range(5000):
        plain["parts"] = [{"mentions": [], "piece": [[1, 1]], "cases": [{**plain, "with": [[2, 2]]}]}]
    plain["parts"] = [{**plain["parts"][0], "mentions": [[token, token] for token in range(1, 6)]}]


@pytest.mark.parametrize(
    "tamper",
    [
        lower_value,
        missing_case,
        missing_first_case,
        no_case,
        wrong_case,
        case_of_two,
        other_piece,
        no_piece,
        smaller_part,
        missing_part_of_a_case,
        invented_conflict_in_a_case,
        bundle_not_joined,
        changed_chain,
        too_deep,
    ],
)
def test_a_tampered_proof_by_cases_is_refused(tamper: Callable[[Plain], None]) -> None:
    instance = must_exist()
    changed = proven_by_cases()
    tamper(changed)
    with pytest.raises(EngineError):
        verify(changed, instance)


def test_twins_that_a_decision_keeps_apart_are_refused() -> None:
    document = Document("d", ("w",) * 7)
    one = Annotation.of("a", document, [Chain.of("1", [(token, token) for token in range(1, 8)])])
    apart = Statement.of(StatementKind.APART, [(1, 1), (3, 3)])
    instance = Instance((one,), OBJECTIVES["u"], Decisions.of(statements=[apart]))
    chains = [[[1, 1], [2, 2]], [[token, token] for token in range(3, 8)]]
    proof = {"nodes": chains, "proof": []}
    forged = {"value": 20, "chains": chains, "conflicts": [], "parts": [proof]}
    assert solve(instance, Limits()).value == 12
    with pytest.raises(EngineError):
        verify(forged, instance)


def test_demands_far_from_each_other_do_not_multiply() -> None:
    near = [must_exist("va").annotations[number].chains for number in range(5)]
    document = Document("d", ("w",) * 160)
    annotations = tuple(
        Annotation.of(
            f"a{number}",
            document,
            [
                Chain.of(f"{chain.id}.{copy}", [(a + 8 * copy, b + 8 * copy) for a, b in chain.mentions])
                for copy in range(20)
                for chain in chains
            ],
        )
        for number, chains in enumerate(near)
    )
    mentions = [(1 + 8 * copy, 1 + 8 * copy) for copy in range(20)]
    decisions = Decisions.of(statements=[Statement.of(StatementKind.EXISTS, mentions)])
    instance = Instance(annotations, OBJECTIVES["va"], decisions)
    alone = brute.solve(must_exist("va"), Limits(solutions=100))
    solution = solve(instance, Limits(solutions=3))
    assert verify(proven(instance), instance) == solution.value == 20 * alone.value
    assert solution.count == len(alone.partitions) ** 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_larger_document_with_mentions_that_must_exist(objective: str) -> None:
    base = noisy(objective, mentions=24, seed=4)
    lonely = Annotation.of(
        "lonely",
        base.annotations[0].document,
        [Chain.of("1", [(1, 1), (8, 8), (15, 15)]), Chain.of("2", [(2, 2), (9, 9)])],
    )
    decisions = Decisions.of(statements=[Statement.of(StatementKind.EXISTS, [(1, 1), (2, 2)])])
    without = [_without(one, {Span(1, 1), Span(2, 2)}) for one in base.annotations]
    instance = Instance((*without, lonely), base.objective, decisions)
    assert verify(proven(instance), instance) == solve(instance, Limits()).value


def _without(given: Annotation, spans: set[Span]) -> Annotation:
    chains = [Chain.of(chain.id, set(chain.mentions) - spans) for chain in given.chains]
    return Annotation.of(given.annotator, given.document, chains)


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list and object of a certificate with each of its keys."""
    for key in data if isinstance(data, dict) else range(len(data)):
        if isinstance(data[key], dict | list):
            yield from places(data[key])
        yield data, key


def changed(random: Random, certificate: Plain) -> Plain:
    """Change a few places: take out, repeat, swap, take from elsewhere, count one up or down."""
    copy: Plain = json.loads(json.dumps(certificate))
    for _ in range(random.randint(1, 3)):
        found = list(places({key: copy[key] for key in ("parts", "conflicts")}))
        holder, key = random.choice(found)
        other, place = random.choice(found)
        if isinstance(holder[key], int):
            holder[key] += random.choice((-1, 1))
        elif isinstance(holder, list) and random.random() < 0.6:
            del holder[key]
        else:
            holder[key] = json.loads(json.dumps(other[place]))
    return copy


def refused_for_all(random: Random, certified: Plain, instance: Instance, *, changes: int) -> int:
    """Change a certificate and claim worse solutions with it; return how often it was refused."""
    best = certified["value"]
    worse = {cost: chains for cost, chains in brute.every_solution(instance) if cost > best}
    tried = 0
    for _ in range(changes):
        forged = changed(random, certified)
        for cost in random.sample(sorted(worse), min(8, len(worse))):
            with pytest.raises(EngineError):
                verify({**forged, "value": cost, "chains": plain(worse[cost])}, instance)
            tried += 1
    return tried


@pytest.mark.parametrize("block", range(4))
def test_no_change_proves_more_than_the_truth(block: int) -> None:
    random, tried = Random(block), 0
    for seed in range(block * 300, block * 300 + 300):
        instance = random_instance(seed, mentions=7)
        if solve(instance, Limits()).status is Status.OPTIMAL and instance.decisions:
            certified = proven(instance)
            special = any("cases" in part or "demands" in part for part in certified["parts"])
            refused = refused_for_all(random, certified, instance, changes=30 if special else 3)
            tried += special * refused
    assert tried > 100


@pytest.mark.parametrize("seed", range(3))
def test_no_change_of_a_proof_by_cases_proves_more_than_the_truth(seed: int) -> None:
    instance = held_by_links()
    assert refused_for_all(Random(seed), proven(instance), instance, changes=60) > 60
    assert refused_for_all(Random(seed), proven_by_cases(), must_exist(), changes=60) > 60
