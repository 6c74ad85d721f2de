"""Engines: Instance -> Solution. One engine is one module or sub-package; `ENGINES` lists them.

An engine keeps the limits it is given, reports better values and bounds to the progress callback, and
returns the best solution it has, never an exception, when time or memory run out.
"""

from collections.abc import Callable, Sequence
from functools import partial

from caspr.errors import InputError
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.solution import Solution

Engine = Callable[[Instance, Limits, Progress], Solution]
"""Solves an instance within limits, reporting progress."""

ENCODINGS = ("mm", "cm")
"""The encodings of the ASP engines: mention-mention and chain-mention."""


def _brute(encoding: str) -> Engine:  # noqa: ARG001 - it has no encoding
    from caspr.engines import brute

    return brute.solve


def _answer_sets(system: str, encoding: str) -> Engine:
    from caspr.engines.asp.solve import engine

    return engine(system, encoding)


def _native(encoding: str) -> Engine:  # noqa: ARG001 - it has no encoding
    from caspr.engines import native

    return native.solve


ENGINES: dict[str, Callable[[str], Engine]] = {
    "native": _native,
    "clingo": partial(_answer_sets, "clingo"),
    "gringo-clasp": partial(_answer_sets, "gringo-clasp"),
    "gringo-wasp": partial(_answer_sets, "gringo-wasp"),
    "brute": _brute,
}
"""Every engine by name; each is imported when it is chosen."""

AUTO = "native"
ANSWER_SETS = ("clingo", "gringo-clasp", "gringo-wasp")
"""The engines that call an answer set solver."""


def choose(
    name: str = "auto", encoding: str = "mm", solver_options: Sequence[str] = ()
) -> tuple[str, Engine]:
    """Return an engine and its name; `auto` takes the one for daily work.

    An engine without an answer set solver is refused where there are options for one.
    """
    name = AUTO if name == "auto" else name
    if name not in ENGINES:
        raise InputError(f"engine: found '{name}', expected one of auto, {', '.join(ENGINES)}")
    if encoding not in ENCODINGS:
        raise InputError(f"encoding: found '{encoding}', expected one of {', '.join(ENCODINGS)}")
    if solver_options and name not in ANSWER_SETS:
        raise InputError(
            f"solver option: engine {name} calls no solver that takes {solver_options[0]}: choose "
            f"{', '.join(ANSWER_SETS)}"
        )
    return name, ENGINES[name](encoding)
