"""What must hang together: enforced mentions that may not stay alone, and chains held by used links.

The relaxation of `lazy` lets an enforced mention stay alone, and counts every pair at its cheapest
choice even if the links then left unused would have held a bundle together. Where its optimum offends,
take a piece of a bundle (by links that are free, preferred, or already decided to be used). In every
solution the piece has a used link to something outside itself, so branch on which:

    to another piece of its bundle    that link is used, at its extra cost;
    to another mention                which joins the bundle, its link used.

Each branch is again a relaxation with larger bundles and a penalty, so a bound prunes it. Only bundles
can offend: any other chain could be cut between its pieces without loss.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from caspr.document import Span
from caspr.engines.native.lazy import Relaxed, relax_exactly, relax_quickly
from caspr.engines.native.pieces import Pair, contradicts, extra, pieces
from caspr.engines.native.session import Session
from caspr.engines.native.translate import Bundles
from caspr.pricing import price
from caspr.solution import Partition
from caspr.votes import shared


@dataclass(frozen=True)
class Node:
    """A node of the branching tree."""

    bundles: Bundles
    """What must be together."""
    used: tuple[Pair, ...] = ()
    """Links that are used although leaving them unused would be cheaper."""
    penalty: int = 0
    """What using them costs more."""


def settle(session: Session, bundles: Bundles) -> bool:
    """Find the best solution in which nothing offends; return whether the search was finished.

    The session's bound equals its value then; no best partition means that there is no solution.
    """
    return _explore(session, Node(bundles), root=True)


def _explore(session: Session, node: Node, *, root: bool = False) -> bool:
    first = relax_quickly(session, node.bundles, root=True) if root else None
    if first is not None:
        _offered(session, node, first)
    relaxed = relax_exactly(session, node.bundles, first)
    offence = _offered(session, node, relaxed)
    bound = relaxed.bound + node.penalty
    if offence is None or (session.value is not None and bound >= session.value):
        return session.value is not None and bound >= session.value
    finished = True
    for child in children(session, node, *offence):
        # Without any solution yet, a limit does not stop the dive: its relaxations are quick then.
        if session.value is not None and session.watch.over():
            return False
        if session.value is not None and bound >= session.value:
            break
        finished = _explore(session, child) and finished
    return finished


def _offered(session: Session, node: Node, relaxed: Relaxed) -> tuple[int, list[Span]] | None:
    """Offer a solution in which nothing offends; return what does."""
    offence = find_offence(session, node, relaxed.partition)
    if offence is None:
        # A link that is used at a penalty may turn out not to be needed.
        exact = not node.used
        cost = relaxed.cost if exact else price(session.instance, relaxed.partition).total
        session.offer(relaxed.partition, cost)
    return offence


def find_offence(session: Session, node: Node, partition: Partition) -> tuple[int, list[Span]] | None:
    """Return the bundle that offends with the fewest ways out, and one of its pieces.

    Fewest first: a mention that has no partner left is found at once, before the ways of all others.
    """
    instance = session.instance
    chain_of = {mention: chain for chain in partition for mention in chain}
    found = []
    for number, bundle in enumerate(node.bundles):
        chain = chain_of.get(bundle[0], bundle[:1])
        if len(chain) == 1 and bundle[0] in instance.required:
            found.append((number, [bundle[0]]))
        elif len(bundle) > 1 and bundle not in session.held and len(pieces(instance, chain, node.used)) > 1:
            own = pieces(instance, bundle, node.used)
            if len(own) > 1:
                found.append((number, own[0]))
    if len(found) < 2:
        return found[0] if found else None
    return min(found, key=lambda offence: sum(1 for _ in children(session, node, *offence)))


def children(
    session: Session, node: Node, number: int, piece: list[Span], *, ties: bool = False
) -> Iterator[Node]:
    """Yield a node for each way in which a piece of a bundle can have a used link to something else.

    Unless all optima are wanted, one of several interchangeable mentions is enough.
    """
    instance = session.instance
    bundle = node.bundles[number]
    for other in pieces(instance, bundle, node.used):
        if other != piece and other[0] not in piece:
            link = _cheapest(session, piece, other)
            if link is not None:
                yield Node(node.bundles, (*node.used, link[1]), node.penalty + link[0])
    holder = {span: position for position, spans in enumerate(node.bundles) for span in spans}
    special = frozenset(instance.mentions) if ties else session.told_apart | holder.keys()
    for mention in _partners(session, piece, set(bundle), special):
        joined = node.bundles[holder[mention]] if mention in holder else (mention,)
        union = tuple(sorted({*bundle, *joined}))
        link = _cheapest(session, piece, [mention])
        if link is not None and not contradicts(instance, union, session.apart):
            rest = tuple(b for b in node.bundles if b not in (bundle, joined))
            used = (*node.used, link[1]) if link[0] else node.used
            yield Node(tuple(sorted((*rest, union))), used, node.penalty + link[0])


def _cheapest(session: Session, piece: list[Span], other: list[Span]) -> tuple[int, Pair] | None:
    """Return the link between two pieces that costs least extra, and that cost."""
    costs = (
        (cost, (one, two))
        for one in piece
        for two in other
        if (cost := extra(session.instance, one, two)) is not None
    )
    return min(costs, default=None)


def _partners(session: Session, piece: list[Span], bundle: set[Span], special: Container[Span]) -> list[Span]:
    """Return the mentions outside a bundle with a link to the piece, those with most votes first.

    Of several with one signature, all that are special are returned, and one of the rest.
    """
    instance, votes = session.instance, session.instance.votes
    linked = {mention for one in piece for mention in votes.neighbours(one)} - bundle
    ranked, met = [], set()
    for mention in sorted(linked):
        signature = votes.signature(mention)
        if instance.decisions.rules_out(mention) or (mention not in special and signature in met):
            continue
        evidence = sum(shared(signature, votes.signature(one)) for one in piece)
        ranked.append((-evidence, mention))
        if mention not in special:
            met.add(signature)
    return [mention for _, mention in sorted(ranked)]
