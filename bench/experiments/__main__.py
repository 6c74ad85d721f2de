"""Repeat the paper's experiments, or make the same on annotations of your own.

python -m bench.experiments --quick
python -m bench.experiments --out results
python -m bench.experiments my/documents --systems native clingo --time-limit 60 --out results

Results are written to the folder of `--out` one by one; the same command resumes an interrupted experiment.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event

import psutil
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.experiments.documents import Documents, find_documents
from bench.experiments.options import make_parser, read_choice, read_scale
from bench.experiments.plan import Task, jumps, make_plan
from bench.experiments.report import write_reports
from bench.experiments.run import Record, fingerprint, run
from bench.experiments.store import Store
from bench.machine import describe_machine, describe_programs


def main(words: Sequence[str] | None = None) -> None:
    """Make the runs that are missing, then write table and plots."""
    given = make_parser(__doc__.splitlines()[0]).parse_args(words)
    out = given.out or Path(tempfile.mkdtemp(prefix="experiments-"))
    store = Store(out)
    if not given.tables:
        scale = read_scale(given)
        store.refuse_others(seed=given.seed, scale=scale)
        tasks = make_plan(_datasets(given, out, scale), read_choice(given))
        missing = [task for task in tasks if _is_missing(task, store, given.redo)]
        if missing:
            machine = f"{describe_machine()}; {describe_programs()}"
            store.begin({"machine": machine, "seed": given.seed, "scale": scale})
            _warn_of_memory(missing, given.jobs)
            make(missing, store, given.jobs)
    if not store.records:
        raise SystemExit(f"{store.path}: found no results, expected those of earlier runs")
    for path in write_reports(store.records, store.sessions, out):
        print(path)


def _datasets(given: argparse.Namespace, out: Path, scale: float) -> list[list[Documents]]:
    datasets = [find_documents(source, folder=out, seed=given.seed, scale=scale) for source in given.datasets]
    names = [documents[0].dataset for documents in datasets]
    if len(set(names)) < len(names):
        raise SystemExit(f"datasets: found the names {', '.join(names)}, expected a name of its own for each")
    if given.quick:
        return [[documents[jumps(len(documents))[0]]] for documents in datasets]
    return datasets


def _warn_of_memory(tasks: Sequence[Task], jobs: int) -> None:
    """Say so where runs at a time may need more memory than there is: then the kernel would end some."""
    needed = jobs * max(task.limits.megabytes for task in tasks)
    there = psutil.virtual_memory().total / 2**20
    if needed > there:
        print(
            f"{jobs} runs at a time may take {needed:,.0f} MB together, of {there:,.0f} MB there are: "
            "if it runs out of memory, runs fail (ERR or MO)",
            file=sys.stderr,
        )


def make(tasks: Sequence[Task], store: Store, jobs: int = 1) -> None:
    """Make runs, some at a time, and keep each result as soon as it is there; show the progress.

    However this ends, nothing runs any more afterwards.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    stopped = Event()
    with Progress(*columns) as progress, ThreadPoolExecutor(jobs) as threads:
        bar = progress.add_task(f"{jobs} at a time" if jobs > 1 else "", total=len(tasks))
        runs = [threads.submit(run, task, stopped.is_set) for task in tasks]
        try:
            for done in as_completed(runs):
                record = done.result()
                store.add(record)
                progress.advance(bar)
                progress.console.print(_line(record), highlight=False, soft_wrap=True)
        finally:
            stopped.set()
            threads.shutdown(cancel_futures=True)


def _line(record: Record) -> str:
    name = f"{record.document} {record.system} {record.encoding} {record.objective}"
    cost = f", cost {record.value}, at least {record.bound}" if record.value is not None else ""
    return f"{name}: {record.outcome}, {record.seconds:.1f} s, {record.megabytes:.0f} MB{cost} {record.error}"


def _is_missing(task: Task, store: Store, redo: Sequence[str]) -> bool:
    """Return whether a run is still to be made: it is new, or the source of the engine has changed."""
    known = store.find(task.key)
    system = task.configuration.system
    return known is None or (system in redo and known.code != fingerprint(system))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was done is kept, and the same command with the same --out resumes")
