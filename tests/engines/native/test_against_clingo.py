"""On documents too large for brute force, the native engine finds what clingo proves with MM."""

from collections.abc import Iterable
from random import Random

import pytest

from caspr.engines import choose
from caspr.task.contradictions import ContradictionError, refuse_contradictions
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.random_instances import random_decisions

OBJECTIVE_CHOICES = (*OBJECTIVES.values(), Objective(3, 2, 5), Objective(1, 1, 2), Objective(2, 3, None))


def random_document(seed: int) -> Instance:
    """Make an instance of 10 to 60 mentions: annotators who mostly agree, on chains of about five."""
    random = Random(seed)
    wanted = random.randint(10, 60)
    tokens = 3 * wanted
    starts = [random.randint(1, tokens - 3) for _ in range(wanted)]
    spans = sorted({Span(start, start + random.choice((0, 0, 0, 1, 3))) for start in starts})
    document = Document("d", ("w",) * tokens)
    truth = {span: random.randrange(max(2, wanted // 5)) for span in spans}
    noise = random.choice((0.02, 0.05, 0.1))
    annotations = tuple(
        Annotation.of(f"a{n}", document, _noisy(random, truth, noise)) for n in range(random.randint(2, 5))
    )
    return Instance(
        annotations,
        objective=random.choice(OBJECTIVE_CHOICES),
        decisions=random_decisions(random, spans) if seed % 2 else Decisions(),
        nested=random.choice(list(Nesting)),
        forced_votes=random.random() < 0.3,
        singletons=random.choice(list(Singletons)),
    )


def _noisy(random: Random, truth: dict[Span, int], noise: float) -> list[Chain]:
    chains: dict[int, set[Span]] = {}
    entities = sorted(set(truth.values()))
    for span, entity in truth.items():
        if random.random() < 0.9:
            chosen = random.choice(entities) if random.random() < noise else entity
            chains.setdefault(chosen, set()).add(span)
    return [Chain.of(str(number), spans) for number, spans in chains.items()]


def compare_with_clingo(instances: Iterable[Instance]) -> None:
    """Compare values; clingo may run into its limit, and then its bounds must hold."""
    native, clingo = choose("native")[1], choose("clingo", "mm")[1]
    proven = 0
    for number, instance in enumerate(instances):
        try:
            refuse_contradictions(instance)
        except ContradictionError:
            continue
        solution = native(instance, Limits(), silent)
        assert solution.status is Status.OPTIMAL, number
        expected = clingo(instance, Limits(seconds=2), silent)
        assert expected.bound <= solution.value <= expected.value, number
        proven += expected.status is Status.OPTIMAL
    assert proven


@pytest.mark.parametrize("block", range(8))
def test_value_is_that_of_clingo(block: int) -> None:
    compare_with_clingo(map(random_document, range(block * 10, block * 10 + 10)))
