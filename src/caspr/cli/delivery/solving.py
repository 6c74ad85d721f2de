"""Solve the documents of a command one by one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from caspr.adjudication import adjudicate_document
from caspr.cli.delivery.outputs import Outputs
from caspr.cli.delivery.results import Reporting, json_text
from caspr.cli.terminal.options import changed
from caspr.cli.terminal.progress import progress_line
from caspr.cli.terminal.stopping import interrupts_noticed
from caspr.engines import choose
from caspr.errors import ContradictionError, InputError
from caspr.formats import review_file
from caspr.formats.conll import crossing_findings
from caspr.formats.review_file.authors import number_of_acts
from caspr.report.summary_json import infeasible_summary, summary
from caspr.result import Result
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings, without_search
from caspr.task.settings.stored import read_settings
from caspr.task.solution import Stop
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding


@dataclass(frozen=True)
class Task:
    """One document to adjudicate."""

    annotations: tuple[Annotation, ...]
    """The annotations of each annotator."""
    settings: Settings
    """How to adjudicate it."""
    decisions: Decisions = field(default_factory=Decisions)
    """What the adjudicator decided."""
    shown: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """What a review file showed under ids that are enforced."""
    acts: int = 0
    """How often somebody decided something."""


def annotators_of(tasks: Sequence[Task]) -> list[str]:
    """Return the names of all annotators, each once, in order of appearance."""
    return list(dict.fromkeys(one.annotator for task in tasks for one in task.annotations))


def reviewed_tasks(
    file: Path, reviews: Sequence[review_file.Review], given: dict[str, Any], *, reported: bool
) -> list[Task]:
    """Return a task for each document of a review file: its own settings, changed by the given options."""
    return [
        Task(
            one.annotations,
            changed(_stored_settings(file, one), given, reported=reported),
            one.decisions,
            one.shown,
            number_of_acts(one.decisions, one.authors),
        )
        for one in reviews
    ]


def _stored_settings(file: Path, one: review_file.Review) -> Settings:
    try:
        settings = read_settings(one.settings)
        choose(settings.engine, settings.encoding)
        return settings
    except InputError as error:
        raise InputError(f"{file}: document '{one.gold.document.title}': {error}") from error


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
    with interrupts_noticed() as pressed:
        return _solve(tasks, outputs, reporting, losses, pressed)


def _solve(
    tasks: Sequence[Task],
    outputs: Outputs,
    reporting: Reporting,
    losses: Callable[[Annotation], tuple[Finding, ...]],
    pressed: Callable[[], bool],
) -> list[Result]:
    results: list[Result] = []
    interrupted = False
    for number, task in enumerate(tasks, start=1):
        settings = replace(task.settings, limits=replace(task.settings.limits, cancelled=pressed))
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
    return json_text(whole)
