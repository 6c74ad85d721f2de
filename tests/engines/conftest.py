"""Fixtures of the engine tests."""

from tests.engines.asp.wasp import wasp

__all__ = ["wasp"]
