"""Annotations that every format can carry, and ways to write, read and compare them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from caspr.formats.registry import render
from caspr.formats.sources import read_one
from caspr.storage import write_all
from caspr.text.alignment import align
from caspr.text.document import Annotation, Chain, Document, Mark, Span

SUFFIX = {
    "conll": ".conll",
    "corefud": ".conllu",
    "conllua": ".conllua",
    "jsonlines": ".jsonl",
    "brat": ".ann",
    "gate": ".gate",
    "mmax": ".mmax",
    "webanno": ".tsv",
    "cas": ".xmi",
    "corefannotator": ".xmi.gz",
    "wlcoref": ".wlcoref.jsonlines",
    "fastcoref": ".fastcoref.jsonl",
    "preco": ".preco.jsonl",
    "rucoco": ".rucoco.json",
    "labelstudio": ".labelstudio.json",
    "sacr": ".sacr",
    "asp": ".lp",
}
"""The formats that write any annotation, with a file name for each."""
LABELLED = {"brat", "gate", "webanno", "cas", "conllua", "corefud", "labelstudio", "sacr"}
"""Those that carry labels."""
GAPPED = {"brat", "conllua", "corefud", "mmax", "corefannotator"}
"""Those that carry mentions with gaps."""

CHARACTERS = {
    "brat",
    "gate",
    "webanno",
    "cas",
    "corefannotator",
    "fastcoref",
    "rucoco",
    "labelstudio",
    "sacr",
}
"""Those that count characters, in which an empty word has no place."""

_SIGNS = "äößÉ\U0001f600\U0001f469\u200d\U0001f4bbאבgضe\u0301हिन्दी漢字()|[]_*\\<>&\"'%#=;:,.-x/{}$`~^!?@+"
words = st.text(st.sampled_from(_SIGNS), min_size=1, max_size=5) | st.just("")
labels = st.sampled_from(["", "person", "nam", "ÄÖ", "x_y"])


@st.composite
def annotations(draw: st.DrawFn, annotator: str = "Ann") -> Annotation:
    """Draw an annotation with nested, crossing, repeated, broken and empty mentions, or with nothing."""
    drawn_words = draw(st.lists(words, max_size=10))
    # Two empty words at the same place are one place in a text.
    tokens = tuple(word for n, word in enumerate(drawn_words) if word or n == 0 or drawn_words[n - 1])
    length = len(tokens)
    if not length:
        return Annotation.of(annotator, Document("d", ()), [])
    ends = tuple(sorted(draw(st.sets(st.integers(1, length), max_size=3)) | {length}))
    document = Document("d", tokens, sentence_ends=ends)
    drawn = draw(st.lists(st.lists(spans(tokens), min_size=1, max_size=5), max_size=4))
    chains = [Chain.of(str(number), spans) for number, spans in enumerate(drawn, 1)]
    marks = {
        span: Mark(draw(labels), draw(_pieces(tokens, span)))
        for span in sorted({span for chain in chains for span in chain.mentions})
    }
    return Annotation.of(annotator, document, chains, marks={s: m for s, m in marks.items() if m != Mark()})


def spans(tokens: Sequence[str]) -> st.SearchStrategy[Span]:
    """Draw a mention."""
    token = st.integers(1, max(1, len(tokens)))
    pairs = st.tuples(token, token)
    return pairs.map(lambda pair: _solid(tokens, Span(min(pair), max(pair))) if tokens else Span(1, 1))


def _solid(tokens: Sequence[str], span: Span) -> Span:
    """Begin and end a mention with characters, unless it is one empty word: see `format.lost`."""
    start, end = span
    start += start < end and not tokens[start - 1]
    end -= start < end and not tokens[end - 1]
    return Span(start, end)


@st.composite
def _pieces(draw: st.DrawFn, tokens: Sequence[str], span: Span) -> tuple[Span, ...]:
    if span.end - span.start < 2 or draw(st.booleans()):
        return ()
    gap = draw(st.integers(span.start + 1, span.end - 1))
    pieces = Span(span.start, gap - 1), Span(gap + 1, span.end)
    return pieces if tokens[gap - 1] and pieces == tuple(_solid(tokens, one) for one in pieces) else ()


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


def chain_texts(annotation: Annotation) -> list[list[str]]:
    """Return the text of each mention of each chain."""
    return [[annotation.document.text(span) for span in chain.mentions] for chain in annotation.chains]
