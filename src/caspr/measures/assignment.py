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
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter

from caspr.text.grouping import Groups

Pair = tuple[int, int]
Weights = Mapping[Pair, float]
"""How much two numbered things, a row and a column, have in common; nothing where they are not there."""


def map_one_to_one(weights: Weights) -> list[Pair]:
    """Map rows on columns, part by part, so that the weights of the chosen pairs add up to most.

    >>> map_one_to_one({(0, 0): 2, (0, 1): 1, (1, 1): 1, (2, 1): 1})
    [(0, 0), (1, 1)]
    """
    rows, columns = (Counter(map(itemgetter(side), weights)) for side in (0, 1))
    alone = [(row, column) for row, column in weights if rows[row] == columns[column] == 1]
    groups: Groups[int] = Groups()
    # Rows are numbered from 0, columns from -1 downwards.
    rest = sorted(weights.keys() - set(alone))
    for row, column in rest:
        groups.add(row)
        groups.add(~column)
        groups.join(row, ~column)
    parts: dict[int, dict[Pair, float]] = defaultdict(dict)
    for pair in rest:
        parts[groups.first(pair[0])][pair] = weights[pair]
    return [*alone, *(pair for part in parts.values() for pair in _map_part(part))]


def _map_part(weights: Weights) -> list[Pair]:
    """Map one part; where one side is a single row or column, its largest weight decides."""
    rows, columns = (sorted({pair[side] for pair in weights}) for side in (0, 1))
    if len(rows) == 1 or len(columns) == 1:
        return [max(weights, key=lambda pair: (weights[pair], -pair[0], -pair[1]))]
    row_of, column_of = ({item: number for number, item in enumerate(side)} for side in (rows, columns))
    numbered = {(row_of[row], column_of[column]): weight for (row, column), weight in weights.items()}
    return [(rows[row], columns[column]) for row, column in assign(numbered, len(rows), len(columns))]


def assign(weights: Weights, rows: int, columns: int) -> list[Pair]:
    """Map rows on columns, of both of which the numbers begin with 0; return the pairs by their rows.

    >>> assign({(0, 1): 3, (1, 0): 2, (1, 1): 4}, 2, 2)
    [(0, 1), (1, 0)]
    """
    if columns < rows:
        turned = {(column, row): weight for (row, column), weight in weights.items()}
        return sorted((row, column) for column, row in assign(turned, columns, rows))
    search = _Search(weights, rows, columns)
    for row in range(rows):
        search.add(row)
    return [pair for pair in enumerate(search.column_of) if pair in weights]


class _Search:
    """The columns that some rows have, and the prices that prove that no others would be better."""

    def __init__(self, weights: Weights, rows: int, columns: int) -> None:
        self.column_of = [-1] * rows
        self._row_of = [-1] * columns
        self._order = list(range(columns))[::-1]
        self._weights: list[dict[int, float]] = [{} for _ in range(rows)]
        for (row, column), weight in weights.items():
            self._weights[row][column] = weight
        self._row_price: list[float] = [0] * rows
        self._column_price: list[float] = [0] * columns

    def add(self, row: int) -> None:
        """Give one more row a column."""
        left, place = self._order.copy(), self._order.copy()
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
            self.column_of[here], column = column, self.column_of[here]

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
            column = self.column_of[row]
            self._row_price[row] += cost if column < 0 else cost - passed[column]
        for column, at in passed.items():
            self._column_price[column] -= cost - at
