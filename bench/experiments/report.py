"""Write table and plots of an experiment into its folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.experiments.run import Record


def write_reports(
    records: Sequence[Record], sessions: Sequence[dict[str, Any]], folder: Path
) -> Iterator[Path]:
    """Write everything that can be said of some runs; yield the files."""
    yield from ()
