"""Write table and plots of an experiment into its folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.experiments.plots import write_plots
from bench.experiments.render import to_csv, to_markdown, to_text
from bench.experiments.run import Record
from bench.experiments.table import make_table
from caspr.text.findings import times


def write_reports(
    records: Sequence[Record], sessions: Sequence[dict[str, Any]], folder: Path
) -> Iterator[Path]:
    """Write table and plots of some runs; yield the files."""
    table = make_table(records)
    about = list(describe_runs(records, sessions))
    for name, text in (
        ("table.txt", "\n".join((to_text(table), *about, ""))),
        ("table.md", "\n".join((to_markdown(table), *(f"* {line}" for line in about), ""))),
        ("table.csv", to_csv(table)),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        yield folder / name
    yield from write_plots(records, folder)


def describe_runs(records: Sequence[Record], sessions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Describe the runs: how many, within which limits, on which machine."""
    for system in dict.fromkeys(record.system for record in records):
        runs = [record for record in records if record.system == system]
        limits = sorted({(run.time_limit, run.memory_limit) for run in runs})
        documents = len({(run.dataset, run.document) for run in runs})
        allowed = " or ".join(f"{seconds:g} s, {megabytes:g} MB" for seconds, megabytes in limits)
        yield f"{system}: {times(len(runs), 'run')} on {times(documents, 'document')}, limits {allowed}."
    for machine in dict.fromkeys(str(session["machine"]) for session in sessions):
        yield f"Machine: {machine}."
