"""Random clustering problems, and their optima by brute force."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from caspr.engines.native.partition.problem import Labels, Problem
from tests.clusterings import every_clustering


def random_problem(seed: int, size: int) -> Problem:
    """Make a problem with hidden clusters, noise, forbidden pairs and now and then many ties."""
    random = np.random.default_rng(seed)
    hidden = random.integers(0, 3, size)
    noise = random.integers(-4, 5, (size, size)) * random.integers(1, 4)
    gains = np.where(hidden[:, None] == hidden[None, :], 3, -3) * random.integers(0, 3) + noise
    if random.random() < 0.3:
        gains = np.sign(gains)
    if random.random() < 0.5:
        weights = random.integers(1, 9, size)
        gains = gains * weights[:, None] * weights[None, :]
    gains = np.triu(gains, 1)
    forbidden = np.triu(random.random((size, size)) < random.choice([0.0, 0.1, 0.3]), 1)
    forbidden = forbidden | forbidden.T
    gains = (gains + gains.T).astype(np.int64)
    gains[forbidden] = 0
    return Problem(gains, forbidden)


def clusterings(size: int) -> Iterator[Labels]:
    """Return every clustering as labels by first node."""
    return (np.array(labels, dtype=np.intp) for labels in every_clustering(size))


def optima(problem: Problem) -> tuple[int, list[tuple[int, ...]]]:
    """Return the best value and all clusterings that reach it."""
    gains, forbidden = problem.gains.tolist(), problem.forbidden.tolist()
    pairs = list(combinations(range(problem.size), 2))
    best, reached = 0, [tuple(range(problem.size))]
    for labels in map(tuple, every_clustering(problem.size)):
        together = [(i, j) for i, j in pairs if labels[i] == labels[j]]
        if any(forbidden[i][j] for i, j in together):
            continue
        value = sum(gains[i][j] for i, j in together)
        if value > best:
            best, reached = value, []
        if value == best:
            reached.append(labels)
    return best, sorted(set(reached))
