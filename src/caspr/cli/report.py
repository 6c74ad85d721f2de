"""`caspr report`: what was decided, why, and how far the annotators agree."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.delivery.inputs import is_one_folder, read_given, refuse_inside
from caspr.cli.delivery.outputs import Output, Outputs
from caspr.cli.delivery.projects import is_project, read_reviews, tasks_of
from caspr.cli.delivery.reports import (
    REPORT_FORMATS,
    format_of,
    format_of_methods,
    methods_paragraph,
    report_text,
)
from caspr.cli.delivery.results import Reporting, deliver
from caspr.cli.delivery.solving import Task, annotators_of, reviewed_tasks, solve
from caspr.cli.terminal.options import FILES, changed, gold_option, search_options, settings_options
from caspr.formats import review_file
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.sources import read_files
from caspr.task.settings import Settings
from caspr.text.findings import Finding


@click.command("report", context_settings={"max_content_width": 110})
@click.argument(
    "files", nargs=-1, required=True, type=FILES, metavar="review.conll | PROJECT | A.conll B.conll ..."
)
@click.option(
    "-o", "--output", type=FILES, default=STANDARD_OUTPUT, help="Where to write. Default: the terminal."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(REPORT_FORMATS), case_sensitive=False),
    help="The format of the report. Default: as the ending of the output says; text without one.",
)
@click.option(
    "--methods",
    is_flag=True,
    help="Write a paragraph for the methods section of a paper instead of a report.",
)
@click.option("--feedback", type=FILES, metavar="FOLDER", help="Also write a page for each annotator there.")
@gold_option
@settings_options
@search_options
@click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning or gap.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print nothing but the report and errors; with --feedback, the report only if -o or --format asks.",
)
def command(
    files: tuple[Path, ...],
    output: Path,
    format_name: str | None,
    methods: bool,
    **given: Any,
) -> None:
    """Explain every link on which annotators disagreed, from a review file, a project or annotators' files.

    The result is computed as `caspr redo` or `caspr adjudicate` would, but only the report is written.
    With --all, the report says which decisions are the same in all optimal solutions.
    """
    reporting = Reporting.of(given)
    tasks, findings = _tasks(files, given)
    asked = not (reporting.quiet and reporting.feedback) or methods or format_name is not None
    asked = asked or output != STANDARD_OUTPUT
    report = (Output("-o", output),) if asked else ()
    outputs = Outputs((*report, *reporting.outputs(annotators_of(tasks))), tuple(read_files(files)))
    outputs.refuse()
    if not is_project(files[0]):
        refuse_inside((one.path for one in outputs.outputs), files)
    format = format_of_methods(output, format_name) if methods else format_of(output, format_name, "text")
    results = solve(tasks, outputs, reporting)
    pages, _ = reporting.files(results)
    if methods:
        pages["-o"] = {output: methods_paragraph(results, sum(task.acts for task in tasks), format)}
    elif asked:
        pages["-o"] = {output: report_text(results, format)}
    deliver(outputs, pages, results, findings, reporting)


def _tasks(files: tuple[Path, ...], given: dict[str, Any]) -> tuple[list[Task], tuple[Finding, ...]]:
    """Take one file as a review file, several or a folder as those of annotators, unless it is a project."""
    if len(files) == 1 and is_project(files[0]):
        return tasks_of(read_reviews(files[0]), given, reported=True), ()
    if len(files) == 1 and not is_one_folder(files):
        return reviewed_tasks(files[0], review_file.read(files[0]), given, reported=True), ()
    documents, findings = by_document(read_given(files, {})[0], allow_gold=given["allow_gold"])
    settings, odd = changed(Settings(), given, reported=True).for_run(documents)
    return [Task(annotations, settings) for annotations in documents], (*findings, *odd)
