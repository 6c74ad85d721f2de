"""The results table as text, Markdown and CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields

from bench.experiments.paper import Figures
from bench.experiments.table import Row, Section, Table
from caspr.text.findings import times

HEADS = (
    *("accumulation", "from", "runs", "MO", "TO", "SAT", "OPT", "OPT %", "T s", "M MB", "T_grd s"),
    *("Opt avg", "Opt max", "Chc", "Cnf"),
)
"""The paper's columns; T is processor time, M memory, Chc and Cnf choices and conflicts."""


def to_markdown(table: Table) -> str:
    """Return the table in Markdown, our rows in upright and the paper's in slanted type."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|---|" + "---:|" * (len(HEADS) - 2)]
    for section in table.sections:
        lines.append(f"| **{section.title}** |" + " |" * (len(HEADS) - 1))
        for source, cells in _lines(section):
            shown = [f"*{cell}*" if source == "paper" and cell else cell for cell in cells]
            lines.append("| " + " | ".join(shown) + " |")
    return "\n".join([*lines, "", *notes(table)]) + "\n"


def to_text(table: Table) -> str:
    """Return the table in columns of equal width."""
    parts = [(section.title, [cells for _, cells in _lines(section)]) for section in table.sections]
    rows = [list(HEADS), *(cells for _, body in parts for cells in body)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = [_aligned(HEADS, widths)]
    for title, body in parts:
        lines += ["", title, *(_aligned(cells, widths) for cells in body)]
    return "\n".join([*lines, "", *notes(table)]) + "\n"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = [cell.ljust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
    rest = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return "  ".join([*first, *rest]).rstrip()


def to_csv(table: Table) -> str:
    """Return the table as comma-separated values, with unrounded numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["section", "accumulation", "from", "runs", *(field.name for field in fields(Figures))])
    for section in table.sections:
        for row in section.rows:
            writer.writerow([section.title, row.name, "here", row.runs, *astuple(row.ours)])
            if row.paper is not None:
                writer.writerow([section.title, row.name, "paper", "", *astuple(row.paper)])
    return out.getvalue()


def notes(table: Table) -> Iterator[str]:
    """Yield the notes below the table."""
    if table.reference is not None:
        yield (
            f"T_grd, Opt, Chc and Cnf are averages over {times(table.settled, 'document')} on which "
            f"{table.reference} never exceeded memory or time without a solution."
        )
    failed = sum(row.failed for section in table.sections[:1] for row in section.rows)
    if failed:
        yield f"Failed, and in no column: {failed} of the runs by system (see `error` in the results)."


def _lines(section: Section) -> Iterator[tuple[str, list[str]]]:
    for row in section.rows:
        yield "here", [row.name, "here", str(row.runs), *_cells(row.ours)]
        if row.paper is not None:
            yield "paper", ["", "paper", _paper_runs(row), *_cells(row.paper)]


def _paper_runs(row: Row) -> str:
    assert row.paper is not None
    figures = row.paper
    return f"{figures.memory_outs + figures.time_outs + figures.satisfied + figures.optimal:.0f}"


def _cells(figures: Figures) -> list[str]:
    return [
        *(
            f"{number:.0f}"
            for number in (figures.memory_outs, figures.time_outs, figures.satisfied, figures.optimal)
        ),
        f"{figures.percent:.0f}",
        _seconds(figures.seconds),
        f"{figures.megabytes:.0f}",
        _seconds(figures.grounding),
        *("" if number is None else f"{number:.1f}" for number in (figures.gap, figures.worst_gap)),
        *(_thousands(number) for number in (figures.choices, figures.conflicts)),
    ]


def _seconds(number: float | None) -> str:
    """Show seconds with as many digits as matter.

    >>> _seconds(0.234), _seconds(5.68), _seconds(145.2), _seconds(None)
    ('0.23', '5.7', '145', '')
    """
    if number is None:
        return ""
    return f"{number:.2f}" if number < 1 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def _thousands(number: float | None) -> str:
    """Show large counts as the paper does.

    >>> _thousands(314), _thousands(131_900), _thousands(5_000_000)
    ('314', '132K', '5M')
    """
    if number is None:
        return ""
    if number < 1e3:
        return f"{number:.0f}"
    return f"{number / 1e3:.0f}K" if number < 999.5e3 else f"{number / 1e6:.0f}M"
