"""Votes: who linked what, and who could have, for each pair of mentions, without listing all pairs.

Two mentions are linked by an annotator who put both into one chain. The *signature* of a mention holds the
chains it is in, as (annotator, chain), and the annotators who saw it. The *evidence* of a pair follows from
two signatures: an annotator gave the link who has a chain in both, and had a vote who saw both. Mentions with
equal signatures have equal evidence with everything else; a chain of three thousand mentions thus costs as
much as its few distinct signatures.

Sets of annotators are whole numbers, annotator i being bit i: 0b101 is the first and the third.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from caspr.text.document import Annotation, Chain, Span, count_links, count_overlaps, nested_pairs

Stretches = tuple[Span, ...]
"""What an annotator saw: runs of tokens in text order that neither overlap nor touch."""


class Signature(NamedTuple):
    """What the evidence of a mention with any other follows from."""

    chains: frozenset[tuple[int, int]]
    """The (annotator, chain) pairs that the mention is in, both as positions."""
    viewers: int


class Evidence(NamedTuple):
    """What annotators say about one pair of mentions."""

    givers: int
    """The annotators who put both into one chain."""
    viewers: int
    """The annotators who saw both, and so had a vote."""

    @property
    def k(self) -> int:
        """K, the number of annotators who gave the link."""
        return self.givers.bit_count()

    @property
    def n(self) -> int:
        """N, the number of annotators who had a vote."""
        return self.viewers.bit_count()


@dataclass(frozen=True)
class Votes:
    """The evidence that N annotators gave."""

    annotators: int
    """The number of annotations given, also of those that marked nothing."""
    signatures: Mapping[Span, Signature]
    """For every mention some annotator linked, in text order."""
    marks: Mapping[Span, int]
    """The annotators who marked each span, chains of one included."""
    links: tuple[int, ...]
    seen: tuple[Stretches | None, ...] = field(default=(), repr=False)
    """What each annotator saw, `None` for all of the text; empty if all saw all of it."""

    @property
    def everybody(self) -> int:
        """The set of all annotators."""
        return (1 << self.annotators) - 1

    @property
    def total(self) -> int:
        """The number of links given: the sum of K over all pairs."""
        return sum(self.links)

    def signature(self, mention: Span) -> Signature:
        """Return a mention's signature; without chains for one that nobody linked."""
        known = self.signatures.get(mention)
        return Signature(frozenset(), self.viewers(mention)) if known is None else known

    def evidence(self, first: Span, second: Span) -> Evidence:
        """Return what annotators say about two mentions."""
        return meet(self.signature(first), self.signature(second))

    def viewers(self, mention: Span) -> int:
        """Return the annotators who saw a mention: it lies within what they saw, or they marked it."""
        if not self.seen:
            return self.everybody
        within = sum(1 << number for number, seen in enumerate(self.seen) if _within(mention, seen))
        return within | self.marks.get(mention, 0)

    def neighbours(self, mention: Span) -> list[Span]:
        """Return all mentions that some annotator linked with a mention, in text order."""
        linked = {span for chain in self.signature(mention).chains for span in self.members[chain]}
        return sorted(linked - {mention})

    @cached_property
    def nested(self) -> frozenset[tuple[Span, Span]]:
        """All pairs (outer, inner) of linked mentions where one contains the other."""
        return frozenset(nested_pairs(self.signatures))

    @cached_property
    def nested_links(self) -> frozenset[tuple[Span, Span]]:
        """Those of the nested pairs that some annotator linked."""
        kinds = self.signatures
        if count_overlaps(kinds) > sum(len(kind.chains) for kind in kinds.values()):
            return frozenset(pair for members in self.members.values() for pair in nested_pairs(members))
        return frozenset(
            (outer, inner)
            for outer, inner in self.nested
            if not kinds[outer].chains.isdisjoint(kinds[inner].chains)
        )

    @property
    def overlapping_links(self) -> int:
        """How many links join overlapping mentions: at least as many as `nested_links`, soon counted."""
        return sum(map(count_overlaps, self.members.values()))

    @cached_property
    def members(self) -> Mapping[tuple[int, int], list[Span]]:
        """The mentions of each annotator's chains."""
        members: dict[tuple[int, int], list[Span]] = defaultdict(list)
        for mention, signature in self.signatures.items():
            for chain in signature.chains:
                members[chain].append(mention)
        return members


def meet(first: Signature, second: Signature) -> Evidence:
    """Return the evidence of two mentions from their signatures.

    >>> one = Signature(frozenset({(0, 1), (1, 1), (1, 2)}), viewers=0b011)
    >>> other = Signature(frozenset({(0, 3), (1, 1), (1, 2)}), viewers=0b111)
    >>> evidence = meet(one, other)
    >>> bin(evidence.givers), evidence.k, evidence.n
    ('0b10', 1, 2)
    """
    givers = 0
    for annotator, _ in first.chains & second.chains:
        givers |= 1 << annotator
    return Evidence(givers, first.viewers & second.viewers)


def _within(mention: Span, seen: Stretches | None) -> bool:
    """Return whether a mention lies wholly inside one of the stretches that an annotator saw."""
    if seen is None:
        return True
    last = bisect_right(seen, mention.start, key=lambda stretch: stretch.start) - 1
    return last >= 0 and mention.end <= seen[last].end


def count_votes(
    annotations: Sequence[Annotation],
    forced: Sequence[Chain] | None = None,
    seen: Sequence[Stretches | None] = (),
) -> Votes:
    """Count the votes of all annotations, and of the adjudicator as one more when `forced` is given.

    `seen` is what each annotator saw; the adjudicator sees everything.
    """
    marked = [annotation.all_chains for annotation in annotations]
    if forced is not None:
        marked.append(tuple(forced))
        seen = (*seen, None) if seen else ()
    homes: dict[Span, list[tuple[int, int]]] = defaultdict(list)
    alone: list[tuple[Span, int]] = []
    for annotator, chains in enumerate(marked):
        for index, chain in enumerate(chains):
            if len(chain.mentions) > 1:
                home = (annotator, index)
                for mention in chain.mentions:
                    homes[mention].append(home)
            else:
                alone += [(mention, 1 << annotator) for mention in chain.mentions]
    marks: dict[Span, int] = {}
    for mention in sorted(homes):
        markers = 0
        for annotator, _ in homes[mention]:
            markers |= 1 << annotator
        marks[mention] = markers
    linked = tuple(marks)
    for mention, bit in alone:
        marks[mention] = marks.get(mention, 0) | bit
    votes = Votes(len(marked), {}, marks, tuple(map(count_links, marked)), tuple(seen))
    # Mentions of one kind share one object, so that comparing their signatures takes no time.
    kinds: dict[Signature, Signature] = {}
    signatures: dict[Span, Signature] = {}
    for mention in linked:
        kind = Signature(frozenset(homes[mention]), votes.viewers(mention))
        signatures[mention] = kinds.setdefault(kind, kind)
    return replace(votes, signatures=signatures)
