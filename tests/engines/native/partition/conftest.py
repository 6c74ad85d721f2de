"""Fixtures for searches of problems."""

import numpy as np
import pytest

from caspr.engines.native.partition import heuristics
from caspr.engines.native.partition import search as searching


@pytest.fixture
def without_heuristics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have heuristics find nothing, and small problems searched by relaxation."""
    monkeypatch.setattr(searching, "TINY", 3)
    monkeypatch.setattr(heuristics, "start", lambda problem, *_, **__: np.arange(problem.size))
    monkeypatch.setattr(heuristics, "kick", lambda problem, labels, *_, **__: labels)
    monkeypatch.setattr(heuristics, "rounded", lambda problem, *_: np.arange(problem.size))
