"""Options that several subcommands share, and the settings they make.

An option that was not given is `None`: `redo` then keeps what the review file says.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from caspr.engines import ENCODINGS, ENGINES
from caspr.formats.choices import Choices
from caspr.formats.table import FORMATS
from caspr.instance import Singletons
from caspr.objectives import LARGEST_COEFFICIENT, OBJECTIVES, Objective, read_invent_cost
from caspr.settings import Settings

Function = TypeVar("Function", bound=Callable[..., Any])

MANY = 100
"""How many optimal solutions `--all` lists unless told otherwise."""

_COST = click.IntRange(0, LARGEST_COEFFICIENT)

FILES = click.Path(path_type=Path)
"""A file name; whether it can be read or written is found out by doing so, with a better message."""

_SETTINGS = (
    click.option(
        "--objective",
        type=click.Choice(list(OBJECTIVES), case_sensitive=False),
        help="What costs: v and va weigh votes, u and ua keep as many links as possible; "
        "va and ua may join mentions that nobody linked. Default: v.",
    ),
    click.option("--omit-cost", type=_COST, help="Cost per annotator of a link not used. Default: 2."),
    click.option(
        "--use-cost",
        type=_COST,
        help="Cost of a used link per annotator who did not give it. Default: 1 (u, ua: 0).",
    ),
    click.option(
        "--invent-cost",
        metavar="N|forbid",
        help="Cost of a pair in one chain without a used link. Default: forbid (va, ua: 1).",
    ),
    click.option(
        "--allow-nested/--no-nested",
        default=None,
        help="Whether a chain may hold a mention and one inside it. Default: no.",
    ),
    click.option(
        "--singletons",
        type=click.Choice([choice.value for choice in Singletons]),
        help="Drop mentions that end in no chain, or keep the favoured ones as chains of one. Default: drop.",
    ),
    click.option(
        "--forced-votes/--no-forced-votes",
        default=None,
        help="Count enforced cells as the votes of one more annotator, as in the paper. Default: no.",
    ),
)

_SEARCH = (
    click.option(
        "--engine",
        type=click.Choice(["auto", *ENGINES]),
        help="Who solves. Default: auto.",
    ),
    click.option("--time-limit", type=click.FloatRange(0), metavar="S", help="Seconds per document."),
    click.option("--memory-limit", type=click.IntRange(1), metavar="MB", help="Memory of the solver."),
    click.option(
        "--all", "all_solutions", is_flag=True, help="List all optimal solutions, as name.1, name.2, ..."
    ),
    click.option(
        "--max-solutions",
        type=click.IntRange(1),
        metavar="N",
        help=f"The same, but at most N. Default: {MANY}.",
    ),
)

_ENCODING = click.option(
    "--encoding",
    type=click.Choice(list(ENCODINGS)),
    help="The ASP encoding: mention-mention or chain-mention. Default: mm.",
)

_REPORTING = (
    click.option("--json", "json_path", type=FILES, metavar="FILE", help="Write a summary for programs."),
    click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning or gap."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
)


_FORMATS = (
    click.option(
        "--format",
        "format_name",
        type=click.Choice(list(FORMATS)),
        help="The format of the files. Default: what their content looks like.",
    ),
    click.option(
        "--layer",
        metavar="NAME",
        help="The chain layer, annotation set or markable level to read, where there are several.",
    ),
    click.option(
        "--relation",
        "relations",
        multiple=True,
        metavar="TYPE",
        help="A relation type that means coreference; may be repeated. Default: those named coref...",
    ),
    click.option(
        "--in-progress", is_flag=True, help="Take annotators of an INCEpTION project who have not finished."
    ),
)


def format_options(function: Function) -> Function:
    """Add the options that say how files are read."""
    for option in reversed(_FORMATS):
        function = option(function)
    return function


def reading(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say about reading, as the arguments of `formats.read_all`."""
    choices = Choices(given["layer"], tuple(given["relations"]), given["in_progress"])
    return {"format": given["format_name"], "choices": choices}


def settings_options(function: Function) -> Function:
    """Add the options that say what is optimal."""
    for option in reversed((*_SETTINGS, _ENCODING)):
        function = option(function)
    return function


def search_options(function: Function) -> Function:
    """Add the options that say how it is searched for."""
    for option in reversed(_SEARCH):
        function = option(function)
    return function


def reporting_options(function: Function) -> Function:
    """Add the options that say what is told about it."""
    for option in reversed(_REPORTING):
        function = option(function)
    return function


def changed(settings: Settings, given: dict[str, Any]) -> Settings:
    """Return settings with the given options in place of what they were; Ctrl-C is answered at once."""
    same = {
        name: given[name]
        for name in ("engine", "encoding", "allow_nested", "forced_votes")
        if given.get(name) is not None
    }
    if given.get("singletons") is not None:
        same["singletons"] = Singletons(given["singletons"])
    limits = replace(
        settings.limits,
        seconds=_first(given.get("time_limit"), settings.limits.seconds),
        megabytes=_first(given.get("memory_limit"), settings.limits.megabytes),
        solutions=(given.get("max_solutions") or MANY) if wants_all(given) else 1,
        interruptible=True,
    )
    return replace(settings, objective=_objective(settings.objective, given), limits=limits, **same)


def wants_all(given: dict[str, Any]) -> bool:
    """Tell whether all optimal solutions are asked for, if only by a cap on their number."""
    return bool(given.get("all_solutions") or given.get("max_solutions"))


def as_in_the_file(function: Function) -> Function:
    """Let the help of options say that a review file has its own defaults."""
    for option in function.__click_params__:  # type: ignore[attr-defined]
        if option.help is not None and option.name not in ("max_solutions",):
            option.help = re.sub(r"Default: [^.]*\.", "Default: as in the file.", option.help)
    return function


def _first(given: Any, otherwise: Any) -> Any:
    return otherwise if given is None else given


def _objective(base: Objective, given: dict[str, Any]) -> Objective:
    """Start from the named objective, or from the one so far, and change single coefficients."""
    if given.get("objective") is not None:
        base = OBJECTIVES[given["objective"].lower()]
    return Objective(
        omit=_first(given.get("omit_cost"), base.omit),
        use=_first(given.get("use_cost"), base.use),
        invent=base.invent if given.get("invent_cost") is None else read_invent_cost(given["invent_cost"]),
    )
