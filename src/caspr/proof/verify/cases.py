"""Check a proof by cases: what the piece of a bundle can be linked to, one case for each.

A *piece* is a bundle of one enforced mention, which must not stay alone, or some but not all mentions of a
bundle. Its chain holds more than the piece and is connected by used links, so some used link leads from the
piece to another mention. There must be a case for every mention that this can be, worked out from the
annotations and not taken from the proof, and all these mentions must be in the part. In its case the
mention's bundle joins the piece's, and the link is charged: a link that is cheaper left unused costs what
using it costs more.

*One case for several.* Let two mentions have one signature, be in no bundle, and let no rule or decision
distinguish them. Swapping them turns a solution in which the piece is linked with one into a solution of the
same cost in which it is linked with the other, so one case covers both. Both are in the part: so swaps in
different parts do not disturb each other. A case may also name several mentions of the piece's own bundle:
it assumes no more than the bundle already does, and charges the cheapest link.

*No link is charged twice.* Once a link is charged, the piece and the mentions of its case are glued, and
every later piece holds all or nothing of what is glued. So a link charged before is inside or outside of a
later piece and never leads out of it.
"""

from collections.abc import Callable, Iterator

from caspr.proof.verify.facts import Assumptions, Facts, Mentions
from caspr.proof.verify.reading import Proof, read_spans, require
from caspr.text.document import Span

BoundGain = Callable[[Facts, Proof, Mentions, Assumptions], int | None]
"""Bounds what the mentions in scope gain; `None` if the assumptions cannot hold."""


def bound_by_cases(
    facts: Facts, part: Proof, scope: Mentions, assumed: Assumptions, bound_case: BoundGain
) -> int | None:
    """Bound what a part gains by the best of its cases, once these are seen to be all there are."""
    piece = frozenset(read_spans(part["piece"]))
    bundle = _bundle_of(facts, piece, scope, assumed)
    gains: list[int] = []
    covered: set[Span] = set()
    for case in part["cases"]:
        others = frozenset(read_spans(case["with"]))
        require(others <= scope - piece, "a case is about a mention outside its part")
        require(bundle.issuperset(others) or len(others) == 1, "a case is about several mentions")
        costs = [facts.extra(one, other) for one in piece for other in others]
        links = [cost for cost in costs if cost is not None]
        require(bool(links), "a case is about mentions that nobody linked")
        gain = bound_case(facts, case, scope, assumed.linked(piece, others))
        if gain is not None:
            gains.append(gain - min(links))
        covered |= others
    _check_cases(facts, piece, bundle, covered, scope, assumed)
    return max(gains, default=None)


def _bundle_of(facts: Facts, piece: Mentions, scope: Mentions, assumed: Assumptions) -> Mentions:
    """Return the bundle a piece is of, once it is seen that its chain must hold more than the piece."""
    first = min(piece)
    bundle = assumed.bundles.get(first, frozenset())
    alone = piece == bundle == {first} and first in facts.instance.required
    require(alone or piece < bundle, "a piece need not be linked to anything")
    require(bundle <= scope, "a piece is outside its part")
    require(not assumed.splits_glued(piece), "a piece cuts through what is glued")
    return bundle


def _check_cases(
    facts: Facts,
    piece: Mentions,
    bundle: Mentions,
    covered: set[Span],
    scope: Mentions,
    assumed: Assumptions,
) -> None:
    """Check that every mention the piece can be linked to, or one interchangeable with it, has its case."""
    special = facts.distinguished | assumed.bundles.keys()
    signature = facts.instance.votes.signature
    covered_signatures = {signature(mention) for mention in covered - special}
    for mention in _linkable(facts, piece, bundle, assumed):
        alike = mention not in special and signature(mention) in covered_signatures
        require(mention in scope, f"the case of {tuple(mention)} reaches beyond its part")
        require(mention in covered or alike, f"the case of {tuple(mention)} is missing")


def _linkable(facts: Facts, piece: Mentions, bundle: Mentions, assumed: Assumptions) -> Iterator[Span]:
    """Yield the mentions to which a piece can have a used link."""
    instance = facts.instance
    free = {mention for mention in bundle if any(instance.is_free(mention, one) for one in piece)}
    voted = {other for one in piece for other in instance.votes.neighbours(one)}
    for mention in sorted(((voted | free) & facts.allowed) - piece):
        joining = assumed.bundles.get(mention, frozenset({mention})) - bundle
        if not any(instance.is_forbidden(one, other) for one in bundle for other in joining):
            yield mention
