"""Checks: what can be wrong with k annotations of one text, as coded findings.

Whatever makes adjudication impossible is an error; anything else is a note or a warning with a count.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, note, times, warning


def check(annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Return everything odd about the annotations of one document."""
    found: list[Finding] = []
    for annotation in annotations:
        found.extend(annotation.findings)
        found.extend(_odd_chains(annotation))
    found.extend(_different_rows(annotations))
    found.extend(_identical(annotations))
    if not any(annotation.chains for annotation in annotations):
        found.append(warning("no-links", "nobody linked any mentions, so the gold standard has no chains"))
    return tuple(found)


def _odd_chains(annotation: Annotation) -> Iterator[Finding]:
    where = annotation.annotator
    if not annotation.mentions:
        yield warning("empty-annotation", "marked no mentions; the vote counts all the same", where=where)
    holders = Counter(span for chain in _all_chains(annotation) for span in chain)
    several = [span for span, count in holders.items() if count > 1]
    if several:
        example = annotation.document.place(min(several).start)
        yield warning(
            "span-in-two-chains",
            f"{times(len(several), 'mention')} in more than one chain (first at {example})",
            count=len(several),
            where=where,
        )
    crossing = _crossing(holders)
    if crossing:
        yield note(
            "crossing-mentions",
            f"{times(crossing, 'mention')} crossing the boundary of another",
            count=crossing,
            where=where,
        )


def _all_chains(annotation: Annotation) -> Iterator[tuple[Span, ...]]:
    for chain in (*annotation.chains, *annotation.singletons):
        yield chain.mentions


def _crossing(spans: Iterable[Span]) -> int:
    """Count the spans that start inside another and end after it."""
    count = 0
    open_spans: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        open_spans = [other for other in open_spans if other.end >= span.start]
        count += any(other.start < span.start and other.end < span.end for other in open_spans)
        open_spans.append(span)
    return count


def _different_rows(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Warn where files differ in columns other than words and coreference."""
    first = annotations[0].document
    for annotation in annotations[1:]:
        other = annotation.document
        if len(first.rows) != len(other.rows):
            continue
        tokens = [
            token
            for token, pair in enumerate(zip(first.rows, other.rows, strict=True), 1)
            if pair[0] != pair[1]
        ]
        if tokens:
            yield warning(
                "different-columns",
                f"{times(len(tokens), 'token')} with other columns than in {first.source} (first at "
                f"{other.place(tokens[0])}); those of {first.source} are kept",
                count=len(tokens),
                where=annotation.annotator,
            )


def _identical(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Note pairs of identical annotations, which often are one file given twice."""
    contents = sorted(
        (sorted(_all_chains(annotation)), annotation.annotator)
        for annotation in annotations
        if annotation.mentions
    )
    for (one, first), (two, second) in pairwise(contents):
        if one == two:
            yield note("identical-annotations", f"{first} and {second} are identical", where=second)
