"""`caspr check`: what is wrong or odd about annotators' files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document, prepare
from caspr.cli.delivery.messages import refuse_warnings, warnings_of
from caspr.cli.terminal.options import FILES, format_options, gold_option, reading
from caspr.formats import read_all
from caspr.task.checks import check_task
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times


@click.command("check", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@click.option("--strict", is_flag=True, help="Exit 2 on any warning.")
@format_options
@gold_option
def command(files: tuple[Path, ...], strict: bool, **given: Any) -> None:
    """Read FILES, one per annotator, and say what is wrong or odd about them. Nothing is written."""
    documents, findings = by_document(read_all(files, **reading(given)), allow_gold=given["allow_gold"])
    found = list(findings)
    for annotations in documents:
        annotations, odd = prepare(annotations)
        odd = (*odd, *check_task(Settings().instance(annotations, Decisions())))
        found.extend(odd)
        for line in _lines(annotations, odd):
            click.echo(line)
    for finding in findings:
        click.echo(str(finding))
    click.echo(f"{times(len(documents), 'document')}, {times(len(warnings_of(found)), 'warning')}")
    if strict:
        refuse_warnings(found, printed=True)


def _lines(annotations: Sequence[Annotation], findings: Sequence[Finding]) -> Iterator[str]:
    document = annotations[0].document
    yield f"{document.title}: {times(len(document.tokens), 'token')}"
    width = max(len(annotation.annotator) for annotation in annotations)
    for annotation in annotations:
        mentions = sum(len(chain.mentions) for chain in annotation.chains)
        yield (
            f"  {annotation.annotator:<{width}}  {times(len(annotation.chains), 'chain')} of "
            f"{times(mentions, 'mention')}, {times(len(annotation.singletons), 'chain')} of one"
        )
    for finding in findings:
        yield f"  {finding}"
