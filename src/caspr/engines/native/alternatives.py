"""All optimal partitions of an instance: the product over its parts, checked for what must hang together.

The leaves of the branching in `demands` whose relaxation costs as much as the optimum hold all optimal
partitions between them: follow an optimum's used links down the tree, and its cost in the relaxation
never exceeds the optimum. In a leaf, a relaxed optimum is an optimum if nothing in it offends; that is
seen chain by chain, so also part by part, and the product stays a product.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

import numpy as np

from caspr.document import Span
from caspr.engines.native.demands import Node, ways
from caspr.engines.native.lazy import relax_exactly
from caspr.engines.native.pieces import pieces
from caspr.engines.native.session import Session, solve_exactly
from caspr.engines.native.settling import offending
from caspr.engines.native.ties import Budget, Ties, all_optima
from caspr.engines.native.translate import Bundles, Part, conflicts
from caspr.solution import Partition, canonical

CHECKED = 50_000
"""How many clusterings of one part are listed at most where each must be checked."""

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
    """The same for one part."""

    chains: list[Chains]
    count: int | None
    least: int


def list_optima(session: Session, bundles: Bundles, optimum: int, limit: int) -> Alternatives:
    """List the partitions of optimal cost and count them."""
    leaves = list(_leaves(session, Node(bundles), optimum))
    found = [_in_leaf(session, leaf, limit) for leaf in leaves if leaf is not None]
    if len(found) == 1 and len(leaves) == 1:
        return replace(found[0], partitions=tuple(sorted(found[0].partitions)))
    partitions = sorted({partition for each in found for partition in each.partitions})
    known = None not in leaves and all(each.count == len(each.partitions) for each in found)
    least = max([len(partitions), *(each.least for each in found)])
    return Alternatives(tuple(partitions[:limit]), len(partitions) if known else None, least)


def _leaves(session: Session, node: Node, optimum: int) -> Iterator[Node | None]:
    """Yield the nodes that hold optima; `None` where a limit left that open."""
    relaxed = relax_exactly(session, node.bundles)
    cost = relaxed.bound + node.penalty
    if cost > optimum:
        return
    if relaxed.bound < relaxed.cost or session.watch.over():
        yield None
    elif cost == optimum:
        yield node
    else:
        offence = offending(session, node, relaxed, None)
        assert offence is not None  # otherwise this would be better than the optimum
        for way in ways(session, node, offence, ties=True):
            yield from _leaves(session, way.node, optimum)


def _in_leaf(session: Session, node: Node, limit: int) -> Alternatives:
    forbidden = conflicts(session.instance, all_pairs=True) | session.apart
    parts = session.translator.translate(node.bundles, forbidden, ties=True)
    found = [_in_part(session, node, part, limit) for part in parts]
    counts = [choices.count for choices in found]
    count = None if None in counts else prod(c for c in counts if c is not None)
    chosen = islice(product(*(choices.chains for choices in found)), limit)
    listed = tuple(canonical(chain for chains in choice for chain in chains) for choice in chosen)
    return Alternatives(listed, count, max(prod(choices.least for choices in found), len(listed), 1))


def _in_part(session: Session, node: Node, part: Part, limit: int) -> _Choices:
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


def _ties(session: Session, part: Part, budget: Budget) -> Ties:
    if part.problem.size == 1:
        return Ties(((0,),), 1)
    outcome = solve_exactly(session, part)
    return all_optima(part.problem, outcome.value, budget) if outcome.proven else Ties((), None)


def _holds(session: Session, node: Node, part: Part, chains: Chains) -> bool:
    """Tell whether nothing is alone that must not be, and every chain hangs together."""
    instance = session.instance
    inside = {mention for chain in chains for mention in chain}
    required = {mention for mentions in part.nodes for mention in mentions} & instance.required
    return required <= inside and all(len(pieces(instance, chain, node.used)) == 1 for chain in chains)
