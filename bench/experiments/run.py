"""One run: a watched child process, and its outcome.

The child is `bench.measure`. The outcome is that of its solver, as in the paper's table: OPT if the solver
proved its solution optimal (for CM: within its limit of chains), SAT if it found one, TO if it had none at
the time limit, MO if it exceeded the memory limit, and ERR if it failed.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import caspr
from bench.experiments.plan import NO_ENCODING, Configuration, Key, Limits, Run, Task
from bench.experiments.watch import Cut, Usage, watch

OUTCOMES = ("MO", "TO", "SAT", "OPT", "ERR")
"""The outcomes of a run."""


@dataclass(frozen=True)
class Record:
    """The outcome of one run, with its measurements."""

    dataset: str
    document: str
    system: str
    encoding: str
    objective: str
    repetition: int
    time_limit: float
    """Seconds of processor time that were allowed."""
    memory_limit: float
    """Megabytes that were allowed."""
    outcome: str
    """One of `OUTCOMES`."""
    seconds: float
    """Processor time of the whole process tree."""
    wall: float
    """Seconds on the clock."""
    megabytes: float
    """The peak memory of the tree."""
    grounding: float | None
    """Processor seconds of the grounder."""
    choices: int | None
    conflicts: int | None
    value: int | None
    """What the solver's best solution costs."""
    bound: int | None
    """The solver's lower bound."""
    mentions: int | None
    """Distinct mentions of the document."""
    error: str
    """The last line that a failed run printed to standard error."""
    code: str
    """A fingerprint of the engine's source."""
    when: str

    @property
    def key(self) -> Key:
        """That of its task."""
        how = Configuration(self.system, self.encoding, self.objective)
        run = Run(self.dataset, self.document, how, self.repetition)
        return Key(run, Limits(self.time_limit, self.memory_limit))

    @property
    def gap(self) -> float | None:
        """The paper's optimality (UB-LB)/LB of the solver's solution; a bound of 0 counts as 1."""
        if self.value is None or self.bound is None:
            return None
        return (self.value - self.bound) / max(self.bound, 1)


def run(task: Task, stopped: Callable[[], bool] = lambda: False) -> Record:
    """Make one run and return its record; `watch` says what happens once `stopped` returns true."""
    how = task.configuration
    command = [
        *(sys.executable, "-m", "bench.measure", *map(str, task.documents.files)),
        *("--engine", how.system, "--objective", how.objective),
        *(("--encoding", how.encoding) if how.encoding != NO_ENCODING else ()),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    usage = watch(
        command,
        seconds=task.limits.seconds,
        megabytes=task.limits.megabytes,
        environment=environment,
        stopped=stopped,
    )
    measured = json.loads(usage.output) if usage.code == 0 and usage.cut is not Cut.MEMORY else {}
    return _record(task, usage, measured)


def _record(task: Task, usage: Usage, measured: dict[str, Any]) -> Record:
    solver = measured.get("statistics") or {name: measured.get(name) for name in ("value", "bound")}
    outcome = _outcome(usage, solver, measured)
    return Record(
        dataset=task.documents.dataset,
        document=task.documents.name,
        **asdict(task.configuration),
        repetition=task.repetition,
        time_limit=task.limits.seconds,
        memory_limit=task.limits.megabytes,
        outcome=outcome,
        seconds=round(usage.seconds, 3),
        wall=round(usage.wall, 3),
        megabytes=round(usage.megabytes, 1),
        grounding=solver.get("grounding"),
        choices=solver.get("choices"),
        conflicts=solver.get("conflicts"),
        value=solver.get("value"),
        bound=solver.get("bound"),
        mentions=measured.get("mentions"),
        error=(usage.errors.strip().splitlines() or [""])[-1] if outcome == "ERR" else "",
        code=fingerprint(task.configuration.system),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _outcome(usage: Usage, solver: dict[str, Any], measured: dict[str, Any]) -> str:
    if usage.cut is Cut.MEMORY or measured.get("stop") == "memory limit":
        return "MO"
    if solver["value"] is not None:
        return "OPT" if solver["value"] == solver["bound"] else "SAT"
    return "TO" if usage.cut is Cut.TIME else "ERR"


@cache
def fingerprint(system: str) -> str:
    """Return a fingerprint of the present source of a system's engine."""
    folder = Path(caspr.__file__).parent / "engines" / ("native" if system == "native" else "asp")
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".lp")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
