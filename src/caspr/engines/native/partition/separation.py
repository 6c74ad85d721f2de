"""Separation: triangles, other stars (`cuts`), two-partitions and pentagons that a point violates.

**Two-partitions** count pairs between two sets of nodes, minus those inside either. For disjoint sets S and
T, every clustering satisfies

    sum of x_st over S x T  -  sum of x over pairs of S  -  sum of x over pairs of T  <=  min(|S|, |T|).

Proof: a cluster that holds s nodes of S and t of T adds s t - s (s-1) / 2 - t (t-1) / 2 to the left side,
which is (s + t - (s-t)^2) / 2. With d = |s - t|, that is min(s, t) + (d - d^2) / 2 <= min(s, t); and the sum
over all clusters of min(s, t) is at most min(|S|, |T|).

With one node in S these are the stars (`cuts`). Larger sets are looked for only where stars no longer lower
the bound: where many pairs gain nothing, as between the nodes of either side of a bipartite graph, they close
most of the gap that stars leave.

**Pentagons** count the sides of a ring of five nodes, minus its diagonals. For distinct nodes a, b, c, d, e,
every clustering satisfies

    x_ab + x_bc + x_cd + x_de + x_ea  -  (x_ac + x_bd + x_ce + x_da + x_eb)  <=  2.

Proof: two neighbouring sides and the diagonal that closes them are a triangle, x_ab + x_bc - x_ac <= 1. The
five of these add up to twice the sides minus the diagonals <= 5. Diagonals subtract at least 0, so twice the
left side is at most 5, too; and the left side is a whole number.

(These are the shortest of the 2-chorded odd cycle inequalities of Groetschel and Wakabayashi.) Where most
pairs are forbidden (U, V), relaxations with all stars have points near one half around such rings, whose
diagonals are forbidden. Longer rings were tried: they lower the bound no further.
"""

from collections.abc import Iterator

import numpy as np

from caspr.engines.native.partition.cuts import (
    EPSILON,
    NO_CUTS,
    Cuts,
    Floats,
    PartnerStar,
    Pentagon,
    Star,
    TwoPartition,
    cuts_of,
    ring_from,
)
from caspr.engines.native.partition.problem import Bools, Demand, Labels, Problem
from caspr.engines.native.partition.watch import Watch

STARTS = 4000
"""From how many first leaves stars are grown in one round, over all centres."""
FEWEST, MOST = 8, 32
"""From how many at one centre."""


def violated_triangles(
    problem: Problem, x: Floats, watch: Watch | None = None, *, limit: int, crowd: int
) -> Cuts:
    """Find, for each third side, the triangle that is violated most; return the worst of them.

    No pair is a short side of more than about `crowd` of these: more of them would say the same again. When a
    limit is reached, those found so far are returned.
    """
    watch = watch or Watch()
    n = problem.size
    worst = np.zeros((n, n))
    centre_of = np.full((n, n), -1, dtype=np.intp)
    stakes = np.maximum(problem.gains, 0) + 1.0
    # A violated triangle has a short side above one half.
    short, half = x > EPSILON, x > 0.5
    np.fill_diagonal(short, False)
    np.fill_diagonal(half, False)
    for centre in np.flatnonzero((short.sum(axis=1) > 1) & half.any(axis=1)).tolist():
        if watch.expired():
            break
        reach, near, far = x[centre], np.flatnonzero(short[centre]), np.flatnonzero(half[centre])
        excess = (reach[far, None] - 1.0) + reach[near] - x[far[:, None], near]
        row, column = np.nonzero(excess > EPSILON)
        first, second = far[row], near[column]
        score = excess[row, column] * np.minimum(stakes[centre, first], stakes[centre, second])
        better = score > worst[first, second]
        first, second = first[better], second[better]
        worst[first, second], centre_of[first, second] = score[better], centre
    flipped = worst < worst.T
    worst, centre_of = np.where(flipped, worst.T, worst), np.where(flipped, centre_of.T, centre_of)
    first, second = np.nonzero(np.triu(centre_of >= 0, 1))
    order = np.argsort(-worst[first, second], kind="stable")
    first, second = first[order], second[order]
    centres = centre_of[first, second]
    fresh = _ranks(centres * n + first) < crowd
    fresh &= _ranks(centres * n + second) < crowd
    rows = np.column_stack([centres, first, second])[fresh][:limit]
    return Cuts(rows, (), np.zeros(len(rows)))


def _ranks(keys: Labels) -> Labels:
    """Number the occurrences of each key in order: 0 for its first, 1 for its second.

    >>> _ranks(np.array([5, 7, 5, 5, 7])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(keys) else order
    ranks = np.empty(len(keys), dtype=np.intp)
    ranks[order] = np.arange(len(keys)) - np.repeat(begins, np.diff(np.append(begins, len(keys))))
    return ranks


def violated_stars(
    problem: Problem, x: Floats, watch: Watch | None = None, *, thorough: bool = False
) -> Cuts:
    """Grow stars greedily: from several first leaves, add the leaf that raises the left side most.

    A thorough search has more first leaves, and takes the deepest star on the way instead of the last one.
    """
    watch = watch or Watch()
    starts = min(max(STARTS // max(1, problem.size), FEWEST), MOST) if thorough else FEWEST
    stars: list[Star] = []
    open_pairs = (x > EPSILON) & (x < 1 - EPSILON)
    for centre in np.flatnonzero(open_pairs.sum(axis=1) > 2).tolist():
        if watch.expired():
            break
        near = np.flatnonzero(open_pairs[centre])
        grown = _grow(x[centre, near], x[near[:, None], near], starts, deepest=thorough)
        stars += ((centre, *near[leaves].tolist()) for leaves in grown)
    return cuts_of(dict.fromkeys(stars), NO_CUTS.triangles, problem)


def _grow(reach: Floats, inner: Floats, starts: int, *, deepest: bool) -> Bools:
    """Grow one star from each of the leaves nearest to one half, all at the same time; return their leaves.

    A star is violated most when it is as large as it gets, but a smaller one is often *deeper*: the point is
    farther away from where it holds with equality, by its violation divided by the length of the row.
    """
    first = np.argsort(np.abs(reach - 0.5), kind="stable")[:starts]
    lines, sizes = np.arange(len(first)), np.ones(len(first))
    chosen = np.zeros((len(first), len(reach)), dtype=bool)
    chosen[lines, first] = True
    left, depth, deep = reach[first].copy(), np.zeros(len(first)), chosen.copy()
    rise = reach[None, :] - inner[first]
    rise[chosen] = -1.0
    while True:
        best = rise.argmax(axis=1)
        amount = rise[lines, best]
        growing = amount > 1e-6
        if not growing.any():
            break
        rows, leaves = lines[growing], best[growing]
        left[rows] += amount[growing]
        chosen[rows, leaves] = True
        rise[rows] -= inner[leaves]
        rise[chosen] = -1.0
        if deepest:
            sizes[rows] += 1
            reached = (left - 1 - EPSILON) / np.sqrt(sizes * (sizes + 1) / 2)
            deeper = reached > depth
            depth[deeper], deep[deeper] = reached[deeper], chosen[deeper]
    violated: Bools = deep[depth > 0] if deepest else chosen[left > 1 + EPSILON]
    large: Bools = violated[violated.sum(axis=1) > 1]
    return large


BEGINNINGS = 2000
"""From how many stars, and from how many two-partitions, others are looked for at most."""
MOST_PARTITIONS = 1000
"""How many a round adds at most."""
TIGHT = 0.05
"""A cut with less slack holds the point back."""
PARALLEL = 0.2
"""Rows are added only where the cosine between any two is smaller: many climbs end near the same place."""
STEPS = 25
"""How many nodes are added or removed at most."""
BOLD, DESCENT = 2, 0.3
"""In how many first steps the left side may fall, and by how much: a star is a local optimum."""
SHALLOW = 0.005
"""What is not as deep as this is left alone."""
NOISE = 1e-3
"""Ties are broken by chance, from a fixed seed, or most climbs would end in the same place."""
NEVER = -9.0
"""The gain of a step that cannot be made."""


def violated_two_partitions(
    problem: Problem, x: Floats, cuts: Cuts, slack: Floats, watch: Watch | None = None
) -> Cuts:
    """Look for inequalities that a point violates, starting from the cuts that hold it back.

    Those come first that the point is farthest away from, by violation divided by the length of the row;
    what says nearly the same as one of these is left out.
    """
    watch = watch or Watch()
    inner = np.where(problem.forbidden, 0.0, x)
    np.fill_diagonal(inner, 1.0)
    depth, b = _climbed(inner, _beginnings(cuts, slack), watch)
    partitions: list[TwoPartition] = []
    for line in _distinct(depth, b):
        sides = (tuple(np.flatnonzero(b[line] == sign).tolist()) for sign in (1, -1))
        small, large = sorted(sides, key=lambda side: (len(side), side))
        partitions.append((small, large))
    return Cuts.beyond_stars(partitions)


def _beginnings(cuts: Cuts, slack: Floats) -> list[TwoPartition]:
    """Choose tight cuts, those with the largest multipliers first."""
    begin = len(cuts.triangles)
    stars = [((centre,), tuple(leaves)) for centre, *leaves in cuts.stars]
    chosen: list[TwoPartition] = []
    for kind in (stars, cuts.two_partitions):
        tight = np.flatnonzero(slack[begin : begin + len(kind)] < TIGHT)
        order = np.argsort(-cuts.weights[begin + tight], kind="stable")[:BEGINNINGS]
        chosen += (kind[position] for position in tight[order].tolist())
        begin += len(kind)
    return chosen


def _climbed(inner: Floats, begin: list[TwoPartition], watch: Watch) -> tuple[Floats, Floats]:
    """Search near cuts for deeper ones, near all at the same time: add or remove the node that raises most.

    With b = 1 for the nodes of one side, -1 for those of the other and 0 for all others, and x = 1 between a
    node and itself, a point violates an inequality by (|sum of b| - b x b) / 2. Return the depth of the
    deepest inequality found from each cut, and its b.
    """
    b = np.zeros((len(begin), len(inner)))
    for line, (small, large) in enumerate(begin):
        b[line, list(small)], b[line, list(large)] = -1.0, 1.0
    lines, pull, deepest = np.arange(len(begin)), b @ inner, b.copy()
    depth, random = np.full(len(begin), NEVER), np.random.default_rng(len(begin))
    for step in range(STEPS + 1):
        reached = _depths(b, pull)
        deeper = reached > depth[lines]
        depth[lines[deeper]], deepest[lines[deeper]] = reached[deeper], b[deeper]
        rise = _rises(b, pull)
        rise += NOISE * random.random(rise.shape)
        best = rise.argmax(axis=1)
        least = -DESCENT if step < BOLD else 2 * NOISE
        moving = rise[np.arange(len(rise)), best] > least
        if step == STEPS or not moving.any() or watch.expired():
            break
        lines, b, pull = lines[moving], b[moving], pull[moving]
        kind, node = np.divmod(best[moving], len(inner))
        sign = 1.0 - 2.0 * kind
        b[np.arange(len(b)), node] += sign
        pull += sign[:, None] * inner[node]
    return depth, deepest


def _depths(b: Floats, pull: Floats) -> Floats:
    """Return how far a point is from inequalities: the violation, divided by the length of the row."""
    sizes = np.maximum(np.abs(b).sum(axis=1), 2)
    violation = (np.abs(b.sum(axis=1)) - (b * pull).sum(axis=1)) / 2
    depths: Floats = violation / np.sqrt(sizes * (sizes - 1) / 2)
    return depths


def _distinct(depth: Floats, b: Floats) -> list[int]:
    """Choose the deepest inequalities, but none whose row points in nearly the direction of one chosen."""
    sides = np.minimum((b > 0).sum(axis=1), (b < 0).sum(axis=1))
    order = np.argsort(-depth, kind="stable")
    order = order[(depth[order] >= SHALLOW) & (sides[order] > 1)][: 2 * MOST_PARTITIONS]
    some = b[order].astype(np.float32)
    support = np.abs(some)
    sizes = support.sum(axis=1)
    lengths = np.sqrt(sizes * (sizes - 1) / 2)
    between = ((some @ some.T) ** 2 - support @ support.T) / 2
    alike = between > PARALLEL * lengths[:, None] * lengths
    left, chosen = np.ones(len(order), dtype=bool), list[int]()
    for number, line in enumerate(order.tolist()):
        if left[number] and len(chosen) < MOST_PARTITIONS:
            chosen.append(line)
            left &= ~alike[number]
    return chosen


def _rises(b: Floats, pull: Floats) -> Floats:
    """Return what each step raises the violation by: 1 more for each node, then 1 less."""
    total = b.sum(axis=1)[:, None]
    return np.concatenate(
        [
            np.where(sign * b < 1, (np.abs(total + sign) - np.abs(total) - 1) / 2 - sign * pull, NEVER)
            for sign in (1, -1)
        ],
        axis=1,
    )


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
"""A round looks at one node in this many: each ring can be found from five."""
LEAST = 0.05
"""By how much a ring must be violated."""
MOST_PENTAGONS = 600
"""How many a round adds at most."""
CROWD = 6
"""How many of them may share a side."""


def violated_pentagons(problem: Problem, x: Floats, watch: Watch | None = None, *, turn: int = 0) -> Cuts:
    """Find rings that a point violates, the most violated first; when a limit is reached, those so far.

    Successive turns look at different nodes.
    """
    watch, random = watch or Watch(), np.random.default_rng(1)
    x = np.where(problem.forbidden, 0.0, x)
    np.fill_diagonal(x, 0.0)
    rings: dict[Pentagon, float] = {}
    for node in watch.during(range(turn % TURNS, problem.size, TURNS)):
        rings.update(_around(node, x, random))
    return Cuts.beyond_stars(pentagons=_spread(sorted(rings, key=lambda ring: (-rings[ring], ring))))


def _around(node: int, x: Floats, random: "np.random.Generator") -> dict[Pentagon, float]:
    """Join two paths that begin at a node: node, a, b and node, c, d to the ring node, a, b, d, c."""
    near, far = _halves(node, x, random)
    if len(near) < 2:
        return {}
    taut = x[node, near] + x[near, far] - x[node, far]
    left = taut[:, None] + taut[None, :] + x[np.ix_(far, far)]
    left -= x[np.ix_(near, far)] + x[np.ix_(far, near)] + x[np.ix_(near, near)]
    for row, column in ((near, near), (far, far), (near, far), (far, near)):
        left[row[:, None] == column[None, :]] = NEVER
    partner = left.argmax(axis=1)
    excess = left[np.arange(len(near)), partner] - 2
    chosen = np.argsort(-excess, kind="stable")[:EACH]
    return {
        ring_from([node, int(near[edge]), int(far[edge]), int(far[opposite]), int(near[opposite])]): float(
            excess[edge]
        )
        for edge, opposite in zip(chosen.tolist(), partner[chosen].tolist(), strict=True)
        if excess[edge] > LEAST
    }


def _halves(node: int, x: Floats, random: "np.random.Generator") -> tuple[Labels, Labels]:
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
        if len(chosen) < MOST_PENTAGONS and all(used.get(side, 0) < CROWD for side in sides):
            chosen.append(ring)
            used |= {side: used.get(side, 0) + 1 for side in sides}
    return chosen


def violated_partner_stars(problem: Problem, x: Floats, first: tuple[Floats, ...]) -> Cuts:
    """Find partner stars that a point violates; `first` says how much each partner is the first."""
    stars: dict[PartnerStar, None] = {}
    for demand, chosen in zip(problem.demands, first, strict=True):
        stars |= dict.fromkeys((demand.name, star) for star in _violated_by(demand, chosen, x))
    return Cuts.beyond_stars(partner_stars=stars)


def _violated_by(demand: Demand, first: Floats, x: Floats) -> Iterator[Star]:
    """Try each partner as the centre, as a leaf beside the home, and as the last leaf around the home."""
    home, partners = demand.home, np.array(demand.partners)
    up_to = np.cumsum(first)
    for rank, partner in enumerate(demand.partners):
        before = partners[:rank]
        if first[rank] > EPSILON and len(before):
            leaves, left = _grown_star(x, partner, before)
            if leaves and left + first[rank] > 1 + EPSILON:
                yield (partner, *leaves)
            if partner != home:
                excess = x[before, home] + x[before, partner] - x[home, partner] + 2 * first[rank]
                worst = int(excess.argmax())
                if excess[worst] > 1 + EPSILON:
                    yield (int(before[worst]), *sorted((home, partner)))
        if partner != home and x[home, partner] > EPSILON:
            leaves, left = _grown_star(x, home, partners[: rank + 1])
            if partner in leaves and left > up_to[rank] + EPSILON:
                yield (home, *leaves)


def _grown_star(x: Floats, centre: int, nodes: Labels) -> tuple[list[int], float]:
    """Grow a star greedily; return its leaves in order and its left side."""
    near = nodes[x[centre, nodes] > EPSILON]
    leaves: list[int] = []
    left, rise = 0.0, x[centre, near].copy()
    while len(near):
        best = int(rise.argmax())
        if rise[best] <= EPSILON:
            break
        left += float(rise[best])
        leaves.append(int(near[best]))
        rise -= x[near[best], near]
        rise[best] = -1.0
    return sorted(leaves), left
