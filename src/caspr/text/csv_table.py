"""Small tables that users write in a spreadsheet: rows of cells from the text of a CSV file.

    annotator,document,from,to          a header, if there is one
    anna,scene 1,1,240
    ben;scene 1;200;500                 semicolons or tabs, if the whole file has them

Cells are separated by commas, semicolons or tabs: by the only one of these with which every row has the
expected number of cells. Where none does, the first row decides, and the first row that differs is refused
by file and line; where several do, the file is refused. A first row that begins with the name of the first
column is a header. Blank lines, and empty cells after the last column, which spreadsheets write, are left
out. Cells may be quoted as in any CSV file, and blanks around them do not count.
"""

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from caspr.errors import FormatError
from caspr.text.findings import times

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What may separate cells, in words."""
FORMULA = frozenset("=+-@\t\r")
"""How a cell begins that a spreadsheet computes."""


class TableRow(NamedTuple):
    """One row of a table."""

    line: int
    """Where it ends in the file, for messages."""
    cells: tuple[str, ...]
    """Without blanks around them."""


class _Reading(NamedTuple):
    """A file read with one separator."""

    rows: list[TableRow]
    error: FormatError | None


def read_table(text: str, columns: Sequence[str]) -> list[TableRow]:
    """Return the rows of a table without its header.

    >>> read_table("annotator;omit;use\\n anna; 2; 1\\n", ("annotator", "omit", "use"))
    [TableRow(line=2, cells=('anna', '2', '1'))]
    """
    readings = {separator: _read(text, separator, len(columns)) for separator in SEPARATORS}
    fitting = [separator for separator, reading in readings.items() if _fits(reading, len(columns))]
    if len(fitting) > 1 and any(readings[separator].rows for separator in fitting):
        names = " and with ".join(SEPARATORS[separator] for separator in fitting)
        raise FormatError(None, f"a table that can be read with {names}", "one kind of separator")
    header = text.lstrip().partition("\n")[0]
    separator = fitting[0] if fitting else max(SEPARATORS, key=header.count)
    _refuse_misfits(readings[separator], columns, separator)
    rows = readings[separator].rows
    return rows[1:] if rows and rows[0].cells[0].casefold() == columns[0] else rows


def _read(text: str, separator: str, columns: int) -> _Reading:
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)
    rows = []
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            while len(stripped) > columns and not stripped[-1]:
                stripped.pop()
            if any(stripped):
                rows.append(TableRow(reader.line_num, tuple(stripped)))
    except csv.Error as error:
        return _Reading(rows, FormatError(reader.line_num, str(error), "cells quoted as in CSV"))
    return _Reading(rows, None)


def _fits(reading: _Reading, columns: int) -> bool:
    return reading.error is None and all(len(row.cells) == columns for row in reading.rows)


def _refuse_misfits(reading: _Reading, columns: Sequence[str], separator: str) -> None:
    for line, cells in reading.rows:
        if len(cells) != len(columns):
            raise FormatError(
                line,
                f"a row of {times(len(cells), 'cell')} separated by {SEPARATORS[separator]}",
                f"{len(columns)}: {', '.join(columns)}",
            )
    if reading.error:
        raise reading.error


def no_formula(cell: object) -> object:
    """Return a cell to write that no spreadsheet takes for a formula, which might run a program.

    >>> no_formula("=HYPERLINK(1)"), no_formula("anna"), no_formula(-1)
    ("'=HYPERLINK(1)", 'anna', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA and cell else cell
