"""Annotations that every format can carry, and ways to write, read and compare them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from caspr.align import align
from caspr.document import Annotation, Chain, Document, Mark, Span
from caspr.files import write_all
from caspr.formats.annotators import read_one
from caspr.formats.table import render

SUFFIX = {
    "conll": ".conll",
    "corefud": ".conllu",
    "jsonlines": ".jsonl",
    "brat": ".ann",
    "gate": ".gate",
    "mmax": ".mmax",
    "webanno": ".tsv",
    "cas": ".xmi",
}
"""The formats that write any annotation, with a file name for each."""
LABELLED = {"brat", "gate", "webanno", "cas", "corefud"}
"""Those that carry labels."""
GAPPED = {"brat", "corefud", "mmax"}
"""Those that carry mentions with gaps."""

_SIGNS = "äößÉ\U0001f600\U0001f469\u200d\U0001f4bbאבgضe\u0301हिन्दी漢字()|[]_*\\<>&\"'%#=;:,.-x/{}$`~^!?@+"
words = st.text(st.sampled_from(_SIGNS), min_size=1, max_size=5)
labels = st.sampled_from(["", "person", "nam", "ÄÖ", "x_y"])


@st.composite
def annotations(draw: st.DrawFn, annotator: str = "Ann") -> Annotation:
    """Draw an annotation with nested, crossing, repeated and broken mentions."""
    tokens = tuple(draw(st.lists(words, min_size=1, max_size=10)))
    length = len(tokens)
    ends = tuple(sorted(draw(st.sets(st.integers(1, length), max_size=3)) | {length}))
    document = Document("d", tokens, sentence_ends=ends)
    token = st.integers(1, length)
    span = st.tuples(token, token).map(lambda pair: Span(min(pair), max(pair)))
    drawn = draw(st.lists(st.lists(span, min_size=1, max_size=5), max_size=4))
    chains = [Chain.of(str(number), spans) for number, spans in enumerate(drawn, 1)]
    marks = {
        span: Mark(draw(labels), draw(_pieces(span)))
        for span in sorted({span for chain in chains for span in chain.mentions})
    }
    return Annotation.of(annotator, document, chains, marks={s: m for s, m in marks.items() if m != Mark()})


@st.composite
def _pieces(draw: st.DrawFn, span: Span) -> tuple[Span, ...]:
    if span.end - span.start < 2 or draw(st.booleans()):
        return ()
    gap = draw(st.integers(span.start + 1, span.end - 1))
    return Span(span.start, gap - 1), Span(gap + 1, span.end)


def save(given: Sequence[Annotation], path: Path, format: str) -> None:
    """Write annotations to a file or folder."""
    write_all(render(given, path, format=format), below=path.parent)


def again(annotation: Annotation, folder: Path, format: str, suffix: str = "") -> Annotation:
    """Write an annotation and read it back."""
    path = folder / f"x{suffix or SUFFIX[format]}"
    save([annotation], path, format)
    [back] = read_one(path, "Ann", format=format)
    return back


def partition(annotation: Annotation) -> list[tuple[Span, ...]]:
    """Return the chains without their ids."""
    return sorted(chain.mentions for chain in annotation.all_chains)


def assert_same(one: Annotation, two: Annotation, *, labels: bool = False, gaps: bool = False) -> None:
    """Compare chains over the same characters."""
    first, second = align([one, replace(two, annotator="other")])
    assert partition(first) == partition(second)
    for span in first.mentions:
        mine, other = first.marks.get(span, Mark()), second.marks.get(span, Mark())
        if labels:
            assert mine.label == (other.label if other.label != "Mention" else ""), span
        if gaps:
            assert mine.pieces == other.pieces, span
