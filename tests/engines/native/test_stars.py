"""Star inequalities hold for every clustering, and cut off fractional points."""

import numpy as np
import pytest

from caspr.engines.native.problem import Problem
from caspr.engines.native.stars import NONE, Cuts, cuts_of, violated_stars, violated_triangles
from tests.engines.native.random_problems import clusterings

FREE = Problem(np.zeros((6, 6), dtype=np.int64), np.zeros((6, 6), dtype=bool))


def left_side(star: tuple[int, ...], x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    centre, leaves = star[0], list(star[1:])
    return float(x[centre, leaves].sum() - np.triu(x[np.ix_(leaves, leaves)], 1).sum())


def rows(cuts: Cuts) -> list[tuple[int, ...]]:
    return [*(tuple(row) for row in cuts.triangles.tolist()), *cuts.stars]


@pytest.mark.parametrize("star", [(0, 1, 2), (3, 0, 1, 2), (0, 1, 2, 3, 4, 5)])
def test_every_clustering_satisfies_a_star(star: tuple[int, ...]) -> None:
    for labels in clusterings(6):
        x = np.equal.outer(labels, labels).astype(float)
        assert left_side(star, x) <= 1


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_is_violated(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = np.triu(random.random((6, 6)), 1)
    x = x + x.T + np.eye(6)
    found = violated_triangles(FREE, x, limit=100, crowd=2) | violated_stars(FREE, x)
    assert all(left_side(star, x) > 1 for star in rows(found))


def test_half_everywhere_around_a_centre_is_cut_off_by_a_star_only() -> None:
    x = np.eye(6)
    x[0, 1:] = x[1:, 0] = 0.5
    assert not len(violated_triangles(FREE, x, limit=100, crowd=9))
    assert rows(violated_stars(FREE, x))


def test_renaming_drops_what_says_nothing() -> None:
    cuts = cuts_of([(0, 1, 2, 3)], np.array([[0, 1, 2], [1, 2, 3]]), FREE)
    labels = np.array([0, 0, 1, 2, 3, 4])
    assert rows(cuts.rename(labels, FREE)) == [(0, 1, 2)]
    assert len(NONE.rename(labels, FREE)) == 0
