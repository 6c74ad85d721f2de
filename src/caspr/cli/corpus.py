"""`caspr corpus`: a folder of documents in, a folder of gold standards out."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import click

from caspr.cli.shared import options
from caspr.cli.shared.outputs import Output, OutputKind, Outputs, print_lines
from caspr.cli.shared.progress import Stopped, corpus_bar, stopped_once
from caspr.corpus.job import Options
from caspr.corpus.outputs import REPORT, SUMMARIES
from caspr.corpus.pipeline import Request, failures, run_corpus, warnings_in
from caspr.corpus.summary import Totals
from caspr.corpus.survey import WEIGHTS, Weighing
from caspr.formats.folders import LAYOUTS
from caspr.formats.format import Reading
from caspr.formats.registry import EXPORTED
from caspr.report.summary import counted_entities
from caspr.task.settings import Settings
from caspr.text.findings import times

EQUAL = "equal"
"""The word for votes that all count the same; a file that is called like a word is given as `./equal`."""
DECIDED = ("weight", "objective", "omit_cost", "use_cost", "invent_cost", "preset", "forced_votes")
"""What learned weights would overrule: who gives one of these gets no weights without asking for them."""
SHOWN = 20
"""How many failed documents are listed on the terminal."""
WARNINGS = 5
"""How many warnings about documents are printed."""


_WORDS = (Weighing.AUTO.value, Weighing.LEARN.value, EQUAL)


def _for_a_corpus(function: options.Function) -> options.Function:
    """Let the help of options say what is different for a corpus.

    No time is spent on prices unless asked for: results would depend on it. Weights can be learned.
    """
    weights = next(option for option in function.__click_params__ if option.name == "weights")  # type: ignore[attr-defined]
    weights.metavar = f"FILE|{'|'.join(_WORDS)}"
    return options.with_help(
        function,
        prices=(f"{options.PRICES_OF_REPORTS} for a report, else 0", "0"),
        weights=(
            "writes it. Default: none",
            f"writes it; or {Weighing.LEARN}, to learn it from the corpus; {Weighing.AUTO}, to do so if that "
            f"is better than equal votes; or {EQUAL}. Default: {Weighing.AUTO}, unless --weight or costs are "
            "given",
        ),
    )


@options.subcommand("corpus")
@click.argument("inputs", nargs=-1, required=True, type=options.FILES, metavar="FOLDER | A.conll B.conll ...")
@click.option(
    "-o", "--output", type=options.FILES, required=True, metavar="OUT", help="The folder to write to."
)
@click.option(
    "--by",
    type=options.choice(LAYOUTS),
    help="What FOLDER holds: a folder for each document, a folder for each annotator, or a file of many "
    "documents for each annotator. Default: recognised from the files.",
)
@click.option(
    "--files", default="*", metavar="PATTERN", help="Take only files with such names, for example '*.conll'."
)
@click.option(
    "--layout",
    type=options.choice(["gold", "review", "project"]),
    default="gold",
    help="Only the results; all annotators and the result side by side, to edit and redo; or the same as a "
    "project for `caspr review OUT`. Default: gold.",
)
@options.to_option("that of each document's first annotator", EXPORTED)
@options.format_options
@options.gold_option
@_for_a_corpus
@options.settings_options
@options.search_options
@click.option(
    "--kill-after",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Give up on a document after S seconds. Default: twice the time limit plus 30, else 3600.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="Number of worker processes. Default: one for each processor.",
)
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler instead.")
@options.flag("--force", help="Redo documents that are already done.")
@options.flag(
    "--certificate", help="Also write a proof for each document, for `caspr verify`, to OUT/certificates."
)
@options.flag(
    "--report", help="Also write an overview, OUT/report.html, and a report on each document, to OUT/reports."
)
@options.flag("--feedback", help="Also write a page for each annotator of each document, to OUT/feedback.")
@options.flag("--strict", help="Treat any warning or gap as a failure of the document.")
@options.quiet_option
def command(inputs: tuple[Path, ...], output: Path, kill_after: float | None, **values: Any) -> None:
    """Adjudicate every document of a corpus and write one file for each, and a summary, to a folder.

    Run the same command again to continue after a stop or a change: only what is missing or changed is done.
    """
    weighing = _weighing(values)
    from_file = values["weights"] not in (None, *_WORDS)
    learned = () if weighing is Weighing.GIVEN else (WEIGHTS,)
    files = tuple(output / name for name in (*SUMMARIES, REPORT, *learned))
    Outputs((Output("-o", output, OutputKind.FOLDER, files, parents=True),), inputs).refuse()
    settings = options.changed(Settings(), values if from_file else {**values, "weights": None})
    # Workers can be killed at any time, so that solvers need no processes of their own for Ctrl-C.
    settings = replace(
        settings, limits=replace(settings.limits, interruptible=False, certificate=values["certificate"])
    )
    names = ("target", "layout", "certificate", "report", "feedback", "strict")
    chosen = {name: values[name] for name in names}
    read = Reading(**options.reading(values))
    how = Options(settings, read, every=options.wants_all(values), kill_after=kill_after, **chosen)
    placed = {name: values[name] for name in ("by", "files", "processes", "cluster", "force")}
    request = Request(inputs, output, how, weighing=weighing, **placed)
    _deliver(request, quiet=values["quiet"])


def _weighing(values: dict[str, Any]) -> Weighing:
    """Return where weights come from: as asked for, else `auto` unless something says what votes cost."""
    word = values["weights"]
    if word is None and not any(values[name] for name in DECIDED):
        return Weighing.AUTO
    return Weighing(word) if word in (Weighing.LEARN, Weighing.AUTO) else Weighing.GIVEN


def _deliver(request: Request, *, quiet: bool) -> None:
    with stopped_once(), corpus_bar(quiet=quiet) as bar:
        try:
            totals, notes = run_corpus(request, bar)
        except Stopped as stop:
            print_lines(
                [f"stopped; {times(bar.documents, 'document')} done; run the same command to continue"]
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
    yield f"  {counted_entities(totals.chains, totals.mentions, totals.singletons)}"
    yield (
        f"  {totals.proven:,} proven optimal, {totals.gaps:,} with a gap, {totals.failed:,} failed, "
        f"{totals.left_out:,} left out"
    )
    kinds = f"omitted {totals.omitted:,} + used {totals.used:,} + invented {totals.invented:,}"
    kinds += f" + rules {totals.rules:,}" if totals.rules else ""
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
