"""Certificates: the proof of an optimum as data that `caspr.verify` checks without any solver.

The search proves optimality through reductions and fixing, whose steps would be long to retell. Knowing
the optimum, a shorter proof is made afresh, on the parts as translated: star inequalities with
multipliers whose bound meets the optimum, and a pair to branch on where no such list is found.
"""

from typing import Any

import numpy as np

from caspr.document import Span
from caspr.engines.native.engine import merged
from caspr.engines.native.lazy import relax_exactly
from caspr.engines.native.problem import Labels, Problem, joined
from caspr.engines.native.session import Memory, Session, solve_exactly
from caspr.engines.native.translate import enforced_bundles
from caspr.engines.native.watch import Watch
from caspr.instance import Instance
from caspr.limits import Limits
from caspr.solution import Solution, Status

Proof = dict[str, Any]
PATIENCE = 4
"""After this many rounds without a lower bound, branch."""


def certificate(
    instance: Instance, solution: Solution, limits: Limits, memory: Memory | None = None
) -> dict[str, Any] | None:
    """Write a certificate for an optimal solution.

    `None` if there was no time for it, or if the optimum rests on what certificates do not cover: an
    enforced mention that would rather stay alone, or links used only to hold a chain together.
    """
    if solution.status is not Status.OPTIMAL:
        return None
    session = Session(instance, Watch.of(limits), memory or Memory())
    bundles = merged(enforced_bundles(instance))
    relaxed = relax_exactly(session, bundles)
    if relaxed.bound != solution.value:
        return None
    conflicts = sorted(session.eager | session.nested)
    parts = session.translator.translate(bundles, conflicts)
    proofs = []
    for part in parts:
        value = solve_exactly(session, part).value
        proof = prove(part.problem, np.arange(part.problem.size), value, session.watch)
        if proof is None:
            return None
        proofs.append({"nodes": [_plain(node) for node in part.nodes], "proof": proof})
    home = {mention: n for n, part in enumerate(parts) for node in part.nodes for mention in node}
    conflicts = [(one, two) for one, two in conflicts if one in home and home[one] == home.get(two)]
    return {
        "value": solution.value,
        "chains": [_plain(chain) for chain in solution.partitions[0]],
        "conflicts": [_plain(pair) for pair in conflicts],
        "parts": proofs,
    }


def _plain(mentions: tuple[Span, ...]) -> list[list[int]]:
    return [list(mention) for mention in mentions]


def prove(problem: Problem, names: Labels, value: int, watch: Watch) -> Proof | None:
    """Prove that no clustering gains more than a value; `names` are the nodes' names in the proof."""
    if problem.ceiling // problem.step * problem.step <= value:
        return {"shift": 0, "stars": []}
    from caspr.engines.native.relaxation import relax
    from caspr.engines.native.rounds import first_cuts, new_cuts, undecided

    cuts, bounds, near = first_cuts(problem), [problem.ceiling], None
    while not watch.over():
        point = relax(problem, cuts, seconds=watch.left, near=near)
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
        new = new_cuts(problem, near)
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
    together = prove(small, np.delete(names, second), value - constant, watch)
    apart = None if together is None else prove(problem.separate(cut), names, value, watch)
    if together is None or apart is None:
        return None
    return {"pair": names[[first, second]].tolist(), "together": together, "apart": apart}
