"""Links between kinds of mentions, found without listing the pairs of any chain.

A *kind* is all mentions of one signature. Two kinds are linked if an annotator has a chain with both; the
mentions behind them are never listed, so a chain of thousands costs the square of its few kinds. However many
pairs there are, few kinds of evidence occur: every pair has the number of its evidence.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels, firsts
from caspr.engines.native.partition.sparse.blocks import BLOCK, filled
from caspr.engines.native.partition.watch import Watch, checked
from caspr.engines.native.translation.givers import WORD, who_gave
from caspr.task.solution import Stop
from caspr.task.votes import Evidence, Signature

WIDE = 200
"""A chain of at least so many kinds may count for all pairs that are not listed."""
BYTES = 60
"""How many bytes each pair takes that an annotator links, while pairs are sorted."""
PER_SECOND = 1_000_000
"""How many of these pairs are listed and sorted into parts in a second of the processor."""
MISSING = 0.05
"""The share of all kinds that may be missing in such a chain."""
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

    def chosen(self, pairs: Labels, watch: Watch | None = None) -> "Links":
        """Return these links with some of the pairs only, given in order."""
        if len(pairs) == len(self.first):
            return self
        first, second, evidence = (
            filled(len(pairs), lambda part: column[pairs[part]], watch, np.intp)  # noqa: B023
            for column in (self.first, self.second, self.evidence)
        )
        return replace(self, first=first, second=second, evidence=evidence)


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
    listed = [np.flatnonzero(~held) for held in wide.values()]
    watch = _need_room(chains, sum(map(len, listed)) * size, watch or Watch())
    # Pairs with a kind that a wide chain lacks are listed, whoever gave them.
    given = {annotator: list(found.values()) for annotator, found in chains.items()}
    pairs, words = who_gave(given, listed, size, watch)
    first = filled(len(pairs), lambda part: pairs[part] // size, watch)
    second = filled(len(pairs), lambda part: pairs[part] % size, watch)
    shifts = [WORD * number for number in range(len(words))] + list(wide)
    words += [_both(held, first, second, watch) for held in wide.values()]
    views = {viewers: number for number, viewers in enumerate(dict.fromkeys(kind.viewers for kind in kinds))}
    view = np.array([views[kind.viewers] for kind in kinds], dtype=np.intp)
    seen = _views_of_pairs(view, first, second, watch) if len(views) > 1 else []
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
        filled(len(evidence), lambda part: between[evidence[part]], watch, np.intp),
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


def _both(held: Bools, first: Labels, second: Labels, watch: Watch | None) -> Ints:
    """Return which pairs have both kinds in a chain, as 1 and 0."""
    return filled(len(first), lambda part: (held[first[part]] & held[second[part]]).astype(np.int64), watch)


def _views_of_pairs(view: Labels, first: Labels, second: Labels, watch: Watch | None) -> list[Ints]:
    """Number the pairs of views that pairs of kinds have."""
    count = int(view.max(initial=0)) + 1
    return [filled(len(first), lambda part: view[first[part]] * count + view[second[part]], watch)]


def _need_room(chains: Mapping[int, Mapping[int, Sequence[int]]], more: int, watch: Watch) -> Watch | None:
    """Return the clock, if it counts; raise `ExpiredError` if chains have more pairs than limits allow."""
    lengths = [len(positions) for found in chains.values() for positions in found.values()]
    pairs = more + sum(length * (length - 1) // 2 for length in lengths)
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
    group: Labels = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        number, different = _numbered(column)
        group, _ = _numbered(group * different + number)
    return firsts(group), group


def _numbered(column: Ints) -> tuple[Labels, int]:
    """Number what is in a column in ascending order; return also how much differs."""
    if not len(column) or int(column.max()) > 4 * len(column):
        values, number = np.unique(column, return_inverse=True)
        return number, len(values)
    present = np.bincount(column) > 0
    return (np.cumsum(present) - 1)[column], int(np.count_nonzero(present))
