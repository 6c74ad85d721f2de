"""Where a search with demands starts, and to whom it reports."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts
from caspr.engines.native.partition.outcome import (
    NO_FLOOR,
    OnBound,
    OnFound,
    ignore_bound,
    ignore_found,
    shifted,
)
from caspr.engines.native.partition.partners.demand import Demanding
from caspr.engines.native.partition.partners.outcome import PartnerOutcome
from caspr.engines.native.partition.partners.partner_stars import NO_PARTNER_CUTS, PartnerCuts
from caspr.engines.native.partition.partners.relaxation import Nearby
from caspr.engines.native.partition.problem import Labels
from caspr.engines.native.partition.search import TINY
from caspr.engines.native.partition.watch import Watch


@dataclass(frozen=True)
class Start:
    """What a search is given beside its problem."""

    floor: int = NO_FLOOR
    """The value that a clustering must exceed to matter (`partition.outcome`)."""
    cuts: Cuts = NO_CUTS
    """Stars to begin with."""
    partner_cuts: PartnerCuts = NO_PARTNER_CUTS
    """Partner stars to begin with."""
    on_bound: OnBound = ignore_bound
    """Called with every better bound."""
    on_found: OnFound = ignore_found
    """Called with every better clustering that meets the demands, as it is found."""
    known: PartnerOutcome | None = None
    """A clustering from heuristics, if there is one already."""
    ceiling: int | None = None
    """No clustering that meets the demands and exceeds the floor gains more, if that is known."""
    near: Nearby | None = None
    """Where the first relaxation starts, if that is known."""
    rough: bool = False
    """Whether only a clustering above the floor is wanted, if one is found without much effort."""
    tiny: int = TINY
    """Problems of up to so many nodes are searched exhaustively."""

    @property
    def bounded(self) -> bool:
        """Whether there is a floor: whoever gave it has looked for clusterings before."""
        return self.floor > NO_FLOOR // 2

    def within(self, places: Labels, small: Demanding, constant: int) -> "Start":
        """Express it in the nodes of a smaller problem, outside of which a constant is gained.

        `places` says which node each one is there; -1 for those that are not. What is known, where to
        start and who is interested in clusterings stays outside.
        """
        return replace(
            self,
            known=None,
            ceiling=None,
            near=None,
            on_found=ignore_found,
            floor=self.floor - constant,
            cuts=self.cuts.within(places, small.problem),
            partner_cuts=self.partner_cuts.rename(places, small),
            on_bound=shifted(self.on_bound, constant),
        )


NOTHING = Start()
"""No floor, no cuts, nobody to report to."""
DemandingSearch = Callable[[Demanding, Watch, Start], PartnerOutcome]
"""The search that fixing and branching hand their smaller problems to."""
