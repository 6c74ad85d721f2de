"""A page for one annotator: what differs from the gold standard, by kind, for training and discussion.

The page says first in words and in a table what kinds of differences there are, with what to read in the
guidelines; then it shows every one of them in its passage.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caspr.confidence import Confidence
from caspr.measures.comparison import Rates, coverage_of
from caspr.measures.matching import singletons_count
from caspr.measures.typology import Disagreement, DisagreementCounts, DisagreementKind, classify
from caspr.report.disagreements import AGAINST_GOLD, deviation_sentence
from caspr.report.html_pages import Stretches, page, stretches
from caspr.result import Result
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Document, Span

LABELS = {
    (DisagreementKind.BOUNDARY, 0): "The boundaries are different",
    (DisagreementKind.NESTED, -1): "You did not mark this mention, only one inside or around it",
    (DisagreementKind.NESTED, 1): "The gold standard has only the mention inside or around this one",
    (DisagreementKind.MENTION, -1): "You did not mark this mention",
    (DisagreementKind.MENTION, 1): "The gold standard does not have this mention",
    (DisagreementKind.SINGLETON, -1): "The gold standard has this mention alone",
    (DisagreementKind.SINGLETON, 1): "You have this mention alone",
    (DisagreementKind.SPLIT, -1): "You merged this mention's entity with another",
    (DisagreementKind.SPLIT, 1): "You split this mention's entity",
    (DisagreementKind.ENTITY, 0): "The mention is in another entity",
}
"""What each kind of difference is called."""
ADVICE = {
    DisagreementKind.BOUNDARY: "where a mention begins and ends",
    DisagreementKind.NESTED: "mentions inside other mentions",
    DisagreementKind.MENTION: "what is a mention",
    DisagreementKind.SINGLETON: "entities that are mentioned only once",
    DisagreementKind.SPLIT: "when two entities are the same",
    DisagreementKind.ENTITY: "which entity a mention refers to",
}
"""What to read in the guidelines about each kind."""


@dataclass(frozen=True)
class Difference:
    """One mention in which an annotator differs from the gold standard, as the page shows it."""

    document: Document
    disagreement: Disagreement
    """What differs, the annotator being the first of the two."""
    confidence: Confidence
    """How sure the gold standard is about the mention."""
    names: tuple[str, str] = ("", "")
    """What the annotator and the gold standard call the entity; empty where it has no name."""

    @property
    def kind(self) -> tuple[DisagreementKind, int]:
        """The kind and direction."""
        return self.disagreement.kind, self.disagreement.direction

    @property
    def yours(self) -> Span | None:
        """The annotator's mention, if there is one."""
        return self.disagreement.spans[0]

    @property
    def gold(self) -> Span | None:
        """The mention of the gold standard, if there is one."""
        return self.disagreement.spans[1]

    @property
    def your_others(self) -> tuple[Span, ...]:
        """What else the annotator put into the entity."""
        return tuple(span for span in self.disagreement.entities[0] if span != self.yours)

    @property
    def gold_others(self) -> tuple[Span, ...]:
        """What else the gold standard has in the entity."""
        return tuple(span for span in self.disagreement.entities[1] if span != self.gold)

    @property
    def passage(self) -> Stretches:
        """The text around the mention."""
        return stretches(self.document, {"yours": self.yours, "gold": self.gold})


def feedback_page(annotator: str, standing: Mapping[str, Rates], results: Iterable[Result]) -> str:
    """Return where one annotator differs from the gold standard, in what that one saw of the documents."""
    results = list(results)
    pairs = [
        (annotation, result, coverage_of(result))
        for result in results
        for annotation in result.annotations
        if annotation.annotator == annotator
    ]
    golds = [result.gold for _, result, _ in pairs]
    alone = singletons_count(([annotation for annotation, _, _ in pairs], golds))
    counts, parts = _differences(pairs, alone)
    return page(
        "feedback.html",
        f"Feedback for {annotator}",
        annotator=annotator,
        standing=standing,
        mention_count=sum(len(annotation.mentions) for annotation, _, _ in pairs),
        sentence=deviation_sentence(counts),
        kinds_found=[(key, counts.directed[key]) for key in LABELS if counts.directed.get(key)],
        counts=counts,
        alone=alone,
        decided=any(result.instance.decisions for result in results),
        parts=parts,
        labels=LABELS,
        names=AGAINST_GOLD,
        advice=ADVICE,
    )


def _differences(
    pairs: Sequence[tuple[Annotation, Result, Coverage | None]], alone: bool
) -> tuple[DisagreementCounts, list[dict[str, Any]]]:
    """Return the counts of all documents, and for each document its differences by kind."""
    counts, parts = DisagreementCounts(), []
    for annotation, result, coverage in pairs:
        gold = result.gold
        typology = classify([annotation, gold], singletons=alone, coverage=coverage)
        counts += typology.counts
        kinds: dict[tuple[DisagreementKind, int], list[Difference]] = {}
        called = [
            {span: chain.name for chain in side.all_chains for span in chain.mentions}
            for side in (annotation, gold)
        ]
        for disagreement in typology.disagreements:
            spans = zip(called, disagreement.spans, strict=True)
            yours, golds = (names.get(span, "") if span else "" for names, span in spans)
            sure = _confidence(result, disagreement)
            difference = Difference(gold.document, disagreement, sure, (yours, golds))
            kinds.setdefault(difference.kind, []).append(difference)
        ordered = [(key, kinds[key]) for key in LABELS if key in kinds]
        parts.append({"document": gold.document, "counts": typology.counts, "kinds": ordered})
    return counts, parts


def _confidence(result: Result, disagreement: Disagreement) -> Confidence:
    """Return how sure the gold standard is about a mention, or about not having it."""
    span = disagreement.spans[1] or disagreement.place
    united = result.given.variants.boundaries if result.given else {}
    return result.confidences.mention(united.get(span, span))
