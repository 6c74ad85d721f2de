"""Small graphs of single mentions: what statements prove about them, and what they gain at most."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.proof.verify.graph import ProofDemand, ProofGraph, ordered
from caspr.proof.verify.tree import bound_tree
from tests.clusterings import every_clustering

Gains = Mapping[tuple[int, int], int]
Demands = Mapping[int, ProofDemand]
NONE: Demands = {}


def demand(home: int, *partners: int, costs: tuple[int, ...] = ()) -> ProofDemand:
    links = tuple(ordered(home, partner) for partner in partners)
    return ProofDemand(home, partners, costs or (0,) * len(partners), links)


def graph_of(gains: Gains, nodes: int = 0, demands: Demands = NONE) -> ProofGraph:
    """Make a graph of single mentions, those of demands included; pairs without a gain are forbidden."""
    demanding = {node for one in demands.values() for node in (one.home, *one.partners)}
    return ProofGraph.of(gains, demanding.union(range(nodes)), demands)


def bound(gains: Gains, *statements: dict[str, Any], nodes: int = 0, demands: Demands = NONE) -> int | None:
    """Return what statements prove about single mentions."""
    return bound_tree(graph_of(gains, nodes, demands), statements)


def refused(message: str, gains: Gains, *statements: dict[str, Any], demands: Demands = NONE) -> bool:
    with pytest.raises(EngineError, match=message):
        bound(gains, *statements, demands=demands)
    return True


def optimum(graph: ProofGraph) -> int | None:
    """Try every clustering that meets the demands, and pay each link of first partners once."""
    values = []
    for labels in every_clustering(len(graph.sizes)):
        inside = [pair for pair in combinations(range(len(labels)), 2) if labels[pair[0]] == labels[pair[1]]]
        gains = [graph.gain(*pair) for pair in inside]
        paid = {}
        for wish in graph.demands.values():
            beside = [n for n, partner in enumerate(wish.partners) if labels[partner] == labels[wish.home]]
            paid[wish.links[beside[0]] if beside else None] = wish.costs[beside[0]] if beside else 0
        if None not in gains and None not in paid:
            values.append(sum(gain for gain in gains if gain is not None) - sum(paid.values()))
    return max(values, default=None)


def best(gains: Gains, nodes: int, demands: Demands = NONE) -> int | None:
    """Return what single mentions gain at most."""
    return optimum(graph_of(gains, nodes, demands))
