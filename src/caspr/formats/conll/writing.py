"""Write CoNLL: the columns of the file a document was read from, with new cells in the last one."""

from collections.abc import Iterable

from caspr.formats.chain_ids import numbered
from caspr.formats.columns.cells import split_crossing
from caspr.formats.columns.entity_lines import GOLD_LINE, entity_lines
from caspr.formats.columns.rows import (
    Layout,
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
    chains = annotation.all_chains
    if not isinstance(document.layout, Layout):
        # The reference scorer needs numbers; the ids of a CoNLL file are its owner's choice.
        chains = tuple(numbered(chains, is_number))
    column = write_column(document, chains, annotation.annotator)
    gold = [GOLD_LINE] if annotation.adjudicated else []
    header = [*gold, *entity_lines(chains), *alias_lines(column.aliases)]
    return write_document(document, header, column.cells, notes=False)


def is_number(id: str) -> bool:
    """Return whether the reference scorer reads an id as one."""
    return id.isascii() and id.isdecimal()
