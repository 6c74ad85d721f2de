"""`caspr weigh`: how far each annotator can be trusted, learned from a corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import click

from caspr.adjudication import adjudicate_document, by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given
from caspr.cli.shared.outputs import Files, Outputs, echo, print_findings, print_lines, requested
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.measures.reliability import (
    TooFewDisagreementsError,
    copy_findings,
    instance_patterns,
    learn_reliability,
    weights_for,
)
from caspr.measures.settings_comparison import closeness
from caspr.report.comparison_tables import advice_lines, closeness_lines, reliability_lines
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings, SettingValues, change
from caspr.task.weights import write_weights
from caspr.text.alignment import align
from caspr.text.document import Annotation
from caspr.text.findings import refuse_warnings

SECONDS = 10.0


@options.subcommand("weigh")
@click.argument("inputs", nargs=-1, required=True, type=options.FILES, metavar="FOLDER | A.conll B.conll ...")
@options.file_option(
    "-o", "--output", metavar="WEIGHTS.csv", help="Where to write the weights, for --weights."
)
@options.coverage_option
@options.flag("--variants", help="First unite mentions that differ only in their boundaries.")
@options.flag("--no-result", help="Do not adjudicate; leave agreement with the result out of the table.")
@options.limit_option(SECONDS, "to adjudicate each document")
@options.format_options
@options.gold_option
@options.flag("--strict", help="Write nothing and exit 2 on any warning.")
@options.quiet_option
def command(inputs: tuple[Path, ...], output: Path | None, quiet: bool, **values: Any) -> None:
    """Learn how far the links of each annotator can be trusted, and what they should weigh.

    It needs three annotators of the same documents, and no gold standard.
    """
    files, read = read_given(inputs, options.reading(values))
    outputs = Outputs(requested("-o", output), tuple(path for path in read if path.is_file()))
    outputs.refuse()
    documents, findings = by_document(files, allow_gold=values["allow_gold"])
    settings, odd = _settings(values).for_run(documents)
    patterns = [
        instance_patterns(settings.instance(align(annotations), Decisions())) for annotations in documents
    ]
    advice = weights_for(patterns)
    copies = tuple(copy_findings(advice.copies))
    try:
        learned = learn_reliability(patterns)
    except TooFewDisagreementsError as too_few:
        if output is not None or quiet or values["no_result"] or values["strict"]:
            raise
        print_findings((*findings, *odd, *copies))
        for line in closeness_lines(_agreement(documents, settings)):
            echo(line)
        print_lines([str(too_few)])
        return
    all_findings = (*findings, *odd, *learned.findings, *copies)
    if not quiet:
        print_findings(all_findings)
    if values["strict"]:
        refuse_warnings(all_findings, printed=not quiet)
    contents: dict[str, Files] = {}
    if output is not None:
        contents["-o"] = {output: write_weights(learned.weights)}
        outputs.write(contents)
    if not quiet and output != STANDARD_OUTPUT:
        agreement = (
            {} if values["no_result"] else _agreement(documents, replace(settings, weights=learned.weights))
        )
        for line in reliability_lines(learned, agreement):
            echo(line)
        print_lines(advice_lines(learned, advice))
        print_lines(outputs.written(contents))


def _settings(values: dict[str, Any]) -> Settings:
    names = ("coverage", "variants", "time_limit")
    return change(Settings(), cast(SettingValues, {name: values[name] for name in names}))


def _agreement(
    documents: Sequence[Sequence[Annotation]], settings: Settings
) -> Mapping[str, Fraction | None]:
    """Return how close each annotator is to what comes of these settings."""
    return closeness([adjudicate_document(annotations, settings=settings) for annotations in documents])
