"""Regions: what demands compete for, so that those far from each other are met one by one.

A region is a union of parts (and of mentions that are in none). With every mention that must not stay
alone it holds all mentions that one can be with, and so all others that may want the same. Between
regions no pair gains, and no link can satisfy a demand: what solutions cost at least adds up over regions,
and the ways out in several need not be combined.

A bundle in several pieces is different: a mention that joins one of the pieces brings its own links
along. Where there is such a bundle, a region is closed under all links.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from caspr.engines.native.required.demands import Branch
from caspr.engines.native.state import SolveState
from caspr.engines.native.translation.connectivity import pieces
from caspr.engines.native.translation.translate import Part
from caspr.text.document import Span

Region = frozenset[Span]
Touching = Callable[[Span], Iterable[Span]]
"""Tells the mentions that a mention's demand may need, or whose demand may need it."""


def region(session: SolveState, node: Branch, bundle: int) -> Region:
    """Return the region of a bundle."""
    parts = session.translator.translate(node.bundles, session.eager | session.nested)
    return _reached(session, node.bundles[bundle], _homes(parts), _touching(session, node))


def all_regions(session: SolveState, node: Branch, parts: Iterable[Part]) -> Iterator[Region]:
    """Yield the regions that some parts make, each once."""
    homes, touching = _homes(parts), _touching(session, node)
    left = dict.fromkeys(homes)
    while left:
        found = _reached(session, [next(iter(left))], homes, touching)
        yield found
        for mention in found:
            left.pop(mention, None)


def _homes(parts: Iterable[Part]) -> Mapping[Span, Part]:
    return {mention: part for part in parts for mentions in part.nodes for mention in mentions}


def _reached(
    session: SolveState, start: Iterable[Span], homes: Mapping[Span, Part], touching: Touching
) -> Region:
    """Follow parts and demands as far as they go."""
    rules_out = session.instance.decisions.rules_out
    reached: set[Span] = set()
    open_ends = list(start)
    while open_ends:
        mention = open_ends.pop()
        if mention not in reached:
            part = homes.get(mention)
            found = {mention} if part is None else {one for mentions in part.nodes for one in mentions}
            reached |= found
            linked = {other for one in found for other in touching(one)}
            open_ends += [other for other in linked - reached if not rules_out(other)]
    return frozenset(reached)


def _touching(session: SolveState, node: Branch) -> Touching:
    """Look up whose demands may need whom."""
    instance = session.instance
    neighbours = instance.votes.neighbours
    for bundle in node.bundles:
        held = len(bundle) == 1 or bundle in session.held
        if not held and len(pieces(instance, bundle, node.used)) > 1:
            return neighbours
    touching: dict[Span, set[Span]] = defaultdict(set)
    for bundle in node.bundles:
        if len(bundle) == 1 and bundle[0] in instance.required:
            for other in neighbours(bundle[0]):
                touching[bundle[0]].add(other)
                touching[other].add(bundle[0])
    return lambda mention: touching.get(mention, ())
