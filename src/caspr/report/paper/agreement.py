"""The agreement between annotators as tables and as a figure for a paper."""

from collections.abc import Iterator, Sequence

from caspr.measures.comparison import Comparison
from caspr.measures.intervals import ComparisonIntervals, Interval
from caspr.measures.typology import DisagreementCounts, DisagreementKind
from caspr.report.comparison_tables import KINDS, NumberStyle, mean_counts
from caspr.report.disagreements import TITLES
from caspr.report.paper.drawing import (
    Drawing,
    MeasuredBar,
    bar_chart,
    below,
    heat_map,
    stacked_chart,
)
from caspr.report.paper.tables import Cell, PaperTable
from caspr.text.findings import times

HEAD = ("document", "of", "kind", "annotator", "other", "value", "low", "high")
"""The columns of the CSV file."""
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
    """Yield all numbers, one a row: of `all`, each `pair`, each `annotator`, and the `others` without it."""
    title, names = comparison.title, comparison.annotators
    for kind, number in comparison.alpha.items():
        yield title, "all", kind, None, None, number, *_bounds(intervals.alpha[kind] if intervals else None)
    for name, count in _counted(comparison.disagreement):
        yield title, "all", name, None, None, count, None, None
    for kind, matrix in comparison.matrices.items():
        if kind not in comparison.alpha:
            mean = comparison.between(kind)
            yield (
                title,
                "all",
                kind,
                None,
                None,
                mean,
                *_bounds(intervals.between[kind] if intervals else None),
            )
        for row, one in enumerate(names):
            for column, other in enumerate(names):
                if one != other:
                    bounds = _bounds(intervals.pairs[kind].get((one, other)) if intervals else None)
                    yield title, "pair", kind, one, other, matrix[row][column], *bounds
        for name in names:
            bounds = _bounds(intervals.annotators[kind][name] if intervals else None)
            yield title, "annotator", kind, name, None, comparison.with_others(kind, name), *bounds
    for name in names:
        for kind, number in comparison.without[name].items():
            yield title, "others", kind, name, None, number, None, None
    for (one, other), counts in comparison.pairs.items():
        for kind, count in _counted(counts):
            yield title, "pair", kind, one, other, count, None, None


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


def _summary(comparison: Comparison, style: NumberStyle, intervals: ComparisonIntervals | None) -> PaperTable:
    numbers = [
        (KINDS[kind], number, intervals.alpha[kind] if intervals else None)
        for kind, number in comparison.alpha.items()
    ]
    numbers += [
        (
            f"{KINDS[kind]}, mean of pairs",
            comparison.between(kind),
            intervals.between[kind] if intervals else None,
        )
        for kind in ("mentions", "conll")
    ]
    rows = [
        (name, style.text(number), *([style.interval(bounds)] if intervals else []))
        for name, number, bounds in numbers
    ]
    more = " 95% intervals from drawing documents with replacement." if intervals else ""
    caption = f"Agreement between annotators ({_who(comparison)}); alpha is Krippendorff's.{more}"
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
        disputed = sum(mean_counts(comparison, name).values())
        others = style.text(comparison.without[name]["passonneau"])
        rows.append((name, f"{disputed:,.1f}", style.text(conll), *bounds, style.text(alpha), others))
    head = ("annotator", "disputed", "CoNLL", *(["95% interval"] if intervals else []), "alpha", "without")
    caption = (
        "Each annotator with the others, mean of pairs: disputed mentions, CoNLL score, alpha (Passonneau's "
        "distance), and the alpha of the others without this one."
    )
    return PaperTable(caption, "tab:annotators", head, tuple(rows))


def _matrix(comparison: Comparison, name: str, style: NumberStyle) -> PaperTable:
    rows = [
        (
            one,
            *(
                "–" if one == other else style.text(n)
                for other, n in zip(comparison.annotators, row, strict=True)
            ),
        )
        for one, row in zip(comparison.annotators, comparison.matrices[name], strict=True)
    ]
    caption = f"{KINDS[name]}, of each two annotators."
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
            (
                None if one == other or number is None else float(number),
                "" if one == other else style.text(number),
            )
            for other, number in zip(names, row, strict=True)
        ]
        for one, row in zip(names, comparison.matrices[matrix], strict=True)
    ]
    means = {name: comparison.with_others(matrix, name) for name in names}
    bars = [
        MeasuredBar(
            name,
            None if means[name] is None else float(means[name] or 0),
            style.text(means[name]),
            intervals.annotators[matrix][name] if intervals else None,
        )
        for name in names
    ]
    counts = {name: mean_counts(comparison, name) for name in names}
    parts = [(TITLES[kind], COLOURS[kind], [counts[name][kind] for name in names]) for kind in COLOURS]
    return below(
        f"Agreement between annotators, {comparison.title}",
        [
            heat_map(f"{KINDS[matrix]}, of each two annotators", names, cells),
            bar_chart(f"{KINDS[matrix]}, each annotator with the others (mean of pairs)", bars),
            stacked_chart("Mentions that each annotator disputes with another (mean of pairs)", names, parts),
        ],
    )
