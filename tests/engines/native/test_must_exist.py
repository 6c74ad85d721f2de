"""Mentions that must exist: value, optima and certificates are right, by brute force and by clingo."""

import json

import pytest

from caspr.engines import brute
from caspr.engines.native import solve
from caspr.engines.native.prove import prove_optimal
from caspr.proof.certify import certify
from caspr.proof.verify import verify
from caspr.task.limits import Limits
from caspr.task.solution import Status
from tests.engines.native.random_instances import needy_instance

EVERYTHING = Limits(solutions=1_000_000)


@pytest.mark.parametrize("block", range(20))
def test_value_and_certificate_are_right(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        instance = needy_instance(seed)
        ours, theirs = solve(instance, Limits()), brute.solve(instance, Limits())
        certify(instance, ours)
        assert (ours.status, ours.value, ours.bound) == (theirs.status, theirs.value, theirs.bound), seed
        if ours.status is Status.OPTIMAL:
            written = prove_optimal(instance, ours, Limits())
            assert written is not None, seed
            assert verify(json.loads(json.dumps(written)), instance) == ours.value, seed


@pytest.mark.parametrize("block", range(10))
def test_all_optima_are_those_of_brute_force(block: int) -> None:
    for seed in range(50_000 + block * 100, 50_100 + block * 100):
        instance = needy_instance(seed, mentions=7)
        ours, theirs = solve(instance, EVERYTHING), brute.solve(instance, EVERYTHING)
        assert (ours.value, set(ours.partitions)) == (theirs.value, set(theirs.partitions)), seed
        assert ours.complete
