"""The pipeline: whatever solves, goes through one function that believes no engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from caspr import engines
from caspr.adjudication import adjudicate_document, solve_and_certify
from caspr.engines import Engine, native
from caspr.errors import CasprError, EngineError
from caspr.formats import read_all
from caspr.review.solver import Solver
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decision, Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.settings import PRESETS, Settings
from caspr.task.solution import INFEASIBLE, Solution
from caspr.text.document import Annotation, Chain, Span
from tests.cli.caller import SONG
from tests.instances import random_instance


def song() -> tuple[Annotation, ...]:
    return tuple(annotation for [annotation] in read_all([Path(path) for path in SONG]))


def through_a_document(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setitem(engines.ENGINES, "native", lambda _: engine)
    return adjudicate_document(song()).solution


def through_the_page(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> object:
    solver = Solver(song(), Settings())
    monkeypatch.setattr(solver.incremental, "answer", engine)
    return solver.solve(())


WAYS = [through_a_document, through_the_page]


def cheaper(solution: Solution) -> Solution:
    return replace(solution, value=solution.value - 1, bound=solution.bound - 1)


def beyond(solution: Solution) -> Solution:
    return replace(solution, bound=solution.value + 1)


def torn(solution: Solution) -> Solution:
    return replace(solution, partitions=(((Span(1, 1), Span(30, 31)),),))


def none(solution: Solution) -> Solution:
    return INFEASIBLE


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lie", [cheaper, beyond, torn, none])
def test_no_engine_is_believed(
    way: Callable[[Engine, pytest.MonkeyPatch], object],
    lie: Callable[[Solution], Solution],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lying(instance: Instance, limits: Limits, progress: Progress) -> Solution:
        return lie(native.solve(instance, limits, progress))

    assert way(native.solve, monkeypatch)
    with pytest.raises(EngineError):
        way(lying, monkeypatch)


def never(instance: Instance, limits: Limits, progress: Progress) -> Solution:
    raise AssertionError("no engine should be asked")


def test_decisions_are_refused_before_the_search() -> None:
    annotations = song()
    outside = Decisions.of([Chain.of("1", [(1, 1), (99, 99)])])
    with pytest.raises(CasprError, match="99"):
        solve_and_certify(Settings().instance(annotations, outside), never, Limits())
    nested = Decisions.of([Chain.of("1", [(1, 3), (2, 2)])])
    with pytest.raises(ContradictionError):
        solve_and_certify(PRESETS["paper"].instance(annotations, nested), never, Limits())


def test_the_page_and_the_pipeline_give_the_same_value() -> None:
    for seed in range(20):
        annotations = random_instance(Random(seed)).annotations
        result = adjudicate_document(annotations)
        snapshot = Solver(annotations, Settings()).solve(list[Decision]())
        assert (snapshot.value, snapshot.bound, snapshot.costs) == (result.value, result.bound, result.costs)
