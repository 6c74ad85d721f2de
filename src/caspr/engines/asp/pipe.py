"""Pipes of processes: gringo grounds, clasp or wasp solves.

Both gringo and clasp are in clingo's wheel, so the first pipe needs no other program. A `gringo` on PATH is
preferred: that of the wheel writes its output unbuffered, and takes several times as long. WASP is a
separate program. It reads gringo's older smodels format, but not the line that announces incremental
programs in today's output; a filter drops it. WASP cannot list each optimal partition once, so the optima
are computed one by one, each time forbidding those already known.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial

from caspr.engines.asp.clingo import arguments
from caspr.engines.asp.drive import Answer, Bound, End, Event, Run, solve_with
from caspr.engines.asp.processes import OutOfMemoryError, TimeOutError, run_pipe
from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.solution import Solution, Statistics

_PROGRESS = re.compile(r"Progression\s*:\s*\[\s*(\d+);")
_COUNT = re.compile(r"(Choices|Conflicts)\s*:\s*(\d+)")
_RESULT = re.compile(r"result_cm\((?:mid\(\d+,\d+\)|\d+),mid\(\d+,\d+\)\)")
_DONE = frozenset({0, 10, 20, 30})
"""Exit codes of solvers: unknown or run from Python, satisfiable, exhausted, both."""
_LEAST_GRINGO = (5, 4)
"""The oldest gringo whose language and output are those of clingo's wheel."""
_DROP_INCREMENTAL = (
    "import shutil, sys; i, o = sys.stdin.buffer, sys.stdout.buffer; "
    "line = i.readline(); o.write(b'' if line == b'90 0\\n' else line); shutil.copyfileobj(i, o)"
)


def gringo_clasp(encoding: str) -> "partial[Solution]":
    """Return the engine that pipes gringo into clasp."""
    return partial(_solve_clasp, encoding)


def gringo_wasp(encoding: str) -> "partial[Solution]":
    """Return the engine that pipes gringo into WASP, if there is a `wasp` on the PATH."""
    if shutil.which("wasp") is None:
        raise EngineError(
            "engine gringo-wasp: found no program 'wasp' on PATH, expected WASP 2; build it from its source "
            "repository (alviano/wasp on GitHub; make), put build/release/wasp on PATH, "
            "or choose --engine clingo"
        )
    return partial(_solve_wasp, encoding)


def _solve_clasp(encoding: str, instance: Instance, limits: Limits, progress: Progress) -> Solution:
    return solve_with(_clasp, encoding, instance, limits, progress)


def _solve_wasp(encoding: str, instance: Instance, limits: Limits, progress: Progress) -> Solution:
    return solve_with(_wasp, encoding, instance, limits, progress)


def _gringo(output: str) -> list[str]:
    grounder = [sys.executable, "-m", "clingo", "--mode=gringo"] if grounder_version() is None else ["gringo"]
    return [*grounder, "--warn=none", f"--output={output}"]


@cache
def grounder_version() -> str | None:
    """Return the version of the `gringo` on PATH; `None` if there is none, or one too old."""
    program = shutil.which("gringo")
    if program is None:
        return None
    printed = subprocess.run(
        [program, "--version"], capture_output=True, encoding="utf-8", errors="replace", check=False
    ).stdout
    found = re.match(r"gringo version ((\d+)\.(\d+)\S*)", printed)
    if found is None or (int(found[2]), int(found[3])) < _LEAST_GRINGO:
        return None
    return found[1]


def _within_limits(lines: Iterable[str], read: Callable[[Iterable[str]], Iterator[Event]]) -> Iterator[Event]:
    """Yield the events that a reader finds in lines; a limit or an interrupt becomes the last event."""
    try:
        yield from read(lines)
    except TimeOutError:
        yield End.TIME
    except OutOfMemoryError:
        yield End.MEMORY
    except KeyboardInterrupt:
        yield End.INTERRUPT


def _clasp(run: Run) -> Iterator[Event]:
    report = ["--verbose=2", "--quiet=0", "--stats"]
    commands = [
        _gringo("intermediate"),
        [sys.executable, "-m", "clingo", "--mode=clasp", *report, *arguments(run)],
    ]
    seconds: list[float] = []
    lines = run_pipe(commands, run.program, run.limits, success=_DONE, ended=seconds.extend)
    yield from _within_limits(lines, _read_clasp)
    yield Statistics(grounding=seconds[0] or None)  # 0 where the system does not count


def _read_clasp(lines: Iterable[str]) -> Iterator[Event]:
    """Read clasp's report: answers follow their heading, bounds stand in brackets.

    Where nothing costs anything, clasp stops at the first answer set and calls it satisfiable.
    """
    exhausted = answer_follows = False
    costless = True
    for line in lines:
        if answer_follows:
            yield Answer(line)
            answer_follows = False
        elif line.startswith("Answer:"):
            answer_follows = True
        elif (progress := _PROGRESS.match(line)) is not None:
            yield Bound(int(progress[1]))
        elif line.startswith("Optimization"):
            costless = False
        elif line.startswith(("OPTIMUM FOUND", "UNSATISFIABLE")) or (costless and line == "SATISFIABLE"):
            exhausted = True
        elif line.startswith("Models"):
            exhausted = exhausted or not line.rstrip().endswith("+")
        elif (count := _COUNT.match(line)) is not None:
            yield Statistics(**{count[1].lower(): int(count[2])})
    if exhausted:
        yield End.EXHAUSTED


def _wasp(run: Run) -> Iterator[Event]:
    if run.at_cost is None:
        yield from _wasp_optimum(run.program, run.limits)
    else:
        yield from _wasp_optima(run.program, run.limits, run.at_cost)


def _wasp_optimum(program: str, limits: Limits) -> Iterator[Event]:
    commands = [
        _gringo("smodels"),
        [sys.executable, "-c", _DROP_INCREMENTAL],
        ["wasp", "--enable-disjcores", "--printbounds"],
    ]
    seconds: list[float] = []
    lines = run_pipe(commands, program, limits, success=_DONE, ended=seconds.extend)
    yield from _within_limits(lines, _read_wasp)
    yield Statistics(grounding=seconds[0] or None)  # 0 where the system does not count


def _read_wasp(lines: Iterable[str]) -> Iterator[Event]:
    """Read WASP's report: answer sets in braces, then their cost."""
    cost = 0
    for line in lines:
        if line.startswith("{"):
            yield Answer(line)
        elif line.startswith("COST LB:"):
            yield Bound(int(line.removeprefix("COST LB:")))
        elif line.startswith("COST ") and "@" in line:
            cost = int(line.removeprefix("COST ").partition("@")[0])
        elif line == "OPTIMUM":
            yield Bound(cost)
    yield End.EXHAUSTED


def _wasp_optima(program: str, limits: Limits, cost: int) -> Iterator[Event]:
    """Compute one optimum after the other, each time forbidding the known ones, until it costs more."""
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        answer: Answer | None = None
        lower = 0
        for event in _wasp_optimum(program, replace(limits, seconds=left)):
            match event:
                case Answer():
                    answer = event
                case Bound(value):
                    lower = value
                case End.TIME | End.MEMORY | End.INTERRUPT:
                    yield event
                    return
        if answer is None or lower > cost:
            yield End.EXHAUSTED
            return
        yield answer
        program += _forbid(answer.atoms)


def _forbid(atoms: str) -> str:
    """Return the constraint that no answer set has exactly these result atoms."""
    results = sorted(_RESULT.findall(atoms))
    exactly = f"#count {{ C,M : result_cm(C,M) }} = {len(results)}"
    return f":- {', '.join([*results, exactly])}.\n"
