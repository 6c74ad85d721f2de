"""What `adjudicate` and `redo` share: solve documents one by one, then deliver everything or nothing."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from caspr.adjudicate import adjudicate_document
from caspr.certificates import certify_results
from caspr.cli.progress import progress_line
from caspr.decisions import Decisions
from caspr.document import Annotation
from caspr.errors import ContradictionError, InputError, OutputError
from caspr.files import back_up, is_same_target, refuse_overwriting, refuse_unwritable, write_all
from caspr.findings import Finding, Severity, times
from caspr.formats.conll import crossing_findings
from caspr.report.summary import infeasible_summary, summary
from caspr.report.text import summary_lines
from caspr.result import Result
from caspr.settings import Settings, at_once
from caspr.solution import Stop

STANDARD_OUTPUT = Path("-")
"""The file name that stands for standard output."""


@dataclass(frozen=True)
class Task:
    """One document to adjudicate."""

    annotations: tuple[Annotation, ...]
    settings: Settings
    decisions: Decisions = field(default_factory=Decisions)


@dataclass(frozen=True)
class Reporting:
    """What to tell, and how strict to be."""

    json_path: Path | None
    strict: bool
    quiet: bool


def check_outputs(outputs: Iterable[Path | None], inputs: Sequence[Path]) -> None:
    """Refuse, before any work is done, outputs that cannot be written or would overwrite something."""
    seen: list[Path] = []
    for output in outputs:
        if output is None:
            continue
        if any(output == other or is_same_target(output, other) for other in seen):
            raise InputError(f"{output}: found the same output twice, expected a file for each")
        seen.append(output)
        if output != STANDARD_OUTPUT:
            refuse_overwriting(output, inputs)
            refuse_unwritable(output)


def solve(tasks: Sequence[Task], reporting: Reporting) -> list[Result]:
    """Adjudicate every document; after Ctrl-C the rest gets the best answer there is at once."""
    results: list[Result] = []
    interrupted = False
    for number, task in enumerate(tasks, start=1):
        settings = at_once(task.settings) if interrupted else task.settings
        title = f"{task.annotations[0].document.title} ({number}/{len(tasks)})"
        with progress_line(title, quiet=reporting.quiet) as progress:
            try:
                result = adjudicate_document(task.annotations, task.decisions, settings, progress)
            except ContradictionError as error:
                _report_contradiction(task, str(error), results, reporting)
                raise
        interrupted = interrupted or result.solution.stop is Stop.INTERRUPT
        crossing = [finding for gold in result.golds for finding in crossing_findings(gold)]
        results.append(replace(result, findings=(*result.findings, *crossing)))
    return results


def _report_contradiction(task: Task, reason: str, results: Sequence[Result], reporting: Reporting) -> None:
    """Write the summary all the same: programs learn from it which document is infeasible."""
    if reporting.json_path is None:
        return
    names = [annotation.annotator for annotation in task.annotations]
    whole = summary(results)
    whole["documents"].append(infeasible_summary(task.annotations[0].document, names, reason))
    write_texts({reporting.json_path: _json(whole)})


def deliver(
    texts: Mapping[Path, str],
    results: Sequence[Result],
    findings: Sequence[Finding],
    reporting: Reporting,
    *,
    rewritten: Path | None = None,
    folder: Path | None = None,
) -> None:
    """Write all files, or none if `--strict` finds fault, and print the summary.

    An input that is `rewritten` in place is backed up first; a `folder` is made unless it is there.
    """
    faults = [
        finding
        for finding in (*findings, *(finding for result in results for finding in result.findings))
        if finding.severity is Severity.WARNING
    ]
    summaries = (
        {} if reporting.json_path is None else {reporting.json_path: _json(summary(results, findings))}
    )
    refused = reporting.strict and bool(faults)
    if folder is not None and not refused:
        _make(folder)
    kept = back_up(rewritten, texts) if rewritten is not None and not refused else None
    try:
        write_texts(summaries if refused else {**texts, **summaries})
    except OutputError:
        if kept is not None:
            kept.unlink()
        raise
    if not reporting.quiet:
        tell(summary_lines(results))
        tell(str(finding) for finding in findings)
        tell([f"rewrote {rewritten}; its old version is kept as {kept}"] if kept else [])
    if refused:
        raise InputError(
            f"--strict: found {times(len(faults), 'warning')}, expected none; first: {faults[0]}"
        )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot make this folder: {error.strerror}") from error


def certificate_text(
    path: Path | None, results: Sequence[Result], settings: Sequence[Settings]
) -> tuple[dict[Path, str], tuple[Finding, ...]]:
    """Make the certificate file, if one is asked for, and say for which documents there is none."""
    if path is None:
        return {}, ()
    data, findings = certify_results(results, settings)
    return {path: json.dumps(data, separators=(",", ":")) + "\n"}, findings


def tell(lines: Iterable[str]) -> None:
    """Print lines on standard error, where they do not mix with results."""
    with suppress(OSError):
        for line in lines:
            click.echo(line, err=True)


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write all files, or none; `-` is standard output."""
    write_all({path: text for path, text in texts.items() if path != STANDARD_OUTPUT})
    if STANDARD_OUTPUT in texts and sys.stdout is None:
        raise OutputError("standard output is closed: nothing was written")
    if STANDARD_OUTPUT in texts:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        sys.stdout.write(texts[STANDARD_OUTPUT])
        sys.stdout.flush()
