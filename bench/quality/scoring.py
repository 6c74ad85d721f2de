"""Scores of many documents: pooled, and resampled to say how far chance explains a difference.

Every measure is a numerator and a denominator for recall and two for precision; pooling adds them up over
documents. A *paired bootstrap* draws as many documents as there are, with repetition, pools both responses
over the same draw, and notes the difference; the interval holds the middle 95 % of these differences. A
difference whose interval excludes 0 would probably be found on other documents of the kind, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.quality.judged import Judged
from caspr.measures.matching import align
from caspr.measures.scores import CONLL, SCORES
from caspr.text.document import Annotation

MEASURES = ("mentions", "muc", "b3", "ceafe", "lea")
"""What is scored; CoNLL is the mean of three of them."""
DRAWS = 4000
"""How many times documents are drawn."""
MIDDLE = (2.5, 97.5)
"""Between these percentiles an interval lies."""


@dataclass(frozen=True)
class Scored:
    """The counts of one response, document by document."""

    documents: tuple[str, ...]
    """Those that the response has, by name."""
    counts: NDArray[np.float64]
    """For each document and each of `MEASURES`: numerator and denominator of recall and of precision."""

    def f1(self, measure: str) -> float:
        """Return F1 in percent, pooled over documents; `conll` is the mean of three."""
        return float(pooled_f1(self.counts.sum(axis=0), measure))

    def at(self, names: Sequence[str]) -> "Scored":
        """Return the scores of some of the documents."""
        place = {name: number for number, name in enumerate(self.documents)}
        return Scored(tuple(names), self.counts[[place[name] for name in names]])


@dataclass(frozen=True)
class Interval:
    """A difference of two responses in CoNLL F1, and where chance may have moved it."""

    difference: float
    low: float
    high: float


def score_documents(
    documents: Sequence[Judged], response: Mapping[str, Annotation], *, singletons: bool
) -> Scored:
    """Score a response, which may lack documents, against the gold."""
    present = [one for one in documents if one.name in response]
    found = [counts(one.gold, response[one.name], singletons=singletons) for one in present]
    return Scored(tuple(one.name for one in present), np.array(found).reshape(-1, len(MEASURES), 4))


def counts(gold: Annotation, response: Annotation, *, singletons: bool) -> list[list[float]]:
    """Return numerator and denominator of recall and precision for each measure."""
    aligned = align(gold, response, singletons=singletons)
    counted = [SCORES[measure](aligned) for measure in MEASURES]
    return [
        [float(one.recall.part), one.recall.whole, float(one.precision.part), one.precision.whole]
        for one in counted
    ]


def pooled_f1(sums: NDArray[np.float64], measure: str) -> NDArray[np.float64]:
    """Return F1 in percent of summed counts, whose last two dimensions are measures and the four counts."""
    if measure == "conll":
        return np.asarray(np.mean([pooled_f1(sums, name) for name in CONLL], axis=0))
    right, key, correct, given = np.moveaxis(sums[..., MEASURES.index(measure), :], -1, 0)
    recall, precision = right / np.maximum(key, 1), correct / np.maximum(given, 1)
    both = np.maximum(recall + precision, np.finfo(float).tiny)
    return np.asarray(100 * 2 * recall * precision / both)


def compare(response: Scored, baseline: Scored, *, draws: int = DRAWS, seed: int = 1) -> Interval:
    """Return by how much a response beats a baseline on the documents that both have."""
    names = sorted(set(response.documents) & set(baseline.documents))
    ours, theirs = response.at(names), baseline.at(names)
    chances = np.full(len(names), 1 / len(names))
    drawn = np.random.default_rng(seed).multinomial(len(names), chances, size=draws)
    differences = _pooled(ours, drawn) - _pooled(theirs, drawn)
    low, high = np.percentile(differences, MIDDLE)
    return Interval(ours.f1("conll") - theirs.f1("conll"), float(low), float(high))


def _pooled(scored: Scored, drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    return pooled_f1(np.tensordot(drawn, scored.counts, axes=1), "conll")
