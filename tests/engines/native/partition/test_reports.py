"""What a search reports while it runs holds: bounds that fall, clusterings that get better."""

from dataclasses import replace

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.outcome import Start
from caspr.engines.native.partition.problem import UNMET, Demand, Labels, Problem
from caspr.engines.native.partition.search import quick, search, search_split
from caspr.engines.native.partition.splitting import split
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop
from tests.engines.native.partition.random_demands import best_value, random_demanding
from tests.engines.native.partition.random_problems import random_problem


class Reports:
    """Collects what is reported."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bounds: list[int] = []
        self.values: list[int] = []

    def found(self, labels: Labels, value: int) -> None:
        assert self.problem.value(labels) == value
        self.values.append(value)

    @property
    def start(self) -> Start:
        return Start(on_bound=self.bounds.append, on_found=self.found)

    def check(self, value: int) -> None:
        """Compare with the optimum."""
        assert self.bounds == sorted(self.bounds, reverse=True)
        assert not self.bounds or self.bounds[-1] == value
        assert self.values == sorted(set(self.values))
        assert all(reported <= value for reported in self.values)


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("tiny", [1, 8])
@pytest.mark.parametrize("block", range(3))
def test_with_demands_the_first_clustering_that_meets_them_is_reported(
    block: int, tiny: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "TINY", tiny)
    for seed in range(40 * block, 40 * block + 40):
        whole = random_demanding(seed)
        best, reports, reduced = best_value(whole), Reports(whole), split(whole, Watch())
        assert search(whole, Watch(), reports.start).value == (UNMET if best is None else best)
        if best is None:
            assert not reports.values
        else:
            reports.check(best)
            met_at_first = whole.value(reduced.lift(np.arange(reduced.size))) is not None
            assert reports.values or met_at_first
            assert bool(reports.bounds) == bool(reduced.pieces)


def beside(first: Problem, second: Problem) -> Problem:
    """Put two problems beside each other, with nothing to gain between them."""
    size, shift = first.size + second.size, first.size
    gains, forbidden = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=bool)
    gains[:shift, :shift], gains[shift:, shift:] = first.gains, second.gains
    forbidden[:shift, :shift], forbidden[shift:, shift:] = first.forbidden, second.forbidden
    moved = (
        replace(
            demand,
            name=demand.name + shift,
            home=demand.home + shift,
            partners=tuple(partner + shift for partner in demand.partners),
            links=tuple((one + shift, other + shift) for one, other in demand.links),
        )
        for demand in second.demands
    )
    return Problem(gains, forbidden, (*first.demands, *moved))


def pigeons() -> Problem:
    """Make a problem that only a search finds hopeless: three rivals, which demand one of two nodes each."""
    gains, forbidden = np.zeros((5, 5), dtype=np.int64), np.zeros((5, 5), dtype=bool)
    forbidden[:3, :3] = ~np.eye(3, dtype=bool)
    links = {home: ((home, 3), (home, 4)) for home in range(3)}
    return Problem(gains, forbidden, tuple(Demand(home, home, (3, 4), (0, 0), links[home]) for home in links))


@pytest.mark.parametrize("tiny", [1, 8])
@pytest.mark.parametrize("seed", range(4))
def test_a_piece_that_is_found_to_be_hopeless_makes_the_whole_so(
    seed: int, tiny: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "TINY", tiny)
    whole = beside(pigeons(), random_problem(seed, 12))
    assert not split(whole, Watch()).hopeless
    reports = Reports(whole)
    outcome = search(whole, Watch(), reports.start)
    assert (outcome.value, outcome.bound, reports.values) == (UNMET, UNMET, [])


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("tiny", [1, 8])
@pytest.mark.parametrize("block", range(2))
def test_pieces_whose_demands_cannot_be_met_leave_no_clustering_of_the_whole(
    block: int, tiny: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "TINY", tiny)
    for seed in range(40 * block, 40 * block + 40):
        parts = random_demanding(2 * seed), random_demanding(2 * seed + 1)
        whole, values = beside(*parts), [best_value(part) for part in parts]
        reports = Reports(whole)
        outcome = search(whole, Watch(), reports.start)
        best = UNMET if None in values else sum(value for value in values if value is not None)
        assert (outcome.value, outcome.bound, outcome.proven) == (best, best, True), seed
        assert best != UNMET or not reports.values


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(8))
def test_without_demands_every_better_clustering_is_reported(seed: int) -> None:
    problem = random_problem(seed, 20)
    reports, pieces = Reports(problem), split(problem, Watch()).pieces
    outcome = search(problem, Watch(), reports.start)
    reports.check(outcome.value)
    assert bool(reports.bounds) == bool(pieces)
    if len(pieces) == 1 and len(pieces[0].nodes) > searching.TINY:
        assert reports.values[-1] == outcome.value


@pytest.mark.parametrize("seed", range(8))
def test_what_is_known_stands_where_no_time_is_left_and_is_not_reported_again(seed: int) -> None:
    problem = random_problem(seed, 24)
    reduced, best = split(problem, Watch()), search(problem, Watch())
    for late in (Watch(), Watch(stop=Stop.TIME)):
        reports = Reports(problem)
        outcome = search_split(reduced, late, Start(known=best.labels, on_found=reports.found))
        assert outcome.value == best.value == problem.value(outcome.labels)
        assert reports.values == []
    alone = np.arange(problem.size)
    assert search_split(reduced, Watch(), Start(known=alone)).value == best.value


@pytest.mark.parametrize("seed", range(8))
def test_a_known_clustering_that_meets_the_demands_stands_where_no_time_is_left(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "TINY", 1)
    seeds = (number for number in range(50 * seed, 50 * seed + 50) if best_value(random_demanding(number)))
    problem = random_demanding(next(seeds))
    best = search(problem, Watch())
    late = search_split(split(problem, Watch()), Watch(stop=Stop.TIME), Start(known=best.labels))
    assert late.value == best.value == problem.value(late.labels)


def test_demands_are_met_at_first_where_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", 1)
    late, met = Watch(stop=Stop.TIME), 0
    for seed in range(100):
        reduced = split(random_demanding(seed), Watch())
        value = search_split(reduced, late).value
        assert value == quick(reduced, late).value
        met += bool(reduced.pieces) and value != UNMET
    assert met > 20


def test_without_time_a_piece_keeps_what_is_known_or_meets_its_demands_whatever_must_be_exceeded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "TINY", 1)
    late, met, better = Watch(stop=Stop.TIME), 0, 0
    for seed in range(100):
        for piece in split(random_demanding(seed), Watch()).pieces:
            assert isinstance(piece.problem, Problem)
            first = searching.first_clustering(piece.problem, late)
            rushed = searching._searched(piece.problem, late, Start(floor=0))
            assert np.array_equal(rushed.labels, first)
            met += rushed.value != UNMET
            best = search(piece.problem, Watch())
            kept = searching._searched(piece.problem, late, Start(known=best.labels))
            assert kept.value == best.value
            better += best.value > rushed.value
    assert met > 20
    assert better > 5
