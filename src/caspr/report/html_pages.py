"""HTML pages: a report, or an annotator's feedback, as one file that loads nothing from elsewhere.

The content security policy of a page allows only its own style and script, by their hashes: text of tokens or
names could not run even if it were not escaped, which it is.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from caspr.disputes.disputes import Dispute, disputed_links
from caspr.disputes.reasons import Explanation, shorten
from caspr.measures.comparison import Rates
from caspr.report.comparison_tables import KINDS, decimal
from caspr.report.differences import Difference, DifferenceKind, differences
from caspr.report.explained_report import ExplainedDocument, Report, decided, price
from caspr.report.passages import passages
from caspr.report.plots import cost_plot, place_plot, share_plot
from caspr.report.summary_text import outcome
from caspr.result import Certainty
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import times

if TYPE_CHECKING:
    from jinja2 import Environment

ROWS = 200
"""How many rows of a table are in one foldable part, so that a browser lays out only those that are open."""
CONTEXT = 12
"""How many tokens are shown before and after a difference."""
COLOURS = 12
"""How many colours there are for chains."""
MEASURES = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
"""The measures shown against the gold standard."""

LABELS = {
    DifferenceKind.MISSED: "You did not mark this mention",
    DifferenceKind.EXTRA: "The gold standard does not have this mention",
    DifferenceKind.BOUNDARIES: "The boundaries are different",
    DifferenceKind.CHAIN: "The mention is in another chain",
}
"""What each kind of difference is called."""

Disputes = Sequence[tuple[Dispute, Explanation]]
"""Disputes, each with the reason of its decision."""


def report_page(report: Report, title: str) -> str:
    """Return the report as an HTML page."""
    documents = list(enumerate(report.documents, start=1))
    return _render(
        "report.html",
        title,
        script=_read("script.js"),
        report=report,
        anchors={number: _anchors(document) for number, document in documents},
        numbers={number: _numbers(document) for number, document in documents},
    )


def feedback_page(
    annotator: str, standing: dict[str, Rates], pairs: Iterable[tuple[Annotation, Annotation]]
) -> str:
    """Return where one annotator differs from the gold standard, given pairs of both."""
    parts = [
        (gold.document, [(one, passage(gold.document, one)) for one in differences(annotation, gold)])
        for annotation, gold in pairs
    ]
    return _render(
        "feedback.html",
        f"Feedback for {annotator}",
        script="",
        annotator=annotator,
        standing=standing,
        parts=parts,
        labels=LABELS,
    )


def passage(document: Document, difference: Difference) -> list[tuple[str, str]]:
    """Return the text around a difference in stretches, each with `gold`, `yours` or nothing as its mark."""
    spans = [span for span in (difference.yours, difference.gold) if span is not None]
    first = max(1, min(span.start for span in spans) - CONTEXT)
    last = min(len(document.tokens), max(span.end for span in spans) + CONTEXT)

    def mark(token: int) -> str:
        in_gold = difference.gold is not None and difference.gold.start <= token <= difference.gold.end
        in_yours = difference.yours is not None and difference.yours.start <= token <= difference.yours.end
        return (
            "gold"
            if in_gold and not (in_yours and difference.kind is DifferenceKind.CHAIN)
            else "yours" * in_yours
        )

    stretches: list[tuple[list[str], str]] = []
    for token in range(first, last + 1):
        kind = mark(token)
        if not stretches or stretches[-1][1] != kind:
            stretches.append(([], kind))
        stretches[-1][0].append(document.tokens[token - 1])
    return [(" ".join(words), kind) for words, kind in stretches]


def _render(template: str, title: str, *, script: str, **values: Any) -> str:
    return "".join(rendered(template, title, script=script, **values))


def rendered(template: str, title: str, *, script: str, **values: Any) -> Iterator[str]:
    """Yield a page piece by piece."""
    from markupsafe import Markup

    style = _read("style.css")
    allowed = f"style-src {_hash(style)}" + (f"; script-src {_hash(script)}" if script else "")
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    yield from (
        _environment()
        .get_template(template)
        .generate(
            title=title,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            kinds=KINDS,
            measures=MEASURES,
            size=ROWS,
            **values,
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files("caspr.report").joinpath("pages", name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters.update(_filters())
    return environment


def _filters() -> dict[str, Callable[..., Any]]:
    from markupsafe import Markup

    return {
        "decimal": decimal,
        "link": quote,
        "shade": _shade,
        "shorten": shorten,
        "where": where,
        "times": times,
        "grouped": lambda number: f"{number:,}",
        "disputed": lambda found: disputed_links([dispute for dispute, _ in found]),
        "reasons": _reasons,
        "outcome": outcome,
        "objective": _objective,
        "linked_mentions": lambda one: sum(len(chain.mentions) for chain in one.result.gold.chains),
        "passages": lambda one: passages(one.result.document, one.result.chains),
        "colour": lambda number: f"k{number % COLOURS}",
        "mention_rows": _mention_rows,
        "part": lambda loop, size, part: f"{(loop.index0 * size) + 1} to {loop.index0 * size + len(part)}",
        "names": lambda names: ", ".join(names) or "nobody",
        "decided": decided,
        "sure": _sure,
        "price": price,
        "cost_plot": lambda one: Markup(cost_plot(one)),
        "share_plot": lambda one: Markup(share_plot(one)),
        "place_plot": lambda one: Markup(place_plot(one)),
    }


def where(span: Span) -> str:
    """Return the token numbers of a mention, for display.

    >>> where(Span(4, 4)), where(Span(4, 6))
    ('4', '4–6')
    """
    return str(span.start) if span.start == span.end else f"{span.start}–{span.end}"


def _anchors(document: ExplainedDocument) -> frozenset[int]:
    """Return the tokens at which any mention starts."""
    return frozenset(span.start for column in document.columns for span in column) | frozenset(
        span.start for dispute, _ in document.disputes for span in (*dispute.first, *dispute.second)
    )


def _numbers(document: ExplainedDocument) -> dict[str, int]:
    """Number all shared chain ids, those of the gold standard first."""
    ids = [chain.id for chain in document.result.chains]
    ids += [id for column in document.columns for cell in column.values() for id in cell]
    return {id: number for number, id in enumerate(dict.fromkeys(ids))}


def _mention_rows(document: ExplainedDocument) -> list[tuple[Span, list[tuple[str, ...]]]]:
    spans = sorted({span for column in document.columns for span in column})
    return [(span, [column.get(span, ()) for column in document.columns]) for span in spans]


def _shade(number: Fraction | None) -> str:
    return "" if number is None else f"h{max(0, min(10, int(number * 10)))}"


def _reasons(found: Disputes) -> list[tuple[str, int]]:
    return sorted(Counter(str(explanation.reason) for _, explanation in found).items())


def _objective(objective: Objective) -> str:
    name = next((name.upper() for name, one in OBJECTIVES.items() if one == objective), "of its own")
    costs = (f"{kind} {'forbidden' if cost is None else cost}" for kind, cost in asdict(objective).items())
    return f"{name} ({', '.join(costs)})"


def _sure(certainty: Certainty) -> str:
    if certainty.always is None:
        return "not known"
    return "the same in every optimal solution" if certainty.always else "differs between optimal solutions"
