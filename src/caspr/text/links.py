"""Links and nesting: pairs of mentions in annotators' chains, before votes are counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain as flatten
from itertools import combinations
from operator import itemgetter

from caspr.text.document import Chain, Span


def count_links(chains: Iterable[Chain]) -> int:
    """Count the distinct pairs that the chains of one annotator link.

    A pair that two chains share is counted once, which needs only the mentions of several chains.

    >>> count_links([Chain.of("1", [(1, 1), (2, 2), (3, 3)]), Chain.of("2", [(2, 2), (3, 3)])])
    3
    """
    chains = tuple(chains)
    marked = list(flatten.from_iterable(chain.mentions for chain in chains))
    holders: dict[Span, set[int]] = defaultdict(set)
    if len(set(marked)) < len(marked):
        counts = Counter(marked)
        for index, chain in enumerate(chains):
            for mention in chain.mentions:
                if counts[mention] > 1:
                    holders[mention].add(index)
    repeated = sum(max(0, len(one & other) - 1) for one, other in combinations(holders.values(), 2))
    return sum(len(chain.mentions) * (len(chain.mentions) - 1) // 2 for chain in chains) - repeated


def nested_pairs(mentions: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield every pair (outer, inner) of distinct spans where one contains the other.

    >>> list(nested_pairs([Span(1, 5), Span(1, 2), Span(2, 2), Span(4, 7)]))[:2]
    [(Span(start=1, end=5), Span(start=1, end=2)), (Span(start=1, end=5), Span(start=2, end=2))]
    """
    active: list[Span] = []
    reach = 0
    # By their starts, and longer ones before shorter ones: a stable sort of what is sorted by the ends.
    by_end = sorted(set(mentions), key=itemgetter(1), reverse=True)
    for span in sorted(by_end, key=itemgetter(0)):
        start, end = span
        if start > reach:
            active, reach = [span], end
            continue
        active = [outer for outer in active if outer.end >= start]
        yield from ((outer, span) for outer in active if outer.end >= end)
        active.append(span)
        reach = max(reach, end)
