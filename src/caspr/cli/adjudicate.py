"""`caspr adjudicate`: several annotators' files in, one gold standard out."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given, refuse_forgotten_option, refuse_inside
from caspr.cli.shared.outputs import Content, Files, Output, OutputKind, Outputs, refuse_before
from caspr.cli.shared.solving import Reporting, Task, annotators_of, deliver, solve
from caspr.errors import InputError
from caspr.formats import review_file
from caspr.formats.foreign import refuse_foreign_name
from caspr.formats.registry import losses, output_format, rehearse, render, takes_a_folder
from caspr.formats.review_file.project import (
    NAME,
    ProjectFile,
    is_project,
    new_project,
    read_project,
)
from caspr.formats.sources import read_files
from caspr.result import Result
from caspr.task.settings import Settings
from caspr.task.solution import Status
from caspr.text.document import Annotation


@options.subcommand("adjudicate")
@click.argument("files", nargs=-1, required=True, type=options.FILES, metavar="FILE ...")
@options.output_option
@click.option(
    "--layout",
    type=options.choice(["gold", "review", "project"]),
    default="gold",
    help="Only the result; all annotators and the result side by side, to edit and redo; or the same as a "
    "project for `caspr review`, a folder with a file for each document. Default: gold.",
)
@options.to_option("as the name of the output says, else that of the first annotator's file")
@options.format_options
@options.gold_option
@options.adjudication_options
def command(files: tuple[Path, ...], output: Path, layout: str, target: str | None, **values: Any) -> None:
    """Merge the annotations in FILES, usually one for each annotator, into one optimal gold standard.

    A FILE may also be a folder of an annotator's files, or one file that holds several annotators. One folder
    alone holds the work of all annotators: a file or folder for each, or a folder for each document.
    """
    reporting = Reporting.of(values)
    refuse_forgotten_option(files, output)
    if layout == "gold" and target is None:
        refuse_foreign_name(output)
    read = read_given(files, options.reading(values))[0]
    documents, findings = by_document(read, allow_gold=values["allow_gold"])
    chosen = options.changed(Settings(), values, reported=reporting.report is not None)
    settings, odd = chosen.for_run(documents)
    tasks = [Task(annotations, settings) for annotations in documents]
    format = target or output_format(documents[0], output) if layout == "gold" else review_file.COLUMNS
    gold = Output("-o", output, _kind(layout, format), content=Content.RESULT)
    outputs = Outputs(
        (gold, *reporting.outputs(annotators_of(tasks))),
        tuple(read_files(files)),
        review={"review": output, "project": output / NAME}.get(layout),
    )
    outputs.refuse()
    # A review file is known as a result wherever it is.
    refuse_inside((file.path for file in outputs.outputs if file is not gold or layout == "gold"), files)
    if layout == "gold":
        rehearse([annotations[0] for annotations in documents], output, format=format)
    results = solve(tasks, outputs, reporting, losses=lambda gold: losses([gold], format))
    texts = _texts(results, output, layout, format, every=options.wants_all(values))
    more, unproven = reporting.files(results)
    deliver(outputs, {"-o": texts, **more}, results, (*findings, *odd, *unproven), reporting)


def _kind(layout: str, format: str) -> OutputKind:
    if layout == "project":
        return OutputKind.FOLDER
    return OutputKind.EITHER if takes_a_folder(format) else OutputKind.FILE


def _texts(results: Sequence[Result], output: Path, layout: str, format: str, *, every: bool) -> Files:
    """Render the results; a project holds one of each document."""
    golds = _golds(results, every=every and layout != "project")
    if layout == "gold":
        return render([gold for _, gold in golds], output, format=format)
    reviews = [review_file.review_of(*gold) for gold in golds]
    if layout == "review":
        return {output: review_file.write(reviews)}
    before = read_project(output) if is_project(output) else ProjectFile()
    costs = [(result.value, result.status is Status.OPTIMAL) for result in results]
    texts = new_project(reviews, costs, before.assigned)
    _refuse_leaving_out(output, before, texts)
    return {output / file: text for file, text in texts.items()}


def _refuse_leaving_out(project: Path, before: ProjectFile, files: Collection[str]) -> None:
    """Refuse to make a project again without a document about which something is decided in it."""
    for document in before.documents:
        if document.file not in files:
            refuse_before(project / document.file, Content.RESULT, decided=False)


def _golds(results: Sequence[Result], *, every: bool) -> list[tuple[Result, Annotation]]:
    """List what to write; with `--all`, every solution as a document of its own."""
    golds = [
        (result, gold)
        for result in results
        for gold in (result.numbered_golds() if every else (result.gold,))
    ]
    keys = [gold.document.key for _, gold in golds]
    if len(set(keys)) < len(keys):
        raise InputError("--all: a document is named like a solution of another, such as name.1: rename it")
    return golds
