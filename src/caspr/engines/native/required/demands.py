"""What must hang together: chains held by used links, and enforced mentions that may not stay alone.

The relaxation of `translation.nesting` meets the demands of enforced mentions that are alone in their bundle,
*lone* ones, but counts every other pair at its cheapest choice even if the links then left unused would have
held a bundle together. Where its optimum offends, take a *piece* of a bundle (by links that are free,
preferred, or already decided to be used). In every solution the piece has a used link to something outside
itself, so branch on which:

    to another piece of its bundle    that link is used, at its extra cost;
    to another mention                which joins the bundle, its link used.

Each way out is again a relaxation with larger bundles and a penalty. `settling` searches the ways. Where a
relaxation without demands is wanted (a first solution by heuristics, all optima), a lone mention that it
leaves alone offends as well: it is a piece.

Say that a solution is *below* a branch if it holds each bundle in one chain and, for every link that the
branch uses, has a used link of its own between the same two pieces.

Claim 1: a solution below a branch costs at least what the relaxation there costs, plus the penalty. Proof:
the relaxation counts each pair at its cheapest choice, and a used link that costs e more than that adds e. Of
all links between two pieces the branch uses one that costs least extra, so the solution's own costs no less
extra. It has a different one for every link of the branch: a link that the branch uses joins its two pieces
into one, so the later ones lie between other pieces. The solution also has the links of the first partners of
lone mentions, at what the relaxation counts for them (`translation.partners`). These are others again: they
end in a lone mention, and the links of the branch lie within bundles of several mentions.

Claim 2: a solution below a branch is below one of the ways out of an offence there. Proof: the chain that
holds the piece has something outside it, and used or free links hold the chain together, so one of them
leaves the piece. It is none of those that belong to links of the branch, which lie within pieces. It ends
in another piece of the bundle, or in a mention outside; both are ways, unless the rules keep the mention
out of the chain. Unless all optima are wanted, one of several mentions outside stands for all that could be
swapped with it, which changes neither cost nor rules: then some optimum is below a way.

Claim 3: a partition of the relaxation in which nothing offends is a solution of that cost. Proof: let links
that are used without loss, links of the branch and links of first partners hold pieces together. A pair
between two pieces of a chain costs what inventing it costs, or is forbidden. Where no bundle holds the pieces
together, cutting between them saves that for each pair and keeps first partners; so an optimum has no such
chain unless that is 0 (`Instance.has_idle_pairs`), and there, or where the partition is no proven optimum,
`nesting` has cut it. Hence a chain of several pieces has a bundle of several pieces, which offends; and an
enforced mention in a chain of one piece has a used link.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass

from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.connectivity import Pair, contradicts, extra, first_links, pieces
from caspr.engines.native.translation.translate import Bundles
from caspr.task.instance import Instance
from caspr.task.solution import Partition
from caspr.task.votes import meet
from caspr.text.document import Span

GRACE = 0.3
"""Seconds for which a first solution is looked for after a limit was reached: there may be none."""


@dataclass(frozen=True)
class Branch:
    """A subproblem in the branching on ways out: what was decided on the way to it."""

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
    branch: Branch
    """What follows from it."""


def offences(state: SolveState, branch: Branch, partition: Partition) -> list[Offence]:
    """Return a piece of every bundle that offends."""
    instance, lone = state.instance, lone_mentions(state, branch.bundles)
    chain_of = {mention: chain for chain in partition for mention in chain}
    found = []
    for number, bundle in enumerate(branch.bundles):
        chain = chain_of.get(bundle[0], bundle[:1])
        if len(chain) == 1 and bundle[0] in instance.required:
            found.append(Offence(number, bundle[:1]))
        elif len(bundle) > 1 and bundle not in state.held and _is_torn(instance, chain, branch, lone):
            own = pieces(instance, bundle, branch.used)
            if len(own) > 1:
                found.append(Offence(number, tuple(own[0])))
    return found


def _is_torn(instance: Instance, chain: Sequence[Span], branch: Branch, lone: Collection[Span]) -> bool:
    """Return whether a chain is in several pieces, with what the branch uses and with first partners."""
    return len(pieces(instance, chain, [*branch.used, *first_links(instance, chain, lone)])) > 1


def lone_mentions(state: SolveState, bundles: Bundles) -> frozenset[Span]:
    """Return the mentions that must not stay alone and are bundles of one."""
    required = state.instance.required
    return frozenset(bundle[0] for bundle in bundles if len(bundle) == 1 and bundle[0] in required)


def narrowest(state: SolveState, branch: Branch, found: Sequence[Offence]) -> Offence:
    """Return the offence with the fewest ways out.

    So a mention that has no partner left is met first, before the ways of all others.
    """
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda offence: sum(1 for _ in ways(state, branch, offence)))


def ways(state: SolveState, branch: Branch, offence: Offence, *, ties: bool = False) -> Iterator[Way]:
    """Yield each way in which a piece of a bundle can have a used link to something else.

    Unless all optima are wanted (`ties`), one of several interchangeable mentions is enough. There may be
    thousands: `ExpiredError` is raised some time after a limit was reached.
    """
    instance, piece = state.instance, offence.piece
    bundle = branch.bundles[offence.bundle]
    for other in pieces(instance, bundle, branch.used):
        if other[0] not in piece:
            link = _cheapest(state, piece, other)
            if link is not None:
                linked = Branch(branch.bundles, (*branch.used, link[1]), branch.penalty + link[0])
                yield Way(tuple(other), linked)
    holder = {span: position for position, spans in enumerate(branch.bundles) for span in spans}
    special = frozenset(instance.mentions) if ties else state.distinguished | holder.keys()
    for mention in _partners(state, piece, set(bundle), special):
        state.watch.check_grace(GRACE)
        joined = branch.bundles[holder[mention]] if mention in holder else (mention,)
        union = tuple(sorted({*bundle, *joined}))
        link = _cheapest(state, piece, [mention])
        if link is not None and not contradicts(instance, union, state.apart):
            rest = tuple(b for b in branch.bundles if b not in (bundle, joined))
            used = (*branch.used, link[1]) if link[0] else branch.used
            larger = Branch(tuple(sorted((*rest, union))), used, branch.penalty + link[0])
            yield Way((mention,), larger)


def _cheapest(state: SolveState, piece: Sequence[Span], other: Sequence[Span]) -> tuple[int, Pair] | None:
    """Return the link between two pieces that costs least extra, and that cost."""
    costs = (
        (cost, (one, two))
        for one in piece
        for two in other
        if (cost := extra(state.instance, one, two)) is not None
    )
    return min(costs, default=None)


def _partners(
    state: SolveState, piece: Sequence[Span], bundle: set[Span], special: Container[Span]
) -> list[Span]:
    """Return the mentions outside a bundle with a link to the piece, those with most votes first.

    Of several with one signature, all that are special are returned, and one of the rest.
    """
    instance, votes = state.instance, state.instance.votes
    linked = {mention for one in piece for mention in votes.neighbours(one)} - bundle
    ranked, met = [], set()
    for mention in sorted(linked):
        signature = votes.signature(mention)
        if instance.decisions.excludes(mention) or (mention not in special and signature in met):
            continue
        evidence = sum(meet(signature, votes.signature(one)).k for one in piece)
        ranked.append((-evidence, mention))
        if mention not in special:
            met.add(signature)
    return [mention for _, mention in sorted(ranked)]
