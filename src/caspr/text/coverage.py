"""Coverage: which part of a document each annotator saw.

    tokens   1 ........ 240 ........ 500
    Anna     =============                      nobody asked Anna about token 300: that she did not
    Ben             ==================          link it says nothing

A span was seen by an annotator if it lies wholly inside what the annotator saw. Intervals add up: those
that overlap or meet are one. An annotator who is not mentioned saw everything, so nothing changes where no
coverage is given.

Coverage comes from a table (`CoverageTable`), or from the marks themselves (`coverage_by_marks`): from the
first to the last token that an annotator marked.

**Does coverage look partial?** A stretch of text in which an annotator marked nothing, while others marked
much, was probably not seen. It is reported where others have at least `MISSED_MARKS` marks in it, and at
least one in `MISSED_SHARE` of all their marks. Among 590 complete annotations of German plays, Hebrew and
Norwegian news with all mentions, the longest such stretch has 18 marks, only 0.8 % of all; the largest share
is 2.3 %, but one mark. None of them is reported, with chains of one or without. Both limits were chosen by
looking at these annotations. An annotator who saw 90 % of a text with 100 marks is reported.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain as flatten

from caspr.errors import FormatError, reading
from caspr.text.csv_table import TableRow, read_table
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding, times, warning

COLUMNS = ("annotator", "document", "from", "to")
"""The columns of a table of coverage."""
MISSED_MARKS = 10
"""A stretch with fewer marks of others is not reported."""
MISSED_SHARE = 10
"""A stretch with less than one in this many of all marks of others is not reported."""


@dataclass(frozen=True)
class Coverage:
    """What annotators saw of one document."""

    seen: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """The intervals of tokens that an annotator saw, in text order; one who is missing saw everything."""

    @classmethod
    def of(cls, intervals: Mapping[str, Iterable[tuple[int, int]]]) -> "Coverage":
        """Make a coverage from intervals of tokens in any order, which may overlap.

        >>> Coverage.of({"anna": [(11, 20), (1, 10), (30, 40)]}).seen
        {'anna': (Span(start=1, end=20), Span(start=30, end=40))}
        """
        return cls({annotator: _joined(intervals[annotator]) for annotator in sorted(intervals)})

    def __bool__(self) -> bool:
        """Return whether anybody may have seen less than everything."""
        return bool(self.seen)

    def sees(self, annotator: str, span: Span) -> bool:
        """Return whether an annotator saw all tokens of a span."""
        if annotator not in self.seen:
            return True
        intervals = self.seen[annotator]
        last = bisect_right(intervals, span.start, key=lambda interval: interval.start) - 1
        return last >= 0 and span.end <= intervals[last].end

    def viewers(self, annotators: Sequence[str], span: Span) -> frozenset[int]:
        """Return the positions of those annotators who saw a span."""
        return frozenset(number for number, name in enumerate(annotators) if self.sees(name, span))


def _joined(intervals: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1].end + 1:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, end))
        else:
            joined.append(Span(start, end))
    return tuple(joined)


def coverage_by_marks(annotations: Iterable[Annotation]) -> Coverage:
    """Take what lies between the first and the last mark of each annotator; one without marks saw nothing."""
    intervals: dict[str, list[tuple[int, int]]] = {}
    for annotation in annotations:
        spans = annotation.mentions
        ends = [(min(span.start for span in spans), max(span.end for span in spans))] if spans else []
        intervals[annotation.annotator] = ends
    return Coverage.of(intervals)


@dataclass(frozen=True)
class CoverageRow:
    """One row of a table of coverage."""

    annotator: str
    document: str
    span: Span | None
    """The tokens that were seen; `None` for none of them."""
    line: int


@dataclass(frozen=True)
class CoverageTable:
    """What annotators saw of many documents."""

    source: str
    rows: tuple[CoverageRow, ...]

    def of(self, document: Document) -> Coverage:
        """Return what annotators saw of a document; refuse tokens that it does not have."""
        intervals: dict[str, list[Span]] = {}
        for row in self.rows:
            if row.document == document.title:
                self._refuse_outside(row, document)
                intervals.setdefault(row.annotator, []).extend([row.span] if row.span else [])
        return Coverage.of(intervals)

    def _refuse_outside(self, row: CoverageRow, document: Document) -> None:
        if row.span and row.span.end > len(document.tokens):
            raise FormatError(
                row.line,
                f"token {row.span.end} of document '{document.title}'",
                f"a token from 1 to {len(document.tokens)}, counted in words, not in characters",
                self.source,
            )

    def unknown(self, documents: Iterable[str], annotators: Iterable[str]) -> tuple[Finding, ...]:
        """Report rows about documents, by their titles, or annotators that are not there."""
        titles, names = set(documents), set(annotators)
        lost = [row for row in self.rows if row.document not in titles or row.annotator not in names]
        if not lost:
            return ()
        first = lost[0]
        known = first.document in titles
        what = f"annotator '{first.annotator}'" if known else f"document '{first.document}'"
        expected = ", ".join(f"'{name}'" for name in sorted(names if known else titles)[:5])
        message = f"{times(len(lost), 'row')} not used: the first is about {what}; known here: {expected}"
        return (warning("unused-coverage", message, count=len(lost), where=f"{self.source}:{first.line}"),)


def read_coverage(text: str, source: str) -> CoverageTable:
    """Read a table with the columns annotator, document, from token and to token, from the text of a file.

    Tokens are counted from 1, both ends included. Empty cells for both mean that nothing of it was seen.
    """
    with reading(source):
        return CoverageTable(source, tuple(map(_part, read_table(text, COLUMNS))))


def _part(row: TableRow) -> CoverageRow:
    annotator, document, start, end = row.cells
    if not annotator or not document:
        raise FormatError(row.line, "no name", "an annotator and a document")
    if not start and not end:
        return CoverageRow(annotator, document, None, row.line)
    numbers = [int(cell) for cell in (start, end) if cell.isascii() and cell.isdigit() and len(cell) < 10]
    if len(numbers) < 2 or not 1 <= numbers[0] <= numbers[1]:
        raise FormatError(
            row.line,
            f"tokens '{start}' to '{end}'",
            "two whole numbers, the first from 1 and not above the second, or two empty cells",
        )
    return CoverageRow(annotator, document, Span(*numbers), row.line)


def outside_coverage(annotations: Iterable[Annotation], coverage: Coverage) -> Iterator[Finding]:
    """Warn about annotators who marked mentions in what they did not see, as far as coverage says.

    Whoever marked a mention saw it; an annotator who did so often may have seen more than the table says.
    """
    for annotation in annotations:
        name = annotation.annotator
        outside = sorted(span for span in annotation.mentions if not coverage.sees(name, span))
        if outside:
            message = (
                f"marked {times(len(outside), 'mention')} outside what --coverage says (first at "
                f"{annotation.document.place(outside[0].start)}): they count, but what is not marked there "
                "is not a vote against it; if this annotator saw more, add it to the table"
            )
            yield warning("marks-outside-coverage", message, count=len(outside), where=name)


def partial_coverage(annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Warn about annotators who marked nothing in a long stretch of text in which others marked much.

    One who marked nothing at all is left to the finding `empty-annotation`.
    """
    marked = [annotation.mentions for annotation in annotations]
    markers = Counter(flatten.from_iterable(marked))
    ordered = sorted(markers)
    findings = []
    for annotation, own in zip(annotations, marked, strict=True):
        # Nothing was missed where no run of marks of others is long enough.
        if bytes(MISSED_MARKS) not in bytes(map(own.__contains__, ordered)):
            continue
        shared = len(markers) - sum(markers[span] == 1 for span in own)
        missed = max(_missed(own, ordered), default=[], key=len)
        if own and len(missed) >= MISSED_MARKS and MISSED_SHARE * len(missed) >= shared:
            findings.append(_partial(annotation, missed))
    return tuple(findings)


def _missed(own: Container[Span], ordered: Iterable[Span]) -> Iterator[list[Span]]:
    """Yield the spans of others in each stretch between marks of an annotator, and before and after them.

    Spans come in text order; one that shares tokens with a mark is in no stretch.
    """
    stretch: list[Span] = []
    reach = 0
    for span in ordered:
        if span in own:
            if stretch:
                yield [missed for missed in stretch if missed.end < span.start]
                stretch = []
            reach = max(reach, span.end)
        elif span.start > reach:
            stretch.append(span)
    yield stretch


def _partial(annotation: Annotation, missed: Sequence[Span]) -> Finding:
    start, end = missed[0].start, max(span.end for span in missed)
    return warning(
        "partial-coverage",
        f"marked nothing from token {start} to {end}, where others marked {times(len(missed), 'mention')}; "
        "it counts as a vote against all links there unless --coverage says that it was not annotated",
        count=len(missed),
        where=annotation.annotator,
    )
