"""Explained results: all that a report tells about a document, whatever the format."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from caspr.disputes.disputes import Dispute, find_disputes
from caspr.disputes.reasons import Explainer, Explanation
from caspr.measures.comparison import Comparison, Rates, Standings
from caspr.report.comparison_tables import comparison_values, exact
from caspr.report.shared_ids import Column, shared_ids
from caspr.report.summary_json import document_summary
from caspr.result import Certainty, Result
from caspr.task.price.pricing import classes_of, pairs_of
from caspr.text.document import Span
from caspr.text.links import count_links


@dataclass(frozen=True)
class LinkShare:
    """What became of one annotator's links."""

    annotator: str
    """Who gave them."""
    given: int
    """How many links the annotator gave."""
    kept: int
    """How many of them are in the result."""
    added: int
    """How many links of the result the annotator did not give."""


@dataclass(frozen=True)
class ExplainedDocument:
    """A result with the explanation of every dispute."""

    result: Result
    """The result."""
    disputes: tuple[tuple[Dispute, Explanation], ...]
    """Every dispute in text order, and why it was decided as it was."""
    columns: tuple[Column, ...]
    """The shared chain ids of every annotator, and of the gold standard as last column."""
    shares: tuple[LinkShare, ...]
    """What became of each annotator's links."""


@dataclass(frozen=True)
class Report:
    """All that is reported about an adjudication."""

    documents: tuple[ExplainedDocument, ...]
    """Every document."""
    comparison: Comparison
    """How far the annotators agree with each other."""
    standings: Standings
    """How far each annotator agrees with the gold standard."""

    @cached_property
    def certain(self) -> bool:
        """Whether anything is known about how sure decisions are."""
        return any(
            dispute.certainty.always is not None
            for document in self.documents
            for dispute, _ in document.disputes
        )

    @cached_property
    def priced(self) -> bool:
        """Whether any price of deciding otherwise is known."""
        return any(
            dispute.certainty.flip is not None or not dispute.certainty.possible
            for document in self.documents
            for dispute, _ in document.disputes
        )


def explained(results: Sequence[Result], comparison: Comparison, standings: Standings) -> Report:
    """Explain every dispute of some results."""
    return Report(tuple(map(explain, results)), comparison, standings)


def explain(result: Result) -> ExplainedDocument:
    """Explain every dispute of one result."""
    explainer = Explainer(result)
    return ExplainedDocument(
        result,
        tuple((dispute, explainer.explain(dispute)) for dispute in find_disputes(result)),
        tuple(shared_ids(result.gold, [*result.instance.annotations, result.gold])),
        tuple(link_shares(result)),
    )


def link_shares(result: Result) -> list[LinkShare]:
    """Count what became of each annotator's links."""
    kept = [0] * result.instance.votes.annotators
    total = 0
    for chain in result.gold.chains:
        for pairs in pairs_of(classes_of(result.instance, chain.mentions)):
            total += pairs.number
            for annotator in {annotator for annotator, _ in pairs.first[0] & pairs.second[0]}:
                kept[annotator] += pairs.number
    return [
        LinkShare(one.annotator, count_links(one.chains), kept[number], total - kept[number])
        for number, one in enumerate(result.instance.annotations)
    ]


def report_values(report: Report) -> dict[str, Any]:
    """Return the whole report as JSON values."""
    return {
        "documents": [_document_values(document) for document in report.documents],
        "agreement": comparison_values(report.comparison),
        "against_gold": {
            name: {measure: _rates(rates) for measure, rates in measures.items()}
            for name, measures in report.standings.items()
        },
    }


def _document_values(document: ExplainedDocument) -> dict[str, Any]:
    summary = document_summary(document.result)
    del summary["seconds"]
    return {
        **summary,
        "chain_list": [
            {"id": chain.id, "mentions": [_mention(document.result, span) for span in chain.mentions]}
            for chain in document.result.chains
        ],
        "links": [
            {"annotator": s.annotator, "given": s.given, "kept": s.kept, "added": s.added}
            for s in document.shares
        ],
        "conflicts": [
            dispute_values(document.result, dispute, explanation)
            for dispute, explanation in document.disputes
        ],
    }


def dispute_values(result: Result, dispute: Dispute, explanation: Explanation) -> dict[str, Any]:
    """Return one dispute as JSON values."""
    return {
        "first": [_mention(result, span) for span in dispute.first],
        "second": [_mention(result, span) for span in dispute.second],
        "links": dispute.links,
        "for": list(dispute.supporters),
        "against": list(dispute.opponents),
        "decided": decided(dispute),
        "chains": list(dispute.chains),
        "reason": str(explanation.reason),
        "why": explanation.sentence,
        "in_every_optimum": dispute.certainty.always,
        "price_of_flipping": dispute.certainty.flip,
        "price_is_exact": dispute.certainty.exact,
        "flipping_is_possible": dispute.certainty.possible,
    }


def decided(dispute: Dispute) -> str:
    """Say what was decided."""
    return "linked" if dispute.linked else "not linked"


def price(certainty: Certainty) -> str:
    """Say what deciding otherwise costs, where that is known.

    >>> price(Certainty(flip=3)), price(Certainty(flip=3, exact=False)), price(Certainty(possible=False))
    ('3', 'at least 3', 'impossible')
    """
    if not certainty.possible:
        return "impossible"
    if certainty.flip is None:
        return ""
    return f"{certainty.flip:,}" if certainty.exact else f"at least {certainty.flip:,}"


def _mention(result: Result, span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": result.document.text(span)}


def _rates(rates: Rates) -> dict[str, Any]:
    return {kind: exact(number) for kind, number in zip(rates._fields, rates, strict=True)}
