"""The exact search on a problem with demands, possibly none: reduce, take apart, then cut, fix and branch.

`search` reduces a problem and takes it apart (`splitting`). Pieces up to `TINY` nodes are tried exhaustively,
larger ones go through one loop, `CuttingPlanes`: relax, round, cut, fix; branch where that stalls. Every
problem that arises is again a problem, so all steps apply to it again.

Let z, the *threshold*, be the larger of the floor (`outcome`) and the value of the best clustering found.

Claim: at every moment, no clustering that meets the demands gains more than max(bound, z). Proof: each step
keeps this true. A relaxation bounds all clusterings of the problem it is made of (`lp`). Fixing by reduced
gains excludes only clusterings that gain no more than z: pairs that these put apart or together, and partners
that are the first one of a demand in these only, which the demand may then forget (`problem`). So a bound of
what is left, raised to z, is one for all. Branching on a pair: every clustering holds it together (contract)
or apart (forbid), so the larger of the two bounds is one for all. And z never falls. So the search may stop
as soon as bound <= z.

*The proof* (`statements`) is recorded while the search runs, if it is wanted: how the problem was reduced;
for every round that fixed something its inequalities and multipliers, which fix the same again; the pair
branched on; at the end of a branch the inequalities whose bound met the threshold. A bound that was handed
down from a larger problem closes nothing then: the multipliers it came from must show it here.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.cuts import NO_CUTS, Cuts, Floats, lifted
from caspr.engines.native.partition.exhaustive import Walk, enumerate_optima
from caspr.engines.native.partition.lp import Nearby, Point, bound_from, decided, relax, undecided_partners
from caspr.engines.native.partition.outcome import (
    COLD,
    NO_FLOOR,
    OnBound,
    OnFound,
    SearchOutcome,
    Start,
    ignore_bound,
    ignore_found,
    raised,
    shifted,
)
from caspr.engines.native.partition.problem import (
    UNMET,
    Bools,
    Labels,
    Problem,
    firsts,
    joined,
    renumber,
)
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.separation import (
    violated_partner_stars,
    violated_pentagons,
    violated_stars,
    violated_triangles,
    violated_two_partitions,
)
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import Split, split
from caspr.engines.native.partition.statements import TRIED, Proof, Statement, inequalities, renamed
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop

# Numbers that trade time for something. "Times" is the processor time of five documents (ds1-10, ds1-12 and
# an act under UA, ds1-14 and dense 200 x 6 under U) with another number, divided by that with the one here;
# single runs differ by 5 %.
TINY = 8
"""Problems up to this size are searched exhaustively, without a linear program (2: 1.07 times; 10: 1.02)."""
KICKS, MORE_KICKS = 5, 30_000
"""How often a clustering is shaken before the first relaxation; and before the first branching, times nodes.

For a good clustering early, which a limit may make the last one; it saves no time.
"""
PROGRESS, PATIENCE = 0.05, 1
"""How many rounds in a row may close less than this share of the gap before branching.

Not sensitive (0.02: 1.0 times; 0.15: 0.96; patience 2: 0.91).
"""
THOROUGH_PROGRESS, THOROUGH_PATIENCE, FINE_PROGRESS = 0.02, 2, 0.005
"""The same for the thorough rounds before the first branching, which all branches inherit.

Where few pairs are forbidden, those go on as fine rounds, once one of them closes too little.

Less effort is faster on these documents (0.1: 0.84 times; patience 1: 0.88).
"""
HASTE = 0.3
"""The share of the gap that a round must close where trying the other side of a pair is the alternative."""
TOLERANCE, THOROUGH_TOLERANCE, FINE_TOLERANCE = 0.2, 0.05, 0.01
"""The share of the gap by which a relaxation may be wrong, one of a thorough round, and one of a fine round.

More exact is slower (0.05: 1.4 times; thorough 0.01: 1.12), rougher is faster here (0.5: 0.78; 0.2: 0.8).
"""
ROUGH = 2e-2
"""The relative error that is always small enough, whatever the gap (0.002: 1.0 times; 0.1: 0.89)."""
THOROUGH_EFFORT, BRANCH_EFFORT = 120_000_000, 30_000_000
"""A relaxation of a thorough round, or of a branch, that passes over more entries is left as it is.

It bounds the time of one step; only large problems reach it (a quarter and four times of either: 1.0 times).
"""
LIMIT, CROWD = 8000, 12
"""How many triangles a round adds at most, and how many of them may lean on one pair.

Fewer take more rounds, more say the same again (2,000: 1.03 times; crowds of 4: 1.07, of 40: 1.05).
"""
SLACK = 0.1
"""A cut that is satisfied by more, and has no multiplier, is dropped (0.02: 1.09 times)."""
CROWDED = 0.5
"""Where a larger share of pairs is forbidden (U, V), thorough rounds add pentagons instead of two-partitions.

There two-partitions are no better than lifted stars, and a small set of cuts with a rough relaxation serves
branches best: ds1-20 U has the bound 12,098 with stars, 11,957 with pentagons, where 11,702 is the optimum.
"""
FEW = 4
"""Two-partitions are looked for once a round finds at most this many violated triangles for each node."""
SPARE_ROUNDS, GRACE = 100, 4
"""How many thorough rounds with little progress may pass while there are more, and how many with none.

For cluster editing of 200 and more nodes (exact103, exact167), where triangles come for dozens of rounds.
"""
SHRINKAGE = 0.1
"""The share of nodes that fixing must remove before everything starts again, reduced and taken apart.

Once it has put this share of the gaining pairs apart, reductions are tried; if any applies, everything starts
again, too.
"""
UNCLEAR = 0.02
"""A home and a partner are not worth branching on if they are nearer than this to being decided."""
NEAR = 0.05
"""With demands, a gap below this share of the bound is worth a look for better clusterings."""
ROUGH_ROUNDS, ROUGH_SIZE = 6, 40
"""How many relaxations a rough search solves; larger problems without demands get a heuristic only.

A rough search only finds earlier what the real one would find: it may take no longer than a few rounds.
"""


def quick(reduced: Split, watch: Watch, *, floor: int = NO_FLOOR) -> SearchOutcome:
    """Return a first clustering and the bound that every positive gain gives."""
    best = _Assembled(reduced, None)
    for number, piece in enumerate(reduced.pieces):
        labels = first_clustering(piece.problem, watch)
        best.replace(number, labels, _value(piece.problem, labels))
    return SearchOutcome(best.labels, best.value, reduced.ceiling, floor)


def _value(problem: Problem | SparseProblem, labels: Labels) -> int:
    """Return what a clustering gains, `UNMET` if it is none that meets the demands."""
    value = problem.value(labels)
    return UNMET if value is None else value


def first_clustering(problem: Problem | SparseProblem, watch: Watch) -> Labels:
    """Return a good clustering; what there is if there is no time, or if demands are not met."""
    if isinstance(problem, SparseProblem):
        return heuristics.grow(problem, watch)
    labels = heuristics.start(problem.undemanding, watch, kicks=0)
    if not problem.demands:
        return labels
    met = heuristics.meet(problem, labels, watch)
    return labels if met is None else met


def search(problem: Problem, watch: Watch, start: Start = COLD) -> SearchOutcome:
    """Find an optimum if it exceeds the floor, or the best that the limits allow."""
    return search_split(split(problem, watch, record=start.record), watch, start)


def search_split(
    reduced: Split,
    watch: Watch,
    start: Start = COLD,
    *,
    remembered: dict[bytes, SearchOutcome] | None = None,
) -> SearchOutcome:
    """Search a problem that is reduced already, piece by piece, small ones first.

    `ceiling` is the sum of what each piece gains at most, as far as that is known: a bound for the whole
    problem at every moment, whatever the floor. The floor of a piece is what it must exceed for the whole
    to exceed its floor, if all others gain as much as they can: floor - others. Its outcome says that it
    gains no more than the larger of bound and floor - others, and it never gains more than its own ceiling;
    so it gains at most max(bound, min(floor - others, own ceiling)), which takes the place of its ceiling
    in the sum.

    Pieces that are `remembered` are not searched again, and proven ones are remembered: a part that one
    more forbidden pair or decision touches has few new pieces.
    """
    best = _Assembled(reduced, start.known)
    ceiling, held, proofs = reduced.ceiling, NO_CUTS, list[Proof | None]()
    for number, piece in enumerate(reduced.pieces):
        own = piece.problem.ceiling
        rest = ceiling - own
        outcome = None if remembered is None else remembered.get(piece.key)
        if outcome is None or (start.record and outcome.proof is None):
            inside = best.start_of(number, start, rest)
            outcome = _searched(piece.problem, watch, inside)
            # Where a search starts decides which of several optima it finds: memory must not show.
            if remembered is not None and outcome.proven and not len(inside.cuts):
                remembered[piece.key] = outcome
        unmet = best.value == UNMET
        best.replace(number, outcome.labels, outcome.value)
        if unmet and best.value != UNMET:
            start.on_found(best.labels, best.value)
        held |= outcome.cuts.named(reduced.firsts[piece.nodes])
        proofs.append(outcome.proof)
        if outcome.bound == UNMET:
            ceiling = UNMET
            break
        ceiling = rest + max(outcome.bound, min(start.floor - rest, own))
        start.on_bound(ceiling)
    return SearchOutcome(best.labels, best.value, ceiling, start.floor, held, _parts(reduced, proofs, start))


def _parts(reduced: Split, proofs: list[Proof | None], start: Start) -> Proof | None:
    """Write down the proofs of the pieces that were searched, after how these came about."""
    if not start.record:
        return None
    names = np.arange(len(reduced.labels)) if start.names is None else start.names
    steps, parts = [renamed(step, names) for step in reduced.steps], []
    for piece, proof in zip(reduced.pieces, proofs, strict=False):
        if proof is None:
            return None
        parts.append([names[reduced.firsts[piece.nodes]].tolist(), list(proof)])
    return (*steps, {"parts": parts}) if parts else tuple(steps)


class _Assembled:
    """The best clusterings of all pieces, put together."""

    def __init__(self, reduced: Split, known: Labels | None) -> None:
        self.reduced = reduced
        self.found: list[Labels] = []
        self.values: list[int] = []
        for piece in reduced.pieces:
            alone = np.arange(len(piece.nodes))
            labels = alone if known is None else renumber(known[reduced.firsts[piece.nodes]])
            value = _value(piece.problem, labels)
            self.found.append(alone if value == UNMET else labels)
            self.values.append(value if piece.has_demands else max(value, 0))

    @property
    def value(self) -> int:
        unmet = self.reduced.hopeless or UNMET in self.values
        return UNMET if unmet else self.reduced.constant + sum(self.values)

    @property
    def labels(self) -> Labels:
        """The clustering of the old nodes."""
        labels = np.arange(self.reduced.size)
        for piece, clusters in zip(self.reduced.pieces, self.found, strict=True):
            # Cluster i gets the name of the i-th node here, so names of different pieces never meet.
            labels[piece.nodes] = piece.nodes[renumber(clusters)]
        return self.reduced.lift(renumber(labels))

    def replace(self, number: int, labels: Labels, value: int) -> None:
        """Take another clustering of one piece, unless it is worse."""
        if value >= self.values[number]:
            self.found[number], self.values[number] = labels, value

    def start_of(self, number: int, start: Start, rest: int) -> Start:
        """Return where the search of a piece starts; `rest` is what all others gain at most."""
        piece = self.reduced.pieces[number]
        inside = replace(
            start,
            floor=start.floor - rest,
            known=self.found[number] if piece.has_demands and self.values[number] != UNMET else None,
            names=None,
            on_bound=shifted(start.on_bound, rest),
            on_found=self._reporting(number, start.on_found),
        )
        if isinstance(piece.problem, SparseProblem):
            return replace(inside, cuts=NO_CUTS, near=None, bound=None)
        position = np.full(self.reduced.size, -1, dtype=np.intp)
        position[piece.nodes] = np.arange(len(piece.nodes))
        bound = self._bound_of(number, start)
        return inside.within(position[self.reduced.labels], piece.problem, bound)

    def _bound_of(self, number: int, start: Start) -> int | None:
        """Return what a bound of the whole problem says that one piece gains at most.

        With the best clusterings of the others, whose values are known, it makes one of the whole, which
        gains no more than the larger of bound and floor.
        """
        rest = [value for index, value in enumerate(self.values) if index != number]
        if start.bound is None or UNMET in rest:
            return None
        return max(start.bound, start.floor) - self.reduced.constant - sum(rest)

    def _reporting(self, number: int, on_found: OnFound) -> OnFound:
        """Report better clusterings of one piece as clusterings of the whole."""
        if on_found is ignore_found:
            return ignore_found

        def found(labels: Labels, value: int) -> None:
            if value > self.values[number]:
                self.replace(number, labels, value)
                if self.value != UNMET:
                    on_found(self.labels, self.value)

        return found


def _searched(problem: Problem | SparseProblem, watch: Watch, start: Start) -> SearchOutcome:
    """Search one piece."""
    if isinstance(problem, SparseProblem):
        labels = heuristics.grow(problem, watch)
        return SearchOutcome(labels, _value(problem, labels), problem.ceiling, start.floor)
    if problem.size <= TINY:
        return _exhausted(problem, start.floor)
    rough = start.rough and not problem.demands and problem.size > ROUGH_SIZE
    if rough or watch.expired():
        labels = first_clustering(problem, watch) if start.known is None else start.known
        return SearchOutcome(labels, _value(problem, labels), problem.ceiling, start.floor)
    return CuttingPlanes(problem, watch, start).run(_beginning(problem, watch, start))


def _exhausted(problem: Problem, floor: int) -> SearchOutcome:
    """Try all clusterings that may be the best: demands only take from what the pairs gain."""
    if not problem.demands:
        optima = enumerate_optima(problem)
        assert optima is not None  # all nodes alone reach the floor of 0
        return SearchOutcome(optima.first, optima.value, optima.value, floor, proof=TRIED)
    walk = Walk(problem, NO_FLOOR, None)
    best, value = np.arange(problem.size), UNMET
    for _, clustering in walk.clusterings():
        labels = np.array(clustering, dtype=np.intp)
        reached = _value(problem, labels)
        if reached > value:
            best, value, walk.floor = labels, reached, reached + 1
    return SearchOutcome(best, value, value, floor, proof=TRIED)


def _beginning(problem: Problem, watch: Watch, start: Start) -> Labels:
    """Return the clustering that a piece begins with."""
    if start.known is not None:
        return start.known
    if problem.demands:
        return first_clustering(problem, watch) if start.is_first(problem) else np.arange(problem.size)
    return heuristics.start(problem, watch, kicks=KICKS if start.is_first(problem) else 0)


@dataclass(frozen=True)
class Fixed:
    """What all clusterings decide alike that exceed a floor."""

    x: Floats
    """The point of the relaxation that shows it."""
    together: Bools
    apart: Bools
    below: Start
    """Where the relaxation of what is left may start."""


class Next(Enum):
    """What a round of cutting leads to."""

    LEAVE = auto()
    """End without proof: a rough search has had its rounds."""
    DESCEND = auto()
    """Start again on what fixing left, reduced and taken apart."""
    BRANCH = auto()
    """Decide one pair both ways."""
    REPEAT = auto()
    """Relax the same problem again, looking harder."""
    NARROW = auto()
    """Go on with what fixing left."""


class CuttingPlanes:
    """One run of the loop on one connected problem."""

    def __init__(self, problem: Problem, watch: Watch, start: Start) -> None:
        self.problem = self.original = problem
        self.watch, self.start, self.step = watch, start, problem.step
        nothing = UNMET if problem.demands else 0
        self.best = SearchOutcome(np.arange(problem.size), nothing, start.lowered(problem), start.floor)
        # Values are multiples of the step: what exceeds the threshold exceeds it by a step at least.
        self.floor = start.floor // self.step * self.step
        self.first, self.crowded = start.is_first(problem), is_crowded(problem)
        self.slow, self.moved, self.thorough, self.spare_rounds = 0, True, False, SPARE_ROUNDS
        self.turn, self.rounds, self.shaken, self.fine = 0, 0, not self.first, False
        self.pace, self.gaining = PROGRESS, int(np.count_nonzero(problem.gains > 0))
        self.cuts, self.near = NO_CUTS, start.near or Nearby((problem.gains > 0).astype(np.float64), {})
        self.names = np.arange(problem.size)
        # For the proof: the best bound of a relaxation that was solved here, and that relaxation.
        self.shown = problem.ceiling
        self.lowest: tuple[Problem, Point] | None = None
        self.steps: list[Statement] = []
        self.proof: Proof | None = None

    @property
    def threshold(self) -> int:
        """The value a clustering must exceed to matter."""
        return max(self.best.value, self.floor)

    @property
    def closed(self) -> bool:
        """Whether nothing better is left to find; if a proof is wanted, also by what is shown here."""
        return (self.shown if self.start.record else self.best.bound) <= self.threshold

    @property
    def _goes_on(self) -> bool:
        """Whether something better may be left to find, and there is time."""
        return not self.closed and not self.watch.expired()

    def lower(self, bound: int) -> None:
        """Keep a bound, if it is better, and report it."""
        if bound < self.best.bound:
            self.best = replace(self.best, bound=bound)
            self.start.on_bound(max(bound, self.threshold))

    def run(self, labels: Labels) -> SearchOutcome:
        """Cut until the gap closes, the problem shrinks, nothing moves or time is up."""
        try:
            self._offer(labels)
            self._begin()
            self._cut()
        except KeyboardInterrupt:
            self.watch.stop = Stop.INTERRUPT
        bound = raised(max(self.best.bound, self.best.value), 0)
        cuts = self.cuts if self.first else NO_CUTS
        return replace(self.best, bound=bound, cuts=cuts, proof=self.proof)

    def _begin(self) -> None:
        """Take the cuts that there are, and the most obvious others."""
        cuts = self.start.cuts
        self.thorough = cuts.others > 0
        if self.best.bound <= self.threshold and not self.closed:
            # A bound that was handed down: its multipliers mostly show it.
            self._show(bound_from(self.problem, cuts))
        if self.start.near is None and not (self.crowded and len(cuts)):
            cuts = cuts | first_cuts(self.problem, self.watch)
        self.cuts = cuts

    def _cut(self) -> None:
        """Relax, cut and fix round by round, until one of these ends it, in this order of preference.

        the gap is closed           what the multipliers show ends the proof
        fixing left no clustering   so does what was fixed
        `_next` says so             leave it, or start again on smaller problems
        """
        while self._goes_on:
            point = self._relaxed()
            if point is None or self.closed:
                break
            found = self._cut_off(point)
            groups, narrowed = self._fixed(point)
            if narrowed.hopeless or narrowed.breaks(groups):
                self._note(point, narrowed, groups)
                self.proof = tuple(self.steps)
                self.lower(self.threshold)
                return
            match self._next(narrowed, groups, found=found):
                case Next.REPEAT:
                    continue
                case Next.NARROW:
                    self._narrow(point, narrowed)
                    continue
                case Next.DESCEND:
                    self._descend(point, narrowed, groups)
                case Next.BRANCH:
                    self._branch(point, narrowed, groups)
            return
        if self.start.record and self.closed:
            self.proof = (*self.steps, *self._end())

    def _next(self, narrowed: Problem, groups: Labels, *, found: bool) -> Next:
        """Choose how to go on, in this order of preference; `found` says whether some cut is violated.

        a rough search                 ends after a few rounds
        fixing left a smaller problem  start again on that; so if reductions make it smaller
        stalled for the first time     look harder: for a clustering, then for other cuts
        no cut is violated             start again on what was fixed, however little
        stalled                        branch
        otherwise                      go on with what fixing left
        """
        left, stuck = groups.max() + 1, self.stalled or not found
        if self.start.rough and (not found or self.rounds == ROUGH_ROUNDS):
            return Next.LEAVE
        if left <= (1 - SHRINKAGE) * self.problem.size or self._is_reducible(narrowed, groups):
            return Next.DESCEND
        if stuck and self._tried_harder():
            return Next.REPEAT
        if not found and (left < self.problem.size or narrowed.forced):
            return Next.DESCEND
        return Next.BRANCH if stuck else Next.NARROW

    def _is_reducible(self, narrowed: Problem, groups: Labels) -> bool:
        """Return whether reductions find something, once enough pairs that gain were fixed."""
        gaining = int(np.count_nonzero(narrowed.gains > 0))
        if narrowed.demands or gaining > (1 - SHRINKAGE) * self.gaining:
            return False
        self.gaining, (small, _) = gaining, narrowed.contract(groups)
        return reduce(small, self.watch, cores=False).problem.size < small.size

    def fix(self, known: Labels | None) -> Fixed:
        """Cut until that stalls; return what all clusterings above the floor decide alike.

        With an optimum known, end sooner: once nodes are together, or rounds become dearer than a trial.
        """
        self.pace = PROGRESS if known is None else HASTE
        self._offer(known)
        self._begin()
        together, found, smaller = np.zeros_like(self.problem.forbidden), True, False
        while found and not self.stalled and self._goes_on and not smaller:
            point = self._relaxed(rounding=known is None)
            if point is None:
                break
            more, apart = decided(point, self.floor + self.step)
            together, found = together | more, self._cut_off(point)
            self.problem = self.problem.separate(apart)
            if known is not None:
                smaller = bool(together.any()) or self._is_reducible(
                    self.problem, np.arange(self.problem.size)
                )
        below = Start(cuts=self.cuts, near=self.near, bound=self.best.bound)
        return Fixed(self.near.x, together, self.problem.forbidden & ~self.original.forbidden, below)

    def _relaxed(self, *, rounding: bool = True) -> Point | None:
        """Solve the relaxation, take its bound and round its point."""
        gap = self._gap
        point = relax(
            self.problem,
            self.cuts,
            watch=self.watch,
            tolerance=self._tolerance,
            near=self.near,
            effort=self._effort,
            goal=self.threshold + self.step,
        )
        if point is not None:
            self.near = Nearby.of(self.problem, point)
            self.lower(point.bound(self.step))
            self._show(point)
            if rounding:
                self._round(point, gap)
            self._count(gap)
        return point

    @property
    def _gap(self) -> int:
        """How far bound and threshold are apart."""
        return self.best.bound - self.threshold

    def _round(self, point: Point, before: int) -> None:
        """Look for clusterings near a point."""
        if not self.problem.demands or self._is_worth_rounding(before):
            self._offer(heuristics.rounded(self.problem, point, self.watch))
            self._look_between(point)

    def _count(self, before: int) -> None:
        """Count one round more, and those in a row that closed too little of the gap."""
        progress = self._progress(before)
        self.moved = progress > 0
        # The first relaxation below another one may only reach what was known before.
        expected = self.rounds > 0 or self.start.bound is None
        self.slow = self.slow + 1 if expected and progress <= self._pace * before else 0
        self.rounds += 1
        # Where rounds close little, what the relaxation leaves open may be more than that.
        self.fine |= self.first and self.thorough and not self.crowded and self.slow > 0

    def _progress(self, before: int) -> int:
        """Return how much of a gap is closed by now."""
        return before - self._gap

    def _is_worth_rounding(self, before: int) -> bool:
        """Return whether the point is near to clusterings: the gap is small, or as small as it gets."""
        small = self._gap <= NEAR * abs(self.best.bound)
        return small or self.best.value == UNMET or self._progress(before) <= PROGRESS * before

    def _look_between(self, point: Point) -> None:
        """Search among the clusterings that agree with the best one where that agrees with the point."""
        if not self.problem.demands or self.closed or self.start.rough or self.best.value == UNMET:
            return
        contracted = heuristics.between(self.original, self.best.labels, point.x)
        if contracted is not None:
            small, groups, constant = contracted
            outcome = search(small, self.watch, Start(floor=self.best.value - constant, rough=True))
            self._offer(outcome.labels[groups])

    def _cut_off(self, point: Point) -> bool:
        """Add cuts that a point violates, and drop slack ones; return whether there are any to add."""
        new = self._violated(point)
        self.cuts = self._kept(point) | new
        return len(new) > 0

    def _violated(self, point: Point) -> Cuts:
        """Return cuts that a point violates; others than stars only where that is all that is left to try."""
        problem, x, watch = self.problem, point.x, self.watch
        new = new_cuts(problem, x, watch, thorough=self.thorough and not self.crowded)
        if problem.demands:
            new |= violated_partner_stars(problem, x, point.first)
        if not self.thorough:
            return new
        if self.crowded:
            # Branches inherit pentagons; looking for more takes longer than it saves.
            if not self.first:
                return new
            self.turn += 1
            return new | violated_pentagons(problem, x, watch, turn=self.turn)
        if len(new.triangles) <= FEW * problem.size:
            return new | violated_two_partitions(problem, x, point.cuts, point.slack, watch)
        if self.first and self.moved and self.spare_rounds:
            # Triangles come first. While the bound waits for them, branching would be too early.
            self.spare_rounds, self.slow = self.spare_rounds - 1, -GRACE
        return new

    def _tried_harder(self) -> bool:
        """Before the first branching of all, look harder for a clustering, then for cuts; return whether.

        With demands, branching on partners closes the gap sooner.
        """
        if self.problem.demands:
            return False
        if not self.shaken:
            self.shaken, before = True, self.best.value
            kicks = MORE_KICKS // self.problem.size
            self._offer(heuristics.kick(self.problem, self.best.labels, self.watch, kicks=kicks, seed=2))
            if self.best.value > before:
                return True
        if self.first and not self.thorough:
            self.thorough, self.slow = True, 0 if self.crowded else -GRACE
            return True
        return False

    @property
    def stalled(self) -> bool:
        """Whether enough rounds in a row have closed too little of the gap, so that branching is due."""
        return self.slow >= (THOROUGH_PATIENCE if self.first and self.thorough else PATIENCE)

    @property
    def _pace(self) -> float:
        """The share of the gap that a round should close."""
        thorough = FINE_PROGRESS if self.fine else THOROUGH_PROGRESS
        return thorough if self.first and self.thorough else self.pace

    @property
    def _effort(self) -> int | None:
        """How long a relaxation may take."""
        if self.crowded and not self.first and not self.problem.demands:
            return BRANCH_EFFORT
        return THOROUGH_EFFORT if self.thorough else None

    @property
    def _tolerance(self) -> float:
        """The relative error that does not matter yet, beside the gap to be closed."""
        exact = self.thorough and (self.first or not self.crowded)
        thorough = FINE_TOLERANCE if self.fine else THOROUGH_TOLERANCE
        share = thorough if exact else TOLERANCE
        return min(max(share * self._gap, 0.1 * self.step) / max(1, self.best.bound), ROUGH)

    def _kept(self, point: Point) -> Cuts:
        """Drop slack cuts, but only while the bound moves: dropping and finding again could cycle.

        Among pentagons, rounds must close some of the gap to go on: all that the bound does not need may go.
        """
        if self.crowded and self.thorough:
            return point.cuts.keep(point.weights > 0)
        if self.stalled:
            return point.cuts
        return point.cuts.keep((point.slack < SLACK) | (point.weights > 0))

    def _fixed(self, point: Point) -> tuple[Labels, Problem]:
        """Return what must be together to exceed the threshold, and what is left of the problem."""
        goal = self.threshold + self.step
        together, apart = decided(point, goal)
        narrowed = self.problem
        if narrowed.demands:
            narrowed = narrowed.forget(undecided_partners(point, goal))
        return joined(narrowed.size, *np.nonzero(together)), narrowed.separate(apart)

    def _offer(self, labels: Labels | None) -> None:
        value = None if labels is None else self.original.value(labels)
        if labels is not None and value is not None and value > self.best.value:
            self.best = replace(self.best, labels=labels, value=value)
            if value > self.floor:
                self.start.on_found(labels, value)

    def _descend(self, point: Point, narrowed: Problem, groups: Labels) -> None:
        """Start again on what fixing left open."""
        self._note(point, narrowed, groups)
        bound, proof = self._below(narrowed, groups, self.lower)
        self.lower(bound)
        self.proof = None if proof is None else (*self.steps, *proof)

    def _branch(self, point: Point, narrowed: Problem, groups: Labels) -> None:
        """Decide one pair both ways; if fixing has just put it together, start again on what is left."""
        first, second = undecided_pair(narrowed, point.x)
        if groups[first] == groups[second]:
            self._descend(point, narrowed, groups)
            return
        self._note(point, narrowed, groups)
        every = np.arange(narrowed.size)
        pair = joined(narrowed.size, np.append(every, first), np.append(firsts(groups)[groups], second))
        cut = np.zeros_like(narrowed.forbidden)
        cut[first, second] = cut[second, first] = True
        together, proof = self._below(narrowed, pair, ignore_bound)
        apart, parted = self._below(
            narrowed.separate(cut), groups, lambda bound: self.lower(max(together, bound))
        )
        self.lower(max(together, apart))
        if proof is not None and parted is not None:
            sides = {"together": list(proof), "apart": list(parted)}
            self.proof = (*self.steps, {"pair": self.names[[first, second]].tolist(), **sides})

    def _below(self, problem: Problem, groups: Labels, on_bound: OnBound) -> tuple[int, Proof | None]:
        """Search with some nodes contracted; return a bound for all clusterings that hold them together."""
        if problem.breaks(groups):
            return self.threshold, ()
        small, constant = problem.contract(groups)
        start = Start(
            floor=self.threshold,
            cuts=self.cuts,
            near=self.near,
            bound=self.best.bound,
            on_bound=on_bound,
            rough=self.start.rough,
            record=self.start.record,
            names=self.names,
        ).contracted(groups, small, constant)
        outcome = search(
            small, self.watch, replace(start, on_found=lambda labels, _: self._offer(labels[groups]))
        )
        self._offer(outcome.labels[groups])
        return max(raised(outcome.bound, constant), self.threshold), outcome.proof

    def _narrow(self, point: Point, narrowed: Problem) -> None:
        """Go on with what fixing left."""
        self._note(point, narrowed)
        if narrowed.demands != self.problem.demands:
            # Partners that are forgotten no longer sharpen stars.
            self.shown, self.lowest = narrowed.ceiling, None
        self.problem = narrowed

    def _show(self, point: Point) -> None:
        """Keep the relaxation with the best bound of all that were solved here."""
        bound = point.bound(self.step)
        if bound < self.shown:
            self.shown, self.lowest = bound, (self.problem, point)

    def _note(self, point: Point, narrowed: Problem, groups: Labels | None = None) -> None:
        """Record what a point fixes, if it fixes anything; without groups only what it puts apart."""
        if not self.start.record:
            return
        joins = groups is not None and bool(groups.max() + 1 < narrowed.size)
        apart = bool((narrowed.forbidden != self.problem.forbidden).any())
        if joins or apart or narrowed.demands != self.problem.demands:
            goal = {"goal": self.threshold + self.step, "joins": joins}
            self.steps.append(goal | inequalities(self.problem, self.names, point))

    def _end(self) -> Proof:
        """Write down the inequalities with the best bound."""
        return () if self.lowest is None else (inequalities(self.lowest[0], self.names, self.lowest[1]),)


def is_crowded(problem: Problem) -> bool:
    """Return whether most pairs are forbidden."""
    return bool(problem.forbidden.mean() > CROWDED)


def undecided_pair(problem: Problem, x: Floats) -> tuple[int, int]:
    """Choose the pair to branch on: a home and a partner that are far from decided, or any other pair."""
    pairs = [(demand.home, partner) for demand in problem.demands for partner in demand.partners]
    if pairs:
        between = x[tuple(np.array(pairs).T)]
        unclear = np.minimum(between, 1 - between)
        if unclear.max() > UNCLEAR:
            return pairs[int(unclear.argmax())]
    return undecided(problem, x)


def undecided(problem: Problem, x: Floats) -> tuple[int, int]:
    """Choose a pair that is far from decided itself, and so is much of what its nodes gain.

    It is never a forbidden one, even where all pairs are decided and lose. Where most pairs are forbidden,
    pairs that are rather together come first: kept apart, they take more.
    """
    unclear = np.minimum(x, 1 - x)
    around = (unclear * np.maximum(problem.gains, 0)).sum(axis=1)
    chance = x * x * (1 - x) if is_crowded(problem) else unclear
    stake = chance * (1 + np.abs(problem.gains) + around[:, None] + around[None, :])
    stake[problem.forbidden] = -1.0
    first, second = divmod(int(stake.argmax()), problem.size)
    if stake[first, second] <= 1e-3:
        least = np.iinfo(np.int64).min
        open_pairs = np.where(problem.forbidden, least, problem.gains)
        np.fill_diagonal(open_pairs, least)
        first, second = divmod(int(open_pairs.argmax()), problem.size)
    return first, second


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


def fix_in_all_optima(
    problem: Problem, value: int, watch: Watch, start: Start = COLD, known: Labels | None = None
) -> Fixed:
    """Return what all optima put together and apart, or some of it, sooner, if one of them is known."""
    return CuttingPlanes(problem, watch, replace(start, floor=value - problem.step)).fix(known)
