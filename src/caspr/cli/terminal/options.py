"""Options that several subcommands share, and the settings they make.

An option that was not given is `None`: `redo` then keeps what the review file says.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from caspr.engines import ENCODINGS, ENGINES
from caspr.formats.options import ReadOptions
from caspr.formats.registry import FORMATS
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import LARGEST_COEFFICIENT, OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.settings.values import PRESETS, SettingValues, change

Function = TypeVar("Function", bound=Callable[..., Any])

MANY = 100
"""How many optimal solutions `--all` lists at most without `--max-solutions`."""
CERTAINTY_OF_REPORTS = 5.0
"""Seconds per document spent on certainty without `--certainty` where a report is written."""

_COST = click.IntRange(0, LARGEST_COEFFICIENT)

FILES = click.Path(path_type=Path)
"""A file name; whether it can be read or written is found out by doing so, with a better message."""

_SETTINGS = (
    click.option(
        "--preset",
        type=click.Choice(list(PRESETS), case_sensitive=False),
        help="Where to start from: what is best by our measurements, or what the paper describes (objective "
        "v, nested never, singletons drop). All other options count more. Default: default.",
    ),
    click.option(
        "--objective",
        type=click.Choice(list(OBJECTIVES), case_sensitive=False),
        help="What costs: v and va weigh votes, u and ua keep as many links as possible; "
        "va and ua may join mentions that nobody linked. Default: va.",
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
        help="Cost of a pair in one chain without a used link. Default: 1 (v, u: forbid).",
    ),
    click.option(
        "--nested",
        type=click.Choice([choice.value for choice in Nesting], case_sensitive=False),
        help="Whether a chain may hold a mention and one inside it: where at least half of the annotators "
        "linked the two, never, or always. Default: vote.",
    ),
    click.option(
        "--allow-nested/--no-nested", default=None, help="The same as --nested always and --nested never."
    ),
    click.option(
        "--singletons",
        type=click.Choice([choice.value for choice in Singletons], case_sensitive=False),
        help="Drop mentions that end in no chain, or keep the favoured ones as chains of one; auto keeps "
        "them if annotators marked such. Default: auto.",
    ),
    click.option(
        "--weight",
        multiple=True,
        metavar="NAME=NUMBER",
        help="How many times as much the votes of an annotator cost; may be repeated. Default: 1.",
    ),
    click.option(
        "--weights",
        metavar="FILE",
        help="A table of what the votes of each annotator cost, as `caspr weigh` writes it. Default: none.",
    ),
    click.option(
        "--coverage",
        metavar="FILE|marks",
        help="Who saw what: a table (annotator, document, from token, to token), or from first to last mark. "
        "Default: everybody saw everything.",
    ),
    click.option(
        "--variants/--no-variants",
        default=None,
        help="Whether mentions that differ only in their boundaries are one mention. Default: no.",
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
        type=click.Choice(["auto", *ENGINES], case_sensitive=False),
        help="Who solves. Default: auto.",
    ),
    click.option("--time-limit", type=click.FloatRange(0), metavar="S", help="Seconds per document."),
    click.option("--memory-limit", type=click.IntRange(1), metavar="MB", help="Memory of the solver."),
    click.option(
        "--certainty",
        type=click.FloatRange(0, 1e6),
        metavar="S",
        help="Seconds per document to find out how sure each link is. Default: 5 for a report, else 0.",
    ),
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
    type=click.Choice(list(ENCODINGS), case_sensitive=False),
    help="The ASP encoding: mention-mention or chain-mention. Default: mm.",
)

_REPORTING = (
    click.option(
        "--certificate", type=FILES, metavar="FILE", help="Write proofs that `caspr verify` can check."
    ),
    click.option("--json", "json_path", type=FILES, metavar="FILE", help="Write a summary for programs."),
    click.option(
        "--report",
        type=FILES,
        metavar="FILE.html",
        help="Also write a report that explains every dispute (.html, .md, .txt or .json).",
    ),
    click.option(
        "--feedback", type=FILES, metavar="FOLDER", help="Also write a page for each annotator there."
    ),
    click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning or gap."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
)


class JsonCommand(click.Command):
    """A command whose `--json` may be followed by a file to write or, in any place, by an input.

    `caspr agreement --json a.conll b.conll` must never overwrite `a.conll`: a file that is there and holds
    no JSON is an input.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `-` behind a `--json` that is followed by an input."""
        words: list[str] = []
        for word in args:
            if words and words[-1] == "--json" and _is_input(word):
                words.append("-")
            words.append(word)
        return super().parse_args(ctx, words)


def _is_input(word: str) -> bool:
    """Return whether a word names a file that is there and holds no JSON."""
    try:
        if not Path(word).is_file():
            return False
        with Path(word).open("rb") as file:
            return file.read(1) not in (b"", b"{")
    except (OSError, ValueError):
        return False


_FORMATS = (
    click.option(
        "--format",
        "format_name",
        type=click.Choice(list(FORMATS), case_sensitive=False),
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


gold_option = click.option(
    "--allow-gold", is_flag=True, help="Let golds of earlier adjudications vote beside annotators."
)
"""`--allow-gold` for commands that merge annotations."""


def format_options(function: Function) -> Function:
    """Add the options that say how files are read."""
    for option in reversed(_FORMATS):
        function = option(function)
    return function


def reading(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say about reading, as the arguments of `formats.read_all`."""
    allow_gold = given.get("allow_gold", False)
    options = ReadOptions(given["layer"], tuple(given["relations"]), given["in_progress"], allow_gold)
    return {"format": given["format_name"], "options": options}


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


def adjudication_options(function: Function) -> Function:
    """Add all options that `adjudicate` and `redo` share: what is optimal, the search, what is reported."""
    for option in reversed(_REPORTING):
        function = option(function)
    return settings_options(search_options(function))


json_option = click.option(
    "--json",
    "json_path",
    type=FILES,
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    help="Write everything for programs to FILE; without FILE, print it instead of the table.",
)
"""`--json` for commands that print a table."""


def changed(settings: Settings, given: dict[str, Any], *, reported: bool = False) -> Settings:
    """Return settings with the given options in place of what they were, for a search that Ctrl-C can end.

    Where the result is `reported`, some seconds are spent on how certain it is.
    """
    values = cast(SettingValues, {name: given.get(name) for name in SettingValues.__annotations__})
    values["weight"] = values["weight"] or None  # an option that may be repeated is empty if it was not given
    if values["certainty"] is None:
        values["certainty"] = CERTAINTY_OF_REPORTS if reported else 0.0
    if wants_all(given):
        values["max_solutions"] = values["max_solutions"] or MANY
    settings = change(settings, values)
    return replace(settings, limits=replace(settings.limits, interruptible=True))


def wants_all(given: dict[str, Any]) -> bool:
    """Return whether all optimal solutions are asked for, if only by a cap on their number."""
    return bool(given.get("all_solutions") or given.get("max_solutions"))


def as_in_the_file(function: Function) -> Function:
    """Let the help of options say that a review file has its own defaults."""
    for option in function.__click_params__:  # type: ignore[attr-defined]
        if option.help is not None and option.name not in ("max_solutions",):
            option.help = re.sub(r"Default: [^.]*\.", "Default: as in the file.", option.help)
    return function
