"""The report as JSON values, for programs."""

from typing import Any

from caspr.disputes.disputes import Dispute
from caspr.disputes.reasons import Explanation
from caspr.measures.comparison import Rates
from caspr.report.comparison_tables import comparison_values, counts_values, exact
from caspr.report.disagreements import AGAINST_GOLD
from caspr.report.explained_report import ExplainedDocument, Report, decided
from caspr.report.summary_json import document_summary
from caspr.result import Result
from caspr.text.document import Span


def report_values(report: Report) -> dict[str, Any]:
    """Return the whole report as JSON values."""
    return {
        "documents": [_document_values(document) for document in report.documents],
        "agreement": comparison_values(report.comparison),
        "against_gold": {
            name: {measure: _rates(rates) for measure, rates in measures.items()}
            for name, measures in report.standings.items()
        },
        "departures_from_gold": {
            name: {
                **counts_values(counts),
                "directed": {AGAINST_GOLD[key]: number for key, number in counts.directed.items()},
            }
            for name, counts in report.deviations.items()
        },
    }


def _document_values(document: ExplainedDocument) -> dict[str, Any]:
    summary = document_summary(document.result)
    del summary["seconds"]
    return {
        **summary,
        "chain_list": [
            {
                "id": chain.id,
                "name": chain.name,
                "type": chain.type,
                "mentions": [_mention(document.result, span) for span in chain.mentions],
            }
            for chain in document.result.chains
        ],
        "links": [
            {"annotator": s.annotator, "given": s.given, "kept": s.kept, "added": s.added}
            for s in document.shares
        ],
        "conflicts": [
            dispute_values(document, dispute, explanation) for dispute, explanation in document.disputes
        ],
    }


def dispute_values(document: ExplainedDocument, dispute: Dispute, explanation: Explanation) -> dict[str, Any]:
    """Return one dispute as JSON values."""
    result = document.result
    return {
        "first": [_mention(result, span) for span in dispute.first],
        "second": [_mention(result, span) for span in dispute.second],
        "links": dispute.links,
        "for": list(dispute.supporters),
        "against": list(dispute.opponents),
        "decided": decided(dispute),
        "chains": list(dispute.chains),
        "names": [document.names.get(id or "", "") for id in dispute.chains],
        "reason": str(explanation.reason),
        "why": explanation.sentence,
        "in_every_optimum": dispute.certainty.always,
        "price_of_flipping": dispute.certainty.flip,
        "price_is_exact": dispute.certainty.exact,
        "flipping_is_possible": dispute.certainty.possible,
    }


def _mention(result: Result, span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": result.document.text(span)}


def _rates(rates: Rates) -> dict[str, Any]:
    return {kind: exact(number) for kind, number in zip(rates._fields, rates, strict=True)}
