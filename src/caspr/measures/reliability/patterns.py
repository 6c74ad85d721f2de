"""Patterns: what annotators say about pairs of mentions, counted without listing the pairs.

The pattern of a pair is who saw both mentions, and who put them into one chain. Mentions are of one *kind*
that are in the same chains and were seen by the same annotators; all pairs of two kinds have one pattern.
So a chain of a thousand mentions costs as much as its few kinds, and pairs that nobody linked are all pairs
less the linked ones.

An annotator who marked a mention saw it, whatever the coverage says.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Span


class Pattern(NamedTuple):
    """What annotators say about a pair of mentions."""

    viewers: tuple[str, ...]
    """Who saw both, by name."""
    givers: tuple[str, ...]
    """Who linked them, by name."""

    @property
    def is_disputed(self) -> bool:
        """Whether some of those who saw both linked them, and others did not."""
        return 0 < len(self.givers) < len(self.viewers)


Patterns = Counter[Pattern]
"""How many pairs have each pattern."""


class _Kind(NamedTuple):
    """What the patterns of a mention with all others follow from; annotators are positions."""

    chains: frozenset[tuple[int, int]]
    """As (annotator, chain)."""
    viewers: frozenset[int]


def count_patterns(annotations: Sequence[Annotation], coverage: Coverage | None = None) -> Patterns:
    """Count all pairs of mentions that somebody linked with something in a document, by pattern.

    The annotations are over the same tokens.
    """
    kinds = Counter(_kinds(annotations, coverage or Coverage()).values())
    counts: Counter[tuple[frozenset[int], frozenset[int]]] = Counter()
    for viewers, number in _viewed_pairs(kinds):
        counts[viewers, frozenset()] += number
    for one, other, number in _linked_pairs(kinds):
        viewers = one.viewers & other.viewers
        counts[viewers, frozenset()] -= number
        counts[viewers, frozenset(annotator for annotator, _ in one.chains & other.chains)] += number
    names = [annotation.annotator for annotation in annotations]
    found: Patterns = Counter()
    for (viewers, givers), number in counts.items():
        found[Pattern(_named(viewers, names), _named(givers, names))] += number
    return +found


def _named(some: frozenset[int], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names[number] for number in some))


def _kinds(annotations: Sequence[Annotation], coverage: Coverage) -> dict[Span, _Kind]:
    chains: dict[Span, set[tuple[int, int]]] = defaultdict(set)
    for annotator, annotation in enumerate(annotations):
        for index, chain in enumerate(annotation.chains):
            for span in chain.mentions:
                chains[span].add((annotator, index))
    names = [annotation.annotator for annotation in annotations]
    marked = [annotation.mentions for annotation in annotations]
    return {
        span: _Kind(
            frozenset(held),
            coverage.viewers(names, span) | {number for number, spans in enumerate(marked) if span in spans},
        )
        for span, held in chains.items()
    }


def _viewed_pairs(kinds: Counter[_Kind]) -> Iterator[tuple[frozenset[int], int]]:
    """Yield who saw both mentions of all pairs, with how many there are."""
    mentions: Counter[frozenset[int]] = Counter()
    for kind, number in kinds.items():
        mentions[kind.viewers] += number
    for one, other in combinations_with_replacement(mentions, 2):
        yield one & other, _number(mentions[one], None if one == other else mentions[other])


def _linked_pairs(kinds: Counter[_Kind]) -> Iterator[tuple[_Kind, _Kind, int]]:
    """Yield all pairs of kinds that share a chain, with how many pairs of mentions there are."""
    members: dict[tuple[int, int], list[_Kind]] = defaultdict(list)
    order = {kind: number for number, kind in enumerate(kinds)}
    for kind in kinds:
        for chain in kind.chains:
            members[chain].append(kind)
    for kind, size in kinds.items():
        yield kind, kind, _number(size, None)
        for other in {other for chain in kind.chains for other in members[chain]}:
            if order[other] > order[kind]:
                yield kind, other, _number(size, kinds[other])


def _number(size: int, other: int | None) -> int:
    """Count the pairs between so many mentions and so many others, or among themselves."""
    return size * (size - 1) // 2 if other is None else size * other
