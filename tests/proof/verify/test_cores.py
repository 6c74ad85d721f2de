"""Cores in proofs: what holds is believed, and nothing else."""

from itertools import combinations
from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.proof.verify.cores import ProvenCore
from caspr.proof.verify.graph import ProofGraph
from caspr.proof.verify.tree import bound_tree
from tests.proof.verify.test_demands import demand
from tests.proof.verify.test_rules import bound, refused

CHAIN = dict.fromkeys(combinations(range(5), 2), 5)
"""Five nodes that gain 5 with each other: each holds 3 * 5 with equal weights."""
EQUAL = [0, 1, 1, 1, 2, 1, 3, 1, 4, 1]


def cores(*rows: list[int]) -> dict[str, Any]:
    return {"cores": list(rows)}


def with_rivals(gain: int, more: int) -> dict[tuple[int, int], int]:
    """5 and 6 exclude each other, and both gain with the chain, 0 and 1 more with 5."""
    first = {(node, 5): gain + (more if node < 2 else 0) for node in range(5)}
    return {**CHAIN, **first, **{(node, 6): gain for node in range(5)}}


def test_a_core_is_together() -> None:
    assert bound(CHAIN, cores(EQUAL)) == 50
    assert bound({**CHAIN, (4, 5): 2}, cores(EQUAL[:8])) == 30 + 20 + 2
    # What is about the same with all of the core pulls little: here 3/5 of 2 on 0 and 1.
    pulled = with_rivals(9, 2)
    assert bound(pulled, cores(EQUAL)) == 50 + (5 * 9 + 4) + 5 * 9


def test_a_core_that_does_not_hold_is_refused() -> None:
    for gain, more in ((9, 30), (2, 40)):
        assert refused("does not hold", with_rivals(gain, more), cores(EQUAL))
    assert refused("does not hold", {**CHAIN, (4, 5): 8}, cores(EQUAL))
    assert bound({**CHAIN, (4, 5): 7}, cores(EQUAL)) is not None
    # Half the weight must be somewhere: with weights, it may be with fewer nodes.
    assert refused("does not hold", {**CHAIN, (4, 5): 7}, cores([0, 9, 1, 1, 2, 1, 3, 1, 4, 1]))


def test_forbidden_nodes_pull_with_all_that_they_gain() -> None:
    """5 gains 1 with 0 to 3, and 4 forbids it; it also gains with 6, which some of the core allow."""

    def graph(gain: int, allowing: int) -> dict[tuple[int, int], int]:
        near = {(node, 5): 1 for node in range(4)} | {(node, 6): 0 for node in range(allowing)}
        return {**CHAIN, **near, (5, 6): gain}

    assert bound(graph(5, 3), cores(EQUAL)) is not None
    assert refused("does not hold", graph(6, 3), cores(EQUAL))
    # A cluster with more than half of the core does not hold 6, if no more than that allow it.
    assert bound(graph(6, 2), cores(EQUAL)) is not None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "no weights"),
        ([0, 1], "no weights"),
        ([0, 1, 0, 1, 1, 1], "no weights"),
        ([0, 1, 1, 0, 2, 1], "no weights"),
        ([0, 1, 1, -1, 2, 1], "no weights"),
        ([9, 1, 0, 1, 1, 1], "not there"),
        ([0, 1, 1, 1, 9, 1], "not in one component"),
        ([0, 1, 1, 1, 7, 1], "not in one component"),
        ([0, 1, 1, 1, 2, 1, 5, 1], "forbidden pair"),
    ],
)
def test_what_is_no_core_is_refused(row: list[int], message: str) -> None:
    assert refused(message, {**CHAIN, (0, 5): 1, (7, 8): 1}, cores(row))


def test_no_node_is_in_two_cores() -> None:
    assert refused("two cores", CHAIN, cores([0, 1, 1, 1, 2, 1, 3, 1], [3, 1, 4, 1]))
    twice = {**CHAIN, **{(u + 5, v + 5): 5 for u, v in CHAIN}, (0, 5): 1}
    assert bound(twice, cores(EQUAL, [number + 5 * (i % 2 == 0) for i, number in enumerate(EQUAL)])) == 100


def test_cores_are_not_about_nodes_with_demands() -> None:
    assert refused("nodes with demands", {**CHAIN, (4, 5): 1}, cores(EQUAL), demands={5: demand(5, 4)})


def shared(gain: int, *, common: int) -> ProofGraph:
    """Make a chain in which pairs that are not listed gain something by their sizes."""
    sizes = {**dict.fromkeys(range(5), 1), 5: 3, 6: 1}
    graph = ProofGraph(sizes, common, {node: {} for node in sizes})
    for pair, listed in {**CHAIN, (0, 5): gain, (5, 6): 9}.items():
        graph.put(*pair, listed)
    return graph


def test_pairs_that_are_not_listed_count() -> None:
    """5 loses 3 with all but 0, and 6 loses 1 with all."""
    assert bound_tree(shared(1, common=-1), [cores(EQUAL)]) == 50 + 9
    with pytest.raises(EngineError, match="does not hold"):
        bound_tree(shared(60, common=-1), [cores(EQUAL)])
    uneven = [0, 40, 1, 30, 2, 20, 3, 10, 4, 10]
    whole = ProvenCore.of(shared(1, common=-6), set(range(7)), uneven)
    assert not whole.holds


def test_joining_many_is_joining_one_by_one() -> None:
    for graph in (
        shared(4, common=-1),
        ProofGraph.of(with_rivals(9, 2)),
        ProofGraph.of({**CHAIN, (4, 5): 2}),
    ):
        one_by_one = graph.copy()
        gained = one_by_one.join(0, 1) + one_by_one.join(0, 2) + one_by_one.join(0, 3)
        assert graph.join_all([2, 0, 3, 1]) == gained
        assert (graph.sizes, graph.rows) == (one_by_one.sizes, one_by_one.rows)
        assert [graph.find(node) for node in range(5)] == [0, 0, 0, 0, 4]
