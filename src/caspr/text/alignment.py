"""Alignment of tokens: one sequence of tokens for all annotators, whose texts may differ in where words end.

    Ann   New-York  is  big .        New  -  York  is  big  .
    Bob   New - York is big.         (cut at the union of all boundaries)

1. Texts are compared without blanks. The first character that differs is an error naming both places;
   nothing is guessed.
2. Words are cut at the union of all boundaries, so that every mention of every annotator is a run of
   tokens and none is lost. A token without characters (an empty mention, a blank) stays between the same
   two characters, and the other annotators get it as well.
3. `Document.origin` has the token of the file that each piece came from, for writing the file back.
4. Empty nodes of files with trees are not characters, whatever they are called. Those that are the same by
   what they depend on (`text.trees`) are one token, at the place where the first annotator has it. A mention
   that is such a node alone goes with it. A mention with words stays where its words are, and keeps a node at
   its edge only if it is still there. What one file lacks is lent by another (`Document.lent`).
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

from caspr.errors import InputError
from caspr.text.document import Annotation, Document, LentRow, Span
from caspr.text.findings import note, times
from caspr.text.trees import dependencies, empty_nodes, place, same_nodes, without_empty_forms

_RUN, _FEW = 4, 15
"""The length of the runs of characters by which texts are compared; how many of them are too few."""
_LONGEST = 60
"""How many characters of the rest of a word are shown."""


_Extent = tuple[int, int, int]
"""Start and end of a token in characters without blanks, and its number among empty ones at its place."""


@dataclass(frozen=True)
class _Grid:
    """The shared tokens."""

    pieces: tuple[tuple[int, int, int], ...]
    """Start, end and number among the empty ones at its place, counted in characters without blanks."""
    starts: dict[int, int]
    """The token that begins at a character."""
    ends: dict[int, int]
    """The token that ends before a character."""
    empty: dict[tuple[int, int], int]
    """The tokens without characters, by place and number."""


def align(annotations: Sequence[Annotation]) -> tuple[Annotation, ...]:
    """Return the annotations over the same tokens, or raise `InputError` naming where the texts differ."""
    if len(annotations) < 2:
        raise InputError(f"{times(len(annotations), 'annotation')} of this document: it takes two or more")
    documents = [annotation.document for annotation in annotations]
    first, trees = documents[0], all(document.tree is not None for document in documents)
    solid = [without_empty_forms(document) for document in documents] if trees else documents
    same = all(document.tokens == first.tokens for document in documents)
    if same and not (trees and "" in solid[0].tokens):
        return tuple(annotations)
    for document in solid[1:]:
        refuse_different_characters(solid[0], document)
    extents = [_extents(document) for document in solid]
    zeros = _same_zeros(solid, extents) if trees else None
    if same and zeros is not None and not any(zeros.strays):
        return tuple(annotations)
    extents = extents if zeros is None else list(zeros.extents)
    grid = _grid(extents)
    naming = len(documents) if trees else 1
    words = _words(documents[:naming], extents[:naming], grid)
    moved = [
        _move(annotation, extent, grid, words, zeros.strays[number] if zeros else frozenset())
        for number, (annotation, extent) in enumerate(zip(annotations, extents, strict=True))
    ]
    return tuple(moved) if zeros is None else _lend(moved, documents, zeros, grid)


def transfer(annotation: Annotation, template: Annotation) -> Annotation:
    """Return the chains of an annotation over the document of another, whose file will be written."""
    bare = replace(template, chains=(), singletons=(), marks={})
    own, moved = align([bare, annotation])
    return annotation.with_chains(moved.all_chains, document=own.document, marks=moved.marks)


def refuse_different_characters(first: Document, second: Document) -> None:
    """Raise `InputError` if two texts differ in more than blanks."""
    solid, solid_second = _solid(first), _solid(second)
    if solid == solid_second:
        return
    shorter = min(len(solid), len(solid_second))
    differ = next((at for at, (a, b) in enumerate(zip(solid, solid_second, strict=False)) if a != b), shorter)
    if differ == shorter and _starts_at(first, differ) and _starts_at(second, differ):
        _refuse_longer(first, second)
    token, twin = _different_words(first, second, differ)
    found, expected = _whole_word(second, twin), _whole_word(first, token)
    hint = _hint(expected, found, solid[differ : differ + 1], solid_second[differ : differ + 1])
    raise InputError(
        f"{second.place(twin)}: found token {found!r}, expected {expected!r} as in {first.place(token)}{hint}"
        f": all annotators of document '{first.title}' must have the same text{_two_documents(first, second)}"
    )


def _hint(expected: str, found: str, here: str, there: str) -> str:
    """Say how two words differ, where that is not easily seen."""
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", expected):
        return " (they differ only in Unicode normalisation)"
    if here and there and not (here.isalnum() or there.isalnum()):
        signs = " and ".join(f"{sign} (U+{ord(sign):04X})" for sign in (there, here))
        return f" (the signs {signs} differ)"
    return ""


def _whole_word(document: Document, token: int) -> str:
    """Return a token, with the rest of its word where the boundary of a mention cuts it."""
    if document.characters is None or token > len(document.offsets):
        return document.tokens[token - 1]
    start, end = document.offsets[token - 1]
    rest = re.match(r"\w*", document.characters[end : end + _LONGEST])
    inside = document.characters[start:end]
    return inside + (rest[0] if rest and inside[-1:].isalnum() else "")


def _two_documents(first: Document, second: Document) -> str:
    """Return a hint if two texts share so little that they are hardly versions of one."""
    solid = _solid(first), _solid(second)
    runs, more = ({text[at : at + _RUN] for at in range(len(text) - _RUN + 1)} for text in solid)
    shorter = min(len(runs), len(more))
    if shorter < _FEW or len(runs & more) * 2 >= shorter:
        return ""
    return (
        "; these two look like different documents: make a folder for each annotator, with the same file "
        "names in all, or a folder for each document, with a file for each annotator"
    )


def _different_words(first: Document, second: Document, differ: int) -> tuple[int, int]:
    """Return the words of two texts that differ, of which a character is the first to differ.

    They are the last words up to it that begin at the same character: of *Emile writes* and *Emil writes*,
    *Emile* and *Emil*, although the first character to differ is in *writes* in the second text.
    """
    begun = {start for start, end, _ in _extents(first) if start < end}
    common = max(
        start for start, end, _ in _extents(second) if start < end and start in begun and start <= differ
    )
    return _token_at(first, common), _token_at(second, common)


def _starts_at(document: Document, character: int) -> bool:
    """Return whether a token, or nothing, begins at a character, counted without blanks."""
    extents = _extents(document)
    return character == len(_solid(document)) or any(start == character < end for start, end, _ in extents)


def _refuse_longer(first: Document, second: Document) -> None:
    """Refuse a text that is longer than the other."""
    longer, shorter = sorted((first, second), key=lambda document: -len(_solid(document)))
    token = _token_at(longer, len(_solid(shorter)))
    raise InputError(
        f"{longer.place(token)}: found token {longer.tokens[token - 1]!r}, expected the end of document "
        f"'{first.title}' as in {shorter.source or 'the other annotation'}, which has "
        f"{times(len(shorter.tokens), 'token')}: all annotators must have the same text"
    )


def _solid(document: Document) -> str:
    """Return the text without blanks."""
    return "".join("".join(document.tokens).split())


def _extents(document: Document) -> list[_Extent]:
    """Return start and end of each token without blanks, and its number among empty ones at its place."""
    extents: list[_Extent] = []
    position = number = 0
    for token in document.tokens:
        size = len("".join(token.split()))
        number = 0 if size else number + 1
        extents.append((position, position + size, number))
        position += size
    return extents


def _token_at(document: Document, character: int) -> int:
    """Return the token that holds a character, counted without blanks."""
    solid = [(start, token) for token, (start, end, _) in enumerate(_extents(document), 1) if end > start]
    return solid[bisect_right(solid, character, key=itemgetter(0)) - 1][1]


def _grid(extents: Sequence[Sequence[_Extent]]) -> _Grid:
    cuts = sorted({border for extent in extents for start, end, _ in extent for border in (start, end)})
    empty = {(start, number) for extent in extents for start, end, number in extent if start == end}
    solid = [(start, end, 0) for start, end in pairwise(cuts)]
    pieces = sorted([*solid, *((border, border, number) for border, number in empty)])
    numbered = list(enumerate(pieces, 1))
    return _Grid(
        tuple(pieces),
        {start: index for index, (start, end, _) in numbered if start < end},
        {end: index for index, (start, end, _) in numbered if start < end},
        {(start, number): index for index, (start, end, number) in numbered if start == end},
    )


def _words(
    documents: Sequence[Document], extents: Sequence[Sequence[_Extent]], grid: _Grid
) -> tuple[str, ...]:
    """Return the words of the grid: whole ones as the first file has them, empty nodes as any has."""
    whole: dict[_Extent, str] = {}
    for document, extent in zip(documents[::-1], extents[::-1], strict=True):
        named = zip(extent, document.tokens, strict=True)
        whole |= {piece: word for piece, word in named if piece[0] == piece[1] or document is documents[0]}
    solid = "".join(whole[piece] for piece in extents[0] if piece[0] < piece[1])
    solid = "".join(solid.split())
    return tuple(whole.get(piece, solid[piece[0] : piece[1]]) for piece in grid.pieces)


def _runs(extents: Sequence[_Extent], grid: _Grid) -> list[tuple[int, int]]:
    """Return the first and the last token of the grid for each token of a file."""
    return [
        (grid.starts[start], grid.ends[end]) if start < end else (grid.empty[start, number],) * 2
        for start, end, number in extents
    ]


def _move(
    annotation: Annotation,
    extents: Sequence[_Extent],
    grid: _Grid,
    words: tuple[str, ...],
    strays: frozenset[int],
) -> Annotation:
    """Return an annotation over the tokens of the grid; strays are empty nodes that get another place."""
    runs = _runs(extents, grid)

    def moved(span: Span) -> Span:
        if strays and any(token in strays for token in range(span.start, span.end + 1)):
            return _without_strays(span, runs, strays)
        return Span(runs[span.start - 1][0], runs[span.end - 1][1])

    chains = [chain.over(map(moved, chain.mentions)) for chain in annotation.all_chains]
    marks = {
        moved(span): replace(mark, pieces=tuple(map(moved, mark.pieces)))
        for span, mark in annotation.marks.items()
    }
    cut = sum(first < last for first, last in runs)
    findings = list(annotation.findings)
    if cut:
        message = f"{times(cut, 'word')} cut to align it with the words of the others"
        findings.append(note("words-cut", message, count=cut, where=annotation.annotator))
    if strays:
        message = (
            f"{times(len(strays), 'empty node')} in other places than in another annotator's file, matched "
            "by what they depend on"
        )
        findings.append(note("moved-zeros", message, count=len(strays), where=annotation.annotator))
    document = _recut(annotation.document, runs, grid, words, strays)
    return replace(annotation.with_chains(chains, document=document, marks=marks), findings=tuple(findings))


def _without_strays(span: Span, runs: Sequence[tuple[int, int]], strays: frozenset[int]) -> Span:
    """Return where the words of a mention are, with a node at its edge that is still beside them."""
    own = range(span.start, span.end + 1)
    kept = [token for token in own if token not in strays] or own
    start, end = min(runs[token - 1][0] for token in kept), max(runs[token - 1][1] for token in kept)
    for token in (*range(kept[0] - 1, span.start - 1, -1), *range(kept[-1] + 1, span.end + 1)):
        if runs[token - 1][1] == start - 1:
            start -= 1
        elif runs[token - 1][0] == end + 1:
            end += 1
    return Span(start, end)


@dataclass(frozen=True)
class _Zeros:
    """The empty nodes of several files."""

    extents: tuple[list[_Extent], ...]
    """The extents of all tokens of each file, those of empty nodes being the same for the same nodes."""
    strays: tuple[frozenset[int], ...]
    """For each file, the nodes that another file has at another place."""
    lenders: Mapping[tuple[int, int], tuple[int, int]]
    """For the place of each node the first file that has it, and its token there."""


def _same_zeros(documents: Sequence[Document], extents: Sequence[Sequence[_Extent]]) -> _Zeros:
    nodes = [
        empty_nodes(document, [start for start, _, _ in extent])
        for document, extent in zip(documents, extents, strict=True)
    ]
    different, found = same_nodes(nodes)
    ordered = sorted(range(len(different)), key=lambda n: (different[n][1].at, different[n][1].first, n))
    spots: dict[int, tuple[int, int]] = {}
    for number in ordered:
        at = different[number][1].at
        before = spots[ordered[len(spots) - 1]] if spots else (-1, 0)
        spots[number] = at, before[1] + 1 if before[0] == at else 1
    moved, strays = [], []
    for extent, own, numbers in zip(extents, nodes, found, strict=True):
        changed = list(extent)
        for node, number in zip(own, numbers, strict=True):
            changed[node.token - 1] = (spots[number][0], *spots[number])
        moved.append(changed)
        first = [different[number][1] for number in numbers]
        order = [spots[number] for number in numbers]
        strays.append(
            frozenset(
                node.token
                for node, other, before, here in zip(own, first, [(-1, 0), *order], order, strict=False)
                if (node.at, node.first) != (other.at, other.first) or here < before
            )
        )
    lenders = {spots[number]: (file, node.token) for number, (file, node) in enumerate(different)}
    return _Zeros(tuple(moved), tuple(strays), lenders)


def _lend(
    moved: Sequence[Annotation], documents: Sequence[Document], zeros: _Zeros, grid: _Grid
) -> tuple[Annotation, ...]:
    """Give every document the rows of the empty nodes that only others have."""
    runs = [_runs(extents, grid) for extents in zeros.extents]
    rows = {
        grid.empty[spot]: _lent(documents[file], token, runs[file])
        for spot, (file, token) in zeros.lenders.items()
    }
    return tuple(
        replace(
            annotation,
            document=replace(
                annotation.document,
                lent={token: row for token, row in rows.items() if not annotation.document.origin[token - 1]},
            ),
        )
        for annotation in moved
    )


def _lent(document: Document, token: int, runs: Sequence[tuple[int, int]]) -> LentRow:
    assert document.tree is not None
    where = place(document, token)
    near = {place(document, number): number for number in _sentence(document, token)}
    parents = [
        (runs[near[parent] - 1][0] if parent in near else 0, relation)
        for parent, relation in sorted(dependencies(document, token))
    ]
    return LentRow(document.tree.line(token), where.word == 0, tuple(parents))


def _sentence(document: Document, token: int) -> range:
    number = bisect_left(document.sentence_ends, token)
    start = document.sentence_ends[number - 1] if number else 0
    return range(start + 1, (*document.sentence_ends, len(document.tokens))[number] + 1)


def _recut(
    document: Document,
    runs: Sequence[tuple[int, int]],
    grid: _Grid,
    words: tuple[str, ...],
    strays: frozenset[int],
) -> Document:
    origin = [0] * len(words)
    for token, (first, last) in enumerate(runs, 1):
        origin[first - 1 : last] = [token] * (last - first + 1)
    near = 1
    nearest = []
    for token in origin:
        near = token or near
        nearest.append(near)
    older = document.origin
    return replace(
        document,
        tokens=words,
        rows=(),
        tree=None,
        old_tree=document.tree or document.old_tree,
        lines=tuple(document.lines[token - 1] for token in nearest) if document.lines else (),
        offsets=_offsets(document, runs, grid) if document.characters is not None else (),
        sentence_ends=tuple(runs[_before_strays(token, strays) - 1][1] for token in document.sentence_ends),
        origin=tuple((older[token - 1] if older else token) if token else 0 for token in origin),
    )


def _before_strays(token: int, strays: frozenset[int]) -> int:
    """Return the last token up to this one that keeps its place."""
    while token in strays and token > 1:
        token -= 1
    return token


def _offsets(document: Document, runs: Sequence[tuple[int, int]], grid: _Grid) -> tuple[tuple[int, int], ...]:
    """Find the pieces in the characters of a document."""
    text = document.characters or ""
    solid = [at for start, end in document.offsets for at in range(start, end) if not text[at].isspace()]
    own = {
        first: offset
        for (first, last), offset in zip(runs, document.offsets, strict=True)
        if first == last and grid.pieces[first - 1][0] == grid.pieces[first - 1][1]
    }
    offsets: list[tuple[int, int]] = []
    for index, (start, end, _) in enumerate(grid.pieces, 1):
        before = offsets[-1][1] if offsets else 0
        offsets.append(
            (solid[start], solid[end - 1] + 1) if start < end else own.get(index, (before, before))
        )
    return tuple(offsets)
