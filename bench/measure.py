"""Measure one adjudication in a process of its own: seconds, memory, value, bound.

python -m bench.measure FILE... --engine native --objective ua --time-limit 300 --memory-limit 5000

Without these limits it must be limited from outside: at Ctrl-C it prints the best solution so far.
"""

import argparse
import gc
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.machine import usual_environment
from caspr.task.limits import Limits


@dataclass(frozen=True)
class Measure:
    """What one run took and found."""

    value: int
    bound: int
    status: str
    stop: str | None
    seconds: float
    """Processor time of the adjudication alone, after start-up and reading: other work on the machine hardly
    changes it."""
    clock: float
    """Seconds of the engine alone by the clock: what a time limit is about."""
    megabytes: float
    """Peak memory of the process and of its children, whichever was larger."""
    mentions: int
    statistics: dict[str, float | None] | None = None
    """The statistics of the answer set solver."""

    @property
    def proven(self) -> bool:
        """Whether the value is optimal."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """How far the value may be from the optimum, relative to the bound."""
        return (self.value - self.bound) / max(self.bound, 1)


def measure(
    files: Sequence[Path], engine: str, objective: str, *, seconds: float = 300, megabytes: int = 5000
) -> Measure:
    """Run one adjudication in a child process on one thread and return what it took."""
    command = [sys.executable, "-m", "bench.measure", *map(str, files)]
    options = ["--engine", engine, "--objective", objective]
    limits = ["--time-limit", str(seconds), "--memory-limit", str(megabytes)]
    environment = {**usual_environment(), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *options, *limits], capture_output=True, text=True, env=environment, check=True
    )
    return Measure(**json.loads(done.stdout))


def run(files: Sequence[Path], engine: str, encoding: str, objective: str, limits: Limits) -> Measure:
    """Adjudicate in this process and measure."""
    from caspr.adjudication import adjudicate_document, by_document
    from caspr.formats import read_all
    from caspr.task.objectives import OBJECTIVES
    from caspr.task.settings import PRESETS

    documents, _ = by_document(read_all(files))
    if len(documents) != 1:
        raise SystemExit(f"{files[0]}: found {len(documents)} documents, expected one in each file")
    [annotations] = documents
    paper = replace(PRESETS["paper"], objective=OBJECTIVES[objective])
    settings = replace(paper, engine=engine, encoding=encoding, limits=limits)
    _start_up(engine)
    started = _processor_time()
    result = adjudicate_document(annotations, settings=settings)
    took = _processor_time() - started
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Measure(
        value=result.value,
        bound=result.bound,
        status=str(result.status),
        stop=result.solution.stop,
        seconds=took,
        clock=result.seconds,
        megabytes=max(peaks) / 1024,
        mentions=len(result.instance.mentions),
        statistics=asdict(result.solution.statistics) if result.solution.statistics else None,
    )


def _start_up(engine: str) -> None:
    """Have the engine import its modules; start-up is measured separately. Collect as `caspr.cli` does."""
    gc.set_threshold(100_000, 20, 20)
    if engine == "native":
        import scipy.sparse  # noqa: F401

        import caspr.engines.native.partition.search  # noqa: F401
        from caspr.processes import resident_megabytes

        resident_megabytes()
    else:
        import clingo  # noqa: F401


def _processor_time() -> float:
    """Return the seconds of processor time of this process and of its children."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Measure one run and print it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.measure")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--objective", required=True)
    parser.add_argument("--encoding", default="mm")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--memory-limit", type=int)
    given = parser.parse_args()
    # Shells start background jobs with SIGINT ignored, which is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    limits = Limits(given.time_limit, given.memory_limit, interruptible=True)
    found = run(given.files, given.engine, given.encoding, given.objective, limits)
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
