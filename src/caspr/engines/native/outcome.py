"""Outcomes: what a search knows about a problem. Value and bound are always both there."""

from dataclasses import dataclass

from caspr.engines.native.problem import Labels


@dataclass(frozen=True)
class Outcome:
    """The best clustering found and what is proven about it."""

    labels: Labels
    """The best clustering found."""
    value: int
    """What it gains."""
    bound: int
    """No clustering gains more than this or the floor that was given."""

    @property
    def proven(self) -> bool:
        """Whether the clustering is an optimum, if no floor was given."""
        return self.bound <= self.value
