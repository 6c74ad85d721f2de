"""Outcomes: what a search knows about a problem. Value and bound are always both there."""

from dataclasses import dataclass, field

from caspr.engines.native.problem import Labels
from caspr.engines.native.stars import NONE, Cuts


@dataclass(frozen=True)
class Outcome:
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
