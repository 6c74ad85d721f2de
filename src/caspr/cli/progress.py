"""A line on the terminal that shows how far a search is; nothing where standard error is no terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from caspr.limits import Progress, silent


@contextmanager
def progress_line(title: str, *, quiet: bool) -> Iterator[Progress]:
    """Show cost so far, bound, gap and elapsed time while the block runs."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    started = time.monotonic()
    known: dict[str, int | None] = {"value": None, "bound": None}

    def line() -> Spinner:
        text = describe(title, known["value"], known["bound"], time.monotonic() - started)
        spinner.update(text=Text(text))
        return spinner

    def progress(value: int | None, bound: int | None) -> None:
        known.update(value=value, bound=bound)

    spinner = Spinner("dots")
    console = Console(stderr=True)
    with Live(get_renderable=line, console=console, refresh_per_second=8, transient=True):
        yield progress


def describe(title: str, value: int | None, bound: int | None, seconds: float) -> str:
    """Say how far a search is.

    >>> describe("doc", 12, 10, 3.21)
    'doc  cost 12  bound 10  gap 20.0%  3 s'
    >>> describe("doc", None, None, 0.5)
    'doc  cost ?  bound ?  0 s'
    """
    gap = "" if value is None or not bound else f"  gap {(value - bound) / bound:.1%}"
    cost = "?" if value is None else f"{value:,}"
    lower = "?" if bound is None else f"{bound:,}"
    return f"{title}  cost {cost}  bound {lower}{gap}  {seconds:.0f} s"
