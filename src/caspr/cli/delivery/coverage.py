"""What `--coverage` says: a table, or the annotators' marks."""

from collections.abc import Sequence
from pathlib import Path

from caspr.files import read_text
from caspr.text.coverage import Coverage, coverage_by_marks, read_coverage
from caspr.text.document import Annotation
from caspr.text.findings import Finding

MARKS = "marks"
"""The word for coverage from the first to the last mark; a file of this name is given as `./marks`."""


def read_coverages(
    given: str | None, documents: Sequence[Sequence[Annotation]]
) -> tuple[list[Coverage], tuple[Finding, ...]]:
    """Return what annotators saw of each document, and what is odd about the table."""
    if given is None:
        return [Coverage()] * len(documents), ()
    if given == MARKS:
        return [coverage_by_marks(annotations) for annotations in documents], ()
    table = read_coverage(read_text(Path(given)), given)
    texts = [annotations[0].document for annotations in documents]
    names = {annotation.annotator for annotations in documents for annotation in annotations}
    return [table.of(text) for text in texts], table.unknown((text.title for text in texts), names)
