"""`caspr weigh`: how far each annotator can be trusted, learned from a corpus."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.coverage import read_coverages
from caspr.cli.delivery.inputs import read_given
from caspr.cli.delivery.messages import print_lines, refuse_warnings
from caspr.cli.delivery.outputs import Outputs, requested
from caspr.cli.terminal.options import FILES, format_options, reading
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.measures.reliability import learn_reliability
from caspr.measures.reliability.patterns import count_patterns
from caspr.report.comparison_tables import reliability_lines
from caspr.task.settings.weights_table import write_weights
from caspr.text.alignment import align
from caspr.text.document import Annotation
from caspr.text.variants import find_variants, unify


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
@format_options
@click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    inputs: tuple[Path, ...],
    output: Path | None,
    coverage: str | None,
    variants: bool,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Learn how far the links of each annotator can be trusted, and what they should weigh.

    Needs three annotators of the same documents. Nothing but the annotators' files is used: no gold standard.
    """
    files, read = read_given(inputs, reading(given))
    outputs = Outputs(requested("-o", output), tuple(path for path in read if path.is_file()))
    outputs.refuse()
    documents, findings = by_document(files)
    aligned = _aligned(documents, variants=variants)
    coverages, odd = read_coverages(coverage, aligned)
    counted = (
        count_patterns(annotations, seen) for annotations, seen in zip(aligned, coverages, strict=True)
    )
    learned = learn_reliability(counted)
    found = (*findings, *odd, *learned.findings)
    if not quiet:
        print_lines(found)
    if strict:
        refuse_warnings(found, printed=not quiet)
    if output is not None:
        outputs.write({"-o": {output: write_weights(learned.weights)}})
    if not quiet and output != STANDARD_OUTPUT:
        for line in reliability_lines(learned):
            click.echo(line)


def _aligned(documents: Iterable[tuple[Annotation, ...]], *, variants: bool) -> list[tuple[Annotation, ...]]:
    """Bring the annotations of each document onto one row of tokens, and boundaries onto each other."""
    aligned = [align(annotations) for annotations in documents]
    return [unify(one, find_variants(one)) for one in aligned] if variants else aligned
