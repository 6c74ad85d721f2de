"""Matching: key and response of one document, mention by mention.

**Mentions** match when their spans are equal. All measures but BLANC follow from the sizes of the chains and
from how many mentions each key chain shares with each response chain. A span that the response gives more
than once is treated as the reference scorer (v8.01) does:

1. chains are taken in the order of the file;
2. of a span that is in the key, the first stays and the others are removed;
3. of a span that is not in the key, all stay, and each makes its chain longer.

In the key a repeated span is an error: it is not known which chain is meant. On request, mentions match by
*overlap*: after all equal spans, a key mention and a response mention that are still free and share tokens
match, those with more tokens in common first, then in text order.

**Chains of one** in numbers about annotators have one convention, for scores, agreement and typology alike.
Some guidelines have chains of one, others do not, and some annotators do not care. Counted where only one
side has them, each is a mention that the other side "missed". So they count between two sides if both have
some, in whichever document; otherwise they are left out of both. Whoever wants it otherwise says so: always,
as the CoNLL reference scorer and `caspr score` do, or never. Alpha needs no such convention: a mention that
somebody did not mark is a chain of one for it, unless asked otherwise.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, count, repeat
from itertools import chain as flatten

import numpy as np

from caspr.errors import InputError
from caspr.measures.marks import NOBODY, Flags, Marks, Numbers, count_cells
from caspr.text.document import Annotation, Span
from caspr.text.grouping import match_one_to_one

Chains = Sequence[Sequence[Hashable]]
"""Chains of spans, or of numbers where it is known which chains share how many."""
_SpanChains = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class Alignment:
    """Two annotations of one document, ready to be scored."""

    key: Chains
    """The chains that are right; no span is in two of them."""
    response: Chains
    """The chains to score, with spans that are in the key at most once."""
    matched: Mapping[tuple[int, int], int] | None = None
    """How many mentions two chains share, where that is not a matter of equal spans."""

    @cached_property
    def overlaps(self) -> Mapping[tuple[int, int], int]:
        """How many mentions a key chain and a response chain share, for all that share any."""
        if self.matched is not None:
            return self.matched
        holder = dict(zip(flatten.from_iterable(self.key), _numbers(self.key), strict=True))
        held = map(holder.get, flatten.from_iterable(self.response))
        shared = Counter(zip(held, _numbers(self.response), strict=True))
        return {(key, number): count for (key, number), count in shared.items() if key is not None}

    @property
    def common(self) -> int:
        """The number of mentions that both sides have."""
        return sum(self.overlaps.values())


def _numbers(chains: Chains) -> Iterator[int]:
    """Yield the number of the chain of every mention."""
    return flatten.from_iterable(map(repeat, count(), map(len, chains)))


def numbered(sizes: Iterable[int]) -> Chains:
    """Return chains of some sizes, of mentions that are numbers.

    >>> numbered([2, 1])
    [range(0, 2), range(2, 3)]
    """
    sizes = list(sizes)
    return [range(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def align(
    key: Annotation | None, response: Annotation | None, *, singletons: bool = True, overlap: bool = False
) -> Alignment:
    """Match two annotations; one that is missing has no chains.

    Without `singletons`, chains of a single span are left out of both sides first. With `overlap`, spans
    that are not equal can match too.
    """
    right = [] if key is None else _key_chains(key)
    answer = [] if response is None else _as_given(response)
    if not singletons:
        right = [chain for chain in right if len(chain) > 1]
        answer = [chain for chain in answer if len(set(chain)) > 1]
    chains = _without_repetitions(answer, right)
    return Alignment(tuple(right), _renamed(right, chains) if overlap else chains)


def align_marks(
    marks: Marks, who: tuple[int, int], seen: Flags | None = None, *, singletons: bool = True
) -> Alignment:
    """Match two annotators, by number, over what both saw, each span being in its first chain only."""
    chains = [
        _chains_of(marks.entities[number], kept, singletons=singletons)
        for number, kept in zip(who, marks.kept(who, seen), strict=True)
    ]
    (key, sizes), (response, other_sizes) = chains
    both = (key > NOBODY) & (response > NOBODY)
    return Alignment(numbered(sizes), numbered(other_sizes), count_cells(key[both], response[both]))


def _chains_of(entities: Numbers, kept: Flags, *, singletons: bool) -> tuple[Numbers, list[int]]:
    """Return the chain of each span, if only some spans are kept, and the sizes of chains in text order."""
    sizes = np.bincount(entities[kept], minlength=int(entities.max(initial=0)) + 1)
    if not singletons:
        kept = kept & (sizes[entities] > 1)
    numbers, first = np.unique(entities[kept], return_index=True)
    order = numbers[np.argsort(first)]
    chain = np.full(len(sizes), NOBODY)
    chain[order] = np.arange(len(order))
    return np.where(kept, chain[entities], NOBODY), sizes[order].tolist()


def _key_chains(key: Annotation) -> list[tuple[Span, ...]]:
    chains = _as_given(key)
    if len(set().union(*chains)) == sum(map(len, chains)):
        return chains
    counts = Counter(span for chain in chains for span in chain)
    repeated = sorted(span for span, count in counts.items() if count > 1)
    if repeated:
        what = f"'{key.document.text(repeated[0])}' as a mention {counts[repeated[0]]} times"
        raise InputError(
            f"{key.document.place(repeated[0].start)}: found {what}, expected each mention of the key once"
        )
    return chains


def _as_given(annotation: Annotation) -> list[tuple[Span, ...]]:
    return list(annotation.as_given) or sorted(chain.mentions for chain in annotation.all_chains)


def _without_repetitions(chains: Iterable[tuple[Span, ...]], key: Iterable[tuple[Span, ...]]) -> _SpanChains:
    """Keep the first of every span that is in the key, and all others."""
    chains = tuple(chains)
    if len(set().union(*chains)) == sum(map(len, chains)):
        return tuple(filter(None, chains))
    known, seen = set().union(*key), set[Span]()
    kept = []
    for chain in chains:
        rest = []
        for span in chain:
            if span not in known or span not in seen:
                rest.append(span)
            seen.add(span)
        if rest:
            kept.append(tuple(rest))
    return tuple(kept)


def _renamed(key: Iterable[tuple[Span, ...]], response: _SpanChains) -> _SpanChains:
    """Give every response mention that overlaps with a key mention, one to one, the span of that."""
    right = {span for chain in key for span in chain}
    answer = {span for chain in response for span in chain}
    names = _overlapping(right - answer, answer - right)
    return tuple(tuple(names.pop(span, span) for span in chain) for chain in response)


def _overlapping(key: set[Span], response: set[Span]) -> dict[Span, Span]:
    """Match response spans with key spans, most common tokens first, then in text order."""
    at: dict[int, list[Span]] = {}
    for span in key:
        for token in range(span.start, span.end + 1):
            at.setdefault(token, []).append(span)
    common = Counter(
        (span, twin)
        for twin in response
        for token in range(twin.start, twin.end + 1)
        for span in at.get(token, ())
    )
    ranked = sorted(common.items(), key=lambda item: (-item[1], sorted(item[0])))
    return match_one_to_one((twin, span) for (span, twin), _ in ranked)


def singletons_count(sides: Iterable[Iterable[Annotation]], wanted: bool | None = None) -> bool:
    """Return whether chains of one count between some sides, each being all documents of an annotator."""
    if wanted is not None:
        return wanted
    return all(any(annotation.singletons for annotation in side) for side in sides)


def count_pairs(size: int, more: int | None = None) -> int:
    """Count the pairs among some items, or between them and some others.

    >>> count_pairs(4), count_pairs(4, 3)
    (6, 12)
    """
    return size * (size - 1) // 2 if more is None else size * more


def add_fractions(numerators: Mapping[int, int]) -> Fraction:
    """Add up fractions given by denominator.

    >>> add_fractions({2: 1, 3: 1})
    Fraction(5, 6)
    """
    whole = math.lcm(*numerators)
    return Fraction(sum(part * (whole // denominator) for denominator, part in numerators.items()), whole)
