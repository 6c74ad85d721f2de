"""Settling demands: the search for the best solution in which nothing offends.

Where a relaxation offends, the ways out (`demands`) are searched depth first, and a way whose relaxation
already costs as much as the best one found is left. Each region is settled on its own: its best way is
kept while the next one is searched, so the work grows with the number of regions, not with the product of
their ways. A first solution is found by heuristics alone: they meet all demands, or else the ways out of a
relaxation without demands are taken, depth first, the first one that leads to a solution.

Why bounds add up over regions. For a branch b and a region R, let C_R(b) be what the relaxation costs in R,
penalty included, and S_R(b) what the best solution in R below b costs. Solutions below b cost at least the
sum of S_R(b) over all regions (`regions`, claim 2).

Claim: `_settled`, begun at a branch a, keeps

    bound  <=  sum of S_R(a) over the regions settled so far  +  sum of C_R(a) over all others.

Proof: it begins with the bound of the relaxation at a, at most the sum of all C_R(a). Let it settle R at the
branch b that the regions settled before led to. There R is as it was at a (`regions`, claim 3): C_R(b) =
C_R(a), S_R(b) = S_R(a). `_branched` returns a bound B that is the least over the ways out (or what the
relaxation at b costs, which is no more than at any of them), and by the same claim for each way

    B  <=  S_R(b)  +  sum of C_X(b) over the regions X other than R,

as some way holds a best solution in R (`demands`, claim 2). If the relaxation at b is proven, its cost is
the sum of all C_X(b), so B minus that cost is at most S_R(a) - C_R(a): just what the right side of the
claim rises by when R is settled. If it is not proven, its bound may lie anywhere below that sum, and the
same difference could count for R what a later and better bound found in another region, twice; then
nothing is added.
"""

from dataclasses import dataclass

from caspr.engines.native.required.demands import (
    GRACE,
    Branch,
    Offence,
    lone_mentions,
    narrowest,
    offences,
    ways,
)
from caspr.engines.native.required.regions import Region, region
from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.nesting import NEVER, Relaxed, relax_exactly, relax_quickly
from caspr.engines.native.translation.translate import Bundles
from caspr.text.document import Span

NOBODY: frozenset[Span] = frozenset()
"""No lone mentions: a relaxation without demands."""


@dataclass(frozen=True)
class Settled:
    """The best way found to meet the demands of a region, or of all."""

    bound: int
    """No solution below the branch searched costs less, as far as this region matters."""
    branch: Branch | None = None
    """Where it was found; `None` if there is none, it is too expensive, or a limit came first."""
    relaxed: Relaxed | None = None
    """The relaxation there."""

    @property
    def cost(self) -> int:
        """What the relaxation costs there, penalty included; at least that much if it is not proven."""
        assert self.branch is not None and self.relaxed is not None
        return self.relaxed.bound + self.branch.penalty

    @property
    def proven(self) -> bool:
        """Whether the way found is proven to be the best."""
        return self.relaxed is not None and self.relaxed.proven and self.bound >= self.cost


def settle(state: SolveState, bundles: Bundles) -> None:
    """Find the best solution in which nothing offends, and the bound, and leave both in the state.

    No best partition means that there is no solution.
    """
    root, lone = Branch(bundles), lone_mentions(state, bundles)
    first = relax_quickly(state, bundles, lone, root=True)
    if _offending(state, root, first, None) is not None:
        _settled(state, root, relax_quickly(state, bundles, NOBODY), quick=True)
        if state.value is None:
            return
    relaxed = relax_exactly(state, bundles, lone, first)
    settled = _settled(state, root, relaxed)
    state.raise_bound(settled.bound)


def settle_region(state: SolveState, branch: Branch, reach: Region) -> Settled:
    """Find the best way to meet the demands of one region, whatever offends elsewhere."""
    lone = lone_mentions(state, branch.bundles)
    return _settled(state, branch, relax_exactly(state, branch.bundles, lone), reach=reach)


def offending(state: SolveState, branch: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region, or anywhere: the offence with the fewest ways out."""
    found = offences(state, branch, relaxed.partition)
    found = [one for one in found if reach is None or branch.bundles[one.bundle][0] in reach]
    if len(found) < 2:
        return found[0] if found else None
    near = region(state, branch, found[0].bundle)
    return narrowest(state, branch, [one for one in found if branch.bundles[one.bundle][0] in near])


def _settled(
    state: SolveState,
    branch: Branch,
    relaxed: Relaxed,
    *,
    reach: Region | None = None,
    ceiling: int = NEVER,
    quick: bool = False,
) -> Settled:
    """Meet the demands of one region after the other, those within `reach` if it is given.

    Ways that cost `ceiling` or more are not searched. With `quick`, heuristics take the place of all searches
    and the first way that leads to a solution is taken; the bound is of no use then.
    """
    settled = Settled(relaxed.bound + branch.penalty, branch, relaxed)
    while settled.branch is not None and settled.relaxed is not None:
        offence = _offending(state, settled.branch, settled.relaxed, reach)
        if offence is None:
            break
        if state.value is not None and state.watch.expired():
            return Settled(settled.bound)
        better = _branched(state, settled, offence, ceiling=ceiling, quick=quick)
        # Only what a proven relaxation costs may be subtracted: see the proof above.
        rise = better.bound - settled.cost if settled.relaxed.proven else 0
        settled = Settled(settled.bound + rise, better.branch, better.relaxed)
        if reach is None and not quick:
            state.raise_bound(settled.bound)
    return settled


def _offending(state: SolveState, branch: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region; where nothing offends anywhere, offer the solution."""
    offence = offending(state, branch, relaxed, reach)
    if offence is None and not offences(state, branch, relaxed.partition):
        # A link that is used at a penalty, or with a first partner, may turn out not to be needed.
        exact = not branch.used and not lone_mentions(state, branch.bundles)
        cost = relaxed.cost if exact else state.cost(relaxed.partition)
        state.offer(relaxed.partition, cost)
    return offence


def _branched(state: SolveState, settled: Settled, offence: Offence, *, ceiling: int, quick: bool) -> Settled:
    """Try the ways out of an offence and return the best; `ceiling` is what is too expensive."""
    assert settled.branch is not None
    floor, reach = settled.cost, region(state, settled.branch, offence.bundle)
    best, bound = Settled(NEVER), NEVER
    for way in ways(state, settled.branch, offence):
        if best.branch is not None and (quick or best.cost <= floor):
            bound = floor
            break
        if state.watch.expired() and (state.value is not None or best.branch is not None):
            bound = floor
            break
        # Without any solution yet, a limit does not stop the dive at once: its relaxations are quick then.
        state.watch.check_grace(GRACE)
        bundles = way.branch.bundles
        if quick:
            relaxed = relax_quickly(state, bundles, NOBODY)
        else:
            relaxed = relax_exactly(state, bundles, lone_mentions(state, bundles))
        tried = Settled(relaxed.bound + way.branch.penalty)
        if tried.bound < ceiling:
            tried = _settled(state, way.branch, relaxed, reach=reach, ceiling=ceiling, quick=quick)
        bound = min(bound, tried.bound)
        if tried.branch is not None and (best.branch is None or tried.cost < best.cost):
            best, ceiling = tried, min(ceiling, tried.cost)
    return Settled(max(bound, floor), best.branch, best.relaxed)
