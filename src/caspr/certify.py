"""Certify: check whatever an engine says, before anything is written. No engine is believed."""

from caspr.errors import EngineError
from caspr.instance import Instance
from caspr.pricing import price
from caspr.rules import violations
from caspr.solution import Costs, Solution, Status


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
