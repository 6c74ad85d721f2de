"""Outcomes: what a search knows about a problem in the end, and what it may know at its start.

Value and bound are always both there. Where no clustering is known that meets all demands, the value is
`UNMET`; where it is proven that there is none, the bound is.

A search may be given a *floor*: a value that was reached elsewhere. It may then throw away all clusterings
that do not exceed the floor, and its bound holds for the others only: no clustering gains more than the
larger of bound and floor. An outcome keeps the floor, so that `proven` means the same to every caller.

Fixing and branching make smaller problems of one whose relaxation is solved. In the nodes of a smaller one,
its inequalities still hold, its point is near to the new one, and its bound is still a bound: a `Start`.
Starting there takes a few steps, where starting from nothing would repeat all rounds.

A search calls `OnBound` with every better bound while it runs, and `OnFound` with every better clustering, so
that none is lost by an interrupt and all are shown at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts
from caspr.engines.native.partition.lp import Nearby
from caspr.engines.native.partition.problem import UNMET, Labels, Problem, firsts
from caspr.engines.native.partition.statements import Proof

NO_FLOOR = UNMET
"""The floor where there is none."""
OnBound = Callable[[int], None]
"""Called with every improved upper bound."""
OnFound = Callable[[Labels, int], None]
"""Called with every better clustering and its value."""


def ignore_bound(bound: int) -> None:
    """Ignore all bounds."""


def ignore_found(labels: Labels, value: int) -> None:
    """Ignore all clusterings."""


def shifted(on_bound: OnBound, constant: int) -> OnBound:
    """Report bounds of a contracted problem as bounds of the original one, which gains a constant more."""
    return lambda bound: on_bound(bound + constant)


def raised(value: int, constant: int) -> int:
    """Add a constant to a value or bound; `UNMET` stays `UNMET`, whatever was added to it before.

    Constants and values are at most a mass each (`problem.LARGEST_MASS`), so half of `UNMET` tells them
    apart.
    """
    return UNMET if value < UNMET // 2 else value + constant


@dataclass(frozen=True)
class SearchOutcome:
    """The best clustering found and what is proven about it."""

    labels: Labels
    value: int
    bound: int
    """No clustering gains more than the larger of this and the floor."""
    floor: int = NO_FLOOR
    """The floor that the search was given."""
    cuts: Cuts = field(default=NO_CUTS, compare=False, repr=False)
    """The inequalities in use when the first relaxation was left: where a similar problem may start."""
    proof: Proof | None = field(default=None, compare=False, repr=False)
    """Why no clustering gains more than the larger of bound and floor, if that was to be recorded."""

    @property
    def proven(self) -> bool:
        """Whether the clustering is proven to be an optimum: neither bound nor floor exceeds its value."""
        return max(self.bound, self.floor) <= self.value


@dataclass(frozen=True)
class Start:
    """What a search is given beside its problem; all of it may be missing."""

    floor: int = NO_FLOOR
    """The value that a clustering must exceed to matter."""
    cuts: Cuts = NO_CUTS
    """Inequalities to begin with, and the multipliers that they had."""
    near: Nearby | None = None
    """The point of the relaxation with these inequalities."""
    bound: int | None = None
    """No clustering gains more than the larger of this and the floor, if that is known."""
    known: Labels | None = None
    """A clustering from heuristics.

    It stands for pieces that are not searched yet in the clusterings reported, and for those that a limit
    leaves worse; without demands it has no influence on a piece that is searched to the end.
    """
    on_bound: OnBound = ignore_bound
    on_found: OnFound = ignore_found
    rough: bool = False
    """Whether only a clustering above the floor is wanted, if one is found without much effort."""
    record: bool = False
    """Whether a proof is to be recorded."""
    names: Labels | None = None
    """The numbers that the nodes have in it, if not their own."""

    def is_first(self, problem: Problem) -> bool:
        """Return whether nobody has looked for clusterings before: there is no floor, or it says nothing.

        Without demands, all nodes alone gain 0.
        """
        return self.floor < (NO_FLOOR // 2 if problem.demands else 0)

    def lowered(self, problem: Problem) -> int:
        """Return the best bound there is for a problem: clusterings gain multiples of its step."""
        if self.bound is None:
            return problem.ceiling
        return min(problem.ceiling, self.bound // problem.step * problem.step)

    def contracted(self, groups: Labels, small: Problem, constant: int) -> "Start":
        """Express it in the nodes of a contracted problem, in which a constant less is gained."""
        return replace(
            self,
            floor=self.floor - constant,
            cuts=self.cuts.rename(groups, small),
            near=None if self.near is None else self.near.contract(groups),
            bound=None if self.bound is None else self.bound - constant,
            on_bound=shifted(self.on_bound, constant),
            names=None if self.names is None else self.names[firsts(groups)],
        )

    def within(self, places: Labels, piece: Problem, bound: int | None) -> "Start":
        """Express cuts and point in the nodes of a piece, for which there is a bound.

        `places` says which node each one is there, -1 for none.
        """
        if not len(self.cuts) and self.near is None:
            return replace(self, bound=bound)
        near = None if self.near is None else self.near.within(places)
        return replace(self, cuts=self.cuts.within(places, piece), near=near, bound=bound)


COLD = Start()
