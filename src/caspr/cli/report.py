"""`caspr report`: what was decided, why, and how far the annotators agree."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import is_one_folder, read_given, refuse_inside
from caspr.cli.shared.outputs import Output, Outputs
from caspr.cli.shared.reports import (
    REPORT_FORMATS,
    format_of,
    format_of_methods,
    methods_paragraph,
    report_text,
)
from caspr.cli.shared.solving import (
    Reporting,
    Task,
    annotators_of,
    answers_of,
    deliver,
    open_review,
    read_reviews,
    solve,
    tasks_of,
)
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.review_file.project import is_project
from caspr.formats.sources import read_files
from caspr.task.settings import Settings
from caspr.text.findings import Finding


@options.subcommand("report")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=options.FILES,
    metavar="review.conll | PROJECT | A.conll B.conll ...",
)
@options.output_option
@click.option(
    "--format",
    "format_name",
    type=options.choice(list(REPORT_FORMATS)),
    help="The format of the report. Default: as the ending of the output says; text without one.",
)
@options.flag("--methods", help="Write a paragraph for the methods section of a paper instead of a report.")
@options.feedback_option
@options.gold_option
@options.settings_options
@options.search_options
@options.strict_option
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print nothing but the report and errors; with --feedback, the report only if -o or --format asks.",
)
def command(
    files: tuple[Path, ...], output: Path, format_name: str | None, methods: bool, **values: Any
) -> None:
    """Explain every link on which annotators disagreed, from a review file, a project or annotators' files.

    The result is computed as `caspr redo` or `caspr adjudicate` would, but only the report is written.
    With --all, the report says which decisions are the same in all optimal solutions.
    """
    reporting = Reporting.of(values)
    tasks, findings = _tasks(files, values)
    asked = not (reporting.quiet and reporting.feedback) or methods or format_name is not None
    asked = asked or output != STANDARD_OUTPUT
    report = (Output("-o", output),) if asked else ()
    outputs = Outputs((*report, *reporting.outputs(annotators_of(tasks))), tuple(read_files(files)))
    outputs.refuse()
    refuse_inside((target.path for target in outputs.outputs), files)
    format = format_of_methods(output, format_name) if methods else format_of(output, format_name, "text")
    results = solve(tasks, outputs, reporting)
    pages, _ = reporting.files(results)
    answers = answers_of(tasks)
    if methods:
        pages["-o"] = {output: methods_paragraph(results, sum(answers.values()), format)}
    elif asked:
        project = files[0].resolve().name if len(files) == 1 and is_project(files[0]) else ""
        pages["-o"] = {output: report_text(results, format, answers, project)}
    deliver(outputs, pages, results, findings, reporting)


def _tasks(files: tuple[Path, ...], values: dict[str, Any]) -> tuple[list[Task], tuple[Finding, ...]]:
    """Take one file as a review file, several or a folder as those of annotators, unless it is a project."""
    if len(files) == 1 and is_project(files[0]):
        return tasks_of(read_reviews(files[0]), values, reported=True), ()
    if len(files) == 1 and not is_one_folder(files):
        return tasks_of([open_review(files[0])], values, reported=True), ()
    documents, findings = by_document(read_given(files, {})[0], allow_gold=values["allow_gold"])
    settings, odd = options.changed(Settings(), values, reported=True).for_run(documents)
    return [Task(annotations, settings) for annotations in documents], (*findings, *odd)
