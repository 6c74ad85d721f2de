"""Assignment: rows are mapped on columns, one to one, so that the weights of the chosen pairs add up to most.

Only pairs with a weight, which is positive, are listed and chosen; all others weigh nothing. The graph of
weights falls into parts, and each is solved by shortest augmenting paths (Crouse 2016): one row after the
other gets a column, for which those before it may change theirs. Prices of rows and columns make the least
cost at which a column is reached from the row a shortest path. Whole numbers are added exactly; other weights
are floating point numbers.

A path looks only at pairs with a weight. All others cost a row nothing but its price, so that the cheapest of
these is known, and leads to any column that is still free:

    reached by weights     for less than that: taken first, columns that are free before others
    any free column        for exactly that: ends the path

`scipy.optimize.linear_sum_assignment` fills a matrix with noughts for them and looks at each. On a tie the
same pairs are chosen here, because published scores of files with trees depend on it (`tree_matching`);
importing `scipy.optimize` takes longer than most documents.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

Pair = tuple[int, int]
_Rows = Mapping[int, Mapping[int, float]]
"""The weights of each row, by column; or those of each column, by row."""
Weights = Mapping[Pair, float]
"""How much two numbered things, a row and a column, have in common; nothing where they are not there."""


def map_one_to_one(weights: Weights) -> list[Pair]:
    """Map rows on columns, part by part, so that the weights of the chosen pairs add up to most.

    >>> map_one_to_one({(0, 0): 2, (0, 1): 1, (1, 1): 1, (2, 1): 1})
    [(0, 0), (1, 1)]
    """
    rows: dict[int, dict[int, float]] = {}
    columns: dict[int, dict[int, float]] = {}
    for (row, column), weight in weights.items():
        rows.setdefault(row, {})[column] = weight
        columns.setdefault(column, {})[row] = weight
    chosen: list[Pair] = []
    for part, others in _parts(rows, columns):
        if len(part) <= len(others):
            chosen += _map_part(part, others, rows)
        else:
            chosen += ((row, column) for column, row in _map_part(others, part, columns))
    return chosen


def _parts(rows: _Rows, columns: _Rows) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows and the columns of each part."""
    done: set[int] = set()
    for start in rows:
        if start not in done:
            done.add(start)
            part, others = [start], set[int]()
            for row in part:
                for column in rows[row]:
                    if column not in others:
                        others.add(column)
                        more = [other for other in columns[column] if other not in done]
                        done.update(more)
                        part += more
            yield sorted(part), sorted(others)


def _map_part(rows: Sequence[int], columns: Sequence[int], weights: _Rows) -> list[Pair]:
    """Map the rows of a part on its columns, which are no fewer; of one row, the largest weight decides."""
    if len(rows) == 1:
        row = weights[rows[0]]
        return [(rows[0], max(columns, key=lambda column: (row[column], -column)))]
    number = {column: number for number, column in enumerate(columns)}
    search = _Search(
        [{number[column]: weight for column, weight in weights[row].items()} for row in rows], len(columns)
    )
    return [(rows[row], columns[column]) for row, column in search.pairs()]


def assign(weights: Weights, rows: int, columns: int) -> list[Pair]:
    """Map rows on columns, of both of which the numbers begin with 0; return the pairs by their rows.

    >>> assign({(0, 1): 3, (1, 0): 2, (1, 1): 4}, 2, 2)
    [(0, 1), (1, 0)]
    """
    if columns < rows:
        turned = {(column, row): weight for (row, column), weight in weights.items()}
        return sorted((row, column) for column, row in assign(turned, columns, rows))
    of_row: list[dict[int, float]] = [{} for _ in range(rows)]
    for (row, column), weight in weights.items():
        of_row[row][column] = weight
    return _Search(of_row, columns).pairs()


class _Search:
    """The columns that some rows have, and the prices that prove that no others would be better."""

    def __init__(self, weights: Sequence[Mapping[int, float]], columns: int) -> None:
        self._weights = weights
        self._column_of = [-1] * len(weights)
        self._row_of = [-1] * columns
        # Which column is left at each place, and the place of each column.
        self._order = list(range(columns))[::-1]
        self._row_price: list[float] = [0] * len(weights)
        self._column_price: list[float] = [0] * columns

    def pairs(self) -> list[Pair]:
        """Give each row a column; return the pairs that weigh anything, by their rows."""
        for row in range(len(self._weights)):
            self._add(row)
        return [(row, column) for row, column in enumerate(self._column_of) if column in self._weights[row]]

    def _add(self, row: int) -> None:
        """Give one more row a column."""
        left = place = self._order
        costs: dict[int, float] = {}
        sources: dict[int, int] = {}
        passed: dict[int, float] = {}
        reached: dict[int, float] = {}
        here, cost = row, 0.0
        free = math.inf
        while True:
            reached[here] = cost
            free = min(free, cost - self._row_price[here])
            for column, weight in self._weights[here].items():
                at = cost - weight - self._row_price[here] - self._column_price[column]
                if column not in passed and at < costs.get(column, math.inf):
                    costs[column], sources[column] = at, here
            cost = min((free, *costs.values()))
            column = self._nearest(costs, cost, place) if cost < free else self._free(left)
            if self._row_of[column] < 0:
                break
            if not passed:
                left, place = left.copy(), place.copy()
            passed[column], here = costs.pop(column), self._row_of[column]
            left[place[column]], place[left[-1]] = left[-1], place[column]
            left.pop()
        if cost == free:
            sources[column] = next(
                here
                for here, at in reached.items()
                if at - self._weights[here].get(column, 0) - self._row_price[here] == cost
            )
        self._change_prices(reached, passed, cost)
        while column >= 0:
            here = self._row_of[column] = sources[column]
            self._column_of[here], column = column, self._column_of[here]

    def _nearest(self, costs: Mapping[int, float], cost: float, place: Sequence[int]) -> int:
        """Return the column to which a path leads: a free one, the last that is left; or else the first."""
        nearest = [column for column, at in costs.items() if at == cost]
        if len(nearest) == 1:
            return nearest[0]
        free = [column for column in nearest if self._row_of[column] < 0]
        return max(free, key=place.__getitem__) if free else min(nearest, key=place.__getitem__)

    def _free(self, left: Sequence[int]) -> int:
        """Return the last free column that is left; there is one, as no more rows than columns are there."""
        return next(column for column in reversed(left) if self._row_of[column] < 0)

    def _change_prices(self, reached: Mapping[int, float], passed: Mapping[int, float], cost: float) -> None:
        """Change prices so that all pairs on a path of this cost weigh what their row and column cost."""
        for row in reached:
            column = self._column_of[row]
            self._row_price[row] += cost if column < 0 else cost - passed[column]
        for column, at in passed.items():
            self._column_price[column] -= cost - at
