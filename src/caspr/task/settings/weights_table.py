"""Weights of annotators as a table, to look at, to edit and to give to `--weights`.

    annotator,omit,use
    anna,55,27
    ben,31,40
    *constant,29,

omit is what it costs not to use a link of the annotator, use what it costs to use a link that the annotator
did not give; both are whole numbers. The row `*constant` is what every pair in one chain costs; it may be
missing.
"""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from caspr.errors import FormatError, InputError
from caspr.text.csv_table import TableRow, read_table

COLUMNS = ("annotator", "omit", "use")
"""The columns of the table."""
CONSTANT = "*constant"
"""The name of the row that is not an annotator's."""
LARGEST = 1_000_000
"""Weights beyond this would leave the 32-bit numbers of answer set solvers."""


@dataclass(frozen=True)
class AnnotatorWeights:
    """What the votes of one annotator cost."""

    annotator: str
    """The name."""
    omit: int
    """What it costs not to use a link that the annotator gave."""
    use: int
    """What it costs to use a link that the annotator did not give."""


@dataclass(frozen=True)
class WeightsTable:
    """What the votes of annotators cost."""

    annotators: tuple[AnnotatorWeights, ...]
    """Each annotator once."""
    constant: int | None = None
    """What every pair in one chain costs; `None` where nothing is said."""

    def of(self, names: Sequence[str]) -> tuple[AnnotatorWeights, ...]:
        """Return the weights of some annotators in their order; refuse one who has none."""
        known = {one.annotator: one for one in self.annotators}
        missing = [name for name in names if name not in known]
        if missing:
            raise InputError(
                f"weights: found none for annotator '{missing[0]}', expected a row for each annotator; there "
                f"are {', '.join(sorted(known)) or 'none'}"
            )
        return tuple(known[name] for name in names)


def write_weights(weights: WeightsTable) -> str:
    """Write a table as the text of a CSV file.

    >>> print(write_weights(WeightsTable((AnnotatorWeights("anna", 55, 27),), 29)), end="")
    annotator,omit,use
    anna,55,27
    *constant,29,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((one.annotator, one.omit, one.use) for one in weights.annotators)
    if weights.constant is not None:
        writer.writerow((CONSTANT, weights.constant, ""))
    return text.getvalue()


def read_weights(text: str, source: str) -> WeightsTable:
    """Read a table from the text of a CSV file, in any of the forms of `caspr.text.csv_table`."""
    rows = read_table(text, source, COLUMNS)
    _refuse_repetitions(rows, source)
    constants = [_constant(row, source) for row in rows if row.cells[0] == CONSTANT]
    annotators = tuple(_annotator(row, source) for row in rows if row.cells[0] != CONSTANT)
    if not annotators:
        raise FormatError(
            source, None, "no annotator", "a row for each, with the columns annotator, omit, use"
        )
    return WeightsTable(annotators, constants[0] if constants else None)


def _refuse_repetitions(rows: Sequence[TableRow], source: str) -> None:
    seen: Counter[str] = Counter()
    for line, cells in rows:
        seen[cells[0]] += 1
        if seen[cells[0]] > 1:
            raise FormatError(source, line, f"'{cells[0]}' once more", "one row for each annotator")


def _annotator(row: TableRow, source: str) -> AnnotatorWeights:
    name, omit, use = row.cells
    if not name or name.startswith("*"):
        raise FormatError(source, row.line, f"'{name}'", f"the name of an annotator, or {CONSTANT}")
    return AnnotatorWeights(name, _weight(omit, row, source), _weight(use, row, source))


def _constant(row: TableRow, source: str) -> int:
    if row.cells[2]:
        raise FormatError(
            source, row.line, f"'{row.cells[2]}' behind {CONSTANT}", "one number and an empty cell"
        )
    return _weight(row.cells[1], row, source)


def _weight(cell: str, row: TableRow, source: str) -> int:
    if cell.isascii() and cell.isdigit() and len(cell) <= len(str(LARGEST)) and int(cell) <= LARGEST:
        return int(cell)
    expected = f"a whole number from 0 to {LARGEST:,}; for decimals, multiply all weights by 10"
    raise FormatError(source, row.line, f"'{cell}'", expected)
