"""Pentagon inequalities: the sides of a ring of five nodes, minus its diagonals.

For distinct nodes a, b, c, d, e, every clustering satisfies

    x_ab + x_bc + x_cd + x_de + x_ea  -  (x_ac + x_bd + x_ce + x_da + x_eb)  <=  2.

Proof: two neighbouring sides and the diagonal that closes them are a triangle, x_ab + x_bc - x_ac <= 1. The
five of these add up to twice the sides minus the diagonals <= 5. Diagonals subtract at least 0, so twice the
left side is at most 5, too; and the left side is a whole number.

(These are the shortest of the 2-chorded odd cycle inequalities of Groetschel and Wakabayashi.) Where most
pairs are forbidden (U, V), relaxations with all stars have points near one half around such rings, whose
diagonals are forbidden. Longer rings were tried: they lower the bound no further.
"""

import numpy as np

from caspr.engines.native.partition.cuts import Cuts, Floats, Pentagon, ring_from
from caspr.engines.native.partition.problem import Labels, Problem
from caspr.engines.native.partition.watch import Watch

CLEAR = 0.05
"""Sides are pairs that are farther than this from decided."""
TAUT = 0.75
"""How much two neighbouring sides without their diagonal come to at least, of at most 1."""
HALVES = 60
"""How many pairs of neighbouring sides are looked at for each node."""
JITTER = 0.15
"""Which of them is left to chance a little, from a fixed seed, or similar rings would take every place."""
EACH = 30
"""How many rings are kept for each node."""
TURNS = 3
"""A round looks at one node of so many: each ring can be found from five."""
LEAST = 0.05
"""A ring must be violated by as much."""
LIMIT = 600
"""How many a round adds at most."""
CROWD = 6
"""How many of them may share a side."""
NEVER = -9.0
"""The left side of what is no ring."""


def violated_pentagons(problem: Problem, x: Floats, watch: Watch | None = None, *, turn: int = 0) -> Cuts:
    """Find rings that a point violates, the most violated first; when a limit is reached, those so far.

    Successive turns look at different nodes.
    """
    watch, random = watch or Watch(), np.random.default_rng(1)
    x = np.where(problem.forbidden, 0.0, x)
    np.fill_diagonal(x, 0.0)
    found: dict[Pentagon, float] = {}
    for node in watch.during(range(turn % TURNS, problem.size, TURNS)):
        found.update(_around(node, x, random))
    return Cuts.beyond_stars(pentagons=_spread(sorted(found, key=lambda ring: (-found[ring], ring))))


def _around(node: int, x: Floats, random: np.random.Generator) -> dict[Pentagon, float]:
    """Join two paths that begin at a node: node, a, b and node, c, d to the ring node, a, b, d, c."""
    near, far = _halves(node, x, random)
    if len(near) < 2:
        return {}
    taut = x[node, near] + x[near, far] - x[node, far]
    left = taut[:, None] + taut[None, :] + x[np.ix_(far, far)]
    left -= x[np.ix_(near, far)] + x[np.ix_(far, near)] + x[np.ix_(near, near)]
    for one, other in ((near, near), (far, far), (near, far), (far, near)):
        left[one[:, None] == other[None, :]] = NEVER
    partner = left.argmax(axis=1)
    excess = left[np.arange(len(near)), partner] - 2
    chosen = np.argsort(-excess, kind="stable")[:EACH]
    return {
        ring_from([node, int(near[one]), int(far[one]), int(far[other]), int(near[other])]): float(
            excess[one]
        )
        for one, other in zip(chosen.tolist(), partner[chosen].tolist(), strict=True)
        if excess[one] > LEAST
    }


def _halves(node: int, x: Floats, random: np.random.Generator) -> tuple[Labels, Labels]:
    """Find paths of two sides from a node that hardly leave room for more: their second and third nodes."""
    open_pairs = np.flatnonzero((x[node] > CLEAR) & (x[node] < 1 - CLEAR))
    onward = x[open_pairs]
    taut = x[node, open_pairs][:, None] + onward - x[node]
    taut[(onward <= CLEAR) | (onward >= 1 - CLEAR)] = NEVER
    taut[:, node] = NEVER
    first, far = np.nonzero(taut > TAUT)
    amount = taut[first, far] + JITTER * random.random(len(first))
    best = np.argsort(-amount, kind="stable")[:HALVES]
    return open_pairs[first[best]], far[best]


def _spread(rings: list[Pentagon]) -> list[Pentagon]:
    """Choose rings in order, but few with the same side."""
    chosen: list[Pentagon] = []
    used: dict[tuple[int, int], int] = {}
    for ring in rings:
        sides = [(min(pair), max(pair)) for pair in zip(ring, (*ring[1:], ring[0]), strict=True)]
        if len(chosen) < LIMIT and all(used.get(side, 0) < CROWD for side in sides):
            chosen.append(ring)
            used |= {side: used.get(side, 0) + 1 for side in sides}
    return chosen
