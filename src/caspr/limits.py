"""Limits an engine keeps, and the listener it tells how far it is.

The search never prints: it calls a `Progress`, which does nothing unless somebody passes one that does.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Limits:
    """How long and how large a search may get before it returns its best so far."""

    seconds: float | None = None
    """Wall-clock seconds for one document."""
    megabytes: int | None = None
    """Memory of the solver's processes, each."""
    solutions: int = 1
    """How many optimal solutions to return at most; 1 asks for any one."""
    interruptible: bool = False
    """Whether Ctrl-C must be answered at once, even inside a solver's own code."""


class Progress(Protocol):
    """A listener told of every better value or bound."""

    def __call__(self, value: int | None, bound: int | None) -> None:
        """Take the best value and bound known; `None` while there is none."""


def silent(value: int | None, bound: int | None) -> None:
    """Ignore all progress."""
