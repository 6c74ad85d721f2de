r"""Tables for a paper: agreement and scores in LaTeX with booktabs, and in CSV for programs.

LaTeX needs `\usepackage{booktabs}`; the first lines of the file say what else the document must load. Names
may contain any characters: those that mean something in LaTeX are escaped. pdfLaTeX knows the letters of
Europe that are written like Latin ones; a name in another script needs LuaLaTeX or XeLaTeX, and a font that
has its letters, which only the author of the document can choose.

CSV has full precision and one number a row, so that R or pandas can make any table of it; numbers go from 0
to 1. `agreement_drawing` and `score_drawing` show the same numbers as a figure.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from unicodedata import normalize

from caspr.measures.comparison import Comparison
from caspr.measures.intervals import ComparisonIntervals, Interval
from caspr.measures.scores import TITLES as SCORE_TITLES
from caspr.measures.scores import Scores
from caspr.measures.typology import DisagreementCounts, DisagreementKind
from caspr.report.comparison_tables import (
    KINDS,
    NumberStyle,
    mean_counts,
    mean_disputed,
    mean_text,
    singletons_phrase,
)
from caspr.report.disagreements import TITLES
from caspr.report.paper.figures import Drawing, MeasuredBar, bar_chart, below, heat_map, stacked_chart
from caspr.text.csv_table import no_formula
from caspr.text.findings import printable, times

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
    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The cells, the first of each row being its name."""
    last: bool = False
    """Whether the last row is a total, which a rule sets apart."""


def latex_escape(text: str) -> str:
    r"""Return text that LaTeX prints unchanged, with minus signs before numbers.

    >>> latex_escape("a_b & 50%"), latex_escape("one--two <3>"), latex_escape("[-0.1, 0.2]")
    ('a\\_b \\& 50\\%', 'one-{}-two \\textless{}3\\textgreater{}', '[$-$0.1, 0.2]')
    """
    escaped = re.sub(r"[\\~^&%$#_{}<>|`]", lambda match: _SPECIAL[match[0]], _composed(text))
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
    r"""Return a row; after the end of another, a star or a bracket would be an argument of that.

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
        writer.writerow([float(cell) if isinstance(cell, Fraction) else no_formula(cell) for cell in row])
    return buffer.getvalue()


AGREEMENT_HEAD = ("document", "of", "kind", "annotator", "other", "value", "low", "high")
COLOURS = {
    DisagreementKind.BOUNDARY: "#d9822b",
    DisagreementKind.NESTED: "#8a63d2",
    DisagreementKind.MENTION: "#2b6cb0",
    DisagreementKind.SINGLETON: "#8a8a8a",
    DisagreementKind.SPLIT: "#2f9e77",
    DisagreementKind.ENTITY: "#c9405b",
}
"""The colours of the kinds of disagreement, as in reports."""


def agreement_rows(
    comparison: Comparison, intervals: ComparisonIntervals | None = None
) -> Iterator[tuple[Cell, ...]]:
    """Yield all numbers, one per row: of `all`, each `pair` and `annotator`, and the `others` without it."""
    title, names = comparison.title, comparison.annotators
    for kind, number in comparison.alpha.items():
        yield title, "all", kind, None, None, number, *_bounds(intervals.alpha[kind] if intervals else None)
    for name, count in _counted(comparison.disagreement):
        yield title, "all", name, None, None, count, None, None
    for kind, matrix in comparison.matrices.items():
        if kind not in comparison.alpha:
            mean = comparison.between(kind)
            bounds = _bounds(intervals.between[kind] if intervals else None)
            yield title, "all", kind, None, None, mean, *bounds
        for (first, row), (second, column) in permutations(zip(names, range(len(names)), strict=True), 2):
            bounds = _bounds(intervals.pairs[kind].get((first, second)) if intervals else None)
            yield title, "pair", kind, first, second, matrix[row][column], *bounds
        for name in names:
            bounds = _bounds(intervals.annotators[kind][name] if intervals else None)
            yield title, "annotator", kind, name, None, comparison.with_others(kind, name), *bounds
    for name in names:
        for kind, number in comparison.without[name].items():
            yield title, "others", kind, name, None, number, None, None
    for first, second in permutations(names, 2):
        counts = comparison.pairs.get((first, second))
        for kind, count in _counted(counts or DisagreementCounts()):
            yield title, "pair", kind, first, second, count if counts else None, None, None


def _counted(counts: DisagreementCounts) -> Iterator[tuple[str, int]]:
    yield "marked", counts.mentions
    yield "disputed", counts.disputed
    yield from ((f"disputed-{kind}", number) for kind, number in counts.kinds.items())


def _bounds(bounds: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if bounds is None else (bounds.low, bounds.high)


def agreement_tables(
    comparison: Comparison,
    matrices: Sequence[str],
    style: NumberStyle,
    intervals: ComparisonIntervals | None = None,
) -> list[PaperTable]:
    """Return tables: agreement of all, disagreement by kind, each annotator, and some matrices."""
    return [
        _summary(comparison, style, intervals),
        _kinds(comparison),
        _annotators(comparison, style, intervals),
        *(_matrix(comparison, name, style) for name in matrices),
    ]


def _who(comparison: Comparison) -> str:
    documents = times(len(comparison.typologies), "document")
    return f"{times(len(comparison.annotators), 'annotator')}, {documents}"


def _alone(comparison: Comparison) -> str:
    return f" In scores (F1), {singletons_phrase(comparison.singletons, 'annotators')}."


def _summary(comparison: Comparison, style: NumberStyle, intervals: ComparisonIntervals | None) -> PaperTable:
    rows = [
        (KINDS[kind], style.text(number), *([style.interval(intervals.alpha[kind])] if intervals else []))
        for kind, number in comparison.alpha.items()
    ]
    for kind in ("mentions", "conll"):
        bounds = [style.interval(intervals.between[kind])] if intervals else []
        rows.append((f"{KINDS[kind]}, mean of pairs", style.text(comparison.between(kind)), *bounds))
    more = _alone(comparison) + (" 95% intervals from resampling documents." if intervals else "")
    alpha = "alpha is Krippendorff's, in the text with Passonneau's distance"
    caption = f"Agreement between annotators ({_who(comparison)}); {alpha}.{more}"
    head = ("", "value", "95% interval") if intervals else ("", "value")
    return PaperTable(caption, "tab:agreement", head, tuple(rows))


def _kinds(comparison: Comparison) -> PaperTable:
    counts = comparison.disagreement
    rows = [
        (TITLES[kind], f"{number:,}", _percent(number, counts.mentions))
        for kind, number in counts.kinds.items()
    ]
    rows.append(("all disputed mentions", f"{counts.disputed:,}", _percent(counts.disputed, counts.mentions)))
    caption = f"What annotators disagree about, of {times(counts.mentions, 'mention')} ({_who(comparison)})."
    return PaperTable(caption, "tab:disagreement", ("", "mentions", "%"), tuple(rows), last=True)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _annotators(
    comparison: Comparison, style: NumberStyle, intervals: ComparisonIntervals | None
) -> PaperTable:
    rows = []
    for name in comparison.annotators:
        conll, alpha = (comparison.with_others(kind, name) for kind in ("conll", "passonneau"))
        bounds = [style.interval(intervals.annotators["conll"][name])] if intervals else []
        disputed = mean_text(mean_disputed(comparison, name))
        others = style.text(comparison.without[name]["passonneau"])
        rows.append((name, disputed, style.text(conll), *bounds, style.text(alpha), others))
    head = ("annotator", "disputed", "CoNLL", *(["95% interval"] if intervals else []), "alpha", "without")
    caption = (
        "Each annotator with the others, mean of pairs: disputed mentions, CoNLL score, alpha (Passonneau's "
        f"distance), and the alpha of the others without this one.{_alone(comparison)}"
    )
    return PaperTable(caption, "tab:annotators", head, tuple(rows))


def _matrix(comparison: Comparison, name: str, style: NumberStyle) -> PaperTable:
    names = comparison.annotators
    rows = [
        (first, *("–" if first == second else style.text(n) for second, n in zip(names, row, strict=True)))
        for first, row in zip(names, comparison.matrices[name], strict=True)
    ]
    alone = "" if name in comparison.alpha else _alone(comparison)
    caption = f"{KINDS[name]} for each pair of annotators.{alone}"
    return PaperTable(caption, f"tab:agreement-{name}", ("", *comparison.annotators), tuple(rows))


def agreement_drawing(
    comparison: Comparison,
    matrix: str,
    style: NumberStyle,
    intervals: ComparisonIntervals | None = None,
) -> Drawing:
    """Draw a matrix as a heat map, each annotator with the others as a bar, and disagreement by kind."""
    names = comparison.annotators
    cells = [
        [
            (None, "") if first == second else _cell(number, style)
            for second, number in zip(names, row, strict=True)
        ]
        for first, row in zip(names, comparison.matrices[matrix], strict=True)
    ]
    bounds = intervals.annotators[matrix] if intervals else {}
    bars = [
        MeasuredBar(name, *_cell(comparison.with_others(matrix, name), style), bounds.get(name))
        for name in names
    ]
    counts = {name: mean_counts(comparison, name) for name in names}
    parts = [(TITLES[kind], COLOURS[kind], [counts[name][kind] or 0 for name in names]) for kind in COLOURS]
    return below(
        f"Agreement between annotators, {comparison.title}",
        [
            heat_map(f"{KINDS[matrix]} for each pair of annotators", names, cells),
            bar_chart(f"{KINDS[matrix]}, each annotator with the others (mean of pairs)", bars),
            stacked_chart("Mentions that each annotator disputes with another (mean of pairs)", names, parts),
        ],
    )


def _cell(number: Fraction | None, style: NumberStyle) -> tuple[float | None, str]:
    """Return a number as a figure needs it: its size, and its text."""
    return None if number is None else float(number), style.text(number)


SCORES_HEAD = ("document", "measure", "recall", "precision", "f1", "f1_low", "f1_high")

Bounds = Mapping[str, Interval | None]
"""The interval of F1 of each measure; empty for too few documents."""


def score_lines(scores: Scores, style: NumberStyle, bounds: Bounds) -> Iterator[str]:
    """Yield the lines of a table of all measures; undefined numbers are dashes."""
    for name, *cells in (("", "recall", "precision", "F1", ""), *_rows(scores, style, bounds)):
        recall, precision, f1, interval = cells
        yield f"{name:<9}{recall:>9}{precision:>11}{f1:>9}  {interval}".rstrip()


def counted_phrase(scores: Scores) -> str:
    """Say which mentions match, where not only equal ones, and whether chains of one count."""
    ways = {"head": "mentions match by head; ", "partial": "mentions match in part; "}
    ways["overlap"] = "mentions match if they overlap; "
    return ways.get(scores.match, "") + singletons_phrase(scores.singletons)


def score_rows(title: str, scores: Scores, bounds: Bounds) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each measure."""
    for name, counts in scores.counts.items():
        interval = bounds.get(name) or (None, None)
        yield title, name, counts.recall.value, counts.precision.value, counts.f1, *interval
    yield title, "conll", None, None, scores.conll, *(bounds.get("conll") or (None, None))


def score_tables(scores: Scores, style: NumberStyle, bounds: Bounds) -> list[PaperTable]:
    """Return one table with all measures."""
    rows = [row if bounds else row[:-1] for row in _rows(scores, style, bounds)]
    counted = counted_phrase(scores)
    intervals = "; 95% intervals from resampling documents" if bounds else ""
    caption = f"Scores against the key. {counted[0].upper()}{counted[1:]}{intervals}."
    head = ("", "recall", "precision", "F1", "95% interval")[: 5 if bounds else 4]
    return [PaperTable(caption, "tab:scores", head, tuple(rows), last=True)]


def _rows(scores: Scores, style: NumberStyle, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    for name, counts in scores.counts.items():
        numbers = (counts.recall.value, counts.precision.value, counts.f1)
        yield SCORE_TITLES[name], *map(style.text, numbers), style.interval(bounds.get(name))
    yield SCORE_TITLES["conll"], "", "", style.text(scores.conll), style.interval(bounds.get("conll"))


def score_drawing(scores: Scores, style: NumberStyle, bounds: Bounds) -> Drawing:
    """Draw F1 of every measure as a bar."""
    bars = [
        MeasuredBar(SCORE_TITLES[name], *_cell(scores.f1(name), style), bounds.get(name))
        for name in (*scores.counts, "conll")
    ]
    return bar_chart("F1 against the key", bars)
