"""Small random problems with demands, and their optima by brute force."""

from random import Random

import numpy as np

from caspr.engines.native.partition.problem import Demand, Problem
from tests.clusterings import every_clustering


def random_demanding(seed: int, *, nodes: int = 7) -> Problem:
    """Make a problem of at most so many nodes, now and then one whose demands cannot be met."""
    random = Random(seed)
    size, unit = random.randint(2, nodes), random.choice((1, 1, 2, 3))
    gains = np.zeros((size, size), dtype=np.int64)
    costs = np.zeros((size, size), dtype=np.int64)
    forbidden = np.zeros((size, size), dtype=bool)
    ban, priced, least = (
        random.choice((0, 0.2, 0.5)),
        random.choice((0, 0.3, 0.8)),
        random.choice((-8, -4, -1)),
    )
    for one in range(size):
        for two in range(one):
            gains[one, two] = gains[two, one] = unit * random.randint(least, 4)
            if random.random() < priced:
                costs[one, two] = costs[two, one] = unit * random.randint(1, 3)
            forbidden[one, two] = forbidden[two, one] = random.random() < ban
    gains[forbidden] = 0
    homes = random.sample(range(size), random.randint(1, min(size, 4)))
    share = random.choice((0.3, 0.7, 1.0))
    demands = []
    for home in homes:
        others = [one for one in range(size) if one != home and random.random() < share]
        partners = sorted(
            (one for one in others if not forbidden[home, one]), key=lambda one: (costs[home, one], one)
        )
        demands.append(
            Demand(
                home,
                home,
                tuple(partners),
                tuple(int(costs[home, one]) for one in partners),
                tuple((min(home, one), max(home, one)) for one in partners),
            )
        )
    return Problem(gains, forbidden, tuple(demands))


def worth(problem: Problem, labels: list[int]) -> int | None:
    """Return what a clustering gains, worked out pair by pair; `None` if it breaks a rule."""
    total = 0
    for one in range(len(labels)):
        for two in range(one):
            if labels[one] == labels[two]:
                if problem.forbidden[one, two]:
                    return None
                total += int(problem.gains[one, two])
    used = {}
    for demand in problem.demands:
        for partner, cost, link in zip(demand.partners, demand.costs, demand.links, strict=True):
            if labels[partner] == labels[demand.home]:
                used[link] = cost
                break
        else:
            return None
    return total - sum(used.values())


def best_value(problem: Problem) -> int | None:
    """Return the best value of all clusterings that meet the demands."""
    found = (worth(problem, labels) for labels in every_clustering(problem.size))
    return max((value for value in found if value is not None), default=None)
