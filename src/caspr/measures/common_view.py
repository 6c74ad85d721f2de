"""Scores where annotators saw different parts of a text: both sides are cut to what both saw.

    tokens   1 ........ 240 ........ 500
    Anna     =============                      scored from token 200 to 240 only: that Anna has nothing
    Ben             ==================          behind it, and Ben nothing before it, is no mistake

A mention counts between two annotators if each of them saw it, or marked it. A chain of which one mention is
left is a chain of one, and counts only where chains of one do, which the uncut annotations decide: cutting
must not bring them into a comparison of annotators who have none. A gold standard is about the whole text;
it is cut to what the annotator saw who is scored against it.

Without coverage nothing is cut. Where nothing was seen by both, nothing is counted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from caspr.measures.scores import Scores, score
from caspr.measures.singletons import singletons_count
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Span


class CoveredPair(NamedTuple):
    """What two annotators, of whom one may be a gold standard, say of a document, and what they saw of it."""

    annotations: tuple[Annotation, ...]
    """The two annotations."""
    coverage: Coverage | None
    """Who saw what."""


def score_pairs(pairs: Sequence[CoveredPair], singletons: bool | None) -> Scores:
    """Score the second annotation of each document against the first, over what both saw."""
    alone = singletons_count(zip(*(pair.annotations for pair in pairs), strict=True), singletons)
    seen = [seen_by_both(key, response, coverage) for (key, response), coverage in pairs]
    return score([key for key, _ in seen], [response for _, response in seen], singletons=alone)


def seen_by_both(
    one: Annotation, other: Annotation, coverage: Coverage | None
) -> tuple[Annotation, Annotation]:
    """Return what two annotators, of whom one may be a gold standard, say about what both saw.

    >>> from caspr.text.document import Document
    >>> text = Document("d", ("a", "b", "c"))
    >>> anna = Annotation.of("anna", text, [Chain.of("1", [(1, 1), (2, 2), (3, 3)])])
    >>> ben = Annotation.of("ben", text, [Chain.of("1", [(2, 2), (3, 3)])])
    >>> seen = seen_by_both(anna, ben, Coverage.of({"ben": [(2, 3)]}))
    >>> [chain.mentions for one in seen for chain in one.chains] == [ben.chains[0].mentions] * 2
    True
    """
    return _cut(one, other, coverage), _cut(other, one, coverage)


def _cut(annotation: Annotation, other: Annotation, coverage: Coverage | None) -> Annotation:
    """Leave out what another annotator did not see."""
    if not coverage:
        return annotation
    own, marked = annotation.mentions, other.mentions
    kept = {span for span in own if span in marked or coverage.sees(other.annotator, span)}
    if len(kept) == len(own):
        return annotation
    cut = Annotation.of(
        annotation.annotator,
        annotation.document,
        [
            Chain.of(chain.id, left)
            for chain in annotation.all_chains
            if (left := _left(chain.mentions, kept))
        ],
    )
    return replace(cut, as_given=tuple(left for one in annotation.as_given if (left := _left(one, kept))))


def _left(mentions: tuple[Span, ...], kept: set[Span]) -> tuple[Span, ...]:
    return tuple(span for span in mentions if span in kept)
