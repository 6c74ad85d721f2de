"""All optimal partitions of an instance: the product over its regions and parts, each checked on its own.

Optima decide each region (`regions`) independently of all others. Within one, the leaves of the branching
in `demands` whose relaxation costs as much as the region's optimum hold all of its optima between them:
follow an optimum's used links down the tree, and its cost in the relaxation never exceeds the optimum.
In a leaf, a relaxed optimum is an optimum if nothing in it offends; that is seen chain by chain, so also
part by part, and the product stays a product. Several leaves may hold the same optimum, so their optima are
listed and compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

import numpy as np

from caspr.engines.native.partition.enumerate import Budget, Ties, all_optima
from caspr.engines.native.required.demands import Branch, ways
from caspr.engines.native.required.regions import Region, all_regions
from caspr.engines.native.required.settling import offending, settle_region
from caspr.engines.native.state import SolveState, solve_exactly
from caspr.engines.native.translation.connectivity import pieces
from caspr.engines.native.translation.nesting import relax_exactly
from caspr.engines.native.translation.translate import Bundles, Part
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span

CHECKED = 50_000
"""How many clusterings of one part are listed at most where each must be checked."""
COMPARED = 5_000
"""How many alternatives of one leaf are listed at most where those of several must be compared."""

Chains = list[list[Span]]


@dataclass(frozen=True)
class Alternatives:
    """Optimal partitions."""

    partitions: tuple[Partition, ...]
    """As many as were asked for."""
    count: int | None
    """How many there are; `None` if that was not found out."""
    least: int = 1
    """There are at least so many."""


@dataclass(frozen=True)
class _Choices:
    """What a part or a region can be in an optimum."""

    chains: Sequence[Chains]
    """As many as were asked for."""
    count: int | None
    """How many there are; `None` if that was not found out."""
    least: int
    """There are at least so many."""


def list_optima(session: SolveState, bundles: Bundles, limit: int) -> Alternatives:
    """List the partitions of optimal cost and count them."""
    root = Branch(bundles)
    relaxed = relax_exactly(session, bundles)
    if relaxed.bound < relaxed.cost:
        return Alternatives((), None)
    parts = _parts(session, root)
    firsts = {part.nodes[0][0]: part for part in parts}
    bundled = {mention for bundle in bundles for mention in bundle}
    found = []
    for reach in all_regions(session, root, parts):
        if bundled.isdisjoint(reach):
            within = [firsts[mention] for mention in sorted(reach & firsts.keys())]
            found.append(_product([_in_part(session, root, part, limit) for part in within], limit))
        else:
            found.append(_in_region(session, root, reach, limit))
    every = _product(found, limit)
    return Alternatives(tuple(sorted(map(canonical, every.chains))), every.count, max(every.least, 1))


def _parts(session: SolveState, node: Branch) -> tuple[Part, ...]:
    return session.translator.translate(node.bundles, session.conflicts, ties=True)


def _product(found: Sequence[_Choices], limit: int) -> _Choices:
    """Combine what is independent, listing no more than asked for."""
    counts = [choices.count for choices in found]
    count = None if None in counts else prod(c for c in counts if c is not None)
    chosen = islice(product(*(choices.chains for choices in found)), limit)
    listed = [[chain for chains in choice for chain in chains] for choice in chosen]
    return _Choices(listed, count, max(prod(choices.least for choices in found), len(listed)))


def _in_region(session: SolveState, root: Branch, reach: Region, limit: int) -> _Choices:
    """Return the alternatives of a region with enforced mentions."""
    goal = settle_region(session, root, reach).bound
    leaves = list(_leaves(session, root, goal, reach))
    limit = limit if len(leaves) == 1 else max(limit, COMPARED)
    found = []
    for leaf in leaves:
        if leaf is None or session.watch.over():
            found.append(_Choices((), None, 0))
        else:
            parts = [part for part in _parts(session, leaf) if part.nodes[0][0] in reach]
            found.append(_product([_in_part(session, leaf, part, limit) for part in parts], limit))
    if len(found) == 1:
        return found[0]
    distinct = sorted({canonical(chains) for choices in found for chains in choices.chains})
    known = all(choices.count == len(choices.chains) for choices in found)
    least = max([len(distinct), *(choices.least for choices in found)])
    chains = [[list(chain) for chain in partition] for partition in distinct]
    return _Choices(chains, len(distinct) if known else None, least)


def _leaves(session: SolveState, node: Branch, goal: int, reach: Region) -> Iterator[Branch | None]:
    """Yield the nodes that hold optima of a region; `None` where a limit left that open."""
    if session.watch.over():
        yield None
        return
    relaxed = relax_exactly(session, node.bundles)
    cost = relaxed.bound + node.penalty
    if cost > goal:
        return
    if cost == goal and relaxed.bound == relaxed.cost:
        yield node
        return
    offence = offending(session, node, relaxed, reach)
    if offence is None or relaxed.bound < relaxed.cost:
        yield None
        return
    for way in ways(session, node, offence, ties=True):
        yield from _leaves(session, way.node, goal, reach)


def _in_part(session: SolveState, node: Branch, part: Part, limit: int) -> _Choices:
    """Return the alternatives of one part and their number."""
    bundled = {mention for bundle in node.bundles for mention in bundle}
    enforced = any(mention in bundled for mentions in part.nodes for mention in mentions)
    checked = enforced or session.instance.objective.invent == 0
    budget = Budget(session.watch, CHECKED if checked else limit)
    ties = _ties(session, part, budget)
    alternatives = [part.chains(np.array(labels, dtype=np.intp)) for labels in ties.clusterings]
    if not checked:
        return _Choices(alternatives, ties.count, ties.least)
    alternatives = [chains for chains in alternatives if _holds(session, node, part, chains)]
    return _Choices(alternatives, len(alternatives) if ties.complete else None, len(alternatives))


def _ties(session: SolveState, part: Part, budget: Budget) -> Ties:
    if part.problem.size == 1:
        return Ties(((0,),), 1)
    outcome = solve_exactly(session, part)
    return all_optima(part.problem, outcome.value, budget) if outcome.proven else Ties((), None)


def _holds(session: SolveState, node: Branch, part: Part, chains: Chains) -> bool:
    """Tell whether nothing is alone that must not be, and every chain hangs together."""
    instance = session.instance
    inside = {mention for chain in chains for mention in chain}
    required = {mention for mentions in part.nodes for mention in mentions} & instance.required
    return required <= inside and all(len(pieces(instance, chain, node.used)) == 1 for chain in chains)
