r"""Tables for a paper: LaTeX with booktabs, and CSV for programs.

LaTeX needs `\usepackage{booktabs}`. Names may contain any characters: those that mean something in LaTeX
are escaped. CSV has full precision and one number a row, so that R or pandas can make any table of it;
numbers go from 0 to 1.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from caspr.text.printable import printable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


@dataclass(frozen=True)
class PaperTable:
    """A table as it is printed."""

    caption: str
    """What it shows, in a sentence."""
    label: str
    """By what name the paper refers to it."""
    head: tuple[str, ...]
    """The names of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """The cells, the first of each row being its name."""
    last: bool = False
    """Whether the last row is a total, which a rule sets apart."""


def latex_escape(text: str) -> str:
    r"""Return text that LaTeX prints unchanged.

    >>> latex_escape("a_b & 50%")
    'a\\_b \\& 50\\%'
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found[0]], printable(text))


def latex_text(tables: Iterable[PaperTable]) -> str:
    """Return tables as LaTeX."""
    parts = ["% \\usepackage{booktabs}"]
    for table in tables:
        rows = [" & ".join(map(latex_escape, row)) + r" \\" for row in table.rows]
        if table.last:
            rows.insert(-1, r"\midrule")
        columns = "l" + "r" * (len(table.head) - 1)
        parts += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_escape(table.caption)}}}",
            rf"\label{{{table.label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(latex_escape, table.head)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    return "\n".join(parts) + "\n"


Cell = str | int | float | Fraction | None
"""What a cell of CSV can be; `None` is empty."""


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    r"""Return rows as CSV.

    >>> csv_text(["who", "value"], [["ann", Fraction(1, 4)], ["bob", None]])
    'who,value\nann,0.25\nbob,\n'
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow(["" if cell is None else _plain(cell) for cell in row])
    return buffer.getvalue()


def _plain(cell: Cell) -> str | int | float | None:
    return float(cell) if isinstance(cell, Fraction) else cell
