"""Solving an instance with bundles and demands; nested pairs are forbidden when a solution breaks them.

Leaving rules out makes the problem easier and its optimum at least as good: a *relaxation*. If that
optimum breaks none of the rules left out, it is an optimum with them. Nested pairs that nobody linked
are left out because each distinguishes two otherwise equal mentions: with them in, hundreds of twins
could not be merged, and only about one in eight is ever broken. Pairs that are broken are put in, and
the parts they touch are solved again, first by heuristics alone, then to the end. The same is done with pairs
that rules of one's own forbid and nobody linked.

Mentions that must not stay alone (*demanded* ones) are demands on nodes (`translate`), unless a caller
wants the relaxation without them.

Claim: what the parts gain at most adds up to what all mentions gain at most. Proof: no pair of mentions of
different parts has a positive gain (`translate`), every bundle lies within one part, and every demanded
mention with all that it is linked with. So cutting every chain at the borders of parts keeps all bundles
whole and first partners where they are, breaks no rule and loses nothing: some optimum of the relaxation
has each chain within one part, and its gain is the sum of what it gains in each. The same sum with the
bound of each part, subtracted from the cost of leaving every link unused, is `Relaxed.bound`; and if it
equals the cost, each part is at its optimum, because none gains more than its bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from caspr.engines.native.connectivity import first_links, pieces
from caspr.engines.native.links import gain_inside
from caspr.engines.native.partition.outcome import (
    OnBound,
    OnFound,
    SearchOutcome,
    ignore_bound,
    ignore_found,
)
from caspr.engines.native.partition.problem import UNMET, Labels
from caspr.engines.native.state import PartSolver, SolveState, solve_exactly, solve_quickly
from caspr.engines.native.translate import Bundles, Part
from caspr.task.decisions import Pair
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span

OFTEN = 1.0
"""Seconds between two solutions that are reported while a part is being searched."""
NEVER = 1 << 256
"""More than any solution costs: the cost and the bound where there is none.

Costs are Python's integers. A document of fewer than 2^64 mentions and annotators, with coefficients below
2^20, costs less than 2^20 for each of fewer than 2^64 annotators and 2^128 pairs.
"""


@dataclass(frozen=True)
class Relaxed:
    """A solution that respects bundles, demands and nesting; links may not connect its bundles."""

    partition: Partition
    cost: int
    """What it costs if links may stay unused, except with first partners; over `NEVER` if one is missing."""
    bound: int
    """No partition with these bundles and demands costs less."""

    @property
    def proven(self) -> bool:
        """Whether the partition is proven to be an optimum of the relaxation."""
        return self.bound >= self.cost


def relax_quickly(
    state: SolveState, bundles: Bundles, demanded: frozenset[Span], *, root: bool = False
) -> Relaxed:
    """Solve by heuristics, with some mentions bundled and demands for those that must not stay alone."""
    relaxed = _until_respected(state, bundles, demanded, solve_quickly, root=root)
    assert relaxed is not None  # when a limit is reached, heuristics end with chains that are cut
    return relaxed


def relax_exactly(
    state: SolveState, bundles: Bundles, demanded: frozenset[Span], first: Relaxed | None = None
) -> Relaxed:
    """Solve to the end, or as far as limits allow.

    `first` is what heuristics found at the root of the branching; bounds are reported only there.
    """
    if first is not None and first.proven:
        return first
    proven = None
    if not state.watch.expired():
        proven = _until_respected(state, bundles, demanded, solve_exactly, root=first is not None)
    if proven is not None and (first is None or proven.cost <= first.cost):
        return proven
    if first is None or proven is None:
        # An unfinished search may have found better clusterings than the heuristics; these are kept.
        relaxed = relax_quickly(state, bundles, demanded)
        first = relaxed if first is None or relaxed.cost < first.cost else first
    return first if proven is None else Relaxed(first.partition, first.cost, proven.bound)


def _until_respected(
    state: SolveState, bundles: Bundles, demanded: frozenset[Span], solver: PartSolver, *, root: bool
) -> Relaxed | None:
    """Solve until no nested pair is broken.

    When a limit comes first, the result is `None`, or with heuristics chains that are cut where they break
    one.
    """
    while True:
        parts = state.translator.translate(bundles, state.eager | state.nested, demanded=demanded)
        outcomes = _solve_parts(state, parts, bundles, solver, root=root)
        chains = [part.chains(outcome.labels) for part, outcome in zip(parts, outcomes, strict=True)]
        broken = _broken(state, chains)
        if not broken:
            return _put_together(state, bundles, demanded, parts, outcomes, chains)
        if state.watch.expired():
            if solver is solve_exactly:
                return None
            return _put_together(state, bundles, demanded, parts, outcomes, chains, broken=True)
        state.nested |= broken


def _put_together(
    state: SolveState,
    bundles: Bundles,
    demanded: frozenset[Span],
    parts: tuple[Part, ...],
    outcomes: list[SearchOutcome],
    chains: list[list[list[Span]]],
    *,
    broken: bool = False,
) -> Relaxed:
    """Make one partition of the chains of all parts; cut those that no links connect or that break a rule."""
    instance = state.instance
    inside = sum(part.constant for part in parts)
    gained, at_most = (
        inside + sum(_number(value) for value in values)
        for values in ([outcome.value for outcome in outcomes], [outcome.bound for outcome in outcomes])
    )
    total, idle = instance.all_apart, instance.has_idle_pairs
    # Where no link may be invented, all pairs of a chain are used, but those within a bundle.
    complete = instance.coefficients.invent is None
    kept: list[list[Span]] = []
    for held, outcome in zip(chains, outcomes, strict=True):
        if broken:
            held, more = _cut(state, held, lambda chain: _without_nesting(state, chain, bundles))
            gained += more
        if broken or idle or not (outcome.proven or complete):
            held, more = _connected(state, held, bundles, demanded)
            gained += more
        kept += held
    return Relaxed(canonical(kept), total - gained, total - at_most)


def _number(gain: int) -> int:
    """Return a value or bound; where demands are not met, one so low that all costs exceed `NEVER`."""
    return -2 * NEVER if gain == UNMET else gain


def _broken(state: SolveState, chains: list[list[list[Span]]]) -> set[Pair]:
    """Return the pairs of all chains that the rule on nesting, or a rule of one's own, keeps apart."""
    return {pair for part in chains for chain in part for pair in _faults(state, chain)}


def _faults(state: SolveState, chain: list[Span]) -> list[Pair]:
    return [*state.instance.nested_faults(chain), *state.instance.rules.faults(chain)]


def _solve_parts(
    state: SolveState, parts: tuple[Part, ...], bundles: Bundles, solver: PartSolver, *, root: bool
) -> list[SearchOutcome]:
    """Solve all parts, small ones first; at the root, report bound and value as they get better."""
    total = state.instance.all_apart
    at_most = sum(part.constant + part.problem.ceiling for part in parts)
    outcomes: list[SearchOutcome] = []
    if root:
        state.raise_bound(total - at_most)
    for number, part in enumerate(parts):
        if root:
            state.done, state.parts = (number, len(parts)) if solver is solve_exactly else (0, 0)
            state.on_bound = _raising(state, total - at_most + part.problem.ceiling)
            if solver is solve_exactly:
                state.on_found = _offering(state, parts, bundles, outcomes)
        outcome = solver(state, part)
        outcomes.append(outcome)
        at_most += outcome.bound - part.problem.ceiling
        if root and part.problem.size > 1:
            state.raise_bound(total - at_most)
    state.on_bound, state.on_found = ignore_bound, ignore_found
    return outcomes


def _raising(state: SolveState, least: int) -> OnBound:
    """Report bounds of one part as bounds of the whole, which costs `least` where that part gains nothing."""
    return lambda bound: state.raise_bound(least - bound)


def _offering(
    state: SolveState, parts: tuple[Part, ...], bundles: Bundles, outcomes: list[SearchOutcome]
) -> OnFound:
    """Offer better clusterings of the next part as partitions of the whole, if these meet all demands."""
    number, last = len(outcomes), 0.0
    free = all(len(bundle) == 1 or bundle in state.held for bundle in bundles)

    def found(labels: Labels, value: int) -> None:
        nonlocal last
        if not free or monotonic() < last + OFTEN:
            return
        last = monotonic()
        later = [solve_quickly(state, part) for part in parts[number + 1 :]]
        held = [*outcomes[:number], SearchOutcome(labels, value, parts[number].problem.ceiling), *later]
        chains = [part.chains(outcome.labels) for part, outcome in zip(parts, held, strict=True)]
        broken = bool(_broken(state, chains))
        relaxed = _put_together(state, bundles, frozenset(), parts, held, chains, broken=broken)
        chained = {mention for chain in relaxed.partition for mention in chain}
        if state.instance.demands <= chained:
            # Links that were used for first partners may not be needed.
            unsure = state.instance.demands or state.instance.chain_gains
            cost = state.cost(relaxed.partition) if unsure else relaxed.cost
            state.offer(relaxed.partition, cost, tentative=True)

    return found


def _connected(
    state: SolveState, chains: list[list[Span]], bundles: Bundles, demanded: frozenset[Span]
) -> tuple[list[list[Span]], int]:
    """Cut chains that links do not connect, which no optimum needs; return also what that gains.

    Bundles stay whole, and so do demanded mentions and their first partners.
    """
    instance = state.instance
    glued = [(bundle[0], mention) for bundle in bundles for mention in bundle[1:]]

    def split(chain: list[Span]) -> list[list[Span]]:
        return pieces(instance, chain, [*glued, *first_links(instance, chain, demanded)])

    return _cut(state, chains, split)


def _cut(
    state: SolveState, chains: list[list[Span]], split: Callable[[list[Span]], list[list[Span]]]
) -> tuple[list[list[Span]], int]:
    """Cut chains into what a function makes of them; return also what that gains."""
    instance = state.instance
    cut, gained = [], 0
    for chain in chains:
        pieces = split(chain)
        if len(pieces) > 1:
            gained += sum(gain_inside(instance, piece) for piece in pieces) - gain_inside(instance, chain)
        cut += [piece for piece in pieces if len(piece) > 1]
    return cut, gained


def _without_nesting(state: SolveState, chain: list[Span], bundles: Bundles) -> list[list[Span]]:
    """Take the mentions that break a pair kept apart out of a chain, but no bundle apart."""
    faults = _faults(state, chain)
    if not faults:
        return [chain]
    whole = {mention: bundle for bundle in bundles for mention in bundle}
    against: dict[Span, set[Span]] = {}
    for outer, inner in faults:
        against.setdefault(outer, set()).add(inner)
        against.setdefault(inner, set()).add(outer)
    # Those that are in no fault stay; the others are added as long as they fit, bundles first.
    units = {whole.get(mention, (mention,)) for mention in chain}
    kept: set[Span] = set()
    out: list[list[Span]] = []
    for unit in sorted(
        units, key=lambda unit: (any(mention in against for mention in unit), -len(unit), unit)
    ):
        if any(against.get(mention, set()) & kept for mention in unit):
            out.append(list(unit))
        else:
            kept |= set(unit)
    return [sorted(kept), *out]
