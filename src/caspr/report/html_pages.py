"""HTML pages: a report, or another page of `pages/`, as one file that loads nothing from elsewhere.

The content security policy of a page allows only its own style and script, by their hashes: text of tokens or
names could not run even if it were not escaped, which it is.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from caspr.disputes.disputes import Dispute, disputed_links
from caspr.disputes.reasons import Explanation, shorten
from caspr.measures.typology import DisagreementKind
from caspr.report.comparison_tables import KINDS, NumberStyle, decimal
from caspr.report.disagreements import TITLES, deviation_sentence, disagreement_sentence, examples
from caspr.report.explained_report import ExplainedDocument, Report, decided, entities, price
from caspr.report.passages import kwic, passages
from caspr.report.plots import annotator_plot, cost_plot, departure_plot, kind_plot, place_plot, share_plot
from caspr.report.summary_text import outcome
from caspr.result import Certainty
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.text.document import Span
from caspr.text.findings import times

if TYPE_CHECKING:
    from jinja2 import Environment

ROWS = 200
"""How many rows of a table are in one foldable part, so that a browser lays out only those that are open."""
COLOURS = 12
"""How many colours there are for chains."""
MEASURES = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
"""The measures shown against the gold standard."""

Disputes = Sequence[tuple[Dispute, Explanation]]
"""Disputes, each with the reason of its decision."""


def report_page(report: Report, title: str) -> str:
    """Return the report as an HTML page."""
    documents = list(enumerate(report.documents, start=1))
    return page(
        "report.html",
        title,
        script=_read("script.js"),
        report=report,
        examples=[(kind, examples(report.comparison, kind)) for kind in DisagreementKind],
        anchors={number: _anchors(document) for number, document in documents},
        numbers={number: _numbers(document) for number, document in documents},
    )


def page(template: str, title: str, *, script: str = "", **values: Any) -> str:
    """Return a page as a whole."""
    return "".join(rendered(template, title, script=script, **values))


def fragment(template: str, **values: Any) -> str:
    """Return a part of a page, for a notebook."""
    return _environment().get_template(template).render(kinds=KINDS, **values)


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
            titles=TITLES,
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
        "opacity": lambda number: f"{0.6 * max(0.0, min(1.0, float(number or 0))):.2f}",
        "shade_counts": lambda counts: _shade(Fraction(counts.disputed, counts.mentions or 1)),
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
        "entities": entities,
        "sure": _sure,
        "price": price,
        "cost_plot": lambda one: Markup(cost_plot(one)),
        "kind_plot": lambda counts: Markup(kind_plot(counts)),
        "departure_plot": lambda counts: Markup(departure_plot(counts)),
        "annotator_plot": lambda found: Markup(annotator_plot(found)),
        "disagreement": disagreement_sentence,
        "departure": deviation_sentence,
        "kwic": lambda one: kwic(one.document, one.disagreement.place),
        "two": NumberStyle(digits=2).text,
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
