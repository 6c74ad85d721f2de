"""Intervals for scores and agreement: the bootstrap over documents.

A number about a corpus depends on which documents were annotated. The bootstrap asks how much: it draws as
many documents as there are, with replacement, a thousand times, computes the number for each draw, and
takes the middle 95 per cent (the percentile interval of Efron). Documents are drawn, not mentions: mentions
of one document are not independent.

All our numbers are functions of sums over documents, so that a draw is a matrix product and not a new
evaluation. The draws depend only on the number of documents and a fixed seed: the same input gives
the same interval. Computation is in floating point, unlike that of the numbers themselves.

There is no interval from fewer than six documents, of a pair of annotators from fewer that both have, and
none where a number is undefined in more than half of the draws. Draws reach from about the lowest document
to the highest. All of n documents are on one side of the median of such documents in one case out of 2^(n-1):
only from six on, that is fewer than one in twenty, as 95 per cent need. Intervals from few documents are too
narrow; with fewer than ten they say little.

**Sums.** What documents add to a score or to alpha, and the number that follows from the sums:

    F1 of most measures   recall: part, whole; precision: part, whole
    BLANC                 the same for links and for pairs that are not linked
    alpha over sets       values n; empty ones e; disagreement within units; nearness of all pairs
    alpha over links      values n; links L; disagreement within pairs

The functions here take many sums at once, one row for each draw of documents. For one row that counts every
document once they give what the exact definitions give (`scores`, `agreement`), apart from rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from caspr.measures.agreement import ALPHAS, DISTANCES, Conventions, Tally, tally
from caspr.measures.comparison import MEASURES, CoveredPair, keyed, score_pairs, shared_documents
from caspr.measures.scores import CONLL, SCORES, Blanc, Counts, Ratio, Scores
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

DRAWS, SEED, LEVEL = 1000, 20180501, 0.95
"""How many times documents are drawn, from which seed, and how much of the draws an interval holds."""
FEWEST = 6
"""From fewer documents, nothing that is drawn makes an interval of 95 per cent."""
Statistic = Callable[["Numbers"], "Numbers"]
"""From sums, a row for each draw, to a number for each draw; nan where it is undefined."""
Drawn = Mapping[tuple[str, str], Mapping[str, "Numbers"]]
"""For each pair of annotators, what was drawn for each kind of number."""


class Interval(NamedTuple):
    """Where a number would be, most of the time, had other documents of this sort been annotated."""

    low: float
    high: float


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


@dataclass(frozen=True)
class Bootstrap:
    """Draws of documents."""

    documents: int
    draws: int = DRAWS
    seed: int = SEED

    @cached_property
    def weights(self) -> "Numbers":
        """How often each draw (row) has each document (column)."""
        import numpy as np

        rng = np.random.Generator(np.random.PCG64(self.seed))
        chosen = rng.integers(0, self.documents, size=(self.draws, self.documents))
        weights = np.zeros((self.draws, self.documents))
        for column in range(self.documents):
            np.add.at(weights, (np.arange(self.draws), chosen[:, column]), 1)
        return weights

    def sums(self, rows: Sequence[Sequence[float]]) -> "Numbers":
        """Return the sums of some numbers of each document, for each draw."""
        import numpy as np

        sums: Numbers = self.weights @ np.array(rows, dtype=float)
        return sums


def interval(drawn: "Numbers", level: float = LEVEL) -> Interval | None:
    """Return the middle of what was drawn; undefined draws are left out."""
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    if 2 * len(known) <= len(drawn):
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def comparison_intervals(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> ComparisonIntervals | None:
    """Return the intervals of `compare`; nothing for too few documents that several annotators have."""
    if not _enough(documents):
        return None
    bootstrap = Bootstrap(len(documents))
    names = tuple(
        dict.fromkeys(annotation.annotator for annotations in documents for annotation in annotations)
    )
    seen = coverages or [None] * len(documents)
    whole = [
        tally(document, conventions, coverage) for document, coverage in zip(documents, seen, strict=True)
    ]
    drawn = {
        (first, second): _draw_pair(bootstrap, documents, seen, (first, second), conventions, singletons)
        for row, first in enumerate(names)
        for second in names[row + 1 :]
    }
    kinds = (*ALPHAS, *MEASURES)
    return ComparisonIntervals(
        alpha={
            kind: interval(ALPHA_OF[kind](bootstrap.sums([alpha_sums(counts, kind) for counts in whole])))
            for kind in ALPHAS
        },
        pairs={kind: _of_pairs(kind, drawn, documents) for kind in kinds},
        annotators={
            kind: {name: _mean(kind, drawn, name) if _enough(documents, name) else None for name in names}
            for kind in kinds
        },
        between={kind: _mean(kind, drawn) for kind in kinds},
    )


def score_intervals(scores: Scores) -> dict[str, Interval | None]:
    """Return the interval of F1 of every measure, `conll` included; none for too few documents."""
    if len(scores.documents) < FEWEST:
        return {}
    bootstrap = Bootstrap(len(scores.documents))
    drawn = _draw_scores(bootstrap, [document for _, document in scores.documents])
    return {measure: interval(numbers) for measure, numbers in drawn.items()}


def paired_interval(scores: Scores, baseline: Scores, level: float = LEVEL) -> Interval | None:
    """Return the interval of the difference in CoNLL F1 of two responses to the same documents.

    Both are drawn together: a document that is hard for both does not count as a difference between them.
    """
    if len(scores.documents) < 2:
        return None
    bootstrap = Bootstrap(len(scores.documents))
    ours, theirs = (
        _draw_scores(bootstrap, [document for _, document in each.documents])["conll"]
        for each in (scores, baseline)
    )
    return interval(ours - theirs, level)


def _enough(documents: Sequence[Sequence[Annotation]], *names: str) -> bool:
    """Return whether some annotators share enough documents with each other, or one with anybody."""
    who = [{annotation.annotator for annotation in annotations} for annotations in documents]
    return sum(len(team) > 1 and team.issuperset(names) for team in who) >= FEWEST


def _draw_scores(bootstrap: Bootstrap, documents: Sequence[Scores | None]) -> dict[str, "Numbers"]:
    measures = dict.fromkeys(measure for document in documents if document for measure in document.counts)
    sums = {measure: [score_sums(document, measure) for document in documents] for measure in measures}
    drawn = {measure: F1_OF.get(measure, _f1)(bootstrap.sums(sums[measure])) for measure in measures}
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
    shared = [shared_documents([annotations], names) for annotations in documents]
    pairs = [
        CoveredPair(pair, coverage) for both, coverage in zip(shared, seen, strict=True) for pair in both
    ]
    if not pairs:
        return {}
    scored = iter(score_pairs(keyed(pairs), singletons).documents)
    scores = [next(scored)[1] if both else None for both in shared]
    tallies = [
        tally(both[0], conventions, coverage) if both else None
        for both, coverage in zip(shared, seen, strict=True)
    ]
    alphas = {
        kind: ALPHA_OF[kind](bootstrap.sums([alpha_sums(counts, kind) for counts in tallies]))
        for kind in ALPHAS
    }
    return {**alphas, **_draw_scores(bootstrap, scores)}


def _of_pairs(
    kind: str, drawn: Drawn, documents: Sequence[Sequence[Annotation]]
) -> dict[tuple[str, str], Interval | None]:
    intervals = {}
    for (first, second), numbers in drawn.items():
        enough = _enough(documents, first, second)
        intervals[first, second] = intervals[second, first] = interval(numbers[kind]) if enough else None
    return intervals


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


def score_sums(scores: Scores | None, measure: str) -> list[float]:
    """Return what a document adds to a measure; nothing where there is no document."""
    width = 8 if measure == "blanc" else 4
    return [0.0] * width if scores is None else _flat(scores.counts[measure])


def _flat(counts: Counts) -> list[float]:
    if isinstance(counts, Blanc):
        return [*_flat(counts.coreference), *_flat(counts.non_coreference)]
    return [*_ratio(counts.recall), *_ratio(counts.precision)]


def _ratio(ratio: Ratio) -> tuple[float, float]:
    return float(ratio.part), float(ratio.whole)


def alpha_sums(tally: Tally | None, kind: str) -> list[float]:
    """Return what a document adds to an alpha; nothing where there is no document."""
    if tally is None:
        return [0.0] * (3 if kind == "links" else 4)
    if kind == "links":
        links = tally.links
        return [
            float(sum(count * m for m, count in links.pairs.items() if m > 1)),
            float(sum(count for m, count in links.links.items() if m > 1)),
            sum(2 * links.differing(m) / (m - 1) for m in links.links if m > 1),
        ]
    distance, sets = DISTANCES[kind], tally.sets
    within = sum(float(distance(shape)) * n / (values - 1) for (values, shape), n in sets.within.items())
    near = sum(float(1 - distance(shape)) * count for shape, count in sets.near.items())
    return [float(sets.values), float(sets.empty), within, near]


def _f1(sums: "Numbers") -> "Numbers":
    """Return F1; 0/0 of one side counts as 0, of both it is undefined."""
    import numpy as np

    recall, precision = (_share(sums[:, side], sums[:, side + 1]) for side in (0, 2))
    total = recall + precision
    f1 = np.divide(2 * recall * precision, total, out=np.zeros(len(sums)), where=total > 0)
    return np.where((sums[:, 1] == 0) & (sums[:, 3] == 0), np.nan, f1)


def _share(part: "Numbers", whole: "Numbers") -> "Numbers":
    import numpy as np

    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _blanc(sums: "Numbers") -> "Numbers":
    """Return the mean F1 of the kinds of links that the key has."""
    import numpy as np

    kinds = (sums[:, :4], sums[:, 4:])
    has = [kind[:, 1] > 0 for kind in kinds]
    number = has[0].astype(float) + has[1]
    total = sum(np.where(there, np.nan_to_num(_f1(kind)), 0) for kind, there in zip(kinds, has, strict=True))
    mean = np.divide(total, number, out=np.zeros(len(sums)), where=number > 0)
    answered = (sums[:, 3] > 0) | (sums[:, 7] > 0)
    return np.where((number == 0) & ~answered, np.nan, mean)


def _alpha_of_sets(sums: "Numbers") -> "Numbers":
    values, empty, within, near = sums.T
    return _alpha(values, within, values * (values - 1) - empty * (empty - 1) - near)


def _alpha_of_links(sums: "Numbers") -> "Numbers":
    values, links, within = sums.T
    return _alpha(values, within, 2 * links * (values - links))


def _alpha(values: "Numbers", observed: "Numbers", expected: "Numbers") -> "Numbers":
    import numpy as np

    known = expected > 1e-9
    ratio = np.divide(observed * (values - 1), expected, out=np.zeros(len(values)), where=known)
    return np.where(known, 1 - ratio, np.nan)


F1_OF: Mapping[str, Statistic] = {measure: _blanc if measure == "blanc" else _f1 for measure in SCORES}
"""F1 of each measure from its sums."""
ALPHA_OF: Mapping[str, Statistic] = {
    kind: _alpha_of_links if kind == "links" else _alpha_of_sets for kind in ALPHAS
}
"""Each alpha from its sums."""
