"""Work in blocks gives what NumPy gives at once, and looks at the clock before every block."""

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from caspr.engines.native.partition import heuristics as growing
from caspr.engines.native.partition import problem
from caspr.engines.native.partition import reductions as beside
from caspr.engines.native.partition import sparse as blocks
from caspr.engines.native.partition.heuristics import grow
from caspr.engines.native.partition.reductions import shrink
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.watch import ExpiredError, Watch
from tests.engines.native.partition.random_listings import random_listing

BLOCK = 4


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, beside, growing):
        monkeypatch.setattr(module, "BLOCK", BLOCK)
    monkeypatch.setattr(problem, "JOINED", BLOCK)
    monkeypatch.setattr(blocks, "SAMPLED", 3)


def counting() -> "tuple[Watch, count[int]]":
    """Return a watch that never expires, and a counter of its looks."""
    looks = count()
    return Watch(cancelled=lambda: next(looks) < 0), looks


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("narrow", [0, 1 << 16])
@pytest.mark.parametrize("largest", [1, 3, 1000, 1 << 40])
def test_numbers_are_sorted_as_at_once(largest: int, narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NARROW", narrow)
    random = np.random.default_rng(1)
    for size in (0, 1, 4, 5, 100, 1000):
        for keys in (random.integers(-largest, largest, size), np.full(size, 7)):
            assert np.array_equal(blocks.order(keys, Watch()), np.argsort(keys, kind="stable"))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("size", [0, 1, 4, 5, 41])
def test_columns_are_filled_as_at_once(size: int) -> None:
    numbers = np.arange(size)
    assert blocks.filled(size, lambda part: numbers[part] ** 2, Watch()).tolist() == (numbers**2).tolist()


STEPS: dict[str, Callable[[SparseProblem, Watch], object]] = {
    "order": lambda sparse, watch: blocks.order(sparse.first, watch),
    "change": lambda sparse, watch: sparse.change(watch),
    "index": lambda sparse, watch: sparse.index(watch),
    "contract": lambda sparse, watch: sparse.contract(np.arange(sparse.size) // 2, watch),
    "shrink": shrink,
    "grow": grow,
    "heavy non-edges": beside.listed_non_edges,
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", STEPS)
def test_every_step_looks_at_the_clock_before_every_block(step: str) -> None:
    for seed in range(20):
        sparse = random_listing(seed, 14)
        if not (step == "heavy non-edges" and sparse.common is not None):
            watch, looks = counting()
            STEPS[step](sparse, watch)
            assert next(looks) >= len(sparse.first) // BLOCK


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", STEPS)
def test_a_limit_at_every_look_ends_a_step(step: str) -> None:
    """What can stop in the middle gives a valid answer; what cannot raises `ExpiredError`, at once."""
    for seed in range(6):
        sparse = random_listing(seed, 10)
        if step == "heavy non-edges" and sparse.common is not None:
            continue
        watch, looks = counting()
        STEPS[step](sparse, watch)
        for moment in range(next(looks)):
            again, calls = random_listing(seed, 10), count()
            late = Watch(cancelled=lambda: next(calls) >= moment)  # noqa: B023
            if step == "grow":
                assert sparse.value(grow(again, late)) is not None
            elif step == "shrink":
                shrunk = shrink(again, late)
                every = np.arange(shrunk.problem.size)[shrunk.labels]
                assert sparse.value(every) == shrunk.constant
            else:
                with pytest.raises(ExpiredError):
                    STEPS[step](again, late)
            assert next(calls) <= moment + 2
