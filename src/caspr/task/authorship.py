"""Authorship: who decided or noted something, when, and how they judge it."""

from dataclasses import dataclass

CONFIDENCES = ("low", "medium", "high")
"""How sure somebody can be of a decision."""
EDITOR = "editor"
"""The author of what was written into a review file by hand."""


@dataclass(frozen=True)
class Authorship:
    """Who, and when."""

    who: str
    """The name of a person, or `EDITOR`."""
    when: str
    """The time in UTC, to the second: `2026-11-17T09:30:05Z`."""
    category: str = ""
    """What kind of error the decision corrects, in a few words; empty if nobody said."""
    confidence: str = ""
    """How sure they are: one of `CONFIDENCES`, empty if nobody said."""
