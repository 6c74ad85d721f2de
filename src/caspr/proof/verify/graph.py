"""The graph that a proof is about: what nodes gain together, who is forbidden, and who must not stay alone.

A clustering gains the sum over pairs of nodes in one cluster, minus what its demands cost. Only pairs are
listed that differ from what is common to all: a node stands for some mentions, its *size*, and a pair that is
not listed gains the common gain times both sizes, or is forbidden if there is none. So a document of
thousands of mentions takes little more than its links.

*Two nodes become one*, under the smaller number, if they are in one cluster: their gains add up, and what
either forbids, both forbid. The larger number then means the smaller one.

*Demands.* A demand is a node, its *home*, that must share its cluster with a *partner*; there are several, in
order of what the link with each costs. The first of them in the cluster is the *first partner*, whose link is
paid, once even if two demands use it. Two nodes that become one may meet a demand; a pair that becomes
forbidden takes a partner away.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

Link = tuple[int, int]
"""The link between a home and a partner, by the numbers of their nodes, the smaller first."""
NodePair = tuple[int, int]
"""Two nodes, the smaller first."""


def ordered(first: int, second: int) -> NodePair:
    """Return a pair with the smaller node first."""
    return min(first, second), max(first, second)


def summed(gains: Iterable[int | None]) -> int | None:
    """Add up gains or bounds; `None` if one of them is."""
    gained = 0
    for gain in gains:
        if gain is None:
            return None
        gained += gain
    return gained


@dataclass(frozen=True)
class ProofDemand:
    """A node that must share its cluster with a partner."""

    home: int
    partners: tuple[int, ...]
    """Nodes in order of preference."""
    costs: tuple[int, ...]
    """What the link with each costs, never falling."""
    links: tuple[Link, ...]

    def keep(self, ranks: Iterable[int]) -> "ProofDemand":
        """Keep the partners of some ranks."""
        chosen = list(ranks)
        return replace(
            self,
            partners=tuple(self.partners[rank] for rank in chosen),
            costs=tuple(self.costs[rank] for rank in chosen),
            links=tuple(self.links[rank] for rank in chosen),
        )

    def contract(self, keep: int, drop: int) -> "ProofDemand | None":
        """Make two nodes one, under the first one's number; `None` if that meets the demand at no cost.

        Of several partners in one node the first counts, and none after one that is inside the home.
        """
        home = keep if self.home == drop else self.home
        partners = tuple(keep if partner == drop else partner for partner in self.partners)
        if (home, 0) in zip(partners, self.costs, strict=True):
            return None
        last = partners.index(home) if home in partners else len(partners)
        ranks = [
            rank for rank, partner in enumerate(partners) if rank <= last and partners.index(partner) == rank
        ]
        return replace(self, home=home, partners=partners).keep(ranks)

    def sharpens(self, centre: int, leaves: Sequence[int]) -> list[tuple[int, int]]:
        """Return the ranks of partners that sharpen a star (`tree`), and by how much.

        >>> demand = ProofDemand(9, (1, 2, 3), (0, 0, 0), ((1, 9), (2, 9), (3, 9)))
        >>> [demand.sharpens(*star) for star in ((9, [1]), (3, [1, 2]), (1, [2, 9]), (3, [9]))]
        [[(1, 1), (2, 1)], [(2, 1)], [(1, 2)], []]
        """
        rank = {partner: number for number, partner in enumerate(self.partners) if partner != self.home}
        if self.home in leaves:
            times = 2 if len(leaves) == 2 else 1
            # A centre that is not a partner comes before nobody.
            begin = rank.get(centre, len(self.partners))
            return [(rank[leaf], times) for leaf in leaves if rank.get(leaf, -1) > begin]
        if not all(leaf in rank for leaf in leaves):
            return []
        after = range(max(rank[leaf] for leaf in leaves) + 1, len(self.partners))
        return [(number, 1) for number in after if centre in (self.home, self.partners[number])]


@dataclass
class ProofGraph:
    """Nodes and what they gain together; changed by what a proof says step by step."""

    sizes: dict[int, int]
    """How many mentions each node stands for."""
    common: int | None
    """What a pair that is not listed gains for each two mentions; `None` if such pairs are forbidden."""
    rows: dict[int, dict[int, int | None]]
    """For every node the nodes that it has a listed pair with, and what that gains; `None` if forbidden."""
    demands: dict[int, ProofDemand] = field(default_factory=dict)
    """By the number that their node has at the root of a proof."""
    joined: dict[int, int] = field(default_factory=dict)
    """For nodes that became one with a smaller one, which."""

    @classmethod
    def of(
        cls,
        gains: Mapping[NodePair, int],
        nodes: Iterable[int] = (),
        demands: Mapping[int, ProofDemand] | None = None,
    ) -> "ProofGraph":
        """Make a graph of single mentions in which all pairs are forbidden that are not among the gains."""
        every = sorted({*nodes, *(node for pair in gains for node in pair)})
        graph = cls(dict.fromkeys(every, 1), None, {node: {} for node in every})
        for (first, second), gain in gains.items():
            graph.put(first, second, gain)
        graph.demands = dict(demands or {})
        graph.forget_forbidden()
        return graph

    def put(self, first: int, second: int, gain: int | None) -> None:
        """List a pair."""
        self.rows[first][second] = self.rows[second][first] = gain

    def attach(self, new: int, node: int, gain: int) -> None:
        """Add a node that gains something with another, and must be with nothing else."""
        if self.common is not None:
            self.rows[new] = dict.fromkeys(self.sizes)
            for known in self.sizes:
                self.rows[known][new] = None
        else:
            self.rows[new] = {}
        self.sizes[new] = 1
        self.put(new, node, gain)

    def find(self, node: int) -> int:
        """Return the node that a node has become."""
        while node in self.joined:
            node = self.joined[node]
        return node

    def gain(self, first: int, second: int) -> int | None:
        """Return what two different nodes gain; `None` if they are forbidden."""
        row = self.rows[first]
        if second in row:
            return row[second]
        return None if self.common is None else self.common * self.sizes[first] * self.sizes[second]

    def positive(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the nodes that a node gains with, and how much."""
        for partner, gain in self.rows[node].items():
            if gain is not None and gain > 0:
                yield partner, gain
        if self.common is not None and self.common > 0:
            for partner in self.sizes:
                if partner != node and partner not in self.rows[node]:
                    yield partner, self.common * self.sizes[node] * self.sizes[partner]

    def linked(self) -> dict[int, set[int]]:
        """Return, for homes and partners of demands, who must be in one part with them."""
        linked: dict[int, set[int]] = {}
        for demand in self.demands.values():
            for partner in demand.partners:
                linked.setdefault(demand.home, set()).add(partner)
                linked.setdefault(partner, set()).add(demand.home)
        return linked

    def component(self, node: int) -> set[int]:
        """Return the nodes that positive gains and demands connect with a node."""
        linked, reached, waiting = self.linked(), {node}, [node]
        while waiting:
            here = waiting.pop()
            new = {neighbour for neighbour, _ in self.positive(here)} | linked.get(here, set())
            waiting += new - reached
            reached |= new
        return reached

    def copy(self) -> "ProofGraph":
        """Return a graph that can be changed on its own."""
        rows = {node: dict(row) for node, row in self.rows.items()}
        return ProofGraph(dict(self.sizes), self.common, rows, dict(self.demands), dict(self.joined))

    def forbid(self, first: int, second: int) -> None:
        """Forbid a pair; demands lose a partner by it at once (`forget_forbidden`)."""
        if self.common is None:
            self.rows[first].pop(second, None)
            self.rows[second].pop(first, None)
        else:
            self.put(first, second, None)

    def forget_forbidden(self) -> None:
        """Forget the partners that must not be with their home."""
        for number, demand in self.demands.items():
            possible = (
                rank
                for rank, partner in enumerate(demand.partners)
                if partner == demand.home or self.gain(demand.home, partner) is not None
            )
            self.demands[number] = demand.keep(possible)

    def join(self, *nodes: int) -> int:
        """Make nodes one of which none forbids another; return what they gain."""
        keep, *dropped = sorted(nodes)
        gained = summed(self.gain(u, v) for u, v in combinations(nodes, 2))
        assert gained is not None
        listed = [set(self.rows[u]) for u in nodes]
        near = set.intersection(*listed) if self.common is None else set.union(*listed)
        row = {node: summed(self.gain(u, node) for u in nodes) for node in near.difference(nodes)}
        for u in nodes:
            for node in self.rows.pop(u):
                del self.rows[node][u]
        for node, gain in row.items():
            self.rows[node][keep] = gain
        self.rows[keep] = row
        size = sum(self.sizes.pop(u) for u in nodes)
        self.sizes[keep] = size
        for drop in dropped:
            self.joined[drop] = keep
            met = {number: demand.contract(keep, drop) for number, demand in self.demands.items()}
            self.demands = {number: demand for number, demand in met.items() if demand is not None}
        self.forget_forbidden()
        return gained

    def restrict(self, nodes: Sequence[int]) -> "ProofGraph":
        """Keep some nodes, the i-th of which gets the number i; demands must be inside or outside of them.

        All pairs that are allowed are listed then.
        """
        number = {node: index for index, node in enumerate(nodes)}
        rows: dict[int, dict[int, int | None]] = {index: {} for index in number.values()}
        if self.common is None:
            for node, index in number.items():
                row = self.rows[node].items()
                rows[index] = {number[neighbour]: gain for neighbour, gain in row if neighbour in number}
        else:
            for (u, first), (v, second) in combinations(number.items(), 2):
                gain = self.gain(u, v)
                if gain is not None:
                    rows[first][second] = rows[second][first] = gain
        demands = {
            name: replace(
                demand, home=number[demand.home], partners=tuple(number[node] for node in demand.partners)
            )
            for name, demand in self.demands.items()
            if demand.home in number
        }
        return ProofGraph({index: self.sizes[node] for node, index in number.items()}, None, rows, demands)

    def shared(self) -> Collection[Link]:
        """Return the links that cost something and that two demands could use."""
        ends = Counter(
            link
            for demand in self.demands.values()
            for link, cost in zip(demand.links, demand.costs, strict=True)
            if cost
        )
        return {link for link, count in ends.items() if count > 1}
