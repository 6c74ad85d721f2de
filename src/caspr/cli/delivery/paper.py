"""Options for tables and figures of a paper, and their files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from caspr.cli.delivery.outputs import Output, requested
from caspr.cli.terminal.options import FILES
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.drawing import Drawing
from caspr.report.paper.raster import figure_content, refuse_figure
from caspr.report.paper.tables import Cell, PaperTable, csv_text, latex_text

Function = TypeVar("Function", bound=Callable[..., Any])

SINGLETONS = {"auto": None, "yes": True, "no": False}
"""Whether chains of one count, by the word on the command line."""

_OPTIONS = (
    click.option(
        "--singletons",
        type=click.Choice(list(SINGLETONS), case_sensitive=False),
        default="auto",
        help="Whether chains of one mention count in scores; auto: where both sides have some. "
        "Default: auto.",
    ),
    click.option("--no-singletons", "singletons", flag_value="no", help="The same as --singletons no."),
    click.option(
        "--percent", is_flag=True, help="Show numbers from 0 to 100 with one decimal. Default: from 0 to 1."
    ),
    click.option("--digits", type=click.IntRange(0, 12), help="How many decimals to show."),
    click.option("--csv", type=FILES, metavar="FILE", help="Also write all numbers, one a row."),
    click.option("--latex", type=FILES, metavar="FILE", help="Also write tables for LaTeX with booktabs."),
    click.option(
        "--plot",
        type=FILES,
        metavar="FILE.svg",
        help="Also draw a figure (.svg; .png and .pdf by matplotlib).",
    ),
)


def paper_options(function: Function) -> Function:
    """Add the options for tables and figures."""
    return reduce(lambda wrapped, option: option(wrapped), reversed(_OPTIONS), function)


@dataclass(frozen=True)
class PaperFiles:
    """What was asked for, for a paper."""

    csv: Path | None
    """Where numbers go."""
    latex: Path | None
    """Where tables go."""
    plot: Path | None
    """Where the figure goes."""
    style: NumberStyle
    """How numbers are written."""
    singletons: bool | None
    """Whether chains of one count; `None` where both sides have some."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> "PaperFiles":
        """Take the options of a command, and refuse a figure that cannot be drawn."""
        if given["plot"] is not None:
            refuse_figure(str(given["plot"]))
        style = NumberStyle(given["percent"], given["digits"])
        return cls(given["csv"], given["latex"], given["plot"], style, SINGLETONS[given["singletons"]])

    def outputs(self) -> tuple[Output, ...]:
        """Return every place that is written to."""
        return (
            *requested("--csv", self.csv),
            *requested("--latex", self.latex),
            *requested("--plot", self.plot),
        )

    def contents(
        self,
        *,
        head: Sequence[str],
        rows: Callable[[], Iterable[Sequence[Cell]]],
        tables: Callable[[], Iterable[PaperTable]],
        drawing: Callable[[], Drawing],
    ) -> dict[str, dict[Path, str | bytes]]:
        """Return the content of every file, by option."""
        found: dict[str, dict[Path, str | bytes]] = {}
        if self.csv is not None:
            found["--csv"] = {self.csv: csv_text(head, rows())}
        if self.latex is not None:
            found["--latex"] = {self.latex: latex_text(list(tables()))}
        if self.plot is not None:
            found["--plot"] = {self.plot: figure_content(drawing(), str(self.plot))}
        return found
