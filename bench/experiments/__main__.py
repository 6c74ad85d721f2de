"""Repeat the paper's experiments, or make the same on annotations of your own.

python -m bench.experiments --quick
python -m bench.experiments --out results
python -m bench.experiments my/documents --systems native clingo --time-limit 60 --out results

Results go to the folder of `--out` as they come; the same command goes on where an interrupted one was.
"""

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.corpora import CORPORA
from bench.experiments.documents import Documents, find_documents
from bench.experiments.plan import ENCODINGS, OBJECTIVES, SYSTEMS, Choice, Limits, Task, jumps, make_plan
from bench.experiments.report import write_reports
from bench.experiments.run import Record, fingerprint, run
from bench.experiments.store import Store
from bench.machine import describe_machine, describe_programs

QUICK = Choice(limits=Limits(seconds=1.0, megabytes=1000.0))
"""What `--quick` compares, on one tiny document of each dataset."""
QUICK_SCALE = 0.08


def main(words: Sequence[str] | None = None) -> None:
    """Make the runs that are missing, then write table and plots."""
    given = _parser().parse_args(words)
    out = given.out or Path(tempfile.mkdtemp(prefix="experiments-"))
    store = Store(out)
    if not given.tables:
        scale = given.scale or (QUICK_SCALE if given.quick else 1.0)
        store.refuse_others(seed=given.seed, scale=scale)
        tasks = make_plan(_datasets(given, out, scale), _choice(given))
        missing = [task for task in tasks if _is_missing(task, store, given.redo)]
        if missing:
            machine = f"{describe_machine()}; {describe_programs()}"
            store.begin({"machine": machine, "seed": given.seed, "scale": scale})
            make(missing, store)
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


def make(tasks: Sequence[Task], store: Store) -> None:
    """Make runs one after the other, showing how far they are."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=len(tasks))
        for task in tasks:
            how = task.configuration
            name = f"{task.documents.name} {how.system} {how.encoding} {how.objective}"
            progress.update(bar, description=name)
            record = run(task)
            store.add(record)
            progress.advance(bar)
            progress.console.print(_line(name, record), highlight=False, soft_wrap=True)


def _line(name: str, record: Record) -> str:
    cost = f", cost {record.value}, at least {record.bound}" if record.value is not None else ""
    return f"{name}: {record.outcome}, {record.seconds:.1f} s, {record.megabytes:.0f} MB{cost} {record.error}"


def _is_missing(task: Task, store: Store, redo: Sequence[str]) -> bool:
    """Tell whether a run is still to be made: new, or to be redone because the engine's source changed."""
    known = store.find(task.key)
    system = task.configuration.system
    return known is None or (system in redo and known.code != fingerprint(system))


def _choice(given: argparse.Namespace) -> Choice:
    choice = QUICK if given.quick else Choice()
    limits = Limits(given.time_limit or choice.limits.seconds, given.memory_limit or choice.limits.megabytes)
    systems = [system for system in given.systems if _is_there(system)]
    return replace(
        choice,
        systems=systems,
        encodings=given.encodings,
        objectives=given.objectives,
        repetitions=given.repeat,
        limits=limits,
        seconds=dict(given.limit),
        shares=dict(given.share),
    )


def _is_there(system: str) -> bool:
    if system == "gringo-wasp" and shutil.which("wasp") is None:
        print(
            "gringo-wasp is left out: found no program 'wasp' on PATH, expected WASP 2 (build it from its "
            "source repository, alviano/wasp on GitHub, and put build/release/wasp on PATH)",
            file=sys.stderr,
        )
        return False
    return True


def _for_system(text: str) -> tuple[str, float]:
    """Read SYSTEM=NUMBER."""
    system, _, number = text.partition("=")
    if system not in SYSTEMS:
        raise argparse.ArgumentTypeError(f"found '{text}', expected SYSTEM=NUMBER, such as clingo=60")
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"found '{number}' for {system}, expected a number above 0")
    return system, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.experiments", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "datasets",
        nargs="*",
        default=list(CORPORA),
        help=f"{', '.join(CORPORA)} (generated), or a folder with a folder of annotators' files per document",
    )
    add("--out", type=Path, help="folder for documents, results, table and plots; default: a new one")
    add("--quick", action="store_true", help="one tiny document of each dataset, 1 s and 1 GB a run")
    add("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    add("--encodings", nargs="+", choices=ENCODINGS, default=ENCODINGS)
    add("--objectives", nargs="+", choices=OBJECTIVES, default=OBJECTIVES)
    add("--time-limit", type=float, help="seconds of processor time for a run; default: 300")
    add("--memory-limit", type=float, help="megabytes for all processes of a run; default: 5000")
    add(
        "--limit",
        type=_for_system,
        nargs="+",
        default=[],
        metavar="SYSTEM=SECONDS",
        help="its own time limit",
    )
    add(
        *("--share",),
        type=_for_system,
        nargs="+",
        default=[],
        metavar="SYSTEM=SHARE",
        help="run a system on this share of the documents only, spread over all sizes",
    )
    add("--repeat", type=int, default=1, help="how often to make every run; default: 1 (the paper: 5)")
    add("--seed", type=int, default=1, help="seed of generated documents; default: 1")
    add("--scale", type=float, help="size of generated documents; default: 1, the paper's")
    add(
        *("--redo",),
        nargs="+",
        choices=SYSTEMS,
        default=[],
        help="make runs of these systems again where their source has changed since",
    )
    add("--tables", action="store_true", help="make no runs, only table and plots of what there is")
    return parser


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was done is kept, and the same command with the same --out goes on")
