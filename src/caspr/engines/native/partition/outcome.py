"""Outcomes: what a search knows about a problem. Value and bound are always both there.

A search tells every better bound it proves while it runs, so that nothing is lost if it is interrupted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from caspr.engines.native.partition.cuts import NONE, Cuts
from caspr.engines.native.partition.problem import Labels


@dataclass(frozen=True)
class SearchOutcome:
    """The best clustering found and what is proven about it."""

    labels: Labels
    """The best clustering found."""
    value: int
    """What it gains."""
    bound: int
    """No clustering gains more than this or the floor that was given."""
    cuts: Cuts = field(default=NONE, compare=False, repr=False)
    """The inequalities in use when the first relaxation was left: where a similar problem may start."""

    @property
    def proven(self) -> bool:
        """Whether the clustering is an optimum, if no floor was given."""
        return self.bound <= self.value


Tell = Callable[[int], None]
"""Somebody who wants to hear of every bound: that no clustering of a problem gains more."""


def unheard(bound: int) -> None:
    """Ignore all bounds."""


def adding(tell: Tell, constant: int) -> Tell:
    """Return who hears the bounds of a problem that gains so much less."""
    return lambda bound: tell(bound + constant)
