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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import click

from caspr.adjudication import adjudicate_document, by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given
from caspr.cli.shared.outputs import (
    Files,
    Output,
    OutputKind,
    Outputs,
    json_text,
    print_findings,
    print_lines,
    requested,
)
from caspr.cli.shared.progress import interrupts_noticed, progress_line
from caspr.engines import choose
from caspr.errors import InputError
from caspr.formats import read_all, review_file
from caspr.formats.conll import crossing_findings
from caspr.formats.review_file.project import review_paths
from caspr.formats.review_file.statements import answers_by_person
from caspr.report.summary import infeasible_summary, summary, summary_lines
from caspr.result import Result
from caspr.storage import decode, read_bytes
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decisions, Note
from caspr.task.settings import Settings, without_search
from caspr.task.solution import Stop
from caspr.task.stored_settings import read_settings
from caspr.text.alignment import align
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, refuse_warnings, warnings_of


@dataclass(frozen=True)
class Reporting:
    """What a command writes and prints about its results, beside the gold standards."""

    json_path: Path | None = None
    certificate: Path | None = None
    report: Path | None = None
    feedback: Path | None = None
    strict: bool = False
    quiet: bool = False
    debug: bool = False
    """Whether to print what an answer set solver prints."""

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
        from caspr.cli.shared.reports import feedback_names, format_of

        if self.report is not None:
            format_of(self.report, None)
            yield Output("--report", self.report)
        if self.feedback is not None:
            files = tuple(self.feedback / name for name in feedback_names(annotators).values())
            yield Output("--feedback", self.feedback, OutputKind.FOLDER, files)

    def files(
        self, results: Sequence[Result], answers: Mapping[str, int] | None = None
    ) -> tuple[dict[str, Files], tuple[Finding, ...]]:
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
                format = format_of(self.report, None)
                texts["--report"] = {self.report: report_text(results, format, answers)}
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
    answers: Mapping[str, int] = field(default_factory=dict)
    """How often each person decided something."""
    notes: tuple[Note, ...] = ()
    """What the adjudicator remarked and flagged."""
    homes: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    """The chains that a review file shows as its result, by their ids."""


def annotators_of(tasks: Sequence[Task]) -> list[str]:
    """Return the names of all annotators, each once, in order of appearance."""
    return list(dict.fromkeys(annotation.annotator for task in tasks for annotation in task.annotations))


def answers_of(tasks: Sequence[Task]) -> Mapping[str, int]:
    """Return how often each person decided something, in all documents together."""
    return sum((Counter(task.answers) for task in tasks), Counter[str]())


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
            if reporting.debug:
                limits = replace(limits, debug=partial(click.echo, err=True))
            settings = replace(task.settings, limits=limits)
            settings = without_search(settings) if interrupted else settings
            title = f"{task.annotations[0].document.title} ({number}/{len(tasks)})"
            with progress_line(title, quiet=reporting.quiet or reporting.debug) as progress:
                try:
                    result = adjudicate_document(task.annotations, task.decisions, settings, progress)
                except ContradictionError as error:
                    if reporting.json_path is not None:
                        outputs.write({"--json": {reporting.json_path: _contradiction(task, error, results)}})
                    raise
            interrupted = interrupted or result.solution.stop is Stop.INTERRUPT
            result = result.of_review(task.notes, task.homes)
            lost = [finding for gold in result.golds for finding in losses(gold)]
            lost += review_file.strayed_ids(result, task.decisions, task.shown)
            results.append(result.with_more(lost))
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


def read_reviews(folder: Path) -> list[OpenReview]:
    """Read the review files of a project, in the order in which it lists them."""
    opened = []
    for document, path in review_paths(folder):
        # The folder of all review files is not part of their names.
        inside = PurePosixPath(document.file).with_suffix("").parts
        opened.append(open_review(path, "/".join(inside[1:] or inside)))
    return opened


def open_review(path: Path, name: str = "", annotators: Sequence[str] = ()) -> OpenReview:
    """Read a review file.

    One that the CaspR of 2018 wrote does not say who the annotators are. They are given as their number,
    their names, or their files.
    """
    known = read_bytes(path)
    text, source = decode(known, str(path)), str(path)
    files = [Path(name) for name in annotators if Path(name).is_file()]
    if files and len(files) < len(annotators):
        missing = next(name for name in annotators if not Path(name).is_file())
        raise InputError(f"--annotators: {missing}: there is no such file")
    if files and not review_file.is_review(path):
        documents, _ = by_document(read_all(files))
        reviews = review_file.parse_beside(text, source, [align(document) for document in documents])
    else:
        reviews = review_file.parse(text, source, _names(annotators))
    return OpenReview(path, name, known, tuple(reviews))


def _names(annotators: Sequence[str]) -> list[str]:
    """Return the names that `--annotators` gives, or makes of a number.

    >>> _names(["3"]), _names(["AK,JA", "Ben"])
    (['1', '2', '3'], ['AK', 'JA', 'Ben'])
    """
    if len(annotators) == 1 and annotators[0].isascii() and annotators[0].isdecimal():
        return [str(number) for number in range(1, min(int(annotators[0]), 10_000) + 1)]
    names = [name.strip() for value in annotators for name in value.split(",")]
    if len(set(names)) < len(names) or "" in names:
        raise InputError(f"--annotators {', '.join(annotators)}: give each annotator a name of its own")
    return names


def tasks_of(opened: Sequence[OpenReview], values: dict[str, Any], *, reported: bool) -> list[Task]:
    """Return a task for each document of review files: its own settings, changed by the given options."""
    return [
        Task(
            review.annotations,
            options.changed(_stored_settings(file.path, review), values, reported=reported),
            review.decisions,
            review.shown,
            answers_by_person(review.decided),
            review.notes,
            review.homes,
        )
        for file in opened
        for review in file.reviews
    ]


def only_task(
    files: Sequence[Path], values: dict[str, Any], title: str | None
) -> tuple[Task, tuple[Finding, ...]]:
    """Read the one document that an answer set program is about, from a review file or annotators' files.

    `title` is the name of the document, where there are several.
    """
    annotators = values.get("annotators", ())
    findings: tuple[Finding, ...] = ()
    if len(files) == 1 and (annotators or review_file.is_review(files[0])):
        tasks = tasks_of([open_review(files[0], annotators=annotators)], values, reported=False)
    else:
        read = read_given(files, options.reading(values))[0]
        documents, findings = by_document(read, allow_gold=values["allow_gold"])
        settings = options.changed(Settings(), values)
        tasks = [Task(annotations, settings) for annotations in documents]
    known = [task.annotations[0].document for task in tasks]
    chosen = [
        task
        for task, document in zip(tasks, known, strict=True)
        if title in (None, document.name, document.title)
    ]
    if len(chosen) != 1:
        raise InputError(f"--document: choose one of {', '.join(document.title for document in known)}")
    return chosen[0], findings


def _stored_settings(path: Path, review: review_file.Review) -> Settings:
    try:
        settings = read_settings(review.settings)
        choose(settings.engine, settings.encoding)
        return settings
    except InputError as error:
        raise InputError(f"{path}: document '{review.gold.document.title}': {error}") from error
