"""Add late or corrected annotations to a project or a review file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from caspr.formats.review_file.project import NAME, read_project
from caspr.locks import FileLock
from caspr.review.project.annotators import Given, add_annotations, by_key
from caspr.review.project.listing import is_project
from caspr.review.session.documents import ChangeSettings
from caspr.text.document import Annotation, Document
from caspr.text.findings import times


def add_to_review(
    place: Path,
    given: Sequence[Sequence[Annotation]],
    who: str,
    change_settings: ChangeSettings = lambda settings: settings,
) -> list[str]:
    """Add annotations wherever they belong, and say in lines what that changed."""
    found = by_key(given)
    lines = list(
        _added_to_project(place, found, who, change_settings)
        if is_project(place)
        else _added(place, found, who, change_settings)
    )
    return lines or ["nothing is new in these annotations"]


def _added_to_project(folder: Path, given: Given, who: str, change: ChangeSettings) -> Iterator[str]:
    """Open only the review files of documents that there are annotations of."""
    titles = {Document(name, (), part=part).title for name, part in given}
    with FileLock(folder / NAME):
        documents = [one for one in read_project(folder).documents if one.title in titles]
        for one in documents:
            yield from _added(folder / one.file, given, who, change)
    missing = sorted(titles - {one.title for one in documents})
    if missing:
        yield f"not in the project: {times(len(missing), 'document')} (first: {missing[0]})"


def _added(path: Path, given: Given, who: str, change: ChangeSettings) -> Iterator[str]:
    for addition in add_annotations(path, given, who, change):
        yield from addition.lines()
