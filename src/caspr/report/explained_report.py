"""The report: results with the explanation of their disputes, as text, Markdown or JSON values.

A novel has hundreds of thousands of disputes, which nobody reads: what is for people explains those that
matter most (`MOST_SHOWN`), counts the others and says where they are. JSON values have all.

Annotators number chains differently, but the report has one id for one entity, whoever annotated it
(`shared_ids`): their chains are matched one to one with those of the gold standard, largest overlap first,
and get its ids. The remaining chains are matched in the same way among the annotators and get the ids x1,
x2, ...

Tokens may contain any characters; those with an effect on a terminal or in Markdown are escaped.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from caspr.confidence import Confidence
from caspr.disputes import (
    MOST_SHOWN,
    Dispute,
    DisputedLinks,
    Explainer,
    Explanation,
    costs_in_words,
    disputes_about,
    ranked_links,
)
from caspr.measures.comparison import Comparison, Standings, against_gold, compare_results, deviations
from caspr.measures.typology import DisagreementCounts
from caspr.report.comparison_tables import (
    KINDS,
    comparison_lines,
    comparison_values,
    counts_values,
    decimal,
    exact,
    singletons_phrase,
)
from caspr.report.disagreements import (
    AGAINST_GOLD,
    TITLES,
    deviation_sentence,
    disagreement_sentence,
    examples,
)
from caspr.report.summary import adjudicators, answered, document_summary, outcome
from caspr.result import ChangePrice, Result
from caspr.task.decisions import EDITOR, Note
from caspr.task.pricing import classes_of, pairs_of
from caspr.text.document import Annotation, Span, count_links
from caspr.text.findings import printable, shorten, times
from caspr.text.grouping import match_one_to_one

_ALONE = singletons_phrase(None)
"""How annotators are scored against the gold standard (`against_gold`)."""
Column = dict[Span, tuple[str, ...]]
"""The shared ids of the chains that each mention is in."""


def shared_ids(gold: Annotation, annotations: Sequence[Annotation]) -> list[Column]:
    """Return a column for each annotation, with ids that mean the same in all of them."""
    known = [(chain.id, set(chain.mentions)) for chain in (*gold.chains, *gold.singletons)]
    taken = {id for id, _ in known}
    columns = []
    for annotation in annotations:
        chains = [chain.mentions for chain in (*annotation.chains, *annotation.singletons)]
        matched = _match(chains, known)
        column: dict[Span, tuple[str, ...]] = {}
        for number, mentions in enumerate(chains):
            if number not in matched:
                matched[number] = _fresh(taken)
                known.append((matched[number], set(mentions)))
            for span in mentions:
                column[span] = (*column.get(span, ()), matched[number])
        columns.append(column)
    return columns


def _match(chains: Sequence[Sequence[Span]], known: Sequence[tuple[str, set[Span]]]) -> dict[int, str]:
    """Match chains with known ones, one to one."""
    holders: dict[Span, list[str]] = {}
    for id, mentions in known:
        for span in mentions:
            holders.setdefault(span, []).append(id)
    overlaps = Counter(
        (number, id)
        for number, mentions in enumerate(chains)
        for span in mentions
        for id in holders.get(span, ())
    )
    order = {id: position for position, (id, _) in enumerate(known)}
    ranked = sorted(overlaps.items(), key=lambda item: (-item[1], item[0][0], order[item[0][1]]))
    return match_one_to_one(pair for pair, _ in ranked)


def _fresh(taken: set[str]) -> str:
    number = 1
    while f"x{number}" in taken:
        number += 1
    taken.add(f"x{number}")
    return f"x{number}"


@dataclass(frozen=True)
class LinkShare:
    """How many of one annotator's links are in the result."""

    annotator: str
    given: int
    kept: int
    added: int
    """How many links of the result the annotator did not give."""


@dataclass(frozen=True)
class ExplainedDocument:
    """A result with the explanation of its disputes."""

    result: Result
    disputes: tuple[tuple[Dispute, Explanation], ...]
    """Those that are shown: for people, what an adjudicator decided; then the least sure decisions first."""
    disputed: tuple[DisputedLinks, ...]
    """The links of all disputes, shown or not."""
    columns: tuple[Column, ...]
    """The shared chain ids of every annotator, variants united, and of the gold standard as last column."""
    shares: tuple[LinkShare, ...]

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of the entities that have one, by the ids of their chains."""
        return {chain.id: chain.name for chain in self.result.chains if chain.name}

    @property
    def links(self) -> int:
        """How many links are disputed."""
        return sum(links.number for links in self.disputed)

    @property
    def selection(self) -> str:
        """Say how many disputes are shown of how many, and where the others are; nothing if all are shown."""
        shown, known = len(self.disputes), len(self.disputed)
        if shown == known:
            return ""
        which = "the one that matters" if shown == 1 else f"the {shown:,} that matter"
        return (
            f"Of {known:,} disputes, {which} most {'is' if shown == 1 else 'are'} shown here; "
            "the report for programs (caspr report --format json) has all."
        )

    @property
    def costs(self) -> str:
        """How the costs in the reasons are counted."""
        return costs_in_words(self.result.instance)

    def is_unpriced(self, dispute: Dispute) -> bool:
        """Return whether there was no time to find out what it costs to flip a dispute, unlike others."""
        change = dispute.change
        known = bool(self.result.change_prices) and change.price is None and change.possible
        known = known and not dispute.confidence.decided
        return known and set(dispute.pair) <= set(self.result.instance.mentions)

    def other_boundaries(self, mention: Span) -> list[tuple[Span, tuple[str, ...]]]:
        """Return other boundaries that were united with a mention, each with who marked it."""
        group = self.result.given.variants.group(mention) if self.result.given else None
        if group is None:
            return []
        marked = zip(group.spans, group.annotators, strict=True)
        return [(span, tuple(names)) for span, names in marked if span != mention and names]


@dataclass(frozen=True)
class Report:
    """The content of a report on some adjudicated documents."""

    documents: tuple[ExplainedDocument, ...]
    comparison: Comparison
    standings: Standings
    deviations: Mapping[str, DisagreementCounts]
    """The mentions in which each annotator differs from the gold standard, by kind."""
    answered: str = ""
    """How often who decided something, as a sentence; empty if nothing is decided."""

    @cached_property
    def priced(self) -> bool:
        """Whether any price of the opposite decision is known."""
        changes = (dispute.change for document in self.documents for dispute, _ in document.disputes)
        return any(change.price is not None or not change.possible for change in changes)


def explained(
    results: Sequence[Result], most: int | None = MOST_SHOWN, answers: Mapping[str, int] | None = None
) -> Report:
    """Explain the disputes of some results, and compare the annotators with each other and the result.

    Of each document only the disputes that matter most are explained, all if `most` is `None`. `answers` is
    how often each person decided something, where that is known.
    """
    answers = answers or {}
    people = () if EDITOR in answers else answers
    documents = tuple(explain(result, most, *people) for result in results)
    said = answered(results, sum(answers.values()), adjudicators(answers))
    return Report(documents, compare_results(results), against_gold(results), deviations(results), said)


def explain(result: Result, most: int | None = None, *people: str) -> ExplainedDocument:
    """Explain the disputes of one result that matter most, what an adjudicator decided first; or all.

    A person who alone decided is named.
    """
    explainer = Explainer(result, *people) if len(people) == 1 else Explainer(result)
    disputed = tuple(ranked_links(result))
    shown = disputed
    if most is not None:
        answers = result.instance.decisions.answers
        shown = tuple(sorted(disputed, key=lambda links: not answers.settles(*links.pair)))[:most]
    return ExplainedDocument(
        result,
        tuple((dispute, explainer.explain(dispute)) for dispute in disputes_about(result, shown)),
        disputed,
        tuple(shared_ids(result.gold, [*result.instance.annotations, result.gold])),
        tuple(link_shares(result)),
    )


def link_shares(result: Result) -> list[LinkShare]:
    """Count how many of each annotator's links are in the result, and how many were added."""
    kept = [0] * result.instance.votes.annotators
    total = 0
    for chain in result.gold.chains:
        for pairs in pairs_of(classes_of(result.instance, chain.mentions)):
            total += pairs.number
            for annotator in range(len(kept)):
                kept[annotator] += pairs.number * (pairs.evidence.givers >> annotator & 1)
    return [
        LinkShare(annotation.annotator, count_links(annotation.chains), kept[number], total - kept[number])
        for number, annotation in enumerate(result.instance.annotations)
    ]


def decided(dispute: Dispute) -> str:
    """Return what was decided, in words."""
    return "linked" if dispute.linked else "not linked"


def entities(dispute: Dispute, names: Mapping[str, str]) -> str:
    """Return the entities of the result that a dispute is about, where one of them has a name, else nothing.

    `names` has the name of each named chain, by its id.
    """
    sides = dispute.chains[:1] if dispute.linked else dispute.chains
    called = ["no entity" if id is None else names.get(id) or "an entity without a name" for id in sides]
    return " and ".join(called) if any(id in names for id in sides) else ""


def decided_about(dispute: Dispute, names: Mapping[str, str]) -> str:
    """Return what was decided, in words, with the names of entities where they have some."""
    about = entities(dispute, names)
    if not about:
        return decided(dispute)
    return f"linked in {about}" if dispute.linked else f"not linked, {about}"


def price(change: ChangePrice) -> str:
    """Return the price of the opposite decision in words; empty where it is not known.

    >>> price(ChangePrice(3)), price(ChangePrice(3, exact=False)), price(ChangePrice(possible=False))
    ('3', 'at least 3', 'impossible')
    """
    if not change.possible:
        return "impossible"
    if change.price is None:
        return ""
    return f"{change.price:,}" if change.exact else f"at least {change.price:,}"


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
    if report.answered:
        yield printable(report.answered)
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
        if document.selection:
            yield f"  {document.selection}"
        for dispute, explanation in document.disputes:
            yield printable(f"  {decided_about(dispute, document.names)}: {sides(document, dispute)}")
            yield printable(f"    {_votes(dispute)}")
            yield printable(f"    {explanation.reason}: {explanation.sentence}")
            yield printable(f"    confidence: {dispute.confidence.words}{_price(document, dispute)}")
        yield f"  {outcome(document.result)}"
    yield from map(printable, comparison_lines(report.comparison))
    for name, counts in report.deviations.items():
        yield deviation_sentence(counts, f"{printable(name)} differs")
    yield f"against the gold standard (F1; {_ALONE})"
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
        yield from (document.selection, "") if document.selection else ()
        if result.findings:
            yield from (*(f"* {markdown(str(finding))}" for finding in result.findings), "")
        yield from _table(
            ["annotator", "links", "kept", "added"],
            [[s.annotator, f"{s.given:,}", f"{s.kept:,}", f"{s.added:,}"] for s in document.shares],
        )
        if flags := flags_of(result):
            yield ""
            yield from _table(["flag", "mention", "note"], [_flag_row(result, note) for note in flags])
        if document.disputes:
            yield ""
            yield from _table(
                ["links", "between", "for", "against", "decided", "why", "confidence", "price to flip"],
                [_row(document, dispute, explanation) for dispute, explanation in document.disputes],
            )
    comparison = report.comparison
    yield from ("", "## Agreement between annotators", "")
    yield from _table(["", "alpha"], [[KINDS[kind], decimal(n)] for kind, n in comparison.alpha.items()])
    yield from (
        "",
        f"{KINDS['conll']} of each pair ({singletons_phrase(comparison.singletons, 'annotators')}):",
        "",
    )
    rows = zip(comparison.annotators, comparison.matrices["conll"], strict=True)
    yield from _table(["", *comparison.annotators], [[name, *map(decimal, row)] for name, row in rows])
    yield from ("", "## Annotators against the gold standard", "", f"F1; {_ALONE}.", "")
    measures = list(next(iter(report.standings.values()), {}))
    yield from _table(
        ["annotator", *(KINDS[measure] for measure in measures)],
        [[name, *(decimal(rate.f1) for rate in rates.values())] for name, rates in report.standings.items()],
    )


def _first_section(report: Report) -> Iterator[str]:
    """Yield what annotators disagree about: in words, by kind with examples, and for each annotator.

    Before that, say how often an adjudicator decided something.
    """
    yield from (markdown(report.answered), "") if report.answered else ()
    comparison = report.comparison
    counts = comparison.disagreement
    annotators = times(len(comparison.annotators), "annotator")
    yield f"{annotators} marked {times(counts.mentions, 'mention')}. {disagreement_sentence(counts)}"
    yield ""
    yield from _table(
        ["kind", "mentions", "for example"],
        [
            [
                TITLES[kind],
                f"{number:,}",
                "; ".join(example.line for example in examples(comparison, kind, 1)),
            ]
            for kind, number in counts.kinds.items()
        ],
    )
    yield from ("", "Mentions in which each annotator differs from the result:", "")
    yield from _table(
        ["annotator", "mentions", "disputed", *TITLES.values()],
        [
            [name, f"{counts.mentions:,}", f"{counts.disputed:,}", *(f"{n:,}" for n in counts.kinds.values())]
            for name, counts in report.deviations.items()
        ],
    )


def sides(document: ExplainedDocument, dispute: Dispute) -> str:
    """Return the mentions of a dispute in words."""
    if dispute.second:
        between = f"{_group(document, dispute.first)} and {_group(document, dispute.second)}"
    else:
        between = f"{_group(document, dispute.first)} with each other"
    return between if dispute.links == 1 else f"{between}, {times(dispute.links, 'link')}"


def _row(document: ExplainedDocument, dispute: Dispute, explanation: Explanation) -> list[str]:
    return [
        f"{dispute.links:,}",
        sides(document, dispute),
        ", ".join(dispute.supporters) or "nobody",
        ", ".join(dispute.opponents) or "nobody",
        decided_about(dispute, document.names),
        f"{explanation.reason}: {explanation.sentence}",
        dispute.confidence.words,
        price(dispute.change),
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
    return f"{times(document.links, 'disputed link')} in {times(len(document.disputed), 'group')}"


def _votes(dispute: Dispute) -> str:
    supporters, opponents = ", ".join(dispute.supporters), ", ".join(dispute.opponents)
    return f"for: {supporters or 'nobody'}; against: {opponents or 'nobody'}"


def _price(document: ExplainedDocument, dispute: Dispute) -> str:
    if document.is_unpriced(dispute):
        return "; what deciding otherwise costs was not computed in time (allow more with --prices)"
    if not dispute.change.possible:
        return "; nothing else is possible"
    if dispute.change == ChangePrice(0):
        return "; deciding otherwise costs the same"
    cost = price(dispute.change)
    return f"; deciding otherwise costs {cost} more" if cost else ""


def report_values(report: Report) -> dict[str, Any]:
    """Return the whole report as JSON values."""
    return {
        "documents": [_document_values(document) for document in report.documents],
        "agreement": comparison_values(report.comparison),
        "against_gold": {
            name: {
                measure: {kind: exact(number) for kind, number in rates._asdict().items()}
                for measure, rates in measures.items()
            }
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
                "mentions": [
                    {
                        **_mention(document.result, span),
                        **confidence_values(document.result.confidences.mention(span)),
                    }
                    for span in chain.mentions
                ],
            }
            for chain in document.result.chains
        ],
        "flags": [flag_values(document.result, note) for note in flags_of(document.result)],
        "links": [asdict(share) for share in document.shares],
        "conflicts": [
            dispute_values(document, dispute, explanation) for dispute, explanation in document.disputes
        ],
    }


def flags_of(result: Result) -> list[Note]:
    """Return the flags of a document, in the order of the text."""
    notes = () if result.given is None else result.given.notes
    flags = [(note.mention, note) for note in notes if note.flag and note.mention is not None]
    return [note for _, note in sorted(flags, key=lambda pair: (pair[0], pair[1].flag))]


def _flag_row(result: Result, note: Note) -> list[str]:
    assert note.mention is not None  # `flags_of` returns no other
    return [note.flag, f"{result.document.phrase(note.mention)} ({note.mention.start})", note.text]


def flag_values(result: Result, note: Note) -> dict[str, Any]:
    """Return a flag as JSON values."""
    assert note.mention is not None  # `flags_of` returns no other
    return {**_mention(result, note.mention), "flag": note.flag, "note": note.text}


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
        **confidence_values(dispute.confidence),
        "price_of_flipping": dispute.change.price,
        "price_is_exact": dispute.change.exact,
        "flipping_is_possible": dispute.change.possible,
    }


def confidence_values(confidence: Confidence) -> dict[str, Any]:
    """Return how sure a decision is as JSON values."""
    return {
        "confidence": round(confidence.value, 3),
        "votes_against": confidence.against,
        "voters": confidence.seen,
        "tie": confidence.is_tie,
        "by_adjudicator": confidence.decided,
    }


def _mention(result: Result, span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": result.document.text(span)}
