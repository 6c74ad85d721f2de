"""Links and nesting: pairs of mentions in annotators' chains, before votes are counted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from caspr.text.document import Chain, Span


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
