"""Work on millions of pairs, block by block: with a look at the clock before each block.

One sort of ten million numbers, or one product of columns of that length, takes a second and cannot be
interrupted. In blocks it takes no longer: a block and what is computed on the way stay in the cache, and
little new memory is touched.

Every function gives what NumPy gives at once, and raises `ExpiredError` when it is time to stop.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.watch import Watch, check, checked

BLOCK = 1 << 19
"""How many pairs are worked on between two looks at the clock: some hundredths of a second."""
SAMPLED = 1 << 8
"""Of so many numbers, one is looked at to find where blocks of a sort begin."""
NARROW = 1 << 16
"""Numbers below this are sorted as such of 16 bits, by their digits: in a tenth of the time."""


def blocks(count: int, watch: Watch | None, length: int | None = None) -> Iterator[slice]:
    """Yield the blocks that so many places fall into."""
    length = max(1, length or BLOCK)
    for start in checked(range(0, count, length), watch):
        yield slice(start, start + length)


def filled(
    count: int, work: Callable[[slice], NDArray[Any]], watch: Watch | None, kind: type = np.int64
) -> NDArray[Any]:
    """Return a column of which a function computes each block."""
    if count <= BLOCK:
        check(watch)
        return work(slice(0, count))
    column: NDArray[Any] = np.empty(count, dtype=kind)
    for part in blocks(count, watch):
        column[part] = work(part)
    return column


def order(keys: NDArray[np.int64], watch: Watch | None = None) -> NDArray[np.intp]:
    """Return the places of numbers in ascending order, equal ones as they stand.

    >>> order(np.array([3, 1, 3, 2])).tolist()
    [1, 3, 0, 2]
    """
    check(watch)
    if len(keys) <= BLOCK:
        return np.argsort(keys, kind="stable")
    low, high = int(keys.min()), int(keys.max())
    check(watch)
    if high - low < NARROW:
        small = filled(len(keys), lambda part: (keys[part] - low).astype(np.uint16), watch, np.uint16)
        return np.argsort(small, kind="stable")
    places, start = np.empty(len(keys), dtype=np.intp), 0
    for least, most in pairwise(_borders(keys, low, high)):
        inside = _between(keys, least, most, watch)
        check(watch)
        places[start : start + len(inside)] = inside[np.argsort(keys[inside], kind="stable")]
        start += len(inside)
    return places


def _borders(keys: NDArray[np.int64], low: int, high: int) -> list[int]:
    """Return numbers between which there are about as many as fit into a block."""
    sample = np.sort(keys[::SAMPLED])
    number = len(keys) // BLOCK + 1
    inner = sample[np.arange(1, number) * len(sample) // number].tolist()
    # A number that fills a block is a block of its own, which is sorted already.
    often = [one + 1 for one, other in pairwise(inner) if one == other]
    return sorted({low, *inner, *often, high + 1})


def _between(keys: NDArray[np.int64], least: int, most: int, watch: Watch | None) -> NDArray[np.intp]:
    """Return the places of the numbers of an interval."""
    found = []
    for start in checked(range(0, len(keys), 8 * BLOCK), watch):
        some = keys[start : start + 8 * BLOCK]
        found.append(start + np.flatnonzero((some >= least) & (some < most)))
    return np.concatenate(found)
