"""Certification refuses every solution that is not what it says."""

from dataclasses import replace

import pytest

from caspr.engines import brute
from caspr.errors import EngineError
from caspr.proof.certify import certify
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.price.rules import violations
from caspr.task.solution import Solution, Status
from caspr.text.document import Chain, Span
from tests.instances import paper_annotations

INSTANCE = Instance(paper_annotations(), OBJECTIVES["u"])


@pytest.fixture
def solution() -> Solution:
    return brute.solve(INSTANCE, Limits())


def test_a_true_solution_passes(solution: Solution) -> None:
    (costs,) = certify(INSTANCE, solution)
    assert (costs.omitted, costs.used, costs.invented) == (6, 0, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"value": 5, "bound": 5},
        {"bound": 7},
        {"bound": 5},
        {"status": Status.FEASIBLE},
        {"partitions": (((Span(1, 3), Span(6, 6)),),)},
        {"partitions": (((Span(1, 3), Span(2, 2)),),)},
    ],
)
def test_a_false_solution_is_refused(solution: Solution, change: dict[str, object]) -> None:
    with pytest.raises(EngineError):
        certify(INSTANCE, replace(solution, **change))  # type: ignore[arg-type]


def test_the_same_solution_twice_is_refused(solution: Solution) -> None:
    with pytest.raises(EngineError, match="twice"):
        certify(INSTANCE, replace(solution, partitions=solution.partitions * 2))


@pytest.mark.parametrize(
    ("partition", "complaint"),
    [
        (((Span(1, 3),),), "fewer than two"),
        (((Span(1, 3), Span(9, 9)),), "nobody linked"),
        (((Span(1, 3), Span(5, 5)), (Span(5, 5), Span(6, 6))), "share"),
        (((Span(1, 3), Span(2, 2)),), "inside"),
        (((Span(5, 5), Span(6, 6)),), "nobody linked"),
        (((Span(1, 3), Span(5, 5)),), "enforced and in no chain"),
        (((Span(1, 3), Span(5, 5)), (Span(4, 4), Span(2, 2))), "not in one chain"),
    ],
)
def test_every_rule_is_checked(partition: tuple[tuple[Span, ...], ...], complaint: str) -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (4, 4)])]) if "enforced" in complaint else Decisions()
    if "one chain" in complaint:
        decisions = Decisions.of([Chain.of("1", [(1, 3), (4, 4)])])
    broken = list(violations(replace(INSTANCE, decisions=decisions), partition))
    assert any(complaint in sentence for sentence in broken), broken
