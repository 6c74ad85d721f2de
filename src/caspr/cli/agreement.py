"""`caspr agreement`: how far annotators agree."""

import json
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.messages import print_lines, refuse_warnings
from caspr.cli.delivery.outputs import Outputs, requested
from caspr.cli.terminal.options import FILES, JsonCommand, json_option
from caspr.formats import read_all
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.sources import read_files
from caspr.measures.agreement import Conventions, Unmarked
from caspr.measures.comparison import Comparison, compare, compare_each
from caspr.report.comparison_tables import KINDS, comparison_lines, comparison_values
from caspr.text.alignment import align


@click.command("agreement", cls=JsonCommand, context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="A.conll B.conll ...")
@click.option(
    "--own-set",
    type=click.Choice(["with", "without"]),
    default="with",
    help="Whether a mention is in its own coreference set. Default: with.",
)
@click.option(
    "--unmarked",
    type=click.Choice([choice.value for choice in Unmarked]),
    default=Unmarked.SINGLETON.value,
    help="What a mention is for an annotator who did not mark it: a chain of one, no value, or the empty "
    "set. Default: singleton.",
)
@click.option("--no-singletons", is_flag=True, help="Leave chains of one mention out of the scores.")
@click.option(
    "--matrix",
    "matrices",
    multiple=True,
    type=click.Choice([*KINDS, "all"]),
    help="Which numbers to show for each pair of annotators; may be repeated. Default: conll.",
)
@click.option("--per-document", is_flag=True, help="Also show the numbers of each document.")
@click.option("--strict", is_flag=True, help="Exit 2 on any warning, such as a document an annotator lacks.")
@json_option
def command(
    files: tuple[Path, ...],
    own_set: str,
    unmarked: str,
    no_singletons: bool,
    matrices: tuple[str, ...],
    per_document: bool,
    strict: bool,
    json_path: Path | None,
) -> None:
    """Say how far the annotators of FILES agree, one file per annotator."""
    outputs = Outputs(requested("--json", json_path), tuple(read_files(files)))
    outputs.refuse()
    documents, findings = by_document(read_all(files), allow_gold=True, allow_empty=True)
    documents = [align(annotations) for annotations in documents]
    print_lines(findings)
    if strict:
        refuse_warnings(findings, printed=True)
    conventions = Conventions(own_set == "with", Unmarked(unmarked))
    options: dict[str, Any] = {"conventions": conventions, "singletons": not no_singletons}
    pooled, each = compare(documents, **options), []
    if len(documents) > 1 and (per_document or json_path is not None):
        each = compare_each(documents, **options)
    if json_path is not None:
        values = _values(pooled, each, own_set, unmarked)
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        outputs.write({"--json": {json_path: text}})
    if json_path != STANDARD_OUTPUT:
        shown = list(KINDS) if "all" in matrices else matrices or ("conll",)
        for comparison in (*(each if per_document else ()), pooled):
            for line in comparison_lines(comparison, shown):
                click.echo(line)


def _values(pooled: Comparison, each: list[Comparison], own_set: str, unmarked: str) -> dict[str, Any]:
    return {
        "conventions": {"own_set": own_set, "unmarked": unmarked},
        **comparison_values(pooled),
        "documents": [comparison_values(comparison) for comparison in each or [pooled]],
    }
