"""What a search records proves its bound, by the checks of `verify` alone."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition.outcome import SearchOutcome, Start
from caspr.engines.native.partition.problem import UNMET, Problem
from caspr.engines.native.partition.search import search, search_split
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import split
from caspr.engines.native.partition.watch import Watch
from caspr.errors import EngineError
from caspr.proof.verify.graph import ProofDemand, ProofGraph
from caspr.proof.verify.tree import bound_tree
from tests.engines.native.partition.random_demands import random_demanding
from tests.engines.native.partition.random_listings import random_listing
from tests.engines.native.partition.random_problems import optima, random_problem, with_couples, with_guests

RECORDED = Start(record=True)


def graph_of(problem: Problem) -> ProofGraph:
    """Write a problem down as `verify` sees it."""
    gains = {
        (one, other): int(problem.gains[one, other])
        for one in range(problem.size)
        for other in range(one + 1, problem.size)
        if not problem.forbidden[one, other]
    }
    demands = {
        demand.name: ProofDemand(demand.home, demand.partners, demand.costs, demand.links)
        for demand in problem.demands
    }
    return ProofGraph.of(gains, range(problem.size), demands)


def sparse_graph_of(problem: SparseProblem) -> ProofGraph:
    """Write a list of pairs down as `verify` sees it."""
    graph = ProofGraph(
        dict(enumerate(problem.sizes.tolist())), problem.common, {node: {} for node in range(problem.size)}
    )
    for one, other, gain, never in zip(
        *(column.tolist() for column in (problem.first, problem.second, problem.gains, problem.forbidden)),
        strict=True,
    ):
        graph.put(one, other, None if never else gain)
    return graph


def shown(graph: ProofGraph, outcome: SearchOutcome) -> int:
    """Return what the proof of an outcome shows, after a way through a file."""
    assert outcome.proven and outcome.proof is not None
    bound = bound_tree(graph, json.loads(json.dumps(outcome.proof)))
    return UNMET if bound is None else bound


def kinds_of(proof: Any) -> set[str]:
    """Return the kinds of statements in a proof."""
    if isinstance(proof, dict):
        return proof.keys() | kinds_of(list(proof.values()))
    return set().union(*map(kinds_of, proof)) if isinstance(proof, list | tuple) else set()


@pytest.mark.parametrize("block", range(4))
def test_small_problems(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", (8, 3)[block % 2])
    kinds = set[str]()
    for seed in range(block * 100, block * 100 + 100):
        problem = random_problem(seed, size=4 + seed % 12)
        outcome = search(problem, Watch(), RECORDED)
        assert shown(graph_of(problem), outcome) == outcome.value, seed
        assert outcome.value == search(problem, Watch()).value
        kinds |= kinds_of(outcome.proof)
    assert kinds >= {"apart", "together", "parts", "stars"}


@pytest.mark.parametrize("make", [with_guests, with_couples])
def test_who_takes_a_place(make: Callable[[int], Problem], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", 2)
    kinds = set[str]()
    for seed in range(150):
        problem = make(seed)
        outcome = search(problem, Watch(), RECORDED)
        assert shown(graph_of(problem), outcome) == outcome.value, seed
        kinds |= kinds_of(outcome.proof)
    assert make.__name__.removeprefix("with_") in kinds


@pytest.mark.parametrize("block", range(5))
def test_what_is_believed_of_guests_and_couples_holds_in_every_optimum(block: int) -> None:
    believed = dict.fromkeys(("guests", "couples"), 0)
    for seed in range(block * 8, block * 8 + 8):
        for problem, kind, rows in (*_about_guests(seed), *_about_couples(seed)):
            _, best = optima(problem)
            for row in rows:
                pairs = (row[:2], row[2:]) if kind == "couples" else (row[:2],)
                try:
                    bound_tree(graph_of(problem), [{kind: [list(row)]}])
                except EngineError:
                    continue
                believed[kind] += 1
                assert all(labels[u] == labels[v] for labels in best for u, v in pairs), (seed, row)
    assert all(believed.values())


Claims = Iterator[tuple[Problem, str, list[tuple[int, ...]]]]


def _about_guests(seed: int) -> Claims:
    problem, random = with_guests(seed), Random(seed)
    every = permutations(range(problem.size), 2)
    yield problem, "guests", [(u, v, *random.sample(range(8), seed % 3)) for u, v in every]


def _about_couples(seed: int) -> Claims:
    problem = with_couples(seed)
    forbidden = list(zip(*(nodes.tolist() for nodes in np.nonzero(problem.forbidden)), strict=True))
    yield problem, "couples", [(u, s, v, t) for (u, v), (s, t) in permutations(forbidden, 2)]


@pytest.mark.usefixtures("without_heuristics")
@pytest.mark.parametrize("seed", range(12))
def test_searches_that_fix_and_branch(seed: int) -> None:
    problem = random_problem(seed, size=22)
    outcome = search(problem, Watch(), RECORDED)
    assert shown(graph_of(problem), outcome) == outcome.value


@pytest.mark.parametrize("block", range(4))
def test_demands(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "TINY", (8, 1)[block % 2])
    kinds = set[str]()
    for seed in range(block * 150, block * 150 + 150):
        problem = random_demanding(seed, nodes=9)
        outcome = search(problem, Watch(), RECORDED)
        assert shown(graph_of(problem), outcome) == outcome.value, seed
        kinds |= kinds_of(outcome.proof)
    assert "forced" in kinds


def test_a_pair_that_fixing_put_together_is_not_decided_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search branches on what fixing left, however little that is: here it left such a pair unclear."""
    monkeypatch.setattr(searching, "TINY", 1)
    monkeypatch.setattr(searching, "SHRINKAGE", 1.0)
    problem = random_demanding(279, nodes=9)
    outcome = search(problem, Watch(), RECORDED)
    assert shown(graph_of(problem), outcome) == outcome.value


@pytest.mark.parametrize("seed", range(60))
def test_lists_of_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from caspr.engines.native.partition import splitting

    monkeypatch.setattr(splitting, "WRITTEN_OUT", 2)
    monkeypatch.setattr(splitting, "LONG_LIST", 2.0)
    sparse = random_listing(seed, size=6 + seed % 20)
    outcome = search_split(split(sparse, Watch(), record=True), Watch(), RECORDED)
    assert shown(sparse_graph_of(sparse), outcome) == outcome.value
    assert np.array_equal(outcome.labels, search_split(split(sparse, Watch()), Watch()).labels)


def test_nothing_is_recorded_that_nobody_wants() -> None:
    problem = random_problem(1, size=14)
    assert search(problem, Watch()).proof is None
    assert not split(problem, Watch()).steps
    assert search(problem, Watch(), replace(RECORDED, record=False)).proof is None
