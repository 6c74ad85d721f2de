"""Authorship: who decided or noted something, and when."""

from dataclasses import dataclass

EDITOR = "editor"
"""The author of what was written into a review file by hand."""


@dataclass(frozen=True)
class Authorship:
    """Who, and when."""

    who: str
    """The name of a person, or `EDITOR`."""
    when: str
    """The time in UTC, to the second: `2026-11-17T09:30:05Z`."""
