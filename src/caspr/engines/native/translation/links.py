"""Links between kinds of mentions, found without listing the pairs of any chain.

A *kind* is all mentions of one signature. Two kinds are linked if an annotator has a chain with both; the
mentions behind them are never listed, so a chain of thousands costs the square of its few kinds. However many
pairs there are, few kinds of evidence occur: every pair has the number of its evidence.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as flatten
from itertools import pairwise

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels
from caspr.engines.native.partition.watch import Watch, checked
from caspr.task.solution import Stop
from caspr.task.votes import Evidence, Signature

SHORT = 200
"""The pairs of chains of so few kinds are listed for all these chains at once."""
WORD = 62
"""How many annotators' bits one integer of an array holds."""
WIDE = 200
"""A chain of at least so many kinds may count for all pairs that are not listed."""
BYTES = 60
"""How many bytes each pair takes that an annotator links, while pairs are sorted."""
PER_SECOND = 1_000_000
"""How many of these pairs are listed and sorted into parts in a second of the processor."""
MISSING = 0.05
"""The share of all kinds that may be missing in such a chain."""
BLOCK, SAMPLED = 1_000_000, 1000
"""About how many pairs are sorted between two looks at the clock; of so many, one is looked at before."""
FEW_PAIRS = 10_000
"""So few pairs are listed whatever the limits say: it takes a hundredth of a second."""


@dataclass(frozen=True)
class Links:
    """The evidence between kinds, by position."""

    first: Labels
    second: Labels
    """The pairs of distinct kinds that somebody linked, the smaller position first.

    With `everywhere`, those that somebody else linked as well, or that one of these annotators did not link.
    """
    evidence: Labels
    """For each of these pairs, its evidence, as a position in `distinct`."""
    inside: Labels
    """The same for two mentions of one kind, for every kind."""
    distinct: tuple[Evidence, ...]
    """All evidence that occurs."""
    view: Labels
    """For every kind, who saw its mentions, as a position in `views`."""
    views: tuple[int, ...]
    """All sets of annotators who saw the mentions of some kind."""
    everywhere: int = 0
    """The annotators who linked every pair that is not listed, as bits."""

    def chosen(self, pairs: Labels) -> "Links":
        """Return these links with some of the pairs only."""
        return replace(
            self, first=self.first[pairs], second=self.second[pairs], evidence=self.evidence[pairs]
        )


def find_links(kinds: Sequence[Signature], watch: Watch | None = None) -> Links:
    """Find out which annotators link each two kinds.

    `ExpiredError` is raised where there is no time or no memory for that.

    >>> chains = ({(0, 1), (1, 1)}, {(0, 1)}, {(1, 1)})
    >>> links = find_links([Signature(frozenset(found), viewers=0b11) for found in chains])
    >>> links.first.tolist(), links.second.tolist()
    ([0, 0], [1, 2])
    >>> [links.distinct[number].givers for number in links.evidence]
    [1, 2]
    >>> [links.distinct[number].k for number in links.inside]
    [2, 1, 1]
    """
    chains, own = _by_chain(kinds)
    size = max(len(kinds), 1)
    wide = _wide_chains(chains, len(kinds))
    lengths = [len(positions) for found in chains.values() for positions in found.values()]
    watch = _need_room(lengths, watch or Watch())
    given = {one: _pairs_of_one(list(found.values()), size) for one, found in checked(chains.items(), watch)}
    # Pairs with a kind that a wide chain lacks are listed, whoever gave them.
    listed = [_pairs_with(np.flatnonzero(~held), size) for held in wide.values()]
    pairs, words = _who_gave(given, listed, watch)
    first, second = np.divmod(pairs, size)
    shifts = [WORD * number for number in range(len(words))] + list(wide)
    words += [(held[first] & held[second]).astype(np.int64) for held in wide.values()]
    views = {viewers: number for number, viewers in enumerate(dict.fromkeys(kind.viewers for kind in kinds))}
    view = np.array([views[kind.viewers] for kind in kinds], dtype=np.intp)
    seen = [view[first] * len(views) + view[second]] if len(views) > 1 else []
    example, evidence = _alike([*words, *seen], watch)
    numbers: dict[Evidence, int] = {}
    # One pair stands for all that have the same givers and are seen by the same annotators.
    ends = zip(first[example].tolist(), second[example].tolist(), strict=True)
    viewers = [kinds[one].viewers & kinds[other].viewers for one, other in ends]
    found = map(Evidence, _sets([word[example] for word in words], shifts), viewers)
    between = np.array([numbers.setdefault(one, len(numbers)) for one in found], dtype=np.intp)
    inside = [numbers.setdefault(one, len(numbers)) for one in own]
    return Links(
        first,
        second,
        between[evidence],
        np.array(inside, dtype=np.intp),
        tuple(numbers),
        view,
        tuple(views),
        sum(1 << annotator for annotator in wide),
    )


def _by_chain(kinds: Sequence[Signature]) -> tuple[dict[int, dict[int, list[int]]], list[Evidence]]:
    """Return the kinds of each annotator's chains, and the evidence of two mentions of each kind."""
    chains: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    inside: list[Evidence] = []
    for position, kind in enumerate(kinds):
        givers = 0
        for annotator, chain in kind.chains:
            chains[annotator][chain].append(position)
            givers |= 1 << annotator
        inside.append(Evidence(givers, kind.viewers))
    return chains, inside


def _sets(words: Sequence[Ints], shifts: Sequence[int]) -> list[int]:
    """Put sets of annotators together from the words that hold their bits."""
    sets = [0] * len(words[0])
    for word, shift in zip(words, shifts, strict=True):
        sets = [known | bits << shift for known, bits in zip(sets, word.tolist(), strict=True)]
    return sets


def _need_room(lengths: Sequence[int], watch: Watch) -> Watch | None:
    """Return the clock, if it counts; raise `ExpiredError` if chains have more pairs than limits allow."""
    pairs = sum(length * (length - 1) // 2 for length in lengths)
    if pairs < FEW_PAIRS:
        return None
    if not watch.expired() and watch.left < watch.pace * pairs / PER_SECOND:
        watch.stop = Stop.TIME
    if not watch.expired() and not watch.has_room(BYTES * pairs / 2**20):
        watch.stop = Stop.MEMORY
    watch.check()
    return watch


def wide_from(size: int) -> float:
    """Return how many of some kinds a chain must hold to count for all pairs that are not listed."""
    return max(WIDE, (1 - MISSING) * size)


def _wide_chains(chains: dict[int, dict[int, list[int]]], size: int) -> dict[int, Bools]:
    """Take out chains with nearly all kinds; return, by annotator, which kinds they hold."""
    wide: dict[int, Bools] = {}
    for annotator, found in sorted(chains.items()):
        for chain, positions in list(found.items()):
            if len(positions) >= wide_from(size) and annotator not in wide:
                wide[annotator] = np.isin(np.arange(size), positions)
                del found[chain]
    return wide


def _pairs_with(nodes: Labels, size: int) -> Ints:
    """Encode all pairs that hold one of some kinds."""
    one, other = np.repeat(nodes, size), np.tile(np.arange(size), len(nodes))
    keys: Ints = np.minimum(one, other) * size + np.maximum(one, other)
    kept: Ints = keys[one != other]
    return kept


def _pairs_of_one(chains: Sequence[Sequence[int]], size: int) -> Ints:
    """Encode the pairs of kinds that one annotator links, each once, as first * size + second."""
    keys = [_pairs_of_short([chain for chain in chains if len(chain) <= SHORT], size)]
    for chain in chains:
        if len(chain) > SHORT:
            members = np.array(chain, dtype=np.int64)
            one, other = np.triu_indices(len(members), 1)
            keys.append(members[one] * size + members[other])
    every = np.concatenate(keys)
    held = sum(len(chain) for chain in chains)
    several = held > len({position for chain in chains for position in chain})
    return np.unique(every) if several else every


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


def _who_gave(
    given: Mapping[int, Ints], more: Sequence[Ints], watch: Watch | None
) -> tuple[Ints, list[Ints]]:
    """Return all pairs, in order, and who gave each: a bit for each annotator, in words of 62.

    Many pairs are sorted block by block.
    """
    bounds = _bounds([*given.values(), *more])
    blocks = []
    for low, high in checked(pairwise(bounds), watch):
        inside = {one: _between(keys, low, high) for one, keys in given.items()}
        blocks.append(_who_gave_these(inside, [_between(keys, low, high) for keys in more]))
    if not blocks:
        return _who_gave_these(given, more)
    words = zip(*(found for _, found in blocks), strict=True)
    return np.concatenate([pairs for pairs, _ in blocks]), [np.concatenate(word) for word in words]


def _bounds(lists: Sequence[Ints]) -> list[int]:
    """Return where blocks of pairs begin, and where the last one ends; nothing if one block is enough."""
    blocks = sum(map(len, lists)) // BLOCK
    if not blocks:
        return []
    sample = np.sort(np.concatenate([keys[::SAMPLED] for keys in lists]))
    inner = sample[np.arange(1, blocks + 1) * len(sample) // (blocks + 1)]
    return sorted({0, *inner.tolist(), int(max(keys.max(initial=0) for keys in lists)) + 1})


def _between(keys: Ints, low: int, high: int) -> Ints:
    return keys[(keys >= low) & (keys < high)]


def _who_gave_these(given: Mapping[int, Ints], more: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    lists = [*given.values(), *more]
    pairs, place = np.unique(np.concatenate([np.empty(0, np.int64), *lists]), return_inverse=True)
    words = [np.zeros(len(pairs), dtype=np.int64) for _ in range(max(given, default=0) // WORD + 1)]
    start = 0
    for annotator, keys in given.items():
        words[annotator // WORD][place[start : start + len(keys)]] |= 1 << annotator % WORD
        start += len(keys)
    return pairs, words


def _alike(columns: Sequence[Ints], watch: Watch | None) -> tuple[Labels, Labels]:
    """Group rows that are alike in all columns: return the first row of each group, and the group of each.

    Groups are in the order of what is in the columns. Many rows are grouped block by block.
    """
    if len(columns[0]) <= BLOCK:
        return _alike_at_once(columns)
    first: dict[tuple[int, ...], int] = {}
    blocks = []
    for start in checked(range(0, len(columns[0]), BLOCK), watch):
        example, group = _alike_at_once([column[start : start + BLOCK] for column in columns])
        contents = list(zip(*(column[start + example].tolist() for column in columns), strict=True))
        for content, row in zip(contents, example.tolist(), strict=True):
            first.setdefault(content, start + row)
        blocks.append((contents, group))
    numbers = {content: number for number, content in enumerate(sorted(first))}
    groups = [np.array([numbers[one] for one in contents])[group] for contents, group in blocks]
    return np.array([first[content] for content in numbers], dtype=np.intp), np.concatenate(groups)


def _alike_at_once(columns: Sequence[Ints]) -> tuple[Labels, Labels]:
    example: Labels
    group: Labels
    _, example, group = np.unique(columns[0], return_index=True, return_inverse=True)
    for column in columns[1:]:
        values, number = np.unique(column, return_inverse=True)
        _, example, group = np.unique(group * len(values) + number, return_index=True, return_inverse=True)
    return example, group
