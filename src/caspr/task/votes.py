"""Votes: who linked what, as evidence K of N for each pair of mentions, without listing all pairs.

Two mentions are linked by an annotator who put both into one chain. The *signature* of a mention is the
set of (annotator, chain) it is in, so the evidence of a pair is the number of annotators in the
intersection of two signatures. Mentions with equal signatures have equal evidence with everything else;
a chain of three thousand mentions thus costs as much as its few distinct signatures.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from caspr.text.document import Annotation, Chain, Span

Signature = frozenset[tuple[int, int]]
"""The (annotator, chain) pairs a mention is in, both as positions."""


@dataclass(frozen=True)
class Votes:
    """The evidence that N annotators gave."""

    annotators: int
    """N: the number of annotations given, also of those that marked nothing."""
    signatures: Mapping[Span, Signature]
    """For every mention some annotator linked, in text order."""
    marks: Mapping[Span, int]
    """How many annotators marked each span, chains of one included."""
    total: int
    """The sum of the evidence over all pairs."""

    def signature(self, mention: Span) -> Signature:
        """Return a mention's signature; empty for one that nobody linked."""
        return self.signatures.get(mention, frozenset())

    def evidence(self, first: Span, second: Span) -> int:
        """Return K, the number of annotators who put both mentions into one chain."""
        return shared(self.signature(first), self.signature(second))

    def neighbours(self, mention: Span) -> list[Span]:
        """Return all mentions that some annotator linked with a mention, in text order."""
        found = {other for chain in self.signature(mention) for other in self._members[chain]}
        return sorted(found - {mention})

    @cached_property
    def nested(self) -> frozenset[tuple[Span, Span]]:
        """All pairs (outer, inner) of linked mentions where one contains the other."""
        return frozenset(nested_pairs(self.signatures))

    @cached_property
    def nested_links(self) -> frozenset[tuple[Span, Span]]:
        """Those of the nested pairs that some annotator linked."""
        return frozenset(pair for pair in self.nested if self.evidence(*pair))

    @cached_property
    def _members(self) -> Mapping[tuple[int, int], list[Span]]:
        """The mentions of each annotator's chains."""
        members: dict[tuple[int, int], list[Span]] = defaultdict(list)
        for mention, signature in self.signatures.items():
            for chain in signature:
                members[chain].append(mention)
        return members


def shared(first: Signature, second: Signature) -> int:
    """Count the annotators in whose chains both signatures meet.

    >>> shared(frozenset({(0, 1), (1, 1), (1, 2)}), frozenset({(0, 3), (1, 1), (1, 2)}))
    1
    """
    return len({annotator for annotator, _ in first & second})


def count_votes(annotations: Sequence[Annotation], forced: Sequence[Chain] | None = None) -> Votes:
    """Count the votes of all annotations, and of the adjudicator as one more when `forced` is given."""
    linked = [annotation.chains for annotation in annotations]
    marked = [annotation.mentions for annotation in annotations]
    if forced is not None:
        linked.append(tuple(forced))
        marked.append(frozenset(span for chain in forced for span in chain.mentions))
    signatures: dict[Span, set[tuple[int, int]]] = defaultdict(set)
    for annotator, chains in enumerate(linked):
        for index, chain in enumerate(chains):
            if len(chain.mentions) > 1:
                for mention in chain.mentions:
                    signatures[mention].add((annotator, index))
    return Votes(
        annotators=len(linked),
        signatures={mention: frozenset(signatures[mention]) for mention in sorted(signatures)},
        marks=Counter(span for spans in marked for span in spans),
        total=sum(count_links(chains) for chains in linked),
    )


def count_links(chains: Iterable[Chain]) -> int:
    """Count the distinct pairs that the chains of one annotator link.

    A pair that two chains share is counted once, which needs only the mentions of several chains.

    >>> count_links([Chain.of("1", [(1, 1), (2, 2), (3, 3)]), Chain.of("2", [(2, 2), (3, 3)])])
    3
    """
    chains = tuple(chains)
    holders: dict[Span, set[int]] = defaultdict(set)
    for index, chain in enumerate(chains):
        for mention in chain.mentions:
            holders[mention].add(index)
    several = [indices for indices in holders.values() if len(indices) > 1]
    repeated = sum(max(0, len(one & other) - 1) for one, other in combinations(several, 2))
    return sum(len(chain.mentions) * (len(chain.mentions) - 1) // 2 for chain in chains) - repeated


def nested_pairs(mentions: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield every pair (outer, inner) of distinct spans where one contains the other.

    >>> list(nested_pairs([Span(1, 5), Span(1, 2), Span(2, 2), Span(4, 7)]))[:2]
    [(Span(start=1, end=5), Span(start=1, end=2)), (Span(start=1, end=5), Span(start=2, end=2))]
    """
    active: list[Span] = []
    for span in sorted(set(mentions), key=lambda span: (span.start, -span.end)):
        active = [outer for outer in active if outer.end >= span.start]
        yield from ((outer, span) for outer in active if outer.end >= span.end)
        active.append(span)


def nested_links(annotations: Sequence[Annotation]) -> Counter[tuple[Span, Span]]:
    """Count, for every pair of nested mentions that annotators linked, how many did."""
    given: Counter[tuple[Span, Span]] = Counter()
    for annotation in annotations:
        given.update({pair for chain in annotation.chains for pair in nested_pairs(chain.mentions)})
    return given
