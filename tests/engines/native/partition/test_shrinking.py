"""Every rule of the sparse reductions fires only where all optima agree, and fires at all."""

import numpy as np
import pytest

from caspr.engines.native.partition import reductions as shrinking
from caspr.engines.native.partition import splitting, ties
from caspr.engines.native.partition.problem import firsts
from caspr.engines.native.partition.reductions import Beside, Trials, shrink
from caspr.engines.native.partition.search import search
from caspr.engines.native.partition.watch import Watch
from tests.engines.native.partition.random_listings import random_listing
from tests.engines.native.partition.random_problems import optima


@pytest.mark.parametrize("block", range(10))
def test_all_weights_hold_in_every_optimum(block: int) -> None:
    """The rule is sound for any weights, not only for those in use; each kind in use fires."""
    fired = 0
    for seed in range(block * 40, block * 40 + 40):
        sparse, random = random_listing(seed, 6), np.random.default_rng(seed)
        _, best = optima(sparse.dense())
        one, two = np.triu_indices(6, 1)
        one, two = np.tile(one, 8), np.tile(two, 8)
        weights = random.integers(0, 4, (len(one), 5)) * (random.random((len(one), 5)) < 0.6)
        trials = Trials(one, two, weights)
        home = sparse.components(ties=True)
        beside = Beside(sparse, Watch()) if sparse.common is None else None
        spare = shrinking._spare_listed(sparse, trials, home, beside, Watch())
        allowed = ~sparse.dense().forbidden[one, two]
        together = (spare > 0) & allowed & (home[one] == home[two])
        fired += int(together.sum())
        for labels in map(np.array, best):
            assert (labels[one[together]] == labels[two[together]]).all(), seed
    assert fired > 40


@pytest.mark.parametrize("block", range(12))
def test_shrinking_keeps_all_optima(block: int) -> None:
    fired = 0
    for seed in range(block * 40, block * 40 + 40):
        sparse = random_listing(seed, 7)
        shrunk = shrink(sparse, Watch(), all_optima=True)
        value, best = optima(sparse.dense())
        small_value, small_best = optima(shrunk.problem.dense())
        assert small_value + shrunk.constant == value, seed
        assert len(small_best) == len(best), seed
        fired += 7 - shrunk.problem.size
        one = shrink(sparse, Watch())
        assert optima(one.problem.dense())[0] + one.constant == value, seed
    assert fired > 40


def test_what_a_split_leaves_for_ties_holds_only_what_all_optima_hold_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rivals leave some optima out, so what they put together is not among it."""
    monkeypatch.setattr(splitting, "WRITTEN_OUT", 0)
    monkeypatch.setattr(ties, "WRITTEN_OUT", 0)
    held = rivals = 0
    for seed in range(240):
        sparse = random_listing(seed, 8)
        _, best = optima(sparse.dense())
        left = splitting.split(sparse, Watch())
        assert left.shrunk is not None
        groups, home = left.shrunk.labels, sparse.components()
        first = firsts(groups)[groups]
        for labels in map(np.array, best):
            if (home == home[firsts(labels)[labels]]).all():
                assert (labels == labels[first]).all(), seed
        outcome = search(sparse.dense(), Watch())
        known, fresh = (ties.first_optimum(sparse, outcome, Watch(), split) for split in (left, None))
        assert known.proven and fresh.proven and known.labels.tolist() == fresh.labels.tolist(), seed
        held += left.shrunk.problem.size < shrink(sparse, Watch()).problem.size
        rivals += left.shrunk.problem.size > left.size
    assert held and rivals


def test_no_gaining_pair_is_excluded_by_the_quick_test_that_the_rules_find(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the quick tests leave out would not fire either."""
    found = 0
    for seed in range(120):
        sparse = random_listing(seed, 8)
        home = sparse.components()
        quick = shrinking._trials(sparse, Watch())
        with monkeypatch.context() as patch:
            patch.setattr(shrinking, "_alike", lambda *given: np.ones(len(given[1]), dtype=bool))
            every = shrinking._trials(sparse, Watch())
        spare = shrinking._spare_listed(sparse, every, home, None, Watch())
        kept = {
            (u, v, *w)
            for u, v, w in zip(quick.u.tolist(), quick.v.tolist(), quick.weights.tolist(), strict=True)
        }
        for u, v, w, left in zip(
            every.u.tolist(), every.v.tolist(), every.weights.tolist(), spare.tolist(), strict=True
        ):
            if left > 0:
                assert (u, v, *w) in kept, seed
                found += 1
    assert found > 100
