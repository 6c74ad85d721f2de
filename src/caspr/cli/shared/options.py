"""The options of all commands: their groups in `--help`, those that commands share, the settings they make.

`GROUPS` is the survey: what most people need comes first, what only experiments need comes last. A command
shows those of its options that are in a group, in the order of the table; a test looks for options in none.

An option that was not given is `None`: `redo` then keeps what the review file says.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from caspr.engines import ENCODINGS, ENGINES
from caspr.formats.format import ReadOptions
from caspr.formats.registry import READ, WRITTEN
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import LARGEST_COEFFICIENT, OBJECTIVES
from caspr.task.own_rules import LIBRARY
from caspr.task.settings import PRESETS, Settings, SettingValues, change

Function = TypeVar("Function", bound=Callable[..., Any])

GROUPS = {
    "Options": "--output --gold --to --like --layout --format --template --annotator --document "
    "--annotators --facts --rules-only --try --tokens --matrix "
    "--per-document --methods --report --name --team --blind --time-limit --quiet --help",
    "Annotators": "--add --remove --rename",
    "Reading": "--by --files --layer --relation --in-progress --allow-gold",
    "Costs and votes": "--objective --preset --weight --weights --coverage",
    "Rules": "--rules --nested --singletons --variants --match --own-set --unmarked",
    "Output": "--all --max-solutions --certificate --json --csv --latex --plot --percent --digits --feedback "
    "--no-result --strict",
    "Limits": "--engine --memory-limit --prices",
    "Running": "--host --port --browser --shortcut --processes --cluster --kill-after --force",
    "Experiments": "--omit-cost --use-cost --invent-cost --forced-votes --encoding --solver-option --debug",
}
"""The options of all commands by the heading under which `--help` shows them, in this order."""

_RANGE = re.compile(r"  \[[\d.<>=]*x[\d.<>=]*\]$")
"""What click says after the help of a number; a number out of range is refused with it."""
MANY = 100
"""How many optimal solutions `--all` lists at most without `--max-solutions`."""
PRICES_OF_REPORTS = 1
"""Seconds per document spent on prices without `--prices` where a report is written."""


class Command(click.Command):
    """A command whose `--help` shows options in groups, and whose `--json` may stand before an input.

    `caspr agreement --json a.conll b.conll` must never overwrite `a.conll`: where `--json` needs no file, a
    file that is there and holds no JSON is an input.
    """

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = {"max_content_width": 110}
        super().__init__(*args, **attributes)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group, all in the same columns."""
        records = {
            option.opts[-1]: (record[0], _RANGE.sub("", record[1]))
            for option in self.get_params(ctx)
            if (record := option.get_help_record(ctx))
        }
        width = min(30, max(len(names) for names, _ in records.values()))
        for title, names in GROUPS.items():
            shown = [record for name in names.split() if (record := records.get(name))]
            if shown:
                with formatter.section(title):
                    formatter.write_dl([(names.ljust(width), text) for names, text in shown])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `-` after a `--json` that is followed by an input."""
        if any(getattr(option, "flag_value", None) == "-" for option in self.params):
            pairs = zip(args, [*args[1:], ""], strict=True)
            args = [
                word
                for first, following in pairs
                for word in ([first, "-"] if first == "--json" and _is_input(following) else [first])
            ]
        return super().parse_args(ctx, args)


subcommand = partial(click.command, cls=Command)
"""Make a function a command whose help is in groups."""


def _is_input(word: str) -> bool:
    """Return whether a word names a file that is there and holds no JSON."""
    try:
        if not Path(word).is_file():
            return False
        with Path(word).open("rb") as file:
            return file.read(1) not in (b"", b"{")
    except (OSError, ValueError):
        return False


FILES = click.Path(path_type=Path)
"""A file name; whether it can be read or written is found out by doing so, with a better message."""
TABLE = click.Path()
"""A file name, or a word that stands for one."""
_COST = click.IntRange(0, LARGEST_COEFFICIENT)
_SECONDS = click.FloatRange(0)


def options_of(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return a decorator that adds several options."""
    return lambda function: reduce(lambda wrapped, option: option(wrapped), reversed(options), function)


def choice(names: Any) -> "click.Choice[str]":
    """Return the type of an option with a choice of names, in capitals or not."""
    return click.Choice([getattr(name, "value", name) for name in names], case_sensitive=False)


def flag(*names: str, help: str) -> Callable[[Function], Function]:
    """Return an option without a value."""
    return click.option(*names, is_flag=True, help=help)


def file_option(*names: str, help: str, metavar: str | None = None) -> Callable[[Function], Function]:
    """Return an option whose value is the name of a file or folder."""
    return click.option(*names, type=FILES, metavar=metavar, help=help)


output_option = click.option(
    "-o", "--output", type=FILES, default=Path("-"), help="Where to write. Default: the terminal."
)
quiet_option = flag("-q", "--quiet", help="Print nothing but errors.")
strict_option = flag("--strict", help="Write nothing and exit 2 if there is any warning or gap.")
feedback_option = click.option(
    "--feedback", type=FILES, metavar="FOLDER", help="Also write a page for each annotator to this folder."
)
gold_option = flag("--allow-gold", help="Let gold standards of earlier adjudications vote like annotators.")
coverage_option = click.option(
    "--coverage",
    type=TABLE,
    metavar="FILE|marks",
    help="Who saw what: a table (annotator, document, from token, to token), or marks: what is between "
    "the first and the last mark of each. "
    "Default: everybody saw everything.",
)
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

format_options = options_of(
    click.option(
        "--format",
        "format_name",
        type=choice(READ),
        metavar="FORMAT",
        help=f"The format of the files: {', '.join(READ)}. Default: recognised from their content.",
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
    flag("--in-progress", help="Include annotators of an INCEpTION project who have not finished."),
)

settings_options = options_of(
    click.option(
        "--objective",
        type=choice(OBJECTIVES),
        help="What the best result is: v and va weigh votes, u and ua keep as many links as possible; "
        "va and ua may join mentions that nobody linked. Default: va.",
    ),
    click.option(
        "--preset",
        type=choice(PRESETS),
        help="Where to start from: default (the best by our measurements), paper (objective v, nested "
        "never, singletons drop, forced votes) or systems (for several runs of a coreference system: omit "
        "cost 2, use and invent cost 3). Other options take precedence. Default: default.",
    ),
    click.option(
        "--weight",
        multiple=True,
        metavar="NAME=NUMBER",
        help="Multiply what the votes of an annotator cost; may be repeated. Default: 1.",
    ),
    click.option(
        "--weights",
        type=TABLE,
        metavar="FILE",
        help="A table of what the votes of each annotator cost, as `caspr weigh` writes it. Default: none.",
    ),
    coverage_option,
    click.option(
        "--rules",
        multiple=True,
        metavar="FILE.lp",
        help="Rules of your own, to forbid, require or charge links and mentions, or the name of one that "
        f"comes with CaspR: {', '.join(LIBRARY)}; may be repeated. Default: none.",
    ),
    click.option(
        "--nested",
        type=choice(Nesting),
        help="Whether a chain may hold a mention and one inside it: where at least half of the annotators "
        "linked the two, never, or always. Default: vote.",
    ),
    click.option(
        "--singletons",
        type=choice(Singletons),
        help="Drop mentions that end up in no chain, or keep those with enough votes as chains of one; auto "
        "keeps them if annotators marked such chains. Default: auto.",
    ),
    click.option(
        "--variants/--no-variants",
        default=None,
        help="Whether mentions that differ only in their boundaries are one mention. Default: no.",
    ),
    click.option(
        "--omit-cost", type=_COST, metavar="N", help="Cost per annotator of a link not used. Default: 2."
    ),
    click.option(
        "--use-cost",
        type=_COST,
        metavar="N",
        help="Cost of a used link per annotator who did not give it. Default: 1 (u, ua: 0).",
    ),
    click.option(
        "--invent-cost",
        metavar="N|forbid",
        help="Cost of a pair in one chain without a used link. Default: 1 (v, u: forbid).",
    ),
    click.option(
        "--forced-votes/--no-forced-votes",
        default=None,
        help="Count enforced cells as the votes of one more annotator, as in the paper. Default: no.",
    ),
    click.option(
        "--encoding",
        type=choice(ENCODINGS),
        help="The ASP encoding: mention-mention or chain-mention. Default: mm.",
    ),
)

search_options = options_of(
    click.option("--engine", type=choice(["auto", *ENGINES]), help="Which engine solves. Default: auto."),
    click.option("--time-limit", type=_SECONDS, metavar="S", help="Seconds per document."),
    click.option(
        "--memory-limit", type=click.IntRange(1), metavar="MB", help="How much memory the solver may use."
    ),
    click.option(
        "--prices",
        type=click.FloatRange(0, 1e6),
        metavar="S",
        help="Seconds per document for computing what another decision about each link would cost. "
        f"Default: {PRICES_OF_REPORTS} for a report, else 0.",
    ),
    flag("--all", "all_solutions", help="List all optimal solutions; several are called name.1, name.2, ..."),
    click.option(
        "--max-solutions",
        type=click.IntRange(1),
        metavar="N",
        help=f"The same, but at most N. Default: {MANY}.",
    ),
    click.option(
        "--solver-option",
        multiple=True,
        metavar="OPTION",
        help="An option for the solver, such as --solver-option=--opt-strategy=bb; may be repeated.",
    ),
)

adjudication_options = options_of(
    settings_options,
    search_options,
    flag("--debug", help="Print what an answer set solver prints."),
    file_option("--certificate", metavar="FILE", help="Write proofs that `caspr verify` can check."),
    file_option("--json", "json_path", metavar="FILE", help="Write a summary for programs."),
    click.option(
        "--report",
        type=FILES,
        metavar="FILE.html",
        help="Also write a report that explains every dispute (.html, .md, .txt or .json).",
    ),
    feedback_option,
    strict_option,
    quiet_option,
)
"""What `adjudicate` and `redo` share: what is optimal, the search, what is reported."""


page_options = options_of(
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        metavar="N",
        help="The port. Default: any that is free.",
    ),
    click.option("--browser/--no-browser", default=True, help="Whether to open the page. Default: yes."),
)

annotators_option = click.option(
    "--annotators",
    multiple=True,
    metavar="N|NAME|FILE",
    help="For a review file without its first line, as the CaspR of 2018 wrote them: how many annotators "
    "have a column before the result, their names, or their files; may be repeated.",
)


def to_option(
    default: str, formats: Iterable[str] = WRITTEN, what: str = "The format to write"
) -> Callable[[Function], Function]:
    """Return `--to` for a command that writes annotations."""
    text = f"{what}: {', '.join(formats)}. Default: {default}."
    return click.option("--to", "target", type=choice(formats), metavar="FORMAT", help=text)


def limit_option(seconds: float, what: str) -> Callable[[Function], Function]:
    """Return `--time-limit` for a command that has a limit by default."""
    text = f"Seconds {what}. Default: {seconds:.0f}."
    return click.option("--time-limit", type=_SECONDS, default=seconds, metavar="S", help=text)


def with_help(function: Function, **changes: tuple[str, str]) -> Function:
    """Replace a pattern in the help of some options, by their names."""
    for option in function.__click_params__:  # type: ignore[attr-defined]
        pattern, text = changes.get(option.name, ("", ""))
        if pattern and option.help:
            option.help = re.sub(pattern, text, option.help)
    return function


def as_in_the_file(function: Function) -> Function:
    """Let the help of those settings that a review file keeps say that these are the default."""
    settings = [name for name in SettingValues.__annotations__ if name not in ("prices", "max_solutions")]
    return with_help(function, **dict.fromkeys(settings, (r"Default: [^.]*\.", "Default: as in the file.")))


def reading(values: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say about reading, as the arguments of `formats.read_all`."""
    allow_gold = values.get("allow_gold", False)
    options = ReadOptions(values["layer"], tuple(values["relations"]), values["in_progress"], allow_gold)
    return {"format": values["format_name"], "options": options}


def changed(settings: Settings, values: dict[str, Any], *, reported: bool = False) -> Settings:
    """Return settings with the given options in place of what they were, for a search that Ctrl-C can end.

    Where the result is `reported`, some seconds are spent on what another decision would cost.
    """
    named = cast(SettingValues, {name: values.get(name) for name in SettingValues.__annotations__})
    for name in ("weight", "rules", "solver_option"):
        named[name] = named[name] or None  # an option that may be repeated is empty if it was not given
    if named["prices"] is None:
        named["prices"] = float(PRICES_OF_REPORTS) if reported else 0.0
    if wants_all(values):
        named["max_solutions"] = named["max_solutions"] or MANY
    settings = change(settings, named)
    return replace(settings, limits=replace(settings.limits, interruptible=True))


def wants_all(values: dict[str, Any]) -> bool:
    """Return whether all optimal solutions are asked for, if only by a cap on their number."""
    return bool(values.get("all_solutions") or values.get("max_solutions"))
