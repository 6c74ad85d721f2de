"""Check cores: sets of nodes that every optimum holds together, as a proof says with a weight for each node.

Let S be the set, no two of it forbidden, and l(X) the share that the nodes X have of its weight. The *hold*
of s in S is what it gains at least with others of S that have half the weight or more. Another node is
*firm* if the nodes of S that allow it have more than half the weight. For a node d of the component outside
S let B_d be the sum of its positive gains with S and with nodes that some of S allow, and F_d that with S
and firm nodes. It has three *pulls* on s:

              no node of S forbids d     s forbids d            s allows d, others do not
    share     |w_sd - l(s) w(S, d)|      F_d, 0 if not firm     2 max(w_sd, 0) + 2 l(s) B_d
    out       max(w_sd, 0)               0                      max(w_sd, 0)
    over      |w_sd|                     F_d, 0 if not firm     |w_sd|

If the hold of every s that has no more than half the weight exceeds the sum of its pulls `share`, or twice
the sum of its pulls `out` and the sum of its pulls `over`, then every optimum holds S together.

Proof: let an optimum divide S among S_1 + D_1, ..., S_r + D_r, and let W be what pairs of S in different
clusters gain. Nothing improves it: neither that S leaves as a cluster of its own (out), nor that all of S
goes to one D_i, from which those leave that one of the newcomers forbids (in_i); so neither does the mean of
all in_i with weights l_i = l(S_i). *Out* loses at most all pulls `out`. By d in D_i the mean loses the sum
of w_sd - l(s) w(S, d) over S_i if nobody forbids d, and else at most (1 - l_i) w(S_i, d) + l_i B_d: d leaves
nodes that all of S_i allow. If S_i has more than half the weight, these are firm, and the mean loses at most
F_d.

If no S_i has more than half the weight, every s has half of it elsewhere, so 2 W is at least the sum of all
holds. Twice the losses of *out* are at most 2 `out`, those of the mean at most the sum of all pulls `share`:
w_sd - l(s) w(S, d) is 0 in sum over S, so a part of it is at most half the sum of the amounts.

If S_1 has more, let T be the rest of S. The hold of s in T is at most what it gains with S_1, and at most
what it gains with all of S elsewhere; the sums of these over T are W - q and W + q, q being what pairs of T
in different clusters gain, so W is at least the sum of the holds of T. in_1 loses at most the pulls `over`
on T, as d in D_1 leaves only if one of T forbids it. The mean loses at most the pulls `share` on T: what a d
that nobody forbids has in sum over S_1 is minus what it has over T; and another d of D_1 is forbidden by one
of T, one of another D_i pulls on S_i, within T.

Either way some change improves the optimum, unless holds are too small.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from caspr.proof.verify.facts import require, required
from caspr.proof.verify.graph import ProofGraph


@dataclass
class ProvenCore:
    """Nodes with their weights in a graph, and what others pull."""

    graph: ProofGraph
    component: set[int]
    """The component that all are in."""
    weights: dict[int, int]
    share: dict[int, int] = field(default_factory=dict)
    """Times the weight of all."""
    out: dict[int, int] = field(default_factory=dict)
    over: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: ProofGraph, component: set[int], row: Sequence[int]) -> "ProvenCore":
        """Read nodes and weights."""
        weights = dict(zip(row[::2], row[1::2], strict=True))
        require(2 * len(weights) == len(row) and min(weights.values()) > 0, "a core has no weights")
        require(weights.keys() <= component, "a core is not in one component")
        return cls(graph, component, weights)

    @cached_property
    def total(self) -> int:
        """The weight of all."""
        return sum(self.weights.values())

    @property
    def holds(self) -> bool:
        """Whether every optimum has these nodes together."""
        for pulls in (self.share, self.out, self.over):
            pulls.update(dict.fromkeys(self.weights, 0))
        listed = {d for s in self.weights for d in self.graph.rows[s]} & self.component
        allowing = {d: self._allowing(d) for d in listed - self.weights.keys()}
        for d in allowing:
            self._pull(d, allowing)
        if self.graph.common is not None:
            self._pull_of_rest(listed)
        total = self.total
        light = {s: self._hold(s) for s in self.weights if 2 * self.weights[s] <= total}
        return all(total * hold > self.share[s] for s, hold in light.items()) or all(
            hold > max(2 * self.out[s], self.over[s]) for s, hold in light.items()
        )

    def _allowing(self, d: int) -> int:
        """Return the weight of the nodes that allow another."""
        return sum(weight for s, weight in self.weights.items() if self.graph.gain(s, d) is not None)

    def _pull(self, d: int, allowing: Mapping[int, int]) -> None:
        """Add the pulls of a node."""
        gains, total = {s: self.graph.gain(s, d) for s in self.weights}, self.total
        every = sum(gain or 0 for gain in gains.values())
        most, firm = (0, 0) if allowing[d] == total else self._most(d, allowing)
        leaving = firm if 2 * allowing[d] > total else 0
        for s, gain in gains.items():
            if gain is None:
                self.share[s] += total * leaving
                self.over[s] += leaving
                continue
            if allowing[d] == total:
                self.share[s] += abs(total * gain - self.weights[s] * every)
            else:
                self.share[s] += 2 * (total * max(gain, 0) + self.weights[s] * most)
            self.out[s] += max(gain, 0)
            self.over[s] += abs(gain)

    def _most(self, d: int, allowing: Mapping[int, int]) -> tuple[int, int]:
        """Return what a node gains with the core and nodes that some of it allow, and with firm ones only."""
        most = firm = 0
        # Nodes without a listed pair are allowed by all of the core, or by none.
        unlisted = 0 if self.graph.common is None else self.total
        for k, gain in self.graph.positive(d):
            weight = self.total if k in self.weights else allowing.get(k, unlisted)
            most += gain if weight else 0
            firm += gain if 2 * weight > self.total else 0
        return most, firm

    def _pull_of_rest(self, listed: set[int]) -> None:
        """Add the pulls of nodes that have no listed pair with the core: each gains by its size."""
        graph, total = self.graph, self.total
        assert graph.common is not None
        size = graph.common * sum(graph.sizes[d] for d in self.component - listed - self.weights.keys())
        every = sum(graph.sizes[s] for s in self.weights)
        for s, weight in self.weights.items():
            self.share[s] += abs(size * (total * graph.sizes[s] - weight * every))
            self.out[s] += max(size, 0) * graph.sizes[s]
            self.over[s] += abs(size) * graph.sizes[s]

    def _hold(self, s: int) -> int:
        """Return what a node gains at least with others of half the weight or more.

        With others X of weight H or more it gains at least r H + the sum of w - r * weight over X, for any
        r >= 0, and that sum is no less than the sum of all of its terms below 0. The r of the node at which
        half the weight is reached, in the order of gain per weight, is the best.
        """
        half, others = -(-self.total // 2), list(self._others(s))
        reached, rise, weight = 0, 0, 1
        for gain, own in sorted(others, key=lambda other: (other[0] << 40) // other[1]):
            reached, rise, weight = reached + own, max(gain, 0), own
            if reached >= half:
                break
        return (rise * half + sum(min(weight * gain - rise * own, 0) for gain, own in others)) // weight

    def _others(self, s: int) -> Iterator[tuple[int, int]]:
        """Yield what a node gains with each of the others, and their weights."""
        for other, weight in self.weights.items():
            if other != s:
                yield required(self.graph.gain(s, other), "a core holds a forbidden pair"), weight
