"""`caspr adjudicate`: several annotators' files in, one gold standard out."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudicate import by_document
from caspr.cli.options import (
    FILES,
    changed,
    reporting_options,
    search_options,
    settings_options,
    wants_all,
)
from caspr.cli.reports import extra_texts, refuse_extra
from caspr.cli.run import STANDARD_OUTPUT, Reporting, Task, certificate_text, check_outputs, deliver, solve
from caspr.errors import InputError
from caspr.formats import conll, read_all, review
from caspr.result import Result
from caspr.settings import Settings, write_settings


@click.command("adjudicate", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="A.conll B.conll ...")
@click.option(
    "-o", "--output", type=FILES, default=STANDARD_OUTPUT, help="Where to write. Default: the terminal."
)
@click.option(
    "--layout",
    type=click.Choice(["gold", "review"]),
    default="gold",
    help="Only the result, or all annotators and the result side by side, to edit and redo. Default: gold.",
)
@settings_options
@search_options
@reporting_options
def command(
    files: tuple[Path, ...],
    output: Path,
    layout: str,
    certificate: Path | None,
    json_path: Path | None,
    report: Path | None,
    feedback: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Merge the annotations in FILES, one file per annotator, into one optimal gold standard."""
    check_outputs((output, json_path, certificate), files)
    reporting = Reporting(json_path, strict, quiet)
    documents, findings = by_document(read_all(files))
    names = dict.fromkeys(one.annotator for annotations in documents for one in annotations)
    refuse_extra(report, feedback, names, files, [output, json_path, certificate])
    settings = changed(Settings(), given)
    results = solve([Task(annotations, settings) for annotations in documents], reporting)
    text = _text(results, layout, every=wants_all(given), settings=settings)
    proofs, unproven = certificate_text(certificate, results, [settings] * len(results))
    texts = {output: text, **proofs, **extra_texts(results, report, feedback)}
    deliver(texts, results, (*findings, *unproven), reporting, folder=feedback)


def _text(results: list[Result], layout: str, *, every: bool, settings: Settings) -> str:
    """Render all documents in a layout; with `--all`, every solution as a document of its own."""
    golds = [
        (result, gold)
        for result in results
        for gold in (result.numbered_golds() if every else (result.gold,))
    ]
    keys = [gold.document.key for _, gold in golds]
    if len(set(keys)) < len(keys):
        raise InputError("--all: found a document named like a solution of another, expected distinct names")
    if layout == "gold":
        return conll.write(gold for _, gold in golds)
    kept = write_settings(settings)
    return review.write(
        review.Review(gold, result.instance.annotations, result.instance.decisions, kept)
        for result, gold in golds
    )
