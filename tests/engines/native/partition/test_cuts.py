"""Star inequalities hold for every clustering, and cut off fractional points."""

import numpy as np
import pytest

from caspr.engines.native.partition.cuts import (
    NO_CUTS,
    Cuts,
    cuts_of,
    lifted,
)
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.separation import violated_stars, violated_triangles
from tests.engines.native.partition.random_problems import clusterings, random_problem

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
    assert len(NO_CUTS.rename(labels, FREE)) == 0


@pytest.mark.parametrize("seed", range(30))
def test_lifted_stars_hold_and_say_no_less(seed: int) -> None:
    problem = random_problem(seed, 7)
    random = np.random.default_rng(seed)
    x = np.triu(random.random((7, 7)), 1)
    x = np.where(problem.forbidden, 0.0, x + x.T)
    found = violated_triangles(problem, x, limit=100, crowd=9) | violated_stars(problem, x)
    grown = lifted(found, problem)
    for labels in clusterings(7):
        together = np.equal.outer(labels, labels)
        if not (problem.forbidden & together).any():
            assert all(left_side(star, together.astype(float)) <= 1 for star in rows(grown))
    for star in rows(found):
        stronger = [other for other in rows(grown) if other[0] == star[0] and set(star) <= set(other)]
        assert any(left_side(other, x) >= left_side(star, x) for other in stronger)


def test_lifting_adds_all_leaves_it_can() -> None:
    forbidden = np.ones((5, 5), dtype=bool)
    forbidden[0, :] = forbidden[:, 0] = False
    np.fill_diagonal(forbidden, False)
    gains = np.where(forbidden, 0, 2)
    np.fill_diagonal(gains, 0)
    problem = Problem(gains, forbidden)
    assert rows(lifted(cuts_of([], np.array([[0, 1, 2]]), problem), problem)) == [(0, 1, 2, 3, 4)]


@pytest.mark.parametrize("seed", range(20))
def test_weights_stay_with_their_cuts(seed: int) -> None:
    problem = random_problem(seed, 8)
    random = np.random.default_rng(seed)
    x = random.random((8, 8))
    cuts = violated_triangles(problem, (x + x.T) / 2, limit=100, crowd=9) | violated_stars(
        problem, (x + x.T) / 2
    )
    cuts = cuts.weighing(random.random(len(cuts)))
    weight = dict(zip(rows(cuts), cuts.weights.tolist(), strict=True))
    kept = cuts.keep(random.random(len(cuts)) < 0.5)
    again = NO_CUTS | kept | cuts
    assert all(weight[star] == given for star, given in zip(rows(again), again.weights.tolist(), strict=True))
    assert len(again) == len(cuts)
    backwards = np.arange(8)[::-1].copy()
    turned = cuts.rename(backwards, Problem(problem.gains[::-1, ::-1], problem.forbidden[::-1, ::-1]))
    for star, given in zip(rows(turned), turned.weights.tolist(), strict=True):
        centre, *leaves = (7 - node for node in star)
        assert weight.get((centre, *sorted(leaves)), given) == given
