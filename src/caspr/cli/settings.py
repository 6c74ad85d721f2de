"""`caspr settings`: what different settings make of the same files."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import adjudicate_document, by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given, refuse_inside
from caspr.cli.shared.outputs import Outputs, echo, json_text, print_findings, print_lines, requested
from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.measures.settings_comparison import compare_settings
from caspr.report.comparison_tables import settings_lines, settings_values
from caspr.result import Result
from caspr.task.settings import Settings
from caspr.text.document import Annotation

DEFAULTS = "(defaults)"
"""How settings without any option are shown."""
TRIED = (
    "",
    "--preset paper",
    "--nested never",
    "--variants",
    "--objective v",
    "--objective u",
    "--objective ua",
    *(f"--invent-cost {cost}" for cost in (2, 4, 8)),
)
"""What is tried unless the user says what."""
SECONDS = 10.0


@options.subcommand("settings")
@click.argument("inputs", nargs=-1, required=True, type=options.FILES, metavar="FOLDER | A.conll B.conll ...")
@click.option(
    "--try",
    "tried",
    multiple=True,
    metavar='"OPTIONS"',
    help="Options of `caspr adjudicate` to try, in quotes; may be repeated. Default: a selection.",
)
@options.file_option(
    "--gold", metavar="GOLD", help="A gold standard to score them against, a file or a folder."
)
@options.limit_option(SECONDS, "per document and settings")
@options.format_options
@options.gold_option
@options.json_option
def command(
    inputs: tuple[Path, ...],
    tried: tuple[str, ...],
    gold: Path | None,
    time_limit: float,
    json_path: Path | None,
    **values: Any,
) -> None:
    """Show what different settings make of the same files. No gold standard is written."""
    wanted = tried or TRIED
    if gold is not None and not any(not words.strip() for words in wanted):
        wanted = ("", *wanted)
    ordered = sorted(wanted, key=lambda words: gold is not None and bool(words.strip()))
    settings = {words.strip() or DEFAULTS: _settings(words, time_limit) for words in ordered}
    files, read = read_given(inputs, options.reading(values))
    outputs = Outputs(requested("--json", json_path), tuple(path for path in read if path.is_file()))
    outputs.refuse()
    refuse_inside((target.path for target in outputs.outputs), inputs)
    documents, findings = by_document(files, allow_gold=values["allow_gold"])
    print_findings(findings)
    key = [] if gold is None else _read_key(gold, values)
    results = {name: _results(documents, chosen) for name, chosen in settings.items()}
    comparison = compare_settings(results, key)
    if json_path is not None:
        outputs.write({"--json": {json_path: json_text(settings_values(comparison))}})
    if json_path != STANDARD_OUTPUT:
        for line in settings_lines(comparison):
            echo(line)
        print_lines(outputs.written({} if json_path is None else {"--json": {json_path: ""}}))


@click.command("adjudicate", add_help_option=False)
@options.settings_options
def _options(**values: Any) -> None:
    """Hold the options that may be tried."""


def _settings(words: str, seconds: float) -> Settings:
    """Read options as `caspr adjudicate` does."""
    try:
        context = _options.make_context("--try", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        reason = error.format_message() if isinstance(error, click.UsageError) else str(error)
        raise InputError(f"--try '{words}': these are not options of adjudicate: {reason}") from None
    return options.changed(Settings(), {**context.params, "time_limit": seconds})


def _results(documents: Sequence[Sequence[Annotation]], settings: Settings) -> list[Result]:
    """Adjudicate all documents as one run."""
    chosen, _ = settings.for_run(documents)
    return [adjudicate_document(annotations, settings=chosen) for annotations in documents]


def _read_key(path: Path, values: dict[str, Any]) -> list[Annotation]:
    """Read a gold standard from a file, or from a folder with a file for each document."""
    files = [path]
    if path.is_dir():
        inside = sorted(path.iterdir())
        files = [file for file in inside if file.is_file() and not file.name.startswith(".")]
    return [annotation for file in read_all(files, **options.reading(values)) for annotation in file]
