"""Demands: nodes that must share their cluster with a partner, and what each partner costs.

A demand names a node, its *home*, and partners in order of preference. A clustering meets it if the cluster
of the home holds a partner; the first one there, in that order, is the *first partner*, and its link is
*used* at a cost, which is 0 for most. A link that two demands use (each home the first partner of the
other) is paid once. So a clustering gains what its pairs gain, minus the costs of the links used.

Contracting puts partners into larger nodes: the first one in a node stands for all. A partner inside the home
itself is always there, so partners after it are never first; if it costs nothing, the demand is met for good.

*Fewer partners.* Let a search know that every clustering worth finding has its first partner among some of
the partners, and let the demand *forget* the others. Such a clustering keeps its first partner and its
value. Any other clustering must not gain more than before. If its first partner was forgotten, a later one
is now the first, whose link costs no less: costs rise along the order. But that link may be paid already by
another demand. So a partner whose link costs something is kept if a later one that is kept shares its link.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd

import numpy as np

from caspr.engines.native.partition.problem import Bools, Labels, Problem

Link = tuple[int, int]
"""A name for the link between a home and a partner, the same from both ends."""


@dataclass(frozen=True)
class Demand:
    """A node that must share its cluster with one of some partners."""

    name: int
    """The node it was first made for: what tells demands apart, whatever is contracted."""
    home: int
    """The node."""
    partners: tuple[int, ...]
    """The nodes that would do, the preferred ones first."""
    costs: tuple[int, ...]
    """What the link with each costs, never falling."""
    links: tuple[Link, ...]
    """The link with each: two demands may use one and the same."""

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each partner in their order."""
        return {partner: place for place, partner in enumerate(self.partners)}

    @property
    def met(self) -> bool:
        """Whether every clustering meets it at no cost."""
        return (self.home, 0) in zip(self.partners, self.costs, strict=True)

    @property
    def forced(self) -> bool:
        """Whether the home must be with a certain node."""
        return len(self.partners) == 1 and self.partners[0] != self.home

    def keep(self, chosen: Sequence[bool] | Bools) -> "Demand":
        """Keep only some partners."""
        places = [place for place, kept in enumerate(chosen) if kept]
        if len(places) == len(self.partners):
            return self
        return replace(
            self,
            partners=tuple(self.partners[place] for place in places),
            costs=tuple(self.costs[place] for place in places),
            links=tuple(self.links[place] for place in places),
        )

    def rename(self, labels: Labels) -> "Demand":
        """Express the demand in the nodes of a contracted problem."""
        home, partners = int(labels[self.home]), tuple(labels[list(self.partners)].tolist())
        kept, seen = [], set[int]()
        for partner in partners:
            kept.append(partner not in seen and home not in seen)
            seen.add(partner)
        return replace(self, home=home, partners=partners).keep(kept)

    def allowed(self, problem: Problem) -> "Demand":
        """Forget the partners that the home forbids."""
        return self.keep(~problem.forbidden[self.home, list(self.partners)])


Demands = tuple[Demand, ...]
"""All demands on a problem."""


@dataclass(frozen=True)
class Demanding:
    """A problem with demands."""

    problem: Problem
    demands: Demands

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.problem.size

    @property
    def step(self) -> int:
        """The greatest common divisor of all gains and costs: values can only differ by its multiples."""
        costs = (cost for demand in self.demands for cost in demand.costs)
        return gcd(int(np.gcd.reduce(self.problem.gains, axis=None)), *costs) or 1

    @property
    def hopeless(self) -> bool:
        """Whether some demand has no partner left, so that no clustering meets it."""
        return any(not demand.partners for demand in self.demands)

    @property
    def adjacent(self) -> Bools:
        """Which pairs may not be solved apart: those that gain, and a home with its partners."""
        adjacent: Bools = self.problem.gains > 0
        for demand in self.demands:
            others = [partner for partner in demand.partners if partner != demand.home]
            adjacent[demand.home, others] = adjacent[others, demand.home] = True
        return adjacent

    def value(self, labels: Labels) -> int | None:
        """Return what a clustering gains, or `None` if it holds a forbidden pair or leaves a demand unmet."""
        gained = self.problem.value(labels)
        if gained is None:
            return None
        used: dict[Link, int] = {}
        for demand in self.demands:
            together = np.flatnonzero(labels[list(demand.partners)] == labels[demand.home])
            if not len(together):
                return None
            used[demand.links[together[0]]] = demand.costs[together[0]]
        return gained - sum(used.values())

    def contract(self, labels: Labels) -> "tuple[Demanding, int]":
        """Make each group of equally labelled nodes one node; return also the constant gained inside.

        Demands that are met by it are gone.
        """
        problem, constant = self.problem.contract(labels)
        demands = (demand.rename(labels).allowed(problem) for demand in self.demands)
        return Demanding(problem, tuple(demand for demand in demands if not demand.met)), constant

    def separate(self, apart: Bools) -> "Demanding":
        """Forbid further pairs."""
        problem = self.problem.separate(apart)
        return Demanding(problem, tuple(demand.allowed(problem) for demand in self.demands))

    @property
    def shared(self) -> dict[Link, int]:
        """The links that cost something and that two demands could use, and their costs."""
        priced = [
            (link, cost)
            for demand in self.demands
            for link, cost in zip(demand.links, demand.costs, strict=True)
            if cost
        ]
        ends = Counter(link for link, _ in priced)
        return {link: cost for link, cost in priced if ends[link] > 1}

    def forget(self, first: Sequence[Bools]) -> "Demanding":
        """Keep, for every demand, the partners that may be `first` in a clustering worth finding."""
        shared = self.shared
        demands = []
        for demand, chosen in zip(self.demands, first, strict=True):
            kept, shares = chosen.tolist(), False
            for place in reversed(range(len(kept))):
                kept[place] = kept[place] or (shares and demand.costs[place] > 0)
                shares |= kept[place] and demand.links[place] in shared
            demands.append(demand.keep(kept))
        return Demanding(self.problem, tuple(demands))

    def restrict(self, nodes: Labels) -> "Demanding":
        """Keep only some nodes, in the order given, with the demands of their homes and all partners."""
        place = np.full(self.problem.size, -1, dtype=np.intp)
        place[nodes] = np.arange(len(nodes))
        demands = (
            replace(one, home=int(place[one.home]), partners=tuple(place[list(one.partners)].tolist()))
            for one in self.demands
            if place[one.home] >= 0
        )
        return Demanding(self.problem.restrict(nodes), tuple(demands))
