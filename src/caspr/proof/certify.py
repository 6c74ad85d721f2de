"""Certify: check everything an engine answers, before anything is written. No engine is believed.

Each partition breaks no rule and costs the value, both recomputed from the votes; value, bound and status
agree. Certifying cannot check that the bound is right: that takes a proof (`caspr.proof.prove`), which
`caspr.proof.verify` checks.
"""

from dataclasses import dataclass, field

from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.price.pricing import Priced, price, price_chain
from caspr.task.price.rules import Faults, chain_faults, violations
from caspr.task.solution import Costs, Solution, Status
from caspr.text.document import Span

Chain = tuple[Span, ...]


def certify(
    instance: Instance, solution: Solution, *, faults: Faults | None = None, priced: Priced | None = None
) -> tuple[Costs, ...]:
    """Check everything a solution claims and return the costs of each of its partitions.

    Raise `EngineError` on any difference: such an answer must not be written.
    """
    if solution.status is Status.INFEASIBLE:
        return ()
    all_costs = []
    for partition in solution.partitions:
        for broken in violations(instance, partition, faults):
            raise EngineError(f"the engine's solution breaks a rule: {broken}")
        costs = price(instance, partition, priced)
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


@dataclass
class Certifier:
    """Certifies one solution after another while decisions change; annotations, objective and rules do not.

    What a chain costs and breaks by itself follows from the votes, its mentions, which of them are in one
    enforced group, and which nested pairs are permitted. While the votes stay the same, a chain that was
    checked before is not checked again.
    """

    _faults: dict[object, tuple[str, ...]] = field(default_factory=dict)
    _prices: dict[object, tuple[int, Costs]] = field(default_factory=dict)

    def certify(self, instance: Instance, solution: Solution) -> tuple[Costs, ...]:
        """Check everything a solution claims, as `certify` does."""
        if instance.forced_votes:
            return certify(instance, solution)
        return certify(instance, solution, faults=self._chain_faults, priced=self._price_chain)

    def _chain_faults(self, instance: Instance, chain: Chain) -> tuple[str, ...]:
        key = _key(instance, chain)
        if key not in self._faults:
            self._faults[key] = tuple(chain_faults(instance, chain))
        return self._faults[key]

    def _price_chain(self, instance: Instance, chain: Chain) -> tuple[int, Costs]:
        key = _key(instance, chain)
        if key not in self._prices:
            self._prices[key] = price_chain(instance, chain)
        return self._prices[key]


def _key(instance: Instance, chain: Chain) -> object:
    groups = instance.free_groups
    inside = frozenset(chain)
    nested = frozenset(pair for pair in instance.decisions.nested if inside.issuperset(pair))
    return chain, tuple([groups.get(mention) for mention in chain]), nested
