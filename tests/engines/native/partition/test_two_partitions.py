"""Two-partition inequalities hold for every clustering, and the bounds made of them hold, too."""

import numpy as np
import pytest

from caspr.engines.native.partition.cuts import NO_CUTS, Cuts, Floats, cuts_of
from caspr.engines.native.partition.lp import Nearby, program_of, relax, safe_bound
from caspr.engines.native.partition.outcome import Start
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.search import first_cuts, new_cuts, search
from caspr.engines.native.partition.separation import violated_two_partitions
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import clusterings, optima, random_problem
from tests.engines.native.partition.test_proofs import graph_of, kinds_of, shown

SIDES = [((0, 1), (2, 3)), ((0, 1), (2, 3, 4)), ((0, 3), (1, 2, 4, 5)), ((0, 1, 2), (3, 4, 5))]
FREE = np.zeros((6, 6), dtype=bool)


def left_side(sides: tuple[tuple[int, ...], tuple[int, ...]], x: Floats) -> float:
    one, other = map(list, sides)
    inside = sum(np.triu(x[np.ix_(side, side)], 1).sum() for side in (one, other))
    return float(x[np.ix_(one, other)].sum() - inside)


def bipartite(seed: int, size: int = 8) -> Problem:
    """Return a problem in which only pairs of two sides gain or lose anything."""
    random = np.random.default_rng(seed)
    across = np.zeros((size, size), dtype=np.int64)
    half = size // 2
    across[:half, half:] = random.choice([1, -1], (half, size - half), p=[0.6, 0.4])
    return Problem(across + across.T, np.zeros((size, size), dtype=bool))


@pytest.mark.parametrize("sides", SIDES)
def test_every_clustering_satisfies_a_two_partition(sides: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    lefts = [left_side(sides, np.equal.outer(one, one).astype(float)) for one in clusterings(6)]
    assert max(lefts) == len(sides[0]) == Cuts.beyond_stars([sides]).rights[0]


@pytest.mark.parametrize("seed", range(15))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    problem = random_problem(seed, 6)
    random = np.random.default_rng(seed)
    cuts = first_cuts(problem) | Cuts.beyond_stars(SIDES)
    program = program_of(problem, cuts)
    values = random.random(len(program.gains))
    point = safe_bound(problem, program, values, random.exponential(1.0, len(cuts)) - 0.2)
    assert point.bound(problem.step) >= optima(problem)[0]
    x = np.where(problem.forbidden, 0.0, point.x)
    expected = [len(one) - left_side((one, other), x) for one, other in SIDES]
    assert point.slack[-len(SIDES) :] == pytest.approx(expected)


def test_a_right_side_counts_as_often_as_its_multiplier() -> None:
    problem = bipartite(0, 6)
    problem = Problem(np.abs(problem.gains), FREE)
    cuts = Cuts.beyond_stars([((0, 1, 2), (3, 4, 5))])
    point = safe_bound(problem, program_of(problem, cuts), np.zeros(15), np.ones(1))
    assert point.bound(1) == 3 + 6  # the nine gains are used up; six pairs inside the sides gain 1 instead


def test_what_is_found_is_violated_and_new() -> None:
    x = np.eye(6)
    x[:3, 3:] = x[3:, :3] = 0.5
    stars = cuts_of([(0, 3, 4, 5), (3, 0, 1, 2)], NO_CUTS.triangles, Problem(np.zeros_like(FREE, int), FREE))
    found = violated_two_partitions(Problem(np.zeros((6, 6), dtype=np.int64), FREE), x, stars, np.zeros(2))
    assert found.two_partitions
    for one, other in found.two_partitions:
        assert 1 < len(one) <= len(other) and not {*one} & {*other}
        assert left_side((one, other), x) > len(one)
    tight_nowhere = violated_two_partitions(
        Problem(np.zeros((6, 6), dtype=np.int64), FREE), x, stars, np.ones(2)
    )
    assert not len(tight_nowhere)


def test_what_is_found_is_not_nearly_the_same_twice() -> None:
    """Three blocks of six nodes, in each of which many two-partitions are violated."""
    x, stars = np.eye(18), list[tuple[int, ...]]()
    for block in (0, 6, 12):
        left, right = range(block, block + 3), range(block + 3, block + 6)
        x[np.ix_(left, right)] = x[np.ix_(right, left)] = 0.5
        stars += [(centre, *right) for centre in left] + [(centre, *left) for centre in right]
    problem = Problem(np.zeros((18, 18), dtype=np.int64), np.zeros((18, 18), dtype=bool))
    cuts = cuts_of(stars, NO_CUTS.triangles, problem)
    found = violated_two_partitions(problem, x, cuts, np.zeros(len(cuts))).two_partitions
    rows = []
    for sides in found:
        signs = np.zeros(18)
        for nodes, sign in zip(sides, (1, -1), strict=True):
            signs[list(nodes)] = sign
        row = np.outer(signs, signs)[np.triu_indices(18, 1)]
        rows.append(row / np.linalg.norm(row))
    assert len(rows) >= 3
    assert np.triu(np.array(rows) @ np.array(rows).T, 1).max() < 0.5


def test_renaming_keeps_weights_and_drops_what_loses_its_form() -> None:
    cuts = Cuts.beyond_stars(SIDES).weighing(np.array([1.0, 2.0, 3.0, 4.0]))
    problem = Problem(np.zeros((6, 6), dtype=np.int64), FREE)
    renamed = cuts.rename(np.array([0, 0, 1, 2, 3, 4]), problem)
    assert not renamed.two_partitions
    renamed = cuts.rename(np.array([5, 4, 3, 2, 1, 0]), problem)
    assert renamed.two_partitions[:2] == (((2, 3), (4, 5)), ((4, 5), (1, 2, 3)))
    assert renamed.weights.tolist() == [1, 2, 3, 4]
    assert cuts.within(np.array([0, 1, 2, 3, 4, -1]), problem).two_partitions == tuple(SIDES[:2])
    assert (cuts | cuts).two_partitions == tuple(SIDES)
    kept = cuts.keep(np.array([False, True, False, True]))
    assert (kept.two_partitions, kept.weights.tolist()) == ((SIDES[1], SIDES[3]), [2, 4])
    assert not len(cuts.only_stars())
    assert cuts.through(np.arange(6)).two_partitions == cuts.two_partitions


@pytest.mark.parametrize("seed", range(6))
def test_bipartite_problems_are_solved_like_by_brute_force(seed: int) -> None:
    problem = bipartite(seed, 9)
    outcome = search(problem, Watch())
    assert outcome.proven and outcome.value == optima(problem)[0]


def test_two_partitions_lower_a_bound_that_stars_leave() -> None:
    """Found by trying seeds: with stars alone the bound of this problem stalls above its optimum."""
    problem = bipartite(11, 14)
    bounds = {False: 99.0, True: 99.0}
    cuts, near = first_cuts(problem), np.zeros((14, 14))
    for number in range(24):
        thorough = number >= 12
        point = relax(problem, cuts, watch=Watch(), near=Nearby(near, {}))
        assert point is not None
        near, bounds[thorough] = point.x, min(bounds[thorough], point.scaled / 2**point.shift)
        new = new_cuts(problem, near, thorough=thorough)
        if thorough:
            new |= violated_two_partitions(problem, near, point.cuts, point.slack)
        cuts = point.cuts | new
    assert bounds[True] < bounds[False] - 0.1


def test_a_proof_may_hold_two_partitions() -> None:
    problem = bipartite(11, 14)
    outcome = search(problem, Watch(), Start(record=True))
    assert "two_partitions" in kinds_of(outcome.proof)
    assert shown(graph_of(problem), outcome) == outcome.value
