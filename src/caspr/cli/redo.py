"""`caspr redo`: re-optimise a review file around the cells enforced in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

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
from caspr.cli.delivery.templates import fill
from caspr.cli.terminal.options import (
    FILES,
    as_in_the_file,
    certificate_option,
    changed,
    reporting_options,
    search_options,
    settings_options,
    wants_all,
)
from caspr.engines import choose
from caspr.errors import InputError
from caspr.files import refuse_overwriting
from caspr.formats import review_file
from caspr.formats.registry import FORMATS, STANDARD_OUTPUT, losses, made_below, output_format, render
from caspr.formats.sources import read_files
from caspr.result import Result
from caspr.task.settings import Settings, read_settings, write_settings
from caspr.text.document import Annotation
from caspr.text.findings import Finding


@click.command("redo", context_settings={"max_content_width": 110})
@click.argument("file", type=FILES, metavar="review.conll")
@click.option("--gold", type=FILES, help="Also write the clean gold standard there.")
@click.option(
    "--to",
    "target",
    type=click.Choice(list(FORMATS)),
    help="The format of --gold. Default: what it is called.",
)
@click.option(
    "--template",
    type=FILES,
    metavar="FILE",
    help="Put the chains of --gold into this annotator's file, and keep all else that is in it.",
)
@click.option("-o", "--output", type=FILES, help="Write the new review file there instead of in place.")
@as_in_the_file
@settings_options
@search_options
@certificate_option
@reporting_options
def command(
    file: Path,
    gold: Path | None,
    target: str | None,
    template: Path | None,
    output: Path | None,
    certificate: Path | None,
    json_path: Path | None,
    report: Path | None,
    feedback: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Re-optimise a review file around its enforced cells, those that begin with '='.

    Nothing but the file is needed: annotators, objective and options are in it, and any option given here
    changes them. The file is rewritten in place and its old version kept as FILE.1.bak, FILE.2.bak, ...
    """
    inputs = [file, *([template] if template else [])]
    check_outputs((output, gold, json_path, certificate), inputs, folder=gold)
    reporting = Reporting(json_path, strict, quiet)
    reviews = review_file.read(file)
    settings = [changed(stored_settings(file, one), given, reported=report is not None) for one in reviews]
    names = dict.fromkeys(annotation.annotator for one in reviews for annotation in one.annotations)
    refuse_extra(report, feedback, names, [file], [output, gold, json_path, certificate])
    tasks = [
        Task(one.annotations, chosen, one.decisions) for one, chosen in zip(reviews, settings, strict=True)
    ]
    results = solve(tasks, reporting)
    proofs, unproven = certificate_text(certificate, results, settings)
    texts = {
        output or file: _renewed(reviews, results, settings),
        **proofs,
        **extra_texts(results, report, feedback),
    }
    golds = [
        one for result in results for one in (result.numbered_golds() if wants_all(given) else (result.gold,))
    ]
    files, lost = ({}, ()) if gold is None else _gold_files(golds, gold, target, template)
    below = made_below(gold, files) if gold is not None else None
    rewritten = None if output else file
    whole, findings = {**texts, **files}, (*lost, *unproven)
    deliver(whole, results, findings, reporting, rewritten=rewritten, folder=feedback, below=below)


def _renewed(
    reviews: Sequence[review_file.Review], results: Sequence[Result], settings: Sequence[Settings]
) -> str:
    """Render the review file anew: the same marks, the new result, the settings that led to it."""
    return review_file.write(
        replace(one, gold=result.gold, settings=write_settings(chosen))
        for one, result, chosen in zip(reviews, results, settings, strict=True)
    )


def _gold_files(
    golds: list[Annotation], path: Path, target: str | None, template: Path | None
) -> tuple[dict[Path, str | bytes], tuple[Finding, ...]]:
    """Render the clean gold standard, and say what its format cannot carry."""
    written = golds if template is None else fill(golds, template, target)
    format = target or output_format(written, path)
    files = render(written, path, format=format)
    for file in files.keys() - {STANDARD_OUTPUT}:
        refuse_overwriting(file, read_files([template] if template else []))
    lost = losses(written, format)
    # What the review file could not say either has been said.
    return files, tuple(finding for finding in lost if finding.code != "crossing-in-chain")


def stored_settings(file: Path, one: review_file.Review) -> Settings:
    """Read the settings a review file keeps for one of its documents."""
    try:
        settings = read_settings(one.settings)
        choose(settings.engine, settings.encoding)
        return settings
    except InputError as error:
        raise InputError(f"{file}: document '{one.gold.document.title}': {error}") from error
