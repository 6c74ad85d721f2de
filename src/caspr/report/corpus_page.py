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
    """The document, with its part."""
    report: str
    """The path of its report; empty where there is none."""
    status: str
    """How its adjudication ended, in words."""
    counts: DisagreementCounts
    """Its disputed mentions."""
    agreement: float | None
    """Alpha over coreference sets, where it is defined."""
    annotators: int | None
    """How many annotators have it."""
    entities: str
    """The names of its largest entities, with how many mentions each has; empty where none has a name."""
    warnings: tuple[str, ...]
    """What is wrong, in sentences."""
    notes: tuple[str, ...]
    """What is odd, in sentences."""
    reason: str
    """Why it failed or was left out."""
    value: int | None
    """The cost of its result."""
    bound: int | None
    """The proven lower bound of that cost."""

    @property
    def gap(self) -> bool:
        """Whether the result is not proven optimal."""
        return self.value is not None and self.value != self.bound


@dataclass
class _Corpus:
    """What is added up while rows are read."""

    rows: list[DocumentRow] = field(default_factory=list)
    """All documents."""
    counts: DisagreementCounts = field(default_factory=DisagreementCounts)
    """The disputed mentions of all documents."""
    departures: dict[str, DisagreementCounts] = field(default_factory=dict)
    """The mentions in which each annotator departs from the results."""


def overview_page(rows: Iterable[Mapping[str, Any]], totals: Mapping[str, Any], title: str) -> Iterator[str]:
    """Yield the page; every row is one of the summary in JSON, with the path of its report in `report`."""
    corpus = _Corpus()
    for row in rows:
        one = _document(row)
        corpus.rows.append(one)
        corpus.counts += one.counts
        for name, values in row.get("departures", {}).items():
            corpus.departures[name] = corpus.departures.get(name, DisagreementCounts()) + counts_of(values)
    corpus.rows.sort(key=lambda one: (-one.counts.disputed, _or_last(one.agreement), one.name))
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
    found = row.get("findings", [])
    part = f"; part {row['part']}" if row.get("part") else ""
    status = str(row["status"])
    return DocumentRow(
        name=f"{row['document']}{part}",
        report=row.get("report", ""),
        status=STATUSES.get(status, status),
        counts=counts_of(row["disagreement"]) if "disagreement" in row else DisagreementCounts(),
        agreement=row.get("agreement", {}).get("passonneau"),
        annotators=row.get("annotators"),
        entities=", ".join(f"{one['name']} ({one['mentions']:,})" for one in row.get("named_entities", ())),
        warnings=_sentences(found, "warning"),
        notes=_sentences(found, "note"),
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
    kinds = (
        ("Mend what failed", [(one, one.reason) for one in rows if one.status == STATUSES["failed"]]),
        ("Look at warnings", [(one, one.warnings[0]) for one in rows if one.warnings]),
        ("Annotate again, or leave out", [(o, o.reason) for o in rows if o.status == STATUSES["left out"]]),
        ("Search longer", [(one, f"cost {one.value:,}, bound {one.bound:,}") for one in rows if one.gap]),
        ("Review what is disputed most", [(one, _disputed(one)) for one in rows if one.counts.disputed]),
    )
    for what, found in kinds:
        if found:
            more = len(found) - NEXT
            yield f"{what} ({NEXT} of {len(found):,})" if more > 0 else what, found[:NEXT]


def _disputed(row: DocumentRow) -> str:
    return f"{row.counts.disputed:,} of {times(row.counts.mentions, 'mention')} disputed"


def _or_last(number: float | None) -> float:
    return 2.0 if number is None else number


def _sentence(finding: Mapping[str, Any]) -> str:
    """Return what a finding says, with its place unless the words name it."""
    where, message = finding.get("where", ""), str(finding["message"])
    return message if not where or f"'{where}'" in message else f"{where}: {message}"
