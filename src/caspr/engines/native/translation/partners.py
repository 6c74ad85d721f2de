"""Mentions that must not stay alone, as demands on nodes: whom they could be linked with, and at what cost.

A mention that a decision wants in some chain, without saying with which other, is *lone* as long as nothing
else is in its bundle. In every solution used links hold its chain together, so one of them ends in it: its
partner is one of the mentions that an annotator linked it with. The demand of its node
(`partition.partners`) has all nodes with such a mention as partners, each at what its cheapest link costs
beyond leaving it unused.

*Order.* Partners are in the order of cost, then of node. Let a solution pay for the links that connect the
pieces of its chains (`task.price.pricing`) as a minimum spanning tree does, with ties decided by the
numbers of the two nodes, the smaller first. A lone mention whose first partner costs something is a piece
of its own, and of all links that end in a piece, the first in that order is in the tree. For one mention
the order by both numbers is the order by the other node's number. So a solution pays for the links of all
first partners, each once, and no first partner is dearer than another in the cluster.

*Twins.* Mentions of one kind that nothing distinguishes could be swapped. Let d lone mentions be linked with
the kind. Some optimum has all mentions of the kind that are not first partners together if they gain together
(each may move to the others, which leaves all first partners where they are), and alone if they do not
(none of their pairs gains). The at most d first partners may be any of the kind. So d of them are nodes of
their own, and the others are one node of twins, or are left out.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from caspr.engines.native.partition.partners.demand import Demand, Demands
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import Watch, checked
from caspr.engines.native.translation.connectivity import Pair, extra
from caspr.task.instance import Instance
from caspr.text.document import Span


def linked_kinds(
    instance: Instance, kind_of: Mapping[Span, int], lone: Collection[Span]
) -> Mapping[Span, frozenset[int]]:
    """Return the kinds of the mentions that each lone mention is linked with."""
    return {
        mention: frozenset(kind_of[one] for one in instance.votes.neighbours(mention) if one in kind_of)
        for mention in sorted(lone)
    }


def single_partners(
    by_kind: Sequence[Sequence[Span]],
    linked: Mapping[Span, frozenset[int]],
    bundled: Collection[Span],
    forbidden: Collection[Pair],
) -> frozenset[Span]:
    """Return the mentions that are nodes of their own because a lone mention may be linked with one."""
    distinguished = {span for pair in forbidden for span in pair} if linked else set()
    single: set[Span] = set()
    for kind, count in Counter(kind for kinds in linked.values() for kind in kinds).items():
        mentions = [mention for mention in by_kind[kind] if mention not in bundled]
        single.update(mention for mention in mentions if mention in distinguished)
        single.update(islice((mention for mention in mentions if mention not in distinguished), count))
    return frozenset(single)


def demands_of(
    instance: Instance,
    problem: SparseProblem,
    nodes: Sequence[Sequence[Span]],
    lone: Collection[Span],
    watch: Watch | None,
) -> Demands:
    """Return the demands of the lone mentions among the nodes of a problem."""
    home = {mention: number for number, mentions in enumerate(nodes) for mention in mentions}
    own = checked((mention for mention in sorted(lone) if mention in home), watch)
    return tuple(_demand(instance, problem, home, mention) for mention in own)


def _demand(instance: Instance, problem: SparseProblem, home: Mapping[Span, int], mention: Span) -> Demand:
    own = home[mention]
    cheapest: dict[int, int] = {}
    for other in instance.votes.neighbours(mention):
        node, cost = home.get(other, own), extra(instance, mention, other)
        if cost is not None and node != own:
            cheapest[node] = min(cost, cheapest.get(node, cost))
    barred = problem.forbidden_with(own)
    ranked = sorted((cost, node) for node, cost in cheapest.items() if not barred[node])
    return Demand(
        own,
        own,
        tuple(node for _, node in ranked),
        tuple(cost for cost, _ in ranked),
        tuple((min(own, node), max(own, node)) for _, node in ranked),
    )
