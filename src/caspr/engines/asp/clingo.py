"""Clingo through its Python API.

Without limits it runs in this process. Grounding cannot be interrupted there, so a run with a limit, or one
that must be interruptible by Ctrl-C, takes place in a child process, which runs this same module and prints
the events as JSON lines.
"""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from caspr.engines.asp.drive import Answer, Backend, Bound, End, Event, Run, solve_with
from caspr.engines.asp.processes import OutOfMemoryError, TimeOutError, run_pipe
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.solution import Solution, Statistics

OPTIMISE = ("--opt-strategy=usc,oll,disjoint,stratify",)
"""Core-guided optimisation with disjoint cores and stratification, which the paper found essential."""


def engine(encoding: str) -> "partial[Solution]":
    """Return the engine for an encoding."""
    return partial(_solve, encoding)


def _solve(encoding: str, instance: Instance, limits: Limits, progress: Progress) -> Solution:
    unlimited = limits.seconds is None and limits.megabytes is None and not limits.interruptible
    backend: Backend = in_process if unlimited else in_child
    return solve_with(backend, encoding, instance, limits, progress)


def arguments(run: Run) -> list[str]:
    """Return clasp's options for a run: optimise, or list all answer sets up to a cost."""
    if run.at_cost is None:
        return [*OPTIMISE]
    return [f"--opt-mode=enum,{run.at_cost}", "--project=show", "--models=0"]


def in_process(run: Run, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
    """Ground and solve in this process, until done or cancelled."""
    import clingo

    bounds: list[int] = []
    costless = False
    control = clingo.Control([*arguments(run), "--warn=none"], message_limit=0)
    control.add("base", [], run.program)
    started = time.process_time()
    control.ground([("base", [])])
    yield Statistics(grounding=time.process_time() - started)
    with control.solve(yield_=True, async_=True, on_unsat=lambda lower: bounds.extend(lower[:1])) as handle:
        while True:
            handle.resume()
            while not handle.wait(0.1):
                yield from _drain(bounds)
                if cancelled():
                    handle.cancel()
            yield from _drain(bounds)
            model = handle.model()
            if model is None:
                break
            # Where nothing costs anything, clingo stops at the first answer set: it is optimal.
            costless = run.at_cost is None and not model.cost
            yield Answer(str(model))
        exhausted = handle.get().exhausted or costless
    yield _statistics(control.statistics)
    if exhausted:
        yield End.EXHAUSTED


def _statistics(reported: dict[str, Any]) -> Statistics:
    solvers = reported["solving"]["solvers"]
    return Statistics(choices=int(solvers["choices"]), conflicts=int(solvers["conflicts"]))


def _drain(bounds: list[int]) -> Iterator[Bound]:
    if bounds:
        yield Bound(bounds[-1])
        bounds.clear()


def in_child(run: Run) -> Iterator[Event]:
    """Ground and solve in a child process within the limits of the run."""
    command = [sys.executable, "-m", "caspr.engines.asp.clingo"]
    task = json.dumps({"program": run.program, "at_cost": run.at_cost})
    try:
        for line in run_pipe([command], task, run.limits, success=frozenset({0})):
            yield _event(line)
    except TimeOutError:
        yield End.TIME
    except OutOfMemoryError:
        yield End.MEMORY
    except KeyboardInterrupt:
        yield End.INTERRUPT


def _event(line: str) -> Event:
    kind, content = json.loads(line)
    if kind == "answer":
        return Answer(content)
    if kind == "bound":
        return Bound(content)
    if kind == "statistics":
        return Statistics(**content)
    return End(content)


def _print(event: Event) -> None:
    line: list[str | int | dict[str, float | None]]
    match event:
        case Answer(atoms):
            line = ["answer", atoms]
        case Bound(value):
            line = ["bound", value]
        case Statistics():
            line = ["statistics", asdict(event)]
        case End():
            line = ["end", event.value]
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    task = json.load(sys.stdin)
    for event in in_process(Run(task["program"], task["at_cost"]), lambda: bool(asked)):
        _print(event)
