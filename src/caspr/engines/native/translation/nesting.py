"""Solving an instance with its bundles, with nested pairs forbidden only when a solution breaks them.

Leaving rules out makes the problem easier and its optimum at least as good: a *relaxation*. If that
optimum breaks none of the rules left out, it is an optimum with them. Nested pairs that nobody linked
are left out because each distinguishes two otherwise equal mentions: with them in, hundreds of twins
could not be merged, and only about one in eight is ever broken. Pairs that are broken are put in, and
the parts they touch are solved again, first by heuristics alone, then to the end.

Claim: what the parts gain at most adds up to what all mentions gain at most. Proof: no pair of mentions of
different parts has a positive gain (`translate`), and every bundle lies within one part. So cutting every
chain at the borders of parts keeps all bundles whole, breaks no rule and loses nothing: some optimum of the
relaxation has each chain within one part, and its gain is the sum of what it gains in each. The same sum
with the bound of each part, subtracted from the cost of leaving every link unused, is `Relaxed.bound`; and
if it equals the cost, each part is at its optimum, because none gains more than its bound.
"""

from dataclasses import dataclass

from caspr.engines.native.partition.outcome import OnBound, SearchOutcome, ignore_bound
from caspr.engines.native.state import PartSolver, SolveState, solve_ahead, solve_exactly, solve_quickly
from caspr.engines.native.translation.connectivity import Pair, pieces
from caspr.engines.native.translation.translate import Bundles, Part, gain_inside
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span


@dataclass(frozen=True)
class Relaxed:
    """A solution that respects bundles, forbidden pairs and nesting; not yet what must exist."""

    partition: Partition
    cost: int
    """What it costs if every link may stay unused."""
    bound: int
    """No partition with these bundles costs less."""

    @property
    def proven(self) -> bool:
        """Whether the partition is proven to be an optimum of the relaxation."""
        return self.bound >= self.cost


def relax_quickly(state: SolveState, bundles: Bundles, *, root: bool = False) -> Relaxed:
    """Solve by heuristics, with some mentions bundled."""
    relaxed = _until_respected(state, bundles, solve_quickly, root=root)
    assert relaxed is not None  # heuristics do not stop for a limit
    return relaxed


def relax_exactly(state: SolveState, bundles: Bundles, first: Relaxed | None = None) -> Relaxed:
    """Solve to the end, or as far as limits allow.

    `first` is what heuristics found at the root of the branching; bounds are reported only there.
    """
    if first is not None and first.proven:
        return first
    proven = None
    if not state.watch.expired():
        proven = _until_respected(state, bundles, solve_exactly, root=first is not None)
    if proven is not None and (first is None or proven.cost <= first.cost):
        return proven
    if first is None or proven is None:
        # An unfinished search may have found better clusterings than the heuristics; these are kept.
        found = relax_quickly(state, bundles)
        first = found if first is None or found.cost < first.cost else first
    return first if proven is None else Relaxed(first.partition, first.cost, proven.bound)


def _until_respected(
    state: SolveState, bundles: Bundles, solver: PartSolver, *, root: bool
) -> Relaxed | None:
    """Solve until no nested pair is broken; `None` if a limit came first."""
    instance = state.instance
    while True:
        parts = state.translator.translate(bundles, state.eager | state.nested)
        outcomes = _solve_parts(state, parts, solver, root=root)
        chains = [part.chains(found.labels) for part, found in zip(parts, outcomes, strict=True)]
        broken = _broken(state, chains)
        if not broken:
            break
        if solver is solve_exactly and state.watch.expired():
            return None
        state.nested |= broken
    gained = sum(part.constant + found.value for part, found in zip(parts, outcomes, strict=True))
    at_most = sum(part.constant + found.bound for part, found in zip(parts, outcomes, strict=True))
    total = instance.all_omitted
    kept: list[list[Span]] = []
    for held, found in zip(chains, outcomes, strict=True):
        if instance.has_idle_pairs or not found.proven:
            held, more = _connected(state, held, bundles)
            gained += more
        kept += held
    return Relaxed(canonical(kept), total - gained, total - at_most)


def _broken(state: SolveState, chains: list[list[list[Span]]]) -> set[Pair]:
    """Return the nested pairs of all chains that the rule keeps apart."""
    return {pair for part in chains for chain in part for pair in state.instance.nested_faults(chain)}


def _solve_parts(
    state: SolveState, parts: tuple[Part, ...], solver: PartSolver, *, root: bool
) -> list[SearchOutcome]:
    """Solve all parts, small ones first; at the root, report the bound as it rises."""
    total = state.instance.all_omitted
    at_most = sum(part.constant + part.problem.ceiling for part in parts)
    outcomes = []
    if solver is solve_exactly:
        solve_ahead(state, parts)
    for number, part in enumerate(parts):
        if root:
            state.done, state.parts = (number, len(parts)) if solver is solve_exactly else (0, 0)
            state.on_bound = _raising(state, total - at_most + part.problem.ceiling)
        outcome = solver(state, part)
        outcomes.append(outcome)
        at_most += outcome.bound - part.problem.ceiling
        if root and part.problem.size > 1:
            state.raise_bound(total - at_most)
    state.on_bound = ignore_bound
    return outcomes


def _raising(state: SolveState, least: int) -> OnBound:
    """Report bounds of one part as bounds of the whole, which costs `least` where that part gains nothing."""
    return lambda bound: state.raise_bound(least - bound)


def _connected(state: SolveState, chains: list[list[Span]], bundles: Bundles) -> tuple[list[list[Span]], int]:
    """Cut chains that do not hang together, which an optimum never needs; return also what that gains."""
    instance = state.instance
    glued = [(bundle[0], other) for bundle in bundles for other in bundle[1:]]
    cut, gained = [], 0
    for chain in chains:
        split = pieces(instance, chain, glued)
        if len(split) > 1:
            gained += sum(gain_inside(instance, piece) for piece in split) - gain_inside(instance, chain)
        cut += [piece for piece in split if len(piece) > 1]
    return cut, gained
