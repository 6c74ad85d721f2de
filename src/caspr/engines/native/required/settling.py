"""Settling demands: the search for the best solution in which nothing offends.

Where a relaxation offends, the ways out (`demands`) are searched depth first, and a way whose relaxation
already costs as much as the best one found is left. Each region is settled on its own: its best way
is kept while the next one is searched, so the work grows with the number of regions, not with the product of
their ways. A first solution is dived for by heuristics alone, first ways first.
"""

from dataclasses import dataclass

from caspr.engines.native.required.demands import Branch, Offence, narrowest, offences, ways
from caspr.engines.native.required.regions import Region, region
from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.nesting import Relaxed, relax_exactly, relax_quickly
from caspr.engines.native.translation.translate import Bundles
from caspr.task.price.pricing import price

NEVER = 1 << 62
"""More than any solution costs: the bound where there is none."""


@dataclass(frozen=True)
class Settled:
    """The best way found to meet the demands of a region, or of all."""

    bound: int
    """No solution below the node searched costs less, as far as this region matters."""
    node: Branch | None = None
    """Where it was found; `None` if there is none, it is too expensive, or a limit came first."""
    relaxed: Relaxed | None = None
    """The relaxation there."""

    @property
    def cost(self) -> int:
        """What the relaxation costs there, at least."""
        assert self.node is not None and self.relaxed is not None
        return self.relaxed.bound + self.node.penalty


def settle(session: SolveState, bundles: Bundles) -> bool:
    """Find the best solution in which nothing offends; return whether the search was finished.

    The session's bound equals its value then; no best partition means that there is no solution.
    """
    root = Branch(bundles)
    first = relax_quickly(session, bundles, root=True)
    if _offending(session, root, first, None) is not None:
        _settled(session, root, first, quick=True)
        if session.value is None:
            return False
    relaxed = relax_exactly(session, bundles, first)
    settled = _settled(session, root, relaxed)
    assert session.value is not None  # the dive leaves no way untried
    session.raise_bound(settled.bound)
    return settled.bound >= session.value


def settle_region(session: SolveState, node: Branch, reach: Region) -> Settled:
    """Find the best way to meet the demands of one region, whatever offends elsewhere."""
    return _settled(session, node, relax_exactly(session, node.bundles), reach=reach)


def offending(session: SolveState, node: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region, or anywhere: the offence with the fewest ways out."""
    found = offences(session, node, relaxed.partition)
    found = [one for one in found if reach is None or node.bundles[one.bundle][0] in reach]
    if len(found) < 2:
        return found[0] if found else None
    near = region(session, node, found[0].bundle)
    return narrowest(session, node, [one for one in found if node.bundles[one.bundle][0] in near])


def _settled(
    session: SolveState,
    node: Branch,
    relaxed: Relaxed,
    *,
    reach: Region | None = None,
    ceiling: int = NEVER,
    quick: bool = False,
) -> Settled:
    """Meet the demands of one region after the other."""
    settled = Settled(relaxed.bound + node.penalty, node, relaxed)
    while settled.node is not None and settled.relaxed is not None:
        offence = _offending(session, settled.node, settled.relaxed, reach)
        if offence is None:
            break
        if session.value is not None and session.watch.over():
            return Settled(settled.bound)
        better = _branched(session, settled, offence, ceiling=ceiling, quick=quick)
        settled = Settled(settled.bound + better.bound - settled.cost, better.node, better.relaxed)
        if reach is None and not quick:
            session.raise_bound(settled.bound)
    return settled


def _offending(session: SolveState, node: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region; where nothing offends anywhere, offer the solution."""
    offence = offending(session, node, relaxed, reach)
    if offence is None and not offences(session, node, relaxed.partition):
        # A link that is used at a penalty may turn out not to be needed.
        exact = not node.used
        cost = relaxed.cost if exact else price(session.instance, relaxed.partition).total
        session.offer(relaxed.partition, cost)
    return offence


def _branched(
    session: SolveState, settled: Settled, offence: Offence, *, ceiling: int, quick: bool
) -> Settled:
    """Try the ways out of an offence and return the best; `ceiling` is what is too expensive."""
    assert settled.node is not None
    floor, reach = settled.cost, region(session, settled.node, offence.bundle)
    best, bound = Settled(NEVER), NEVER
    for way in ways(session, settled.node, offence):
        if best.node is not None and (quick or best.cost <= floor):
            bound = floor
            break
        # Without any solution yet, a limit does not stop the dive: its relaxations are quick then.
        if session.watch.over() and (session.value is not None or best.node is not None):
            bound = floor
            break
        relax = relax_quickly if quick else relax_exactly
        relaxed = relax(session, way.node.bundles)
        tried = Settled(relaxed.bound + way.node.penalty)
        if tried.bound < ceiling:
            tried = _settled(session, way.node, relaxed, reach=reach, ceiling=ceiling, quick=quick)
        bound = min(bound, tried.bound)
        if tried.node is not None and (best.node is None or tried.cost < best.cost):
            best, ceiling = tried, min(ceiling, tried.cost)
    return Settled(max(bound, floor), best.node, best.relaxed)
