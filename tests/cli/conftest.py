"""Fixtures of the command line tests."""

import pytest

from tests.cli.caller import Caller


@pytest.fixture
def caspr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """Return a way to call the command line."""
    return Caller(monkeypatch, capsys)
