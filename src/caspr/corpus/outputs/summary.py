"""The summary of a corpus, `summary.csv` for spreadsheets and `summary.json` for programs, row by row."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from caspr.corpus.outputs.totals import Totals
from caspr.text.findings import Finding

COLUMNS = (
    "document",
    "name",
    "part",
    "status",
    "annotators",
    "chains",
    "mentions",
    "singletons",
    "marked",
    "disputed",
    "agreement",
    "link_agreement",
    "warnings",
    "findings",
    "reason",
    "file",
    "value",
    "bound",
    "omitted",
    "used",
    "invented",
    "solutions",
    "engine",
    "seconds",
    "megabytes",
)
"""The columns of the table: what people look for first, costs and the search last."""


def csv_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of `summary.csv`."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(flat(row))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with one value in each column."""
    found = row.get("findings", [])
    codes: Counter[str] = Counter()
    for finding in found:
        codes[finding["code"]] += finding["count"]
    agreement = row.get("agreement", {})
    return {
        **row,
        **row.get("costs", {}),
        "marked": row.get("disagreement", {}).get("mentions"),
        "disputed": row.get("disagreement", {}).get("disputed"),
        "agreement": agreement.get("passonneau"),
        "link_agreement": agreement.get("links"),
        "warnings": sum(finding["severity"] == "warning" for finding in found),
        "findings": " ".join(f"{code}:{count}" for code, count in codes.items()),
    }


def json_lines(
    rows: Iterable[Mapping[str, Any]], totals: Totals, version: str, findings: Iterable[Finding] = ()
) -> Iterator[str]:
    """Yield the lines of `summary.json`: what holds for the whole corpus, a document a line, the totals."""
    said = json.dumps([asdict(finding) for finding in findings], ensure_ascii=False)
    yield f'{{\n"version": {json.dumps(version)},\n"findings": {said},\n"documents": ['
    separator = "\n"
    for row in rows:
        yield separator + json.dumps(row, ensure_ascii=False)
        separator = ",\n"
    yield f'\n],\n"totals": {json.dumps(totals.values(), indent=2)}\n}}\n'
