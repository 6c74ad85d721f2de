"""The survey: what is decided once for all documents of a corpus, before the first one is adjudicated.

    --singletons auto    whether chains of one are kept: from `SAMPLE` documents spread over the corpus
    --weights learn      what the votes of each annotator cost: from all documents
    --coverage FILE      rows about documents or annotators that are not there: from all documents

Documents are read here, in the process of the command, only as far as one of these needs it. One that
cannot be read is left out: its own job says what is wrong with it.

Learned weights are written to the output folder, and taken from there by later runs, so that a corpus that
is resumed, or grows, keeps the weights it began with; `--force` learns them anew.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.adjudication import by_document
from caspr.corpus.inputs.contents import annotations
from caspr.corpus.inputs.plan import Plan
from caspr.corpus.job import Job, Options
from caspr.files import read_text, write_stream
from caspr.measures.reliability import learn_reliability
from caspr.measures.reliability.patterns import Patterns, instance_patterns
from caspr.task.decisions import Decisions
from caspr.task.instance import Singletons
from caspr.task.settings import Settings
from caspr.task.settings.singletons import decide
from caspr.task.settings.weights_table import read_weights, write_weights
from caspr.text.alignment import align
from caspr.text.coverage import CoverageTable
from caspr.text.document import Annotation
from caspr.text.findings import Finding

SAMPLE = 50
"""How many documents decide at most whether chains of one are kept."""
WEIGHTS = "weights.csv"
"""The file of learned weights in the output folder."""


@dataclass
class _Survey:
    """What was seen so far."""

    alone: Counter[str]
    """How many chains of one each annotator has."""
    chains: Counter[str]
    """How many chains each annotator has."""
    titles: set[str]
    patterns: Patterns


def decide_for_run(
    plan: Plan, options: Options, output: Path, *, learn: bool, force: bool = False
) -> tuple[Options, tuple[Finding, ...]]:
    """Return the options of a run with all that is decided once, and what is worth saying about it."""
    settings = options.settings
    known = output / WEIGHTS
    learning = learn and (force or not known.exists())
    if learn and not learning:
        settings = replace(settings, weights=read_weights(read_text(known), str(known)))
    table = settings.coverage if isinstance(settings.coverage, CoverageTable) else None
    whole = learning or table is not None
    if not whole and settings.singletons is not Singletons.AUTO:
        return replace(options, settings=settings), ()
    seen = _survey(plan, options, whole=whole, learning=learning)
    findings: tuple[Finding, ...] = () if table is None else table.unknown(seen.titles, seen.chains)
    if learning:
        learned = learn_reliability([seen.patterns])
        write_stream(known, [write_weights(learned.weights)])
        settings = replace(settings, weights=learned.weights)
        findings = (*findings, *learned.findings)
    if settings.singletons is Singletons.AUTO:
        singletons, said = decide(seen.alone, seen.chains)
        settings = replace(settings, singletons=singletons)
        findings = (*findings, *said)
    return replace(options, settings=settings), findings


def _survey(plan: Plan, options: Options, *, whole: bool, learning: bool) -> _Survey:
    """Read all documents of a corpus, or a sample of them."""
    step = 1 if whole else max(1, -(-plan.documents // SAMPLE))
    seen = _Survey(Counter(), Counter(), set(), Patterns())
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
        files = annotations(job)
        documents, _ = by_document(files) if len(files) > 1 else ([], ())
        return [align(document) for document in documents]
    except Exception:
        # Whatever is wrong with a document is reported by its own job.
        return []


def _add(seen: _Survey, document: tuple[Annotation, ...], learning: Settings | None) -> None:
    seen.titles.add(document[0].document.title)
    for annotation in document:
        seen.alone[annotation.annotator] += len(annotation.singletons)
        seen.chains[annotation.annotator] += len(annotation.all_chains)
    if learning is not None:
        seen.patterns += instance_patterns(learning.instance(document, Decisions()))
