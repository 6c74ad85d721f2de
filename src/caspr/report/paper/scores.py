"""Scores of a response against a key as tables and as a figure for a paper."""

from collections.abc import Iterator, Mapping

from caspr.measures.intervals import Interval
from caspr.measures.scores import TITLES, Scores
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.drawing import Drawing, MeasuredBar, bar_chart
from caspr.report.paper.tables import Cell, PaperTable

HEAD = ("document", "measure", "recall", "precision", "f1", "f1_low", "f1_high")
"""The columns of the CSV file."""

Bounds = Mapping[str, Interval | None]
"""The interval of F1 of each measure; empty for a single document."""


def score_lines(scores: Scores, style: NumberStyle, bounds: Bounds) -> Iterator[str]:
    """Yield the lines of a table of all measures; undefined numbers are dashes."""
    for name, *cells in (("", "recall", "precision", "F1", ""), *_rows(scores, style, bounds)):
        recall, precision, f1, interval = cells
        yield f"{name:<9}{recall:>9}{precision:>11}{f1:>9}  {interval}".rstrip()


def score_rows(title: str, scores: Scores, bounds: Bounds) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each measure."""
    for name, counts in scores.counts.items():
        found = bounds.get(name) or (None, None)
        yield title, name, counts.recall.value, counts.precision.value, counts.f1, *found
    yield title, "conll", None, None, scores.conll, *(bounds.get("conll") or (None, None))


def score_tables(scores: Scores, style: NumberStyle, bounds: Bounds) -> list[PaperTable]:
    """Return one table with all measures."""
    rows = [row if bounds else row[:-1] for row in _rows(scores, style, bounds)]
    alone = "count" if scores.singletons else "are left out"
    intervals = "; 95% intervals from drawing documents with replacement" if bounds else ""
    caption = f"Scores against the key. Chains of one {alone}{intervals}."
    head = ("", "recall", "precision", "F1", "95% interval")[: 5 if bounds else 4]
    return [PaperTable(caption, "tab:scores", head, tuple(rows), last=True)]


def _rows(scores: Scores, style: NumberStyle, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    for name, counts in scores.counts.items():
        numbers = (counts.recall.value, counts.precision.value, counts.f1)
        yield TITLES[name], *map(style.text, numbers), style.interval(bounds.get(name))
    yield TITLES["conll"], "", "", style.text(scores.conll), style.interval(bounds.get("conll"))


def score_drawing(scores: Scores, style: NumberStyle, bounds: Bounds) -> Drawing:
    """Draw F1 of every measure as a bar."""
    measures = [*scores.counts, "conll"]
    bars = [
        MeasuredBar(
            TITLES[name],
            None if (f1 := scores.f1(name)) is None else float(f1),
            style.text(f1),
            bounds.get(name),
        )
        for name in measures
    ]
    return bar_chart("F1 against the key", bars)
