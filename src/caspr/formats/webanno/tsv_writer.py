"""Rows of WebAnno TSV written back with some columns changed.

An annotation is repeated on the row of every token it covers whole; a token of which it covers a part gets
a row `1-1.1` for that part. Rows for parts are removed when they become empty.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from caspr.formats.text_layer.characters import Extent, Units
from caspr.formats.webanno.tsv import Row, Table

_Place = tuple[str, Extent]
"""A row: the id of its token, and its characters."""


class CellTexts:
    """What to write into some columns, by the characters it is about."""

    def __init__(self, columns: Iterable[int]) -> None:
        """Name the columns that are written anew."""
        self.columns = frozenset(columns)
        self.entries: list[tuple[Extent, Mapping[int, str]]] = []
        self.links: list[tuple[Extent, Extent, Mapping[int, str], int]] = []

    def add(self, extent: Extent, values: Mapping[int, str]) -> None:
        """Stack an annotation on all rows that it covers."""
        self.entries.append((extent, values))

    def link(self, here: Extent, there: Extent, values: Mapping[int, str], column: int) -> None:
        """Stack a relation where one annotation begins; in `column` comes the row where the other begins."""
        self.links.append((here, there, values, column))


def rewritten(table: Table, cells: CellTexts) -> str:
    """Return the file with the columns of the cells replaced."""
    known = {(row.id.partition(".")[0], row.extent): row.id for row in table.rows}
    stacks, fresh = _stacks(table, cells, known)
    width = sum(layer.width for layer in table.layers)
    units = Units(table.text)
    lines: dict[int, list[str]] = {}
    last: dict[str, int] = {}
    for row in table.rows:
        token = row.id.partition(".")[0]
        last[token] = row.place
        lines[row.place] = list(
            _changed(table, row, _row_cells(row.cells, cells, stacks.get((token, row.extent), {})))
        )
    for (token, extent), id in fresh.items():
        text = table.text[slice(*extent)].replace("\n", " ").replace("\t", " ").replace("\r", " ")
        place = f"{units.of(extent[0])}-{units.of(extent[1])}"
        blank = _row_cells(("_",) * width, cells, stacks[token, extent])
        lines[last[token]].append("\t".join([id, place, text, *blank]) + table.tail)
    whole = (line for place, old in enumerate(table.lines) for line in lines.get(place, [old]))
    return "".join(f"{line}\n" for line in whole)


def _changed(table: Table, row: Row, cells: Sequence[str]) -> Iterator[str]:
    """Return the line of a row, unless it has become empty."""
    if tuple(cells) == row.cells:
        yield table.lines[row.place]
    elif not row.part or any(cell != "_" for cell in cells):
        head = table.lines[row.place].split("\t")[:3]
        yield "\t".join([*head, *cells]) + table.tail


def _row_cells(old: Sequence[str], cells: CellTexts, stack: Mapping[int, Sequence[str]]) -> list[str]:
    return [
        ("|".join(stack.get(column, ())) or "_") if column in cells.columns else cell
        for column, cell in enumerate(old)
    ]


def _stacks(
    table: Table, cells: CellTexts, known: Mapping[_Place, str]
) -> tuple[dict[_Place, dict[int, list[str]]], dict[_Place, str]]:
    """Sort what is to be written by row, and return the rows that the file does not have."""
    stacks: dict[_Place, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    tokens = [row for row in table.rows if not row.part]
    starts = [row.extent[0] for row in tokens]
    for extent, values in cells.entries:
        for place in _covered(tokens, starts, extent):
            for column, value in values.items():
                stacks[place][column].append(value)
    fresh = _fresh_rows(table, sorted(stacks.keys() - known.keys()))
    for here, there, values, column in cells.links:
        place = next(_covered(tokens, starts, here))
        target = next(_covered(tokens, starts, there))
        row = known.get(target) or fresh[target]
        for number, value in values.items():
            stacks[place][number].append(f"{row}{value}" if number == column else value)
    return stacks, fresh


def _fresh_rows(table: Table, places: Iterable[_Place]) -> dict[_Place, str]:
    """Number new rows on from those that a token has."""
    used: dict[str, int] = defaultdict(int)
    for row in table.rows:
        token, _, number = row.id.partition(".")
        used[token] = max(used[token], int(number or 0))
    fresh: dict[_Place, str] = {}
    for place in places:
        used[place[0]] += 1
        fresh[place] = f"{place[0]}.{used[place[0]]}"
    return fresh


def _covered(tokens: Sequence[Row], starts: Sequence[int], extent: Extent) -> Iterator[_Place]:
    """Cut an annotation into whole tokens and parts of tokens."""
    start, end = extent
    first = max(0, bisect_right(starts, start) - 1)
    if start == end:
        while first and starts[first - 1] == start:
            first -= 1
        near = [
            row for row in tokens[max(0, first - 1) : first + 3] if row.extent[0] <= start <= row.extent[1]
        ]
        same = [row for row in near if row.extent == extent]
        yield ((same or near or tokens[first : first + 1]) or tokens)[0].id, extent
        return
    for place in range(first, bisect_left(starts, end)):
        row = tokens[place]
        low, high = max(start, row.extent[0]), min(end, row.extent[1])
        if low < high:
            yield row.id, (low, high)
