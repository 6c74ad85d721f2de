"""What used links must connect: the chains of enforced mentions, which may not stay alone.

The relaxation of `nesting` meets the demands of enforced mentions that are alone in their bundle,
*demanded* ones, but counts every other pair at its cheapest choice even if the links then left unused would
have held a bundle together. Where its optimum offends, take a *piece* of a bundle (by links that are free,
preferred, or already decided to be used). In every solution the piece has a used link to something outside
itself, so branch on which:

    to another piece of its bundle    that link is used, at its extra cost;
    to another mention                which joins the bundle, its link used.

Each way out is again a relaxation with larger bundles and a penalty. Where a relaxation without demands is
wanted (a first solution by heuristics, all optima), a demanded mention that it leaves alone offends as well:
it is a piece.

Say that a solution is *below* a branch if it holds each bundle in one chain and, for every link that the
branch uses, has a used link of its own between the same two pieces.

Claim 1: a solution below a branch costs at least what the relaxation there costs, plus the penalty. Proof:
the relaxation counts each pair at its cheapest choice, and a used link that costs e more than that adds e. Of
all links between two pieces the branch uses one that costs least extra, so the solution's own costs no less
extra. It has a different one for every link of the branch: a link that the branch uses joins its two pieces
into one, so the later ones lie between other pieces. The solution also has the links of the first partners of
demanded mentions, at what the relaxation counts for them (`translate`). These are others again: they
end in a demanded mention, and the links of the branch lie within bundles of several mentions.

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

**Regions** hold what demands compete for, so that demands far from each other are met one by one. A region is
a union of parts (and of mentions that are in none), closed as follows:

    with a mention that must not stay alone it holds all mentions that some annotator linked with it, and with
    one of these all mentions that must not stay alone and were linked with it;
    if some bundle is in several pieces, it holds with every mention all that were linked with it. For a
    mention that joins one of the pieces may bring links of its own along, and these further mentions.

"In one region" is an equivalence, so the regions of a branch are disjoint and cover all mentions that may
be in a chain.

Claim 1: between two regions no pair gains, and no link meets a demand. Proof: pairs that gain are within
one part. A link that meets the demand of a mention that is alone ends in a mention linked with it. If no
bundle is in several pieces, these are all demands; otherwise no link at all leaves a region.

Claim 2: the best solution costs what the best of each region cost together; regions are independent, so
their alternatives need not be combined. Proof: take a solution and cut its chains at the borders of
regions, then into what the used links that are left hold together. The first cut costs nothing, as no pair
across gains; the second neither, as no pair across is used, and apart it saves what inventing costs.
Bundles stay whole: one in a single piece is held by its own links, and if there is another, no link and so
no chain crosses a border. Every demand is still met by the same link. So the solution costs at least the
sum of what it costs in the regions. Conversely, solutions of all regions, put together, are a solution, as
no chain holds mentions of two regions.

Claim 3: the ways out of an offence in a region change nothing outside it, and every region below such a
way lies within the region or outside it. Proof: a way joins a piece with a linked mention and its bundle,
all within the region, and so are all others of that mention's kind, which have the same links; so parts
outside stay as they are. Neither parts nor demands arise that relate mentions across the border: parts
merge within the region, a mention that was alone and has joined a bundle demands nothing more, and if no
bundle is in several pieces, none is below: a joined mention is linked with the piece.

**The search** is for the best solution in which nothing offends. Where a relaxation offends, the ways out are
searched depth first, and a way whose relaxation already costs as much as the best one found is left. Each
region is settled on its own: its best way is kept while the next one is searched, so the work grows with the
number of regions, not with the product of their ways. A first solution is found by heuristics alone: they
meet all demands, or else the ways out of a relaxation without demands are taken, depth first, the first one
that leads to a solution.

Why bounds add up over regions. For a branch b and a region R, let C_R(b) be what the relaxation costs in R,
penalty included, and S_R(b) what the best solution in R below b costs. Solutions below b cost at least the
sum of S_R(b) over all regions (claim 2 of the regions).

Claim: `_settled`, begun at a branch a, keeps

    bound  <=  sum of S_R(a) over the regions settled so far  +  sum of C_R(a) over all others.

Proof: it begins with the bound of the relaxation at a, at most the sum of all C_R(a). Let it settle R at the
branch b that the regions settled before led to. There R is as it was at a (claim 3 of the regions): C_R(b) =
C_R(a), S_R(b) = S_R(a). `_branched` returns a bound B that is the least over the ways out (or what the
relaxation at b costs, which is no more than at any of them), and by the same claim for each way

    B  <=  S_R(b)  +  sum of C_X(b) over the regions X other than R,

as some way holds a best solution in R (claim 2 above). If the relaxation at b is proven, its cost is
the sum of all C_X(b), so B minus that cost is at most S_R(a) - C_R(a): just what the right side of the
claim rises by when R is settled. If it is not proven, its bound may lie anywhere below that sum, and the
same difference could count for R what a later and better bound found in another region, twice; then
nothing is added.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caspr.engines.native.connectivity import contradicts, extra, first_links, pieces
from caspr.engines.native.nesting import NEVER, Relaxed, relax_exactly, relax_quickly
from caspr.engines.native.state import SolveState
from caspr.engines.native.translate import Bundles, Part
from caspr.task.decisions import Pair
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
    used: tuple[Pair, ...] = ()
    """Links that are used although leaving them unused would be cheaper."""
    penalty: int = 0
    """What using them costs in addition."""


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


def offences(state: SolveState, branch: Branch, partition: Partition) -> list[Offence]:
    """Return a piece of every bundle that offends."""
    instance, demanded = state.instance, demanded_mentions(state, branch.bundles)
    chain_of = {mention: chain for chain in partition for mention in chain}
    broken = []
    for number, bundle in enumerate(branch.bundles):
        chain = chain_of.get(bundle[0], bundle[:1])
        if len(chain) == 1 and bundle[0] in instance.demands:
            broken.append(Offence(number, bundle[:1]))
        elif len(bundle) > 1 and bundle not in state.held and _is_torn(instance, chain, branch, demanded):
            own = pieces(instance, bundle, branch.used)
            if len(own) > 1:
                broken.append(Offence(number, tuple(own[0])))
    return broken


def _is_torn(instance: Instance, chain: Sequence[Span], branch: Branch, demanded: Collection[Span]) -> bool:
    """Return whether a chain is in several pieces, with what the branch uses and with first partners."""
    return len(pieces(instance, chain, [*branch.used, *first_links(instance, chain, demanded)])) > 1


def demanded_mentions(state: SolveState, bundles: Bundles) -> frozenset[Span]:
    """Return the mentions that must not stay alone, or pay for it, and are bundles of one."""
    return frozenset(
        bundle[0] for bundle in bundles if len(bundle) == 1 and _demands(state.instance, bundle[0])
    )


def _demands(instance: Instance, mention: Span) -> bool:
    return mention in instance.demands or instance.chain_gains.get(mention, 0) > 0


def narrowest(state: SolveState, branch: Branch, choices: Sequence[Offence]) -> Offence:
    """Return the offence with the fewest ways out.

    So a mention that has no partner left is met first, before the ways of all others.
    """
    if len(choices) == 1:
        return choices[0]
    return min(choices, key=lambda offence: sum(1 for _ in ways(state, branch, offence)))


def ways(state: SolveState, branch: Branch, offence: Offence, *, ties: bool = False) -> Iterator[Way]:
    """Yield each way in which a piece of a bundle can have a used link to something else.

    Unless all optima are wanted (`ties`), one of several interchangeable mentions is enough. There may be
    thousands: `ExpiredError` is raised some time after a limit was reached.
    """
    instance, piece = state.instance, offence.piece
    bundle = branch.bundles[offence.bundle]
    for partner in pieces(instance, bundle, branch.used):
        if partner[0] not in piece:
            link = _cheapest(state, piece, partner)
            if link is not None:
                linked = Branch(branch.bundles, (*branch.used, link[1]), branch.penalty + link[0])
                yield Way(tuple(partner), linked)
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


def _cheapest(state: SolveState, piece: Sequence[Span], partner: Sequence[Span]) -> tuple[int, Pair] | None:
    """Return the link between two pieces that costs least extra, and that cost."""
    costs = (
        (cost, (first, second))
        for first in piece
        for second in partner
        if (cost := extra(state.instance, first, second)) is not None
    )
    return min(costs, default=None)


def _partners(
    state: SolveState, piece: Sequence[Span], bundle: set[Span], special: Container[Span]
) -> list[Span]:
    """Return the mentions outside a bundle with a link to the piece, those with most votes first.

    Of several with one signature, all that are special are returned, and one of the rest.
    """
    instance, votes = state.instance, state.instance.votes
    linked = {mention for member in piece for mention in instance.neighbours(member)} - bundle
    ranked, met = [], set()
    for mention in sorted(linked):
        signature = votes.signature(mention)
        if instance.constraints.excludes(mention) or (mention not in special and signature in met):
            continue
        evidence = sum(meet(signature, votes.signature(member)).k for member in piece)
        ranked.append((-evidence, mention))
        if mention not in special:
            met.add(signature)
    return [mention for _, mention in sorted(ranked)]


Region = frozenset[Span]
Touching = Callable[[Span], Iterable[Span]]
"""Returns the mentions that a mention's demand may need, or whose demand may need it."""


def region(state: SolveState, branch: Branch, bundle: int) -> Region:
    """Return the region of a bundle."""
    demanded = demanded_mentions(state, branch.bundles)
    parts = state.translator.translate(branch.bundles, state.eager | state.nested, demanded=demanded)
    return _reached(state, branch.bundles[bundle], _parts_of_mentions(parts), _touching(state, branch))


def all_regions(state: SolveState, branch: Branch, parts: Iterable[Part]) -> Iterator[Region]:
    """Yield the regions that some parts make, each once."""
    homes, touching = _parts_of_mentions(parts), _touching(state, branch)
    left = dict.fromkeys(homes)
    while left:
        reach = _reached(state, [next(iter(left))], homes, touching)
        yield reach
        for mention in reach:
            left.pop(mention, None)


def _parts_of_mentions(parts: Iterable[Part]) -> Mapping[Span, Part]:
    return {mention: part for part in parts for mention in part.mentions}


def _reached(
    state: SolveState, start: Iterable[Span], homes: Mapping[Span, Part], touching: Touching
) -> Region:
    """Follow parts and demands as far as they go."""
    excludes = state.instance.constraints.excludes
    reached: set[Span] = set()
    open_ends = list(start)
    while open_ends:
        mention = open_ends.pop()
        if mention not in reached:
            part = homes.get(mention)
            members = {mention} if part is None else set(part.mentions)
            reached |= members
            linked = {near for span in members for near in touching(span)}
            open_ends += [near for near in linked - reached if not excludes(near)]
    return frozenset(reached)


def _touching(state: SolveState, branch: Branch) -> Touching:
    """Look up whose demands may need whom."""
    instance = state.instance
    neighbours = instance.neighbours
    for bundle in branch.bundles:
        held = len(bundle) == 1 or bundle in state.held
        if not held and len(pieces(instance, bundle, branch.used)) > 1:
            return neighbours
    touching: dict[Span, set[Span]] = defaultdict(set)
    for bundle in branch.bundles:
        if len(bundle) == 1 and _demands(instance, bundle[0]):
            for partner in neighbours(bundle[0]):
                touching[bundle[0]].add(partner)
                touching[partner].add(bundle[0])
    return lambda mention: touching.get(mention, ())


NOBODY: frozenset[Span] = frozenset()
"""No demanded mentions: a relaxation without demands."""


@dataclass(frozen=True)
class Settled:
    """The best way found to meet the demands of a region, or of all."""

    bound: int
    """No solution below the branch searched costs less, as far as this region matters."""
    branch: Branch | None = None
    """Where it was found; `None` if there is none, it is too expensive, or a limit came first."""
    relaxed: Relaxed | None = None

    @property
    def cost(self) -> int:
        """What the relaxation costs there, penalty included; at least that much if it is not proven."""
        assert self.branch is not None and self.relaxed is not None
        return self.relaxed.bound + self.branch.penalty

    @property
    def proven(self) -> bool:
        """Whether the way found is proven to be the best."""
        return self.relaxed is not None and self.relaxed.proven and self.bound >= self.cost


def settle(state: SolveState, bundles: Bundles) -> None:
    """Find the best solution in which nothing offends, and the bound, and leave both in the state.

    No best partition means that there is no solution.
    """
    root, demanded = Branch(bundles), demanded_mentions(state, bundles)
    first = relax_quickly(state, bundles, demanded, root=True)
    if _offending(state, root, first, None) is not None:
        _settled(state, root, relax_quickly(state, bundles, NOBODY), quick=True)
        if state.value is None:
            return
    relaxed = relax_exactly(state, bundles, demanded, first)
    settled = _settled(state, root, relaxed)
    state.raise_bound(settled.bound)


def settle_region(state: SolveState, branch: Branch, reach: Region) -> Settled:
    """Find the best way to meet the demands of one region, whatever offends elsewhere."""
    demanded = demanded_mentions(state, branch.bundles)
    return _settled(state, branch, relax_exactly(state, branch.bundles, demanded), reach=reach)


def offending(state: SolveState, branch: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region, or anywhere: the offence with the fewest ways out."""
    broken = offences(state, branch, relaxed.partition)
    broken = [fault for fault in broken if reach is None or branch.bundles[fault.bundle][0] in reach]
    if len(broken) < 2:
        return broken[0] if broken else None
    near = region(state, branch, broken[0].bundle)
    return narrowest(state, branch, [fault for fault in broken if branch.bundles[fault.bundle][0] in near])


def _settled(
    state: SolveState,
    branch: Branch,
    relaxed: Relaxed,
    *,
    reach: Region | None = None,
    ceiling: int = NEVER,
    quick: bool = False,
) -> Settled:
    """Meet the demands of one region after the other, those within `reach` if it is given.

    Ways that cost `ceiling` or more are not searched. With `quick`, heuristics take the place of all searches
    and the first way that leads to a solution is taken; the bound is of no use then.
    """
    settled = Settled(relaxed.bound + branch.penalty, branch, relaxed)
    while settled.branch is not None and settled.relaxed is not None:
        offence = _offending(state, settled.branch, settled.relaxed, reach)
        if offence is None:
            break
        if state.value is not None and state.watch.expired():
            return Settled(settled.bound)
        better = _branched(state, settled, offence, ceiling=ceiling, quick=quick)
        # Only what a proven relaxation costs may be subtracted: see the proof above.
        rise = better.bound - settled.cost if settled.relaxed.proven else 0
        settled = Settled(settled.bound + rise, better.branch, better.relaxed)
        if reach is None and not quick:
            state.raise_bound(settled.bound)
    return settled


def _offending(state: SolveState, branch: Branch, relaxed: Relaxed, reach: Region | None) -> Offence | None:
    """Return what offends in a region; where nothing offends anywhere, offer the solution."""
    offence = offending(state, branch, relaxed, reach)
    if offence is None and not offences(state, branch, relaxed.partition):
        # A link that is used at a penalty, or with a first partner, may turn out not to be needed.
        exact = not branch.used and not demanded_mentions(state, branch.bundles)
        cost = relaxed.cost if exact else state.cost(relaxed.partition)
        state.offer(relaxed.partition, cost)
    return offence


def _branched(state: SolveState, settled: Settled, offence: Offence, *, ceiling: int, quick: bool) -> Settled:
    """Try the ways out of an offence and return the best; `ceiling` is what is too expensive."""
    assert settled.branch is not None
    floor, reach = settled.cost, region(state, settled.branch, offence.bundle)
    best, bound = Settled(NEVER), NEVER
    for way in ways(state, settled.branch, offence):
        if best.branch is not None and (quick or best.cost <= floor):
            bound = floor
            break
        if state.watch.expired() and (state.value is not None or best.branch is not None):
            bound = floor
            break
        # Without any solution yet, a limit does not stop the dive at once: its relaxations are quick then.
        state.watch.check_grace(GRACE)
        bundles = way.branch.bundles
        if quick:
            relaxed = relax_quickly(state, bundles, NOBODY)
        else:
            relaxed = relax_exactly(state, bundles, demanded_mentions(state, bundles))
        tried = Settled(relaxed.bound + way.branch.penalty)
        if tried.bound < ceiling:
            tried = _settled(state, way.branch, relaxed, reach=reach, ceiling=ceiling, quick=quick)
        bound = min(bound, tried.bound)
        if tried.branch is not None and (best.branch is None or tried.cost < best.cost):
            best, ceiling = tried, min(ceiling, tried.cost)
    return Settled(max(bound, floor), best.branch, best.relaxed)
