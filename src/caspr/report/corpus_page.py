"""The overview of a corpus: one HTML page with the totals and a row for each document, yielded in parts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from caspr.report.html_pages import rendered

LABELS = {
    "documents": "documents",
    "proven": "proven optimal",
    "gaps": "with a gap",
    "failed": "failed",
    "left_out": "left out",
    "value": "cost",
    "bound": "bound",
    "omitted": "cost of omitted links",
    "used": "cost of used links",
    "invented": "cost of invented pairs",
    "warnings": "warnings",
    "agreement": "agreement, mean",
}
"""What the totals are called."""


def overview_page(rows: Iterable[Mapping[str, Any]], totals: Mapping[str, Any], title: str) -> Iterator[str]:
    """Yield the page; every row has the columns of the summary, and in `report` the path of its report."""
    shown = [(label, totals[name]) for name, label in LABELS.items()]
    yield from rendered("corpus.html", title, script="", rows=rows, totals=shown)
