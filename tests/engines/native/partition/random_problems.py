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


def with_guests(seed: int) -> Problem:
    """Make a problem in which six nodes want to be with one of two others, and many forbid each other."""
    random = np.random.default_rng(seed)
    gains = np.triu(random.integers(-2, 3, (8, 8)), 1)
    hosts = random.integers(0, 1 + seed % 2, 6)
    gains[hosts, np.arange(2, 8)] = random.integers(5, 16, 6)
    gains[0, 1] = -9
    gains = gains + gains.T
    forbidden = np.triu(random.random((8, 8)) < 0.25, 1)
    forbidden[:2] &= random.random((2, 8)) < 0.3
    forbidden[hosts, np.arange(2, 8)] = False
    return Problem(gains, np.zeros((8, 8), dtype=bool)).separate(forbidden | forbidden.T)


def with_couples(seed: int) -> Problem:
    """Make a problem with two or three nearly equal couples, of which one node at most is with the first."""
    random = np.random.default_rng(seed)
    gains, near = np.zeros((9, 9), dtype=np.int64), random.random() < 0.5
    gains[:] = np.triu(random.integers(-1, 2, (9, 9)), 1)
    forbidden = np.zeros((9, 9), dtype=bool)
    wanted = random.integers(14, 18, 2)
    ours, theirs = random.integers(-2, 3, (2, 9)), np.sort(random.integers(0, 4, (3, 2)), axis=1)
    couples = np.array([(1, 2), (3, 4), (5, 6)][: 2 + seed % 2])
    for u, v in couples:
        gains[[u, v], 7:] = ours[:, 7:] + near * random.integers(-1, 2, (2, 2))
        gains[0, [u, v]] = wanted + random.integers(0, 2, 2) * near
        forbidden[u, v] = True
        for s, t in couples:
            if u < s:
                gains[u, s], gains[v, t], gains[u, t], gains[v, s] = (
                    *theirs[:2, 1],
                    *theirs[2:, 0],
                    theirs[2, 0],
                )
    gains = np.triu(gains, 1)
    return Problem(gains + gains.T, np.zeros((9, 9), dtype=bool)).separate(forbidden | forbidden.T)


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
