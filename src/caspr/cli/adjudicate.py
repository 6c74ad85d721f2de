"""`caspr adjudicate`: several annotators' files in, one gold standard out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.inputs import read_given, refuse_forgotten_option, refuse_inside
from caspr.cli.delivery.outputs import Files, Output, OutputKind, Outputs
from caspr.cli.delivery.replacing import Content
from caspr.cli.delivery.results import Reporting, deliver
from caspr.cli.delivery.solving import Task, annotators_of, solve
from caspr.cli.terminal.options import (
    FILES,
    adjudication_options,
    changed,
    format_options,
    gold_option,
    reading,
    wants_all,
)
from caspr.errors import InputError
from caspr.formats import review_file
from caspr.formats.foreign import refuse_foreign_name
from caspr.formats.registry import (
    STANDARD_OUTPUT,
    WRITTEN,
    losses,
    output_format,
    rehearse,
    render,
    takes_a_folder,
)
from caspr.formats.sources import read_files
from caspr.result import Result
from caspr.task.settings import Settings
from caspr.text.document import Annotation


@click.command("adjudicate", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@click.option(
    "-o", "--output", type=FILES, default=STANDARD_OUTPUT, help="Where to write. Default: the terminal."
)
@click.option(
    "--layout",
    type=click.Choice(["gold", "review"], case_sensitive=False),
    default="gold",
    help="Only the result, or all annotators and the result side by side, to edit and redo. Default: gold.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(WRITTEN, case_sensitive=False),
    help="The format to write. Default: what the output is called, else that of the first annotator's file.",
)
@format_options
@gold_option
@adjudication_options
def command(files: tuple[Path, ...], output: Path, layout: str, target: str | None, **given: Any) -> None:
    """Merge the annotations in FILES, usually one for each annotator, into one optimal gold standard.

    A FILE may also be a folder of an annotator's files, or one file that holds several annotators. One folder
    alone holds the work of all annotators: a file or folder for each, or a folder for each document.
    """
    reporting = Reporting.of(given)
    refuse_forgotten_option(files, output)
    if layout == "gold" and target is None:
        refuse_foreign_name(output)
    documents, findings = by_document(read_given(files, reading(given))[0], allow_gold=given["allow_gold"])
    settings, odd = changed(Settings(), given, reported=reporting.report is not None).for_run(documents)
    tasks = [Task(annotations, settings) for annotations in documents]
    format = target or output_format(documents[0], output)
    written = review_file.COLUMNS if layout == "review" else format
    kind = OutputKind.EITHER if takes_a_folder(written) else OutputKind.FILE
    gold = Output("-o", output, kind, content=Content.RESULT)
    outputs = Outputs(
        (gold, *reporting.outputs(annotators_of(tasks))),
        tuple(read_files(files)),
        review=output if layout == "review" else None,
    )
    outputs.refuse()
    # A review file is known as a result wherever it is.
    refuse_inside((one.path for one in outputs.outputs if one is not gold or layout == "gold"), files)
    if layout == "gold":
        rehearse([annotations[0] for annotations in documents], output, format=format)
    results = solve(tasks, outputs, reporting, losses=lambda gold: losses([gold], written))
    golds = _golds(results, every=wants_all(given))
    texts = _review(golds, output) if layout == "review" else _rendered(golds, output, format)
    more, unproven = reporting.files(results)
    deliver(outputs, {"-o": texts, **more}, results, (*findings, *odd, *unproven), reporting)


def _golds(results: Sequence[Result], *, every: bool) -> list[tuple[Result, Annotation]]:
    """List what to write; with `--all`, every solution as a document of its own."""
    golds = [
        (result, gold)
        for result in results
        for gold in (result.numbered_golds() if every else (result.gold,))
    ]
    keys = [gold.document.key for _, gold in golds]
    if len(set(keys)) < len(keys):
        raise InputError("--all: found a document named like a solution of another, expected distinct names")
    return golds


def _rendered(golds: Sequence[tuple[Result, Annotation]], output: Path, format: str) -> Files:
    return render([gold for _, gold in golds], output, format=format)


def _review(golds: Sequence[tuple[Result, Annotation]], output: Path) -> Files:
    return {output: review_file.write(review_file.review_of(result, gold) for result, gold in golds)}
