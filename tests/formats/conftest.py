"""Fixtures of the format tests."""

from tests.cli.conftest import caspr
from tests.corpus.here import without_workers

__all__ = ["caspr", "without_workers"]
