"""Fixtures of the corpus tests."""

import os
from pathlib import Path

import pytest

from tests.cli.caller import Caller
from tests.corpus.here import without_workers

__all__ = ["without_workers"]


@pytest.fixture
def caspr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """Return a way to call the command line."""
    return Caller(monkeypatch, capsys)


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Switch the faults of worker processes on; return the folder where they leave their numbers."""
    folder = tmp_path / "pids"
    folder.mkdir()
    monkeypatch.setenv("CASPR_TEST_PIDS", str(folder))
    faults = str(Path(__file__).parent / "faults")
    others = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", faults if others is None else f"{faults}{os.pathsep}{others}")
    return folder
