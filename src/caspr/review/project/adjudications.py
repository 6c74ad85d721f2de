"""Independent adjudications of the same documents, compared and merged: they are annotations like any others.

    caspr review ann.conll bob.conll -o merged.conll     two review files of one document
    caspr review ann/ bob/ -o merged/                    two projects

Each adjudicator is an annotator of a new review, named after the file or folder; what they annotated is
what their decisions lead to. So where they agree nothing is asked, and where they differ somebody decides.
"""

from collections.abc import Sequence
from pathlib import Path

from caspr.adjudication import adjudicate_document, by_document
from caspr.errors import InputError
from caspr.formats import review_file
from caspr.formats.review_file.project import FOLDER, is_project, new_project, read_project
from caspr.review.documents import ChangeSettings
from caspr.review.session import fresh_review
from caspr.storage import write_all
from caspr.task.settings import Settings
from caspr.task.stored_settings import read_settings
from caspr.text.alignment import align
from caspr.text.document import Annotation
from caspr.text.findings import Finding


def are_adjudications(paths: Sequence[Path]) -> bool:
    """Return whether several review files were given, or several projects."""
    return len(paths) > 1 and (all(map(is_project, paths)) or all(map(review_file.is_review, paths)))


def results_of(path: Path) -> list[Annotation]:
    """Return what the decisions in a review file or a project lead to, as annotations of one annotator."""
    files = [path]
    if is_project(path):
        files = [path / document.file for document in read_project(path).documents]
    name = path.resolve().name if is_project(path) else path.stem
    annotations = []
    for review in (review for file in files for review in review_file.read(file)):
        result = adjudicate_document(review.annotations, review.decisions, read_settings(review.settings))
        gold = result.gold
        annotations.append(Annotation.of(name, gold.document, gold.all_chains))
    return annotations


def merge_projects(
    work: Sequence[Sequence[Annotation]], output: Path, change_settings: ChangeSettings
) -> tuple[Finding, ...]:
    """Make a project of what several adjudicators say about the same documents."""
    if output.exists() and any(output.iterdir()):
        raise InputError(
            f"{output}: this folder has files in it: name a new one with -o, or open this one alone"
        )
    documents, findings = by_document(work)
    settings = change_settings(Settings())
    texts = new_project([fresh_review(align(annotations), settings) for annotations in documents])
    (output / FOLDER).mkdir(parents=True, exist_ok=True)
    write_all({output / file: text for file, text in texts.items()})
    return findings
