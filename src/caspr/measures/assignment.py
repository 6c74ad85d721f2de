"""Assignment: rows are mapped on columns, one to one, so that the weights of the chosen pairs add up to most.

Only pairs with a weight, which is positive, are listed and chosen; all others weigh nothing. The graph of
weights falls into parts, and each is solved by `scipy.optimize.linear_sum_assignment`, in floating point,
which holds whole numbers exactly.
"""

from collections.abc import Iterator, Mapping, Sequence

Pair = tuple[int, int]
Partners = Mapping[int, Sequence[int]]
"""The columns with which each row has a weight, or the rows of each column."""
Weights = Mapping[Pair, float]
"""How much two numbered things, a row and a column, have in common; nothing where they are not there."""


def map_one_to_one(weights: Weights) -> list[Pair]:
    """Map rows on columns, part by part, so that the weights of the chosen pairs add up to most.

    >>> map_one_to_one({(0, 0): 2, (0, 1): 1, (1, 1): 1, (2, 1): 1})
    [(0, 0), (1, 1)]
    """
    columns: dict[int, list[int]] = {}
    rows: dict[int, list[int]] = {}
    for row, column in weights:
        columns.setdefault(row, []).append(column)
        rows.setdefault(column, []).append(row)
    return [
        pair for part, others in _parts(columns, rows) for pair in _map_part(part, others, columns, weights)
    ]


def _parts(columns: Partners, rows: Partners) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows and the columns of each part."""
    done: set[int] = set()
    for start in columns:
        if start not in done:
            done.add(start)
            part, others = [start], set[int]()
            for row in part:
                for column in columns[row]:
                    if column not in others:
                        others.add(column)
                        more = [other for other in rows[column] if other not in done]
                        done.update(more)
                        part += more
            yield sorted(part), sorted(others)


def _map_part(
    rows: Sequence[int], columns: Sequence[int], partners: Partners, weights: Weights
) -> list[Pair]:
    """Map one part; where one side is a single row or column, its largest weight decides."""
    pairs = [(row, column) for row in rows for column in partners[row]]
    if len(rows) == 1 or len(columns) == 1:
        return [max(pairs, key=lambda pair: (weights[pair], -pair[0], -pair[1]))]
    row_of, column_of = ({item: number for number, item in enumerate(side)} for side in (rows, columns))
    numbered = {(row_of[row], column_of[column]): weights[row, column] for row, column in pairs}
    return [(rows[row], columns[column]) for row, column in assign(numbered, len(rows), len(columns))]


def assign(weights: Weights, rows: int, columns: int) -> list[Pair]:
    """Map rows on columns, of both of which the numbers begin with 0; return the pairs by their rows.

    >>> assign({(0, 1): 3, (1, 0): 2, (1, 1): 4}, 2, 2)
    [(0, 1), (1, 0)]
    """
    if not weights:
        return []
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((rows, columns))
    for pair, weight in weights.items():
        matrix[pair] = weight
    chosen = zip(*(side.tolist() for side in linear_sum_assignment(matrix, maximize=True)), strict=True)
    return [pair for pair in chosen if pair in weights]
