"""`caspr corpus`: a folder of documents in, a folder of gold standards out."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import click

from caspr.cli.delivery.messages import print_lines
from caspr.cli.delivery.outputs import Output, OutputKind, Outputs
from caspr.cli.terminal.bar import corpus_bar
from caspr.cli.terminal.options import (
    FILES,
    Function,
    changed,
    format_options,
    gold_option,
    reading,
    search_options,
    settings_options,
    wants_all,
)
from caspr.cli.terminal.stopping import Stopped, stopped_once
from caspr.corpus.inputs.layouts import LAYOUTS
from caspr.corpus.job import Options, Reading
from caspr.corpus.outputs.totals import Totals
from caspr.corpus.pipeline import Request, failures, run_corpus, warnings_in
from caspr.formats.registry import FORMATS
from caspr.report.summary_text import counted_entities
from caspr.task.settings import Settings
from caspr.text.findings import times

LEARN = "learn"
"""The word for weights that are learned from the corpus; a file of this name is given as `./learn`."""
SHOWN = 20
"""How many failed documents are listed on the terminal."""
WARNINGS = 5
"""How many warnings about documents are printed."""


def _for_a_corpus(function: Function) -> Function:
    """Let the help of options say what is different for a corpus.

    No time is spent on certainty unless asked for: results would depend on it. Weights can be learned.
    """
    for option in function.__click_params__:  # type: ignore[attr-defined]
        if option.name == "certainty":
            option.help = option.help.replace(" (5 with --report)", "")
        if option.name == "weights":
            option.metavar = f"FILE|{LEARN}"
            option.help = option.help.replace(
                "writes it.", f"writes it, or {LEARN}: learned from the corpus."
            )
    return function


@click.command("corpus", context_settings={"max_content_width": 110})
@click.argument("inputs", nargs=-1, required=True, type=FILES, metavar="FOLDER | A.conll B.conll ...")
@click.option("-o", "--output", type=FILES, required=True, metavar="OUT", help="The folder to write to.")
@click.option(
    "--by",
    type=click.Choice(LAYOUTS, case_sensitive=False),
    help="What is in FOLDER: a folder for each document, one for each annotator, or a file of many documents "
    "for each annotator. Default: found by looking.",
)
@click.option("--files", default="*", metavar="PATTERN", help="Take only files named so, such as '*.conll'.")
@click.option(
    "--layout",
    type=click.Choice(["gold", "review", "project"], case_sensitive=False),
    default="gold",
    help="Only the results; all annotators and the result side by side, to edit and redo; or the same as a "
    "project for `caspr review OUT`. Default: gold.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice([name for name, format in FORMATS.items() if format.writes_any], case_sensitive=False),
    help="The format to write. Default: that of each document's first annotator.",
)
@format_options
@gold_option
@_for_a_corpus
@settings_options
@search_options
@click.option(
    "--kill-after",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Give a document up after S seconds. Default: twice the time limit and 30, else 3600.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="Worker processes. Default: one for each processor.",
)
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler instead.")
@click.option("--force", is_flag=True, help="Do documents again that are done.")
@click.option(
    "--certificate",
    is_flag=True,
    help="Also write a proof for each document, for `caspr verify`, to OUT/certificates.",
)
@click.option(
    "--report",
    is_flag=True,
    help="Also write an overview, OUT/report.html, and a report on each document, to OUT/reports.",
)
@click.option(
    "--feedback", is_flag=True, help="Also write a page for each annotator of each document, to OUT/feedback."
)
@click.option("--strict", is_flag=True, help="Any warning or gap makes a document fail.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def command(inputs: tuple[Path, ...], output: Path, kill_after: float | None, **given: Any) -> None:
    """Adjudicate every document of a corpus and write one file for each, and a summary, to a folder.

    Run it again to go on after a stop, or after a change: only what changed is done again.
    """
    Outputs((Output("-o", output, OutputKind.FOLDER, parents=True),), inputs).refuse()
    learn = given["weights"] == LEARN
    settings = changed(Settings(), {**given, "weights": None} if learn else given)
    # Workers can be killed at any time, so that solvers need no processes of their own for Ctrl-C.
    settings = replace(settings, limits=replace(settings.limits, interruptible=False))
    names = ("target", "layout", "certificate", "report", "feedback", "strict")
    chosen = {name: given[name] for name in names}
    read = Reading(**reading(given))
    options = Options(settings, read, every=wants_all(given), kill_after=kill_after, **chosen)
    placed = {name: given[name] for name in ("by", "files", "processes", "cluster", "force")}
    request = Request(inputs, output, options, learn=learn, **placed)
    _deliver(request, quiet=given["quiet"])


def _deliver(request: Request, *, quiet: bool) -> None:
    with stopped_once(), corpus_bar(quiet=quiet) as bar:
        try:
            totals, notes = run_corpus(request, bar)
        except Stopped as stop:
            print_lines(
                [f"stopped; {times(bar.totals.documents, 'document')} done; run the same command to go on"]
            )
            sys.exit(stop.code)
    if not quiet:
        print_lines(_lines(totals))
        print_lines(_warnings(request.output, totals.warnings))
        print_lines(notes)
    if totals.failed:
        print_lines(_failed(request.output, totals.failed))
        sys.exit(1)


def _lines(totals: Totals) -> Iterator[str]:
    over = f", {totals.taken_over:,} taken over from an earlier run" if totals.taken_over else ""
    yield f"{times(totals.documents, 'document')}{over}"
    alone = totals.singletons
    yield f"  {counted_entities(totals.chains - alone, totals.mentions - alone, alone)}"
    yield (
        f"  {totals.proven:,} proven optimal, {totals.gaps:,} with a gap, {totals.failed:,} failed, "
        f"{totals.left_out:,} left out"
    )
    kinds = f"omitted {totals.omitted:,} + used {totals.used:,} + invented {totals.invented:,}"
    gap = "" if totals.value == totals.bound else f", bound {totals.bound:,}"
    yield f"  cost {totals.value:,} ({kinds}){gap}; {times(totals.warnings, 'warning')}"


def _warnings(output: Path, count: int) -> Iterator[str]:
    for words in islice(warnings_in(output), WARNINGS) if count else ():
        yield f"warning: {words}"
    if count > WARNINGS:
        yield f"... and {count - WARNINGS:,} more, all in {output / 'summary.json'}"


def _failed(output: Path, count: int) -> Iterator[str]:
    for document, reason in islice(failures(output), SHOWN):
        yield f"failed: {document}: {reason}"
    if count > SHOWN:
        yield f"... and {count - SHOWN:,} more, all in {output / 'summary.csv'}"
