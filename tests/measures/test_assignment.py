"""Rows are mapped on columns part by part, as well as all of them at once."""

import random

from caspr.measures.assignment import assign, map_one_to_one


def drawn(rng: random.Random, most: int) -> tuple[dict[tuple[int, int], int], int, int]:
    """Draw weights with many ties; some rows and columns have none."""
    rows, columns = rng.randint(1, most), rng.randint(1, most)
    share, top = rng.random() / 2, rng.randint(1, 5)
    pairs = ((row, column) for row in range(rows) for column in range(columns) if rng.random() < share)
    return {pair: rng.randint(1, top) for pair in pairs}, rows, columns


def test_parts_are_mapped_for_themselves_and_weigh_most_together() -> None:
    rng = random.Random(1)
    for _ in range(300):
        weights, rows, columns = drawn(rng, 12)
        chosen = map_one_to_one(weights)
        assert len({row for row, _ in chosen}) == len({column for _, column in chosen}) == len(chosen)
        best = assign(weights, rows, columns)
        assert sum(weights[pair] for pair in chosen) == sum(weights[pair] for pair in best)
