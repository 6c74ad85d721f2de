"""The summary of a corpus, `summary.csv` and `summary.json`, row by row; and its totals, added up."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from caspr.corpus.job import FAILED, LEFT_OUT
from caspr.text.csv_table import no_formula
from caspr.text.findings import Finding


@dataclass(frozen=True)
class Totals:
    """Sums over documents."""

    documents: int = 0
    """Documents with an outcome."""
    taken_over: int = 0
    """Those among them that an earlier run had done."""
    proven: int = 0
    gaps: int = 0
    """Written with a gap between value and bound."""
    failed: int = 0
    left_out: int = 0
    """Not adjudicated, because only one annotator has them."""
    chains: int = 0
    singletons: int = 0
    mentions: int = 0
    value: int = 0
    bound: int = 0
    omitted: int = 0
    used: int = 0
    invented: int = 0
    rules: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    """The most memory that a document took."""
    warnings: int = 0
    agreements: int = 0
    agreement: float = 0.0
    """The sum of their agreement."""

    def __add__(self, other: "Totals") -> "Totals":
        """Pool; memory is the larger of the two."""
        sums = {name: number + vars(other)[name] for name, number in vars(self).items()}
        return Totals(**{**sums, "megabytes": max(self.megabytes, other.megabytes)})

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values; the agreement is the mean of documents where it is defined."""
        values = asdict(self)
        number = values.pop("agreements")
        mean = round(self.agreement / number, 6) if number else None
        return {**values, "seconds": round(self.seconds, 3), "agreement": mean}


def totals_of(rows: Iterable[Mapping[str, Any]], *, taken_over: bool = False) -> Totals:
    """Count the rows of one document."""
    total = Totals(documents=1, taken_over=int(taken_over))
    statuses = set()
    for row in rows:
        statuses.add(row["status"])
        if "costs" in row:
            total += _counted(row)
    if statuses & {FAILED, LEFT_OUT}:
        return total + Totals(failed=int(FAILED in statuses), left_out=int(FAILED not in statuses))
    optimal = statuses == {"optimal"}
    return total + Totals(proven=int(optimal), gaps=int(not optimal))


_SUMMED = ("chains", "singletons", "mentions", "value", "bound", "seconds", "megabytes")


def _counted(row: Mapping[str, Any]) -> Totals:
    alpha = row["agreement"]["passonneau"]
    return Totals(
        **{name: row[name] for name in _SUMMED},
        **row["costs"],
        warnings=sum(finding["severity"] == "warning" for finding in row["findings"]),
        agreements=int(alpha is not None),
        agreement=alpha or 0.0,
    )


_NAMES = (
    "document name part status annotators chains mentions singletons marked disputed agreement "
    "link_agreement warnings findings reason file "
    "value bound omitted used invented solutions engine seconds megabytes"
)
COLUMNS = tuple(_NAMES.split())
"""The columns of the table: what people look for first, costs and the search last."""


def csv_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of `summary.csv`."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: no_formula(value) for name, value in flat(row).items()})
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with one value in each column."""
    findings = row.get("findings", [])
    codes: Counter[str] = Counter()
    for finding in findings:
        codes[finding["code"]] += finding["count"]
    agreement = row.get("agreement", {})
    return {
        **row,
        **row.get("costs", {}),
        "marked": row.get("disagreement", {}).get("mentions"),
        "disputed": row.get("disagreement", {}).get("disputed"),
        "agreement": agreement.get("passonneau"),
        "link_agreement": agreement.get("links"),
        "warnings": sum(finding["severity"] == "warning" for finding in findings),
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
