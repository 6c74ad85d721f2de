"""Losses: findings about what a format cannot carry of an annotation, made before it is written."""

from collections.abc import Iterator

from caspr.formats.messages import quoted
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times, warning


def lost_marks(annotation: Annotation, *, labels: bool, gaps: bool) -> Iterator[Finding]:
    """Count labels and gaps of mentions that are written, unless the format can express them."""
    where = annotation.annotator
    marks = [(span, mark) for span, mark in annotation.marks.items() if span in annotation.mentions]
    labelled = sum(bool(mark.label) for _, mark in marks)
    if labelled and not labels:
        yield note(
            "lost-labels", f"{times(labelled, 'label')} of mentions not written", count=labelled, where=where
        )
    broken = sorted(span for span, mark in marks if mark.pieces)
    if broken and not gaps:
        example = quoted(annotation.document.text(broken[0]))
        message = (
            f"{times(len(broken), 'mention')} with gaps written as the span that covers it (first: {example})"
        )
        yield warning("covered-gaps", message, count=len(broken), where=where)


def lost_entities(annotation: Annotation, *, names: bool = False, types: bool = False) -> Iterator[Finding]:
    """Count names and types of entities, unless the format can express them."""
    where = annotation.annotator
    named = sum(bool(chain.name) for chain in annotation.all_chains)
    if named and not names:
        message = f"{times(named, 'name')} of entities not written"
        yield note("lost-names", message, count=named, where=where)
    typed = sum(bool(chain.type) for chain in annotation.all_chains)
    if typed and not types:
        message = f"{times(typed, 'type')} of entities not written"
        yield note("lost-types", message, count=typed, where=where)


def removed_mentions(annotation: Annotation, count: int) -> Iterator[Finding]:
    """Count the mentions of a file that are removed because they are in no chain, with their attributes."""
    if count:
        message = f"{times(count, 'mention')} of its file in no chain, not written (see --singletons)"
        yield note("removed-mentions", message, count=count, where=annotation.annotator)


def lost_empty(annotation: Annotation, name: str) -> Iterator[Finding]:
    """Count mentions without characters, which some programs do not accept."""
    text = annotation.document.text
    empty = [span for span in annotation.mentions if not text(span).strip()]
    if empty:
        message = f"{times(len(empty), 'mention')} without characters, which {name} does not show"
        yield warning("empty-mention", message, count=len(empty), where=annotation.annotator)


def lost_edges(annotation: Annotation) -> Iterator[Finding]:
    """Count mentions with a word without characters at an end, which characters cannot express."""
    words = annotation.document.tokens
    edges = [
        span
        for span in annotation.mentions
        if annotation.document.text(span).strip()
        and not (words[span.start - 1].strip() and words[span.end - 1].strip())
    ]
    if edges:
        message = f"{times(len(edges), 'mention')} written without an empty word at its start or end"
        yield warning("lost-edges", message, count=len(edges), where=annotation.annotator)
