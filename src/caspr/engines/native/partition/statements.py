"""The statements of a proof, as the search records them and `caspr.proof.verify` checks them.

A proof says why no clustering of a problem gains more than a bound. It is a list of statements, in plain
data; each makes the problem smaller, and the last may end it:

    {"apart": [[u, v, ...], ...]}                  u shares no cluster with any of v, ... in an optimum
    {"together": [[u, v, a, b, p, x, y], ...]}     u and v share one, by the rule with these weights
    {"cores": [[u, weight, v, weight, ...], ...]}  u, v, ... share one, by these weights (`cores`)
    {"guests": [[u, v, fellow, ...], ...]}         u and v share one, although v forbids what u allows
    {"couples": [[u, s, v, t], ...]}               u and s share one, and so do v and t
    {"rivals": [[u, v, rival, ...], ...]}          u and v share one in some optimum
    {"forced": [[home, partner], ...]}             a demand has only one partner left
    {"goal": g, "joins": yes or no, INEQUALITIES}  pairs and partners that clusterings of value g and more
                                                   decide alike are decided, by reduced gains
    {INEQUALITIES}                                 the end: they bound what is left
    {"pair": [u, v], "together": proof, "apart": proof}   the end: decided both ways
    {"parts": [[[node, ...], proof], ...]}         the end: independent parts, whose bounds add up
    {"all": true}                                  the end: so few nodes that all clusterings can be tried

(`reductions` and `leaves` have the rules; after `parts`, the i-th node of a part has the number i.) A proof
that just stops bounds what is left by the sum of its positive gains. INEQUALITIES are

    "shift": s, "stars": [[multiplier, centre, leaf, ...], ...],
    "two_partitions": [[multiplier, [node, ...], [node, ...]], ...],
    "pentagons": [[multiplier, node, node, node, node, node], ...],
    "partner_stars": [[multiplier, demand, centre, leaf, ...], ...],
    "ties": [[multiplier, demand, partner], ...],     y <= x
    "shared": [[multiplier, demand, partner], ...]    y <= z     (`lp`)

with multipliers in units of 2^-s; lists that are empty are left out. Nodes and demands have the numbers of
the nodes where the proof begins; nodes put together have the smallest one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.lp import Point
from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem

Statement = dict[str, Any]
Proof = tuple[Statement, ...]
TRIED: Proof = ({"all": True},)
"""All clusterings can be tried."""


def inequalities(problem: Problem, names: Labels, point: Point) -> Statement:
    """Write down the inequalities of a relaxation and their multipliers, in the names of the nodes."""
    named, counted = names.tolist(), point.weights > 0
    cuts = point.cuts.keep(counted)
    weights = iter(point.weights[counted].tolist())
    written: Statement = {
        "stars": [[next(weights), *row] for row in names[cuts.triangles].tolist()]
        + [[next(weights), *(named[node] for node in star)] for star in cuts.stars],
        "two_partitions": [
            [next(weights), *([named[node] for node in side] for side in sides)]
            for sides in cuts.two_partitions
        ],
        "pentagons": [[next(weights), *(named[node] for node in ring)] for ring in cuts.pentagons],
        "partner_stars": [
            [next(weights), name, *(named[node] for node in star)] for name, star in cuts.partner_stars
        ],
        **_ties(problem, named, point),
    }
    return {"shift": point.shift} | {kind: rows for kind, rows in written.items() if rows}


def _ties(problem: Problem, named: list[int], point: Point) -> Statement:
    """Write down y <= x, then y <= z."""
    outside = sum(partner != demand.home for demand in problem.demands for partner in demand.partners)
    rows = [
        [multiplier, problem.demands[number].name, named[problem.demands[number].partners[rank]]]
        for multiplier, (number, rank) in zip(
            point.multipliers[len(point.cuts) :].tolist(), point.tied, strict=True
        )
    ]
    kinds = {"ties": rows[:outside], "shared": rows[outside:]}
    return {kind: [row for row in some if row[0]] for kind, some in kinds.items()}


def apart(names: Labels, pairs: Bools) -> Statement:
    """Write down pairs that share no cluster, given from both ends."""
    first, second = np.nonzero(np.triu(pairs, 1))
    return listed_apart(names[first], names[second])


def listed_apart(first: Labels, second: Labels) -> Statement:
    """Write down pairs that share no cluster, in the order of their first nodes."""
    rows: dict[int, list[int]] = {}
    for u, v in zip(first.tolist(), second.tolist(), strict=True):
        rows.setdefault(u, [u]).append(v)
    return {"apart": list(rows.values())}


def together(first: Labels, second: Labels, weights: Ints) -> Statement:
    """Write down pairs that share a cluster, each with the weights of its rule."""
    return {"together": np.column_stack([first, second, weights]).tolist()}


def cores(found: Sequence[tuple[Labels, Ints]]) -> Statement:
    """Write down sets of nodes that share a cluster, each node with its weight."""
    return {"cores": [np.column_stack(core).ravel().tolist() for core in found]}


def spanning(size: int, *columns: NDArray[Any]) -> list[NDArray[Any]]:
    """Choose pairs without a ring that connect what all of them connect.

    The first two columns are the nodes of each pair, and the others whatever belongs to it.
    """
    first, second = columns[0], columns[1]
    labels, left, chosen = np.arange(size), np.arange(len(first)), [np.empty(0, dtype=np.intp)]
    while True:
        own, theirs = labels[first[left]], labels[second[left]]
        left, low, high = (
            column[own != theirs] for column in (left, np.minimum(own, theirs), np.maximum(own, theirs))
        )
        if not len(left):
            break
        # Every group hooks itself onto one with a smaller name, if there is any, by one pair.
        towards, hook = np.arange(size), np.full(size, -1)
        towards[high], hook[high] = low, left
        chosen.append(hook[hook >= 0])
        while (towards[towards] != towards).any():
            towards = towards[towards]
        labels = towards[labels]
    positions = np.sort(np.concatenate(chosen))
    return [column[positions] for column in columns]


def renamed(step: Statement, names: Labels) -> Statement:
    """Express a reduction in other names for the nodes."""
    [(kind, rows)] = step.items()
    listed, nodes = names.tolist(), 2 if kind == "together" else None
    if kind == "cores":
        # Every other number is a weight.
        both = ((row[::2], row[1::2]) for row in rows)
        return {kind: [[n for u, w in zip(*b, strict=True) for n in (listed[u], w)] for b in both]}
    return {kind: [[*(listed[node] for node in row[:nodes]), *row[len(row[:nodes]) :]] for row in rows]}
