"""`caspr encode`: the answer set program of some annotations, to run with any ASP system."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.inputs import read_given
from caspr.cli.delivery.messages import print_findings
from caspr.cli.terminal.options import FILES, changed, format_options, gold_option, reading, settings_options
from caspr.engines.asp.program import program
from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.text.alignment import align


@click.command("encode", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@click.option("--document", help="Which document, where the files have several.")
@settings_options
@format_options
@gold_option
def command(files: tuple[Path, ...], document: str | None, **given: Any) -> None:
    """Print facts and encoding for the annotations in FILES, for instance to pipe into clingo.

    In clingo, use --opt-strategy=usc,oll,disjoint,stratify: branch and bound is hopeless here.
    """
    documents, findings = by_document(read_given(files, reading(given))[0], allow_gold=given["allow_gold"])
    print_findings(findings)
    chosen = [one for one in documents if document in (None, one[0].document.name, one[0].document.title)]
    if len(chosen) != 1:
        names = ", ".join(one[0].document.title for one in documents)
        raise InputError(f"--document: found {len(chosen)} documents, expected to choose one of {names}")
    settings = changed(Settings(), given)
    click.echo(program(settings.instance(align(chosen[0]), Decisions()), settings.encoding), nl=False)
