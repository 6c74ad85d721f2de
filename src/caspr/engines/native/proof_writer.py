"""Proofs of optimality, as data that `caspr.proof.verify` checks without any solver.

The search records the proof of a part while it runs (`partition.statements`), if it knows that one will
be wanted; otherwise the parts are searched again. Here these proofs are put together. A region in which
used links do not hold a bundle together without cost (`cases`) is one part that is proven by cases: its ways
out. Demands of mentions that must not stay alone are in the proof of their part.
"""

from dataclasses import dataclass
from typing import Any

from caspr.engines.native.cases import (
    Branch,
    Region,
    demanded_mentions,
    offending,
    region,
    settle_region,
    ways,
)
from caspr.engines.native.engine import merged
from caspr.engines.native.nesting import Relaxed, relax_exactly
from caspr.engines.native.partition.problem import UNMET
from caspr.engines.native.partition.splitting import LARGEST_MATRIX
from caspr.engines.native.partition.watch import ExpiredError, Watch
from caspr.engines.native.state import Memory, SolveState, solve_exactly
from caspr.engines.native.translate import Part, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status, Stop
from caspr.text.document import Span

Proof = dict[str, Any]


class UnprovenError(Exception):
    """There is no proof: its text says why, for the user."""


class InterruptedProofError(UnprovenError):
    """There is no proof, and none of anything else is wanted: Ctrl-C was pressed."""


NO_TIME = "no time was left for a proof"


def prove_optimal(instance: Instance, solution: Solution, limits: Limits) -> Proof:
    """Write a proof that a solution is optimal; `UnprovenError` says why there is none.

    What was recorded when the solution was found (`Limits.certificate`) is not searched again. The proof is
    the `certificate` of a document in a certificate file (`caspr.proof.certificate`). Ctrl-C ends an
    interruptible proof as a limit does, so that the solution is not lost.
    """
    if solution.status is not Status.OPTIMAL:
        raise UnprovenError("it is not proven optimal")
    watch = Watch.of(limits)
    recorded = solution.recorded
    if not isinstance(recorded, SolveState) or recorded.instance is not instance:
        recorded = SolveState(instance, watch, Memory(record=True))
    proving = _ProofWriter(recorded.proving(watch))
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

    def prove(self, branch: Branch, reach: Region | None, goal: int) -> Proof:
        """Prove that solutions below a branch cost no less than a goal, by what happens in a region."""
        regions: dict[Region, Proof] = {}
        there, cost = branch, self._cost(branch)
        while cost < goal:
            there, cost = self._one_region(there, reach, regions)
        return self._proof(branch, reach, regions)

    def _cost(self, branch: Branch) -> int:
        relaxed = self._relaxed(branch)
        if not relaxed.proven:
            raise self._unproven()
        return relaxed.bound + branch.penalty

    def _relaxed(self, branch: Branch) -> Relaxed:
        return relax_exactly(self.state, branch.bundles, demanded_mentions(self.state, branch.bundles))

    def _unproven(self) -> UnprovenError:
        if self.state.watch.cause is Stop.SIZE:
            return UnprovenError(
                f"it has a part of more than {LARGEST_MATRIX:,} kinds of mentions that cannot be divided"
            )
        return UnprovenError(NO_TIME)

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

    def _proof(self, branch: Branch, reach: Region | None, regions: dict[Region, Proof]) -> Proof:
        """Write down the regions that are proven by cases, and the proofs of all other parts.

        If a part has demands that cannot be met, nothing else needs a proof.
        """
        forbidden = sorted(self.state.eager | self.state.nested)
        demanded = demanded_mentions(self.state, branch.bundles)
        parts = [
            part
            for part in self.state.translator.translate(branch.bundles, forbidden, demanded=demanded)
            if (reach is None or part.nodes[0][0] in reach)
            and not any(part.nodes[0][0] in here for here in regions)
        ]
        hopeless = any(solve_exactly(self.state, part).value == UNMET for part in parts)
        proofs = [self._part(part, hopeless=hopeless) for part in parts]
        home = {mention: n for n, part in enumerate(parts) for node in part.nodes for mention in node}
        forbidden = [(a, b) for a, b in forbidden if a in home and home[a] == home.get(b)]
        return {"conflicts": [_plain(pair) for pair in forbidden], "parts": [*regions.values(), *proofs]}

    def _part(self, part: Part, *, hopeless: bool) -> Proof:
        """Write down what a part gains at most; where another cannot be, it does not matter."""
        outcome = solve_exactly(self.state, part)
        written: Proof = {"nodes": [_plain(node) for node in part.nodes]}
        if part.demands:
            written["demands"] = [demand.home for demand in part.demands]
        if part.problem.ceiling <= outcome.value or (hopeless and outcome.value != UNMET):
            return {**written, "proof": []}
        if outcome.proof is None or not outcome.proven:
            raise self._unproven()
        return {**written, "proof": list(outcome.proof)}
