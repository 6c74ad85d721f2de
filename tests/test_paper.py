"""The paper's running example, figures 1, 2 and 3, through every engine and encoding."""

import pytest

from caspr.adjudication import adjudicate_document
from caspr.task.decisions import Decisions
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.solution import Partition, canonical
from caspr.text.document import Chain, Span
from tests.instances import annotation, paper_annotations

ENGINES = ["brute", "native", "clingo", "gringo-clasp"]

FIGURE_2 = {
    "u": (6, [[[(1, 3), (5, 5)], [(1, 1), (4, 4)], [(2, 2), (6, 6)]]]),
    "ua": (4, [[[(1, 3), (5, 5), (6, 6)], [(1, 1), (2, 2), (4, 4)]]]),
    "v": (12, [[[(1, 3), (5, 5)]], [[(1, 3), (6, 6)]]]),
    "va": (11, [[[(1, 3), (5, 5), (6, 6)]]]),
}


def partition(chains: list[list[tuple[int, int]]]) -> Partition:
    return canonical([Span(*span) for span in chain] for chain in chains)


def settings(objective: str, engine: str) -> Settings:
    return Settings(OBJECTIVES[objective], engine=engine, limits=Limits(solutions=10))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("objective", FIGURE_2)
def test_figure_2(objective: str, engine: str) -> None:
    cost, solutions = FIGURE_2[objective]
    result = adjudicate_document(paper_annotations(), settings=settings(objective, engine))
    assert result.value == result.bound == cost
    assert result.solution.partitions == tuple(sorted(partition(chains) for chains in solutions))
    assert result.solution.complete


@pytest.mark.parametrize("engine", ENGINES)
def test_figure_3_enforce_a_chain(engine: str) -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (6, 6)])])
    result = adjudicate_document(paper_annotations(), decisions, settings("u", engine))
    assert result.solution.partitions == (partition([[(1, 3), (6, 6)], [(2, 2), (4, 4)]]),)
    assert [chain.id for chain in result.chains] == ["1", "2"]


@pytest.mark.parametrize("engine", ENGINES)
def test_enforce_an_empty_token_and_an_invented_link(engine: str) -> None:
    decisions = Decisions.of([Chain.of("7", [(5, 5), (6, 6)])], empty=[4])
    result = adjudicate_document(paper_annotations(), decisions, settings("u", engine))
    assert result.solution.partitions == (partition([[(1, 3), (5, 5), (6, 6)]]),)
    assert result.chains[0].id == "7"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_link_may_stay_unused_inside_a_chain(engine: str) -> None:
    a, b, c = (1, 1), (2, 2), (3, 3)
    annotations = [annotation(f"n{i}", [[a, b], [b, c]]) for i in range(5)]
    annotations.append(annotation("n5", [[a, b, c]]))
    result = adjudicate_document(annotations, settings=settings("va", engine))
    assert result.value == 3
    assert result.costs.omitted == 2
    assert result.costs.invented == 1
