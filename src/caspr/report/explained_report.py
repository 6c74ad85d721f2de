"""The content of a report, whatever its format: results with the explanation of every dispute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from caspr.disputes.disputes import Dispute, find_disputes
from caspr.disputes.reasons import Explainer, Explanation, costs_in_words
from caspr.measures.comparison import Comparison, Standings, deviations
from caspr.measures.typology import DisagreementCounts
from caspr.report.shared_ids import Column, shared_ids
from caspr.result import Certainty, Result
from caspr.task.price.classes import classes_of, pairs_of
from caspr.text.document import Span
from caspr.text.links import count_links


@dataclass(frozen=True)
class LinkShare:
    """How many of one annotator's links are in the result."""

    annotator: str
    """The annotator."""
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
    """The shared chain ids of every annotator, variants united, and of the gold standard as last column."""
    shares: tuple[LinkShare, ...]
    """How many of each annotator's links are in the result."""

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of the entities that have one, by the ids of their chains."""
        return {chain.id: chain.name for chain in self.result.chains if chain.name}

    @property
    def costs(self) -> str:
        """How the costs in the reasons are counted."""
        return costs_in_words(self.result.instance)

    def is_unpriced(self, dispute: Dispute) -> bool:
        """Return whether there was no time to find out how sure a dispute is, unlike others."""
        known = bool(self.result.certainties) and dispute.certainty.always is None
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
    """Every document."""
    comparison: Comparison
    """How far the annotators agree with each other."""
    standings: Standings
    """How far each annotator agrees with the gold standard."""
    deviations: Mapping[str, DisagreementCounts]
    """The mentions in which each annotator departs from the gold standard, by kind."""

    @cached_property
    def certain(self) -> bool:
        """Whether the certainty of any dispute is known."""
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
    return Report(tuple(map(explain, results)), comparison, standings, deviations(results))


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
    """Count how many of each annotator's links are in the result, and how many were added."""
    kept = [0] * result.instance.votes.annotators
    total = 0
    for chain in result.gold.chains:
        for pairs in pairs_of(classes_of(result.instance, chain.mentions)):
            total += pairs.number
            for annotator in range(len(kept)):
                kept[annotator] += pairs.number * (pairs.evidence.givers >> annotator & 1)
    return [
        LinkShare(one.annotator, count_links(one.chains), kept[number], total - kept[number])
        for number, one in enumerate(result.instance.annotations)
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


def price(certainty: Certainty) -> str:
    """Return the price of deciding otherwise in words; empty where it is not known.

    >>> price(Certainty(flip=3)), price(Certainty(flip=3, exact=False)), price(Certainty(possible=False))
    ('3', 'at least 3', 'impossible')
    """
    if not certainty.possible:
        return "impossible"
    if certainty.flip is None:
        return ""
    return f"{certainty.flip:,}" if certainty.exact else f"at least {certainty.flip:,}"
