"""Fifteen to sixty annotators of a few mentions: the native engine, brute force and clingo agree."""

from random import Random

import pytest

from caspr.engines import brute, choose
from caspr.engines.native import solve
from caspr.engines.native.proof_writer import prove_optimal
from caspr.proof.certify import certify
from caspr.proof.verify import verify
from caspr.task.instance import Instance, Nesting
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Coefficients
from caspr.text.document import Annotation, Chain, Document, Span


def crowd(seed: int, mentions: int) -> Instance:
    """Make a document that many annotators agree on, more or less; some mentions lie inside others."""
    random = Random(seed)
    document = Document("d", ("w",) * (2 * mentions))
    starts = [random.randrange(1, 2 * mentions) for _ in range(mentions)]
    spans = sorted({Span(start, min(2 * mentions, start + random.choice((0, 0, 1)))) for start in starts})
    truth = [random.randrange(random.choice((1, 2, 3))) for _ in spans]
    found, astray = random.choice((0.6, 0.9)), random.choice((0.02, 0.15, 0.4))
    annotations = []
    for number in range(random.randrange(15, 61)):
        chains: dict[int, list[Span]] = {}
        for span, entity in zip(spans, truth, strict=True):
            if random.random() < found:
                chains.setdefault(random.randrange(4) if random.random() < astray else entity, []).append(
                    span
                )
        own = [Chain.of(str(entity), chain) for entity, chain in chains.items()]
        annotations.append(Annotation.of(f"a{number}", document, own))
    objective = OBJECTIVES[random.choice(sorted(OBJECTIVES))]
    weights = None
    if random.random() < 0.5:
        votes = [random.randrange(1, 6) for _ in annotations]
        omit, use = ([cost * vote for vote in votes] for cost in (objective.omit, objective.use))
        weights = Coefficients(tuple(omit), tuple(use), objective.invent)
    nested = random.choice(list(Nesting))
    return Instance(tuple(annotations), objective, weights=weights, nested=nested)


@pytest.mark.parametrize("seed", range(120))
def test_against_brute_force(seed: int) -> None:
    instance = crowd(seed, mentions=8)
    truth, solution = (engine(instance, Limits(certificate=True)) for engine in (brute.solve, solve))
    certify(instance, solution)
    assert (solution.value, solution.bound) == (truth.value, truth.value)
    assert verify(prove_optimal(instance, solution, Limits()), instance) == truth.value
    every = (engine(instance, Limits(solutions=1000)) for engine in (brute.solve, solve))
    assert len({frozenset(solution.partitions) for solution in every}) == 1


@pytest.mark.parametrize("seed", range(200, 212))
def test_against_clingo(seed: int) -> None:
    pytest.importorskip("clingo")
    instance = crowd(seed, mentions=9)
    _, clingo = choose("clingo")
    solution = solve(instance, Limits())
    assert solution.value == solution.bound == clingo(instance, Limits(), lambda *_, **__: None).value


@pytest.mark.parametrize("seed", range(300, 340))
def test_larger_crowds_are_proven_and_verified(seed: int) -> None:
    instance = crowd(seed, mentions=60)
    solution = solve(instance, Limits(certificate=True))
    certify(instance, solution)
    assert solution.value == solution.bound
    assert verify(prove_optimal(instance, solution, Limits()), instance) == solution.value
