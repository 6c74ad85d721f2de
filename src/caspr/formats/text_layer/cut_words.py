"""From tokens that were cut to align annotators back to the words of a file.

Words are cut where annotators disagree about their ends (see `caspr.text.alignment`). What is written needs
only the cuts at which one of its own mentions begins or ends: `mend` undoes the others. A format whose words
cannot be cut at all, because a tree or other files refer to them, takes `whole_words`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from caspr.text.document import Annotation, Document, Mark, Span
from caspr.text.findings import Finding, times, warning


def mend(annotation: Annotation) -> Annotation:
    """Join the pieces of words between which no mention begins or ends, and drop needless empty tokens."""
    if not annotation.document.origin:
        return annotation
    spans = [
        span
        for chain in annotation.all_chains
        for mention in chain.mentions
        for span in (mention, *annotation.marks.get(mention, Mark()).pieces)
    ]
    return _joined(annotation, {start for start, _ in spans}, {end for _, end in spans})


def whole_words(annotation: Annotation) -> Annotation:
    """Widen mentions to the words of the file; tokens that the file lacks go with a word beside them."""
    if not annotation.document.origin:
        return annotation
    return _joined(annotation, set(), set())


def widened(annotation: Annotation) -> tuple[Finding, ...]:
    """Warn about mentions that begin or end inside a word, for formats that cannot express that."""
    mended = mend(annotation).document
    if not mended.origin:
        return ()
    counts = Counter(mended.origin)
    pieces = sum(counts[token] > 1 or not token for token in mended.origin)
    message = (
        f"words cut into {times(pieces, 'piece')} by mentions that begin or end inside them; such "
        "mentions are written as whole words"
    )
    return (warning("widened-mention", message, count=pieces, where=annotation.annotator),)


def _joined(annotation: Annotation, starts: set[int], ends: set[int]) -> Annotation:
    document = annotation.document
    groups = _groups(document.origin, starts, ends)
    number = {token: new for new, group in enumerate(groups, 1) for token in group}

    def moved(span: Span) -> Span:
        return Span(number[span.start], number[span.end])

    chains = [chain.over(map(moved, chain.mentions)) for chain in annotation.all_chains]
    marks = {
        moved(span): Mark(mark.label, tuple(map(moved, mark.pieces)))
        for span, mark in annotation.marks.items()
        if span in annotation.mentions
    }
    changed = _document(document, groups, number)
    return annotation.with_chains(chains, document=changed, marks=marks)


def _groups(origin: Sequence[int], starts: set[int], ends: set[int]) -> list[list[int]]:
    """Sort tokens into those that become one."""
    groups: list[list[int]] = []
    owner = -1
    for token, word in enumerate(origin, 1):
        bound = token in starts or token - 1 in ends
        # What the file lacks has no characters: unless a mention is there, it may go with any word.
        hollow = not owner and not (starts | ends).intersection(groups[-1])
        if groups and (hollow or (not bound and word in (owner, 0))):
            groups[-1].append(token)
            owner = owner or word
        else:
            groups.append([token])
            owner = word
    return groups


def _document(document: Document, groups: Sequence[Sequence[int]], number: dict[int, int]) -> Document:
    origin = tuple(next((word for word in _of(document.origin, group) if word), 0) for group in groups)
    offsets = document.offsets
    return replace(
        document,
        tokens=tuple("".join(_of(document.tokens, group)) for group in groups),
        rows=(),
        lines=tuple(document.lines[group[0] - 1] for group in groups) if document.lines else (),
        offsets=tuple((offsets[group[0] - 1][0], offsets[group[-1] - 1][1]) for group in groups)
        if offsets
        else (),
        sentence_ends=tuple(sorted({number[token] for token in document.sentence_ends})),
        origin=() if origin == tuple(range(1, len(origin) + 1)) else origin,
    )


def _of(values: Sequence[str] | Sequence[int], group: Iterable[int]) -> list:  # type: ignore[type-arg]
    return [values[token - 1] for token in group]
