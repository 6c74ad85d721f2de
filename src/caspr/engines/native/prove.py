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
from caspr.engines.native.partition.sparse.splitting import LARGEST, fits
from caspr.engines.native.partition.watch import ExpiredError, Watch
from caspr.engines.native.required.demands import Branch, lone_mentions, ways
from caspr.engines.native.required.regions import Region, region
from caspr.engines.native.required.settling import offending, settle_region
from caspr.engines.native.state import Memory, SolveState, solve_exactly
from caspr.engines.native.translation.nesting import Relaxed, relax_exactly
from caspr.engines.native.translation.translate import Part, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status, Stop
from caspr.text.document import Span


class UnprovenError(Exception):
    """There is no proof: its text says why, for the user."""


class InterruptedProofError(UnprovenError):
    """There is no proof, and none of anything else is wanted: Ctrl-C was pressed."""


NO_TIME = "no time was left for a proof"


def prove_optimal(
    instance: Instance, solution: Solution, limits: Limits, memory: Memory | None = None
) -> dict[str, Any]:
    """Write a proof that a solution is optimal; `UnprovenError` says why there is none.

    The proof is the `certificate` of a document in a certificate file (`caspr.proof.certificate`).
    Ctrl-C ends an interruptible proof as a limit does, so that the solution is not lost.
    """
    if solution.status is not Status.OPTIMAL:
        raise UnprovenError("it is not proven optimal")
    watch = Watch.of(limits)
    proving = _ProofWriter(SolveState(instance, watch, memory or Memory()))
    try:
        proof = proving.prove(Branch(merged(enforced_bundles(instance))), None, solution.value)
    except ExpiredError:
        raise _without_proof(watch, UnprovenError(NO_TIME)) from None
    except UnprovenError as error:
        raise _without_proof(watch, error) from None
    except KeyboardInterrupt:
        if not limits.interruptible:
            raise
        watch.stop = Stop.INTERRUPT
        raise _without_proof(watch, UnprovenError(NO_TIME)) from None
    chains = [_plain(chain) for chain in solution.partitions[0]]
    return {"value": solution.value, "chains": chains, **proof}


def _without_proof(watch: Watch, error: UnprovenError) -> UnprovenError:
    """Return why there is no proof: an interrupt, even one taken for a limit, or what the error says."""
    return InterruptedProofError("it was interrupted") if watch.stop is Stop.INTERRUPT else error


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
            raise UnprovenError(NO_TIME)
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
            raise UnprovenError(NO_TIME)
        here = region(state, branch, offence.bundle)
        settled = settle_region(state, branch, here)
        if state.watch.expired():
            raise UnprovenError(NO_TIME)
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

    def _proof_of(self, part: Part, goal: int) -> Proof:
        size = part.problem.size
        if not part.demands and part.problem.ceiling <= goal:
            return {"shift": 0, "stars": []}
        if size > LARGEST:
            raise UnprovenError(
                f"found a part of {size:,} kinds of mentions that cannot be divided, expected at most "
                f"{LARGEST:,} for a proof"
            )
        if not fits(size, self.state.watch):
            raise UnprovenError(NO_TIME)
        proof = prove_demanding(part.demanding, np.arange(size), goal, self.state.watch)
        if proof is None:
            raise UnprovenError(NO_TIME)
        return proof

    def _part(self, part: Part, goal: int) -> Proof:
        """Prove that a part gains no more than a goal."""
        if (part.key, goal) not in self.proofs:
            self.proofs[part.key, goal] = self._proof_of(part, goal)
        written: Proof = {"nodes": [_plain(node) for node in part.nodes]}
        if part.demands:
            written["needs"] = [demand.home for demand in part.demands]
        return {**written, "proof": self.proofs[part.key, goal]}
