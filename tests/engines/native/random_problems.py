"""Random clustering problems, and their optima by brute force."""

from collections.abc import Iterator

import numpy as np

from caspr.engines.native.problem import Labels, Problem


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
    """Yield every clustering as labels by first node."""

    def place(labels: list[int], used: int) -> Iterator[Labels]:
        if len(labels) == size:
            yield np.array(labels, dtype=np.intp)
            return
        for label in range(used + 1):
            yield from place([*labels, label], max(used, label + 1))

    yield from place([], 0)


def optima(problem: Problem) -> tuple[int, list[tuple[int, ...]]]:
    """Return the best value and all clusterings that reach it."""
    valued = [(problem.value(labels), tuple(labels.tolist())) for labels in clusterings(problem.size)]
    value = max(gained for gained, _ in valued if gained is not None)
    return value, [labels for gained, labels in valued if gained == value]
