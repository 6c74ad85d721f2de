"""Intervals for scores and agreement: the bootstrap over documents.

A number about a corpus depends on which documents were annotated. The bootstrap asks how much: it draws as
many documents as there are, with replacement, a thousand times, computes the number for each draw, and
takes the middle 95 per cent (the percentile interval of Efron). Documents are drawn, not mentions: mentions
of one document are not independent.

All our numbers are functions of sums over documents (`sums.py`), so that a draw is a matrix product and not
a new evaluation. The draws depend only on the number of documents and a fixed seed: the same input gives
the same interval. Computation is in floating point, unlike that of the numbers themselves.

There is no interval for one document, and none where a number is undefined in more than half of the draws.
Intervals from few documents are too narrow; with fewer than ten they say little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from caspr.measures.agreement import ALPHAS, Conventions, tally
from caspr.measures.common_view import CoveredPair, score_pairs
from caspr.measures.comparison import MEASURES, keyed, shared_documents
from caspr.measures.intervals.sums import ALPHA_OF, F1_OF, alpha_sums, score_sums
from caspr.measures.scores import CONLL, Scores
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

DRAWS, SEED, LEVEL = 1000, 20180501, 0.95
"""How many times documents are drawn, from which seed, and how much of the draws an interval holds."""


class Interval(NamedTuple):
    """Where a number would be, most of the time, had other documents of this sort been annotated."""

    low: float
    """The lower end."""
    high: float
    """The upper end."""


@dataclass(frozen=True)
class Bootstrap:
    """Draws of documents."""

    documents: int
    """How many there are."""
    draws: int = DRAWS
    """How many times they are drawn."""
    seed: int = SEED
    """Where the random numbers start."""

    @cached_property
    def weights(self) -> "Numbers":
        """How often each draw (row) has each document (column)."""
        import numpy as np

        rng = np.random.Generator(np.random.PCG64(self.seed))
        chosen = rng.integers(0, self.documents, size=(self.draws, self.documents))
        found = np.zeros((self.draws, self.documents))
        for column in range(self.documents):
            np.add.at(found, (np.arange(self.draws), chosen[:, column]), 1)
        return found

    def sums(self, rows: Sequence[Sequence[float]]) -> "Numbers":
        """Return the sums of some numbers of each document, for each draw."""
        import numpy as np

        found: Numbers = self.weights @ np.array(rows, dtype=float)
        return found


def interval(drawn: "Numbers") -> Interval | None:
    """Return the middle of what was drawn; undefined draws are left out."""
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    if 2 * len(known) <= len(drawn):
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


@dataclass(frozen=True)
class ComparisonIntervals:
    """The intervals of a comparison of annotators; `None` where there is none."""

    alpha: Mapping[str, Interval | None]
    """For each kind of alpha, among all."""
    pairs: Mapping[str, Mapping[tuple[str, str], Interval | None]]
    """For each matrix, each annotator with each other."""
    annotators: Mapping[str, Mapping[str, Interval | None]]
    """For each matrix, the mean of each annotator's numbers with the others."""
    between: Mapping[str, Interval | None]
    """For each matrix, the mean of all pairs."""


def comparison_intervals(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> ComparisonIntervals | None:
    """Return the intervals of `compare`; nothing for a single document."""
    if len(documents) < 2:
        return None
    bootstrap = Bootstrap(len(documents))
    names = tuple(dict.fromkeys(one.annotator for annotations in documents for one in annotations))
    seen = coverages or [None] * len(documents)
    whole = [tally(one, conventions, coverage) for one, coverage in zip(documents, seen, strict=True)]
    drawn = {
        (one, other): _draw_pair(bootstrap, documents, seen, (one, other), conventions, singletons)
        for row, one in enumerate(names)
        for other in names[row + 1 :]
    }
    kinds = (*ALPHAS, *MEASURES)
    return ComparisonIntervals(
        alpha={
            kind: interval(ALPHA_OF[kind](bootstrap.sums([alpha_sums(one, kind) for one in whole])))
            for kind in ALPHAS
        },
        pairs={kind: _of_pairs(kind, drawn) for kind in kinds},
        annotators={kind: {name: _mean(kind, drawn, name) for name in names} for kind in kinds},
        between={kind: _mean(kind, drawn) for kind in kinds},
    )


def score_intervals(scores: Scores) -> dict[str, Interval | None]:
    """Return the interval of F1 of every measure, `conll` included; none for a single document."""
    if len(scores.documents) < 2:
        return {}
    bootstrap = Bootstrap(len(scores.documents))
    drawn = _draw_scores(bootstrap, [one for _, one in scores.documents])
    return {measure: interval(numbers) for measure, numbers in drawn.items()}


def _draw_scores(bootstrap: Bootstrap, documents: Sequence[Scores | None]) -> dict[str, "Numbers"]:
    drawn = {
        measure: F1_OF[measure](bootstrap.sums([score_sums(one, measure) for one in documents]))
        for measure in F1_OF
    }
    first, second, third = (drawn[measure] for measure in CONLL)
    return {**drawn, "conll": (first + second + third) / 3}


def _draw_pair(
    bootstrap: Bootstrap,
    documents: Sequence[Sequence[Annotation]],
    seen: Sequence[Coverage | None],
    names: tuple[str, str],
    conventions: Conventions | None,
    singletons: bool | None,
) -> dict[str, "Numbers"]:
    """Return what was drawn for two annotators; documents that not both have add nothing."""
    found = [shared_documents([annotations], names) for annotations in documents]
    pairs = [
        CoveredPair(pair, coverage) for given, coverage in zip(found, seen, strict=True) for pair in given
    ]
    if not pairs:
        return {}
    scored = iter(score_pairs(keyed(pairs), singletons).documents)
    scores = [next(scored)[1] if given else None for given in found]
    tallies = [
        tally(given[0], conventions, coverage) if given else None
        for given, coverage in zip(found, seen, strict=True)
    ]
    alphas = {
        kind: ALPHA_OF[kind](bootstrap.sums([alpha_sums(one, kind) for one in tallies])) for kind in ALPHAS
    }
    return {**alphas, **_draw_scores(bootstrap, scores)}


Drawn = Mapping[tuple[str, str], Mapping[str, "Numbers"]]
"""For each pair of annotators, what was drawn for each kind of number."""


def _of_pairs(kind: str, drawn: Drawn) -> dict[tuple[str, str], Interval | None]:
    found = {}
    for (one, other), numbers in drawn.items():
        found[one, other] = found[other, one] = interval(numbers[kind]) if numbers else None
    return found


def _mean(kind: str, drawn: Drawn, name: str | None = None) -> Interval | None:
    """Return the interval of the mean over the pairs of one annotator, or over all."""
    import numpy as np

    chosen = [numbers[kind] for pair, numbers in drawn.items() if numbers and (name is None or name in pair)]
    if not chosen:
        return None
    stacked = np.array(chosen)
    known = (~np.isnan(stacked)).sum(axis=0)
    means = np.where(known > 0, np.nansum(stacked, axis=0) / np.maximum(known, 1), np.nan)
    return interval(means)
