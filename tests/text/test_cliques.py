"""The partition into cliques is the best of all, and the first of several in a tie."""

import random
from collections.abc import Iterator
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.text.variants import CliquePartition, partition_into_cliques
from tests.formats.documents import relaxed
from tests.sweeps import how_many

Weights = dict[tuple[int, int], int]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Weights]:
    nodes = draw(st.integers(0, 6))
    pairs = list(combinations(range(nodes), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return nodes, {pair: draw(st.integers(1, 4)) for pair in chosen}


def all_partitions(nodes: int) -> Iterator[tuple[int, ...]]:
    """Yield the first node of each node's clique for every partition."""
    if nodes == 0:
        yield ()
        return
    for firsts in all_partitions(nodes - 1):
        yield from ((*firsts, first) for first in {*firsts, nodes - 1})


def kept(firsts: tuple[int, ...], weights: Weights) -> int | None:
    """Return the weight inside cliques, or nothing if something is not a clique."""
    inside = [
        weights.get(pair, 0)
        for pair in combinations(range(len(firsts)), 2)
        if firsts[pair[0]] == firsts[pair[1]]
    ]
    return sum(inside) if all(inside) else None


def first_nodes(found: CliquePartition) -> tuple[int, ...]:
    return tuple(
        first for _, first in sorted((node, clique[0]) for clique in found.cliques for node in clique)
    )


@settings(relaxed, max_examples=how_many(300))
@given(graphs())
def test_no_partition_is_better_or_as_good_and_earlier(graph: tuple[int, Weights]) -> None:
    nodes, weights = graph
    sums = [
        (weight, firsts) for firsts in all_partitions(nodes) if (weight := kept(firsts, weights)) is not None
    ]
    best = min(sums, key=lambda one: (-one[0], one[1]))
    found = partition_into_cliques(nodes, weights)
    assert found.exact
    assert first_nodes(found) == best[1]


@settings(relaxed, max_examples=how_many(100))
@given(graphs())
def test_beyond_the_limit_it_is_a_partition_into_cliques_all_the_same(graph: tuple[int, Weights]) -> None:
    nodes, weights = graph
    found = partition_into_cliques(nodes, weights, ways=0)
    assert sorted(node for clique in found.cliques for node in clique) == list(range(nodes))
    weight = kept(first_nodes(found), weights)
    assert weight is not None
    # Where no edge is lost, no partition is better.
    assert found.exact == (weight == sum(weights.values()))


def test_a_greedy_partition_takes_the_heaviest_edge_first() -> None:
    chain = {(0, 1): 3, (1, 2): 4, (2, 3): 3}
    assert partition_into_cliques(4, chain).cliques == ((0, 1), (2, 3))
    assert partition_into_cliques(4, chain, ways=0).cliques == ((0,), (1, 2), (3,))


def test_a_long_part_with_short_edges_is_solved_exactly() -> None:
    rng = random.Random(1)
    weights = {
        (one, one + step): rng.randint(1, 9) for one in range(400) for step in (1, 2, 3) if rng.random() < 0.8
    }
    found = partition_into_cliques(403, weights)
    assert found.exact
    greedy = partition_into_cliques(403, weights, ways=0)
    assert (kept(first_nodes(found), weights) or 0) > (kept(first_nodes(greedy), weights) or 0)


def test_a_large_clique_is_one_clique() -> None:
    weights = dict.fromkeys(combinations(range(40), 2), 1)
    assert partition_into_cliques(40, weights) == CliquePartition((tuple(range(40)),), exact=True)
