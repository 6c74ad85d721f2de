"""The overview of a corpus: one HTML page about all documents, yielded in parts.

It says what annotators disagree about, how they compare, and what needs a person next; then it lists the
documents, those with the most disputed mentions first. Cost and bound come last. Of every document only
what the page shows is kept in memory.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from caspr.measures.typology import DisagreementCounts, DisagreementKind
from caspr.report.html_pages import rendered
from caspr.text.findings import times

LABELS = {
    "value": "cost",
    "bound": "bound",
    "omitted": "cost of omitted links",
    "used": "cost of used links",
    "invented": "cost of invented pairs",
}
"""What the totals about cost are called."""
STATUSES = {
    "optimal": "proven optimal",
    "feasible": "not proven optimal",
    "failed": "failed",
    "left out": "left out",
}
"""What the status of a document is called."""
NEXT = 5
"""How many documents of each kind are named as the next for a person."""


@dataclass(frozen=True)
class DocumentRow:
    """What the page shows of one document."""

    name: str
    report: str
    """The path of its report; empty where there is none."""
    status: str
    counts: DisagreementCounts
    agreement: float | None
    """Alpha over coreference sets, where it is defined."""
    annotators: int | None
    entities: str
    """The names of its largest entities, with how many mentions each has; empty where none has a name."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    reason: str
    value: int | None
    bound: int | None

    @property
    def gap(self) -> bool:
        """Whether the result is not proven optimal."""
        return self.value is not None and self.value != self.bound


@dataclass
class _Corpus:
    """What is added up while rows are read."""

    rows: list[DocumentRow] = field(default_factory=list)
    counts: DisagreementCounts = field(default_factory=DisagreementCounts)
    departures: dict[str, DisagreementCounts] = field(default_factory=dict)
    """The mentions in which each annotator differs from the results."""


def overview_page(rows: Iterable[Mapping[str, Any]], totals: Mapping[str, Any], title: str) -> Iterator[str]:
    """Yield the page; every row is one of the summary in JSON, with the path of its report in `report`."""
    corpus = _Corpus()
    for row in rows:
        document = _document(row)
        corpus.rows.append(document)
        corpus.counts += document.counts
        for name, values in row.get("departures", {}).items():
            corpus.departures[name] = corpus.departures.get(name, DisagreementCounts()) + counts_of(values)
    corpus.rows.sort(key=lambda row: (-row.counts.disputed, row.agreement is None, row.agreement, row.name))
    yield from rendered(
        "corpus.html",
        title,
        script="",
        rows=corpus.rows,
        counts=corpus.counts,
        departures_found=dict(sorted(corpus.departures.items())),
        named=any(row.entities for row in corpus.rows),
        todo=list(_todo(corpus.rows)),
        totals=totals,
        costs=[(label, totals[name]) for name, label in LABELS.items()],
    )


def counts_of(values: Mapping[str, Any]) -> DisagreementCounts:
    """Return the counts that `counts_values` made JSON values of.

    >>> counts_of({"mentions": 3, "disputed": 1, "kinds": {"boundary": 1, "split": 0}}).disputed
    1
    """
    kinds = {(DisagreementKind(kind), 0): number for kind, number in values["kinds"].items() if number}
    return DisagreementCounts(values["mentions"], kinds)


def _document(row: Mapping[str, Any]) -> DocumentRow:
    findings = row.get("findings", [])
    part = f"; part {row['part']}" if row.get("part") else ""
    status = str(row["status"])
    return DocumentRow(
        name=f"{row['document']}{part}",
        report=row.get("report", ""),
        status=STATUSES.get(status, status),
        counts=counts_of(row["disagreement"]) if "disagreement" in row else DisagreementCounts(),
        agreement=row.get("agreement", {}).get("passonneau"),
        annotators=row.get("annotators"),
        entities=", ".join(
            f"{entity['name']} ({entity['mentions']:,})" for entity in row.get("named_entities", ())
        ),
        warnings=_sentences(findings, "warning"),
        notes=_sentences(findings, "note"),
        reason=row.get("reason", ""),
        value=row.get("value"),
        bound=row.get("bound"),
    )


def _sentences(findings: Iterable[Mapping[str, Any]], severity: str) -> tuple[str, ...]:
    """Return findings in words, one sentence for each code."""
    first: dict[str, str] = {}
    more: Counter[str] = Counter()
    for finding in findings:
        if finding["severity"] == severity:
            code = finding["code"]
            if code in first:
                more[code] += 1
            first.setdefault(code, _sentence(finding))
    return tuple(
        f"{words}; the same {times(more[code], 'more time')}" if more[code] else words
        for code, words in first.items()
    )


def _todo(rows: list[DocumentRow]) -> Iterator[tuple[str, list[tuple[DocumentRow, str]]]]:
    """Yield what needs a person, the most urgent first: what to do, and some documents with the reason."""
    failed, left_out = STATUSES["failed"], STATUSES["left out"]
    kinds = (
        ("Fix what failed", [(row, row.reason) for row in rows if row.status == failed]),
        ("Read the warnings", [(row, row.warnings[0]) for row in rows if row.warnings]),
        ("Annotate again, or leave out", [(row, row.reason) for row in rows if row.status == left_out]),
        ("Search longer", [(row, f"cost {row.value:,}, bound {row.bound:,}") for row in rows if row.gap]),
        ("Review the most disputed", [(row, _disputed(row)) for row in rows if row.counts.disputed]),
    )
    for what, listed in kinds:
        if listed:
            more = len(listed) - NEXT
            yield f"{what} ({NEXT} of {len(listed):,})" if more > 0 else what, listed[:NEXT]


def _disputed(row: DocumentRow) -> str:
    return f"{row.counts.disputed:,} of {times(row.counts.mentions, 'mention')} disputed"


def _sentence(finding: Mapping[str, Any]) -> str:
    """Return what a finding says, with its place unless the words name it."""
    where, message = finding.get("where", ""), str(finding["message"])
    return message if not where or f"'{where}'" in message else f"{where}: {message}"
