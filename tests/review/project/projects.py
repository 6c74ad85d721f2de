"""Small projects, made by the pipeline of `caspr corpus`."""

from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

from caspr.corpus.job import Options
from caspr.corpus.pipeline import Request, run_corpus
from caspr.review.project.project import Project
from tests.corpus.corpora import write_corpus
from tests.corpus.here import PERFORM_HERE, perform_all

NAMES = ("one", "two", "three")


def made(
    folder: Path, names: Iterable[str] = NAMES, annotators: Iterable[str] = ("ann", "bob", "eve")
) -> Path:
    """Make a project of some documents, or run the corpus again over one that is there."""
    write_corpus(folder / "corpus", names, by="annotator", annotators=annotators)
    request = Request(
        (folder / "corpus",), folder / "project", Options(layout="project"), by="annotator", processes=1
    )
    with patch(PERFORM_HERE, perform_all):
        totals, _ = run_corpus(request)
    assert totals.failed == 0
    return folder / "project"


def opened(folder: Path, who: str = "Ann") -> Project:
    """Open a project; the caller closes it."""
    return Project.opened(folder, lambda settings: settings, who)
