"""Rows are mapped on columns as scipy maps them, whose matrix has every pair, also on ties."""

import random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from caspr.measures.assignment import assign, map_one_to_one

Pair = tuple[int, int]


def drawn(rng: random.Random, most: int) -> tuple[dict[Pair, float], int, int]:
    """Draw weights with many ties, whole numbers or fractions; some rows and columns have none."""
    rows, columns = rng.randint(1, most), rng.randint(1, most)
    share, top, parts = rng.random(), rng.randint(1, 5), rng.choice([1, 1, 9])
    return (
        {
            (row, column): rng.randint(1, top) / rng.randint(1, parts)
            for row in range(rows)
            for column in range(columns)
            if rng.random() < share
        },
        rows,
        columns,
    )


def by_scipy(weights: dict[Pair, float], rows: int, columns: int) -> list[Pair]:
    matrix = np.zeros((rows, columns))
    for pair, weight in weights.items():
        matrix[pair] = weight
    chosen = zip(*(side.tolist() for side in linear_sum_assignment(matrix, maximize=True)), strict=True)
    return [pair for pair in chosen if pair in weights]


@pytest.mark.parametrize("most", [2, 4, 9, 30])
def test_the_pairs_are_those_that_scipy_chooses(most: int) -> None:
    rng = random.Random(most)
    for _ in range(3000 // most):
        weights, rows, columns = drawn(rng, most)
        assert assign(weights, rows, columns) == by_scipy(weights, rows, columns)


def test_parts_are_mapped_for_themselves_and_weigh_most_together() -> None:
    rng = random.Random(1)
    for _ in range(300):
        weights, rows, columns = drawn(rng, 12)
        whole = {pair: round(weight * 2520) for pair, weight in weights.items()}
        chosen = map_one_to_one(whole)
        assert len({row for row, _ in chosen}) == len({column for _, column in chosen}) == len(chosen)
        best = by_scipy(dict(whole), rows, columns)
        assert sum(whole[pair] for pair in chosen) == sum(whole[pair] for pair in best)


def test_thousands_of_rows_need_no_matrix() -> None:
    """A matrix of these would have 25 million cells."""
    weights = {(row, row + step): 3 - step for row in range(5_000) for step in range(2)}
    assert assign(weights, 5_000, 5_001) == [(row, row) for row in range(5_000)]
