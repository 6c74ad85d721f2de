"""Outcomes of problems with demands. There may be no clustering that meets them all, or none that is known.

The value of an outcome is `UNMET` where no such clustering was found, and its bound is `UNMET` where it is
proven that there is none.
"""

from dataclasses import dataclass, field

import numpy as np

from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.outcome import NO_FLOOR, SearchOutcome
from caspr.engines.native.partition.partners.demand import Demanding
from caspr.engines.native.partition.partners.partner_stars import NO_PARTNER_CUTS, PartnerCuts
from caspr.engines.native.partition.problem import Labels, firsts, renumber

UNMET = NO_FLOOR
"""The value of a clustering that does not meet the demands: less than that of any other."""


def raised(value: int, constant: int) -> int:
    """Add a constant to a value or bound; `UNMET` stays `UNMET`, whatever was added to it before.

    Constants and values are at most a mass each (`problem.LARGEST_MASS`), so half of `UNMET` tells them
    apart.
    """
    return UNMET if value < UNMET // 2 else value + constant


@dataclass(frozen=True)
class PartnerOutcome(SearchOutcome):
    """The best clustering found that meets the demands, and what is proven about it."""

    partner_cuts: PartnerCuts = field(default=NO_PARTNER_CUTS, compare=False, repr=False)
    """The partner stars in use when the first relaxation was left."""

    def lift(self, groups: Labels, constant: int, floor: int) -> "PartnerOutcome":
        """Turn the outcome of a contracted problem, searched with a floor, into one of the problem itself."""
        names = firsts(groups)
        return PartnerOutcome(
            self.labels[groups],
            raised(self.value, constant),
            raised(self.bound, constant),
            floor,
            self.cuts.named(names),
            self.partner_cuts.named(names),
        )

    def within(self, nodes: Labels, small: Demanding) -> "PartnerOutcome | None":
        """Return the same clustering of a smaller problem, whose nodes these are; `None` if it is none."""
        labels = renumber(self.labels[nodes])
        value = small.value(labels)
        return None if value is None else PartnerOutcome(labels, value, max(small.problem.ceiling, value))


def unmet(size: int, floor: int) -> PartnerOutcome:
    """Return the outcome of a problem of some nodes whose demands cannot be met."""
    return PartnerOutcome(np.arange(size), UNMET, UNMET, floor, NO_CUTS)
