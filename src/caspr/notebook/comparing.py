"""Agreement between the annotators of some files, from Python."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from caspr.adjudication import by_document
from caspr.measures.agreement import Conventions, Unmarked
from caspr.measures.comparison import Comparison, compare
from caspr.task.settings import Settings
from caspr.task.settings.values import change
from caspr.text.alignment import align
from caspr.text.coverage import Coverage, CoverageTable
from caspr.text.document import Annotation


def agreement(
    files: Sequence[Iterable[Annotation]],
    *,
    own_set: bool = True,
    unmarked: str = "singleton",
    singletons: bool | None = None,
    coverage: str | Path | CoverageTable | Coverage | None = None,
) -> Comparison:
    """Say how far annotators agree, given what was read from the file of each.

    The conventions are those of `caspr agreement`: whether a mention is in its own set, what a mention is
    for an annotator who did not mark it (`singleton`, `missing` or `empty`), whether chains of one count in
    scores (`None`: where both sides have some), and who saw what (a file, or `marks`; `None`: everything).
    """
    documents, _ = by_document([list(file) for file in files])
    aligned = [align(annotations) for annotations in documents]
    settings = change(Settings(), {"coverage": coverage})
    return compare(
        aligned,
        conventions=Conventions(own_set, Unmarked(unmarked)),
        singletons=singletons,
        coverages=[settings.coverage_of(annotations) for annotations in aligned],
    )
