"""The cutting-plane loop on one connected problem with demands: relax, round, cut, fix, branch.

As in `cutting_planes`, let z be the larger of the floor and of the value of the best clustering found.

Claim: at every moment, no clustering that meets the demands gains more than max(bound, z). Proof: a
relaxation bounds them all (`relaxation`). Fixing by reduced gains excludes only clusterings that gain no
more than z; that holds for pairs, and for partners that are not the first one of a demand in any clustering
that gains more, which the demand may then forget (`demand`). A pair is decided both ways, so the larger of
both bounds holds. A smaller problem begins with the bound of the larger one: its clusterings are among those
that this bound is about.

No reduction of `reductions` is applied while there are demands: they move nodes to other clusters, which a
partner that is needed may not do. Fixing takes their place, and once no demand is left, they apply again.
"""

from dataclasses import replace

import numpy as np

from caspr.engines.native.partition.cuts import NO_CUTS
from caspr.engines.native.partition.cutting_planes import (
    PROGRESS,
    SHRINKAGE,
    error_that_is_small_enough,
    first_cuts,
    new_cuts,
    undecided,
)
from caspr.engines.native.partition.lp import decided
from caspr.engines.native.partition.outcome import Gap, OnBound, ignore_bound
from caspr.engines.native.partition.partners.demand import Demanding
from caspr.engines.native.partition.partners.outcome import UNMET, PartnerOutcome, raised
from caspr.engines.native.partition.partners.partner_stars import (
    NO_PARTNER_CUTS,
    violated_partner_stars,
)
from caspr.engines.native.partition.partners.relaxation import (
    Nearby,
    PartnerPoint,
    relax_demanding,
    undecided_partners,
)
from caspr.engines.native.partition.partners.rounding import between, round_point
from caspr.engines.native.partition.partners.start import DemandingSearch, Start
from caspr.engines.native.partition.problem import Bools, Labels, joined
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop

UNCLEAR = 0.02
"""A pair is not worth branching on if it is nearer than this to being decided."""


NEAR = 0.05
"""A gap below this share of the bound is worth looking for a better clustering."""
ROUGH_ROUNDS = 6
"""How many relaxations a rough search solves."""


class DemandPlanes(Gap[PartnerOutcome]):
    """One run of the loop on one problem with demands."""

    def __init__(self, whole: Demanding, watch: Watch, start: Start, search: DemandingSearch) -> None:
        bound = whole.problem.ceiling if start.ceiling is None else min(whole.problem.ceiling, start.ceiling)
        nothing = PartnerOutcome(np.arange(whole.size), UNMET, bound, start.floor)
        super().__init__(nothing, whole.step, start.on_bound)
        self.whole, self.watch, self.start, self.search = whole, watch, start, search
        self.original = whole
        self.cuts, self.partner_cuts = NO_CUTS, NO_PARTNER_CUTS
        self.near = start.near
        self.rounds, self.stalled = 0, False

    def run(self, labels: Labels) -> PartnerOutcome:
        """Cut until the gap closes, the problem shrinks, nothing moves or time is up."""
        try:
            self._cut(labels)
        except KeyboardInterrupt:
            self.watch.stop = Stop.INTERRUPT
        bound = raised(max(self.best.bound, self.best.value), 0)
        return replace(self.best, bound=bound, cuts=self.cuts, partner_cuts=self.partner_cuts)

    def _cut(self, labels: Labels) -> None:
        self._offer(labels)
        self.cuts = self.start.cuts | first_cuts(self.whole.problem, self.watch)
        self.partner_cuts = self.start.partner_cuts
        while not self.closed and not self.watch.expired():
            point = self._relaxed()
            if point is None or self.closed:
                break
            new = self._separated(point)
            together, narrowed = self._fixed(point)
            groups = joined(self.whole.size, *np.nonzero(together))
            if narrowed.hopeless or narrowed.problem.breaks(groups):
                self.lower(self.threshold)
                break
            if self.start.rough and (not new or self.rounds == ROUGH_ROUNDS):
                break
            if self.stalled or not new or groups.max() + 1 <= (1 - SHRINKAGE) * self.whole.size:
                self._descend(narrowed, groups, point)
                break
            self.whole = narrowed

    def _relaxed(self) -> PartnerPoint | None:
        """Solve the relaxation, take its bound and round its point."""
        gap = self.best.bound - self.threshold
        tolerance = error_that_is_small_enough(gap, self.best.bound, self.step, exact=False)
        point = relax_demanding(
            self.whole,
            self.cuts,
            self.partner_cuts,
            watch=self.watch,
            tolerance=tolerance,
            near=self.near,
        )
        if point is not None:
            self.near = Nearby.of(self.whole, point)
            self.lower(point.bound(self.step))
            if self._is_worth_rounding(gap):
                self._offer(round_point(self.whole, point, self.watch))
                self._look_between(point)
            # The first relaxation below another one may only reach what was known before.
            self.stalled = self._is_slow(gap) and (self.rounds > 0 or self.start.ceiling is None)
            self.rounds += 1
        return point

    def _is_slow(self, before: int) -> bool:
        """Return whether the gap is hardly smaller than before."""
        return before - (self.best.bound - self.threshold) <= PROGRESS * before

    def _is_worth_rounding(self, before: int) -> bool:
        """Return whether the point is near to clusterings: the gap is small, or as small as it gets."""
        small = self.best.bound - self.threshold <= NEAR * abs(self.best.bound)
        return small or self.best.value == UNMET or self._is_slow(before)

    def _look_between(self, point: PartnerPoint) -> None:
        """Search among the clusterings that agree with the best one where that agrees with the point."""
        if self.closed or self.start.rough or self.best.value == UNMET:
            return
        found = between(self.original, self.best.labels, point.x)
        if found is not None:
            small, groups, constant = found
            start = Start(floor=self.best.value - constant, rough=True, tiny=self.start.tiny)
            self._offer(self.search(small, self.watch, start).labels[groups])

    def _separated(self, point: PartnerPoint) -> bool:
        """Add cuts that the point violates and drop slack ones; return whether any is new."""
        kept = np.ones(len(point.slack), dtype=bool)
        if not self.stalled:
            kept = (point.slack < 0.1) | (point.multipliers[: len(kept)] > 0)
        new = new_cuts(self.whole.problem, point.x, self.watch)
        more = violated_partner_stars(self.whole, point.x, point.first)
        self.cuts = point.cuts.keep(kept[: len(point.cuts)]) | new
        self.partner_cuts = point.partner_cuts.keep(kept[len(point.cuts) :]) | more
        return bool(len(new) or len(more))

    def _fixed(self, point: PartnerPoint) -> tuple[Bools, Demanding]:
        """Return what must be together to exceed the threshold, and what is left of the problem."""
        goal = self.threshold + self.step
        together, apart = decided(point, goal)
        return together, self.whole.forget(undecided_partners(point, goal)).separate(apart)

    def _offer(self, labels: Labels | None) -> None:
        value = None if labels is None else self.original.value(labels)
        if labels is not None and value is not None and value > self.best.value:
            self.best = replace(self.best, labels=labels, value=value)
            if value > self.floor:
                self.start.on_found(labels, value)

    def _descend(self, narrowed: Demanding, groups: Labels, point: PartnerPoint) -> None:
        """Start again on what fixing left open; branch if it left everything open."""
        if groups.max() + 1 < narrowed.size or any(demand.forced for demand in narrowed.demands):
            self.lower(self._below(narrowed, groups, self.lower))
            return
        first, second = undecided_pair(narrowed, point)
        pair = joined(narrowed.size, np.array([first]), np.array([second]))
        cut = np.zeros_like(narrowed.problem.forbidden)
        cut[first, second] = cut[second, first] = True
        together = self._below(narrowed, pair, ignore_bound)
        apart = self._below(narrowed.separate(cut), groups, lambda bound: self.lower(max(together, bound)))
        self.lower(max(together, apart))

    def _below(self, whole: Demanding, groups: Labels, on_bound: OnBound) -> int:
        """Search with some nodes contracted; return a bound for all clusterings that hold them together."""
        if whole.problem.breaks(groups):
            return self.threshold
        small, constant = whole.contract(groups)
        known = replace(
            self.start,
            floor=self.threshold,
            cuts=self.cuts,
            partner_cuts=self.partner_cuts,
            on_bound=on_bound,
        )
        inside = replace(
            known.within(groups, small, constant),
            ceiling=self.best.bound - constant,
            near=None if self.near is None else self.near.contract(groups),
            on_found=lambda labels, _: self._offer(labels[groups]),
        )
        outcome = self.search(small, self.watch, inside)
        self._offer(outcome.labels[groups])
        return max(raised(outcome.bound, constant), self.threshold)


def undecided_pair(whole: Demanding, point: PartnerPoint) -> tuple[int, int]:
    """Choose the pair to branch on: a home and a partner that are far from decided, or any other pair."""
    pairs = [(demand.home, one) for demand in whole.demands for one in demand.partners if one != demand.home]
    if pairs:
        x = point.x[tuple(np.array(pairs).T)]
        unclear = np.minimum(x, 1 - x)
        if unclear.max() > UNCLEAR:
            return pairs[int(unclear.argmax())]
    return undecided(whole.problem, point.x)
