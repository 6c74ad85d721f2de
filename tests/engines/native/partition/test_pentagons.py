"""Pentagon inequalities hold for every clustering, and the bounds made of them hold, too."""

from typing import Any

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.cuts import Cuts, Floats, ring_from
from caspr.engines.native.partition.lp import Nearby, program_of, relax, safe_bound
from caspr.engines.native.partition.outcome import Start
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.search import CuttingPlanes, first_cuts, new_cuts
from caspr.engines.native.partition.separation import CROWD, TURNS, violated_pentagons
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_problems import clusterings, optima, random_problem
from tests.engines.native.partition.test_proofs import graph_of, kinds_of, shown

RINGS = [(0, 1, 2, 3, 4), (0, 2, 4, 5, 3), (1, 3, 2, 5, 4)]


def left_side(ring: tuple[int, ...], x: Floats) -> float:
    nodes = np.array(ring)
    return float(x[nodes, np.roll(nodes, -1)].sum() - x[nodes, np.roll(nodes, -2)].sum())


def ringed(size: int, seed: int = 0, chords: float = 0.25) -> Problem:
    """Return a problem in which a ring and some chords gain, and all other pairs are forbidden."""
    random = np.random.default_rng(seed)
    gains = np.triu(random.integers(2, 6, (size, size)), 1)
    allowed = np.triu(random.random((size, size)) < chords, 1)
    allowed[np.arange(size - 1), np.arange(1, size)] = allowed[0, size - 1] = True
    gains, forbidden = np.where(allowed, gains, 0), ~(allowed | allowed.T)
    np.fill_diagonal(forbidden, False)
    return Problem(gains + gains.T, forbidden)


def loop(size: int) -> Problem:
    """Return a ring of nodes in which every side gains 2 and all other pairs are forbidden."""
    problem = ringed(size, chords=0.0)
    return Problem(2 * np.sign(problem.gains), problem.forbidden)


@pytest.mark.parametrize("ring", RINGS)
def test_every_clustering_satisfies_a_pentagon(ring: tuple[int, ...]) -> None:
    lefts = [left_side(ring, np.equal.outer(one, one).astype(float)) for one in clusterings(6)]
    assert max(lefts) == 2 == Cuts.beyond_stars(pentagons=[ring]).rights[0]


@pytest.mark.parametrize("seed", range(15))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    problem = random_problem(seed, 6)
    random = np.random.default_rng(seed)
    sides = ((0, 1), (2, 3, 4))
    cuts = first_cuts(problem) | Cuts.beyond_stars([sides], RINGS)
    program = program_of(problem, cuts)
    values = random.random(len(program.gains))
    point = safe_bound(problem, program, values, random.exponential(1.0, len(cuts)) - 0.2)
    assert point.bound(problem.step) >= optima(problem)[0]
    x = np.where(problem.forbidden, 0.0, point.x)
    assert point.slack[-3:] == pytest.approx([2 - left_side(ring, x) for ring in RINGS])


def test_a_right_side_counts_as_often_as_its_multiplier() -> None:
    problem = loop(5)
    cuts = Cuts.beyond_stars(pentagons=[RINGS[0]])
    point = safe_bound(problem, program_of(problem, cuts), np.zeros(5), np.array([2.0]))
    assert point.bound(1) == 4 == optima(problem)[0]


def test_diagonals_that_lose_count_for_what_multipliers_leave_of_them() -> None:
    gains = np.full((5, 5), -1, dtype=np.int64)
    nodes = np.arange(5)
    gains[nodes, (nodes + 1) % 5] = gains[(nodes + 1) % 5, nodes] = 3
    np.fill_diagonal(gains, 0)
    problem = Problem(gains, np.zeros((5, 5), dtype=bool))
    program = program_of(problem, Cuts.beyond_stars(pentagons=[RINGS[0]]))
    point = safe_bound(problem, program, np.zeros(len(program.gains)), np.array([2.0]))
    assert point.bound(1) == 2 * 2 + 5 * (3 - 2) + 5 * (2 - 1)
    assert optima(problem)[0] == 10


def test_what_is_found_is_violated_and_spread() -> None:
    x = np.eye(10)
    for begin in (0, 5):
        nodes = begin + np.arange(5)
        x[nodes, np.roll(nodes, 1)] = x[np.roll(nodes, 1), nodes] = 0.5
    free = Problem(np.zeros((10, 10), dtype=np.int64), np.zeros((10, 10), dtype=bool))
    found = violated_pentagons(free, x).pentagons
    assert set(found) == {(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)}
    apart = np.zeros((10, 10), dtype=bool)
    apart[0, 1] = apart[1, 0] = True
    assert violated_pentagons(Problem(free.gains, apart), x).pentagons == ((5, 6, 7, 8, 9),)
    x[0, 2] = x[2, 0] = 0.5  # a diagonal
    assert violated_pentagons(free, x).pentagons == ((5, 6, 7, 8, 9),)


def test_all_nodes_have_their_turn_and_no_side_is_crowded() -> None:
    problem = ringed(14, 3, 0.4)
    half = np.where(problem.forbidden, 0.0, 0.5)
    np.fill_diagonal(half, 1.0)
    found = [violated_pentagons(problem, half, turn=turn).pentagons for turn in range(TURNS)]
    assert len(set(found)) == TURNS
    for rings in found:
        assert rings and all(left_side(ring, half) > 2 and ring == ring_from(ring) for ring in rings)
        sides = [
            {one, other} for ring in rings for one, other in zip(ring, (*ring[1:], ring[0]), strict=True)
        ]
        assert max(sides.count(side) for side in sides) <= CROWD


def test_renaming_keeps_weights_and_drops_what_loses_its_form() -> None:
    cuts = Cuts.beyond_stars([((0, 1), (2, 3))], RINGS).weighing(np.array([9.0, 1.0, 2.0, 3.0]))
    problem = Problem(np.zeros((6, 6), dtype=np.int64), np.zeros((6, 6), dtype=bool))
    renamed = cuts.rename(np.array([5, 4, 3, 2, 1, 0]), problem)
    assert renamed.pentagons == ((1, 2, 3, 4, 5), (0, 1, 3, 5, 2), (0, 1, 4, 2, 3))
    assert renamed.weights.tolist() == [9, 1, 2, 3]
    assert cuts.rename(np.array([0, 0, 1, 2, 3, 4]), problem).pentagons == ((0, 1, 3, 4, 2), (0, 2, 1, 4, 3))
    assert cuts.within(np.array([0, 1, 2, 3, 4, -1]), problem).pentagons == (RINGS[0],)
    assert (cuts | cuts).pentagons == tuple(RINGS) and len(cuts | cuts) == 4
    kept = cuts.keep(np.array([False, True, False, True]))
    assert (kept.pentagons, kept.weights.tolist()) == ((RINGS[0], RINGS[2]), [1, 3])
    assert not len(cuts.only_stars())
    assert cuts.through(np.arange(6)).pentagons == cuts.pentagons


def test_crowded_problems_are_solved_like_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pentagons from the first round, which otherwise only problems of hundreds of nodes need."""
    looked: list[int] = []

    def noted(problem: Problem, *given: Any, **more: Any) -> Cuts:
        found = violated_pentagons(problem, *given, **more)
        looked.append(len(found))
        return found

    monkeypatch.setattr(searching, "violated_pentagons", noted)
    begin = Start(cuts=Cuts.beyond_stars(pentagons=[RINGS[0]]))
    for seed in range(25):
        problem = ringed(9, seed)
        outcome = CuttingPlanes(problem, Watch(), begin).run(np.arange(9))
        assert outcome.proven and outcome.value == optima(problem)[0], seed
    assert len(looked) > 10 and any(looked)


def test_pentagons_close_a_gap_that_stars_leave() -> None:
    problem = loop(5)
    stars = first_cuts(problem)
    point = relax(problem, stars, watch=Watch())
    assert point is not None and not len(new_cuts(problem, point.x)) and point.bound(2) == 4
    # Only rounding to multiples of 2 made that 4: three such rings together leave a gap.
    assert point.scaled / 2**point.shift > 4.9
    rings = violated_pentagons(problem, point.x)
    better = relax(problem, stars | rings, watch=Watch(), near=Nearby(point.x, {}))
    assert better is not None and better.scaled / 2**better.shift < 4.01


def test_a_proof_may_hold_pentagons() -> None:
    kinds = set[str]()
    begin = Start(cuts=Cuts.beyond_stars(pentagons=[RINGS[0]]), record=True)
    for seed in range(25):
        problem = ringed(9, seed)
        outcome = CuttingPlanes(problem, Watch(), begin).run(np.arange(9))
        assert shown(graph_of(problem), outcome) == outcome.value, seed
        kinds |= kinds_of(outcome.proof)
    assert "pentagons" in kinds
