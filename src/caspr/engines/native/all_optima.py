"""All optimal partitions of an instance: the product over its regions and parts, each checked on its own.

Optima decide each region (`cases`) independently of all others. Here parts are those that
gains of 0 connect as well, if the link can be used (`translate`), and regions are unions of these.

Claim 1: an optimum has no chain across two regions. Proof: cut its chains as in claim 2 of the regions; that
costs nothing, so if it is an optimum it saves nothing either, and no pair across loses. But used links
hold the chain together, so one of them crosses the border. It gains 0 when used, so it can be used without
loss, and such a link connects its mentions into one part: a contradiction.

So the optima of an instance are the products of optima of its regions. Within a region, take the relaxation
without its demands, branch on ways out (`cases`, here with every partner as a way of its own), and
stop at the *leaves*: branches whose relaxation costs, with the penalty, what the best solution of the
region costs. A branch whose relaxation with demands costs more holds no optimum and is left.

Claim 2: the leaves hold all optima of the region between them. Proof: an optimum is below the root. Let
it be below a branch. The relaxation there costs no more than the optimum (`cases`, claim 1). If it
costs as much, the branch is a leaf, and the optimum is one of its relaxed optima: it respects the
bundles, and counted at the cheapest choices, with the penalty, it costs no more than it does. If it costs
less, its optimum offends in the region, since otherwise that would be a cheaper solution (`cases`,
claim 3); and the optimum is below one of the ways out (`cases`, claim 2), whose bundles or used links
are more. As these cannot grow for ever, a leaf comes.

Claim 3: a relaxed optimum of a leaf is an optimum of the region exactly if no mention in it is alone that
must not be, and free, preferred and the leaf's used links connect every chain. Proof: if so, it is a
solution that costs what the leaf costs. Conversely, an optimum below the leaf uses, besides links without
extra cost, one link between the same two pieces for each that the leaf uses (`cases`), and no others,
as its cost shows; so the leaf's links connect what its own connect. Both conditions are seen chain by
chain, so also part by part, and the product stays a product.

Several leaves may hold the same optimum, so their optima are listed and compared.
"""

from collections.abc import Iterator

import numpy as np

from caspr.engines.native.cases import (
    Branch,
    Region,
    all_regions,
    demanded_mentions,
    offending,
    settle_region,
    ways,
)
from caspr.engines.native.connectivity import pieces
from caspr.engines.native.nesting import relax_exactly
from caspr.engines.native.partition.optima import (
    UNKNOWN,
    Budget,
    Clustering,
    OptimaSet,
    all_optima,
    combine,
    first_and,
)
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.state import SolveState, solve_exactly
from caspr.engines.native.translate import Bundles, Part
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span

CHECKED = 50_000
"""How many clusterings of one part are listed at most where each must be checked."""
COMPARED = 5_000
"""How many optima of one leaf are listed at most where those of several must be compared."""

Chains = list[list[Span]]


def list_optima(state: SolveState, bundles: Bundles, limit: int) -> OptimaSet[Partition]:
    """List the partitions of optimal cost and count them; unknown where being alone may cost something."""
    root = Branch(bundles)
    if any(gain > 0 for gain in state.instance.chain_gains.values()):
        return UNKNOWN
    if not relax_exactly(state, bundles, demanded_mentions(state, bundles)).proven:
        return UNKNOWN
    parts = _parts(state, root)
    firsts = {part.nodes[0][0]: part for part in parts}
    bundled = {mention for bundle in bundles for mention in bundle}
    regions = []
    for reach in all_regions(state, root, parts):
        if bundled.isdisjoint(reach):
            within = [firsts[mention] for mention in sorted(reach & firsts.keys())]
            optima = [_in_part(state, root, part, limit) for part in within]
            regions.append(_product(optima, limit, state.watch))
        else:
            regions.append(_in_region(state, root, reach, limit))
    every = _product(regions, limit, state.watch)
    listed = sorted(canonical(chains) for chains in first_and(every.listed, state.watch))
    return OptimaSet(tuple(listed), every.count, every.known)


def _parts(state: SolveState, branch: Branch) -> tuple[Part, ...]:
    return state.translator.translate(branch.bundles, state.forbidden_pairs, ties=True)


def _product(independent: list[OptimaSet[Chains]], limit: int, watch: Watch) -> OptimaSet[Chains]:
    """Combine what is independent into chains of all, listing no more than asked for or time allows."""
    combined = combine(independent, limit, watch)
    listed = [
        [chain for chains in choice for chain in chains] for choice in first_and(combined.listed, watch)
    ]
    return OptimaSet(listed, combined.count, combined.known)


def _in_region(state: SolveState, root: Branch, reach: Region, limit: int) -> OptimaSet[Chains]:
    """Return the optima of a region with enforced mentions."""
    settled = settle_region(state, root, reach)
    if not settled.proven:
        return UNKNOWN
    leaves = list(_leaves(state, root, settled.bound, reach))
    limit = limit if len(leaves) == 1 else max(limit, COMPARED)
    by_leaf: list[OptimaSet[Chains]] = []
    for leaf in leaves:
        if leaf is None or state.watch.expired():
            by_leaf.append(UNKNOWN)
        else:
            parts = [part for part in _parts(state, leaf) if part.nodes[0][0] in reach]
            optima = [_in_part(state, leaf, part, limit) for part in parts]
            by_leaf.append(_product(optima, limit, state.watch))
    return by_leaf[0] if len(by_leaf) == 1 else _compared(by_leaf)


def _compared(by_leaf: list[OptimaSet[Chains]]) -> OptimaSet[Chains]:
    """Unite the optima of several leaves, which may share some."""
    distinct = sorted({canonical(chains) for optima in by_leaf for chains in optima.listed})
    count = len(distinct) if all(optima.complete for optima in by_leaf) else None
    chains = [[list(chain) for chain in partition] for partition in distinct]
    return OptimaSet(chains, count, max((optima.least for optima in by_leaf), default=0))


def _leaves(state: SolveState, branch: Branch, goal: int, reach: Region) -> Iterator[Branch | None]:
    """Yield the branches that hold optima of a region; `None` where a limit left that open."""
    if state.watch.expired():
        yield None
        return
    demanded = demanded_mentions(state, branch.bundles)
    if relax_exactly(state, branch.bundles, demanded).bound + branch.penalty > goal:
        return
    relaxed = relax_exactly(state, branch.bundles, demanded - reach)
    if relaxed.bound + branch.penalty == goal and relaxed.proven:
        yield branch
        return
    offence = offending(state, branch, relaxed, reach)
    if offence is None or not relaxed.proven:
        yield None
        return
    for way in ways(state, branch, offence, ties=True):
        yield from _leaves(state, way.branch, goal, reach)


def _in_part(state: SolveState, branch: Branch, part: Part, limit: int) -> OptimaSet[Chains]:
    """Return the optima of one part, as chains."""
    bundled = {mention for bundle in branch.bundles for mention in bundle}
    enforced = any(mention in bundled for mentions in part.nodes for mention in mentions)
    checked = enforced or state.instance.has_idle_pairs
    optima = _clusterings(state, part, Budget(state.watch, CHECKED if checked else limit))
    listed = state.watch.during(optima.listed)
    chains = [part.chains(np.array(labels, dtype=np.intp)) for labels in listed]
    if not checked:
        return OptimaSet(chains, optima.count, optima.known)
    every = optima.complete and len(chains) == optima.count
    sound = [partition for partition in state.watch.during(chains) if _holds(state, branch, part, partition)]
    return OptimaSet(sound, None if state.watch.expired() or not every else len(sound))


def _clusterings(state: SolveState, part: Part, budget: Budget) -> OptimaSet[Clustering]:
    if state.watch.expired():
        return UNKNOWN
    if part.problem.size == 1:
        return OptimaSet(((0,),), 1)
    outcome = solve_exactly(state, part)
    return all_optima(part.problem, outcome.value, budget) if outcome.proven else UNKNOWN


def _holds(state: SolveState, branch: Branch, part: Part, chains: Chains) -> bool:
    """Return whether nothing is alone that must not be, and links connect every chain."""
    instance = state.instance
    inside = {mention for chain in chains for mention in chain}
    required = {mention for mentions in part.nodes for mention in mentions} & instance.demands
    return required <= inside and all(len(pieces(instance, chain, branch.used)) == 1 for chain in chains)
