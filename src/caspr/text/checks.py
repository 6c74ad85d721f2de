"""Checks: what can be wrong with k annotations of one text, as coded findings.

Whatever makes adjudication impossible is an error; anything else is a note or a warning with a count.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain as flatten
from itertools import pairwise
from operator import itemgetter

from caspr.errors import InputError
from caspr.text.arguments import ONE_DOCUMENT, annotations_of
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, note, times, warning

_MANY = 20
"""Two annotators who agree in this many mentions or more do not do so by chance."""


def check(annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Return everything odd about the annotations of one document."""
    return find_odd(annotations_of(annotations, "caspr.check", ONE_DOCUMENT))


def find_odd(annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Return the same for annotations whose mentions are known to be in the text."""
    findings: list[Finding] = []
    for annotation in annotations:
        findings += (*annotation.findings, *_empty(annotation), *_odd_chains(annotation))
    findings += (*_different_rows(annotations), *_identical(annotations))
    if not any(annotation.chains for annotation in annotations):
        findings.append(_no_links(annotations))
    return tuple(findings)


def refuse_golds(annotations: Sequence[Annotation], *, others: int = 0) -> None:
    """Refuse golds of earlier adjudications beside the work of annotators, who would be counted twice.

    `others` is the number of annotators who are there already.
    """
    golds = [annotation for annotation in annotations if annotation.adjudicated]
    if golds and len(golds) < len(annotations) + others:
        gold = golds[0].document
        raise InputError(
            f"{gold.source or golds[0].annotator}: this is the gold of an adjudication of document "
            f"'{gold.title}', and would count beside the annotators it was made from: leave it out, or use "
            "--allow-gold if it is to vote like an annotator"
        )


def refuse_only_golds(annotations: Sequence[Annotation]) -> None:
    """Refuse golds in place of the annotations that they were made from."""
    if annotations and all(annotation.adjudicated for annotation in annotations):
        first = annotations[0]
        raise InputError(
            f"{first.document.source or first.annotator}: this is the gold of an adjudication, not the work "
            "of annotators: give the folder or the files that it was made from, or the project"
        )


def refuse_document_twice(annotations: Iterable[Annotation], remedy: str) -> None:
    """Refuse two annotations of one document where each should be there once, naming the files."""
    seen: dict[object, Annotation] = {}
    for annotation in annotations:
        document = annotation.document
        first = seen.setdefault(document.key, annotation)
        if first is annotation:
            continue
        files = [first.document.source, document.source]
        if len(set(files)) < 2:
            twins = (first, annotation)
            files = [f"{twin.document.source} (annotator '{twin.annotator}')" for twin in twins]
        raise InputError(
            f"document '{document.title}' was given twice, in {files[0]} and {files[1]}: {remedy}"
        )


def adjudicated_before(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Note golds of earlier adjudications among what is adjudicated."""
    golds = [annotation.annotator for annotation in annotations if annotation.adjudicated]
    if golds:
        message = f"{times(len(golds), 'gold')} of earlier adjudications counted as votes: {', '.join(golds)}"
        yield note("gold-votes", message, count=len(golds), where=annotations[0].document.title)


def refuse_nothing_marked(documents: Sequence[Sequence[Annotation]]) -> None:
    """Refuse files in which no annotator marked anything: a layer was missed, or the wrong files given.

    A single annotator may mark nothing, and so may all in one of several documents.
    """
    every = [annotation for annotations in documents for annotation in annotations]
    if not every or any(annotation.all_chains for annotation in every):
        return
    names = (annotation.document.source or annotation.annotator for annotation in every[:5])
    raise InputError(
        f"{', '.join(dict.fromkeys(names))}: no annotator has any chains{_held(every)}; "
        "choose what to read with --layer, --relation or --format"
    )


def _held(annotations: Sequence[Annotation]) -> str:
    """Name the layers and relations of some files, where there are any, to be added to a message."""
    layers = sorted({layer for annotation in annotations for layer in annotation.document.layers})
    return f"; they hold: {', '.join(layers)}" if layers else ""


def _no_links(annotations: Sequence[Annotation]) -> Finding:
    """Warn that there is nothing to merge, and name what the files hold: it may be the links."""
    held = _held(annotations).replace("they hold", "the files hold")
    remedy = " (choose what links mentions with --relation or --layer)" if held else ""
    return warning(
        "no-links", f"nobody linked any mentions, so the gold standard has no chains{held}{remedy}"
    )


def spoiling(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Yield what of `check` spoils numbers about annotators: those who marked nothing, and copies."""
    for annotation in annotations:
        yield from _empty(annotation)
    yield from (finding for finding in _identical(annotations) if finding.code == "copied-annotations")


def _empty(annotation: Annotation) -> Iterator[Finding]:
    if not annotation.mentions:
        message = "marked no mentions: a vote against every link; leave the file out if it was not annotated"
        yield warning("empty-annotation", message, where=annotation.annotator)


def _odd_chains(annotation: Annotation) -> Iterator[Finding]:
    where = annotation.annotator
    if sum(len(chain.mentions) for chain in annotation.all_chains) > len(annotation.mentions):
        holders = Counter(flatten.from_iterable(chain.mentions for chain in annotation.all_chains))
        several = [span for span, count in holders.items() if count > 1]
        example = annotation.document.place(min(several).start)
        yield warning(
            "span-in-two-chains",
            f"{times(len(several), 'mention')} in more than one chain (first at {example})",
            count=len(several),
            where=where,
        )
    crossing = _crossing(annotation.mentions)
    if crossing:
        yield note(
            "crossing-mentions",
            f"{times(crossing, 'mention')} crossing the boundary of another",
            count=crossing,
            where=where,
        )


def _crossing(spans: Iterable[Span]) -> int:
    """Count the spans that start inside another and end after it.

    >>> _crossing([Span(1, 3), Span(2, 2), Span(3, 4), Span(3, 9)])
    2
    """
    count = reach = 0
    ends: list[int] = []
    # Of those that start together, the longer ones come first: so none of them counts as open before.
    by_end = sorted(spans, key=itemgetter(1), reverse=True)
    for start, end in sorted(by_end, key=itemgetter(0)):
        if start > reach:
            ends, reach = [end], end
            continue
        while ends[0] < start:
            heappop(ends)
        # Of all that are still open, the first to end.
        count += ends[0] < end
        heappush(ends, end)
        reach = max(reach, end)
    return count


def _different_rows(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Warn where files differ in columns other than words and coreference."""
    first = annotations[0].document
    for annotation in annotations[1:]:
        document = annotation.document
        if len(first.rows) != len(document.rows) or first.rows == document.rows:
            continue
        tokens = [
            token
            for token, (row, twin) in enumerate(zip(first.rows, document.rows, strict=True), 1)
            if row != twin and row.split() != twin.split()
        ]
        if tokens:
            yield warning(
                "different-columns",
                f"{times(len(tokens), 'token')} with other columns than in {first.source} (first at "
                f"{document.place(tokens[0])}); those of {first.source} are kept",
                count=len(tokens),
                where=annotation.annotator,
            )


def _is_named_as_a_copy(name: str, longer: str) -> bool:
    """Return whether a file name is another one with more after it, or *Copy of* before it.

    >>> _is_named_as_a_copy("eva", "eva (copy)"), _is_named_as_a_copy("eva", "evan")
    (True, False)
    """
    rest = longer.removeprefix("Copy of ").removeprefix(name)
    return rest != longer and not rest[:1].isalnum()


def _identical(annotations: Sequence[Annotation]) -> Iterator[Finding]:
    """Report pairs of identical annotations, which often are one file given twice.

    In a short text annotators may well agree in everything: what is only noted is not called a copy.
    """
    contents = sorted(
        (sorted(chain.mentions for chain in annotation.all_chains), annotation.annotator)
        for annotation in annotations
        if annotation.mentions
    )
    for (chains, first), (twins, second) in pairwise(contents):
        if chains != twins:
            continue
        mentions = sum(map(len, chains))
        if mentions >= _MANY or _is_named_as_a_copy(*sorted((first, second), key=len)):
            message = (
                f"the annotations of {first} and {second} are identical in all of "
                f"{times(mentions, 'mention')}: if one file is a copy of the other, "
                "take it away, or its votes count twice"
            )
            yield warning("copied-annotations", message)
        else:
            yield note("identical-annotations", f"the annotations of {first} and {second} are identical")
