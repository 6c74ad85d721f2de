"""Certify: check everything an engine answers, before anything is written. No engine is believed.

Each partition breaks no rule and costs the value, both recomputed from the votes; value, bound and status
agree. Certifying cannot check that the bound is right: that takes a proof (`caspr.proof.prove`), which
`caspr.proof.verify` checks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.pricing import chain_faults, listed_pairs, price, price_chain, violations
from caspr.task.solution import Costs, Solution, Status
from caspr.text.document import Span

Mentions = tuple[Span, ...]


@dataclass(frozen=True)
class Examined:
    """What one chain breaks and costs by itself, whatever the others are."""

    faults: tuple[str, ...]
    price: tuple[int, Costs]
    """What it saves not to omit its links, and what its pairs cost."""


Examine = Callable[[Instance, Mentions], Examined]


def examine_chain(instance: Instance, chain: Mentions) -> Examined:
    """Find out what a chain breaks and costs; its pairs are listed once for both."""
    listed = listed_pairs(instance, chain)
    return Examined(tuple(chain_faults(instance, chain, listed)), price_chain(instance, chain, listed))


def certify(instance: Instance, solution: Solution, *, examine: Examine = examine_chain) -> tuple[Costs, ...]:
    """Check everything a solution claims and return the costs of each of its partitions.

    Raise `EngineError` on any difference: such an answer must not be written.
    """
    if solution.status is Status.INFEASIBLE:
        return ()
    known: dict[Mentions, Examined] = {}

    def examined(instance: Instance, chain: Mentions) -> Examined:
        # Many optimal solutions share most of their chains.
        if chain not in known:
            known[chain] = examine(instance, chain)
        return known[chain]

    all_costs = []
    for partition in solution.partitions:
        for broken in violations(instance, partition, lambda *chain: examined(*chain).faults):
            raise EngineError(f"the engine's solution breaks a rule: {broken}")
        costs = price(instance, partition, lambda *chain: examined(*chain).price)
        costs += Costs(rules=solution.charged)
        if costs.total != solution.value:
            raise EngineError(f"the engine says its solution costs {solution.value}, it costs {costs.total}")
        if solution.charged < 0 or (solution.charged and not instance.rules.program):
            raise EngineError("the engine charges what no rule about the solution can")
        all_costs.append(costs)
    if solution.bound > solution.value or (solution.status is Status.OPTIMAL) != (
        solution.bound == solution.value
    ):
        raise EngineError(f"value {solution.value}, bound {solution.bound} and {solution.status} do not fit")
    if len(set(solution.partitions)) < len(solution.partitions):
        raise EngineError("the engine gave the same solution twice")
    return tuple(all_costs)


@dataclass
class Certifier:
    """Certifies one solution after another while decisions change; annotations, objective and rules do not.

    What a chain costs and breaks by itself follows from the votes, its mentions, which of them are in one
    enforced group, and which nested pairs are permitted. While the votes stay the same, a chain that was
    checked before is not checked again.
    """

    _known: dict[object, Examined] = field(default_factory=dict)

    def certify(self, instance: Instance, solution: Solution) -> tuple[Costs, ...]:
        """Check everything a solution claims, as `certify` does."""
        if instance.forced_votes:
            return certify(instance, solution)
        return certify(instance, solution, examine=self._examine)

    def _examine(self, instance: Instance, chain: Mentions) -> Examined:
        key = _key(instance, chain)
        if key not in self._known:
            self._known[key] = examine_chain(instance, chain)
        return self._known[key]


def _key(instance: Instance, chain: Mentions) -> object:
    groups = instance.free_groups
    inside = frozenset(chain)
    nested = frozenset(pair for pair in instance.decisions.nested if inside.issuperset(pair))
    return chain, tuple([groups.get(mention) for mention in chain]), nested
