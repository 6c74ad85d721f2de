"""Certificates verify from the annotations alone; tampered ones are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from caspr.engines.native import prove, solve
from caspr.engines.native.prove import UnprovenError, prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.limits import Limits
from caspr.task.solution import Status
from tests.engines.native.random_instances import random_instance
from tests.engines.native.test_large_shapes import halves
from tests.engines.native.test_limits import noisy


def made(objective: str) -> dict[str, Any]:
    instance = noisy(objective, mentions=30)
    written = prove_optimal(instance, solve(instance, Limits()), Limits(seconds=60))
    plain: dict[str, Any] = json.loads(json.dumps(written))
    return plain


@pytest.mark.parametrize("objective", ["u", "v", "ua", "va"])
def test_a_certificate_proves_the_value(objective: str) -> None:
    instance = noisy(objective, mentions=30)
    assert verify(made(objective), instance) == solve(instance, Limits()).value


@pytest.mark.parametrize("block", range(5))
def test_every_optimum_has_a_certificate_that_verifies(block: int) -> None:
    special = 0
    for seed in range(block * 200, block * 200 + 200):
        instance = random_instance(seed, mentions=9)
        solution = solve(instance, Limits())
        if solution.status is Status.OPTIMAL:
            written = prove_optimal(instance, solution, Limits())
            special += any("cases" in part or "needs" in part for part in written["parts"])
            assert verify(json.loads(json.dumps(written)), instance) == solution.value, seed
    assert special > 0


def test_a_part_that_is_too_large_for_a_proof_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = noisy("u", mentions=30)
    solution = solve(instance, Limits())
    monkeypatch.setattr(prove, "LARGEST", 5)
    with pytest.raises(UnprovenError, match=r"a part of \d+ kinds of mentions .* at most 5 for a proof"):
        prove_optimal(instance, solution, Limits())


def test_what_gains_only_needs_no_proof_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = halves("ua", mentions=12)
    solution = solve(instance, Limits())
    monkeypatch.setattr(prove, "LARGEST", 5)
    written = prove_optimal(instance, solution, Limits())
    assert verify(json.loads(json.dumps(written)), instance) == solution.value


def test_no_time_for_a_proof_is_said() -> None:
    instance = noisy("u", mentions=30)
    with pytest.raises(UnprovenError, match="no time"):
        prove_optimal(instance, solve(instance, Limits()), Limits(seconds=0))
    with pytest.raises(UnprovenError, match="not proven optimal"):
        prove_optimal(instance, solve(instance, Limits(seconds=0)), Limits())


def cheaper(plain: dict[str, Any]) -> None:
    plain["value"] -= 1


def fewer_chains(plain: dict[str, Any]) -> None:
    plain["chains"].pop()


def missing_part(plain: dict[str, Any]) -> None:
    plain["parts"].pop()


def negative_multiplier(plain: dict[str, Any]) -> None:
    proof = plain["parts"][-1]["proof"]
    while "pair" in proof:
        proof = proof["together"]
    proof["stars"].append([-1 << 20, 0, 1, 2])


def not_a_star(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = {"shift": 0, "stars": [[10**6, 0, 1]]}


def one_side_only(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = {"pair": [0, 1], "together": {"shift": 0, "stars": []}}


def invented_conflict(plain: dict[str, Any]) -> None:
    plain["conflicts"].append([[1, 1], [2, 2]])


def false_twins(plain: dict[str, Any]) -> None:
    nodes = plain["parts"][-1]["nodes"]
    nodes[0] += nodes.pop()


def dropped_node(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["nodes"].pop()


def no_multipliers(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = {"shift": 0, "stars": []}


def not_numbers(plain: dict[str, Any]) -> None:
    plain["parts"] = "all"


@pytest.mark.parametrize(
    "tamper",
    [
        cheaper,
        fewer_chains,
        missing_part,
        negative_multiplier,
        not_a_star,
        one_side_only,
        invented_conflict,
        false_twins,
        dropped_node,
        no_multipliers,
        not_numbers,
    ],
)
def test_a_tampered_certificate_is_refused(tamper: Callable[[dict[str, Any]], None]) -> None:
    instance, plain = noisy("u", mentions=30), made("u")
    tamper(plain)
    with pytest.raises(EngineError):
        verify(plain, instance)


def test_parts_that_are_not_independent_are_refused() -> None:
    instance, plain = noisy("u", mentions=30), made("u")
    nodes = plain["parts"][-1]["nodes"]
    empty = {"shift": 0, "stars": []}
    plain["parts"][-1:] = [{"nodes": [node], "proof": empty} for node in nodes]
    with pytest.raises(EngineError):
        verify(plain, instance)
