"""The cutting-plane loop on one connected problem: relax, round, cut, fix; branch where that stalls.

Let z, the *threshold*, be the larger of the floor (`outcome`) and the value of the best clustering found.

Claim: at every moment, no clustering gains more than max(bound, z). Proof: each step keeps this true.
A relaxation bounds all clusterings of the problem it is made of. Fixing by reduced gains (`lp.decided`)
excludes only clusterings that gain no more than z, so a bound of what is left, raised to z, is one for all.
Branching on a pair: every clustering holds it together (contract) or apart (forbid), so the larger of
the two bounds is one for all. And z never falls. So the search may stop as soon as bound <= z.

Every problem that arises is again a problem, so all steps apply to it again.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import (
    NO_CUTS,
    Cuts,
    Floats,
    lifted,
)
from caspr.engines.native.partition.lp import Point, decided, relax
from caspr.engines.native.partition.outcome import (
    COLD,
    Gap,
    OnBound,
    OnFound,
    SearchOutcome,
    WarmStart,
    ignore_bound,
    ignore_found,
    shifted,
)
from caspr.engines.native.partition.problem import Bools, Labels, Problem, firsts, joined
from caspr.engines.native.partition.separation.pentagons import violated_pentagons
from caspr.engines.native.partition.separation.stars import violated_stars, violated_triangles
from caspr.engines.native.partition.separation.two_partitions import violated_two_partitions
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop

PROGRESS = 0.05
"""The share of the gap a round must close; one that closes less is followed by branching."""
THOROUGH_PROGRESS, THOROUGH_PATIENCE = 0.02, 2
"""The same for the thorough rounds: so many in a row must close less than this."""
THOROUGH_TOLERANCE = 0.05
"""The share of the gap by which a relaxation of a thorough round may be wrong."""
THOROUGH_EFFORT, BRANCH_EFFORT = 120_000_000, 30_000_000
"""A relaxation of a thorough round, or of a branch, that passes over more entries is left as it is."""
PATIENCE = 3
"""Where nothing is branched, stop after so many rounds without any progress."""
LIMIT = 8000
"""How many triangles a round adds at most."""
CROWD = 12
"""How many of them may lean on one pair."""
TOLERANCE = 0.2
"""The share of the gap by which a relaxation may be wrong."""
ROUGH = 2e-2
"""The relative error that is always small enough."""
CROWDED = 0.5
"""Where a larger share of pairs is forbidden (U, V), thorough rounds add pentagons instead of two-partitions.

There two-partitions are no better than lifted stars, and a small set of cuts with a rough relaxation serves
branches best.
"""
FEW = 4
"""Two-partitions are looked for once a round finds at most so many violated triangles for each node."""
SPARE_ROUNDS, GRACE = 100, 4
"""How many thorough rounds with little progress may pass while there are more, and how many with none."""
KICKS = 100
"""How often the best clustering is shaken before the first branching."""
SHRINKAGE = 0.1
"""The share of nodes that fixing must remove before everything starts again on the rest."""


class SubproblemSearch(Protocol):
    """The search that fixing and branching hand their smaller problems to."""

    def __call__(
        self,
        problem: Problem,
        watch: Watch,
        *,
        floor: int,
        start: WarmStart,
        on_bound: OnBound,
        on_found: OnFound,
    ) -> SearchOutcome:
        """Search a problem for a clustering above the floor."""


class CuttingPlanes(Gap[SearchOutcome]):
    """One run of the loop on one problem."""

    def __init__(
        self,
        problem: Problem,
        watch: Watch,
        floor: int,
        search: SubproblemSearch,
        on_bound: OnBound = ignore_bound,
        on_found: OnFound = ignore_found,
        start: WarmStart = COLD,
    ) -> None:
        nothing = SearchOutcome(np.arange(problem.size), 0, start.lowered(problem), floor)
        super().__init__(nothing, problem.step, on_bound)
        self.problem, self.watch, self.search, self.on_found = problem, watch, search, on_found
        self.slow, self.moved, self.thorough, self.spare_rounds = 0, True, False, SPARE_ROUNDS
        self.turn, self.first = 0, floor < 0
        self.crowded = is_crowded(problem)
        self.shaken = not self.first
        self.start, self.cuts = start, NO_CUTS
        self.near: Floats = (problem.gains > 0).astype(np.float64) if start.point is None else start.point
        self.relaxations = 0

    def run(self, labels: Labels) -> SearchOutcome:
        """Cut until the gap closes, the problem shrinks, nothing moves or time is up."""
        try:
            self._cut(labels)
        except KeyboardInterrupt:
            self.watch.stop = Stop.INTERRUPT
        bound = max(self.best.bound, self.best.value)
        return replace(self.best, bound=bound, cuts=self.cuts.only_stars() if self.first else NO_CUTS)

    def _cut(self, labels: Labels) -> None:
        self._offer(labels)
        cuts = self.start.cuts
        self.thorough = cuts.others > 0
        if self.start.point is None and not (self.crowded and len(cuts)):
            cuts = cuts | first_cuts(self.problem, self.watch)
        self.cuts = cuts
        while not self.closed and not self.watch.expired():
            point = self._relaxed(cuts)
            if point is None or self.closed:
                break
            new = self._violated(point)
            self.cuts = cuts = self._kept(point) | new
            together, apart = decided(point, self.threshold + self.step)
            groups = joined(self.problem.size, *np.nonzero(together))
            if self._separated(apart).breaks(groups):
                self.lower(self.threshold)
            elif groups.max() + 1 <= (1 - SHRINKAGE) * self.problem.size:
                self._descend(groups, apart, cuts, point.x)
            elif (self.stalled or not len(new)) and self._tried_harder():
                continue
            elif not len(new):
                self._descend(groups, apart, cuts, point.x)
            elif self.stalled:
                self._branch(groups, apart, point.x, cuts)
            else:
                self.problem = self._separated(apart)
                continue
            break

    def _violated(self, point: Point) -> Cuts:
        """Return cuts that a point violates; others than stars only where that is all that is left to try."""
        new = new_cuts(self.problem, point.x, self.watch, thorough=self.thorough and not self.crowded)
        if not self.thorough:
            return new
        if self.crowded:
            # Branches inherit pentagons; to look for more takes longer than it saves.
            if not self.first:
                return new
            self.turn += 1
            return new | violated_pentagons(self.problem, point.x, self.watch, turn=self.turn)
        if len(new.triangles) <= FEW * self.problem.size:
            return new | violated_two_partitions(self.problem, point.x, point.cuts, point.slack, self.watch)
        if self.first and self.moved and self.spare_rounds:
            # Triangles come first. While the bound waits for them, branching would be too early.
            self.spare_rounds, self.slow = self.spare_rounds - 1, -GRACE
        return new

    def _tried_harder(self) -> bool:
        """Before the first branching of all, look harder for a clustering, then for cuts; return whether."""
        if not self.shaken:
            self.shaken, before = True, self.best.value
            self._offer(heuristics.kick(self.problem, self.best.labels, self.watch, kicks=KICKS, seed=2))
            if self.best.value > before:
                return True
        if self.first and not self.thorough:
            self.thorough, self.slow = True, 0 if self.crowded else -GRACE
            return True
        return False

    def _relaxed(self, cuts: Cuts) -> Point | None:
        """Solve the relaxation, take its bound and round its point."""
        point = relax(
            self.problem,
            cuts,
            watch=self.watch,
            tolerance=self._tolerance,
            near=self.near,
            effort=self._effort,
            goal=self.threshold + self.step,
        )
        if point is not None:
            self.near = point.x
            gap = self.best.bound - self.threshold
            self.lower(point.bound(self.step))
            self._offer(rounded(self.problem, point.x, self.watch))
            progress = gap - (self.best.bound - self.threshold)
            self.moved = progress > 0
            # The first relaxation below another one may only reach what was known before.
            expected = self.relaxations > 0 or self.start.bound is None
            self.slow = self.slow + 1 if expected and progress <= self._pace * gap else 0
            self.relaxations += 1
        return point

    @property
    def stalled(self) -> bool:
        """Whether so many rounds in a row closed so little of the gap that branching is due."""
        return self.slow >= (THOROUGH_PATIENCE if self.first and self.thorough else 1)

    @property
    def _pace(self) -> float:
        """The share of the gap that a round should close."""
        return THOROUGH_PROGRESS if self.first and self.thorough else PROGRESS

    @property
    def _effort(self) -> int | None:
        """How long a relaxation may take."""
        if self.crowded and not self.first:
            return BRANCH_EFFORT
        return THOROUGH_EFFORT if self.thorough else None

    @property
    def _tolerance(self) -> float:
        """The relative error that does not matter yet."""
        gap = self.best.bound - self.threshold
        exact = self.thorough and (self.first or not self.crowded)
        return error_that_is_small_enough(gap, self.best.bound, self.step, exact=exact)

    def _offer(self, labels: Labels) -> None:
        value = self.problem.value(labels)
        if value is not None and value > self.best.value:
            self.best = replace(self.best, labels=labels, value=value)
            if value > self.floor:
                self.on_found(labels, value)

    def _kept(self, point: Point) -> Cuts:
        """Drop slack cuts, but only while the bound moves: dropping and finding again could cycle.

        Among pentagons, rounds must close some of the gap to go on: all that the bound does not need may go.
        """
        if self.crowded and self.thorough:
            return point.cuts.keep(point.multipliers > 0)
        if self.stalled:
            return point.cuts
        return point.cuts.keep((point.slack < 0.1) | (point.multipliers > 0))

    def _separated(self, apart: Bools) -> Problem:
        return self.problem.separate(apart)

    def _descend(self, groups: Labels, apart: Bools, cuts: Cuts, x: Floats) -> None:
        """Start again on what fixing left open; branch if it left everything open."""
        if groups.max() + 1 == self.problem.size:
            self._branch(groups, apart, x, cuts)
        else:
            self.lower(self._below(self._separated(apart), groups, cuts, self.lower))

    def _branch(self, groups: Labels, apart: Bools, x: Floats, cuts: Cuts) -> None:
        """Decide one pair both ways."""
        problem = self._separated(apart)
        first, second = undecided(problem, x)
        joined_groups = joined(
            problem.size, np.append(np.arange(problem.size), first), np.append(firsts(groups)[groups], second)
        )
        cut = np.zeros_like(apart)
        cut[first, second] = cut[second, first] = True
        together = self._below(problem, joined_groups, cuts, ignore_bound)
        apart_too = self._below(
            problem.separate(cut), groups, cuts, lambda bound: self.lower(max(together, bound))
        )
        self.lower(max(together, apart_too))

    def _below(self, problem: Problem, groups: Labels, cuts: Cuts, on_bound: OnBound) -> int:
        """Search with some nodes contracted; return a bound for all clusterings that hold them together."""
        if problem.breaks(groups):
            return self.threshold
        small, constant = problem.contract(groups)
        outcome = self.search(
            small,
            self.watch,
            floor=self.threshold - constant,
            start=WarmStart(cuts, self.near, self.best.bound).contracted(groups, small, constant),
            on_bound=shifted(on_bound, constant),
            on_found=lambda labels, _: self._offer(labels[groups]),
        )
        bound = max(outcome.bound + constant, self.threshold)
        self._offer(outcome.labels[groups])
        return bound


def error_that_is_small_enough(gap: int, bound: int, step: int, *, exact: bool) -> float:
    """Return the relative error of a relaxation that does not matter yet, beside the gap to be closed."""
    share = THOROUGH_TOLERANCE if exact else TOLERANCE
    return min(max(share * gap, 0.1 * step) / max(1, bound), ROUGH)


def is_crowded(problem: Problem) -> bool:
    """Return whether most pairs are forbidden."""
    return bool(problem.forbidden.mean() > CROWDED)


def undecided(problem: Problem, x: Floats) -> tuple[int, int]:
    """Choose the pair to branch on: far from decided itself, and so is much of what its nodes gain.

    Where most pairs are forbidden, pairs that are rather together come first: kept apart, they take more.
    """
    unclear = np.minimum(x, 1 - x)
    around = (unclear * np.maximum(problem.gains, 0)).sum(axis=1)
    chance = x * x * (1 - x) if is_crowded(problem) else unclear
    stake = chance * (1 + np.abs(problem.gains) + around[:, None] + around[None, :])
    stake[problem.forbidden] = -1.0
    np.fill_diagonal(stake, -1.0)
    first, second = divmod(int(stake.argmax()), problem.size)
    if stake[first, second] <= 1e-3:
        open_pairs = np.where(problem.forbidden, -1, problem.gains)
        np.fill_diagonal(open_pairs, -1)
        first, second = divmod(int(open_pairs.argmax()), problem.size)
    return first, second


def rounded(problem: Problem, x: Floats, watch: Watch | None = None) -> Labels:
    """Turn a fractional point into a clustering and polish it."""
    pull = np.rint((x - 0.5) * 1000).astype(np.int64)
    np.fill_diagonal(pull, 0)
    return heuristics.polish(problem, heuristics.greedy(Problem(pull, problem.forbidden), watch=watch), watch)


def first_cuts(problem: Problem, watch: Watch | None = None) -> Cuts:
    """Return triangles that the point 'every positive pair together' violates, heavy sides first."""
    heaviest = max(1, int(problem.gains.max()))
    x = np.where(problem.gains > 0, 0.9 + 0.1 * problem.gains / heaviest, 0.0)
    return lifted(violated_triangles(problem, x, watch, limit=LIMIT, crowd=CROWD), problem, watch)


def new_cuts(problem: Problem, x: Floats, watch: Watch | None = None, *, thorough: bool = False) -> Cuts:
    """Return triangles and stars that a point violates."""
    triangles = violated_triangles(problem, x, watch, limit=LIMIT, crowd=CROWD)
    stars = violated_stars(problem, x, watch, thorough=thorough)
    return lifted(triangles | stars, problem, watch)


def relax_at_root(problem: Problem, value: int, watch: Watch) -> tuple[Floats, Bools, Bools]:
    """Cut until the bound meets the optimum or stalls; return the point and what holds in all optima."""
    cuts, bounds = first_cuts(problem, watch), [problem.ceiling]
    nothing = np.zeros((problem.size, problem.size), dtype=bool)
    x: Floats = np.full((problem.size, problem.size), 0.5)
    together, apart = nothing, nothing
    while bounds[-1] > value and not watch.expired():
        point = relax(problem, cuts, watch=watch, near=x)
        if point is None:
            break
        x = point.x
        more, less = decided(point, value)
        together, apart = together | more, apart | less
        bounds.append(point.bound(problem.step))
        new = new_cuts(problem, x, watch)
        stalled = len(bounds) > PATIENCE and bounds[-1 - PATIENCE] == bounds[-1]
        if not len(new) or stalled:
            break
        cuts = point.cuts | new
    return x, together, apart
