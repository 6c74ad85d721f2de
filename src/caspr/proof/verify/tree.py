"""Recompute the bound of a tree: pairs of nodes decided both ways, star inequalities at the leaves.

Nodes have gains between them; a clustering gains the sum over pairs in one cluster. A pair without a gain is
forbidden: no clustering has it in one cluster.

*Branches.* A pair is in one cluster (the two nodes become one, their gains add up) or it is not (the
pair becomes forbidden). The bound is the larger of the two branches' bounds.

*Leaves.* A star with centre c and leaves T says

    sum of x_ct over t in T  -  sum of x_st over pairs of T  <=  1,    x = 1 for pairs in one cluster, else 0.

Every clustering satisfies it: with m leaves in the cluster of c, the left side is at most m - m (m - 1) / 2.
Multipliers y >= 0, in units of 2^-shift, give by weak duality

    gain  <=  sum of y  +  sum over pairs of max(0, r),       r = gain of the pair - what stars take from it

and the gain is a multiple of the greatest common divisor of all gains, so the bound is rounded down to one. A
star may name nodes or pairs that are not there: for these x = 0.
"""

from collections.abc import Sequence
from itertools import combinations
from math import gcd

from caspr.proof.verify.reading import Proof, read_integer, require

Gains = dict[tuple[int, int], int]
"""Gains of pairs of nodes, the smaller first; forbidden pairs are missing."""
FINEST = 60
"""The finest unit of multipliers is 2^-60: `--certificate` writes at most 20."""


def bound_tree(gains: Gains, proof: Proof) -> int:
    """Bound what a clustering of nodes gains.

    >>> triangle = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
    >>> bound_tree(triangle, {"shift": 0, "stars": []})
    4
    >>> bound_tree(triangle, {"shift": 0, "stars": [[2, 0, 1, 2]]})
    2
    """
    if "pair" not in proof:
        return _bound_leaf(gains, read_integer(proof["shift"]), proof["stars"])
    first, second = sorted(map(read_integer, proof["pair"]))
    if (first, second) not in gains:
        return bound_tree(gains, proof["apart"])
    joined = gains[first, second] + bound_tree(_contract(gains, first, second), proof["together"])
    rest = {pair: gain for pair, gain in gains.items() if pair != (first, second)}
    return max(joined, bound_tree(rest, proof["apart"]))


def _contract(gains: Gains, keep: int, drop: int) -> Gains:
    """Make two nodes one, under the first one's number; what either forbids, both forbid.

    A node has no gain with itself, so the two that are joined get none with each other.
    """
    merged = {pair: gain for pair, gain in gains.items() if keep not in pair and drop not in pair}
    for node in {node for pair in gains for node in pair}:
        one, other = _ordered(keep, node), _ordered(drop, node)
        if one in gains and other in gains:
            merged[one] = gains[one] + gains[other]
    return merged


def _ordered(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def _bound_leaf(gains: Gains, shift: int, stars: Sequence[Sequence[int]]) -> int:
    """Recompute the bound that star inequalities and their multipliers give."""
    require(0 <= shift <= FINEST, "the unit of the multipliers is absurd")
    reduced = {pair: gain << shift for pair, gain in gains.items()}
    total = 0
    for multiplier, centre, *leaves in (map(read_integer, star) for star in stars):
        require(multiplier >= 0, "a multiplier is negative")
        require(len({centre, *leaves}) == len(leaves) + 1, "an inequality is not a star")
        total += multiplier
        for leaf in leaves:
            _add(reduced, centre, leaf, -multiplier)
        for one, other in combinations(leaves, 2):
            _add(reduced, one, other, multiplier)
    scaled = total + sum(max(gain, 0) for gain in reduced.values())
    step = gcd(*gains.values()) or 1
    return (scaled >> shift) // step * step


def _add(reduced: Gains, one: int, other: int, amount: int) -> None:
    pair = _ordered(one, other)
    if pair in reduced:
        reduced[pair] += amount
