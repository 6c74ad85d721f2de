r"""Tables for a paper: LaTeX with booktabs, and CSV for programs.

LaTeX needs `\usepackage{booktabs}`. Names may contain any characters: those that mean something in LaTeX
are escaped. The first lines of the file say what the document must load. pdfLaTeX knows the letters of
Europe that are written like Latin ones; a name in another script needs LuaLaTeX or XeLaTeX, and a font that
has its letters, which only the author of the document can choose.

CSV has full precision and one number a row, so that R or pandas can make any table of it; numbers go from 0
to 1.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from unicodedata import normalize

from caspr.text.printable import printable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LATIN = re.compile("[\x00-\u017e–—‘’“”„…]*")
"""Characters of which pdfLaTeX knows all but a few, with the fonts of T1."""
_UNKNOWN = re.compile("[ĦħĸĿŀŉŦŧ]")
"""Those few."""
_WIDE = 72
"""How many characters fit side by side into the text of an ordinary page."""
_MANY = 8
"""More columns than these are set closer together."""


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
    r"""Return text that LaTeX prints unchanged, with minus signs before numbers.

    >>> latex_escape("a_b & 50%"), latex_escape("one--two <3>"), latex_escape("[-0.1, 0.2]")
    ('a\\_b \\& 50\\%', 'one-{}-two \\textless{}3\\textgreater{}', '[$-$0.1, 0.2]')
    """
    escaped = re.sub(r"[\\~^&%$#_{}<>|`]", lambda found: _SPECIAL[found[0]], _composed(text))
    apart = re.sub(r"([-',])(?=\1)", r"\1{}", escaped)
    return re.sub(r"(?<![\w\-}])-(?=\d)", "$-$", apart)


def latex_text(tables: Sequence[PaperTable]) -> str:
    """Return tables as LaTeX."""
    cells = [cell for table in tables for row in (table.head, *table.rows) for cell in row]
    parts = list(_preamble(_composed("".join(cells))))
    for table in map(_narrow, tables):
        rows = [_row(row) for row in table.rows]
        if table.last:
            rows.insert(-1, r"\midrule")
        columns = "l" + "r" * (len(table.head) - 1)
        parts += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_escape(table.caption)}}}",
            rf"\label{{{table.label}}}",
            *([r"\setlength{\tabcolsep}{3pt}"] if len(columns) > _MANY else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _row(table.head),
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    return "\n".join(parts) + "\n"


def _composed(text: str) -> str:
    """Return text in which an accent and its letter, which files of macOS have apart, are one character."""
    return normalize("NFC", printable(text))


def _preamble(text: str) -> Iterator[str]:
    """Yield what the document must have, as comments."""
    yield r"% \usepackage{booktabs}"
    if _LATIN.fullmatch(text) is None or _UNKNOWN.search(text):
        yield "% There are letters here that pdfLaTeX does not know: use LuaLaTeX or XeLaTeX, with"
        yield r"% \usepackage{fontspec} and, in \setmainfont, a font that has them."
    elif re.search("[\u0080-\u017e]", text):
        yield r"% \usepackage[T1]{fontenc}"


def _row(cells: Iterable[str]) -> str:
    r"""Return a row; behind the end of another, a star or a bracket would be an argument of that.

    >>> _row(["[x]", "1"])
    '{}[x] & 1 \\\\'
    """
    text = " & ".join(map(latex_escape, cells))
    return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"


def _narrow(table: PaperTable) -> PaperTable:
    """Return a table in which the columns of a wide matrix have numbers instead of the names of its rows."""
    names = tuple(row[0] for row in table.rows)
    if table.head[1:] != names or sum(len(name) + 2 for name in table.head) + max(map(len, names)) <= _WIDE:
        return table
    rows = tuple((f"{number} {row[0]}", *row[1:]) for number, row in enumerate(table.rows, 1))
    return replace(table, head=("", *map(str, range(1, len(names) + 1))), rows=rows)


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
