"""Links between kinds of mentions, found without listing the pairs of any chain.

A *kind* is all mentions of one signature. Two kinds are linked if an annotator has a chain with both; their
mentions are never listed, so a chain of thousands costs the square of its few kinds. However many pairs there
are, few kinds of evidence occur: every pair has the number of its evidence.

**Who linked them** (`who_gave`). A pair of kinds is a number, first * size + second. A block holds all pairs
whose first kind is one of a run of kinds, so blocks are disjoint and in order: each is gathered from all
chains, sorted, and done with.

    chain 2 4 5 8, kinds 3 to 5 first:   4-5, 4-8, 5-8

Only what is found is kept, not the pairs of every annotator, and the clock is looked at between blocks.

**What they gain** (`list_pairs`), as a list of the pairs that depart from what most gain. Two kinds that
nobody linked gain what a pair without a link does that was seen by as many annotators: one value for all such
pairs where everybody saw everything, so only linked kinds are listed. Annotators who put all kinds into one
chain (`Links.everywhere`) count for every pair, and list none.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain as flatten
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.problem import Bools, Ints, Labels, firsts
from caspr.engines.native.partition.sparse import BLOCK, SparseProblem, blocks, filled, order
from caspr.engines.native.partition.watch import ENDLESS, Watch, check, checked
from caspr.task.instance import Instance
from caspr.task.pricing import classes_of, pairs_of
from caspr.task.solution import Stop
from caspr.task.votes import Evidence, Signature
from caspr.text.document import Span

WIDE = 200
"""How many kinds a chain needs, at least, to count for all pairs that are not listed."""
BYTES = 60
"""How many bytes each pair takes that some annotator links, while pairs are sorted."""
SAMPLED, MARGIN = 500, 2
"""How many kinds are counted to see how many such pairs there are, and how many times as many may be."""
MISSING = 0.05
"""The share of all kinds that may be missing in such a chain."""
FEW_PAIRS = 10_000
"""Fewer pairs are listed whatever the limits say: that takes a hundredth of a second."""


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


def find_links(kinds: Sequence[Signature], watch: Watch | None = None, *, counted: bool = False) -> Links:
    """Find out which annotators link each two kinds.

    If they are merely `counted`, the evidence says of the first annotators what is true of as many others
    (`task.pricing`): of twenty annotators there are a million sets, but twenty-one numbers.

    `ExpiredError` is raised where there is no memory for that, or once time is up.

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
    lacking = sum(int(np.count_nonzero(~held)) for held in wide.values())
    watch = _need_room(chains, lacking * size, watch or Watch())
    # Pairs with a kind that a wide chain lacks are listed, whoever gave them.
    by_annotator = {annotator: list(held.values()) for annotator, held in chains.items()}
    pairs, words = who_gave(by_annotator, wide, size, watch, counted=counted)
    first = filled(len(pairs), lambda part: pairs[part] // size, watch)
    second = filled(len(pairs), lambda part: pairs[part] % size, watch)
    both = [_both(held, first, second, watch) for held in wide.values()]
    shifts = [0] if counted else [*(WORD * number for number in range(len(words))), *wide]
    words = [sum(both, start=words[0])] if counted else [*words, *both]
    views = {viewers: number for number, viewers in enumerate(dict.fromkeys(kind.viewers for kind in kinds))}
    view = np.array([views[kind.viewers] for kind in kinds], dtype=np.intp)
    seen = _views_of_pairs(view, first, second, watch) if len(views) > 1 else []
    example, evidence = _alike([*words, *seen], watch)
    numbers: dict[Evidence, int] = {}
    # One pair stands for all that have the same givers and are seen by the same annotators.
    ends = zip(first[example].tolist(), second[example].tolist(), strict=True)
    viewers = [kinds[low].viewers & kinds[high].viewers for low, high in ends]
    givers = _sets([word[example] for word in words], shifts)
    if counted:
        givers, viewers = [(1 << k) - 1 for k in givers], [(1 << n.bit_count()) - 1 for n in viewers]
        own = [Evidence((1 << pair.k) - 1, (1 << pair.n) - 1) for pair in own]
    distinct = map(Evidence, givers, viewers)
    between = np.array([numbers.setdefault(votes, len(numbers)) for votes in distinct], dtype=np.intp)
    inside = [numbers.setdefault(votes, len(numbers)) for votes in own]
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
    """Return the clock, if it counts; raise `ExpiredError` if chains have more pairs than memory allows."""
    every = [positions for own in chains.values() for positions in own.values()]
    pairs = more + sum(len(positions) * (len(positions) - 1) // 2 for positions in every)
    if pairs < FEW_PAIRS:
        return None
    if not watch.expired() and watch.megabytes < ENDLESS:
        room = BYTES * (more + min(pairs, _different_pairs(every))) / 2**20
        if not watch.has_room(room):
            watch.stop = Stop.MEMORY
    watch.check()
    return watch


def _different_pairs(chains: Sequence[Sequence[int]]) -> int:
    """Estimate how many pairs of kinds are linked, however often: by the partners of a sample of kinds."""
    size = 1 + max((positions[-1] for positions in chains), default=0)
    step = -(-size // SAMPLED)
    held: dict[int, list[Labels]] = defaultdict(list)
    for positions in chains:
        members = np.array(positions, dtype=np.intp)
        for kind in members[members % step == 0].tolist():
            held[kind].append(members)
    near = np.zeros(size, dtype=bool)
    partners = 0
    for linked in held.values():
        near[:] = False
        for members in linked:
            near[members] = True
        partners += int(np.count_nonzero(near))
    return MARGIN * partners * step // 2


def wide_from(size: int) -> float:
    """Return how many of some kinds a chain must hold to count for all pairs that are not listed."""
    return max(WIDE, (1 - MISSING) * size)


def _wide_chains(chains: dict[int, dict[int, list[int]]], size: int) -> dict[int, Bools]:
    """Take out chains with nearly all kinds; return, by annotator, which kinds they hold."""
    wide: dict[int, Bools] = {}
    for annotator, own in sorted(chains.items()):
        for chain, positions in list(own.items()):
            if len(positions) >= wide_from(size) and annotator not in wide:
                wide[annotator] = np.isin(np.arange(size), positions)
                del own[chain]
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
    groups = [np.array([numbers[content] for content in contents])[group] for contents, group in blocks]
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


SHORT = 200
"""How many kinds a short chain has at most: the pairs of all short chains are listed at once."""
WORD = 62
"""How many annotators' bits one integer of an array holds."""
CROWDED_BLOCK = 8
"""Where a block gathers at least one in this many of its possible pairs, a table replaces sorting."""


@dataclass(frozen=True)
class _Giver:
    """The chains of one annotator."""

    short: Ints
    """The pairs of short chains, in order."""
    long: Sequence[Ints]
    """The kinds of each of the other chains, in order."""
    repeats: bool
    """Whether two of these chains may share a pair."""
    wide: Bools | None
    """The kinds of the chain that counts for all pairs that are not listed, if there is one."""

    @classmethod
    def of(cls, chains: Sequence[Sequence[int]], wide: Bools | None, size: int) -> "_Giver":
        short = _pairs_of_short([chain for chain in chains if len(chain) <= SHORT], size)
        long = [np.array(chain, dtype=np.int64) for chain in chains if len(chain) > SHORT]
        repeats = len(set(flatten.from_iterable(chains))) < sum(map(len, chains))
        return cls(np.sort(short), long, repeats, wide)

    def count(self, numbers: Ints) -> None:
        """Add to how many pairs each kind is the first of."""
        numbers += np.bincount(self.short // max(len(numbers), 1), minlength=len(numbers))
        for chain in self.long:
            np.add.at(numbers, chain, np.arange(len(chain) - 1, -1, -1))

    def between(self, start: int, stop: int, size: int) -> Ints:
        """Return the different pairs whose first kind is one of a run, but those of the wide chain."""
        low, high = np.searchsorted(self.short, [start * size, stop * size])
        lists = [self.short[low:high]]
        for chain in self.long:
            low, high = np.searchsorted(chain, [start, stop])
            if low < high:
                later = len(chain) - 1 - np.arange(low, high)
                owner = np.repeat(np.arange(low, high), later)
                within = np.arange(len(owner)) - np.repeat(np.cumsum(later) - later, later)
                lists.append(chain[owner] * size + chain[owner + 1 + within])
        pairs = np.concatenate(lists)
        if self.wide is not None:
            pairs = pairs[~(self.wide[pairs // size] & self.wide[pairs % size])]
        return np.unique(pairs) if self.repeats else pairs


def _pairs_of_short(chains: Sequence[Sequence[int]], size: int) -> Ints:
    """Encode the pairs of many chains at once: each member with all that come after it in its chain."""
    members = np.array([*flatten.from_iterable(chains)], dtype=np.int64)
    lengths = np.array([len(chain) for chain in chains], dtype=np.intp)
    position = np.arange(len(members))
    later = np.repeat(np.cumsum(lengths), lengths) - position - 1
    first = np.repeat(position, later)
    second = np.arange(len(first)) - (np.cumsum(later) - later - position - 1)[first]
    keys: Ints = members[first] * size + members[second]
    return keys


def who_gave(
    chains: Mapping[int, Sequence[Sequence[int]]],
    wide: Mapping[int, Bools],
    size: int,
    watch: Watch | None,
    *,
    counted: bool = False,
) -> tuple[Ints, list[Ints]]:
    """Return all pairs, in order, and who gave each: a bit for each annotator, in words of 62.

    If they are merely `counted`, one word has how many gave each. What an annotator gave by a `wide` chain
    does not count, but pairs with a kind that such a chain lacks are among them, whoever gave them.
    """
    givers = [_Giver.of(own, wide.get(who), size) for who, own in checked(chains.items(), watch)]
    listed = [np.flatnonzero(~held) for held in wide.values()]
    numbers = np.zeros(size, dtype=np.int64)
    for giver in givers:
        giver.count(numbers)
    for kinds in listed:
        numbers += len(kinds) - np.searchsorted(kinds, np.arange(size), side="right")
        numbers[kinds] = size
    words = max(chains, default=0) // WORD + 1
    blocks = []
    for start, stop in checked(pairwise(_borders(numbers)), watch):
        there = [own.between(start, stop, size) for own in checked(givers, watch)]
        more = [_with_listed(kinds, start, stop, size) for kinds in listed]
        bounds = start * size, stop * size
        if counted:
            blocks.append(_counted(there, more, bounds))
        else:
            blocks.append(_gathered(dict(zip(chains, there, strict=True)), more, bounds, words))
    check(watch)
    pairs = np.concatenate([pairs for pairs, _ in blocks])
    return pairs, [
        np.concatenate([some[word] for _, some in blocks])
        for word in checked(range(len(blocks[0][1])), watch)
    ]


def _borders(numbers: Ints) -> list[int]:
    """Return where blocks of first kinds begin, and where the last one ends."""
    total = np.append(0, np.cumsum(numbers))
    inner = np.searchsorted(total, np.arange(BLOCK, int(total[-1]), BLOCK))
    return sorted({0, *inner.tolist(), len(numbers)})


def _with_listed(kinds: Labels, start: int, stop: int, size: int) -> Ints:
    """Encode the pairs that hold one of some kinds and whose first kind is one of a run."""
    rows = np.arange(start, stop)
    inside = np.isin(rows, kinds)
    keys = [np.empty(0, dtype=np.int64)]
    for own, partners in ((rows[inside], np.arange(size)), (rows[~inside], kinds)):
        first, second = np.repeat(own, len(partners)), np.tile(partners, len(own))
        keys.append((first * size + second)[first < second])
    return np.concatenate(keys)


def _counted(given: Sequence[Ints], more: Sequence[Ints], bounds: tuple[int, int]) -> tuple[Ints, list[Ints]]:
    """Return the different pairs of one block, in order, and how many annotators gave each."""
    low, high = bounds
    if high - low > CROWDED_BLOCK * sum(map(len, (*given, *more))):
        pairs, places = _numbered_pairs([*given, *more])
        every = np.concatenate([np.empty(0, np.intp), *places[: len(given)]])
        return pairs, [np.bincount(every, minlength=len(pairs))]
    number = np.zeros(high - low, dtype=np.int32)
    for keys in given:
        number[keys - low] += 1
    there = number > 0
    for keys in more:
        there[keys - low] = True
    pairs = np.flatnonzero(there)
    return low + pairs, [number[pairs].astype(np.int64)]


def _gathered(
    given: Mapping[int, Ints], more: Sequence[Ints], bounds: tuple[int, int], count: int
) -> tuple[Ints, list[Ints]]:
    """Return the different pairs of one block, in order, and which annotators gave each."""
    low, high = bounds
    lists = [*given.values(), *more]
    if high - low <= CROWDED_BLOCK * sum(map(len, lists)):
        here = np.zeros(high - low, dtype=bool)
        for keys in lists:
            here[keys - low] = True
        pairs = low + np.flatnonzero(here)
        number = (np.cumsum(here) - 1) if len(pairs) < high - low else np.arange(high - low)
        places = [number[keys - low] for keys in lists]
    else:
        pairs, places = _numbered_pairs(lists)
    words = [np.zeros(len(pairs), dtype=np.int64) for _ in range(count)]
    for annotator, where in zip(given, places, strict=False):
        words[annotator // WORD][where] |= 1 << annotator % WORD
    return pairs, words


def _numbered_pairs(lists: Sequence[Ints]) -> tuple[Ints, list[Labels]]:
    """Return the different pairs of some lists, in order, and the place of each pair of each list."""
    pairs, every = np.unique(np.concatenate([np.empty(0, np.int64), *lists]), return_inverse=True)
    return pairs, np.split(every, np.cumsum([len(keys) for keys in lists])[:-1]) if lists else []


@dataclass(frozen=True)
class PairGains:
    """What pairs of kinds gain, by the numbers that `Links` gives to evidence and viewers."""

    linked: Ints
    """The gain of a listed pair, by the number of its evidence."""
    connects: Bools
    """Whether such a link can be used without loss."""
    linked_barred: Bools
    """Whether such a pair is forbidden, because nobody linked it after all."""
    unlinked: Ints
    """The gain of a pair that is not listed, by the numbers of who saw the one and the other."""
    unlinked_connects: Bools
    """Whether the link of such a pair can be used without loss; false if there is none."""
    barred: Bools
    """Whether such a pair is forbidden."""

    @classmethod
    def of(cls, instance: Instance, links: Links) -> "PairGains":
        """Look up the prices of all evidence that occurs."""
        linked = [instance.prices.of(evidence) for evidence in links.distinct]
        unlinked = [
            [
                instance.prices.of(Evidence(links.everywhere & viewers & theirs, viewers & theirs))
                for theirs in links.views
            ]
            for viewers in links.views
        ]
        size = len(links.views)
        return cls(
            np.array([price.gain for price in linked], dtype=np.int64),
            np.array([price.connects for price in linked], dtype=bool),
            np.array([not price.allowed for price in linked], dtype=bool),
            np.array([[price.gain for price in row] for row in unlinked], np.int64).reshape(size, size),
            np.array([[price.connects for price in row] for row in unlinked], bool).reshape(size, size),
            np.array([[not price.allowed for price in row] for row in unlinked], bool).reshape(size, size),
        )

    @cached_property
    def largest(self) -> int:
        """The largest |gain| of a pair."""
        return int(max(np.abs(self.linked).max(initial=0), np.abs(self.unlinked).max(initial=0)))

    def useful(self, *, ties: bool) -> Bools:
        """Return, by evidence, which listed pairs put their kinds into one part."""
        useful: Bools = (self.linked >= 0) & self.connects if ties else self.linked > 0
        return useful

    def all_useful(self, *, ties: bool) -> bool:
        """Return whether pairs that are not listed put all kinds into one part."""
        useful = (self.unlinked >= 0) & self.unlinked_connects if ties else self.unlinked > 0
        return bool(useful.any())


@dataclass(frozen=True)
class Listed:
    """Pairs of nodes, gathered for a problem."""

    first: Labels
    second: Labels
    gains: Ints
    """What two mentions of the nodes gain."""
    forbidden: Bools


def lonely_node(mentions: int) -> SparseProblem:
    """Write down the problem of one node."""
    nobody, nothing = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
    size = np.array([mentions], dtype=np.int64)
    return SparseProblem(size, None, nobody, nobody, nothing, np.empty(0, dtype=bool))


def list_pairs(
    kind: Labels,
    sizes: Ints,
    links: Links,
    gains: PairGains,
    apart: tuple[Labels, Labels],
    watch: Watch | None,
    own: Listed | None = None,
) -> SparseProblem:
    """Write down the problem of nodes that each hold mentions of one kind; some pairs are kept apart.

    `own` are pairs that do not gain what their kinds do. `links` are those between the kinds of these nodes,
    and maybe others. `ExpiredError` is raised where a limit is reached before that is done.
    """
    view, size = links.view[kind], max(len(kind), 1)
    common = _common(gains, view)
    never = np.ones(len(apart[0]), dtype=bool)
    nobody: list[NDArray[Any]] = [np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool)]
    columns: list[list[NDArray[Any]]] = [[column] for column in nobody]
    for listed in flatten(
        [Listed(*apart, np.zeros(len(never), dtype=np.int64), never), *([] if own is None else [own])],
        _linked(kind, links, gains, watch),
        _seen_by_others(view, gains, common, watch),
    ):
        keys = np.minimum(listed.first, listed.second) * size + np.maximum(listed.first, listed.second)
        for column, more in zip(columns, (keys, listed.gains, listed.forbidden), strict=True):
            column.append(more)
    keys, each, forbidden = (np.concatenate(column) for column in columns)
    # Of several entries for one pair the first counts: kept apart, its own, linked, then merely seen.
    positions = order(keys, watch)
    ordered = filled(len(keys), lambda part: keys[positions[part]], watch)
    positions = positions[np.append(True, ordered[1:] != ordered[:-1])] if len(positions) else positions
    departing = [
        _departing(sizes, common, keys[some], each[some], forbidden[some])
        for some in (positions[part] for part in blocks(max(len(positions), 1), watch))
    ]
    if len(departing) == 1:
        return departing[0]
    first, second, every, barred = (
        np.concatenate([getattr(block, name) for block in departing])
        for name in checked(("first", "second", "gains", "forbidden"), watch)
    )
    return SparseProblem(sizes, common, first, second, every, barred)


def _departing(sizes: Ints, common: int | None, keys: Ints, each: Ints, forbidden: Bools) -> SparseProblem:
    """Write down those of some pairs that depart from what is common to all."""
    kept = ~forbidden if common is None else forbidden | (each != common)
    first, second = np.divmod(keys[kept], max(len(sizes), 1))
    every = np.where(forbidden[kept], 0, each[kept] * sizes[first] * sizes[second])
    return SparseProblem(sizes, common, first, second, every, forbidden[kept])


def _common(gains: PairGains, view: Labels) -> int | None:
    """Return what most pairs that are not listed gain; `None` if most are forbidden."""
    if len(gains.unlinked) == 1:
        return None if gains.barred[0, 0] else int(gains.unlinked[0, 0])
    count = np.bincount(view, minlength=len(gains.unlinked))
    first, second = np.unravel_index(int(np.outer(count, count).argmax()), gains.unlinked.shape)
    return None if gains.barred[first, second] else int(gains.unlinked[first, second])


def _linked(kind: Labels, links: Links, gains: PairGains, watch: Watch | None) -> Iterator[Listed]:
    """List the pairs of nodes of linked kinds, and those of one kind."""
    by_kind = np.argsort(kind, kind="stable")
    many = np.bincount(kind, minlength=len(links.inside))
    if many.max(initial=0) <= 1:
        node = np.full(len(many), -1, dtype=np.intp)
        node[kind] = np.arange(len(kind))
        for part in blocks(len(links.first), watch):
            u, v = node[links.first[part]], node[links.second[part]]
            here = (u >= 0) & (v >= 0)
            evidence = links.evidence[part][here]
            yield Listed(u[here], v[here], gains.linked[evidence], gains.linked_barred[evidence])
        return
    starts = np.cumsum(many) - many
    for part in blocks(len(links.first), watch):
        left, right = links.first[part], links.second[part]
        times = many[right]
        number = many[left] * times
        pair = np.repeat(np.arange(len(times)), number)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(number) - number, number)
        u = by_kind[starts[left[pair]] + within // times[pair]]
        v = by_kind[starts[right[pair]] + within % times[pair]]
        evidence = links.evidence[part][pair]
        yield Listed(u, v, gains.linked[evidence], gains.linked_barred[evidence])
    for several in checked(np.flatnonzero(many > 1).tolist(), watch):
        if links.distinct[links.inside[several]].givers:
            nodes = by_kind[starts[several] : starts[several] + many[several]]
            first, second = np.triu_indices(len(nodes), 1)
            each = np.full(len(first), gains.linked[links.inside[several]])
            yield Listed(nodes[first], nodes[second], each, np.zeros(len(first), dtype=bool))


def _seen_by_others(
    view: Labels, gains: PairGains, common: int | None, watch: Watch | None
) -> Iterator[Listed]:
    """List the pairs that were seen by other annotators than most, where that makes a difference."""
    if len(gains.unlinked) == 1:
        return
    # NumPy's `unique` would import masked arrays, which takes longer than solving a small document.
    present = np.flatnonzero(np.bincount(view)).tolist()
    for number, own in enumerate(present):
        for theirs in present[number:]:
            barred, gain = bool(gains.barred[own, theirs]), int(gains.unlinked[own, theirs])
            if (None if barred else gain) != common:
                left, right = np.flatnonzero(view == own), np.flatnonzero(view == theirs)
                rows = max(1, BLOCK // len(right))
                for start in checked(range(0, len(left), rows), watch):
                    some = left[start : start + rows]
                    first, second = np.repeat(some, len(right)), np.tile(right, len(some))
                    distinct = first < second if own == theirs else np.ones(len(first), dtype=bool)
                    first, second = first[distinct], second[distinct]
                    each = np.full(len(first), 0 if barred else gain)
                    yield Listed(first, second, each, np.full(len(first), barred))


def gain_inside(instance: Instance, mentions: Collection[Span]) -> int:
    """Return what the pairs of some mentions gain in one chain, whatever holds it together."""
    if len(mentions) < 2:
        return 0
    total = 0
    for pairs in pairs_of(classes_of(instance, mentions), counted=instance.prices.counted):
        price = instance.prices.of(pairs.evidence)
        total += pairs.number * (price.omitted if pairs.free else price.gain)
    return total + instance.gained_by_rules(mentions) if instance.rules else total
