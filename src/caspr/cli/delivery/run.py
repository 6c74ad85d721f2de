"""What `adjudicate` and `redo` share: solve documents one by one, then deliver everything or nothing."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from caspr.adjudicate import adjudicate_document
from caspr.cli.terminal.progress import progress_line
from caspr.errors import ContradictionError, InputError, OutputError
from caspr.files import back_up, is_same_target, refuse_overwriting, refuse_unwritable, write_all
from caspr.formats.conll import crossing_findings
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.report.summary import infeasible_summary, summary
from caspr.report.text import summary_lines
from caspr.result import Result
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings, at_once
from caspr.task.solution import Stop
from caspr.text.document import Annotation
from caspr.text.findings import Finding, Severity, times


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


def check_outputs(
    outputs: Iterable[Path | None], inputs: Sequence[Path], *, folder: Path | None = None
) -> None:
    """Refuse, before any work is done, outputs that cannot be written or would overwrite something.

    The output `folder` may be one, for a format with several files.
    """
    seen: list[Path] = []
    for output in outputs:
        if output is None:
            continue
        if any(output == other or is_same_target(output, other) for other in seen):
            raise InputError(f"{output}: found the same output twice, expected a file for each")
        seen.append(output)
        if output != STANDARD_OUTPUT and not (output == folder and output.is_dir()):
            refuse_overwriting(output, inputs)
            refuse_unwritable(output)


def refuse_extra(
    report: Path | None,
    feedback: Path | None,
    annotators: Iterable[str],
    inputs: Sequence[Path],
    outputs: Sequence[Path | None],
) -> None:
    """Refuse a report or feedback that cannot be written; the templates are not loaded for nothing."""
    if report is not None or feedback is not None:
        from caspr.cli.delivery import reports

        reports.refuse_extra(report, feedback, annotators, inputs, outputs)


def extra_texts(results: Sequence[Result], report: Path | None, feedback: Path | None) -> dict[Path, str]:
    """Return the report and the feedback files that were asked for."""
    if report is None and feedback is None:
        return {}
    from caspr.cli.delivery import reports

    return reports.extra_texts(results, report, feedback)


def solve(
    tasks: Sequence[Task],
    reporting: Reporting,
    *,
    losses: Callable[[Annotation], tuple[Finding, ...]] = crossing_findings,
) -> list[Result]:
    """Adjudicate every document; after Ctrl-C the rest gets the best answer there is at once.

    `losses` says what of a gold standard cannot be written.
    """
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
        lost = [finding for gold in result.golds for finding in losses(gold)]
        results.append(replace(result, findings=(*result.findings, *lost)))
    return results


def _report_contradiction(task: Task, reason: str, results: Sequence[Result], reporting: Reporting) -> None:
    """Write the summary all the same: programs learn from it which document is infeasible."""
    if reporting.json_path is None:
        return
    names = [annotation.annotator for annotation in task.annotations]
    whole = summary(results)
    whole["documents"].append(infeasible_summary(task.annotations[0].document, names, reason))
    write_files({reporting.json_path: _json(whole)})


def deliver(
    texts: Mapping[Path, str | bytes],
    results: Sequence[Result],
    findings: Sequence[Finding],
    reporting: Reporting,
    *,
    rewritten: Path | None = None,
    folder: Path | None = None,
    below: Path | None = None,
) -> None:
    """Write all files, or none if `--strict` finds fault, and print the summary.

    An input that is `rewritten` in place is backed up first; a `folder` is made unless it is there, and
    folders `below` a folder as needed.
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
        write_files(summaries if refused else {**texts, **summaries}, below=below)
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


def certificate_text(
    path: Path | None, results: Sequence[Result], settings: Sequence[Settings]
) -> tuple[dict[Path, str], tuple[Finding, ...]]:
    """Make the certificate file, if one is asked for, and say for which documents there is none."""
    if path is None:
        return {}, ()
    from caspr.proof.prove import prove_results

    data, findings = prove_results(results, settings)
    return {path: json.dumps(data, separators=(",", ":")) + "\n"}, findings


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot make this folder: {error.strerror}") from error


def tell(lines: Iterable[str]) -> None:
    """Print lines on standard error, where they do not mix with results."""
    with suppress(OSError):
        for line in lines:
            click.echo(line, err=True)


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def write_files(texts: Mapping[Path, str | bytes], *, below: Path | None = None) -> None:
    """Write all files, and then standard output if it is among them."""
    write_all({path: text for path, text in texts.items() if path != STANDARD_OUTPUT}, below=below)
    if STANDARD_OUTPUT in texts and sys.stdout is None:
        raise OutputError("standard output is closed: nothing was written")
    if STANDARD_OUTPUT in texts:
        content = texts[STANDARD_OUTPUT]
        text = content if isinstance(content, str) else content.decode("utf-8")
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        sys.stdout.write(text)
        sys.stdout.flush()
