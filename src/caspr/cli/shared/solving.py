"""From tasks to delivered results: solve documents one by one, then write and print all that was asked for.

A `Task` is a document with its settings and decisions, from annotators' files or from a review file. `solve`
adjudicates the tasks in order; Ctrl-C ends the search of one and lets the others have their first answer, so
that there is always a result to write. `Reporting` holds what is written beside the gold standard: summary,
certificate, report, feedback pages. `deliver` writes everything together, and prints.

The review files of a project (`read_reviews`) are read as they are at that moment, also while the review page
has them open.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from caspr.adjudication import adjudicate_document
from caspr.cli.shared.options import changed
from caspr.cli.shared.outputs import (
    Files,
    Output,
    OutputKind,
    Outputs,
    json_text,
    print_findings,
    print_lines,
    refuse_warnings,
    requested,
    warnings_of,
)
from caspr.cli.shared.progress import interrupts_noticed, progress_line
from caspr.engines import choose
from caspr.errors import ContradictionError, InputError
from caspr.formats import review_file
from caspr.formats.conll import crossing_findings
from caspr.formats.review_file.project import NAME, read_project
from caspr.formats.review_file.statements import number_of_acts
from caspr.report.summary import infeasible_summary, summary, summary_lines
from caspr.result import Result
from caspr.storage import decode, read_bytes
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings, without_search
from caspr.task.solution import Stop
from caspr.task.stored_settings import read_settings
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding


@dataclass(frozen=True)
class Reporting:
    """What a command writes and prints about its results, beside the gold standards."""

    json_path: Path | None = None
    certificate: Path | None = None
    report: Path | None = None
    feedback: Path | None = None
    strict: bool = False
    quiet: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Reporting":
        """Take what a command's options say."""
        return cls(**{field.name: values[field.name] for field in fields(cls) if field.name in values})

    def outputs(self, annotators: Iterable[str]) -> tuple[Output, ...]:
        """Return what is to be written; refuse a report without a format."""
        return (
            *requested("--json", self.json_path),
            *requested("--certificate", self.certificate),
            *self._pages(annotators),
        )

    def _pages(self, annotators: Iterable[str]) -> Iterator[Output]:
        if self.report is None and self.feedback is None:
            return  # The templates of pages are not loaded for nothing.
        from caspr.cli.shared.reports import file_names, format_of

        if self.report is not None:
            format_of(self.report, None)
            yield Output("--report", self.report)
        if self.feedback is not None:
            files = tuple(self.feedback / name for name in file_names(annotators).values())
            yield Output("--feedback", self.feedback, OutputKind.FOLDER, files)

    def files(self, results: Sequence[Result]) -> tuple[dict[str, Files], tuple[Finding, ...]]:
        """Return certificate, report and feedback by option, with a finding per document without proof."""
        texts: dict[str, Files] = {}
        unproven: tuple[Finding, ...] = ()
        if self.certificate is not None:
            from caspr.proof.prove import prove_results

            data, unproven = prove_results(results)
            texts["--certificate"] = {self.certificate: json.dumps(data, separators=(",", ":")) + "\n"}
        if self.report is not None or self.feedback is not None:
            from caspr.cli.shared.reports import feedback_texts, format_of, report_text

            if self.report is not None:
                texts["--report"] = {self.report: report_text(results, format_of(self.report, None))}
            if self.feedback is not None:
                texts["--feedback"] = feedback_texts(results, self.feedback)
        return texts, unproven


NOT_SEARCHED = 3
"""The exit code where a result was written that a limit left no better than the work of one annotator."""


def deliver(
    outputs: Outputs,
    contents: Mapping[str, Files],
    results: Sequence[Result],
    findings: Sequence[Finding],
    reporting: Reporting,
) -> None:
    """Write all files, or only the summary if `--strict` refuses warnings, and print what was found.

    Where an engine found nothing better than the baseline, the command ends with an exit code of its own.
    """
    summaries: dict[str, Files] = {}
    if reporting.json_path is not None:
        summaries["--json"] = {reporting.json_path: json_text(summary(results, findings), ascii=True)}
    all_findings = (*findings, *(finding for result in results for finding in result.findings))
    refused = reporting.strict and bool(warnings_of(all_findings))
    written = summaries if refused else {**contents, **summaries}
    kept = outputs.write(written, keep_old=any(result.solution.stop is Stop.INTERRUPT for result in results))
    if not reporting.quiet:
        print_lines(summary_lines(results))
        print_findings(findings)
        print_lines(outputs.written(written))
        print_lines(f"rewrote {path}; its old version is kept as {copy}" for path, copy in kept.items())
    if refused:
        refuse_warnings(all_findings)
    if any(finding.code == "baseline" for finding in all_findings):
        sys.exit(NOT_SEARCHED)


@dataclass(frozen=True)
class Task:
    """One document to adjudicate."""

    annotations: tuple[Annotation, ...]
    settings: Settings
    decisions: Decisions = field(default_factory=Decisions)
    shown: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """What a review file showed under ids that are enforced."""
    acts: int = 0
    """How often somebody decided something."""


def annotators_of(tasks: Sequence[Task]) -> list[str]:
    """Return the names of all annotators, each once, in order of appearance."""
    return list(dict.fromkeys(annotation.annotator for task in tasks for annotation in task.annotations))


def solve(
    tasks: Sequence[Task],
    outputs: Outputs,
    reporting: Reporting,
    *,
    losses: Callable[[Annotation], tuple[Finding, ...]] = crossing_findings,
) -> list[Result]:
    """Adjudicate every document; after Ctrl-C the remaining ones get an engine's first answer.

    `losses` returns what of a gold standard cannot be written.
    """
    results: list[Result] = []
    interrupted = False
    with interrupts_noticed() as pressed:
        for number, task in enumerate(tasks, start=1):
            wanted = reporting.certificate is not None
            limits = replace(task.settings.limits, cancelled=pressed, certificate=wanted)
            settings = replace(task.settings, limits=limits)
            settings = without_search(settings) if interrupted else settings
            title = f"{task.annotations[0].document.title} ({number}/{len(tasks)})"
            with progress_line(title, quiet=reporting.quiet) as progress:
                try:
                    result = adjudicate_document(task.annotations, task.decisions, settings, progress)
                except ContradictionError as error:
                    if reporting.json_path is not None:
                        outputs.write({"--json": {reporting.json_path: _contradiction(task, error, results)}})
                    raise
            interrupted = interrupted or result.solution.stop is Stop.INTERRUPT
            lost = [finding for gold in result.golds for finding in losses(gold)]
            lost += review_file.strayed_ids(result, task.decisions, task.shown)
            results.append(replace(result, findings=(*result.findings, *lost)))
    return results


def _contradiction(task: Task, error: ContradictionError, results: Sequence[Result]) -> str:
    """Return a summary from which programs learn which document is infeasible."""
    names = [annotation.annotator for annotation in task.annotations]
    whole = summary(results)
    whole["documents"].append(infeasible_summary(task.annotations[0].document, names, str(error)))
    return json_text(whole, ascii=True)


@dataclass(frozen=True)
class OpenReview:
    """A review file as it was read."""

    path: Path
    name: str
    """What its gold standard is called, without a suffix; it may lead into folders."""
    known: bytes
    """What was read: it is compared with the file before that is rewritten."""
    reviews: tuple[review_file.Review, ...]


def is_project(path: Path) -> bool:
    """Return whether a path is the folder of a project."""
    return (path / NAME).is_file()


def read_reviews(folder: Path) -> list[OpenReview]:
    """Read the review files of a project, in the order in which it lists them."""
    opened = []
    for document in read_project(folder).documents:
        path = folder / document.file
        if not path.is_file():
            raise InputError(f"{path}: this file of '{document.title}' is missing; {folder / NAME} lists it")
        # The folder of all review files is not part of their names.
        inside = PurePosixPath(document.file).with_suffix("").parts
        opened.append(open_review(path, "/".join(inside[1:] or inside)))
    if not opened:
        raise InputError(f"{folder}: this project has no documents")
    return opened


def open_review(path: Path, name: str = "") -> OpenReview:
    """Read a review file."""
    known = read_bytes(path)
    return OpenReview(path, name, known, tuple(review_file.parse(decode(known, str(path)), str(path))))


def tasks_of(opened: Sequence[OpenReview], values: dict[str, Any], *, reported: bool) -> list[Task]:
    """Return a task for each document of review files: its own settings, changed by the given options."""
    return [
        Task(
            review.annotations,
            changed(_stored_settings(file.path, review), values, reported=reported),
            review.decisions,
            review.shown,
            number_of_acts(review.decided),
        )
        for file in opened
        for review in file.reviews
    ]


def _stored_settings(path: Path, review: review_file.Review) -> Settings:
    try:
        settings = read_settings(review.settings)
        choose(settings.engine, settings.encoding)
        return settings
    except InputError as error:
        raise InputError(f"{path}: document '{review.gold.document.title}': {error}") from error
