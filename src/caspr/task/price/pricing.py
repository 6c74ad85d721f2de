"""Prices: what chains cost, recomputed from the votes.

Pairs that are alike are priced together (`classes`). A pair with enforced link is free. A pair that some
annotator linked is used or left unused, whichever is cheaper (`pair_price`); a pair that nobody linked is
invented. Used and free links must connect the chain. If the cheapest choice does not, the links that connect
it at least extra cost are used as well: adding links is a matroid question, so taking them by extra cost,
cheapest first (Kruskal), is exact.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement

from caspr.task.instance import Instance
from caspr.task.price.classes import Connection, ListedPairs, Pairs, listed_pairs
from caspr.task.price.pair_price import PairPrice
from caspr.task.solution import Costs, Partition
from caspr.task.votes import meet
from caspr.text.document import Span

Priced = Callable[[Instance, tuple[Span, ...]], tuple[int, Costs]]
"""Prices one chain, whatever the others are."""


def price(instance: Instance, partition: Partition, priced: Priced | None = None) -> Costs:
    """Compute what a partition costs, by kind.

    The partition must be connected by links and free of pairs that must not share a chain: `violations`
    checks that.
    """
    priced = priced or price_chain
    chains = [priced(instance, chain) for chain in partition]
    kept = sum(saved for saved, _ in chains)
    return sum((costs for _, costs in chains), Costs(omitted=instance.all_omitted - kept))


def price_chain(
    instance: Instance, chain: Iterable[Span], listed: ListedPairs | None = None
) -> tuple[int, Costs]:
    """Return what it saves not to omit the used and free links of a chain, and what its pairs cost."""
    # mutant: equivalent (drop-operand 1), because the pairs are the same, only listed again
    listed = listed or listed_pairs(instance, chain)
    used, invented, kept = 0, 0, 0
    joined = Connection(listed.classes)
    left_unused: list[tuple[int, PairPrice, Pairs]] = []
    for pairs in listed.pairs:
        cost = instance.prices.of(pairs.evidence)
        if pairs.free or cost.connects:
            kept += pairs.number * cost.omitted
            # mutant: equivalent (drop-operand 2), because a link that connects has a price
            used += 0 if pairs.free else pairs.number * (cost.used or 0)
            joined.connect(pairs.first, pairs.second)
        else:
            # mutant: equivalent (drop-operand 2), because a chain holds no forbidden pair
            invented += pairs.number * (cost.invented or 0)
            if cost.extra is not None:
                left_unused.append((cost.extra, cost, pairs))
    for _, cost, pairs in sorted(left_unused, key=lambda one: one[0]):
        added = joined.connect(pairs.first, pairs.second)
        kept += added * cost.omitted
        # mutant: equivalent (drop-operand 2), because a link that costs something extra has both prices
        used += added * (cost.used or 0)
        # mutant: equivalent (drop-operand 2), because of the same
        invented -= added * (cost.invented or 0)
    return kept, Costs(used=used, invented=invented)


def pairwise_bound(instance: Instance) -> int:
    """Return a cost no solution can go below: every linked pair at the cheaper of apart and together.

    >>> from caspr.text.document import Annotation, Chain, Document
    >>> document = Document("d", ("a", "b", "c"))
    >>> one = Annotation.of("one", document, [Chain.of("1", [(1, 1), (2, 2)])])
    >>> pairwise_bound(Instance((one, Annotation.of("two", document, []))))
    1
    """
    ruled_out = instance.decisions.excludes
    classes = Counter(
        (signature, instance.free_groups.get(mention), ruled_out(mention))
        for mention, signature in instance.votes.signatures.items()
    )
    members: dict[tuple[int, int], list[int]] = {}
    known = list(classes)
    for position, (signature, _, _) in enumerate(known):
        for chain in signature.chains:
            members.setdefault(chain, []).append(position)
    linked = {pair for chain in members.values() for pair in combinations_with_replacement(chain, 2)}
    total = 0
    for first, second in linked:
        (one, group, out), (other, other_group, other_out) = known[first], known[second]
        size = classes[known[first]]
        count = size * (size - 1) // 2 if first == second else size * classes[known[second]]
        cost = instance.prices.of(meet(one, other))
        if out or other_out:
            total += count * cost.omitted
        elif group is None or group != other_group:
            # mutant: equivalent (drop-operand 4), because a link has a price
            total += count * min(cost.omitted, cost.used or 0)
    return total
