"""CEAF (Luo 2005): the best one-to-one map between key chains and response chains.

With a similarity phi of two chains, S is the largest sum of phi over all maps, and

    R = S / sum over k of phi(k, k),   P = S / sum over r of phi(r, r).

    CEAFm   phi(k, r) = |k & r|,                    so phi(k, k) = |k|
    CEAFe   phi(k, r) = 2 |k & r| / (|k| + |r|),    so phi(k, k) = 1

Chains that share no mention are never worth mapping, so the graph of overlaps falls into parts, and each
is an assignment problem of its own (`scipy.optimize.linear_sum_assignment`). For CEAFe that solver
compares floating point numbers; the sum of the map it chose is then taken exactly.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction

from caspr.measures.scores.alignment import Alignment
from caspr.measures.scores.counts import RecallPrecision, ratio
from caspr.text.grouping import Groups

Similarities = Mapping[tuple[int, int], Fraction]
"""The similarity of each key chain with each response chain that shares a mention with it."""


def count_mentions(alignment: Alignment) -> RecallPrecision:
    """Count CEAFm in one document."""
    best = _best(alignment, lambda size, _one, _other: Fraction(size))
    key, response = alignment.key, alignment.response
    return RecallPrecision(ratio(best, sum(map(len, key))), ratio(best, sum(map(len, response))))


def count_entities(alignment: Alignment) -> RecallPrecision:
    """Count CEAFe in one document."""
    best = _best(alignment, lambda size, one, other: Fraction(2 * size, one + other))
    return RecallPrecision(ratio(best, len(alignment.key)), ratio(best, len(alignment.response)))


def _best(alignment: Alignment, phi: Callable[[int, int, int], Fraction]) -> Fraction:
    """Return the largest sum of similarities over all maps."""
    similar = {
        (right, given): phi(size, len(alignment.key[right]), len(alignment.response[given]))
        for (right, given), size in alignment.overlaps.items()
    }
    return sum((_assign(part) for part in _parts(similar)), Fraction(0))


def _parts(similar: Similarities) -> list[dict[tuple[int, int], Fraction]]:
    """Return the similarities of each connected component of the graph of overlaps."""
    chains: Groups[tuple[str, int]] = Groups()
    for right, given in similar:
        chains.add(("key", right))
        chains.add(("response", given))
        chains.join(("key", right), ("response", given))
    parts: dict[tuple[str, int], dict[tuple[int, int], Fraction]] = defaultdict(dict)
    for edge, value in similar.items():
        parts[chains.first(("key", edge[0]))][edge] = value
    return list(parts.values())


def _assign(similar: Similarities) -> Fraction:
    """Solve one part; where one side is a single chain, its best edge is the answer."""
    rows = {right: number for number, right in enumerate(sorted({edge[0] for edge in similar}))}
    columns = {given: number for number, given in enumerate(sorted({edge[1] for edge in similar}))}
    if len(rows) == 1 or len(columns) == 1:
        return max(similar.values())
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((len(rows), len(columns)))
    exact = {(rows[right], columns[given]): value for (right, given), value in similar.items()}
    for place, value in exact.items():
        matrix[place] = float(value)
    chosen = zip(*(side.tolist() for side in linear_sum_assignment(matrix, maximize=True)), strict=True)
    return sum((exact.get(place, Fraction(0)) for place in chosen), Fraction(0))
