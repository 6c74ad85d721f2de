"""Fixtures of the format tests."""

from tests.cli.conftest import caspr

__all__ = ["caspr"]
