"""The progress bar of a corpus; nothing if standard error is no terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from caspr.corpus.outputs.totals import Totals

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """A listener that keeps the totals, and shows them if there is a terminal."""

    def __init__(self, progress: "Progress | None" = None) -> None:
        self.totals = Totals()
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=None)

    def __call__(self, totals: Totals, planned: int) -> None:
        """Show how far the run is."""
        self.totals = totals
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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TextColumn("time left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)
