"""Which annotators link each two kinds: all pairs of their chains, a block of first kinds at a time.

A pair of kinds is a number, first * size + second. A block holds all pairs whose first kind is one of a run
of kinds, so blocks are disjoint and in order: each is gathered from all chains, sorted, and done with.

    chain 2 4 5 8, kinds 3 to 5 first:   4-5, 4-8, 5-8

Only what is found is kept, not the pairs of every annotator, and the clock is looked at between blocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as flatten
from itertools import pairwise

import numpy as np

from caspr.engines.native.partition.problem import Ints, Labels
from caspr.engines.native.partition.watch import Watch, check, checked

SHORT = 200
"""The pairs of chains of so few kinds are listed for all these chains at once."""
WORD = 62
"""How many annotators' bits one integer of an array holds."""
BLOCK = 1 << 19
"""About how many pairs are gathered between two looks at the clock."""
CROWDED = 8
"""Where a block gathers one in so many of its possible pairs, a table takes the place of sorting."""


@dataclass(frozen=True)
class _Given:
    """The chains of one annotator."""

    annotator: int
    short: Ints
    """The pairs of short chains, in order."""
    long: Sequence[Ints]
    """The kinds of each of the other chains, in order."""

    @classmethod
    def of(cls, annotator: int, chains: Sequence[Sequence[int]], size: int) -> "_Given":
        short = _pairs_of_short([chain for chain in chains if len(chain) <= SHORT], size)
        long = [np.array(chain, dtype=np.int64) for chain in chains if len(chain) > SHORT]
        return cls(annotator, np.sort(short), long)

    def count(self, numbers: Ints) -> None:
        """Add to how many pairs each kind is the first of."""
        numbers += np.bincount(self.short // max(len(numbers), 1), minlength=len(numbers))
        for chain in self.long:
            np.add.at(numbers, chain, np.arange(len(chain) - 1, -1, -1))

    def between(self, start: int, stop: int, size: int) -> Iterator[Ints]:
        """Yield the pairs whose first kind is one of a run."""
        low, high = np.searchsorted(self.short, [start * size, stop * size])
        yield self.short[low:high]
        for chain in self.long:
            low, high = np.searchsorted(chain, [start, stop])
            if low < high:
                later = len(chain) - 1 - np.arange(low, high)
                owner = np.repeat(np.arange(low, high), later)
                place = np.arange(len(owner)) - np.repeat(np.cumsum(later) - later, later)
                yield chain[owner] * size + chain[owner + 1 + place]


def _pairs_of_short(chains: Sequence[Sequence[int]], size: int) -> Ints:
    """Encode the pairs of many chains at once: each member with all that come after it in its chain."""
    members = np.array([*flatten.from_iterable(chains)], dtype=np.int64)
    lengths = np.array([len(chain) for chain in chains], dtype=np.intp)
    place = np.arange(len(members))
    later = np.repeat(np.cumsum(lengths), lengths) - place - 1
    one = np.repeat(place, later)
    other = np.arange(len(one)) - (np.cumsum(later) - later - place - 1)[one]
    keys: Ints = members[one] * size + members[other]
    return keys


def who_gave(
    chains: Mapping[int, Sequence[Sequence[int]]], listed: Sequence[Labels], size: int, watch: Watch | None
) -> tuple[Ints, list[Ints]]:
    """Return all pairs, in order, and who gave each: a bit for each annotator, in words of 62.

    Pairs with one of some `listed` kinds are among them, whoever gave them.
    """
    given = [_Given.of(one, found, size) for one, found in checked(chains.items(), watch)]
    numbers = np.zeros(size, dtype=np.int64)
    for one in given:
        one.count(numbers)
    for kinds in listed:
        numbers += len(kinds) - np.searchsorted(kinds, np.arange(size), side="right")
        numbers[kinds] = size
    words = max(chains, default=0) // WORD + 1
    found = []
    for start, stop in checked(pairwise(_borders(numbers)), watch):
        there = [
            (one.annotator, keys) for one in checked(given, watch) for keys in one.between(start, stop, size)
        ]
        more = [_with_listed(kinds, start, stop, size) for kinds in listed]
        found.append(_gathered(there, more, (start * size, stop * size), words))
    check(watch)
    pairs = np.concatenate([pairs for pairs, _ in found])
    return pairs, [np.concatenate([some[word] for _, some in found]) for word in checked(range(words), watch)]


def _borders(numbers: Ints) -> list[int]:
    """Return where blocks of first kinds begin, and where the last one ends."""
    total = np.append(0, np.cumsum(numbers))
    inner = np.searchsorted(total, np.arange(BLOCK, int(total[-1]), BLOCK))
    return sorted({0, *inner.tolist(), len(numbers)})


def _with_listed(kinds: Labels, start: int, stop: int, size: int) -> Ints:
    """Encode the pairs that hold one of some kinds and whose first kind is one of a run."""
    rows = np.arange(start, stop)
    inside = np.isin(rows, kinds)
    found = [np.empty(0, dtype=np.int64)]
    for own, others in ((rows[inside], np.arange(size)), (rows[~inside], kinds)):
        one, other = np.repeat(own, len(others)), np.tile(others, len(own))
        found.append((one * size + other)[one < other])
    return np.concatenate(found)


def _gathered(
    given: Sequence[tuple[int, Ints]], more: Sequence[Ints], bounds: tuple[int, int], count: int
) -> tuple[Ints, list[Ints]]:
    """Return the different pairs of one block, in order, and who gave each."""
    low, high = bounds
    lists = [*(keys for _, keys in given), *more]
    if high - low <= CROWDED * sum(map(len, lists)):
        here = np.zeros(high - low, dtype=bool)
        for keys in lists:
            here[keys - low] = True
        pairs = low + np.flatnonzero(here)
        place = (np.cumsum(here) - 1) if len(pairs) < high - low else np.arange(high - low)
        places = [place[keys - low] for keys in lists]
    else:
        pairs, every = np.unique(np.concatenate([np.empty(0, np.int64), *lists]), return_inverse=True)
        places = np.split(every, np.cumsum([len(keys) for keys in lists])[:-1]) if lists else []
    words = [np.zeros(len(pairs), dtype=np.int64) for _ in range(count)]
    for (annotator, _), where in zip(given, places, strict=False):
        words[annotator // WORD][where] |= 1 << annotator % WORD
    return pairs, words
