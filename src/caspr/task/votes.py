"""Votes: who linked what, as evidence K of N for each pair of mentions, without listing all pairs.

Two mentions are linked by an annotator who put both into one chain. The *signature* of a mention is the
set of (annotator, chain) it is in, so the evidence of a pair is the number of annotators in the
intersection of two signatures. Mentions with equal signatures have equal evidence with everything else;
a chain of three thousand mentions thus costs as much as its few distinct signatures.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from caspr.text.document import Annotation, Chain, Span
from caspr.text.links import count_links, nested_pairs

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
