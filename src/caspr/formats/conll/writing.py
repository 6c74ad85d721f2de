"""Write CoNLL: the columns of the file a document was read from, with new cells in the last one."""

from collections.abc import Iterable

from caspr.formats.columns.cells import split_crossing
from caspr.formats.columns.rows import (
    alias_lines,
    write_column,
    write_document,
)
from caspr.formats.losses import lost_marks
from caspr.formats.messages import quoted
from caspr.formats.text_layer.cut_words import mend
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times, warning


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each with the other columns of the file it was read from.

    Reading this again gives equal annotations. Raises `OutputError` where that cannot be done.
    """
    return "".join(map(_write_one, annotations))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return (*crossing_findings(annotation), *lost_marks(annotation, labels=False, gaps=False))


def crossing_findings(annotation: Annotation) -> tuple[Finding, ...]:
    """Warn about mentions that other programs will see in a chain of their own."""
    chains, aliases = split_crossing((*annotation.chains, *annotation.singletons))
    moved = sorted(
        (span, aliases[chain.id]) for chain in chains if chain.id in aliases for span in chain.mentions
    )
    if not moved:
        return ()
    span, id = moved[0]
    place = annotation.document.place(span.start)
    message = (
        f"{times(len(moved), 'mention')} crossing another of the same chain, written under a new chain id; "
        f"the first is {quoted(annotation.document.text(span))} of chain {id} ({place})"
    )
    return (warning("crossing-in-chain", message, count=len(moved), where=annotation.annotator),)


def _write_one(annotation: Annotation) -> str:
    annotation = mend(annotation)
    document = annotation.document
    column = write_column(document, annotation.all_chains, annotation.annotator)
    return write_document(document, alias_lines(column.aliases), column.cells, notes=False)
