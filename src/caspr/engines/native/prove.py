"""Proofs of optimality, as data that `caspr.proof.verify` checks without any solver.

The search proves optimality through reductions and fixing, whose steps would make long proofs. Knowing
the optimum, a shorter proof is made afresh, on the parts as translated: star inequalities with
multipliers whose bound meets the optimum, and a pair to branch on where no such list is found. A region
whose demands cost something (`required.regions`, `required.settling`) is one part that is proven by cases:
its ways out.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from caspr.engines.native.engine import merged
from caspr.engines.native.partition.problem import Labels, Problem, joined
from caspr.engines.native.partition.sparse.splitting import fits
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.required.demands import Branch, ways
from caspr.engines.native.required.regions import Region, region
from caspr.engines.native.required.settling import offending, settle_region
from caspr.engines.native.state import Memory, SolveState, solve_exactly
from caspr.engines.native.translation.nesting import relax_exactly
from caspr.engines.native.translation.translate import Part, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status
from caspr.text.document import Span

Proof = dict[str, Any]
PATIENCE = 4
"""After this many rounds without a lower bound, branch."""


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
    """The proofs of parts, by content and slack."""

    def prove(self, branch: Branch, reach: Region | None, goal: int) -> Proof:
        """Prove that solutions below a branch cost no less than a goal, by what happens in a region."""
        regions: dict[Region, Proof] = {}
        there, cost = branch, self._cost(branch)
        while cost < goal:
            there, cost = self._one_region(there, reach, regions)
        return self._proof(branch, reach, regions, cost - goal)

    def _cost(self, branch: Branch) -> int:
        relaxed = relax_exactly(self.state, branch.bundles)
        if not relaxed.proven:
            raise _UnprovenError
        return relaxed.bound + branch.penalty

    def _one_region(
        self, branch: Branch, reach: Region | None, regions: dict[Region, Proof]
    ) -> tuple[Branch, int]:
        """Prove one more region by cases, if its demands cost anything; return where they are met."""
        state, cost = self.state, self._cost(branch)
        offence = offending(state, branch, relax_exactly(state, branch.bundles), reach)
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

        The largest of these may gain more by some slack: that is easier to prove.
        """
        forbidden = sorted(self.state.eager | self.state.nested)
        parts = [
            part
            for part in self.state.translator.translate(branch.bundles, forbidden)
            if (reach is None or part.nodes[0][0] in reach)
            and not any(part.nodes[0][0] in here for here in regions)
        ]
        slacks = [0] * (len(parts) - 1) + [slack]
        proofs = [
            {"nodes": [_plain(node) for node in part.nodes], "proof": self._part(part, more)}
            for part, more in zip(parts, slacks, strict=False)
        ]
        home = {mention: n for n, part in enumerate(parts) for node in part.nodes for mention in node}
        forbidden = [(one, two) for one, two in forbidden if one in home and home[one] == home.get(two)]
        return {"conflicts": [_plain(pair) for pair in forbidden], "parts": [*regions.values(), *proofs]}

    def _part(self, part: Part, slack: int) -> Proof:
        if (part.key, slack) not in self.proofs:
            value = solve_exactly(self.state, part).value + slack
            if not fits(part.problem.size, self.state.watch):
                raise _UnprovenError
            problem, watch = part.problem.dense(), self.state.watch
            proof = prove_bound(problem, np.arange(problem.size), value, watch)
            if proof is None:
                raise _UnprovenError
            self.proofs[part.key, slack] = proof
        return self.proofs[part.key, slack]


def prove_bound(problem: Problem, names: Labels, value: int, watch: Watch) -> Proof | None:
    """Prove that no clustering gains more than a value; `names` are the nodes' names in the proof."""
    if problem.ceiling // problem.step * problem.step <= value:
        return {"shift": 0, "stars": []}
    from caspr.engines.native.partition.cutting_planes import first_cuts, new_cuts, undecided
    from caspr.engines.native.partition.lp import relax

    cuts, bounds, near = first_cuts(problem, watch), [problem.ceiling], None
    while not watch.expired():
        point = relax(problem, cuts, watch=watch, near=near)
        if point is None:
            return None
        bounds.append(point.bound(problem.step))
        if bounds[-1] <= value:
            rows = [*point.cuts.triangles.tolist(), *map(list, point.cuts.stars)]
            stars = [
                [multiplier, *names[row].tolist()]
                for multiplier, row in zip(point.multipliers.tolist(), rows, strict=True)
                if multiplier
            ]
            return {"shift": point.shift, "stars": stars}
        near = point.x
        new = new_cuts(problem, near, watch)
        if not len(new) or (len(bounds) > PATIENCE and bounds[-1 - PATIENCE] <= bounds[-1]):
            return _branched(problem, names, value, watch, undecided(problem, point.x))
        cuts = point.cuts.keep((point.slack < 0.3) | (point.multipliers > 0)) | new
    return None


def _branched(
    problem: Problem, names: Labels, value: int, watch: Watch, pair: tuple[int, int]
) -> Proof | None:
    first, second = sorted(pair)
    groups = joined(problem.size, np.array([first]), np.array([second]))
    small, constant = problem.contract(groups)
    cut = np.zeros_like(problem.forbidden)
    cut[first, second] = cut[second, first] = True
    together = prove_bound(small, np.delete(names, second), value - constant, watch)
    apart = None if together is None else prove_bound(problem.separate(cut), names, value, watch)
    if together is None or apart is None:
        return None
    return {"pair": names[[first, second]].tolist(), "together": together, "apart": apart}
