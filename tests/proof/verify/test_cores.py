"""Cores in proofs: what holds is believed, and nothing else."""

from collections.abc import Collection
from fractions import Fraction
from itertools import combinations
from math import floor
from random import Random
from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.proof.verify.cores import ProvenCore
from caspr.proof.verify.graph import ProofGraph
from caspr.proof.verify.tree import bound_tree
from tests.proof.verify.graphs import bound, demand, refused

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
        assert graph.join(2, 0, 3, 1) == gained
        assert (graph.sizes, graph.rows) == (one_by_one.sizes, one_by_one.rows)
        assert [graph.find(node) for node in range(5)] == [0, 0, 0, 0, 4]


def test_joining_many_keeps_what_only_some_of_them_gain_or_forbid() -> None:
    """3 is listed with 1 and forbidden by 2, where other pairs gain 1."""
    graph = ProofGraph(dict.fromkeys(range(5), 1), 1, {node: {} for node in range(5)})
    graph.put(1, 3, 7)
    graph.put(1, 4, 7)
    graph.put(2, 3, None)
    assert graph.join(0, 1, 2) == 3
    assert (graph.gain(0, 3), graph.gain(0, 4), graph.gain(3, 4)) == (None, 9, 1)


def random_core(seed: int) -> tuple[ProofGraph, list[int]]:
    """Return a graph with nodes of several mentions, and nodes with weights that may be a core."""
    random = Random(seed)
    size, nodes = random.randint(5, 8), random.randint(2, 4)
    common = random.choice([None, None, -1, 1, 2])
    sizes = {node: random.choice([1, 1, 2, 3]) for node in range(size)}
    graph = ProofGraph(sizes, common, {node: {} for node in range(size)})
    for u, v in combinations(range(size), 2):
        if v < nodes:
            if common is None or random.random() < 0.8:
                graph.put(u, v, random.randint(-2, 4) * random.choice([1, 1, 8]))
        elif common is not None and random.random() < 0.15:
            graph.put(u, v, None)
        elif random.random() < 0.6:
            graph.put(u, v, random.randint(-2, 2))
    highest = random.choice([1, 2, 3])
    return graph, [number for node in range(nodes) for number in (node, random.randint(1, highest))]


class Described:
    """What the docstring says of a core, in its words and without any hurry."""

    def __init__(self, core: ProvenCore) -> None:
        self.gain, self.core = core.graph.gain, core.weights
        self.others = core.component - core.weights.keys()
        self.total = sum(self.core.values())
        self.allowing = {d: {s for s in self.core if self.gain(s, d) is not None} for d in self.others}
        weight = {d: sum(self.core[s] for s in allowing) for d, allowing in self.allowing.items()}
        self.firm = {d for d in self.others if 2 * weight[d] > self.total}

    def positive(self, d: int, among: Collection[int]) -> int:
        return sum(max(self.gain(d, other) or 0, 0) for other in among if other != d)

    def pulls(self, s: int, d: int) -> tuple[Fraction, int, int]:
        """Return what a node pulls on one of the core: its share, out and over."""
        share, gain = Fraction(self.core[s], self.total), self.gain(s, d)
        if gain is None:
            leaving = self.positive(d, self.core.keys() | self.firm) if d in self.firm else 0
            return Fraction(leaving), 0, leaving
        if len(self.allowing[d]) == len(self.core):
            every = sum(self.gain(other, d) or 0 for other in self.core)
            return abs(gain - share * every), max(gain, 0), abs(gain)
        allowed = {other for other in self.others if self.allowing[other]}
        most = self.positive(d, self.core.keys() | allowed)
        return 2 * max(gain, 0) + 2 * share * most, max(gain, 0), abs(gain)

    def hold(self, s: int) -> tuple[int, int]:
        """Return what half the weight gains at least with a node, and what is known of that."""
        others = [(self.gain(s, other) or 0, weight) for other, weight in self.core.items() if other != s]
        half = -(-self.total // 2)
        chosen = (some for number in range(len(others) + 1) for some in combinations(others, number))
        least = min(sum(gain for gain, _ in some) for some in chosen if sum(own for _, own in some) >= half)
        rises = [Fraction(0), *(Fraction(max(gain, 0), own) for gain, own in others)]
        known = [
            rise * half + sum((min(gain - rise * own, Fraction(0)) for gain, own in others), Fraction(0))
            for rise in rises
        ]
        return least, floor(max(known))

    def holds(self) -> tuple[bool, bool]:
        """Return whether the light nodes hold against shares, and against what is out and over."""
        light = [s for s, weight in self.core.items() if 2 * weight <= self.total]
        pulls = {s: [self.pulls(s, d) for d in self.others] for s in light}
        shares, outs, overs = ({s: sum(each[kind] for each in pulls[s]) for s in light} for kind in range(3))
        return (
            all(self.hold(s)[1] > shares[s] for s in light),
            all(self.hold(s)[1] > max(2 * outs[s], overs[s]) for s in light),
        )


@pytest.mark.parametrize("block", range(4))
def test_a_core_holds_exactly_if_it_does_as_described(block: int) -> None:
    seen = set()
    for seed in range(250 * block, 250 * block + 250):
        graph, row = random_core(seed)
        core = ProvenCore.of(graph, set(graph.sizes), row)
        described = Described(core)
        ways = described.holds()
        assert core.holds == any(ways), seed
        seen.add(ways)
        for s, weight in core.weights.items():
            pulls = [described.pulls(s, d) for d in described.others]
            assert core.share[s] == core.total * sum(share for share, _, _ in pulls), seed
            assert core.out[s] == sum(out for _, out, _ in pulls), seed
            assert core.over[s] == sum(over for _, _, over in pulls), seed
            if 2 * weight <= core.total:
                least, known = described.hold(s)
                assert core._hold(s) == known <= least, seed
    assert seen >= {(False, False), (True, False), (True, True)}


def test_what_is_not_in_the_component_pulls_on_nobody() -> None:
    graph = ProofGraph.of({**CHAIN, (0, 5): -99, **{(node, 5): -1 for node in range(1, 5)}})
    assert ProvenCore.of(graph, graph.component(0), EQUAL).holds
    assert not ProvenCore.of(graph, set(range(6)), EQUAL).holds


def test_a_node_with_more_than_half_the_weight_need_not_hold() -> None:
    """5, which gains much with 6, pulls on 0 by more than the others hold; but 0 is more than half of all."""
    core = {**dict.fromkeys(combinations(range(5), 2), 500), (0, 2): 100, (0, 3): 100}
    pulling = {(0, 5): 0, (1, 5): 0, (4, 6): 0, (5, 6): 2400}
    equal = {(0, 7): 800, **{(node, 7): 80 for node in range(1, 5)}}
    graph = ProofGraph.of({**core, **pulling, **equal})
    proven = ProvenCore.of(graph, set(range(8)), [0, 10, 1, 1, 2, 1, 3, 1, 4, 1])
    assert proven.holds
    assert 14 * proven._hold(0) == 14 * 2700 < proven.share[0] == 48_000
