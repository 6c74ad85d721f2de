"""`caspr encode`: the answer set program of some annotations, to run with any ASP system."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document, with_rules
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given
from caspr.cli.shared.outputs import print_findings
from caspr.engines.asp.program import program
from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.text.alignment import align


@options.subcommand("encode")
@click.argument("files", nargs=-1, required=True, type=options.FILES, metavar="FILE ...")
@click.option("--document", help="Which document, where the files have several.")
@options.settings_options
@options.format_options
@options.gold_option
def command(files: tuple[Path, ...], document: str | None, **values: Any) -> None:
    """Print facts and encoding for the annotations in FILES, for instance to pipe into clingo.

    In clingo, use --opt-strategy=usc,oll,disjoint,stratify: branch and bound is hopeless here.
    """
    read = read_given(files, options.reading(values))[0]
    documents, findings = by_document(read, allow_gold=values["allow_gold"])
    print_findings(findings)
    chosen = [
        group for group in documents if document in (None, group[0].document.name, group[0].document.title)
    ]
    if len(chosen) != 1:
        names = ", ".join(group[0].document.title for group in documents)
        raise InputError(f"--document: choose one of {names}")
    settings = options.changed(Settings(), values)
    instance, odd = with_rules(settings.instance(align(chosen[0]), Decisions()), settings)
    print_findings(odd)
    click.echo(program(instance, settings.encoding), nl=False)
