"""Certify: recompute cost and rules of any solution from the annotations. No engine is believed.

The price of a chain. Its mentions fall into *classes* with equal signature and equal enforced group; all
pairs between two classes are alike, so a chain costs as much work as the square of its few classes.
A pair with enforced link is free. A pair with evidence K is used or left unused, whichever is cheaper; a
pair without evidence is invented. Used and free links must connect the chain. If the cheapest choice
does not, the links that connect it at least extra cost are used as well: adding links is a matroid
question, so taking them by extra cost, cheapest first (Kruskal), is exact.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

from caspr.document import Span
from caspr.errors import EngineError
from caspr.instance import Instance
from caspr.solution import Costs, Partition, Solution, Status
from caspr.votes import Signature, nested_pairs, shared

Class = tuple[Signature, str | None]
"""A signature and the enforced group, which together decide every pair."""


@dataclass(frozen=True)
class Pairs:
    """All pairs between two classes of one chain: alike in everything."""

    first: Class
    second: Class
    count: int
    """How many pairs of mentions."""
    evidence: int
    """K of each pair."""
    free: bool
    """Whether each link is enforced."""


def price(instance: Instance, partition: Partition) -> Costs:
    """Compute what a partition costs, by kind.

    The partition must be connected by links and, where invent is forbidden, free of invented pairs;
    `violations` tells.
    """
    chains = [_price_chain(instance, chain) for chain in partition]
    kept = sum(votes for votes, _ in chains)
    omitted = Costs(omitted=instance.objective.omit * (instance.votes.total - kept))
    return sum((costs for _, costs in chains), omitted)


def _price_chain(instance: Instance, chain: Iterable[Span]) -> tuple[int, Costs]:
    """Return the votes a chain keeps (those of used and free links) and what its pairs cost."""
    objective, n = instance.objective, instance.votes.annotators
    classes = _classes(instance, chain)
    used, unused = 0, 0
    kept = 0
    joined = _Connection(classes)
    open_choices: list[tuple[int, Pairs]] = []
    for pairs in _pairs(classes):
        if pairs.free or objective.prefers_use(pairs.evidence, n):
            kept += pairs.count * pairs.evidence
            used += 0 if pairs.free else pairs.count * (n - pairs.evidence)
            joined.connect(pairs.first, pairs.second)
        else:
            unused += pairs.count
            if pairs.evidence:
                extra = objective.use * (n - pairs.evidence) - objective.omit * pairs.evidence
                open_choices.append((extra, pairs))
    for _, pairs in sorted(open_choices, key=lambda choice: choice[0]):
        added = joined.connect(pairs.first, pairs.second)
        kept += added * pairs.evidence
        used += added * (n - pairs.evidence)
        unused -= added
    return kept, Costs(used=objective.use * used, invented=(objective.invent or 0) * unused)


def _classes(instance: Instance, chain: Iterable[Span]) -> Counter[Class]:
    groups, votes = instance.free_groups, instance.votes
    return Counter((votes.signature(mention), groups.get(mention)) for mention in chain)


def _pairs(classes: Counter[Class]) -> Iterator[Pairs]:
    for first, second in combinations_with_replacement(classes, 2):
        same = first is second
        count = classes[first] * (classes[first] - 1) // 2 if same else classes[first] * classes[second]
        free = first[1] is not None and first[1] == second[1]
        if count:
            yield Pairs(first, second, count, shared(first[0], second[0]), free)


class _Connection:
    """Which classes of a chain hang together; one not yet joined counts as all its single mentions."""

    def __init__(self, classes: Counter[Class]) -> None:
        self.sizes = classes
        self.component: dict[Class, int] = {}

    def connect(self, first: Class, second: Class) -> int:
        """Link every mention of one class with every one of the other; return how many links it took."""
        sides = {first, second}
        known = {self.component[side] for side in sides if side in self.component}
        alone = sum(self.sizes[side] for side in sides if side not in self.component)
        target = min(known) if known else len(self.component)
        for side in sides:
            self.component.setdefault(side, target)
        if len(known) > 1:
            for name, component in self.component.items():
                if component in known:
                    self.component[name] = target
        return len(known) + alone - 1

    @property
    def parts(self) -> int:
        """The number of pieces the chain is in."""
        alone = sum(size for name, size in self.sizes.items() if name not in self.component)
        return len(set(self.component.values())) + alone


def violations(instance: Instance, partition: Partition) -> Iterator[str]:
    """Yield a sentence for every rule or decision that a partition breaks."""
    candidates = frozenset(instance.mentions)
    holder: dict[Span, int] = {}
    for number, chain in enumerate(partition, start=1):
        if len(set(chain)) < 2:
            yield f"chain {number} has fewer than two mentions"
        for mention in chain:
            if mention not in candidates:
                yield f"chain {number} has {tuple(mention)}, which nobody linked or a decision rules out"
            if mention in holder:
                yield f"chains {holder[mention]} and {number} share {tuple(mention)}"
            holder[mention] = number
        if not instance.allow_nested:
            for outer, inner in nested_pairs(chain):
                yield f"chain {number} has {tuple(inner)} inside {tuple(outer)}"
        yield from _unlinked(instance, number, chain)
    yield from _broken_decisions(instance, holder)


def _unlinked(instance: Instance, number: int, chain: Iterable[Span]) -> Iterator[str]:
    classes = _classes(instance, chain)
    joined = _Connection(classes)
    for pairs in _pairs(classes):
        if pairs.free or pairs.evidence:
            joined.connect(pairs.first, pairs.second)
        elif instance.objective.invent is None:
            yield f"chain {number} has {pairs.count} pairs that nobody linked"
    if joined.parts > 1:
        yield f"chain {number} does not hang together by links"


def _broken_decisions(instance: Instance, holder: dict[Span, int]) -> Iterator[str]:
    for mention in sorted(instance.required - holder.keys()):
        yield f"{tuple(mention)} is enforced and in no chain"
    places: dict[str, set[int | Span]] = {}
    for mention, ids in instance.decisions.chain_ids.items():
        for id in ids:
            places.setdefault(id, set()).add(holder.get(mention, mention))
    for id, chains in places.items():
        if len(chains) > 1:
            yield f"the mentions enforced in chain {id} are not in one chain"
    taken = Counter(chain for chains in places.values() for chain in chains)
    for chain, count in taken.items():
        if count > 1:
            yield f"chain {chain} holds mentions enforced in {count} different chains"


def certify(instance: Instance, solution: Solution) -> tuple[Costs, ...]:
    """Check everything a solution claims and return the costs of each of its partitions.

    Raise `EngineError` on any difference: such an answer must not be written.
    """
    if solution.status is Status.INFEASIBLE:
        return ()
    all_costs = []
    for partition in solution.partitions:
        for broken in violations(instance, partition):
            raise EngineError(f"the engine's solution breaks a rule: {broken}")
        costs = price(instance, partition)
        if costs.total != solution.value:
            raise EngineError(f"the engine says its solution costs {solution.value}, it costs {costs.total}")
        all_costs.append(costs)
    if solution.bound > solution.value or (solution.status is Status.OPTIMAL) != (
        solution.bound == solution.value
    ):
        raise EngineError(f"value {solution.value}, bound {solution.bound} and {solution.status} do not fit")
    if len(set(solution.partitions)) < len(solution.partitions):
        raise EngineError("the engine gave the same solution twice")
    return tuple(all_costs)
