"""Recompute the bound of a tree: pairs of nodes decided both ways, star inequalities at the leaves.

Nodes have gains between them; a clustering gains the sum over pairs in one cluster. A pair without a gain is
forbidden: no clustering has it in one cluster.

*Branches.* A pair is in one cluster (the two nodes become one, their gains add up) or it is not (the
pair becomes forbidden). The bound is the larger of the two branches' bounds.

*Leaves.* A star with centre c and leaves T says

    sum of x_ct over t in T  -  sum of x_st over pairs of T  <=  1,    x = 1 for pairs in one cluster, else 0.

Every clustering satisfies it: with m leaves in the cluster of c, the left side is at most m - m (m - 1) / 2.
A two-partition with disjoint sets S and T says

    sum of x_st over S x T  -  sum of x over pairs of S  -  sum of x over pairs of T  <=  min(|S|, |T|).

A cluster with s nodes of S and t of T adds (s + t - (s-t)^2) / 2 <= min(s, t) to the left side. A pentagon,
five nodes around a ring, says

    sum of x over its sides  -  sum of x over its diagonals  <=  2.

Two neighbouring sides and the diagonal between their ends are a star: the five of these add up to twice the
sides minus once the diagonals <= 5, so twice the left side is at most 5, and the left side a whole number.
Multipliers y >= 0, in units of 2^-shift, give by weak duality, with b the right sides,

    gain  <=  sum of b y  +  sum over pairs of max(0, r),   r = gain of the pair - what is taken from it

and the gain is a multiple of the greatest common divisor of all gains, so the bound is rounded down to one.
An inequality may name nodes or pairs that are not there: for these x = 0.

*Needs.* Where some nodes must have a partner, leaves have inequalities about first partners, too (`needs`).
Just one partner is the first, so a need adds the largest of what is left for each as the first. Links that
first partners use cost something, which counts in the divisor. Two nodes that become one may meet a need; a
pair that becomes forbidden takes a partner away; and no clustering reaches a leaf where a need has no
partner left.
"""

from itertools import combinations, product
from math import gcd

from caspr.proof.verify.needs import Needs, bound_needs
from caspr.proof.verify.reading import Proof, read_integer, require

Gains = dict[tuple[int, int], int]
"""Gains of pairs of nodes, the smaller first; forbidden pairs are missing."""
FINEST = 60
"""The finest unit of multipliers is 2^-60: `--certificate` writes at most 20."""


def bound_tree(gains: Gains, proof: Proof, needs: Needs | None = None) -> int | None:
    """Bound what a clustering of nodes gains; `None` if none meets the needs.

    >>> triangle = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
    >>> bound_tree(triangle, {"shift": 0, "stars": []})
    4
    >>> bound_tree(triangle, {"shift": 0, "stars": [[2, 0, 1, 2]]})
    2
    """
    needs = needs or {}
    if "pair" not in proof:
        return _bound_leaf(gains, proof, needs)
    first, second = sorted(map(read_integer, proof["pair"]))
    if (first, second) not in gains:
        return bound_tree(gains, proof["apart"], needs)
    small = contract(gains, first, second)
    met = {number: need.contract(first, second, small) for number, need in needs.items()}
    left = {number: need for number, need in met.items() if need is not None}
    together = bound_tree(small, proof["together"], left)
    rest = {pair: gain for pair, gain in gains.items() if pair != (first, second)}
    apart = bound_tree(rest, proof["apart"], {n: need.without(first, second) for n, need in needs.items()})
    bounds = [apart, None if together is None else gains[first, second] + together]
    return max((bound for bound in bounds if bound is not None), default=None)


def contract(gains: Gains, keep: int, drop: int) -> Gains:
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


def _bound_leaf(gains: Gains, leaf: Proof, needs: Needs) -> int | None:
    """Recompute the bound that inequalities and their multipliers give."""
    shift = read_integer(leaf["shift"])
    require(0 <= shift <= FINEST, "the unit of the multipliers is absurd")
    reduced = {pair: gain << shift for pair, gain in gains.items()}
    total = 0
    for multiplier, centre, *leaves in (map(read_integer, star) for star in leaf["stars"]):
        require(multiplier >= 0, "a multiplier is negative")
        require(len({centre, *leaves}) == len(leaves) + 1, "an inequality is not a star")
        total += multiplier
        for one in leaves:
            _add(reduced, centre, one, -multiplier)
        for one, other in combinations(leaves, 2):
            _add(reduced, one, other, multiplier)
    total += _subtract_two_partitions(reduced, leaf) + _subtract_pentagons(reduced, leaf)
    more = bound_needs(needs, leaf, shift, lambda one, other, amount: _add(reduced, one, other, amount))
    if more is None:
        return None
    scaled = total + more + sum(max(gain, 0) for gain in reduced.values())
    step = gcd(*gains.values(), *(cost for need in needs.values() for cost in need.costs)) or 1
    return (scaled >> shift) // step * step


def _subtract_two_partitions(reduced: Gains, leaf: Proof) -> int:
    """Subtract what two-partitions take from gains; return the sum of multipliers times right sides."""
    total = 0
    for given, *sides in leaf.get("two_partitions", ()):
        multiplier = read_integer(given)
        one, other = (list(map(read_integer, side)) for side in sides)
        require(multiplier >= 0, "a multiplier is negative")
        require(len({*one, *other}) == len(one) + len(other), "an inequality is not a two-partition")
        total += multiplier * min(len(one), len(other))
        for first, second in product(one, other):
            _add(reduced, first, second, -multiplier)
        for first, second in (*combinations(one, 2), *combinations(other, 2)):
            _add(reduced, first, second, multiplier)
    return total


def _subtract_pentagons(reduced: Gains, leaf: Proof) -> int:
    """Subtract what pentagons take from gains; return the sum of multipliers times right sides."""
    total = 0
    for multiplier, *ring in (map(read_integer, row) for row in leaf.get("pentagons", ())):
        require(multiplier >= 0, "a multiplier is negative")
        require(len({*ring}) == len(ring) == 5, "an inequality is not a pentagon")
        total += 2 * multiplier
        for place in range(5):
            _add(reduced, ring[place - 1], ring[place], -multiplier)
            _add(reduced, ring[place - 2], ring[place], multiplier)
    return total


def _add(reduced: Gains, one: int, other: int, amount: int) -> None:
    pair = _ordered(one, other)
    if pair in reduced:
        reduced[pair] += amount
