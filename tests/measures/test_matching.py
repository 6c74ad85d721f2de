"""Matching entities one to one: the solver that is imported alone is scipy's."""

import random

import numpy as np
from scipy.optimize import linear_sum_assignment

from caspr.measures.matching import _assignment_solver


def test_the_solver_maps_as_scipy_does_on_ties_too() -> None:
    rng, solve = random.Random(1), _assignment_solver()
    for _ in range(50):
        shape = rng.randint(1, 6), rng.randint(1, 6)
        weights = np.array([rng.randint(0, 3) for _ in range(shape[0] * shape[1])], dtype=float).reshape(
            shape
        )
        chosen, expected = solve(weights, maximize=True), linear_sum_assignment(weights, maximize=True)
        assert [side.tolist() for side in chosen] == [side.tolist() for side in expected]
