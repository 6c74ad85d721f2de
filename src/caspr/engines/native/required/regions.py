"""Regions: what demands compete for, so that those far from each other are met one by one.

A region is a union of parts (and of mentions that are in none), closed as follows:

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
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from caspr.engines.native.required.demands import Branch, lone_mentions
from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.connectivity import pieces
from caspr.engines.native.translation.translate import Part
from caspr.text.document import Span

Region = frozenset[Span]
Touching = Callable[[Span], Iterable[Span]]
"""Returns the mentions that a mention's demand may need, or whose demand may need it."""


def region(state: SolveState, branch: Branch, bundle: int) -> Region:
    """Return the region of a bundle."""
    lone = lone_mentions(state, branch.bundles)
    parts = state.translator.translate(branch.bundles, state.eager | state.nested, lone=lone)
    return _reached(state, branch.bundles[bundle], _homes(parts), _touching(state, branch))


def all_regions(state: SolveState, branch: Branch, parts: Iterable[Part]) -> Iterator[Region]:
    """Yield the regions that some parts make, each once."""
    homes, touching = _homes(parts), _touching(state, branch)
    left = dict.fromkeys(homes)
    while left:
        found = _reached(state, [next(iter(left))], homes, touching)
        yield found
        for mention in found:
            left.pop(mention, None)


def _homes(parts: Iterable[Part]) -> Mapping[Span, Part]:
    return {mention: part for part in parts for mentions in part.nodes for mention in mentions}


def _reached(
    state: SolveState, start: Iterable[Span], homes: Mapping[Span, Part], touching: Touching
) -> Region:
    """Follow parts and demands as far as they go."""
    excludes = state.instance.decisions.excludes
    reached: set[Span] = set()
    open_ends = list(start)
    while open_ends:
        mention = open_ends.pop()
        if mention not in reached:
            part = homes.get(mention)
            found = {mention} if part is None else {one for mentions in part.nodes for one in mentions}
            reached |= found
            linked = {other for one in found for other in touching(one)}
            open_ends += [other for other in linked - reached if not excludes(other)]
    return frozenset(reached)


def _touching(state: SolveState, branch: Branch) -> Touching:
    """Look up whose demands may need whom."""
    instance = state.instance
    neighbours = instance.votes.neighbours
    for bundle in branch.bundles:
        held = len(bundle) == 1 or bundle in state.held
        if not held and len(pieces(instance, bundle, branch.used)) > 1:
            return neighbours
    touching: dict[Span, set[Span]] = defaultdict(set)
    for bundle in branch.bundles:
        if len(bundle) == 1 and bundle[0] in instance.required:
            for other in neighbours(bundle[0]):
                touching[bundle[0]].add(other)
                touching[other].add(bundle[0])
    return lambda mention: touching.get(mention, ())
