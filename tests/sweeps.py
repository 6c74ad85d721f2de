"""How much of a sweep runs: all of it, or a few cases that show what it checks.

A sweep is a test that repeats itself: on random inputs, or at every moment at which a limit may be reached.
`python3 dev.py test` asks for short sweeps (`CASPR_SWEEPS=short`); `dev.py test --all`, `dev.py test` with
arguments, `bench.mutants` and pytest itself run all of them. A test says that it is one in one of two ways:

* by a parameter `seed` (one random input) or `block` (dozens of them): `conftest.py` keeps the first few;
* by `some(...)` around what it goes through, or `how_many(...)` where Hypothesis wants a number.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
SHORT = os.environ.get("CASPR_SWEEPS") == "short"
FEW = 30
"""How many cases a short sweep goes through."""
KEPT = {"seed": 6, "block": 1}
"""How many values of these parameters a short sweep keeps."""


def some(cases: Sequence[Case], few: int = FEW) -> Sequence[Case]:
    """Return all cases; of a short sweep at most a few, spread evenly, with the first among them."""
    return cases[:: max(1, -(-len(cases) // few))] if SHORT else cases


def how_many(cases: int, few: int = FEW) -> int:
    """Return how many of so many cases to run."""
    return len(some(range(cases), few))
