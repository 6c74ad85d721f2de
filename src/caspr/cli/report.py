"""`caspr report`: what was decided, why, and how far the annotators agree."""

from pathlib import Path
from typing import Any

import click

from caspr.adjudicate import by_document
from caspr.cli.options import FILES, changed, search_options, settings_options
from caspr.cli.redo import stored_settings
from caspr.cli.reports import FORMATS, extra_texts, format_of, refuse_extra, report_text
from caspr.cli.run import STANDARD_OUTPUT, Reporting, Task, certificate_text, deliver, solve
from caspr.findings import Finding
from caspr.formats import read_all, review
from caspr.limits import Limits
from caspr.prices import with_prices
from caspr.settings import Settings


@click.command("report", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="review.conll | A.conll B.conll ...")
@click.option(
    "-o", "--output", type=FILES, default=STANDARD_OUTPUT, help="Where to write. Default: the terminal."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="The format of the report. Default: as the name of the output says, otherwise text.",
)
@click.option("--feedback", type=FILES, metavar="FOLDER", help="Also write a page for each annotator there.")
@click.option(
    "--prices", is_flag=True, help="Also say what each conflict would cost if decided otherwise; takes time."
)
@settings_options
@search_options
@click.option("--strict", is_flag=True, help="Write nothing and exit 2 on any warning or gap.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the report and errors.")
def command(
    files: tuple[Path, ...],
    output: Path,
    format_name: str | None,
    feedback: Path | None,
    prices: bool,
    certificate: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Explain every link on which annotators disagreed, from a review file or the annotators' files.

    The result is computed as `caspr redo` or `caspr adjudicate` would, but only the report is written.
    With --all, the report says which decisions are the same in all optimal solutions.
    """
    format = format_of(output, format_name, "text")
    tasks, findings = _tasks(files, given)
    names = dict.fromkeys(one.annotator for task in tasks for one in task.annotations)
    refuse_extra(None, feedback, names, files, [output, certificate])
    reporting = Reporting(None, strict, quiet)
    results = solve(tasks, reporting)
    if prices:
        limits = Limits(seconds=given["time_limit"], megabytes=given["memory_limit"])
        results = [with_prices(result, limits) for result in results]
    proofs, unproven = certificate_text(certificate, results, [task.settings for task in tasks])
    texts = {output: report_text(results, format), **proofs, **extra_texts(results, None, feedback)}
    deliver(texts, results, (*findings, *unproven), reporting, folder=feedback)


def _tasks(files: tuple[Path, ...], given: dict[str, Any]) -> tuple[list[Task], tuple[Finding, ...]]:
    """Take one file as a review file, several as those of annotators."""
    if len(files) == 1:
        reviews = review.read(files[0])
        return [
            Task(one.annotations, changed(stored_settings(files[0], one), given), one.decisions)
            for one in reviews
        ], ()
    documents, findings = by_document(read_all(files))
    return [Task(annotations, changed(Settings(), given)) for annotations in documents], findings
