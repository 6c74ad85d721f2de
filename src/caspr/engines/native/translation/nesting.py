"""Solving an instance with its bundles, with nested pairs forbidden only when a solution breaks them.

Leaving rules out makes the problem easier and its optimum at least as good: a *relaxation*. If that
optimum breaks none of the rules left out, it is an optimum with them. Nested pairs that nobody linked
are left out because each tells two otherwise equal mentions apart: with them in, hundreds of twins
could not be merged, and only about one in eight is ever broken. Pairs that are broken are put in, and
the parts they touch are solved again, first by heuristics alone, then to the end.
"""

from dataclasses import dataclass

from caspr.engines.native.partition.outcome import SearchOutcome, Tell, unheard
from caspr.engines.native.state import Pair, Solver, SolveState, solve_ahead, solve_exactly, solve_quickly
from caspr.engines.native.translation.connectivity import pieces
from caspr.engines.native.translation.translate import Bundles, Part, gain_table, inside
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span
from caspr.text.links import nested_pairs


@dataclass(frozen=True)
class Relaxed:
    """A solution that respects bundles, forbidden pairs and nesting; not yet what must exist."""

    partition: Partition
    cost: int
    """What it costs if every link may stay unused."""
    bound: int
    """No partition with these bundles costs less."""


def relax_quickly(session: SolveState, bundles: Bundles, *, root: bool = False) -> Relaxed:
    """Solve by heuristics, with some mentions bundled."""
    relaxed = _until_respected(session, bundles, solve_quickly, root=root)
    assert relaxed is not None  # heuristics do not stop for a limit
    return relaxed


def relax_exactly(session: SolveState, bundles: Bundles, first: Relaxed | None = None) -> Relaxed:
    """Solve to the end, or as far as limits allow.

    `first` is what heuristics found, if they were asked; that makes it the root, whose bounds are told.
    """
    if first is not None and first.bound >= first.cost:
        return first
    proven = None
    if not session.watch.over():
        proven = _until_respected(session, bundles, solve_exactly, root=first is not None)
    if proven is not None and (first is None or proven.cost <= first.cost):
        return proven
    if first is None or proven is None:
        # The search may have left better clusterings behind, also where it was not finished.
        found = relax_quickly(session, bundles)
        first = found if first is None or found.cost < first.cost else first
    return first if proven is None else Relaxed(first.partition, first.cost, proven.bound)


def _until_respected(session: SolveState, bundles: Bundles, solver: Solver, *, root: bool) -> Relaxed | None:
    """Solve until no nested pair is broken; `None` if a limit came first."""
    instance = session.instance
    while True:
        parts = session.translator.translate(bundles, session.eager | session.nested)
        outcomes = _solve_parts(session, parts, solver, root=root)
        chains = [part.chains(found.labels) for part, found in zip(parts, outcomes, strict=True)]
        broken = _broken(session, chains)
        if not broken:
            break
        if solver is solve_exactly and session.watch.over():
            return None
        session.nested |= broken
    gained = sum(part.constant + found.value for part, found in zip(parts, outcomes, strict=True))
    at_most = sum(part.constant + found.bound for part, found in zip(parts, outcomes, strict=True))
    total = instance.objective.omit * instance.votes.total
    kept: list[list[Span]] = []
    for held, found in zip(chains, outcomes, strict=True):
        if instance.objective.invent == 0 or not found.proven:
            held, more = _connected(session, held, bundles)
            gained += more
        kept += held
    return Relaxed(canonical(kept), total - gained, total - at_most)


def _broken(session: SolveState, chains: list[list[list[Span]]]) -> set[Pair]:
    """Return the nested pairs of all chains; there are none where everything without a vote is forbidden."""
    if session.instance.allow_nested or session.instance.objective.invent is None:
        return set()
    return {pair for part in chains for chain in part for pair in nested_pairs(chain)}


def _solve_parts(
    session: SolveState, parts: tuple[Part, ...], solver: Solver, *, root: bool
) -> list[SearchOutcome]:
    """Solve all parts, small ones first, telling the bound as it rises."""
    total = session.instance.objective.omit * session.instance.votes.total
    at_most = sum(part.constant + part.problem.ceiling for part in parts)
    outcomes = []
    if solver is solve_exactly:
        solve_ahead(session, parts)
    for number, part in enumerate(parts):
        if root:
            session.done, session.parts = (number, len(parts)) if solver is solve_exactly else (0, 0)
            session.tell = _telling(session, total - at_most + part.problem.ceiling)
        outcome = solver(session, part)
        outcomes.append(outcome)
        at_most += outcome.bound - part.problem.ceiling
        if root and part.problem.size > 1:
            session.raise_bound(total - at_most)
    session.tell = unheard
    return outcomes


def _telling(session: SolveState, least: int) -> Tell:
    """Return who hears what one part gains at most, if all costs so much where that part gains nothing."""
    return lambda bound: session.raise_bound(least - bound)


def _connected(
    session: SolveState, chains: list[list[Span]], bundles: Bundles
) -> tuple[list[list[Span]], int]:
    """Cut chains that do not hang together, which an optimum never needs; return also what that gains."""
    instance, gains = session.instance, gain_table(session.instance)
    glued = [(bundle[0], other) for bundle in bundles for other in bundle[1:]]
    cut, gained = [], 0
    for chain in chains:
        split = pieces(instance, chain, glued)
        if len(split) > 1:
            gained += sum(inside(instance, gains, piece) for piece in split) - inside(instance, gains, chain)
        cut += [piece for piece in split if len(piece) > 1]
    return cut, gained
