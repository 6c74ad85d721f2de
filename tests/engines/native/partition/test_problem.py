"""Contraction keeps values; components lose none."""

import numpy as np
import pytest

from caspr.engines.native.partition import problem as module
from caspr.engines.native.partition.problem import components, joined, renumber
from tests.engines.native.partition.random_problems import clusterings, random_problem


@pytest.mark.parametrize("seed", range(30))
def test_contraction_keeps_values_up_to_its_constant(seed: int) -> None:
    problem = random_problem(seed, 6)
    groups = renumber(np.random.default_rng(seed).integers(0, 4, 6))
    small, constant = problem.contract(groups)
    for labels in clusterings(small.size):
        inside = small.value(labels)
        if not problem.breaks(groups):
            expected = None if inside is None else inside + constant
            assert problem.value(labels[groups]) == expected


def test_joined_agrees_with_components() -> None:
    random = np.random.default_rng(1)
    for size in (1, 2, 5, 40):
        adjacent = random.random((size, size)) < 1.5 / size
        adjacent |= adjacent.T
        assert joined(size, *np.nonzero(adjacent)).tolist() == components(adjacent).tolist()


def test_an_empty_problem_has_no_components() -> None:
    assert components(np.zeros((0, 0), dtype=bool)).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_small_problems_are_joined_and_contracted_as_large_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    problem = random_problem(seed, 15)
    pairs = random.integers(0, 15, (2, seed // 2))
    groups = joined(15, *pairs)
    small, constant = problem.contract(groups)
    monkeypatch.setattr(module, "FOLDED_AT_ONCE", 0)
    monkeypatch.setattr(module, "FEW", 0)
    assert joined(15, *pairs).tolist() == groups.tolist()
    other, gained = problem.contract(groups)
    assert (other.key, gained) == (small.key, constant)
