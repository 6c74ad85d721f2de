"""Options for tables and figures of a paper, and the files they ask for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from caspr.cli.shared.options import choice, file_option, flag, options_of
from caspr.cli.shared.outputs import Output, requested
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.figures import Drawing, figure_content, refuse_figure
from caspr.report.paper.tables import Cell, PaperTable, csv_text, latex_text

SINGLETONS = {"auto": None, "yes": True, "no": False}
"""Whether chains of one count, by the word on the command line."""

_COUNTED = {
    "auto": "Whether chains of one mention count in scores; auto: where both sides have some. Default: auto.",
    "yes": "Whether chains of one mention count, as in the reference scorer; auto: where both sides have "
    "some. Default: yes.",
}
"""What `--singletons` says of itself, by its default."""


def singletons_option(default: str) -> Callable[[Any], Any]:
    """Return the option that says whether chains of one count."""
    return click.option("--singletons", type=choice(SINGLETONS), default=default, help=_COUNTED[default])


paper_options = options_of(
    flag("--percent", help="Show numbers from 0 to 100 with one decimal. Default: from 0 to 1."),
    click.option("--digits", type=click.IntRange(0, 12), metavar="N", help="How many decimals to show."),
    file_option("--csv", metavar="FILE", help="Also write all numbers, one per row."),
    file_option("--latex", metavar="FILE", help="Also write tables for LaTeX with booktabs."),
    file_option("--plot", metavar="FILE.svg", help="Also draw a figure (.svg; .png and .pdf by matplotlib)."),
)


@dataclass(frozen=True)
class PaperFiles:
    """What was asked for, for a paper."""

    csv: Path | None
    latex: Path | None
    plot: Path | None
    style: NumberStyle
    singletons: bool | None
    """Whether chains of one count; `None` where both sides have some."""

    @classmethod
    def of(cls, values: dict[str, Any]) -> "PaperFiles":
        """Take the options of a command, and refuse a figure that cannot be drawn."""
        if values["plot"] is not None:
            refuse_figure(str(values["plot"]))
        style = NumberStyle(values["percent"], values["digits"])
        return cls(values["csv"], values["latex"], values["plot"], style, SINGLETONS[values["singletons"]])

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
        contents: dict[str, dict[Path, str | bytes]] = {}
        if self.csv is not None:
            contents["--csv"] = {self.csv: csv_text(head, rows())}
        if self.latex is not None:
            contents["--latex"] = {self.latex: latex_text(list(tables()))}
        if self.plot is not None:
            contents["--plot"] = {self.plot: figure_content(drawing(), str(self.plot))}
        return contents
