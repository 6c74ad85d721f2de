"""Clusterings that meet demands, quickly. Nothing here proves anything.

To meet all demands, each home is *glued* to one partner, and what is glued is contracted: so the heuristics
for ordinary problems apply, and no step of theirs leaves a demand unmet.
"""

import numpy as np

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition.partners.demand import Demand, Demanding
from caspr.engines.native.partition.partners.relaxation import PartnerPoint
from caspr.engines.native.partition.problem import Labels, Problem, renumber
from caspr.engines.native.partition.watch import Watch

FAR = -(1 << 61)
"""Less than any change of value."""


def round_point(whole: Demanding, point: PartnerPoint, watch: Watch) -> Labels | None:
    """Glue every home to the partner that the point prefers, and cluster what is left as it says."""
    wanted = [
        [demand.partners[place] for place in np.argsort(-first, kind="stable").tolist()]
        for demand, first in zip(whole.demands, point.first, strict=True)
    ]
    glued = _glue(whole, wanted)
    if glued is None:
        return None
    pull = np.rint((point.x - 0.5) * 1000).astype(np.int64)
    np.fill_diagonal(pull, 0)
    pull[whole.problem.forbidden] = 0
    small, _ = Problem(pull, whole.problem.forbidden).contract(glued)
    problem, _ = whole.problem.contract(glued)
    return heuristics.polish(problem, heuristics.greedy(small, watch=watch), watch)[glued]


def _glue(whole: Demanding, wanted: list[list[int]]) -> Labels | None:
    """Put every home with the first wanted partner that is not kept out; `None` if there is none."""
    forbidden = whole.problem.forbidden
    groups: dict[int, list[int]] = {}
    for demand, partners in zip(whole.demands, wanted, strict=True):
        own = groups.get(demand.home, [demand.home])
        if any(partner in own for partner in demand.partners):
            continue
        for partner in partners:
            other = groups.get(partner, [partner])
            if not forbidden[np.ix_(own, other)].any():
                union = [*own, *other]
                groups |= dict.fromkeys(union, union)
                break
        else:
            return None
    labels = np.arange(whole.problem.size)
    for group in groups.values():
        labels[group] = min(group)
    return renumber(labels)


def meet(whole: Demanding, labels: Labels, watch: Watch) -> Labels | None:
    """Change a clustering so that it meets all demands: join a partner's cluster, or take the partner out."""
    wanted = [_by_change(whole.problem, labels, demand) for demand in whole.demands]
    glued = _glue(whole, wanted)
    if glued is None:
        return None
    problem, _ = whole.problem.contract(glued)
    return heuristics.start(problem, watch, kicks=0)[glued]


def _by_change(problem: Problem, labels: Labels, demand: Demand) -> list[int]:
    """Order the partners of a demand by what it costs to be with them, the cheapest first."""
    home, gains = demand.home, problem.gains
    partners = np.array(demand.partners, dtype=np.intp)
    pull = np.array([int(gains[one][labels == labels[one]].sum()) for one in partners])
    apart = gains[home, partners] - pull
    joined = np.array(
        [
            FAR
            if problem.forbidden[home][labels == labels[one]].any()
            else int(gains[home][labels == labels[one]].sum())
            for one in partners
        ]
    )
    change = np.maximum(apart, joined) - np.array(demand.costs)
    return [int(partners[place]) for place in np.argsort(-change, kind="stable")]
