"""Cores hold together in every optimum, whatever the weights; the search and `verify` see the same ones."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from caspr.engines.native.partition.cores import (
    Core,
    CoreRows,
    Pulls,
    _Listed,
    _Matrix,
    find_cores,
    find_listed_cores,
    holds,
)
from caspr.engines.native.partition.problem import Bools, Ints, Labels, Problem
from caspr.engines.native.partition.reductions import reduce, shrink
from caspr.engines.native.partition.sparse import listed
from caspr.engines.native.partition.watch import Watch
from caspr.proof.verify.cores import ProvenCore
from caspr.proof.verify.graph import ProofGraph
from tests.engines.native.partition.random_problems import optima


def planted(seed: int, size: int) -> Problem:
    """Make a problem in which some nodes gain much, and others about as much with each of these."""
    random = np.random.default_rng(seed)
    core, low, high = int(random.integers(2, size)), int(random.integers(-6, 4)), int(random.integers(3, 10))
    gains = random.integers(low, high + 1, (size, size))
    gains[:core, :core] = random.integers(max(low, 0), 2 * high, (core, core))
    if random.random() < 0.5:
        rows, columns = random.integers(1, 4, core), random.integers(low, high + 1, size - core)
        gains[:core, core:] = np.outer(rows, columns) + random.integers(-1, 2, (core, size - core))
    gains = np.triu(gains, 1)
    forbidden = np.triu(random.random((size, size)) < random.choice([0.0, 0.1, 0.3]), 1)
    forbidden[:core, :core] = False
    forbidden |= forbidden.T
    gains = (gains + gains.T).astype(np.int64)
    gains[forbidden] = 0
    return Problem(gains, forbidden)


def possible_cores(problem: Problem, seed: int) -> Iterator[Core]:
    """Yield all sets of nodes without a forbidden pair, with some weights."""
    random = np.random.default_rng(seed)
    for number in range(2, problem.size + 1):
        for chosen in combinations(range(problem.size), number):
            nodes = np.array(chosen)
            if not problem.forbidden[np.ix_(nodes, nodes)].any():
                yield nodes, np.ones(number, dtype=np.int64)
                yield nodes, random.integers(1, 30, number)


def pulls_on(weights: Ints, gains: Ints, forbidden: Bools, most: Ints, firm: Ints) -> tuple[Ints, Ints, Ints]:
    """Add up the pulls of all nodes outside (columns) on each node of a core, as the claim has them."""
    total, barred = int(weights.sum()), forbidden.any(axis=0)
    free, some = gains[:, ~barred], forbidden[:, barred]
    share: Ints = np.abs(total * free - np.outer(weights, free.sum(axis=0))).sum(axis=1)
    leaving = (some * np.where(2 * (weights @ ~some) > total, firm[barred], 0)).sum(axis=1)
    kept = total * np.maximum(gains[:, barred], 0) + np.outer(weights, most[barred])
    share += 2 * np.where(some, 0, kept).sum(axis=1) + total * leaving
    return share, np.maximum(gains, 0).sum(axis=1), np.abs(gains).sum(axis=1) + leaving


def is_core(problem: Problem, nodes: Labels, weights: Labels) -> tuple[bool, bool]:
    """Return whether the nodes hold against what others have a share in, and against what is out and over."""
    allowing = np.where(problem.forbidden[nodes], 0, weights[:, None]).sum(axis=0)
    others = np.array([d for d in np.flatnonzero(allowing).tolist() if d not in nodes], dtype=np.intp)
    table, positive = np.ix_(nodes, others), np.maximum(problem.gains[others], 0)
    most, firm = positive @ (allowing > 0), positive @ (2 * allowing > weights.sum())
    share, out, over = pulls_on(weights, problem.gains[table], problem.forbidden[table], most, firm)
    for kind in (_Matrix(problem), _Listed(listed(problem))):
        pulls = Pulls.of(CoreRows(kind, nodes, Watch()), weights)
        assert (pulls.share + pulls.of_leaving() == share).all()
        assert (pulls.out == out).all() and (pulls.over == over).all()
    hold, heavy = holds(problem.gains[np.ix_(nodes, nodes)], weights), 2 * weights > weights.sum()
    return (
        bool((heavy | (weights.sum() * hold > share)).all()),
        bool((heavy | (hold > np.maximum(2 * out, over))).all()),
    )


@pytest.mark.parametrize("block", range(10))
def test_cores_are_together_in_every_optimum(block: int) -> None:
    fired = np.zeros(3, dtype=int)
    for seed in range(block * 12, block * 12 + 12):
        problem = planted(seed, 4 + seed % 3)
        clusterings = [np.array(labels) for labels in optima(problem)[1]]
        for nodes, weights in possible_cores(problem, seed):
            kinds = is_core(problem, nodes, weights)
            fired += (*kinds, any(kinds) and problem.forbidden[nodes].any())
            if any(kinds):
                assert all(len(set(labels[nodes].tolist())) == 1 for labels in clusterings)
    assert fired.all()


def proof_graph(problem: Problem) -> ProofGraph:
    pairs = combinations(range(problem.size), 2)
    gains = {(u, v): int(problem.gains[u, v]) for u, v in pairs if not problem.forbidden[u, v]}
    return ProofGraph.of(gains, range(problem.size))


@pytest.mark.parametrize("seed", range(30))
def test_what_verify_believes_is_what_the_search_finds(seed: int) -> None:
    problem = planted(seed, 6)
    graph, agreed = proof_graph(problem), 0
    for nodes, weights in possible_cores(problem, seed):
        row = np.column_stack([nodes, weights]).ravel().tolist()
        # All nodes count for the search, whatever is connected.
        proven = ProvenCore.of(graph, set(range(problem.size)), row).holds
        assert proven == any(is_core(problem, nodes, weights))
        agreed += proven
    assert agreed or seed


@pytest.mark.parametrize("seed", range(40))
def test_what_is_found_is_together_in_every_optimum(seed: int) -> None:
    problem = planted(seed, 7)
    clusterings = [np.array(labels) for labels in optima(problem)[1]]
    for nodes, weights in [*find_cores(problem, Watch()), *listed_cores(problem)]:
        assert any(is_core(problem, nodes, weights))
        assert all(len(set(labels[nodes].tolist())) == 1 for labels in clusterings)


def listed_cores(problem: Problem) -> list[Core]:
    sparse = listed(problem)
    sparse.index(Watch())
    return find_listed_cores(sparse, Watch())


def crowd(seed: int, *, chains: int, mentions: int, annotators: int, use: int) -> Problem:
    """Make chains that every annotator has nearly complete, with some pairs that exclude each other."""
    random = np.random.default_rng(seed)
    home = np.repeat(np.arange(chains), mentions)
    links = np.zeros((len(home), len(home)), dtype=np.int64)
    for _ in range(annotators):
        found = random.random(len(home)) < 0.9
        astray = random.random(len(home)) < 0.02
        label = np.where(astray, random.integers(0, chains, len(home)), home)
        links += np.equal.outer(label, label) & np.logical_and.outer(found, found)
    np.fill_diagonal(links, 0)
    forbidden = links == 0
    np.fill_diagonal(forbidden, False)
    for chain in range(chains):
        first, second = chain * mentions, chain * mentions + 1
        forbidden[first, second] = forbidden[second, first] = True
    gains = (2 + use) * links - use * annotators
    gains[forbidden] = 0
    np.fill_diagonal(gains, 0)
    return Problem(gains, forbidden)


@pytest.mark.parametrize("use", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_a_crowd_leaves_nothing_to_search(seed: int, use: int) -> None:
    """Every node of a chain differs a little from every other one, so that no two are near-twins."""
    problem = crowd(seed, chains=4, mentions=40, annotators=20, use=use)
    for size in (reduce(problem).problem.size, shrink(listed(problem), Watch()).problem.size):
        assert size <= 4 * 4
