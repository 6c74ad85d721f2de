"""An interrupt at any moment keeps the best value and the best bound that were known."""

import sys
from random import Random
from types import FrameType

import pytest

from caspr.engines import brute
from caspr.engines.native import engine, solve, solve_with
from caspr.engines.native.partition.watch import Watch
from caspr.proof.certify import certify
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Solution, Status, Stop
from tests.engines.native.random_instances import random_instance
from tests.engines.native.test_limits import noisy

BEGINNING = {one.__code__ for one in (solve, solve_with, engine._watch, engine._within_limits, Watch.of)}


class Interrupting:
    """Solves with Ctrl-C pressed when the engine calls its n-th function, and listens."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.values: list[int] = []
        self.bounds: list[int] = []

    def solve(self, instance: Instance, limits: Limits) -> Solution:
        sys.setprofile(self._count)
        try:
            return solve(instance, limits, self._listen)
        finally:
            sys.setprofile(None)

    def _count(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        inside = event == "call" and "native" in code.co_filename and not code.co_name.startswith("<")
        # What comes before the engine has begun to look is not the engine's to catch.
        if inside and code not in BEGINNING:
            self.calls -= 1
            if self.calls == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def _listen(self, value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        if value is not None:
            self.values.append(value)
        if bound is not None:
            self.bounds.append(bound)

    def check(self, instance: Instance, solution: Solution, optimum: int) -> None:
        certify(instance, solution)
        assert solution.bound <= optimum <= solution.value
        assert self.values == sorted(self.values, reverse=True) and self.bounds == sorted(self.bounds)
        assert all(solution.value <= value for value in self.values)
        assert all(bound <= solution.bound for bound in self.bounds)


def calls_of(instance: Instance) -> int:
    """Count the engine's calls when nobody interrupts it."""
    counting = Interrupting(1 << 60)
    counting.solve(instance, Limits())
    return (1 << 60) - counting.calls


@pytest.mark.parametrize("seed", range(60))
def test_small_instances(seed: int) -> None:
    instance, random = random_instance(seed, mentions=8), Random(seed)
    truth = brute.solve(instance, Limits())
    if truth.status is Status.INFEASIBLE:
        return
    for calls in random.choices(range(1, calls_of(instance)), k=8):
        interrupting = Interrupting(calls)
        interrupting.check(instance, interrupting.solve(instance, Limits()), truth.value)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_search_in_rounds(objective: str) -> None:
    instance, random = noisy(objective, mentions=32, seed=2), Random(5)
    optimum = solve(instance, Limits()).value
    for calls in random.choices(range(1, calls_of(instance)), k=12):
        interrupting = Interrupting(calls)
        solution = interrupting.solve(instance, Limits())
        interrupting.check(instance, solution, optimum)
        assert solution.stop is Stop.INTERRUPT or solution.status is Status.OPTIMAL


def test_bounds_are_reported_while_a_component_is_searched() -> None:
    listening = Interrupting(1 << 60)
    solution = listening.solve(noisy("ua", mentions=60), Limits())
    assert len({bound for bound in listening.bounds if bound < solution.value}) > 3


@pytest.mark.parametrize("seconds", [0, 0.01, 0.1])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_little_time(objective: str, seconds: float) -> None:
    instance, listening = noisy(objective, mentions=40, seed=7), Interrupting(1 << 60)
    optimum = solve(instance, Limits()).value
    listening.check(instance, listening.solve(instance, Limits(seconds=seconds)), optimum)


@pytest.mark.parametrize("seed", range(100, 160))
def test_little_time_for_small_instances(seed: int) -> None:
    instance, listening = random_instance(seed, mentions=8), Interrupting(1 << 60)
    truth = brute.solve(instance, Limits())
    for seconds in (0, 0.01):
        solution = listening.solve(instance, Limits(seconds=seconds))
        if truth.status is Status.INFEASIBLE:
            assert solution.status is Status.INFEASIBLE
        else:
            listening.check(instance, solution, truth.value)
        listening = Interrupting(1 << 60)
