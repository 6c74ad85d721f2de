"""The pipeline for one document, top to bottom: the map of the code.

annotations --check--> findings
    | + decisions, settings
Instance --contradictions?--> engine --> Solution --certify--> Result
"""

import time
import warnings
from collections.abc import Iterable, Sequence

from caspr.engines import choose
from caspr.errors import EngineError, InputError
from caspr.proof.certify import certify
from caspr.result import Result
from caspr.task.decisions import Decisions, refuse_outside
from caspr.task.instance import Instance, read_singletons
from caspr.task.limits import Limits, Progress, silent
from caspr.task.objectives import objective as choose_objective
from caspr.task.price.contradictions import refuse_contradictions
from caspr.task.settings import Settings
from caspr.task.solution import Solution, Status
from caspr.text.alignment import align
from caspr.text.checks import check
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times, warning


def adjudicate(
    files: Sequence[Iterable[Annotation]],
    objective: str = "v",
    *,
    omit_cost: int | None = None,
    use_cost: int | None = None,
    invent_cost: int | str | None = None,
    engine: str = "auto",
    encoding: str = "mm",
    allow_nested: bool = False,
    singletons: str = "drop",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    max_solutions: int = 1,
) -> list[Result]:
    """Merge what several annotators' files say about each document they share.

    `files` holds what `caspr.read` returned for each annotator. The options are those of
    `caspr adjudicate`. Return one result per document that at least two annotators have; documents that
    some annotators lack are told as Python warnings.
    """
    settings = Settings(
        objective=choose_objective(
            objective, omit_cost=omit_cost, use_cost=use_cost, invent_cost=invent_cost
        ),
        engine=engine,
        encoding=encoding,
        allow_nested=allow_nested,
        singletons=read_singletons(singletons),
        limits=Limits(time_limit, memory_limit, max_solutions),
    )
    documents, findings = by_document(files)
    for finding in findings:
        warnings.warn(str(finding), stacklevel=2)
    return [adjudicate_document(annotations, settings=settings) for annotations in documents]


def adjudicate_document(
    annotations: Sequence[Annotation],
    decisions: Decisions | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Result:
    """Merge the annotations of one document, respecting what the adjudicator decided."""
    decisions = decisions or Decisions()
    settings = settings or Settings()
    annotations = align(annotations)
    refuse_outside(annotations[0].document, decisions)
    findings = check(annotations, allow_nested=settings.allow_nested)
    instance = settings.instance(tuple(annotations), decisions)
    refuse_contradictions(instance)
    engine, solve = choose(settings.engine, settings.encoding)
    started = time.monotonic()
    solution = solve(instance, settings.limits, progress)
    seconds = time.monotonic() - started
    if solution.status is Status.INFEASIBLE:
        raise EngineError(
            f"engine {engine} found no solution for decisions that do not contradict each other"
        )
    costs = certify(instance, solution)
    result = Result(
        instance=instance,
        solution=solution,
        costs=costs[0],
        engine=engine,
        seconds=seconds,
        findings=(*findings, *_odd_decisions(instance), *solution.findings, *_gap(solution)),
    )
    if settings.certainty <= 0:
        return result
    from caspr.disputes.certainty import with_certainty

    return with_certainty(result, settings.certainty)


def by_document(
    files: Sequence[Iterable[Annotation]],
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Sort the annotations of several files by document, in order of first appearance.

    A document that only some annotators have is adjudicated among them; one that a single annotator has
    is left out. Both are said in findings.
    """
    groups: dict[tuple[str, str | None], list[Annotation]] = {}
    for annotations in files:
        for annotation in annotations:
            groups.setdefault(annotation.document.key, []).append(annotation)
    findings = []
    for group in groups.values():
        names = [annotation.annotator for annotation in group]
        if len(set(names)) < len(names):
            raise InputError(
                f"document '{group[0].document.title}': found annotator '{max(names, key=names.count)}' more "
                "than once, expected a name of its own for each annotator"
            )
        if len(group) < len(files):
            findings.append(_partly_annotated(group, len(files)))
    shared = [tuple(group) for group in groups.values() if len(group) > 1]
    if len(files) < 2:
        raise InputError("found the file of one annotator, expected those of two or more")
    if not shared:
        titles = sorted({group[0].document.title for group in groups.values()})
        raise InputError(
            "found no document that two annotators have, expected the same document names in their files: "
            + ", ".join(f"'{title}'" for title in titles[:5])
        )
    return shared, tuple(findings)


def _partly_annotated(group: Sequence[Annotation], files: int) -> Finding:
    title = group[0].document.title
    if len(group) == 1:
        return warning(
            "single-annotation",
            f"document '{title}' is only in {group[0].document.source or group[0].annotator}; it needs two "
            "annotations and was left out",
            where=title,
        )
    return warning(
        "missing-annotation",
        f"document '{title}' is in the files of {len(group)} of {files} annotators "
        f"({', '.join(annotation.annotator for annotation in group)}); it is adjudicated among them",
        where=title,
    )


def _odd_decisions(instance: Instance) -> list[Finding]:
    known = {span for annotation in instance.annotations for span in annotation.mentions}
    new = sorted(instance.decisions.group_of.keys() - known)
    if not new:
        return []
    document = instance.annotations[0].document
    message = f"{times(len(new), 'enforced mention')} that no annotator marked (first at "
    return [warning("new-mentions", f"{message}{document.place(new[0].start)})", count=len(new))]


def _gap(solution: Solution) -> list[Finding]:
    if solution.status is Status.OPTIMAL:
        return []
    cause = f" before the {solution.stop}" if solution.stop else ""
    message = (
        f"not proven optimal{cause}: cost {solution.value}, no solution can cost less than {solution.bound}"
    )
    return [warning("gap", message)]
