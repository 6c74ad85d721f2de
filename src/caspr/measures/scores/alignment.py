"""Alignment: key and response of one document, matched mention by mention.

Two mentions match when their spans are equal. All measures but BLANC follow from the sizes of the chains
and from how many mentions each key chain shares with each response chain.

A span that the response gives more than once is treated as the reference scorer (v8.01) does:

1. chains are taken in the order of the file;
2. of a span that is in the key, the first stays and the others are removed;
3. of a span that is not in the key, all stay, and each makes its chain longer.

In the key a repeated span is an error: it is not known which chain is meant.

On request, mentions match by *overlap*: after all equal spans, a key mention and a response mention that are
still free and share tokens match, those with more tokens in common first, then in text order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from caspr.errors import InputError
from caspr.text.document import Annotation, Span
from caspr.text.grouping import match_one_to_one

Chains = tuple[tuple[Span, ...], ...]
"""Chains as bare spans."""


@dataclass(frozen=True)
class Alignment:
    """Two annotations of one document, ready to be scored."""

    key: Chains
    """The chains that are right; no span is in two of them."""
    response: Chains
    """The chains to score, with spans that are in the key at most once."""

    @cached_property
    def overlaps(self) -> Mapping[tuple[int, int], int]:
        """How many mentions a key chain and a response chain share, for all that share any."""
        holder = {span: number for number, chain in enumerate(self.key) for span in chain}
        return Counter(
            (holder[span], number)
            for number, chain in enumerate(self.response)
            for span in chain
            if span in holder
        )

    @property
    def common(self) -> int:
        """The number of mentions that both sides have."""
        return sum(self.overlaps.values())


def align(
    key: Annotation | None, response: Annotation | None, *, singletons: bool = True, overlap: bool = False
) -> Alignment:
    """Match two annotations; one that is missing has no chains.

    Without `singletons`, chains of a single span are left out of both sides first. With `overlap`, spans
    that are not equal can match too.
    """
    right = [] if key is None else _key_chains(key)
    given = [] if response is None else _given(response)
    if not singletons:
        right = [chain for chain in right if len(chain) > 1]
        given = [chain for chain in given if len(set(chain)) > 1]
    chains = _without_repetitions(given, {span for chain in right for span in chain})
    return Alignment(tuple(right), _renamed(right, chains) if overlap else chains)


def _key_chains(key: Annotation) -> list[tuple[Span, ...]]:
    chains = _given(key)
    counts = Counter(span for chain in chains for span in chain)
    repeated = sorted(span for span, count in counts.items() if count > 1)
    if repeated:
        found = f"'{key.document.text(repeated[0])}' as a mention {counts[repeated[0]]} times"
        raise InputError(
            f"{key.document.place(repeated[0].start)}: found {found}, expected each mention of the key once"
        )
    return chains


def _given(annotation: Annotation) -> list[tuple[Span, ...]]:
    if annotation.as_given:
        return list(annotation.as_given)
    return sorted(chain.mentions for chain in (*annotation.chains, *annotation.singletons))


def _without_repetitions(chains: Iterable[tuple[Span, ...]], known: set[Span]) -> Chains:
    """Keep the first of every span that is in the key, and all others."""
    seen: set[Span] = set()
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


def _renamed(key: Iterable[tuple[Span, ...]], response: Chains) -> Chains:
    """Give every response mention that overlaps with a key mention, one to one, the span of that."""
    right = {span for chain in key for span in chain}
    given = {span for chain in response for span in chain}
    names = _overlapping(right - given, given - right)
    return tuple(tuple(names.pop(span, span) for span in chain) for chain in response)


def _overlapping(key: set[Span], response: set[Span]) -> dict[Span, Span]:
    """Match response spans with key spans, most common tokens first, then in text order."""
    at: dict[int, list[Span]] = {}
    for span in key:
        for token in range(span.start, span.end + 1):
            at.setdefault(token, []).append(span)
    common = Counter(
        (span, other)
        for other in response
        for token in range(other.start, other.end + 1)
        for span in at.get(token, ())
    )
    ranked = sorted(common.items(), key=lambda item: (-item[1], sorted(item[0])))
    return match_one_to_one((other, span) for (span, other), _ in ranked)
