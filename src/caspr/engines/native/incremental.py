"""The incremental solver: re-optimises a document after every decision of the adjudicator.

Parts of an instance are solved independently, and a decision touches few of them. The solver keeps
every part it has solved to a proof, by content, so that after one more decision only the touched parts are
solved again; undoing a decision costs nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from caspr.engines.native.engine import solve_with
from caspr.engines.native.flip_prices import FlipPrice, flip_prices
from caspr.engines.native.state import Memory
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import Solution
from caspr.text.document import Span


class IncrementalSolver:
    """Solves one document again and again as decisions come and go."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._memory = Memory()

    def solve(self, limits: Limits | None = None, progress: Progress = silent) -> Solution:
        """Solve with the decisions as they stand."""
        return self.answer(self.instance, limits or Limits(), progress)

    def answer(self, instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
        """Solve the instance with other decisions; several threads may call this at the same time."""
        return solve_with(instance, limits, progress, memory=self._memory)

    def decide(
        self, decisions: Decisions, limits: Limits | None = None, progress: Progress = silent
    ) -> Solution:
        """Replace all decisions and solve again."""
        self.instance = self.with_decisions(decisions)
        return self.solve(limits, progress)

    def with_decisions(self, decisions: Decisions) -> Instance:
        """Return the instance with other decisions, without counting votes again that stay the same."""
        instance = replace(self.instance, decisions=decisions)
        if not instance.forced_votes:
            # Decisions are no votes, so votes and prices are still the same; both are cached properties.
            instance.__dict__["votes"] = self.instance.votes
            instance.__dict__["prices"] = self.instance.prices
        return instance

    def flip_prices(
        self, instance: Instance, solution: Solution, pairs: Iterable[tuple[Span, Span]], limits: Limits
    ) -> Iterator[FlipPrice]:
        """Yield the price of deciding each pair the other way; what was solved before is remembered."""
        return flip_prices(instance, solution, pairs, limits, self._memory)
