"""Parts that stay unproven, for whatever reason, spoil neither bounds nor counts nor later solves."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from math import prod
from random import Random

import pytest

from caspr.engines import brute
from caspr.engines.native import solve, state
from caspr.engines.native.incremental import IncrementalSolver
from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.engines.native.partition.search import search_split
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import Objective
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document
from tests.engines.native.random_instances import OBJECTIVE_CHOICES
from tests.engines.native.test_limits import noisy

LENGTH = 6
"""How many mentions a block has."""

Block = tuple[list[dict[int, list[int]]], dict[str, list[int]]]
"""The chains of each annotator, and the mentions that decisions enforce, by chain."""


def random_block(random: Random, annotators: int) -> Block:
    """Annotate a few mentions with much noise and enforce up to two of them."""
    truth, noise = [random.randrange(3) for _ in range(LENGTH)], random.choice((0.2, 0.4, 0.7))
    given: list[dict[int, list[int]]] = [{} for _ in range(annotators)]
    for chains in given:
        for mention in range(1, LENGTH + 1):
            if random.random() < 0.8:
                entity = random.randrange(3) if random.random() < noise else truth[mention - 1]
                chains.setdefault(entity, []).append(mention)
    enforced: dict[str, list[int]] = {}
    for mention in random.sample(range(1, LENGTH + 1), random.choice((0, 1, 1, 2))):
        enforced.setdefault(random.choice("ab"), []).append(mention)
    return given, enforced


def side_by_side(blocks: list[Block], objective: Objective) -> Instance:
    """Make one document of blocks between which there is no link, so that its optima are their product."""
    document = Document("d", ("w",) * (LENGTH * len(blocks)))

    def chain(name: object, block: int, mentions: list[int]) -> Chain:
        places = [block * LENGTH + mention for mention in mentions]
        return Chain.of(f"{block}-{name}", [(place, place) for place in places])

    annotations = tuple(
        Annotation.of(
            f"a{annotator}",
            document,
            [
                chain(entity, block, mentions)
                for block, (given, _) in enumerate(blocks)
                for entity, mentions in given[annotator].items()
            ],
        )
        for annotator in range(len(blocks[0][0]))
    )
    enforced = [
        chain(name, block, mentions)
        for block, (_, groups) in enumerate(blocks)
        for name, mentions in groups.items()
    ]
    return Instance(annotations, objective, decisions=Decisions.of(enforced))


def weakened(random: Random, excess: tuple[int, ...]) -> Callable[..., SearchOutcome]:
    """Return a search whose bounds exceed what it could prove, now and then, as if the solver had failed."""

    def searched(*given: object, **more: object) -> SearchOutcome:
        outcome = search_split(*given, **more)  # type: ignore[arg-type]
        return replace(outcome, bound=outcome.bound + random.choice(excess))

    return searched


@pytest.mark.parametrize("seed", [*range(31), 543])
def test_bounds_and_counts_hold_where_parts_stay_unproven(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    annotators, objective = random.randint(2, 4), random.choice(OBJECTIVE_CHOICES)
    blocks = [random_block(random, annotators) for _ in range(random.choice((2, 3, 4)))]
    truths = [brute.solve(side_by_side([one], objective), Limits(solutions=10**6)) for one in blocks]
    if any(truth.status is Status.INFEASIBLE for truth in truths):
        return
    optimum = sum(truth.value for truth in truths)
    optima = prod(len(truth.partitions) for truth in truths)
    for excess in ((0, 0, 3, 9), (0, 7), (0, 0, 0, 20)):
        with monkeypatch.context() as patch:
            patch.setattr(state, "search_split", weakened(random, excess))
            solution = solve(side_by_side(blocks, objective), Limits(solutions=10**5))
        assert solution.bound <= optimum <= solution.value, excess
        if solution.bound == solution.value:
            assert solution.at_least <= optima and solution.count in (None, optima), excess


@pytest.mark.parametrize("objective", ["u", "ua"])
def test_an_interrupted_solve_is_improved_by_the_next(objective: str) -> None:
    instance = noisy(objective, mentions=40, seed=7)
    proven, interrupted = solve(instance, Limits()), 0
    for checks in range(2, 40, 6):
        solver, calls = IncrementalSolver(instance), count()
        early = solver.solve(Limits(cancelled=lambda: next(calls) >= checks))  # noqa: B023
        interrupted += early.status is Status.FEASIBLE
        assert early.bound <= proven.value <= early.value
        assert solver.solve().status is Status.OPTIMAL
        assert solver.solve().value == proven.value
    assert interrupted
