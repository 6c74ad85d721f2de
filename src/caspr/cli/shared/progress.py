"""What a command shows while it works, and how signals end it.

The line of a search and the bar of a corpus are shown only if standard error is a terminal. Ctrl-C means
different things: a search returns its best so far (`interrupts_noticed` lets what follows know), the first
result of a review page is given up (`ended_by_interrupt`), and a corpus stops once (`stopped_once`), so that
a second signal cannot interrupt the cleaning up.
"""

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from caspr.task.limits import PROGRESS, Progress, silent
from caspr.text.findings import percent

_INTERVAL = 0.25
"""Seconds between two lines of progress for a program."""

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from caspr.corpus.summary import Totals


@contextmanager
def progress_line(title: str, *, quiet: bool) -> Iterator[Progress]:
    """Show cost so far, bound, gap, parts done and elapsed time while the block runs."""
    if sys.stderr is not None and os.environ.get(PROGRESS):
        yield _lines_for_a_program(title, sys.stderr)
        return
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    started = time.monotonic()
    progress_text = describe(None, None)

    def line() -> Spinner:
        spinner.update(text=Text(f"{title}  {progress_text}  {time.monotonic() - started:.0f} s"))
        return spinner

    def progress(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        nonlocal progress_text
        progress_text = describe(value, bound, done, parts)

    spinner = Spinner("dots")
    console = Console(stderr=True)
    with Live(get_renderable=line, console=console, refresh_per_second=8, transient=True):
        yield progress


def _lines_for_a_program(title: str, stream: TextIO) -> Progress:
    """Print a line of JSON now, and one whenever something changed, a few times a second at most."""
    printed = -math.inf

    def progress(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        nonlocal printed
        if time.monotonic() < printed + _INTERVAL and (done < parts or not parts):
            return
        printed = time.monotonic()
        known = {"title": title, "value": value, "bound": bound, "done": done, "parts": parts}
        with suppress(OSError):
            stream.write(f"{json.dumps(known)}\n")
            stream.flush()

    progress(None, None)
    printed = -math.inf
    return progress


def describe(value: int | None, bound: int | None, done: int = 0, parts: int = 0) -> str:
    """Return the progress of a search in words.

    >>> describe(12, 10, 7, 8)
    'cost 12  bound 10  gap 20.0%  7 of 8 parts'
    >>> describe(145101, 145100)
    'cost 145,101  bound 145,100  gap under 0.1%'
    >>> describe(None, None)
    'cost ?  bound ?'
    """
    gap = "" if value is None or not bound else f"  gap {percent(value - bound, bound)}"
    cost = "?" if value is None else f"{value:,}"
    lower = "?" if bound is None else f"{bound:,}"
    share = f"  {done:,} of {parts:,} parts" if parts else ""
    return f"cost {cost}  bound {lower}{gap}{share}"


class Bar:
    """A listener that keeps the number of documents, and shows the totals if there is a terminal."""

    def __init__(self, progress: "RichProgress | None" = None) -> None:
        self.documents = 0
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=None)

    def __call__(self, totals: "Totals", planned: int) -> None:
        """Show how far the run is."""
        self.documents = totals.documents
        if self._progress is not None and self._task is not None:
            counts = f"{totals.proven:,} proven  {totals.failed:,} failed"
            self._progress.update(self._task, total=planned, completed=totals.documents, description=counts)


@contextmanager
def corpus_bar(*, quiet: bool) -> Iterator[Bar]:
    """Show documents, proven, failed and the time left while the block runs."""
    if quiet or not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TextColumn("time left"),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)


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
        for signal_number in taken:
            signal.signal(signal_number, ignore)
            # While Python shuts down, it has no handlers of its own any more.
            after[signal_number] = signal.SIG_IGN
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
