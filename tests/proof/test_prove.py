"""Certificates verify from the annotations alone; tampered ones are refused."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from caspr.engines.native import solve, state
from caspr.engines.native.partition import splitting
from caspr.engines.native.proof_writer import UnprovenError, prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.limits import Limits
from caspr.task.solution import Status
from tests.engines.native.random_instances import random_instance
from tests.engines.native.test_large_shapes import halves
from tests.engines.native.test_limits import noisy


def made(objective: str) -> dict[str, Any]:
    instance = noisy(objective, mentions=30)
    written = prove_optimal(instance, solve(instance, Limits(certificate=True)), Limits(seconds=60))
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
        solution = solve(instance, Limits(certificate=seed % 4 > 0))
        if solution.status is Status.OPTIMAL:
            written = prove_optimal(instance, solution, Limits())
            special += any("cases" in part or "demands" in part for part in written["parts"])
            assert verify(json.loads(json.dumps(written)), instance) == solution.value, seed
    assert special > 0


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no problem of more than three nodes written down in full."""
    monkeypatch.setattr(splitting, "WRITTEN_OUT", 3)
    monkeypatch.setattr(splitting, "LARGEST_MATRIX", 3)


def test_a_part_that_is_too_large_for_a_proof_is_named(request: pytest.FixtureRequest) -> None:
    instance = noisy("u", mentions=30)
    solution = solve(instance, Limits())
    request.getfixturevalue("nothing_fits")
    with pytest.raises(UnprovenError, match=r"a part of more than .* kinds of mentions"):
        prove_optimal(instance, solution, Limits())


@pytest.mark.usefixtures("nothing_fits")
def test_what_gains_only_needs_no_proof_however_large_it_is() -> None:
    instance = halves("ua", mentions=12)
    solution = solve(instance, Limits())
    written = prove_optimal(instance, solution, Limits())
    assert verify(json.loads(json.dumps(written)), instance) == solution.value


def test_what_was_recorded_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = noisy("u", mentions=30)
    solution = solve(instance, Limits(certificate=True))
    searched: list[Any] = []
    monkeypatch.setattr(state, "search_split", lambda *given, **_: searched.append(given))
    written = prove_optimal(instance, solution, Limits())
    assert verify(json.loads(json.dumps(written)), instance) == solution.value and not searched


def test_what_was_recorded_for_another_instance_is_not_believed() -> None:
    one, two = noisy("u", mentions=30), noisy("ua", mentions=30)
    recorded = solve(one, Limits(certificate=True)).recorded
    solution = replace(solve(two, Limits()), recorded=recorded)
    written = prove_optimal(two, solution, Limits())
    assert verify(json.loads(json.dumps(written)), two) == solution.value


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


def _statements(data: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries in a proof."""
    if isinstance(data, dict):
        yield data
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for one in inner:
        yield from _statements(one)


def negative_multiplier(plain: dict[str, Any]) -> None:
    statements = [one for one in _statements(plain["parts"]) if "stars" in one]
    statements[-1]["stars"].append([-1 << 20, 0, 1, 2])


def not_a_star(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = [{"shift": 0, "stars": [[10**6, 0, 1]]}]


def one_side_only(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = [{"pair": [0, 1], "together": []}]


def invented_conflict(plain: dict[str, Any]) -> None:
    plain["conflicts"].append([[1, 1], [2, 2]])


def false_twins(plain: dict[str, Any]) -> None:
    nodes = plain["parts"][-1]["nodes"]
    nodes[0] += nodes.pop()


def dropped_node(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["nodes"].pop()


def no_multipliers(plain: dict[str, Any]) -> None:
    plain["parts"][-1]["proof"] = []


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
    plain["parts"][-1:] = [{"nodes": [node], "proof": []} for node in nodes]
    with pytest.raises(EngineError):
        verify(plain, instance)
