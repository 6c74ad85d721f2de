"""What documents add to a score or to alpha, and the number that follows from the sums.

    F1 of most measures   recall: part, whole; precision: part, whole
    BLANC                 the same for links and for pairs that are not linked
    alpha over sets       values n; empty ones e; disagreement within units; nearness of all pairs
    alpha over links      values n; links L; disagreement within pairs

The functions here take many sums at once, one row for each draw of documents. For one row that counts every
document once they give what the exact definitions give (`scores`, `agreement`), apart from rounding.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from caspr.measures.agreement import ALPHAS, DISTANCES, Tally
from caspr.measures.scores import SCORES, Scores
from caspr.measures.scores.blanc import Blanc
from caspr.measures.scores.counts import Counts, Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Statistic = Callable[["Numbers"], "Numbers"]
"""From sums, a row for each draw, to a number for each draw; nan where it is undefined."""


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
        paired = {key: count for key, count in tally.links.pairs.items() if key[0] > 1}
        return [
            float(sum(count * m for (m, _), count in paired.items())),
            float(sum(count * k for (_, k), count in paired.items())),
            sum(2 * count * k * (m - k) / (m - 1) for (m, k), count in paired.items()),
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
    found = np.divide(2 * recall * precision, total, out=np.zeros(len(sums)), where=total > 0)
    return np.where((sums[:, 1] == 0) & (sums[:, 3] == 0), np.nan, found)


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
    found = np.divide(total, number, out=np.zeros(len(sums)), where=number > 0)
    answered = (sums[:, 3] > 0) | (sums[:, 7] > 0)
    return np.where((number == 0) & ~answered, np.nan, found)


def _alpha_of_sets(sums: "Numbers") -> "Numbers":
    import numpy as np

    values, empty, within, near = sums.T
    expected = values * (values - 1) - empty * (empty - 1) - near
    known = expected > 1e-9
    ratio = np.divide(within * (values - 1), expected, out=np.zeros(len(sums)), where=known)
    return np.where(known, 1 - ratio, np.nan)


def _alpha_of_links(sums: "Numbers") -> "Numbers":
    import numpy as np

    values, links, observed = sums.T
    expected = 2 * links * (values - links)
    known = expected > 0
    ratio = np.divide(observed * (values - 1), expected, out=np.zeros(len(sums)), where=known)
    return np.where(known, 1 - ratio, np.nan)


F1_OF: Mapping[str, Statistic] = {measure: _blanc if measure == "blanc" else _f1 for measure in SCORES}
"""F1 of each measure from its sums."""
ALPHA_OF: Mapping[str, Statistic] = {
    kind: _alpha_of_links if kind == "links" else _alpha_of_sets for kind in ALPHAS
}
"""Each alpha from its sums."""
