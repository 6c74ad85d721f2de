"""A line on the terminal that shows the progress of a search; nothing if standard error is no terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from caspr.task.limits import Progress, silent
from caspr.text.findings import percent


@contextmanager
def progress_line(title: str, *, quiet: bool) -> Iterator[Progress]:
    """Show cost so far, bound, gap, parts done and elapsed time while the block runs."""
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
