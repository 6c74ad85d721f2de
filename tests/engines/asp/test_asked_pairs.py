"""Tests of the pairs that rules are asked about in large texts."""

import random
from itertools import combinations

import pytest

from caspr.engines.asp import asked_pairs
from caspr.engines.asp.asked_pairs import AskedPairs
from caspr.text.document import Span

Chains = list[list[Span]]


def some_chains(rng: random.Random, number: int) -> Chains:
    spans = [Span(token, token) for token in range(1, 9)]
    return [sorted(rng.sample(spans, rng.randint(1, 5))) for _ in range(number)]


def pairs_within(chains: Chains) -> set[tuple[Span, ...]]:
    return {pair for chain in chains for pair in combinations(chain, 2)}


def pairs_asked(asked: AskedPairs) -> set[tuple[Span, ...]]:
    """List all that a rule may find, as clingo does; each group is near others in both orders."""
    assert set(asked.near) == {(second, first) for first, second in asked.near}
    return {(a, b) for g, h in asked.near for a in asked.groups[g] for b in asked.groups[h] if a < b}


@pytest.mark.parametrize("seed", range(40))
def test_all_pairs_within_chains_are_asked_about_but_those_known(seed: int) -> None:
    rng = random.Random(seed)
    chains, known = some_chains(rng, rng.randint(0, 5)), some_chains(rng, rng.randint(0, 3))
    asked = AskedPairs.about(chains, known)
    assert pairs_asked(asked) == pairs_within(chains) - pairs_within(known)
    assert sorted(span for group in asked.groups for span in group) == sorted({s for c in chains for s in c})


@pytest.mark.parametrize("times", [0, 4])
def test_pairs_are_the_same_where_chains_are_asked_about_one_by_one(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setattr(asked_pairs, "TIMES", times)
    for seed in range(20):
        chains = some_chains(random.Random(seed), 4)
        assert pairs_asked(AskedPairs.within(chains)) == pairs_within(chains)
