"""Proofs of optimality, as data that `caspr.proof.verify` checks without any solver.

The search proves optimality through reductions and fixing, whose steps would make long proofs. Knowing
the optimum, a shorter proof is made afresh, on the parts as translated: star inequalities with
multipliers whose bound meets the optimum, and a pair to branch on where no such list is found. A region
in which used links do not hold a bundle together without cost (`required.regions`, `required.settling`) is
one part that is proven by cases: its ways out. Demands of mentions that must not stay alone are in the
proof of their part.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from caspr.engines.native.engine import merged
from caspr.engines.native.partition.partners.outcome import UNMET
from caspr.engines.native.partition.partners.proving import Proof, prove_demanding
from caspr.engines.native.partition.sparse.splitting import fits
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.required.demands import Branch, lone_mentions, ways
from caspr.engines.native.required.regions import Region, region
from caspr.engines.native.required.settling import offending, settle_region
from caspr.engines.native.state import Memory, SolveState, solve_exactly
from caspr.engines.native.translation.nesting import Relaxed, relax_exactly
from caspr.engines.native.translation.translate import Part, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status
from caspr.text.document import Span


class _UnprovenError(Exception):
    """There was no time to prove what is true."""


def prove_optimal(
    instance: Instance, solution: Solution, limits: Limits, memory: Memory | None = None
) -> dict[str, Any] | None:
    """Write a proof that a solution is optimal; `None` if it is not, or if there was no time.

    The proof is the `certificate` of a document in a certificate file (`caspr.proof.certificate`).
    """
    if solution.status is not Status.OPTIMAL:
        return None
    proving = _ProofWriter(SolveState(instance, Watch.of(limits), memory or Memory()))
    try:
        proof = proving.prove(Branch(merged(enforced_bundles(instance))), None, solution.value)
    except _UnprovenError:
        return None
    chains = [_plain(chain) for chain in solution.partitions[0]]
    return {"value": solution.value, "chains": chains, **proof}


def _plain(mentions: Region | tuple[Span, ...]) -> list[list[int]]:
    return [list(mention) for mention in sorted(mentions)]


@dataclass
class _ProofWriter:
    """Proves what solutions cost at least."""

    state: SolveState
    """What was solved, or is solved on the way."""
    proofs: dict[tuple[bytes, int], Proof] = field(default_factory=dict)
    """The proofs of parts, by content and by what they are shown to gain at most."""

    def prove(self, branch: Branch, reach: Region | None, goal: int) -> Proof:
        """Prove that solutions below a branch cost no less than a goal, by what happens in a region."""
        regions: dict[Region, Proof] = {}
        there, cost = branch, self._cost(branch)
        while cost < goal:
            there, cost = self._one_region(there, reach, regions)
        return self._proof(branch, reach, regions, cost - goal)

    def _cost(self, branch: Branch) -> int:
        relaxed = self._relaxed(branch)
        if not relaxed.proven:
            raise _UnprovenError
        return relaxed.bound + branch.penalty

    def _relaxed(self, branch: Branch) -> Relaxed:
        return relax_exactly(self.state, branch.bundles, lone_mentions(self.state, branch.bundles))

    def _one_region(
        self, branch: Branch, reach: Region | None, regions: dict[Region, Proof]
    ) -> tuple[Branch, int]:
        """Prove one more region by cases, if its demands cost anything; return where they are met."""
        state, cost = self.state, self._cost(branch)
        offence = offending(state, branch, self._relaxed(branch), reach)
        if offence is None:
            raise _UnprovenError
        here = region(state, branch, offence.bundle)
        settled = settle_region(state, branch, here)
        if state.watch.expired():
            raise _UnprovenError
        if settled.bound > cost:
            cases = [
                {"with": _plain(way.others), **self.prove(way.branch, here, settled.bound)}
                for way in ways(state, branch, offence)
            ]
            regions[here] = {"mentions": _plain(here), "piece": _plain(offence.piece), "cases": cases}
        return settled.branch or branch, settled.bound

    def _proof(self, branch: Branch, reach: Region | None, regions: dict[Region, Proof], slack: int) -> Proof:
        """Write down the regions that are proven by cases, and prove all other parts.

        The largest of these may gain more by some slack: that is easier to prove. If a part has demands that
        cannot be met, nothing else needs a proof.
        """
        forbidden = sorted(self.state.eager | self.state.nested)
        lone = lone_mentions(self.state, branch.bundles)
        parts = [
            part
            for part in self.state.translator.translate(branch.bundles, forbidden, lone=lone)
            if (reach is None or part.nodes[0][0] in reach)
            and not any(part.nodes[0][0] in here for here in regions)
        ]
        values = [solve_exactly(self.state, part).value for part in parts]
        if UNMET in values:
            ceilings = (part.problem.ceiling for part in parts)
            goals = [UNMET if value == UNMET else top for value, top in zip(values, ceilings, strict=True)]
        else:
            goals = [*values[:-1], *(value + slack for value in values[-1:])]
        proofs = [self._part(part, goal) for part, goal in zip(parts, goals, strict=True)]
        home = {mention: n for n, part in enumerate(parts) for node in part.nodes for mention in node}
        forbidden = [(one, two) for one, two in forbidden if one in home and home[one] == home.get(two)]
        return {"conflicts": [_plain(pair) for pair in forbidden], "parts": [*regions.values(), *proofs]}

    def _part(self, part: Part, goal: int) -> Proof:
        """Prove that a part gains no more than a goal."""
        if (part.key, goal) not in self.proofs:
            if not fits(part.problem.size, self.state.watch):
                raise _UnprovenError
            proof = prove_demanding(part.demanding, np.arange(part.problem.size), goal, self.state.watch)
            if proof is None:
                raise _UnprovenError
            self.proofs[part.key, goal] = proof
        written: Proof = {"nodes": [_plain(node) for node in part.nodes]}
        if part.demands:
            written["needs"] = [demand.home for demand in part.demands]
        return {**written, "proof": self.proofs[part.key, goal]}
