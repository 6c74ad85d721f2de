"""The pipeline for one document, top to bottom: the map of the code.

    annotations --prepare--> one row of tokens, findings
        | + decisions, settings
    Instance --solve_and_certify--> contradictions? --> engine --> Solution --> certify
        |
    Result

Whatever solves goes through `solve_and_certify`: `adjudicate` from Python, the commands, the workers of a
corpus, and the review page, which passes a solver that remembers the parts it has solved before.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from caspr.engines import Engine, choose
from caspr.errors import EngineError, InputError
from caspr.proof.certify import certify
from caspr.result import Given, Result
from caspr.task.contradictions import refuse_contradictions
from caspr.task.decisions import Decisions, refuse_outside
from caspr.task.instance import Instance, check_task
from caspr.task.limits import Limits, Progress, silent
from caspr.task.objectives import Objective
from caspr.task.own_rules import DerivedRules, rule_findings
from caspr.task.settings import Settings, SettingValues, change, decided_groups
from caspr.task.solution import Costs, Solution, Status, Stop
from caspr.task.stored_settings import read_settings
from caspr.text.alignment import align
from caspr.text.arguments import ONE_DOCUMENT, REVIEWS, annotations_of, files_of, listed, refused
from caspr.text.checks import (
    adjudicated_before,
    find_odd,
    refuse_golds,
    refuse_nothing_marked,
    refuse_only_golds,
)
from caspr.text.coverage import outside_coverage, partial_coverage
from caspr.text.document import Annotation, Document, entity_findings
from caspr.text.findings import Finding, Severity, condensed, note, warning
from caspr.text.variants import find_variants, variant_findings

if TYPE_CHECKING:
    from caspr.formats.review_file import Review

_ABOUT_FILES = ("unread-files", "files-set-aside", "review-files", "no-annotator")
"""Codes of findings about files: they concern every document."""
LEAST_FOR_RULES = 10.0
"""The seconds that rules of one's own have when they are asked about a solution, at least."""
Certify = Callable[[Instance, Solution], tuple[Costs, ...]]
"""Checks a solution and returns the costs of each of its partitions, or raises `EngineError`."""


def adjudicate(
    files: Sequence[Iterable[Annotation]],
    *,
    decisions: Decisions | Mapping[str, Decisions] | None = None,
    allow_gold: bool = False,
    **settings: Unpack[SettingValues],
) -> list[Result]:
    """Merge what several annotators' files say about each document they share.

    `files` holds what `caspr.read` returned for each annotator. `decisions` are those about the only
    document, or those about each document by its name. With `allow_gold`, results of earlier runs may be
    among the annotations. All other keywords are settings, named like the options of `caspr adjudicate`:
    preset, objective, omit_cost, use_cost, invent_cost, nested, singletons, weight, weights, coverage,
    variants, rules, forced_votes, encoding, engine, time_limit, memory_limit, prices, max_solutions,
    solver_option.

    Return one result per document that at least two annotators have. A document that some annotators lack
    is reported as a Python warning.
    """
    files = files_of(files, "caspr.adjudicate")
    documents, findings = by_document(files, allow_gold=allow_gold)
    chosen, odd = change(Settings(), settings).for_run(documents)
    decided = _decisions_by_document([annotations[0].document for annotations in documents], decisions)
    odd = tuple(finding for finding in odd if finding.severity is Severity.WARNING)
    for finding in (*condensed(findings), *odd):
        warnings.warn(str(finding), stacklevel=2)
    return [
        adjudicate_document(annotations, made, chosen)
        for annotations, made in zip(documents, decided, strict=True)
    ]


def adjudicate_document(
    annotations: Sequence[Annotation],
    decisions: Decisions | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    solver: tuple[str, Engine] | None = None,
) -> Result:
    """Merge the annotations of one document, respecting what the adjudicator decided.

    A `solver`, with its name, takes the place of the engine that the settings choose.
    """
    started = time.monotonic()
    annotations = _checked(annotations, decisions, settings)
    settings, decisions = settings or Settings(), decisions or Decisions()
    aligned, text_findings = prepare(annotations)
    given, settings_findings = made_concrete(aligned, decisions, settings)
    without_rules = given.settings.instance(aligned, decisions, given.variants)
    instance, derivation_findings = with_rules(without_rules, settings)
    engine, solve = solver or _chosen(instance, settings)
    certified = solve_and_certify(instance, solve, settings.limits, progress)
    solved = certified.instance
    result = Result(
        instance=solved,
        solution=certified.solution,
        costs=certified.costs,
        engine=engine,
        seconds=certified.seconds,
        findings=(
            *text_findings,
            *settings_findings,
            *derivation_findings,
            *rule_findings(solved.rules),
            *check_task(solved),
            *certified.findings,
        ),
        given=given,
    )
    result = result.with_more(entity_findings(result.chains, solved.annotations))
    return _priced(result, settings, time.monotonic() - started)


def _priced(result: Result, settings: Settings, passed: float) -> Result:
    """Return the result with what it costs to decide otherwise, within what is left of the time limit."""
    if settings.prices <= 0 or result.instance.rules.program:
        return result  # the native engine, which computes prices, knows no rules about the solution
    from caspr.disputes import with_prices

    limit = settings.limits.seconds
    left = settings.prices if limit is None else min(settings.prices, limit - passed)
    return with_prices(result, left, settings.limits.cancelled)


def _checked(
    annotations: Sequence[Annotation], decisions: Decisions | None, settings: Settings | None
) -> list[Annotation]:
    """Refuse other things than annotations, decisions and settings."""
    for value, kind, hint in ((decisions, Decisions, "of([...])"), (settings, Settings, "(...)")):
        if value is not None and not isinstance(value, kind):
            raise refused("caspr.adjudicate_document", value, f"caspr.{kind.__name__}{hint}")
    if settings is not None and not isinstance(settings.objective, Objective):
        raise refused("objective", settings.objective, "caspr.Objective(omit=..., use=..., invent=...)")
    return annotations_of(annotations, "caspr.adjudicate_document", ONE_DOCUMENT)


def redo(reviews: Iterable["Review"], **settings: Unpack[SettingValues]) -> list[Result]:
    """Optimise reviews again around what is decided in them, as `caspr redo` does; nothing is written.

    `reviews` are what `caspr.read_review` returned. Each has settings of its own; keywords change them.
    """
    from caspr.formats.review_file import Review

    results = []
    for review in listed(reviews, "caspr.redo", REVIEWS):
        if not isinstance(review, Review):
            raise refused("caspr.redo", reviews, REVIEWS)
        chosen = change(read_settings(review.settings), settings)
        result = adjudicate_document(review.annotations, review.decisions, chosen)
        results.append(result.of_review(review.notes, review.homes))
    return results


def with_rules(instance: Instance, settings: Settings) -> tuple[Instance, tuple[Finding, ...]]:
    """Derive what the rules of settings say of a task, and report what is odd about them."""
    if not settings.rules:
        return instance, ()
    from caspr.engines.asp.grounding import derive

    derived, findings = derive(instance, settings.rules, settings.limits)
    ruled = instance.under(derived)
    return ruled, (*findings, _by_clingo(ruled, settings)) if derived.program else findings


def _chosen(instance: Instance, settings: Settings) -> tuple[str, Engine]:
    """Choose an engine: one that can do what rules about the solution ask, if there are any."""
    rules = instance.rules
    if not rules.program:
        name, solve = choose(settings.engine, settings.encoding, settings.limits.solver_options)
        if name == "native" and rules.partial:
            from caspr.engines.native.incremental import IncrementalSolver

            return name, IncrementalSolver(instance, record=settings.limits.certificate).answer
        return name, solve
    if settings.engine not in ("auto", "clingo"):
        raise InputError(
            f"--engine {settings.engine}: your rules are about the solution, which only engine clingo can "
            "respect"
        )
    return choose("clingo", settings.encoding, settings.limits.solver_options)


def _by_clingo(instance: Instance, settings: Settings) -> Finding:
    """Say what rules about the solution mean for the answer."""
    more = "; one solution is listed, not all" if settings.limits.solutions > 1 else ""
    names = ", ".join(file.name for file in instance.rules.files)
    message = (
        f"{names}: rules about the solution, so engine clingo solved this; bound and proof are clingo's, "
        f"and there is no certificate{more}; the review page refuses such rules"
    )
    return note("rules-about-solution", message)


def prepare(
    annotations: Sequence[Annotation],
) -> tuple[tuple[Annotation, ...], tuple[Finding, ...]]:
    """Bring the annotations of one document onto one row of tokens, and check them."""
    aligned = tuple(align(annotations))
    return aligned, find_odd(aligned)


def made_concrete(
    annotations: Sequence[Annotation], decisions: Decisions, settings: Settings
) -> tuple[Given, tuple[Finding, ...]]:
    """Make settings concrete for the annotations of one document, over one row of tokens."""
    concrete, odd = settings.for_document(annotations)
    variants = concrete.find_variants(annotations, decisions)
    kept = decided_groups(variants.groups, decisions)
    given = Given(tuple(annotations), decisions, replace(concrete, kept_variants=kept), variants)
    return given, (*odd, *check_coverage_and_variants(given))


def check_coverage_and_variants(given: Given) -> tuple[Finding, ...]:
    """Report where annotators seem to have seen another part, and mentions with several boundaries."""
    annotations, settings = given.annotations, given.settings
    variants = given.variants if settings.variants else find_variants(annotations)
    return (
        *(
            partial_coverage(annotations)
            if settings.coverage is None
            else outside_coverage(annotations, settings.coverage_of(annotations))
        ),
        *variant_findings(variants, annotations[0].document, used=settings.variants),
    )


@dataclass(frozen=True)
class Certified:
    """A solution that passed every check."""

    instance: Instance
    """What was solved, with all that rules had to derive on the way."""
    solution: Solution
    costs: Costs
    """The value by kind, recomputed from the votes."""
    seconds: float
    """How long the engine took."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the engine reports, and the gap where there is one."""
        solution = self.solution
        if solution.status is Status.OPTIMAL:
            return solution.findings
        cause = f" before the {solution.stop}" if solution.stop else ""
        if solution.stop is Stop.SIZE:
            cause = ", because a group of connected mentions is too large to search completely"
        message = (
            f"not proven optimal{cause}: cost {solution.value}, no solution can cost less than "
            f"{solution.bound}"
        )
        return (*solution.findings, warning("gap", message))


def solve_and_certify(
    instance: Instance,
    solve: Engine,
    limits: Limits,
    progress: Progress = silent,
    certify: Certify = certify,
) -> Certified:
    """Solve an instance and check whatever the engine answers, before anybody sees it.

    Decisions about tokens that are not there are refused with `InputError`, decisions that no solution can
    respect with `ContradictionError`. An engine that finds no solution after that is at fault.
    """
    refuse_outside(instance.annotations[0].document, instance.decisions)
    refuse_contradictions(instance)
    started = time.monotonic()
    solution = solve(instance, limits, progress)
    while instance.rules.partial and solution.status is not Status.INFEASIBLE:
        more = _derived_within(instance, solution, limits)
        if more is instance.rules:
            break
        instance = instance.under(more)
        refuse_contradictions(instance)
        solution = solve(instance, _left(limits, started), progress)
    seconds = time.monotonic() - started
    if solution.status is Status.INFEASIBLE:
        if instance.rules.program:
            raise _no_solution(instance, solve, limits)
        raise EngineError("the engine found no solution for decisions that do not contradict each other")
    return Certified(instance, solution, certify(instance, solution)[0], seconds)


def _no_solution(instance: Instance, solve: Engine, limits: Limits) -> InputError:
    """Name as few rules about the solution as possible that leave none."""
    from caspr.engines.asp.grounding import unsolvable

    def has_solution(instance: Instance) -> bool:
        return solve(instance, limits, silent).status is not Status.INFEASIBLE

    rules = unsolvable(instance, has_solution)
    named = "; ".join(map(str, rules)) or "your rules about the solution"
    return InputError(f"no solution respects these rules, beside decisions and other rules: {named}")


def _derived_within(instance: Instance, solution: Solution, limits: Limits) -> DerivedRules:
    """Return the rules with what they say of pairs that share a chain of a solution.

    A solution found at the time limit must respect them, too: so this has a time of its own.
    """
    from caspr.engines.asp.grounding import derive_within

    if limits.seconds is not None:
        limits = replace(limits, seconds=max(limits.seconds, LEAST_FOR_RULES))
    for partition in solution.partitions:
        instance = instance.under(derive_within(instance, partition, limits))
    return instance.rules


def _left(limits: Limits, started: float) -> Limits:
    """Return limits with the time that is left: perhaps none, so that engines give their first answer."""
    if limits.seconds is None:
        return limits
    return replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - started)))


def by_document(
    files: Sequence[Iterable[Annotation]], *, allow_gold: bool = False, allow_empty: bool = False
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Sort the annotations of several files by document, in order of first appearance.

    A document that only some annotators have is adjudicated among them; one that a single annotator has
    is left out. Both are reported as findings. Golds beside annotators are refused unless `allow_gold`,
    and files in which nobody marked anything unless `allow_empty`.
    """
    groups: dict[tuple[str, str | None], list[Annotation]] = {}
    findings: list[Finding] = []
    for annotations in files:
        for annotation in annotations:
            about_files, kept = _apart(annotation)
            findings += about_files
            groups.setdefault(annotation.document.key, []).append(kept)
    alike = _titles_alike(groups.values())
    for group in groups.values():
        _refuse_annotator_twice(group)
        if len(group) < len(files):
            hint = _differ_only_in_case(alike[group[0].document.title.casefold()])
            findings.append(_partly_annotated(group, len(files), hint))
    shared = [tuple(group) for group in groups.values() if len(group) > 1]
    if len(files) < 2 or not shared:
        raise _nothing_shared(len(files), list(groups.values()), findings)
    for annotations in shared if not allow_gold else ():
        refuse_golds(annotations)
    if not allow_empty:
        refuse_nothing_marked(shared)
    golds = (finding for annotations in shared for finding in adjudicated_before(annotations))
    return shared, (*findings, *golds)


def _nothing_shared(
    files: int, groups: Sequence[Sequence[Annotation]], findings: Iterable[Finding]
) -> InputError:
    """Say why there is nothing to merge: too few files, only golds, or different texts."""
    refuse_only_golds([annotation for group in groups for annotation in group])
    if files < 2:
        unread = "".join(f"; {finding.message}" for finding in findings if finding.code == "unread-files")
        there = "this is the file of one annotator" if files else "there are no files"
        return InputError(f"{there}; give those of two or more{unread}")
    titles = sorted({group[0].document.title for group in groups})
    return InputError(
        "these are files of different texts: no text is in the files of two annotators, and a text needs "
        "the same name in all files: "
        + ", ".join(f"'{title}'" for title in titles[:5])
        + _differ_only_in_case(titles)
    )


def _refuse_annotator_twice(group: Sequence[Annotation]) -> None:
    """Refuse a document that one annotator has twice, naming the files it is in."""
    names = [annotation.annotator for annotation in group]
    if len(set(names)) == len(names):
        return
    twice = max(names, key=names.count)
    documents = [annotation.document for annotation in group if annotation.annotator == twice]
    sources = list(dict.fromkeys(document.source for document in documents))
    title = documents[0].title
    if len(sources) < 2:
        raise InputError(
            f"document '{title}' has two annotators called '{twice}': give each annotator a name of their own"
        )
    raise InputError(
        f"document '{title}' is in two files of annotator '{twice}', {sources[0]} and {sources[1]}: beside "
        "other files, a folder is the work of one annotator; give a folder of several annotators alone, or "
        "its files"
    )


def _apart(annotation: Annotation) -> tuple[list[Finding], Annotation]:
    """Take the findings about files from the annotation that they were noted with."""
    about_files = [finding for finding in annotation.findings if finding.code in _ABOUT_FILES]
    if not about_files:
        return [], annotation
    kept = tuple(finding for finding in annotation.findings if finding.code not in _ABOUT_FILES)
    return about_files, replace(annotation, findings=kept)


def _decisions_by_document(
    documents: Sequence[Document], decisions: Decisions | Mapping[str, Decisions] | None
) -> list[Decisions]:
    """Return the decisions about each document; refuse those about documents that are not there."""
    if isinstance(decisions, Decisions):
        if len(documents) > 1:
            raise InputError(
                f"decisions: found those of one document for {len(documents)} documents, expected a mapping "
                "from document names to decisions"
            )
        return [decisions]
    decisions = {} if decisions is None else decisions
    if not isinstance(decisions, Mapping):
        raise refused(
            "decisions", decisions, "caspr.Decisions.of([...]), or a mapping from document names to such"
        )
    titles = [document.title for document in documents]
    unknown = sorted(decisions.keys() - set(titles))
    if unknown:
        raise InputError(
            f"decisions: found document '{unknown[0]}', expected one of "
            + ", ".join(f"'{title}'" for title in titles[:5])
        )
    return [decisions.get(title, Decisions()) for title in titles]


def _titles_alike(groups: Iterable[Sequence[Annotation]]) -> dict[str, list[str]]:
    """Return the titles of documents in order, by what is the same for upper and lower case."""
    alike: dict[str, list[str]] = {}
    for title in sorted({group[0].document.title for group in groups}):
        alike.setdefault(title.casefold(), []).append(title)
    return alike


def _differ_only_in_case(titles: Sequence[str]) -> str:
    """Return a hint if the first two of some sorted titles that are alike have other capital letters."""
    seen: dict[str, str] = {}
    for title in titles:
        if title.casefold() in seen:
            return f"; '{seen[title.casefold()]}' and '{title}' differ only in upper and lower case"
        seen[title.casefold()] = title
    return ""


def _partly_annotated(group: Sequence[Annotation], files: int, hint: str) -> Finding:
    title = group[0].document.title
    if len(group) == 1:
        return warning(
            "single-annotation",
            f"document '{title}' is only in {group[0].document.source or group[0].annotator}; it needs two "
            f"annotations and was left out{hint}",
            where=title,
        )
    return warning(
        "missing-annotation",
        f"document '{title}' is in the files of {len(group)} of {files} annotators "
        f"({', '.join(annotation.annotator for annotation in group)}); only they count there{hint}",
        where=title,
    )
