"""Be stopped by a signal once: what then has to be cleaned up is not stopped halfway by a second one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number
        """The exit code that tells so."""


@contextmanager
def stopped_once() -> Iterator[None]:
    """Raise `Stopped` on the first Ctrl-C, SIGTERM or SIGHUP in the block, and ignore all that follow.

    A signal that is ignored already stays so: it was meant for others.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    after = dict(before)

    def go_on(number: int, frame: FrameType | None) -> None:
        """Do nothing; Python complains about SIG_IGN if a second signal is on its way already."""

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        for one in taken:
            signal.signal(one, go_on)
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
