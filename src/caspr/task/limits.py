"""Limits of a search, and the callback that receives its progress.

The search never prints: it calls a `Progress`, which does nothing unless the caller passes another.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from caspr.errors import InputError

PROGRESS = "CASPR_PROGRESS"
"""The environment variable by which a program that runs a command asks it for progress: lines of JSON on
standard error, `{"title": "act1 (2/5)", "value": 12, "bound": 10, "done": 7, "parts": 8}`."""


@dataclass(frozen=True)
class Limits:
    """How long and how large a search may get before it returns its best so far."""

    seconds: float | None = None
    """Wall-clock seconds for one document."""
    megabytes: int | None = None
    """Memory of the solver's processes, each."""
    solutions: int = 1
    """How many optimal solutions to return at most, the first by the rule for ties (`task.ties`) first."""
    interruptible: bool = False
    """Whether Ctrl-C must end the search within a second, even inside a solver's own code."""
    cancelled: Callable[[], bool] | None = None
    """Polled by engines that run in this process; once it returns true they return the best so far."""
    certificate: bool = False
    """Whether a certificate will be wanted: the native engine records its proof while it searches."""
    solver_options: tuple[str, ...] = ()
    """Options of an answer set solver's own, such as `--opt-strategy=bb`."""
    debug: Callable[[str], None] | None = None
    """Called with each line that an answer set solver prints."""

    def __post_init__(self) -> None:
        """Refuse limits that limit nothing."""
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise InputError(f"time limit: found {self.seconds}, expected seconds from 0")
        if self.megabytes is not None and self.megabytes < 1:
            raise InputError(f"memory limit: found {self.megabytes}, expected megabytes from 1")
        if self.solutions < 1:
            raise InputError(f"number of solutions: found {self.solutions}, expected at least 1")


class Progress(Protocol):
    """Called with every better value or bound."""

    def __call__(self, value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        """Receive the best value and bound known, each `None` while there is none.

        Where the work falls into independent parts, `done` of `parts` are finished.
        """


def silent(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
    """Ignore all progress."""
