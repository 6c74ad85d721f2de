"""Signals that end a command: at once, or once, so that a second one cannot interrupt the cleaning up."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

ENDING = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if name in signal.Signals.__members__
)
"""Signals beside Ctrl-C that ask a process to end: POSIX has SIGHUP, Windows SIGBREAK (Ctrl-Break)."""
_SIGNALS = (signal.SIGINT, *ENDING)


class Stopped(KeyboardInterrupt):
    """Raised by the first signal that asks the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number
        """The exit code of a process that this signal ended."""


class _EndedError(BaseException):
    """Raised by Ctrl-C in place of `KeyboardInterrupt`, on which a search returns its best so far."""


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """Raise `KeyboardInterrupt` from the block on Ctrl-C, also where that is in the middle of a search."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or current_thread() is not main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise _EndedError

    signal.signal(signal.SIGINT, end)
    try:
        yield
    except _EndedError:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stopped_once() -> Iterator[None]:
    """Raise `Stopped` on the first Ctrl-C or signal of `ENDING` in the block, and ignore all that follow.

    A signal that was ignored before, as under `nohup`, stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    after = dict(before)

    def ignore(number: int, frame: FrameType | None) -> None:
        """Do nothing; Python complains about SIG_IGN if a second signal is on its way already."""

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        for one in taken:
            signal.signal(one, ignore)
            # While Python shuts down, it has no handlers of its own any more.
            after[one] = signal.SIG_IGN
        raise Stopped(number)

    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, after[number])


@contextmanager
def interrupts_noticed() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed in the block; what it does stays the same.

    An engine ends its search at Ctrl-C and gives the best so far; what follows, such as prices, asks here.
    """
    before = signal.getsignal(signal.SIGINT)
    pressed = False

    def notice(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if callable(before):
            before(number, frame)

    if not callable(before) or current_thread() is not main_thread():
        yield lambda: False
        return
    signal.signal(signal.SIGINT, notice)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
