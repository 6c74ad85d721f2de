"""`caspr redo`: re-optimise a review file around the cells enforced in it."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from caspr.cli.delivery.messages import print_lines
from caspr.cli.delivery.outputs import Files, Output, OutputKind, Outputs, locked, requested
from caspr.cli.delivery.projects import (
    is_project,
    read_reviews,
    rendered_golds,
    renew,
    results_of,
    rewrite,
    rewritten,
    tasks_of,
)
from caspr.cli.delivery.replacing import Content
from caspr.cli.delivery.results import Reporting, deliver
from caspr.cli.delivery.solving import annotators_of, reviewed_tasks, solve
from caspr.cli.delivery.templates import fill
from caspr.cli.terminal.options import FILES, adjudication_options, as_in_the_file, wants_all
from caspr.errors import InputError
from caspr.files import decode, read_bytes
from caspr.formats import review_file
from caspr.formats.foreign import refuse_foreign_name
from caspr.formats.registry import WRITTEN, losses, output_format, render
from caspr.formats.sources import read_files
from caspr.result import Result
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times


@click.command("redo", context_settings={"max_content_width": 110})
@click.argument("file", type=FILES, metavar="review.conll | PROJECT")
@click.option(
    "--gold",
    type=FILES,
    help="Also write the clean gold standard there; of a project, into a file or a folder with one for each.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(WRITTEN, case_sensitive=False),
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
    """Re-optimise a review file, or all of a project, around enforced cells, those that begin with '='.

    Nothing but the file is needed: annotators, objective and options are in it, and any option given here
    changes them. The file is rewritten in place and its old version kept as FILE.1.bak, FILE.2.bak, ...; of
    a project, only files whose result changes are.
    """
    if gold is not None and target is None:
        refuse_foreign_name(gold)
    if is_project(file):
        if output is not None:
            raise InputError(
                "-o: found it with a project, expected a review file: a project is redone in place"
            )
        _redo_project(file, gold, target, template, given)
        return
    if file.is_dir():
        expected = (
            "a review file, as `caspr adjudicate --layout review` writes it, or a project, as "
            "`caspr corpus --layout project` makes it"
        )
        raise InputError(f"{file}: found a folder without caspr-project.json, expected {expected}")
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
            Output(
                "-o" if output else "the review file", output or file, content=Content.RESULT, decided=True
            ),
            *requested("--gold", gold, OutputKind.EITHER, Content.RESULT),
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
    renewed = renew(reviews, results)
    same = output is None and renewed.encode("utf-8") == known
    if not same:
        contents[outputs.outputs[0].option] = {output or file: renewed}
    lost: tuple[Finding, ...] = ()
    if gold is not None:
        contents["--gold"], lost = _gold_files(_golds(results, given), gold, target, template)
    deliver(outputs, contents, results, (*lost, *unproven), reporting)
    if same and not reporting.quiet:
        print_lines([f"{file} is as before, and was not rewritten"])


def _redo_project(
    folder: Path, gold: Path | None, target: str | None, template: Path | None, given: dict[str, Any]
) -> None:
    """Solve all documents of a project; write what is asked for, and the review files that change."""
    reporting = Reporting.of(given)
    found = read_reviews(folder)
    tasks = tasks_of(found, given, reported=reporting.report is not None)
    outputs = Outputs(
        (
            *requested("--gold", gold, OutputKind.EITHER, Content.RESULT),
            *reporting.outputs(annotators_of(tasks)),
        ),
        tuple(read_files([folder, *([template] if template else [])])),
    )
    outputs.refuse()
    results = solve(tasks, outputs, reporting)
    contents, unproven = reporting.files(results)
    documents = results_of(found, results)
    lost: tuple[Finding, ...] = ()
    if gold is not None:
        golds = {one.name: _golds(some, given) for one, some in documents}
        written = [one for some in golds.values() for one in some]
        if template is not None:
            written = fill(written, template, target)
        left = iter(written)
        named = [(name, [next(left) for _ in some]) for name, some in golds.items()]
        contents["--gold"] = rendered_golds(named, gold, target)
        lost = _lost(written, target or output_format(written, gold))
    changed = rewritten(documents)
    deliver(outputs, contents, results, (*lost, *unproven), reporting)
    kept = rewrite(changed, outputs)
    if not reporting.quiet:
        backups = f"; old versions are kept beside them, the first as {kept[0]}" if kept else ""
        same = len(found) - len(kept)
        print_lines([f"{times(len(kept), 'review file')} rewritten, {same:,} as before{backups}"])


def _golds(results: Sequence[Result], given: dict[str, Any]) -> list[Annotation]:
    """Return the golds that are written: of each result one, or with --all every one."""
    return [
        one for result in results for one in (result.numbered_golds() if wants_all(given) else (result.gold,))
    ]


def _gold_files(
    golds: list[Annotation], path: Path, target: str | None, template: Path | None
) -> tuple[Files, tuple[Finding, ...]]:
    """Render the clean gold standard, and return what its format cannot carry."""
    written = golds if template is None else fill(golds, template, target)
    format = target or output_format(written, path)
    return render(written, path, format=format), _lost(written, format)


def _lost(golds: list[Annotation], format: str) -> tuple[Finding, ...]:
    """Return what a format cannot carry of golds.

    Crossing mentions cannot be written to the review file either: `solve` has reported them.
    """
    return tuple(one for one in losses(golds, format) if one.code != "crossing-in-chain")
