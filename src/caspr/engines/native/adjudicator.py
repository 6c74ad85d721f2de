"""The adjudicator's solver: re-optimises around one decision after another.

Parts of an instance are solved independently, and a decision touches few of them. The adjudicator keeps
every part it has solved, by content, so that after one more decision only the touched parts are solved
again; undoing a decision costs nothing.
"""

from dataclasses import replace

from caspr.decisions import Decisions
from caspr.engines.native.engine import solve_with
from caspr.engines.native.session import Memory
from caspr.instance import Instance
from caspr.limits import Limits, Progress, silent
from caspr.solution import Solution


class Adjudicator:
    """Solves one document again and again as decisions come and go."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._memory = Memory()

    def solve(self, limits: Limits | None = None, progress: Progress = silent) -> Solution:
        """Solve with the decisions as they stand."""
        return solve_with(self.instance, limits or Limits(), progress, memory=self._memory)

    def decide(
        self, decisions: Decisions, limits: Limits | None = None, progress: Progress = silent
    ) -> Solution:
        """Replace all decisions and solve again."""
        before = self.instance
        self.instance = replace(before, decisions=decisions)
        if not before.forced_votes:
            # Decisions are no votes, so the votes are still the same; `votes` is a cached property.
            self.instance.__dict__["votes"] = before.votes
        return self.solve(limits, progress)
