"""`caspr encode`: the answer set program of some annotations, or of a review file, to run or to read."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudication import with_rules
from caspr.cli.shared import options
from caspr.cli.shared.outputs import print_findings
from caspr.cli.shared.solving import only_task
from caspr.engines.asp.program import FIGURES, facts_text, figures, program, rules_text
from caspr.errors import InputError
from caspr.task.settings import Settings
from caspr.text.alignment import align


@options.subcommand("encode")
@click.argument("files", nargs=-1, type=options.FILES, metavar="FILE ... | review.conll")
@click.option("--document", metavar="NAME", help="Which document, where the files have several.")
@options.flag("--facts", help="Print only the facts.")
@options.flag("--rules-only", help="Print only the encoding, without facts; it needs no files.")
@options.annotators_option
@options.settings_options
@options.format_options
@options.gold_option
def command(
    files: tuple[Path, ...], document: str | None, facts: bool, rules_only: bool, **values: Any
) -> None:
    """Print facts and encoding for the annotations in FILES, or for a review file and what it enforces.

    The program is in gringo's language. In clingo, use --opt-strategy=usc,oll,disjoint,stratify: branch and
    bound is hopeless here. `caspr decode` makes a gold standard of the answer.
    """
    if facts and rules_only:
        raise InputError("--facts and --rules-only: give one of them; without both, everything is printed")
    if not files:
        if not rules_only:
            raise click.UsageError("Missing argument 'FILE ...'.")
        click.echo(rules_text(FIGURES[options.changed(Settings(), values).encoding]), nl=False)
        return
    task, findings = only_task(files, values, document)
    print_findings(findings)
    instance = task.settings.instance(align(task.annotations), task.decisions)
    instance, about_rules = with_rules(instance, task.settings)
    print_findings(about_rules)
    encoding = task.settings.encoding
    if facts:
        text = facts_text(instance, named=True)
    elif rules_only:
        text = rules_text(figures(instance, encoding), own=instance.rules.program)
    else:
        text = program(instance, encoding, named=True)
    click.echo(text, nl=False)
