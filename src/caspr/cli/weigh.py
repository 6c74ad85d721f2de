"""`caspr weigh`: how far each annotator can be trusted, learned from a corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import adjudicate_document, by_document
from caspr.cli.delivery.inputs import read_given
from caspr.cli.delivery.messages import print_findings, print_lines, refuse_warnings
from caspr.cli.delivery.outputs import Files, Outputs, requested
from caspr.cli.terminal.options import FILES, format_options, gold_option, reading
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.measures.reliability import Reliability, learn_reliability
from caspr.measures.reliability.patterns import instance_patterns
from caspr.measures.settings_comparison import closeness
from caspr.report.comparison_tables import reliability_lines
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.task.settings.values import SettingValues, change
from caspr.task.settings.weights_table import write_weights
from caspr.text.alignment import align
from caspr.text.document import Annotation

SECONDS = 10.0
"""The time limit for each document."""


@click.command("weigh", context_settings={"max_content_width": 110})
@click.argument("inputs", nargs=-1, required=True, type=FILES, metavar="FOLDER | A.conll B.conll ...")
@click.option(
    "-o", "--output", type=FILES, metavar="WEIGHTS.csv", help="Where to write the weights, for --weights."
)
@click.option(
    "--coverage",
    metavar="FILE|marks",
    help="Who saw what: a table (annotator, document, from token, to token), or from first to last mark.",
)
@click.option("--variants", is_flag=True, help="Unite mentions that differ only in their boundaries, first.")
@click.option(
    "--no-result",
    is_flag=True,
    help="Do not adjudicate, and leave the agreement with the result out of the table.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    default=SECONDS,
    metavar="S",
    help=f"Seconds to adjudicate each document. Default: {SECONDS:.0f}.",
)
@format_options
@gold_option
@click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def command(inputs: tuple[Path, ...], output: Path | None, quiet: bool, **given: Any) -> None:
    """Learn how far the links of each annotator can be trusted, and what they should weigh.

    Needs three annotators of the same documents. Nothing but the annotators' files is used: no gold standard.
    """
    files, read = read_given(inputs, reading(given))
    outputs = Outputs(requested("-o", output), tuple(path for path in read if path.is_file()))
    outputs.refuse()
    documents, findings = by_document(files, allow_gold=given["allow_gold"])
    settings, odd = _settings(given).for_run(documents)
    learned = learn_reliability(
        instance_patterns(settings.instance(align(annotations), Decisions())) for annotations in documents
    )
    found = (*findings, *odd, *learned.findings)
    if not quiet:
        print_findings(found)
    if given["strict"]:
        refuse_warnings(found, printed=not quiet)
    contents: dict[str, Files] = {}
    if output is not None:
        contents["-o"] = {output: write_weights(learned.weights)}
        outputs.write(contents)
    if not quiet and output != STANDARD_OUTPUT:
        agreement = {} if given["no_result"] else _agreement(documents, settings, learned)
        for line in reliability_lines(learned, agreement):
            click.echo(line)
        print_lines(outputs.written(contents))


def _settings(given: dict[str, Any]) -> Settings:
    values: SettingValues = {
        "coverage": given["coverage"],
        "variants": given["variants"],
        "time_limit": given["time_limit"],
    }
    return change(Settings(), values)


def _agreement(
    documents: Sequence[Sequence[Annotation]], settings: Settings, learned: Reliability
) -> Mapping[str, Fraction | None]:
    """Return how close each annotator is to what comes of these weights."""
    weighted = replace(settings, weights=learned.weights)
    return closeness([adjudicate_document(annotations, settings=weighted) for annotations in documents])
