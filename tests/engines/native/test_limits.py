"""Limits and interrupts give the best so far, with a bound; nothing escapes as an exception."""

from dataclasses import replace
from random import Random

import pytest

from caspr.engines import brute
from caspr.engines.native import solve, state, translate
from caspr.engines.native.incremental import IncrementalSolver
from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.errors import EngineError
from caspr.proof.certify import certify
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import LARGEST_COEFFICIENT, OBJECTIVES, Objective
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.random_instances import random_instance


def noisy(objective: str, *, mentions: int = 50, seed: int = 1, annotators: int = 4) -> Instance:
    """Make a document in which annotators often disagree."""
    random = Random(seed)
    document = Document("d", ("w",) * mentions)
    annotations = []
    for number in range(annotators):
        chains: dict[int, set[Span]] = {}
        for token in range(1, mentions + 1):
            entity = random.randrange(8) if random.random() < 0.4 else token % 6
            chains.setdefault(entity, set()).add(Span(token, token))
        annotations.append(
            Annotation.of(f"a{number}", document, [Chain.of(str(e), c) for e, c in chains.items()])
        )
    return Instance(tuple(annotations), OBJECTIVES[objective])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_time_gives_a_solution_and_a_bound(objective: str) -> None:
    instance = noisy(objective)
    early, proven = solve(instance, Limits(seconds=0)), solve(instance, Limits(seconds=60))
    certify(instance, early)
    certify(instance, proven)
    assert early.bound <= proven.bound <= proven.value <= early.value


def test_no_memory_gives_a_solution_and_a_bound() -> None:
    instance = noisy("u")
    early = solve(instance, Limits(megabytes=1))
    certify(instance, early)


def test_an_interrupt_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> SearchOutcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(state, "search_split", interrupted)
    instance = noisy("u")
    early = solve(instance, Limits())
    certify(instance, early)
    assert early.status is Status.FEASIBLE


def test_progress_receives_values_that_fall_and_bounds_that_rise() -> None:
    received: list[tuple[int | None, int | None]] = []
    solution = solve(
        noisy("ua"), Limits(seconds=60), lambda value, bound, **_: received.append((value, bound))
    )
    values = [value for value, _ in received if value is not None]
    bounds = [bound for _, bound in received if bound is not None]
    assert values == sorted(values, reverse=True) and values[-1] == solution.value
    assert bounds == sorted(bounds)


def test_progress_receives_how_many_parts_are_done() -> None:
    received: list[tuple[int, int]] = []

    def on_progress(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        received.append((done, parts))

    solve(noisy("ua"), Limits(seconds=60), on_progress)
    counted = [done for done, parts in received if parts]
    assert counted == sorted(counted) and len({parts for _, parts in received} - {0}) == 1
    assert all(done < parts for done, parts in received if parts)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_order_and_names_of_annotators_change_nothing(objective: str) -> None:
    instance = noisy(objective, mentions=40)
    other = Instance(tuple(reversed(instance.annotations)), instance.objective)
    assert solve(instance, Limits()).partitions == solve(other, Limits()).partitions


def test_an_adjudicator_gives_what_a_new_solve_gives() -> None:
    instance = noisy("v", mentions=40)
    solver = IncrementalSolver(instance)
    random = Random(3)
    for _ in range(12):
        chosen = random.sample(instance.mentions, 3)
        decisions = Decisions.of([Chain.of("1", chosen[:1]), Chain.of("2", chosen[1:])])
        again = solver.decide(decisions)
        fresh = solve(solver.instance, Limits())
        assert (again.status, again.value, again.bound) == (fresh.status, fresh.value, fresh.bound)


def test_a_long_chain_costs_little() -> None:
    document = Document("d", ("w",) * 20_000)
    chain = Chain.of("1", [(token, token) for token in range(1, 20_001)])
    instance = Instance(tuple(Annotation.of(name, document, [chain]) for name in "abc"))
    solution = solve(instance, Limits(seconds=20))
    assert (solution.value, solution.status) == (0, Status.OPTIMAL)


def test_gains_beyond_64_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = noisy("ua", mentions=40)
    monkeypatch.setattr(translate, "LARGEST_MASS", 8 * 40**2)
    solve(instance, Limits())
    monkeypatch.setattr(translate, "LARGEST_MASS", 8 * 40**2 - 1)
    with pytest.raises(EngineError, match=r"found gains of up to .* in a part of 40 mentions"):
        solve(instance, Limits())


def test_the_largest_coefficients_are_solved_as_brute_force_solves_them() -> None:
    largest = LARGEST_COEFFICIENT
    for seed in range(40):
        for costs in ((largest, largest, largest), (largest, 0, largest - 1), (largest - 1, largest, None)):
            instance = replace(random_instance(seed, mentions=7), objective=Objective(*costs))
            ours, truth = solve(instance, Limits()), brute.solve(instance, Limits())
            assert (ours.status, ours.value) == (truth.status, truth.value)
