"""Partition the nodes of a weighted graph into cliques, so that the weights inside cliques add up to most.

    a --- b --- c        a-b 3, b-c 2, no edge a-c: {a, b} {c} has 3, {a} {b, c} only 2

Nodes are numbered; all weights are positive whole numbers. Of several partitions with the largest sum, the
one is returned whose list of *first nodes* (for each node, in order, the smallest node of its clique) is
the smallest. So the answer depends on nothing but the graph.

**Method.** Parts of the graph that no edge connects are solved by themselves. In each, nodes are taken in
order and put into an open clique or a new one. A clique is open as long as some later node is a neighbour
of all its nodes; what can still happen depends on nothing but the open cliques. So of all ways to get the
same open cliques only the best is kept, and the last node leaves one way, which is the best. Where numbers
follow the text, edges are short, and few cliques are open at a time: the number of ways does not grow with
the length of a part.

**Bound.** An edge between two cliques is lost. A later node keeps its edges to one open clique at most and
loses its other edges to earlier nodes. A way that has lost more than a greedy partition loses in all is
dropped; ways that lose as much are kept for the sake of ties. This keeps dense parts small: in a clique
nothing is ever lost.

**Limit.** A part that needs more than `WAYS` ways at a time gets the greedy partition instead, which joins
the ends of edges by weight, then by number, where that makes a clique. `CliquePartition.exact` says so. The
answer stays the same on every machine, since ways are counted, not seconds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caspr.text.grouping import Groups

WAYS = 3000
"""How many sets of open cliques are followed at a time."""

Clique = tuple[int, ...]
"""Nodes in order."""
Way = tuple[int, tuple[int, ...]]
"""The weight kept so far, and the first node of the clique of each node so far."""


@dataclass(frozen=True)
class CliquePartition:
    """Every node in one clique."""

    cliques: tuple[Clique, ...]
    """By their first nodes; those of one node included."""
    exact: bool
    """Whether no partition has a larger sum; false where a part reached the limit."""


def partition_into_cliques(
    nodes: int, weights: Mapping[tuple[int, int], int], *, ways: int = WAYS
) -> CliquePartition:
    """Partition nodes 0, 1, ...; `weights` has each edge once, the smaller node first.

    >>> partition_into_cliques(4, {(0, 1): 3, (1, 2): 2})
    CliquePartition(cliques=((0, 1), (2,), (3,)), exact=True)
    """
    graph = _Graph(weights)
    connected = sorted({node for edge in weights for node in edge})
    parts = Groups(connected)
    for one, other in weights:
        parts.join(one, other)
    cliques: list[Clique] = [(node,) for node in sorted(set(range(nodes)) - set(connected))]
    exact = True
    for part in parts.lists():
        greedy = _greedy(graph, part)
        lost = _lost(graph, part, greedy)
        # Where nothing is lost, the part is one clique, as all weights are positive.
        best = _best(graph, part, lost, ways) if lost else greedy
        exact = exact and best is not None
        cliques.extend(greedy if best is None else best)
    return CliquePartition(tuple(sorted(cliques)), exact)


class _Graph:
    """Edges looked up from either end."""

    def __init__(self, weights: Mapping[tuple[int, int], int]) -> None:
        self.edges: dict[int, dict[int, int]] = defaultdict(dict)
        for (one, other), weight in weights.items():
            self.edges[one][other] = weight
            self.edges[other][one] = weight

    def gain(self, node: int, clique: Iterable[int]) -> int:
        """Return what a node adds to a clique; 0 if it does not fit."""
        own = self.edges[node]
        found = [own.get(other, 0) for other in clique]
        return sum(found) if all(found) else 0

    def weight(self, nodes: Sequence[int]) -> int:
        """Return the weight of all edges between some nodes."""
        return sum(self.edges[one].get(other, 0) for one in nodes for other in nodes) // 2


def _greedy(graph: _Graph, part: Sequence[int]) -> list[Clique]:
    """Join the ends of edges, the heaviest first, where the result is a clique."""
    holder = {node: [node] for node in part}
    edges = [
        (-weight, one, other) for one in part for other, weight in graph.edges[one].items() if one < other
    ]
    for _, one, other in sorted(edges):
        left, right = holder[one], holder[other]
        if left is not right and all(graph.gain(node, right) for node in left):
            left += right
            holder.update(dict.fromkeys(right, left))
    return [tuple(sorted(clique)) for node, clique in holder.items() if node == min(clique)]


def _lost(graph: _Graph, part: Sequence[int], cliques: Iterable[Clique]) -> int:
    return graph.weight(part) - sum(graph.weight(clique) for clique in cliques)


def _best(graph: _Graph, part: Sequence[int], most_lost: int, ways: int) -> list[Clique] | None:
    """Return the best partition of a connected part, which loses at most so much; `None` beyond the limit."""
    found: dict[tuple[Clique, ...], Way] = {(): (0, ())}
    seen = 0
    for place, node in enumerate(part):
        seen += sum(weight for other, weight in graph.edges[node].items() if other < node)
        waiting = [later for later in part[place + 1 :] if min(graph.edges[later]) <= node]
        following: dict[tuple[Clique, ...], Way] = {}
        for cliques, (kept, firsts) in found.items():
            for joined, gain, first in _choices(graph, cliques, node):
                opened = tuple(one for one in joined if any(graph.gain(later, one) for later in waiting))
                way = (kept + gain, (*firsts, first))
                if opened not in following or _better(way, following[opened]):
                    following[opened] = way
        found = {
            cliques: way
            for cliques, way in following.items()
            if seen - way[0] + _doomed(graph, cliques, waiting, node) <= most_lost
        }
        if len(found) > ways:
            return None
    [(_, firsts)] = found.values()
    return _by_first(part, firsts)


def _better(one: Way, other: Way) -> bool:
    return one[0] > other[0] or (one[0] == other[0] and one[1] < other[1])


def _choices(
    graph: _Graph, cliques: tuple[Clique, ...], node: int
) -> Iterator[tuple[tuple[Clique, ...], int, int]]:
    """Yield the cliques after each choice for a node, what it gains, and the first node of its clique."""
    yield (*cliques, (node,)), 0, node
    for number, clique in enumerate(cliques):
        gain = graph.gain(node, clique)
        if gain:
            yield (*cliques[:number], (*clique, node), *cliques[number + 1 :]), gain, clique[0]


def _doomed(graph: _Graph, cliques: Iterable[Clique], waiting: Iterable[int], node: int) -> int:
    """Return the weight that later nodes lose to the nodes up to this one, whatever they join."""
    doomed = 0
    for later in waiting:
        earlier = sum(weight for other, weight in graph.edges[later].items() if other <= node)
        doomed += earlier - max((graph.gain(later, clique) for clique in cliques), default=0)
    return doomed


def _by_first(part: Sequence[int], firsts: Sequence[int]) -> list[Clique]:
    cliques: dict[int, list[int]] = {}
    for node, first in zip(part, firsts, strict=True):
        cliques.setdefault(first, []).append(node)
    return [tuple(clique) for clique in cliques.values()]
