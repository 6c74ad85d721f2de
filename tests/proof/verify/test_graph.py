"""The graph of a proof, listed pairs and what is common, against a table of all pairs."""

from dataclasses import dataclass
from itertools import combinations
from random import Random

import pytest

from caspr.proof.verify.graph import ProofDemand, ProofGraph, ordered


@dataclass
class Table:
    """What all pairs of clusters gain, `None` if forbidden: what `ProofGraph` stands for."""

    sizes: dict[int, int]
    gains: dict[tuple[int, int], int | None]

    @classmethod
    def of(cls, graph: ProofGraph) -> "Table":
        """List every pair; a common gain counts for each two mentions."""
        table = {}
        for first, second in combinations(sorted(graph.sizes), 2):
            each = None if graph.common is None else graph.common * graph.sizes[first] * graph.sizes[second]
            table[first, second] = graph.rows[first].get(second, each)
        return cls(dict(graph.sizes), table)

    def join(self, u: int, v: int) -> int:
        """Make two nodes one, under the smaller number."""
        keep, drop = ordered(u, v)
        gained = self.gains.pop((keep, drop))
        assert gained is not None
        for node in self.sizes.keys() - {keep, drop}:
            first, second = self.gains[ordered(keep, node)], self.gains.pop(ordered(drop, node))
            self.gains[ordered(keep, node)] = None if first is None or second is None else first + second
        self.sizes[keep] += self.sizes.pop(drop)
        return gained

    def positive(self, node: int) -> dict[int, int]:
        """Return the nodes that a node gains with."""
        near = {other: self.gains[ordered(node, other)] for other in self.sizes if other != node}
        return {other: gain for other, gain in near.items() if gain is not None and gain > 0}

    def component(self, node: int, links: set[tuple[int, int]]) -> set[int]:
        """Return what positive gains and some links connect with a node."""
        reached = {node}
        while True:
            more = {other for here in reached for other in self.positive(here)}
            more |= {end for link in links if not reached.isdisjoint(link) for end in link}
            if more <= reached:
                return reached
            reached |= more


def drawn(random: Random, nodes: int) -> ProofGraph:
    """Draw a graph with some demands."""
    common = random.choice((None, -2, 0, 3))
    sizes = {node: random.randint(1, 3) for node in range(nodes)}
    graph = ProofGraph(sizes, common, {node: {} for node in range(nodes)})
    for pair in combinations(range(nodes), 2):
        if random.random() < 0.6:
            never = common is not None and random.random() < 0.3
            graph.put(*pair, None if never else random.randint(-5, 5))
    for home in random.sample(range(nodes), random.randint(0, 2)):
        partners = tuple(random.sample([node for node in range(nodes) if node != home], 2))
        graph.demands[home] = ProofDemand(
            home, partners, (0, 0), tuple(ordered(home, one) for one in partners)
        )
    graph.forget_forbidden()
    return graph


def check(graph: ProofGraph, table: Table) -> None:
    """Compare all that can be asked."""
    assert graph.sizes == table.sizes
    for first, second in combinations(sorted(graph.sizes), 2):
        assert graph.gain(first, second) == graph.gain(second, first) == table.gains[first, second]
    links = {(one.home, partner) for one in graph.demands.values() for partner in one.partners}
    for node in graph.sizes:
        listed = list(graph.positive(node))
        assert dict(listed) == table.positive(node) and len(listed) == len(dict(listed))
        assert graph.component(node) == table.component(node, links)
    for demand in graph.demands.values():
        others = [partner for partner in demand.partners if partner != demand.home]
        assert all(table.gains[ordered(demand.home, partner)] is not None for partner in others)
    every = sorted(graph.sizes)
    small = graph.restrict(every)
    assert Table.of(small).gains == {
        (every.index(first), every.index(second)): gain for (first, second), gain in table.gains.items()
    }


@pytest.mark.parametrize("block", range(4))
def test_joining_and_forbidding_is_as_in_the_table_of_all_pairs(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        random = Random(seed)
        graph = drawn(random, random.randint(3, 7))
        table = Table.of(graph)
        check(graph, table)
        while len(graph.sizes) > 2:
            pair = ordered(*random.sample(sorted(graph.sizes), 2))
            before, old = graph.copy(), Table.of(graph)
            if table.gains[pair] is None or random.random() < 0.3:
                graph.forbid(*pair)
                graph.forget_forbidden()
                table.gains[pair] = None
                if all(gain is None for gain in table.gains.values()):
                    break
            else:
                assert graph.join(*pair) == table.join(*pair)
                assert graph.find(pair[1]) == graph.find(pair[0]) == pair[0]
            check(graph, table)
            assert Table.of(before) == old, "a copy changes on its own"
