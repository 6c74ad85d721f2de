"""The survey: what is decided once for all documents of a corpus, before the first one is adjudicated.

    --singletons auto    whether chains of one are kept: from all documents, or from `MOST` of them, spread
                         over the corpus, if there are more
    --weights learn      what the votes of each annotator cost: from all documents
    --weights auto       the same, if that is better than equal votes (`measures.reliability`): from all
                         documents, or from `MOST` of them
    --coverage FILE      rows about documents or annotators that are not there: from all documents
    --weight, --weights  names of annotators that are not there, or missing in the table: from the names of
                         the files, and from all documents only where these do not fit

Documents are read here, in the process of the command, only as far as one of these needs it: reading takes
an eighth of the processor time of a corpus of short texts, and is done here by one process. One that cannot
be read is left out: its own job says what is wrong with it.

Learned weights, or that votes are equal, are written to the output folder, and taken from there by later
runs, so that a corpus that is resumed, or grows, keeps the weights it began with; `--force` decides again.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from caspr.corpus.job import Job, Options, documents
from caspr.corpus.plan import Plan
from caspr.errors import InputError
from caspr.measures.reliability import (
    Patterns,
    Reliability,
    copy_findings,
    instance_patterns,
    learn_reliability,
    near_copies,
    weights_for,
)
from caspr.report.comparison_tables import reliability_lines
from caspr.storage import read_text, write_all
from caspr.task.decisions import Decisions
from caspr.task.instance import Singletons
from caspr.task.settings import Settings, decide
from caspr.task.weights import COLUMNS, FEWEST, WeightsTable, read_weights, write_weights
from caspr.text.alignment import align
from caspr.text.coverage import CoverageTable
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, refuse_warnings, times

MOST = 1000
"""How many documents decide at most whether chains of one are kept."""
WEIGHTS = "weights.csv"
"""The file of learned weights in the output folder."""
EQUAL = f"{','.join(COLUMNS)}\n*equal,,\n"
"""What that file says where votes are equal."""
UNSEEN = f"all votes count the same: some annotators have none of the {MOST:,} documents that were looked at"


class Weighing(StrEnum):
    """Where the weights of annotators come from."""

    GIVEN = "given"
    """From the settings."""
    LEARN = "learn"
    AUTO = "auto"
    """Learned if that is better than equal votes."""


@dataclass(frozen=True)
class RunDecisions:
    """What is decided once for all documents."""

    options: Options
    """The options of the run, with all of it."""
    findings: tuple[Finding, ...] = ()
    table: tuple[str, ...] = ()
    """What was learned about annotators in this run, in lines."""


@dataclass
class _Survey:
    """What was seen so far."""

    alone: Counter[str] = field(default_factory=Counter)
    """How many chains of one each annotator has."""
    chains: Counter[str] = field(default_factory=Counter)
    titles: set[str] = field(default_factory=set)
    groups: set[tuple[str, ...]] = field(default_factory=set)
    """The annotators of each document."""
    patterns: list[Patterns] = field(default_factory=list)
    """What annotators say, document by document."""
    documents: int = 0


def decide_for_run(
    plan: Plan, options: Options, output: Path, *, weighing: Weighing, force: bool = False
) -> RunDecisions:
    """Decide what is decided once; refuse weights that do not fit the annotators."""
    settings, known = options.settings, output / WEIGHTS
    learn = weighing is not Weighing.GIVEN
    learning = learn and (force or not known.exists())
    findings: list[Finding] = []
    if learn and not learning:
        weights, kept = _kept(known)
        settings = replace(settings, weights=weights)
        findings.append(kept)
    table = settings.coverage if isinstance(settings.coverage, CoverageTable) else None
    whole = (learning and weighing is Weighing.LEARN) or table is not None
    whole = whole or not _fits_names(plan, options, settings)
    if not whole and not learning and settings.singletons is not Singletons.AUTO:
        return RunDecisions(replace(options, settings=settings), tuple(findings))
    seen = _survey(plan, options, whole=whole, learning=learning)
    if whole:
        settings.refuse_unknown(seen.chains)
    findings += () if table is None else table.unknown(seen.titles, seen.chains)
    lines: tuple[str, ...] = ()
    learned, about = _learned(seen, weighing, known) if learning else (None, [])
    if learned is not None and not (whole or _fits_names(plan, options, _weighted(settings, learned))):
        learned, about = None, [note("weights-equal", UNSEEN)]
    findings += about
    if learned is not None:
        settings = _weighted(settings, learned)
        lines = tuple(reliability_lines(learned, {}))
    elif whole and not learning:
        _refuse_unweighted(settings, seen, known if learn else None)
    if settings.singletons is Singletons.AUTO:
        singletons, said = decide(seen.alone, seen.chains)
        settings = replace(settings, singletons=singletons)
        findings += said
    if options.strict:
        refuse_warnings(findings)
    if learning:
        _keep(learned, seen, known)
    return RunDecisions(replace(options, settings=settings), tuple(findings), lines)


def _weighted(settings: Settings, learned: Reliability) -> Settings:
    return replace(settings, weights=learned.weights)


def _keep(learned: Reliability | None, seen: _Survey, known: Path) -> None:
    """Write what was decided about weights for later runs, where there is anything to decide."""
    if learned is not None:
        write_all({known: write_weights(learned.weights)})
    elif any(len(group) >= FEWEST for group in seen.groups):
        write_all({known: EQUAL})


def _kept(known: Path) -> tuple[WeightsTable | None, Finding]:
    """Return the weights of an earlier run, and say so."""
    text = read_text(known)
    if text == EQUAL:
        message = f"all votes count the same, as an earlier run decided; --force decides again ({known})"
        return None, note("weights-kept", message)
    message = f"as an earlier run learned them, or as edited since; --force learns them again ({known})"
    return read_weights(text, str(known)), note("weights-kept", f"weights of annotators {message}")


def _learned(seen: _Survey, weighing: Weighing, known: Path) -> tuple[Reliability | None, list[Finding]]:
    """Learn weights, and say so; without any if equal votes are as good."""
    if weighing is Weighing.LEARN:
        learned = learn_reliability(seen.patterns)
        copies, why = tuple(near_copies(sum(seen.patterns, Patterns()))), ""
    else:
        advice = weights_for(seen.patterns)
        copies, why = advice.copies, advice.reason
        if advice.reliability is None:
            equal = [note("weights-equal", f"all votes count the same: {why}")] if why else []
            return None, [*equal, *copy_findings(copies)]
        learned, why = advice.reliability, f"; {why}"
    what = f"learned from {times(seen.documents, 'document')}, and kept for later runs in {known}{why}"
    said = note("weights-learned", f"weights of annotators {what}", count=seen.documents)
    return learned, [said, *learned.findings, *copy_findings(copies)]


def _fits_names(plan: Plan, options: Options, settings: Settings) -> bool:
    """Return whether all names in weights are right if annotators are named as the plan has them."""
    if not settings.factors and settings.weights is None:
        return True
    names: set[str] = set()
    for job in plan.jobs(options):
        group = tuple(source.annotator for source in job.sources)
        names.update(group)
        if settings.unweighted(group):
            return False
    return all(factor.annotator in names for factor in settings.factors)


def _refuse_unweighted(settings: Settings, seen: _Survey, known: Path | None) -> None:
    lacking = sorted({name for group in seen.groups for name in settings.unweighted(group)})
    if lacking:
        names = ", ".join(f"'{name}'" for name in lacking)
        remedy = "" if known is None else f"; add a row to {known}, or learn them again with --force"
        raise InputError(f"weights: there is no row for {names}{remedy}")


def _survey(plan: Plan, options: Options, *, whole: bool, learning: bool) -> _Survey:
    """Read all documents of a corpus, or at most `MOST` of them."""
    step = 1 if whole else max(1, -(-plan.documents // MOST))
    seen = _Survey()
    with _folder(plan.root):
        for job in plan.jobs(options, step):
            for document in _documents(job):
                _add(seen, document, options.settings if learning else None)
    return seen


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Work in the corpus folder, as workers do, so that messages name the same paths."""
    here = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(here)


def _documents(job: Job) -> Sequence[tuple[Annotation, ...]]:
    try:
        return [align(document) for document in documents(job)[0]]
    except Exception:
        # Whatever is wrong with a document is reported by its own job.
        return []


def _add(seen: _Survey, document: tuple[Annotation, ...], learning: Settings | None) -> None:
    seen.documents += 1
    seen.titles.add(document[0].document.title)
    seen.groups.add(tuple(annotation.annotator for annotation in document))
    for annotation in document:
        seen.alone[annotation.annotator] += len(annotation.singletons)
        seen.chains[annotation.annotator] += len(annotation.all_chains)
    if learning is not None:
        seen.patterns.append(instance_patterns(learning.instance(document, Decisions())))
