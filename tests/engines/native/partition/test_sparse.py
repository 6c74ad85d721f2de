"""A listed problem is the same problem as the one with all its pairs written down."""

import numpy as np
import pytest

from caspr.engines.native.partition.problem import Problem, components, renumber
from tests.engines.native.partition.random_listings import random_listing


def same(one: Problem, other: Problem) -> bool:
    return np.array_equal(one.gains, other.gains) and np.array_equal(one.forbidden, other.forbidden)


@pytest.mark.parametrize("block", range(4))
def test_values_and_sums_are_those_of_all_pairs(block: int) -> None:
    legal = 0
    for seed in range(block * 50, block * 50 + 50):
        sparse = random_listing(seed, 7)
        dense, random = sparse.dense(), np.random.default_rng(seed)
        assert sparse.ceiling == dense.ceiling
        assert sparse.positive.tolist() == np.maximum(dense.gains, 0).sum(axis=1).tolist()
        assert dense.step % sparse.step == 0
        assert sparse.mass >= int(np.abs(dense.gains).sum())
        for _ in range(10):
            labels = random.integers(0, random.integers(2, 9), 7)
            assert sparse.value(labels) == dense.value(labels)
            legal += dense.value(labels) is not None
    assert legal > 100


@pytest.mark.parametrize("block", range(4))
def test_contraction_and_restriction_are_those_of_all_pairs(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        sparse, random = random_listing(seed, 8), np.random.default_rng(seed)
        dense = sparse.dense()
        nodes = np.flatnonzero(random.random(8) < 0.6)
        assert same(sparse.restrict(nodes).dense(), dense.restrict(nodes))
        labels = renumber(random.integers(0, 6, 8))
        if dense.breaks(labels):
            continue
        small, constant = sparse.contract(labels)
        truth, gained = dense.contract(labels)
        assert constant == gained
        assert same(small.dense(), truth)


@pytest.mark.parametrize("seed", range(60))
def test_forbidding_listed_pairs_and_components_are_those_of_all_pairs(seed: int) -> None:
    sparse, random = random_listing(seed, 8), np.random.default_rng(seed)
    apart = random.random(len(sparse.first)) < 0.3
    matrix = np.zeros((8, 8), dtype=bool)
    matrix[sparse.first[apart], sparse.second[apart]] = True
    assert same(sparse.without(apart).dense(), sparse.dense().separate(matrix | matrix.T))
    dense = sparse.dense()
    for ties in (False, True):
        found = sparse.components(ties=ties)
        truth = components((dense.gains >= (not ties)) & ~dense.forbidden & ~np.eye(8, dtype=bool))
        # Components may be too coarse where pairs that are not listed gain, but never too fine.
        assert len(set(zip(found.tolist(), truth.tolist(), strict=True))) == truth.max() + 1
        if sparse.common is None or sparse.common < (not ties):
            assert found.tolist() == truth.tolist()
