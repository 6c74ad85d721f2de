"""Outcomes: what a search knows about a problem in the end, and what it may know at its start.

Value and bound are always both there.

A search may be given a *floor*: a value that was reached elsewhere. It may then throw away all clusterings
that do not exceed the floor, and its bound holds for the others only: no clustering gains more than the
larger of bound and floor. An outcome keeps the floor, so that `proven` means the same to every caller.

Fixing and branching make smaller problems of one whose relaxation is solved. In the nodes of a smaller one,
its inequalities still hold, its point is near to the new one, and its bound is still a bound: a `WarmStart`.
Beginning there takes a few steps, where beginning anew would repeat all rounds.

A search calls `OnBound` with every better bound while it runs, and `OnFound` with every better clustering, so
that none is lost by an interrupt and all are shown at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts, Floats
from caspr.engines.native.partition.problem import Labels, Problem, firsts

NO_FLOOR = -(1 << 62)
"""Less than any clustering gains: gains sum up to less than this (`problem.LARGEST_MASS`)."""


@dataclass(frozen=True)
class SearchOutcome:
    """The best clustering found and what is proven about it."""

    labels: Labels
    """The best clustering found."""
    value: int
    """What it gains."""
    bound: int
    """No clustering gains more than the larger of this and the floor."""
    floor: int = NO_FLOOR
    """The floor that the search was given."""
    cuts: Cuts = field(default=NO_CUTS, compare=False, repr=False)
    """The inequalities in use when the first relaxation was left: where a similar problem may start."""

    @property
    def proven(self) -> bool:
        """Whether the clustering is proven to be an optimum: neither bound nor floor exceeds its value."""
        return max(self.bound, self.floor) <= self.value


@dataclass(frozen=True)
class WarmStart:
    """Where a search starts; all of it may be missing."""

    cuts: Cuts = NO_CUTS
    """Inequalities to begin with, and the multipliers that they had."""
    point: Floats | None = None
    """How much each pair was together in the relaxation with these inequalities."""
    bound: int | None = None
    """No clustering gains more than the larger of this and the floor of the search."""

    def contracted(self, groups: Labels, small: Problem, constant: int) -> "WarmStart":
        """Express it in the nodes of a contracted problem, in which a constant less is gained."""
        return WarmStart(
            self.cuts.rename(groups, small),
            _of_first_nodes(self.point, groups),
            None if self.bound is None else self.bound - constant,
        )

    def within(self, places: Labels, problem: Problem, bound: int | None) -> "WarmStart":
        """Express it in the nodes of a piece: `places` says which node each one is there, -1 for none."""
        if not len(self.cuts) and self.point is None:
            return WarmStart(bound=bound)
        inside = np.flatnonzero(places >= 0)
        point = None if self.point is None else self.point[np.ix_(inside, inside)]
        return WarmStart(self.cuts.within(places, problem), _of_first_nodes(point, places[inside]), bound)

    def lowered(self, problem: Problem) -> int:
        """Return the best bound there is for a problem: clusterings gain multiples of its step."""
        if self.bound is None:
            return problem.ceiling
        return min(problem.ceiling, self.bound // problem.step * problem.step)


def _of_first_nodes(point: Floats | None, groups: Labels) -> Floats | None:
    """Express a point in groups of nodes, each by its first one."""
    if point is None:
        return None
    chosen = firsts(groups)
    return point[np.ix_(chosen, chosen)]


COLD = WarmStart()
"""Nothing to begin with."""


OnBound = Callable[[int], None]
"""Called with every improved upper bound."""


def ignore_bound(bound: int) -> None:
    """Ignore all bounds."""


OnFound = Callable[[Labels, int], None]
"""Called with every better clustering and its value."""


def ignore_found(labels: Labels, value: int) -> None:
    """Ignore all clusterings."""


def shifted(on_bound: OnBound, constant: int) -> OnBound:
    """Report bounds of a contracted problem as bounds of the original one, which gains a constant more."""
    return lambda bound: on_bound(bound + constant)


Found = TypeVar("Found", bound=SearchOutcome)


class Gap(Generic[Found]):
    """What a cutting-plane loop knows of its problem: the best clustering and the bound."""

    def __init__(self, best: Found, step: int, on_bound: OnBound) -> None:
        self.best, self.step, self.on_bound = best, step, on_bound
        # Values are multiples of the step: what exceeds the threshold exceeds it by a step at least.
        self.floor = best.floor // step * step

    @property
    def threshold(self) -> int:
        """The value a clustering must exceed to matter."""
        return max(self.best.value, self.floor)

    @property
    def closed(self) -> bool:
        """Whether nothing better is left to find."""
        return self.best.bound <= self.threshold

    def lower(self, bound: int) -> None:
        """Keep a bound, if it is better, and report it."""
        if bound < self.best.bound:
            self.best = replace(self.best, bound=bound)
            self.on_bound(max(bound, self.threshold))
