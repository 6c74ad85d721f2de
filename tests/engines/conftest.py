"""Fixtures of the engine tests."""

from tests.engines.wasp import wasp

__all__ = ["wasp"]
