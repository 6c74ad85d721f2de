"""`caspr redo`: re-optimise a review file around the cells enforced in it."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from caspr.cli.delivery.outputs import Files, OutputKind, Outputs, locked, requested
from caspr.cli.delivery.results import Reporting, deliver
from caspr.cli.delivery.solving import annotators_of, reviewed_tasks, solve
from caspr.cli.delivery.templates import fill
from caspr.cli.terminal.options import FILES, adjudication_options, as_in_the_file, wants_all
from caspr.errors import InputError
from caspr.files import decode, read_bytes
from caspr.formats import review_file
from caspr.formats.registry import FORMATS, losses, output_format, render
from caspr.formats.sources import read_files
from caspr.result import Result
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
@adjudication_options
def command(
    file: Path,
    gold: Path | None,
    target: str | None,
    template: Path | None,
    output: Path | None,
    **given: Any,
) -> None:
    """Re-optimise a review file around its enforced cells, those that begin with '='.

    Nothing but the file is needed: annotators, objective and options are in it, and any option given here
    changes them. The file is rewritten in place and its old version kept as FILE.1.bak, FILE.2.bak, ...
    """
    if file.is_dir():
        expected = (
            "a review file, as `caspr adjudicate --layout review` writes it; `caspr review` opens a folder"
        )
        raise InputError(f"{file}: found a folder, expected {expected}")
    with nullcontext() if output else locked(file):
        _redo(file, gold, target, template, output, given)


def _redo(
    file: Path,
    gold: Path | None,
    target: str | None,
    template: Path | None,
    output: Path | None,
    given: dict[str, Any],
) -> None:
    """Read, solve and write while nobody else can."""
    reporting = Reporting.of(given)
    known = read_bytes(file)
    reviews = review_file.parse(decode(known, str(file)), str(file))
    tasks = reviewed_tasks(file, reviews, given, reported=reporting.report is not None)
    inputs = read_files([file, *([template] if template else [])])
    outputs = Outputs(
        (
            *requested("-o" if output else "the review file", output or file),
            *requested("--gold", gold, OutputKind.EITHER),
            *reporting.outputs(annotators_of(tasks)),
        ),
        tuple(inputs),
        rewritten=None if output else file,
        known=known,
        review=output,
    )
    outputs.refuse()
    results = solve(tasks, outputs, reporting)
    contents, unproven = reporting.files(results)
    contents[outputs.outputs[0].option] = {output or file: _renewed(reviews, results)}
    lost: tuple[Finding, ...] = ()
    if gold is not None:
        golds = [
            one
            for result in results
            for one in (result.numbered_golds() if wants_all(given) else (result.gold,))
        ]
        contents["--gold"], lost = _gold_files(golds, gold, target, template)
    deliver(outputs, contents, results, (*lost, *unproven), reporting)


def _renewed(reviews: Sequence[review_file.Review], results: Sequence[Result]) -> str:
    """Render the review file anew: the same marks, the new result, the settings that led to it."""
    return review_file.write(
        replace(one, gold=result.gold, settings=review_file.review_of(result, result.gold).settings)
        for one, result in zip(reviews, results, strict=True)
    )


def _gold_files(
    golds: list[Annotation], path: Path, target: str | None, template: Path | None
) -> tuple[Files, tuple[Finding, ...]]:
    """Render the clean gold standard, and return what its format cannot carry."""
    written = golds if template is None else fill(golds, template, target)
    format = target or output_format(written, path)
    files = render(written, path, format=format)
    lost = losses(written, format)
    # Crossing mentions cannot be written to the review file either: `solve` has reported them.
    return files, tuple(finding for finding in lost if finding.code != "crossing-in-chain")
