"""The limits of one solve, checked while it runs: when to stop and return the best so far."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, thread_time
from typing import TypeVar

from caspr.processes import resident_megabytes
from caspr.task.limits import Limits
from caspr.task.solution import Stop

T = TypeVar("T")
ENDLESS = float("inf")
"""The limit where there is none."""
BETWEEN = 0.02
"""Seconds between two looks at the memory."""


TICK = 0.05
"""Seconds to run before the pace can be measured."""
SLOWEST = 20.0
"""The worst pace that is believed."""
LOOKED = 10_000
"""How much work a look at the watch stands for, where nothing else is said."""


class ExpiredError(Exception):
    """A limit was reached in the middle of a step, which is given up."""


def never() -> bool:
    """Return that the search is not cancelled."""
    return False


@dataclass
class Watch:
    """A deadline, a memory limit and a cancellation flag, checked by every long loop."""

    deadline: float = ENDLESS
    """The monotonic time at which to stop."""
    megabytes: float = ENDLESS
    """The resident memory at which to stop."""
    cancelled: Callable[[], bool] = never
    stop: Stop | None = None
    """Why to stop: the limit that was reached, or an interrupt."""
    omission: Stop | None = None
    """Why a part was not searched although the search went on: too little memory for it, or its size."""
    since: float | None = None
    """When `stop` was noticed."""
    looked: float = 0.0
    """When the memory was last looked at."""
    begun: tuple[float, float] = field(default_factory=lambda: (monotonic(), thread_time()))
    """When the watch was started: by the clock, and in processor time of its thread."""
    work: int = 0
    """How much was done, in entries of linear programs passed over: the same on every machine."""
    most: float = ENDLESS
    """The work at which to stop."""

    @classmethod
    def of(cls, limits: Limits) -> "Watch":
        """Start the clock."""
        return cls(
            monotonic() + (ENDLESS if limits.seconds is None else limits.seconds),
            ENDLESS if limits.megabytes is None else limits.megabytes,
            limits.cancelled or never,
        )

    @property
    def left(self) -> float:
        """The seconds left."""
        return self.deadline - monotonic()

    @property
    def pace(self) -> float:
        """How many seconds pass for one of the processor: more than 1 where other processes share it."""
        passed, used = monotonic() - self.begun[0], thread_time() - self.begun[1]
        return min(max(1.0, passed / max(used, TICK)), SLOWEST) if passed > TICK else 1.0

    @contextmanager
    def allowing(self, work: int) -> Iterator[None]:
        """Let a step do no more than some work; what comes after it may go on until a limit."""
        most, self.most = self.most, min(self.most, self.work + work)
        try:
            yield
        finally:
            spent, self.most = self.is_spent, most
            if spent and not self.is_spent and self.stop is Stop.TIME and self.left > 0:
                self.stop = self.since = None

    @property
    def is_spent(self) -> bool:
        """Whether all the work was done that a step is allowed."""
        return self.work >= self.most

    def expired(self, work: int = LOOKED) -> bool:
        """Return whether a limit was reached or the search was cancelled; stays true once true.

        `work` is what was done since the last look.
        """
        self.work += work
        if self.stop is None:
            if self.left <= 0 or self.is_spent:
                self.stop = Stop.TIME
            elif self.cancelled():
                self.stop = Stop.INTERRUPT
            elif self.megabytes < ENDLESS and monotonic() > self.looked + BETWEEN:
                self.looked = monotonic()
                if resident_megabytes() > self.megabytes:
                    self.stop = Stop.MEMORY
            if self.stop is None:
                return False
        if self.since is None:
            self.since = monotonic()
        return True

    def check_grace(self, seconds: float) -> None:
        """Raise `ExpiredError` if it has been time to stop for longer than some seconds."""
        if not self.expired() or self.since is None:
            return
        if self.is_spent or monotonic() - self.since > seconds:
            raise ExpiredError

    def check(self) -> None:
        """Raise `ExpiredError` if it is time to stop."""
        if self.expired():
            raise ExpiredError

    def during(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until it is time to stop."""
        for item in items:
            if self.expired():
                return
            yield item

    def has_room(self, megabytes: float) -> bool:
        """Return whether this much more memory may be taken; note it if not."""
        if self.megabytes == ENDLESS or resident_megabytes() + megabytes <= self.megabytes:
            return True
        self.omission = Stop.MEMORY
        return False

    @property
    def cause(self) -> Stop | None:
        """Why the search is not complete, if it is not."""
        return self.stop or self.omission


def check(watch: Watch | None) -> None:
    """Raise `ExpiredError` if it is time to stop; without a watch it never is."""
    if watch is not None:
        watch.check()


def checked(items: Iterable[T], watch: Watch | None) -> Iterator[T]:
    """Yield items, with a check before each."""
    for item in items:
        check(watch)
        yield item
