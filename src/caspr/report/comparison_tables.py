"""Comparisons of annotators, and of settings, as text tables and as JSON values."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from caspr.measures.comparison import Comparison, Matrix
from caspr.measures.reliability import Reliability
from caspr.measures.settings_comparison import SettingsComparison, SettingsRow
from caspr.task.settings.weights_table import CONSTANT
from caspr.text.findings import times

KINDS = {
    "passonneau": "alpha, Passonneau's distance",
    "masi": "alpha, MASI",
    "nominal": "alpha, nominal",
    "links": "alpha over links",
    "mentions": "mentions, F1",
    "muc": "MUC, F1",
    "b3": "B3, F1",
    "ceafm": "CEAFm, F1",
    "ceafe": "CEAFe, F1",
    "blanc": "BLANC, F1",
    "lea": "LEA, F1",
    "conll": "CoNLL, mean F1",
}
"""What each kind of number is called in tables."""


def decimal(number: Fraction | None) -> str:
    """Format a number with three decimals, or a dash where it is undefined.

    >>> decimal(Fraction(20, 29)), decimal(None)
    ('0.690', '-')
    """
    return "-" if number is None else f"{float(number):.3f}"


def comparison_lines(comparison: Comparison, matrices: Sequence[str] = ("conll",)) -> Iterator[str]:
    """Yield a summary, the agreement of each annotator with the others, and some matrices."""
    yield f"{comparison.title}: {len(comparison.annotators)} annotators"
    for kind, number in comparison.alpha.items():
        yield f"  {KINDS[kind]:<30}{decimal(number):>8}"
    for kind in ("mentions", "conll"):
        yield f"  {KINDS[kind] + ', mean of pairs':<30}{decimal(comparison.between(kind)):>8}"
    for (some, of), count in comparison.marked.items():
        yield f"  {f'mentions marked by {some} of {of}':<30}{count:>8,}"
    yield from _rest_lines(comparison)
    for name in matrices:
        yield f"  {KINDS[name]}"
        yield from matrix_lines(comparison.annotators, comparison.matrices[name])


def matrix_lines(annotators: Sequence[str], matrix: Matrix) -> Iterator[str]:
    """Yield the lines of a matrix with names at both sides."""
    width = max(8, *(len(name) + 2 for name in annotators))
    yield " " * (width + 2) + "".join(f"{name:>{width}}" for name in annotators)
    for name, row in zip(annotators, matrix, strict=True):
        yield f"    {name:<{width - 2}}" + "".join(f"{decimal(number):>{width}}" for number in row)


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Return everything as JSON values; undefined numbers are `None`."""
    return {
        "name": comparison.title,
        "annotators": list(comparison.annotators),
        "alpha": {kind: exact(number) for kind, number in comparison.alpha.items()},
        "mentions": [
            {"marked_by": some, "of": of, "mentions": count}
            for (some, of), count in comparison.marked.items()
        ],
        "matrices": {
            name: [[_float(number) for number in row] for row in matrix]
            for name, matrix in comparison.matrices.items()
        },
        "annotator": {
            name: {
                "with_others": {
                    kind: exact(comparison.with_others(kind, name)) for kind in comparison.matrices
                },
                "without": {kind: exact(number) for kind, number in comparison.without[name].items()},
            }
            for name in comparison.annotators
        },
    }


def exact(number: Fraction | None) -> dict[str, Any] | None:
    """Return a number as a decimal and as a fraction of whole numbers.

    >>> exact(Fraction(1, 4)), exact(None)
    ({'value': 0.25, 'exact': [1, 4]}, None)
    """
    return (
        None if number is None else {"value": float(number), "exact": [number.numerator, number.denominator]}
    )


def _rest_lines(comparison: Comparison) -> Iterator[str]:
    width = max(22, *(len(name) + 2 for name in comparison.annotators))
    yield f"  {'each with the others':<{width}}{'CoNLL':>8}{'alpha':>8}{'alpha of the others alone':>28}"
    for name in comparison.annotators:
        conll, alpha = comparison.with_others("conll", name), comparison.with_others("passonneau", name)
        others = comparison.without[name]["passonneau"]
        yield f"  {name:<{width}}{decimal(conll):>8}{decimal(alpha):>8}{decimal(others):>28}"


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)


def reliability_lines(reliability: Reliability) -> Iterator[str]:
    """Yield the lines of a table of what was learned about annotators."""
    width = max(len(CONSTANT), *(len(one.annotator) for one in reliability.annotators))
    yield f"{'annotator':<{width}}      links  sensitivity  specificity   omit    use"
    for one in reliability.annotators:
        shares = f"{100 * one.sensitivity:>11.1f} %{100 * one.specificity:>11.2f} %"
        yield f"{one.annotator:<{width}} {one.links:>10,}{shares}{one.omit:>7}{one.use:>7}"
    yield f"{CONSTANT:<{width}} {'':>10}{'':>26}{reliability.constant:>7}"


def settings_lines(comparison: SettingsComparison) -> Iterator[str]:
    """Yield a table of sizes, one of costs, one of distances from annotators, and one between the golds."""
    names = [f"{number:>2}  {row.settings}" for number, row in enumerate(comparison.rows, 1)]
    yield f"{times(comparison.documents, 'document')}, {times(len(names), 'setting')}"
    yield from _table("", names, _sizes(comparison))
    yield from _table("cost, in the coefficients of each row", names, _costs(comparison))
    yield from _table("how close annotators are to the gold (CoNLL F1)", names, _closeness(comparison.rows))
    if any(row.scores for row in comparison.rows):
        yield from _table("how close the gold is to yours (CoNLL F1)", names, _scores(comparison.rows))
    numbers = [str(number) for number in range(1, len(names) + 1)]
    cells = [[decimal(value) for value in row] for row in comparison.matrix]
    yield from _table("how close the golds are to each other (CoNLL F1)", names, [numbers, *cells])


def _table(title: str, names: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a header and a row for each of the settings; the first of the cells are the header."""
    width = max(len(name) for name in (title, *names)) + 1
    widths = [max(len(row[column]) for row in cells) + 2 for column in range(len(cells[0]))]
    yield ""
    for name, row in zip((title, *names), cells, strict=True):
        yield (
            f"{name:<{width}}" + "".join(f"{cell:>{size}}" for cell, size in zip(row, widths, strict=True))
        ).rstrip()


def _sizes(comparison: SettingsComparison) -> list[list[str]]:
    header = ["chains", "mentions", "chains of one", "links kept", "proven"]
    return [
        header,
        *(
            [
                f"{row.chains:,}",
                f"{row.mentions:,}",
                f"{row.singletons:,}",
                f"{row.kept / row.given:.1%}" if row.given else "-",
                f"{row.proven} of {comparison.documents}",
            ]
            for row in comparison.rows
        ),
    ]


def _costs(comparison: SettingsComparison) -> list[list[str]]:
    rows = [
        [one.omitted, one.used, one.invented, one.total] for one in (row.costs for row in comparison.rows)
    ]
    return [["omitted", "used", "invented", "in all"], *([f"{cost:,}" for cost in row] for row in rows)]


def _closeness(rows: Sequence[SettingsRow]) -> list[list[str]]:
    names = list(dict.fromkeys(name for row in rows for name in row.annotators))
    return [names, *([decimal(row.annotators.get(name)) for name in names] for row in rows)]


def _scores(rows: Sequence[SettingsRow]) -> list[list[str]]:
    return [
        ["without chains of one", "with them"],
        *([decimal(score) for score in row.scores or ()] for row in rows),
    ]


def settings_values(comparison: SettingsComparison) -> dict[str, Any]:
    """Return everything as JSON values; undefined numbers are `None`."""
    return {
        "documents": comparison.documents,
        "settings": [_values(row) for row in comparison.rows],
        "matrix": [[_float(value) for value in row] for row in comparison.matrix],
    }


def _values(row: SettingsRow) -> dict[str, Any]:
    costs = row.costs
    values: dict[str, Any] = {
        "settings": row.settings,
        "proven": row.proven,
        "chains": row.chains,
        "mentions": row.mentions,
        "singletons": row.singletons,
        "links": {"given": row.given, "kept": row.kept},
        "cost": {"omitted": costs.omitted, "used": costs.used, "invented": costs.invented},
        "annotators": {name: _float(value) for name, value in row.annotators.items()},
    }
    if row.scores is not None:
        values["gold"] = dict(zip(("conll", "conll_with_singletons"), map(_float, row.scores), strict=True))
    return values
