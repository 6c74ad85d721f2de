"""Partner stars: star inequalities (`cuts`) sharpened by who is the first partner of a demand.

Let y_j = 1 where j is the first partner of a demand, so that just one y_j is 1. If that is j, then j shares
the cluster of the home m, and the partners before j share it with neither. So a star (centre c, leaves T) can
be sharpened by a multiple of every y_j for which the left side of the star is then at most 1 minus that
multiple:

    + 1 y_j    c is m or j, and all leaves are partners before j: then no leaf is with the centre;
    + 1 y_j    c is a partner before j, and m and j are leaves: they are not with c but with each other, which
               takes 1 from what the other leaves make of the star, and that is at most 1;
    + 2 y_j    the same with no other leaf.

With one leaf u and c = j the first says y_j + x_ju <= 1; with c = m it says x_mu <= sum of y_i over i up to
u. Without the last two, a home that is half with two partners at once would count as not alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from caspr.engines.native.partition.cuts import EPSILON, NO_CUTS, Cuts, Floats, Star
from caspr.engines.native.partition.partners.demand import Demand, Demanding
from caspr.engines.native.partition.problem import Bools, Labels

PartnerStar = tuple[int, Star]
"""The name of a demand, and a centre with leaves in order."""


@dataclass(frozen=True)
class PartnerCuts:
    """A set of partner stars."""

    stars: tuple[PartnerStar, ...] = ()
    """Each with its demand."""
    weights: Floats = field(default_factory=lambda: np.empty(0))
    """The multiplier each had in the last relaxation: where the next one starts."""

    def __len__(self) -> int:
        return len(self.stars)

    @cached_property
    def plain(self) -> Cuts:
        """The stars without what sharpens them."""
        return Cuts(NO_CUTS.triangles, tuple(star for _, star in self.stars), self.weights)

    def __or__(self, other: "PartnerCuts") -> "PartnerCuts":
        """Unite two sets."""
        known = dict(zip(self.stars, self.weights.tolist(), strict=True))
        known = dict(zip(other.stars, other.weights.tolist(), strict=True)) | known
        return PartnerCuts(tuple(known), np.array(list(known.values())))

    def keep(self, mask: Bools) -> "PartnerCuts":
        """Keep some of them."""
        stars = (star for star, kept in zip(self.stars, mask.tolist(), strict=True) if kept)
        return PartnerCuts(tuple(stars), self.weights[mask])

    def rename(self, labels: Labels, whole: Demanding) -> "PartnerCuts":
        """Express the stars in the nodes of a contracted problem, dropping those that say nothing there.

        A node with the label -1 is not there.
        """
        demands = {demand.name: demand for demand in whole.demands}
        renamed: dict[PartnerStar, float] = {}
        for (name, star), weight in zip(self.stars, self.weights.tolist(), strict=True):
            centre, *leaves = labels[list(star)].tolist()
            distinct = len({centre, *leaves}) == len(star) and min(centre, *leaves) >= 0
            if distinct and name in demands and sharpen(demands[name], (centre, *leaves)):
                renamed[name, (centre, *sorted(leaves))] = weight
        return PartnerCuts(tuple(renamed), np.array(list(renamed.values())))

    def within(self, places: Labels, whole: Demanding) -> "PartnerCuts":
        """Express the stars in the nodes of another problem, where demands have the names of their nodes."""
        stars = tuple((int(places[name]), star) for name, star in self.stars)
        return PartnerCuts(stars, self.weights).rename(places, whole)

    def named(self, names: Labels) -> "PartnerCuts":
        """Express the stars in other names for the nodes, distinct and in the same order."""
        stars = ((name, tuple(names[list(star)].tolist())) for name, star in self.stars)
        return PartnerCuts(tuple(stars), self.weights)


NO_PARTNER_CUTS = PartnerCuts()
"""No partner stars."""


def sharpen(demand: Demand, star: Star) -> list[tuple[int, int]]:
    """Return by how much each first partner sharpens a star: the places of partners, and multiples.

    >>> demand = Demand(9, 9, (1, 2, 3), (0, 0, 0), ((1, 9), (2, 9), (3, 9)))
    >>> [sharpen(demand, star) for star in ((9, 1), (3, 1, 2), (1, 2, 9), (3, 9))]
    [[(1, 1), (2, 1)], [(2, 1)], [(1, 2)], []]
    """
    centre, leaves = star[0], set(star[1:])
    place = demand.places
    if demand.home in leaves:
        if centre not in place:
            return []
        later = (leaf for leaf in star[1:] if leaf != demand.home and place.get(leaf, -1) > place[centre])
        return [(place[leaf], 2 if len(leaves) == 2 else 1) for leaf in later]
    if not leaves <= place.keys():
        return []
    last = max(place[leaf] for leaf in leaves)
    late = range(last + 1, len(demand.partners))
    return [(number, 1) for number in late if centre in (demand.home, demand.partners[number])]


def violated_partner_stars(whole: Demanding, x: Floats, first: tuple[Floats, ...]) -> PartnerCuts:
    """Find partner stars that a point violates; `first` says how much each partner is the first."""
    found: dict[PartnerStar, None] = {}
    for demand, chosen in zip(whole.demands, first, strict=True):
        found |= dict.fromkeys((demand.name, star) for star in _violated(demand, chosen, x))
    return PartnerCuts(tuple(found), np.zeros(len(found)))


def _violated(demand: Demand, first: Floats, x: Floats) -> Iterator[Star]:
    """Try each partner as the centre, as a leaf beside the home, and as the last leaf around the home."""
    home, partners = demand.home, np.array(demand.partners)
    up_to = np.cumsum(first)
    for place, partner in enumerate(demand.partners):
        before = partners[:place]
        if first[place] > EPSILON and len(before):
            leaves, left = _grown(x, partner, before)
            if leaves and left + first[place] > 1 + EPSILON:
                yield (partner, *leaves)
            if partner != home:
                excess = x[before, home] + x[before, partner] - x[home, partner] + 2 * first[place]
                worst = int(excess.argmax())
                if excess[worst] > 1 + EPSILON:
                    yield (int(before[worst]), *sorted((home, partner)))
        if partner != home and x[home, partner] > EPSILON:
            leaves, left = _grown(x, home, partners[: place + 1])
            if partner in leaves and left > up_to[place] + EPSILON:
                yield (home, *leaves)


def _grown(x: Floats, centre: int, nodes: Labels) -> tuple[list[int], float]:
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
