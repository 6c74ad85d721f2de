"""Reports for the terminal and for Markdown: the summary, every dispute, and the tables.

Tokens may contain any characters; those with an effect on a terminal or in Markdown are escaped.
"""

import re
from collections.abc import Iterator, Sequence

from caspr.disputes.disputes import Dispute, disputed_links
from caspr.disputes.reasons import Explanation, shorten
from caspr.report.comparison_tables import KINDS, comparison_lines, decimal
from caspr.report.disagreements import (
    TITLES,
    deviation_sentence,
    disagreement_sentence,
    examples,
)
from caspr.report.explained_report import ExplainedDocument, Report, decided_about, price
from caspr.report.summary_text import outcome
from caspr.text.document import Span
from caspr.text.findings import times
from caspr.text.printable import printable

SHOWN = 3
"""How many mentions of a group are named."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&$])")


def markdown(text: str) -> str:
    r"""Escape text so that Markdown shows it unchanged.

    >>> markdown("<b>*a*|b")
    '\\<b\\>\\*a\\*\\|b'
    """
    return _SPECIAL.sub(r"\\\1", printable(text))


def text_report(report: Report) -> Iterator[str]:
    """Yield the lines of a report for the terminal."""
    for document, (_, typology) in zip(report.documents, report.comparison.typologies, strict=True):
        annotators = times(len(typology.annotators), "annotator")
        words = f"{annotators}. {disagreement_sentence(typology.counts)}"
        yield f"{printable(document.result.document.title)}: {words}"
        for share in document.shares:
            kept = f"{share.kept:,} of {share.given:,} links kept, {share.added:,} added"
            yield f"  {printable(share.annotator)}: {kept}"
        yield f"  {_disputed(document)}"
        if document.disputes:
            yield f"  {document.costs}"
        for dispute, explanation in document.disputes:
            yield printable(f"  {decided_about(dispute, document.names)}: {sides(document, dispute)}")
            yield printable(f"    {_votes(dispute)}")
            yield printable(f"    {explanation.reason}: {explanation.sentence}{_sure(document, dispute)}")
        yield f"  {outcome(document.result)}"
    yield from map(printable, comparison_lines(report.comparison))
    for name, counts in report.deviations.items():
        yield deviation_sentence(counts, f"{printable(name)} differs")
    yield "against the gold standard"
    width = max(11, *(len(name) + 2 for name in report.standings))
    yield f"  {'':<{width}}" + "".join(f"{name:>9}" for name in next(iter(report.standings.values()), {}))
    for name, rates in report.standings.items():
        numbers = "".join(f"{decimal(rate.f1):>9}" for rate in rates.values())
        yield f"  {printable(name):<{width}}{numbers}"


def markdown_report(report: Report, title: str) -> Iterator[str]:
    """Yield the lines of a report in Markdown."""
    yield from (f"# {markdown(title)}", "")
    yield from _first_section(report)
    for document, (_, typology) in zip(report.documents, report.comparison.typologies, strict=True):
        result = document.result
        yield from ("", f"## {markdown(result.document.title)}", "", disagreement_sentence(typology.counts))
        yield from ("", f"Link by link: {_disputed(document)}. The result: {outcome(result)}.", "")
        yield from (document.costs, "") if document.disputes else ()
        yield from _table(
            ["annotator", "links", "kept", "added"],
            [[s.annotator, f"{s.given:,}", f"{s.kept:,}", f"{s.added:,}"] for s in document.shares],
        )
        if document.disputes:
            yield ""
            yield from _table(
                ["links", "between", "for", "against", "decided", "why", "how sure"],
                [_row(document, dispute, explanation) for dispute, explanation in document.disputes],
            )
    comparison = report.comparison
    yield from ("", "## Agreement between annotators", "")
    yield from _table(["", "alpha"], [[KINDS[kind], decimal(n)] for kind, n in comparison.alpha.items()])
    yield from ("", f"{KINDS['conll']} of each pair:", "")
    rows = zip(comparison.annotators, comparison.matrices["conll"], strict=True)
    yield from _table(["", *comparison.annotators], [[name, *map(decimal, row)] for name, row in rows])
    yield from ("", "## Annotators against the gold standard", "")
    measures = list(next(iter(report.standings.values()), {}))
    yield from _table(
        ["annotator", *(KINDS[measure] for measure in measures)],
        [[name, *(decimal(rate.f1) for rate in rates.values())] for name, rates in report.standings.items()],
    )


def _first_section(report: Report) -> Iterator[str]:
    """Yield what annotators disagree about: in words, by kind with examples, and for each annotator."""
    comparison = report.comparison
    counts = comparison.disagreement
    annotators = times(len(comparison.annotators), "annotator")
    yield f"{annotators} marked {times(counts.mentions, 'mention')}. {disagreement_sentence(counts)}"
    yield ""
    yield from _table(
        ["kind", "mentions", "for example"],
        [
            [TITLES[kind], f"{number:,}", "; ".join(one.line for one in examples(comparison, kind, 1))]
            for kind, number in counts.kinds.items()
        ],
    )
    yield from ("", "Mentions in which each annotator departs from the result:", "")
    yield from _table(
        ["annotator", "mentions", "disputed", *TITLES.values()],
        [
            [name, f"{found.mentions:,}", f"{found.disputed:,}", *(f"{n:,}" for n in found.kinds.values())]
            for name, found in report.deviations.items()
        ],
    )


def sides(document: ExplainedDocument, dispute: Dispute) -> str:
    """Return the mentions of a dispute in words."""
    if dispute.second:
        between = f"{_group(document, dispute.first)} and {_group(document, dispute.second)}"
    else:
        between = f"{_group(document, dispute.first)} among each other"
    return between if dispute.links == 1 else f"{between}, {times(dispute.links, 'link')}"


def _row(document: ExplainedDocument, dispute: Dispute, explanation: Explanation) -> list[str]:
    return [
        f"{dispute.links:,}",
        sides(document, dispute),
        ", ".join(dispute.supporters) or "nobody",
        ", ".join(dispute.opponents) or "nobody",
        decided_about(dispute, document.names),
        f"{explanation.reason}: {explanation.sentence}",
        _sure(document, dispute).removeprefix("; "),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(markdown(cell) for cell in head)} |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield f"| {' | '.join(markdown(cell) for cell in row)} |"


def _group(document: ExplainedDocument, spans: Sequence[Span]) -> str:
    text = document.result.document
    named = [f"“{shorten(text.text(span))}” ({span.start}-{span.end})" for span in spans[:SHOWN]]
    more = [f"{len(spans) - SHOWN} more"] if len(spans) > SHOWN else []
    return ", ".join(named + more)


def _disputed(document: ExplainedDocument) -> str:
    links = disputed_links([dispute for dispute, _ in document.disputes])
    return f"{times(links, 'disputed link')} of {times(len(document.disputes), 'kind')}"


def _votes(dispute: Dispute) -> str:
    supporters, opponents = ", ".join(dispute.supporters), ", ".join(dispute.opponents)
    return f"for: {supporters or 'nobody'}; against: {opponents or 'nobody'}"


def _sure(document: ExplainedDocument, dispute: Dispute) -> str:
    certainty = dispute.certainty
    if document.is_unpriced(dispute):
        return "; how sure was not computed in time (--certainty gives more)"
    always = {None: "", True: "; in every optimum", False: "; not in every optimum"}[certainty.always]
    cost = price(certainty)
    if not certainty.possible:
        return f"{always}; nothing else is possible"
    return f"{always}; deciding otherwise costs {cost} more" if cost else always
