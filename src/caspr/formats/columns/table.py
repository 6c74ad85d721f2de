"""Tables: the rows of a column file split into columns, all rows at once where they have as many.

A row with a tab is split at tabs, so that tokens may hold blanks and cells may be empty; any other row is
split at blanks. Other characters that Unicode calls space, such as the no-break space, belong to the
token.

Nearly all files have the same number of columns in every row. All rows are then joined, with a sign between
them that no file holds, and split by one call; that the sign comes back at regular places proves that every
row has as many columns. Files of a novel's size are read some times faster like this than row by row.

The word column is the fourth in CoNLL-2012 (constant document, any part, whole number), otherwise the
first that does not consist of whole numbers, otherwise the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from caspr.errors import FormatError

_BETWEEN = "\0"
"""Stands between rows while they are split: no file that is read holds it."""


@dataclass(frozen=True)
class ColumnTable:
    """Rows split into columns."""

    columns: Sequence[Sequence[str]]
    """For each column what the rows hold that have it."""
    rows: Sequence[Sequence[str]] | None = None
    """The columns of each row, where rows differ in how many they have."""

    def without_last(self) -> "ColumnTable":
        """Return the table without the last column of each row."""
        return (
            ColumnTable(self.columns[:-1]) if self.rows is None else by_row([row[:-1] for row in self.rows])
        )


def split_row(text: str) -> tuple[str, str]:
    """Split a row into its prefix and its coreference cell.

    >>> split_row("1\\tNew York\\t"), split_row("wsj 0  the (1 ")
    (('1\\tNew York\\t', ''), ('wsj 0  the ', '(1'))
    """
    separator = "\t" if "\t" in text else " "
    head, found, cell = (text if separator == "\t" else text.rstrip(" ")).rpartition(separator)
    return head + found, cell


def split_columns(text: str) -> list[str]:
    """Split a row into all its columns."""
    return text.split("\t") if "\t" in text else [column for column in text.split(" ") if column]


def prefix_columns(prefix: str) -> list[str]:
    """Split a prefix into its columns.

    >>> prefix_columns("1\\tNew York\\t"), prefix_columns("wsj 0  the "), prefix_columns("")
    (['1', 'New York'], ['wsj', '0', 'the'], [])
    """
    return prefix[:-1].split("\t") if "\t" in prefix else [column for column in prefix.split(" ") if column]


def tabulate(texts: Sequence[str]) -> ColumnTable:
    """Split rows into columns.

    >>> tabulate(["1\\tNew York\\t-", "2\\tis\\t(1)"]).columns
    [('1', '2'), ('New York', 'is'), ('-', '(1)')]
    >>> tabulate(["a b", "c"]).rows
    [['a', 'b'], ['c']]
    """
    regular = _regular(texts) if texts else None
    return by_row([split_columns(text) for text in texts]) if regular is None else ColumnTable(regular)


def tabulate_prefixes(prefixes: Sequence[str]) -> ColumnTable:
    """Split prefixes, which have a separator at their ends, into columns."""
    if all(prefix[-1:] == "\t" for prefix in prefixes):
        return tabulate([prefix[:-1] for prefix in prefixes]) if prefixes else ColumnTable(())
    return by_row([prefix_columns(prefix) for prefix in prefixes])


def by_row(rows: Sequence[Sequence[str]]) -> ColumnTable:
    """Make a table of rows that were split."""
    width = max(map(len, rows), default=0)
    columns = [[row[place] for row in rows if len(row) > place] for place in range(width)]
    return ColumnTable(columns, rows)


def _regular(texts: Sequence[str]) -> list[tuple[str, ...]] | None:
    """Split rows that have the same number of columns; `None` for any others.

    Columns are tuples, which Python's garbage collector passes over if they hold only texts; it would walk
    through lists again and again.
    """
    separator = "\t" if "\t" in texts[0] else " "
    whole = f"{separator}{_BETWEEN}{separator}".join(texts)
    if separator == " " and "\t" in whole:
        return None
    values = whole.split(separator)
    if separator == " ":
        values = list(filter(None, values))
    width = len(split_columns(texts[0]))
    stride, count = width + 1, len(texts)
    if len(values) != count * stride - 1 or values[width::stride].count(_BETWEEN) != count - 1:
        return None
    # A single column without a tab looks like an empty row that is split at tabs.
    return [tuple(values[place::stride]) for place in range(width)] if width else None


def find_words(table: ColumnTable, lines: Sequence[int], source: str) -> tuple[str, ...]:
    """Take the word column out of the columns before coreference."""
    if not table.columns:
        return ("",) * len(lines)
    column = word_column(table.columns)
    if table.rows is None:
        return tuple(table.columns[column])
    try:
        return tuple([row[column] for row in table.rows])
    except IndexError:
        short = next(number for number, row in enumerate(table.rows) if len(row) <= column)
        found = f"a row of {len(table.rows[short]) + 1} columns"
        expected = f"at least {column + 2} columns: the word is in column {column + 1}"
        raise FormatError(source, lines[short], found, expected) from None


def word_column(columns: Sequence[Sequence[str]]) -> int:
    """Return which column holds the words."""
    first = columns[0]
    if len(columns) >= 4 and _is_numbers(columns[2]) and first.count(first[0]) == len(first):
        return 3
    words = [place for place, column in enumerate(columns) if not _is_numbers(column)]
    if len(words) < 2:
        return words[0] if words else 0
    return next((place for place in words if not _is_label(columns[place])), words[0])


def _is_numbers(cells: Sequence[str]) -> bool:
    """Return whether a column consists of whole numbers."""
    return "" not in cells and "".join(cells).isdecimal() if cells else True


def _is_label(cells: Sequence[str]) -> bool:
    """Return whether a column holds one name for all rows, or a numbered name for each, rather than words."""
    if len(set(cells)) == 1:
        return True
    stem = cells[0].rstrip("0123456789")
    if not all(cell[-1:].isdecimal() and cell.rstrip("0123456789") == stem for cell in cells):
        return False
    return len(set(cells)) == len(cells)
