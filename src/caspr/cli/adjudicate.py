"""`caspr adjudicate`: several annotators' files in, one gold standard out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.run import (
    Reporting,
    Task,
    certificate_text,
    check_outputs,
    deliver,
    extra_texts,
    refuse_extra,
    solve,
)
from caspr.cli.terminal.options import (
    FILES,
    certificate_option,
    changed,
    format_options,
    reading,
    reporting_options,
    search_options,
    settings_options,
    wants_all,
)
from caspr.errors import InputError
from caspr.files import refuse_overwriting
from caspr.formats import read_all, review_file
from caspr.formats.naming import read_files
from caspr.formats.registry import (
    FORMATS,
    STANDARD_OUTPUT,
    losses,
    made_below,
    output_format,
    rehearse,
    render,
    takes_a_folder,
)
from caspr.result import Result
from caspr.task.settings import Settings, write_settings
from caspr.text.document import Annotation


@click.command("adjudicate", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@click.option(
    "-o", "--output", type=FILES, default=STANDARD_OUTPUT, help="Where to write. Default: the terminal."
)
@click.option(
    "--layout",
    type=click.Choice(["gold", "review"]),
    default="gold",
    help="Only the result, or all annotators and the result side by side, to edit and redo. Default: gold.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(list(FORMATS)),
    help="The format to write. Default: what the output is called, else that of the first annotator's file.",
)
@format_options
@settings_options
@search_options
@certificate_option
@reporting_options
def command(
    files: tuple[Path, ...],
    output: Path,
    layout: str,
    target: str | None,
    certificate: Path | None,
    json_path: Path | None,
    report: Path | None,
    feedback: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Merge the annotations in FILES, usually one for each annotator, into one optimal gold standard.

    A FILE may also be a folder of an annotator's files, or one file that holds several annotators.
    """
    reporting = Reporting(json_path, strict, quiet)
    documents, findings = by_document(read_all(files, **reading(given)))
    settings = changed(Settings(), given, reported=report is not None)
    format = target or output_format(documents[0], output)
    written = "conll" if layout == "review" else format
    check_outputs((output, json_path, certificate), files, folder=output if takes_a_folder(written) else None)
    names = dict.fromkeys(one.annotator for annotations in documents for one in annotations)
    refuse_extra(report, feedback, names, files, [output, json_path])
    if layout == "gold":
        rehearse([annotations[0] for annotations in documents], output, format=format)
    tasks = [Task(annotations, settings) for annotations in documents]
    results = solve(tasks, reporting, losses=lambda gold: losses([gold], written))
    golds = _golds(results, every=wants_all(given))
    texts = {output: _review(golds, settings)} if layout == "review" else _files(golds, output, format, files)
    below = made_below(output, texts)
    proofs, unproven = certificate_text(certificate, results, [settings] * len(results))
    texts = {**texts, **proofs, **extra_texts(results, report, feedback)}
    deliver(texts, results, (*findings, *unproven), reporting, folder=feedback, below=below)


def _files(
    golds: list[tuple[Result, Annotation]], output: Path, format: str, inputs: Sequence[Path]
) -> dict[Path, str | bytes]:
    """Render the gold standards in a format, refusing to overwrite any file that was read."""
    texts = render([gold for _, gold in golds], output, format=format)
    known = read_files(inputs)
    for path in texts.keys() - {STANDARD_OUTPUT}:
        refuse_overwriting(path, known)
    return texts


def _golds(results: list[Result], *, every: bool) -> list[tuple[Result, Annotation]]:
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


def _review(golds: list[tuple[Result, Annotation]], settings: Settings) -> str:
    kept = write_settings(settings)
    return review_file.write(
        review_file.Review(gold, result.instance.annotations, result.instance.decisions, kept)
        for result, gold in golds
    )
