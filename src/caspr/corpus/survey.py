"""The survey: what is decided once for all documents of a corpus, before the first one is adjudicated.

    --singletons auto    whether chains of one are kept: from all documents, or from `MOST` of them, spread
                         over the corpus, if there are more
    --weights learn      what the votes of each annotator cost: from all documents
    --coverage FILE      rows about documents or annotators that are not there: from all documents
    --weight, --weights  names of annotators that are not there, or missing in the table: from the names of
                         the files, and from all documents only where these do not fit

Documents are read here, in the process of the command, only as far as one of these needs it: reading takes
an eighth of the processor time of a corpus of short texts, and is done here by one process. One that cannot
be read is left out: its own job says what is wrong with it.

Learned weights are written to the output folder, and taken from there by later runs, so that a corpus that
is resumed, or grows, keeps the weights it began with; `--force` learns them again.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from caspr.corpus.job import Job, Options, documents
from caspr.corpus.plan import Plan
from caspr.errors import InputError
from caspr.measures.reliability import Patterns, Reliability, instance_patterns, learn_reliability
from caspr.report.comparison_tables import reliability_lines
from caspr.storage import read_text, write_stream
from caspr.task.decisions import Decisions
from caspr.task.instance import Singletons
from caspr.task.settings import Settings, decide
from caspr.task.weights import read_weights, write_weights
from caspr.text.alignment import align
from caspr.text.coverage import CoverageTable
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, refuse_warnings, times

MOST = 1000
"""How many documents decide at most whether chains of one are kept."""
WEIGHTS = "weights.csv"
"""The file of learned weights in the output folder."""


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
    patterns: Patterns = field(default_factory=Patterns)
    documents: int = 0


def decide_for_run(
    plan: Plan, options: Options, output: Path, *, learn: bool, force: bool = False
) -> RunDecisions:
    """Decide what is decided once; refuse weights that do not fit the annotators."""
    settings, known = options.settings, output / WEIGHTS
    learning = learn and (force or not known.exists())
    findings: list[Finding] = []
    if learn and not learning:
        settings = replace(settings, weights=read_weights(read_text(known), str(known)))
        message = f"as an earlier run learned them, or as edited since; --force learns them again ({known})"
        findings.append(note("weights-kept", f"weights of annotators {message}"))
    table = settings.coverage if isinstance(settings.coverage, CoverageTable) else None
    whole = learning or table is not None or not _fits_names(plan, options, settings)
    if not whole and settings.singletons is not Singletons.AUTO:
        return RunDecisions(replace(options, settings=settings), tuple(findings))
    seen = _survey(plan, options, whole=whole, learning=learning)
    if whole:
        settings.refuse_unknown(seen.chains)
    findings += () if table is None else table.unknown(seen.titles, seen.chains)
    lines: tuple[str, ...] = ()
    if learning:
        learned = learn_reliability([seen.patterns])
        settings = replace(settings, weights=learned.weights)
        findings += _said(learned, seen, known)
        lines = tuple(reliability_lines(learned, {}))
    elif whole:
        _refuse_unweighted(settings, seen, known if learn else None)
    if settings.singletons is Singletons.AUTO:
        singletons, said = decide(seen.alone, seen.chains)
        settings = replace(settings, singletons=singletons)
        findings += said
    if options.strict:
        refuse_warnings(findings)
    if learning:
        write_stream(known, [write_weights(learned.weights)])
    return RunDecisions(replace(options, settings=settings), tuple(findings), lines)


def _said(learned: Reliability, seen: _Survey, known: Path) -> Iterator[Finding]:
    what = f"learned from {times(seen.documents, 'document')}, and kept for later runs in {known}"
    yield note("weights-learned", f"weights of annotators {what}", count=seen.documents)
    yield from learned.findings


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
        for number, job in enumerate(plan.jobs(options)):
            if number % step:
                continue
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
        seen.patterns += instance_patterns(learning.instance(document, Decisions()))
