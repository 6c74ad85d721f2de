"""The rule for ties: pairs, then mentions, then where chains begin."""

from itertools import combinations

import pytest

from caspr.task.solution import Partition, canonical
from caspr.task.ties import open_ties, rank
from caspr.text.document import Span
from caspr.text.findings import Severity

SPANS = [Span(1, 3), Span(1, 1), Span(2, 2), Span(4, 4), Span(5, 6)]


def every_partition(spans: list[Span]) -> list[Partition]:
    if not spans:
        return [()]
    first, *rest = spans
    found = []
    for size in range(len(rest) + 1):
        for beside in combinations(rest, size):
            left = [span for span in rest if span not in beside]
            own = [(first, *beside)] if beside else []
            found += [canonical([*own, *chains]) for chains in every_partition(left)]
    return found


def by_definition(partition: Partition) -> tuple[int, int, list[Span]]:
    """Write down the rule as it is stated, mention by mention."""
    chain_of = {mention: chain for chain in partition for mention in chain}
    pairs = sum(1 for chain in partition for _ in combinations(chain, 2))
    return pairs, len(chain_of), [min(chain_of.get(mention, [mention])) for mention in sorted(SPANS)]


def test_the_rank_orders_all_partitions_as_the_rule_says() -> None:
    partitions = every_partition(SPANS)
    assert len(partitions) == len(set(partitions)) == 52
    ranked = sorted(partitions, key=rank)
    assert ranked == sorted(partitions, key=by_definition)
    assert len(set(map(rank, partitions))) == 52


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([[(9, 9), (8, 8)]], [[(1, 1), (2, 2), (3, 3)]]),
        ([[(6, 6), (7, 7), (8, 8), (9, 9)]], [[(1, 1), (2, 2), (3, 3)], [(4, 4), (5, 5), (6, 6)]]),
        ([[(1, 1), (2, 2)]], [[(2, 2), (3, 3)]]),
        ([[(1, 1), (3, 3)], [(2, 2), (4, 4)]], [[(1, 1), (4, 4)], [(2, 2), (3, 3)]]),
        ([[(1, 1), (2, 2)]], [[(1, 1), (3, 3)]]),
        ([], [[(1, 1), (2, 2)]]),
    ],
    ids=["pairs", "mentions", "earlier", "crossed", "nearer", "nothing"],
)
def test_what_comes_first(first: list[list[tuple[int, int]]], second: list[list[tuple[int, int]]]) -> None:
    earlier, later = (
        canonical([Span(*span) for span in chain] for chain in chains) for chains in (first, second)
    )
    assert rank(earlier) < rank(later)


def test_parts_are_ranked_one_by_one() -> None:
    """The first of all combinations is made of the first of each part."""
    own = sorted(every_partition(SPANS[:3]), key=rank)[1:4]
    others = sorted(every_partition([Span(2, 3), Span(3, 3), Span(8, 8)]), key=rank)[1:4]
    every = {canonical([*one, *other]): (one, other) for one in own for other in others}
    assert every[min(every, key=rank)] == (own[0], others[0])


def test_an_open_tie_is_a_note() -> None:
    assert (open_ties("time limit").severity, open_ties("time limit").code) == (Severity.NOTE, "ties-open")
