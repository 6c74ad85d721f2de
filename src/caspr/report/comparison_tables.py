"""Comparisons of annotators, and of settings, as text tables and as JSON values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from caspr.measures.comparison import Comparison, Matrix
from caspr.measures.intervals import ComparisonIntervals, Interval
from caspr.measures.reliability import Reliability, WeightsAdvice
from caspr.measures.settings_comparison import Gain, SettingsComparison, SettingsRow
from caspr.measures.typology import DisagreementCounts, DisagreementKind
from caspr.report.disagreements import TITLES, disagreement_sentence, examples
from caspr.task.solution import Costs
from caspr.task.weights import CONSTANT
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


@dataclass(frozen=True)
class NumberStyle:
    """How scores and agreement are written: everywhere from 0 to 1 with three decimals, unless asked."""

    percent: bool = False
    """Whether numbers go from 0 to 100, with one decimal unless asked."""
    digits: int | None = None

    def text(self, number: Fraction | float | None) -> str:
        """Write a number, or a dash where it is undefined; half a unit of the last digit is rounded up.

        >>> NumberStyle().text(Fraction(20, 29)), NumberStyle(percent=True).text(1), NumberStyle().text(None)
        ('0.690', '100.0', '-')
        >>> NumberStyle(digits=2).text(Fraction(23, 40)), NumberStyle(digits=0).text(Fraction(-3, 4))
        ('0.58', '-1')
        """
        if number is None:
            return "-"
        digits = self.digits if self.digits is not None else 1 if self.percent else 3
        scaled = abs(Fraction(number)) * (100 if self.percent else 1) * 10**digits
        whole = str((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator))
        shown = whole.zfill(digits + 1)
        text = f"{shown[:-digits]}.{shown[-digits:]}" if digits else shown
        return f"-{text}" if number < 0 and int(whole) else text

    def interval(self, bounds: Interval | None) -> str:
        """Write an interval, or nothing where there is none.

        >>> NumberStyle(digits=2).interval(Interval(0.5, 0.75)), NumberStyle().interval(None)
        ('[0.50, 0.75]', '')
        """
        return "" if bounds is None else f"[{self.text(bounds.low)}, {self.text(bounds.high)}]"


def singletons_phrase(counted: bool | None, who: str = "sides") -> str:
    """Say which chains of one count in scores, which every table of scores does.

    >>> singletons_phrase(False), singletons_phrase(None, "annotators")
    ('chains of one are left out', 'chains of one count where both annotators have some')
    """
    if counted is None:
        return f"chains of one count where both {who} have some"
    return f"chains of one {'count' if counted else 'are left out'}"


def decimal(number: Fraction | None) -> str:
    """Write a number as everywhere.

    >>> decimal(Fraction(20, 29)), decimal(None)
    ('0.690', '-')
    """
    return NumberStyle().text(number)


def comparison_lines(
    comparison: Comparison,
    matrices: Sequence[str] = ("conll",),
    *,
    style: NumberStyle | None = None,
    intervals: ComparisonIntervals | None = None,
) -> Iterator[str]:
    """Yield a summary, the agreement of each annotator with the others, and some matrices."""
    style = style or NumberStyle()
    yield f"{comparison.title}: {len(comparison.annotators)} annotators"
    yield from disagreement_lines(comparison)
    for kind, number in comparison.alpha.items():
        bounds = style.interval(intervals.alpha[kind]) if intervals else ""
        yield f"  {KINDS[kind]:<30}{style.text(number):>8}  {bounds}".rstrip()
    for kind in ("mentions", "conll"):
        bounds = style.interval(intervals.between[kind]) if intervals else ""
        mean = style.text(comparison.between(kind))
        yield f"  {KINDS[kind] + ', mean of pairs':<30}{mean:>8}  {bounds}".rstrip()
    for (some, of), count in comparison.marked.items():
        yield f"  {f'mentions marked by {some} of {of}':<30}{count:>8,}"
    if intervals:
        yield "  [from, to]: 95% intervals, from resampling documents"
    yield f"  in scores (F1), {singletons_phrase(comparison.singletons, 'annotators')}"
    yield from _rest_lines(comparison, style)
    for name in matrices:
        yield f"  {KINDS[name]}"
        yield from matrix_lines(comparison.annotators, comparison.matrices[name], style)


def disagreement_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what annotators disagree about: a sentence, each kind with an example, and each annotator."""
    counts = comparison.disagreement
    yield f"  {disagreement_sentence(counts)}"
    if not counts.disputed:
        return
    for kind, number in counts.kinds.items():
        for example in examples(comparison, kind, 1):
            yield f"    {TITLES[kind]:<30}{number:>6,}   {example.line}"
    width = max(22, *(len(name) + 2 for name in comparison.annotators))
    heads = "".join(f"{kind:>11}" for kind in counts.kinds)
    yield f"  {'disputed with another':<{width}}{heads}{'all':>11}"
    for name in comparison.annotators:
        mean = mean_counts(comparison, name)
        yield f"  {name:<{width}}" + "".join(
            f"{mean_text(number):>11}" for number in (*mean.values(), mean_disputed(comparison, name))
        )


def mean_counts(comparison: Comparison, annotator: str) -> dict[DisagreementKind, float | None]:
    """Return how many mentions of each kind one annotator disputes with another, on average.

    Only others count with whom the annotator can be compared (`Comparison.pairs`); `None` without any.
    """
    counts = [found for (first, _), found in comparison.pairs.items() if first == annotator]
    return {
        kind: sum(one.kinds[kind] for one in counts) / len(counts) if counts else None
        for kind in DisagreementKind
    }


def mean_disputed(comparison: Comparison, annotator: str) -> float | None:
    """Return how many mentions one annotator disputes with another, on average, of all kinds."""
    known = [mean for mean in mean_counts(comparison, annotator).values() if mean is not None]
    return sum(known) if known else None


def mean_text(number: float | None) -> str:
    """Write a mean of counts.

    >>> mean_text(1234.5), mean_text(None)
    ('1,234.5', '-')
    """
    return "-" if number is None else f"{number:,.1f}"


def matrix_lines(annotators: Sequence[str], matrix: Matrix, style: NumberStyle) -> Iterator[str]:
    """Yield the lines of a matrix with names at both sides."""
    width = max(8, *(len(name) + 2 for name in annotators))
    yield " " * (width + 2) + "".join(f"{name:>{width}}" for name in annotators)
    for name, row in zip(annotators, matrix, strict=True):
        yield f"    {name:<{width - 2}}" + "".join(f"{style.text(number):>{width}}" for number in row)


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Return everything as JSON values; undefined numbers are `None`."""
    return {
        "name": comparison.title,
        "annotators": list(comparison.annotators),
        "singletons": comparison.singletons,
        "alpha": {kind: exact(number) for kind, number in comparison.alpha.items()},
        "disagreement": counts_values(comparison.disagreement),
        "disagreement_of_pairs": [
            {"annotators": [first, second], **counts_values(counts)}
            for (first, second), counts in comparison.pairs.items()
            if comparison.annotators.index(first) < comparison.annotators.index(second)
        ],
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


def interval_values(intervals: ComparisonIntervals | None) -> dict[str, Any] | None:
    """Return the intervals as JSON values, each a lower and an upper end; nothing for too few documents."""
    if intervals is None:
        return None
    return {
        "alpha": dict(intervals.alpha),
        "mean_of_pairs": dict(intervals.between),
        "with_others": {kind: dict(bounds) for kind, bounds in intervals.annotators.items()},
    }


def counts_values(counts: DisagreementCounts) -> dict[str, Any]:
    """Return the numbers of disputed mentions as JSON values."""
    return {
        "mentions": counts.mentions,
        "disputed": counts.disputed,
        "kinds": {str(kind): number for kind, number in counts.kinds.items()},
    }


def exact(number: Fraction | None) -> dict[str, Any] | None:
    """Return a number as a decimal and as a fraction of whole numbers.

    >>> exact(Fraction(1, 4)), exact(None)
    ({'value': 0.25, 'exact': [1, 4]}, None)
    """
    return (
        None if number is None else {"value": float(number), "exact": [number.numerator, number.denominator]}
    )


def _rest_lines(comparison: Comparison, style: NumberStyle) -> Iterator[str]:
    width = max(22, *(len(name) + 2 for name in comparison.annotators))
    yield f"  {'each with the others':<{width}}{'CoNLL':>8}{'alpha':>8}{'alpha of the others alone':>28}"
    for name in comparison.annotators:
        conll, alpha = comparison.with_others("conll", name), comparison.with_others("passonneau", name)
        others = comparison.without[name]["passonneau"]
        yield f"  {name:<{width}}{style.text(conll):>8}{style.text(alpha):>8}{style.text(others):>28}"


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)


def reliability_lines(reliability: Reliability, agreement: Mapping[str, Fraction | None]) -> Iterator[str]:
    """Yield a table of what was learned about annotators, and how close each is to the result."""
    width = max(len(CONSTANT), *(len(who.annotator) for who in reliability.annotators))
    header = f"{'annotator':<{width}}      links  sensitivity  specificity   omit    use"
    yield header + ("   agreement with the result" if agreement else "")
    for who in reliability.annotators:
        shares = f"{100 * who.sensitivity:>11.1f} %{100 * who.specificity:>11.2f} %"
        close = f"{decimal(agreement.get(who.annotator)):>28}" if agreement else ""
        yield f"{who.annotator:<{width}} {who.links:>10,}{shares}{who.omit:>7}{who.use:>7}{close}"
    yield f"{CONSTANT:<{width}} {'':>10}{'':>26}{reliability.constant:>7}"


FEW = 10
"""From fewer documents, intervals are too narrow."""
MANY = 6
"""From how many annotators on the ends of the table are named."""
ENDS = 3
"""How many are named on each end."""


def advice_lines(reliability: Reliability, advice: WeightsAdvice) -> Iterator[str]:
    """Yield whether these weights are better than equal votes, and how uneven annotators are."""
    verdict = "better than equal votes" if advice.reliability else "not shown to be better than equal votes"
    yield f"learned weights are {verdict}: {advice.reason}"
    ranked = sorted(reliability.annotators, key=lambda who: (-who.omit - who.use, who.annotator))
    if len(ranked) >= MANY:
        shares = sorted(100 * who.sensitivity for who in ranked)
        best, last = (", ".join(who.annotator for who in ends) for ends in (ranked[:ENDS], ranked[-ENDS:]))
        usual = f"half of them {median(shares):.0f} % or more"
        yield f"annotators find {shares[0]:.0f} % to {shares[-1]:.0f} % of the links, {usual}"
        yield f"votes that weigh most: {best}; least: {last}"


def closeness_lines(agreement: Mapping[str, Fraction | None]) -> Iterator[str]:
    """Yield how close annotators are to the result of equal votes, the closest first."""
    width = max(len("annotator"), *(len(name) for name in agreement))
    yield f"{'annotator':<{width}}   agreement with the result of equal votes"
    for name, close in sorted(agreement.items(), key=lambda row: (-(row[1] or 0), row[0])):
        yield f"{name:<{width}}{decimal(close):>43}"


def settings_lines(comparison: SettingsComparison) -> Iterator[str]:
    """Yield a table of sizes, one of costs, one of distances from annotators, and one between the golds."""
    names = [f"{number:>2}  {row.settings}" for number, row in enumerate(comparison.rows, 1)]
    yield f"{times(comparison.documents, 'document')}, {times(len(names), 'setting')}"
    yield from _table("", names, _sizes(comparison))
    yield from _table("cost, in the coefficients of each row", names, _costs(comparison))
    yield from _table("how close annotators are to the gold (CoNLL F1)", names, _closeness(comparison.rows))
    if any(row.scores for row in comparison.rows):
        yield from _table("how close the gold is to yours (CoNLL F1)", names, _scores(comparison.rows))
        yield from _verdict(comparison)
    numbers = [str(number) for number in range(1, len(names) + 1)]
    cells = [[decimal(value) for value in row] for row in comparison.matrix]
    yield from _table("how close the golds are to each other (CoNLL F1)", names, [numbers, *cells])
    if any(row.singletons for row in comparison.rows):
        yield ""
        yield "CoNLL F1 of golds leaves out chains of one, which some settings keep and others drop"


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
    kinds = list(sum((row.costs for row in comparison.rows), Costs()).by_kind)
    rows = [[*(getattr(row.costs, kind) for kind in kinds), row.costs.total] for row in comparison.rows]
    return [[*kinds, "in all"], *([f"{cost:,}" for cost in row] for row in rows)]


def _closeness(rows: Sequence[SettingsRow]) -> list[list[str]]:
    names = list(dict.fromkeys(name for row in rows for name in row.annotators))
    return [names, *([decimal(row.annotators.get(name)) for name in names] for row in rows)]


def _scores(rows: Sequence[SettingsRow]) -> list[list[str]]:
    head = ["without chains of one", "with them"]
    cells = [[decimal(score) for score in row.scores or ()] for row in rows]
    if len(rows) > 1:
        head.append("gain over the defaults, 90 % interval")
        cells = [[*cell, _gain(row.gain)] for cell, row in zip(cells, rows, strict=True)]
    return [head, *cells]


def _gain(gain: Gain | None) -> str:
    """Return a gain in points with its interval."""
    if gain is None:
        return ""
    points = f"{100 * gain.difference:+.1f}"
    return points if gain.interval is None else f"{points} [{_points(gain.interval)}]"


def _points(interval: Interval) -> str:
    return ", ".join(f"{100 * bound:+.1f}" for bound in interval)


def _verdict(comparison: SettingsComparison) -> Iterator[str]:
    """Yield whether any settings are clearly better than the defaults, which come first."""
    gains = [(row.settings, row.gain) for row in comparison.rows if row.gain is not None]
    if not gains:
        return
    yield ""
    if comparison.documents < 2:
        yield "one document says nothing about others: give more to compare settings"
        return
    clear = [f"{name} ({_gain(gain)})" for name, gain in gains if gain.is_clear]
    better = f"clearly better than the defaults: {', '.join(clear)}"
    yield better if clear else "no setting is clearly better than the defaults"
    if comparison.documents < FEW:
        yield f"intervals from fewer than {FEW} documents are too narrow: do not choose by them alone"


def settings_values(comparison: SettingsComparison) -> dict[str, Any]:
    """Return everything as JSON values; undefined numbers are `None`."""
    return {
        "documents": comparison.documents,
        "settings": [_values(row) for row in comparison.rows],
        "matrix": [[_float(value) for value in row] for row in comparison.matrix],
    }


def _values(row: SettingsRow) -> dict[str, Any]:
    values: dict[str, Any] = {
        "settings": row.settings,
        "proven": row.proven,
        "chains": row.chains,
        "mentions": row.mentions,
        "singletons": row.singletons,
        "links": {"given": row.given, "kept": row.kept},
        "cost": row.costs.by_kind,
        "annotators": {name: _float(value) for name, value in row.annotators.items()},
    }
    if row.scores is not None:
        values["gold"] = dict(zip(("conll", "conll_with_singletons"), map(_float, row.scores), strict=True))
    if row.gain is not None:
        bounds = row.gain.interval
        values["gain"] = {
            "conll": row.gain.difference,
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "clear": row.gain.is_clear,
        }
    return values
