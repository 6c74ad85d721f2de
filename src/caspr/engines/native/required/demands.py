"""What must hang together: enforced mentions that may not stay alone, and chains held by used links.

The relaxation of `lazy` lets an enforced mention stay alone, and counts every pair at its cheapest
choice even if the links then left unused would have held a bundle together. Where its optimum offends,
take a piece of a bundle (by links that are free, preferred, or already decided to be used). In every
solution the piece has a used link to something outside itself, so branch on which:

    to another piece of its bundle    that link is used, at its extra cost;
    to another mention                which joins the bundle, its link used.

Each way out is again a relaxation with larger bundles and a penalty. Only bundles can offend: any other
chain could be cut between its pieces without loss. `settling` searches the ways.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.connectivity import Pair, contradicts, extra, pieces
from caspr.engines.native.translation.translate import Bundles
from caspr.task.solution import Partition
from caspr.task.votes import shared
from caspr.text.document import Span


@dataclass(frozen=True)
class Branch:
    """A node of the branching tree."""

    bundles: Bundles
    """What must be together."""
    used: tuple[Pair, ...] = ()
    """Links that are used although leaving them unused would be cheaper."""
    penalty: int = 0
    """What using them costs more."""


@dataclass(frozen=True)
class Offence:
    """A bundle that a partition treats in a way no solution does."""

    bundle: int
    """The number of the bundle."""
    piece: tuple[Span, ...]
    """A piece of it that has a used link to something else in every solution."""


@dataclass(frozen=True)
class Way:
    """One of the things a piece can have a used link to."""

    others: tuple[Span, ...]
    """The mentions of another piece of its bundle, or one mention outside."""
    node: Branch
    """What follows from it."""


def offences(session: SolveState, node: Branch, partition: Partition) -> list[Offence]:
    """Return a piece of every bundle that offends."""
    instance = session.instance
    chain_of = {mention: chain for chain in partition for mention in chain}
    found = []
    for number, bundle in enumerate(node.bundles):
        chain = chain_of.get(bundle[0], bundle[:1])
        if len(chain) == 1 and bundle[0] in instance.required:
            found.append(Offence(number, bundle[:1]))
        elif len(bundle) > 1 and bundle not in session.held and len(pieces(instance, chain, node.used)) > 1:
            own = pieces(instance, bundle, node.used)
            if len(own) > 1:
                found.append(Offence(number, tuple(own[0])))
    return found


def narrowest(session: SolveState, node: Branch, found: Sequence[Offence]) -> Offence:
    """Return the offence with the fewest ways out.

    A mention that has no partner left is found at once then, before the ways of all others.
    """
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda offence: sum(1 for _ in ways(session, node, offence)))


def ways(session: SolveState, node: Branch, offence: Offence, *, ties: bool = False) -> Iterator[Way]:
    """Yield each way in which a piece of a bundle can have a used link to something else.

    Unless all optima are wanted, one of several interchangeable mentions is enough.
    """
    instance, piece = session.instance, offence.piece
    bundle = node.bundles[offence.bundle]
    for other in pieces(instance, bundle, node.used):
        if other[0] not in piece:
            link = _cheapest(session, piece, other)
            if link is not None:
                glued = Branch(node.bundles, (*node.used, link[1]), node.penalty + link[0])
                yield Way(tuple(other), glued)
    holder = {span: position for position, spans in enumerate(node.bundles) for span in spans}
    special = frozenset(instance.mentions) if ties else session.told_apart | holder.keys()
    for mention in _partners(session, piece, set(bundle), special):
        joined = node.bundles[holder[mention]] if mention in holder else (mention,)
        union = tuple(sorted({*bundle, *joined}))
        link = _cheapest(session, piece, [mention])
        if link is not None and not contradicts(instance, union, session.apart):
            rest = tuple(b for b in node.bundles if b not in (bundle, joined))
            used = (*node.used, link[1]) if link[0] else node.used
            larger = Branch(tuple(sorted((*rest, union))), used, node.penalty + link[0])
            yield Way((mention,), larger)


def _cheapest(session: SolveState, piece: Sequence[Span], other: Sequence[Span]) -> tuple[int, Pair] | None:
    """Return the link between two pieces that costs least extra, and that cost."""
    costs = (
        (cost, (one, two))
        for one in piece
        for two in other
        if (cost := extra(session.instance, one, two)) is not None
    )
    return min(costs, default=None)


def _partners(
    session: SolveState, piece: Sequence[Span], bundle: set[Span], special: Container[Span]
) -> list[Span]:
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
