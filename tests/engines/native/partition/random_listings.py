"""Random problems with a common gain, or without one, and pairs that depart from it."""

import numpy as np

from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.sparse import SparseProblem, listed

COMMON = (None, None, -1, -1, -2, 0, 1)
"""The common gains tried."""


def random_listing(seed: int, size: int) -> SparseProblem:
    """Make a problem with hidden clusters, sizes, forbidden pairs and listed pairs of any gain."""
    random = np.random.default_rng(seed)
    common = COMMON[seed % len(COMMON)]
    sizes = random.integers(1, random.choice([2, 4, 9]), size)
    hidden = random.integers(0, 3, size)
    likely = np.where(hidden[:, None] == hidden[None, :], random.choice([0.6, 0.9, 1.0]), 0.2)
    mask = np.triu(random.random((size, size)) < likely, 1)
    gains = random.integers(random.choice([-3, 0, 1]), random.choice([3, 6, 12]), (size, size))
    if random.random() < 0.7:
        gains = gains * np.outer(sizes, sizes)
    never = mask & (random.random((size, size)) < random.choice([0.0, 0.1]))
    unlisted = np.zeros((size, size), dtype=np.int64) if common is None else common * np.outer(sizes, sizes)
    gains = np.triu(np.where(never, 0, np.where(mask, gains, unlisted)), 1)
    forbidden = never | (~mask if common is None else np.zeros_like(mask))
    forbidden = np.triu(forbidden, 1)
    forbidden = forbidden | forbidden.T
    gains = (gains + gains.T).astype(np.int64)
    gains[forbidden] = 0
    np.fill_diagonal(gains, 0)
    return listed(Problem(gains, forbidden), sizes.astype(np.int64), common)
