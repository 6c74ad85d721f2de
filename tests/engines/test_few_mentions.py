"""Documents of a few mentions get the native engine's answer by brute force, which needs no numpy."""

import random

import pytest

from caspr.engines import FEW, brute, choose, native
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from tests.instances import annotation, random_instance
from tests.sweeps import how_many


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_that_of_the_search(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(how_many(200, 40)):
        decisions = rng.random() < 0.5
        instance = random_instance(rng, mentions=FEW + 1, decisions=decisions, odd=True)
        assert choose()[1](instance, Limits(), silent) == native.solve(instance, Limits())


def test_more_mentions_several_answers_and_certificates_take_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(brute, "solve")
    for mentions, limits in (
        (FEW + 1, Limits()),
        (FEW, Limits(solutions=2)),
        (FEW, Limits(certificate=True)),
    ):
        chain = [(token, token) for token in range(1, mentions + 1)]
        instance = Instance((annotation("a", [chain], mentions),), OBJECTIVES["v"])
        assert choose()[1](instance, limits, silent).value == 0
    with pytest.raises(AttributeError):
        choose()[1](Instance((annotation("a", [[(1, 1), (2, 2)]]),), OBJECTIVES["v"]), Limits(), silent)
