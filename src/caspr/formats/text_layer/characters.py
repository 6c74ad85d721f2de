"""Between the characters of a text and its tokens, in both directions.

1. Where a file has words, they are kept; what lies outside all words and is no blank becomes a word too.
2. Where it has none, a text whose punctuation stands alone is taken as tokenised at blanks; any other is
   cut into words, and each sign is a word of its own.
3. Words are cut at the boundaries of mentions, so that every mention is a run of tokens. A mention that
   is empty or consists of blanks gets a token of its own.
4. A mention starts and ends with its first and last token: blanks at its ends do not count.
5. Java counts UTF-16 units, so that a character beyond U+FFFF counts twice; see `Units`.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from caspr.text.document import Document, Span

Extent = tuple[int, int]
"""Where something begins and ends in a text, in code points, the end excluded."""

_GLUED = re.compile(r"\w[,;!?](?=\s|$)|\w\.(?=\s*(?:\n|$))")
_CHUNK = re.compile(r"\S+")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


class Units:
    """Convert places in a text between code points and UTF-16 units.

    >>> units = Units("a\\U0001f600b")
    >>> units.of(3), units.point(3), units.point(2)
    (4, 2, None)
    """

    def __init__(self, text: str) -> None:
        """Remember the characters that count twice."""
        self._length = len(text)
        self._wide = [found.start() for found in _WIDE.finditer(text)]
        self._after = [place + number + 2 for number, place in enumerate(self._wide)]

    def of(self, point: int) -> int:
        """Return how many units come before a code point."""
        return point + bisect_left(self._wide, point) if self._wide else point

    def point(self, unit: int) -> int | None:
        """Return how many code points come before a unit; `None` outside the text or inside a character."""
        if not self._wide:
            return unit if 0 <= unit <= self._length else None
        wide = bisect_left(self._after, unit + 1)
        point = unit - wide
        return point if 0 <= point <= self._length and self.of(point) == unit else None


def core(text: str, extent: Extent) -> Extent:
    """Leave out the blanks at both ends, unless there is nothing else.

    >>> core("a b  c", (1, 4)), core("a b  c", (3, 5))
    ((2, 3), (3, 5))
    """
    start, end = extent
    solid = text[start:end]
    bare = solid.strip()
    if not bare or len(bare) == len(solid):
        return extent
    return start + len(solid) - len(solid.lstrip()), end - len(solid) + len(solid.rstrip())


def find_words(text: str) -> list[Extent]:
    """Cut a text without tokens into words.

    >>> [text[a:b] for text in ["It's a girl."] for a, b in find_words(text)]
    ['It', "'", 's', 'a', 'girl', '.']
    >>> [text[a:b] for text in ["It 's a girl ."] for a, b in find_words(text)]
    ['It', "'s", 'a', 'girl', '.']
    """
    if not _GLUED.search(text):
        return [chunk.span() for chunk in _CHUNK.finditer(text)]
    return list(_runs(text, 0, len(text)))


def tokenise(text: str, words: Iterable[Extent] | None, mentions: Iterable[Extent]) -> list[Extent]:
    """Return the tokens of a text, cut so that each mention is a run of them."""
    given = sorted(find_words(text) if words is None else words)
    marked = list(mentions)
    cuts = {0, len(text)}.union(*given, *marked, *_uncovered(text, given))
    hollow = [extent for extent in marked if not text[extent[0] : extent[1]].strip()]
    blanks = {place for start, end in hollow for place in range(start, end)}
    empty = {extent for extent in hollow if extent[0] == extent[1]}
    pieces = {
        core(text, piece)
        for piece in pairwise(sorted(cuts))
        if text[piece[0] : piece[1]].strip() or piece[0] in blanks
    }
    return sorted(pieces | empty)


def spans(text: str, tokens: Sequence[Extent], extents: Iterable[Extent]) -> Iterator[Span]:
    """Find the tokens of mentions that `tokenise` knew."""
    starts = {start: number for number, (start, end) in enumerate(tokens, 1) if start < end}
    ends = {end: number for number, (start, end) in enumerate(tokens, 1) if start < end}
    empty = {start: number for number, (start, end) in enumerate(tokens, 1) if start == end}
    for extent in extents:
        start, end = core(text, extent)
        yield Span(starts[start], ends[end]) if start < end else Span(empty[start], empty[start])


def spell(document: Document) -> tuple[str, tuple[Extent, ...]]:
    """Return the text of a document and its tokens in it; without characters, words are joined by blanks.

    >>> spell(Document("d", ("A", "girl", "sang"), sentence_ends=(2,)))
    ('A girl\\nsang', ((0, 1), (2, 6), (7, 11)))
    """
    if document.characters is not None:
        return document.characters, document.offsets
    ends = set(document.sentence_ends)
    parts: list[str] = []
    offsets: list[Extent] = []
    place = 0
    for number, token in enumerate(document.tokens, 1):
        offsets.append((place, place + len(token)))
        gap = "" if number == len(document.tokens) else "\n" if number in ends else " "
        parts += (token, gap)
        place += len(token) + len(gap)
    return "".join(parts), tuple(offsets)


def sentence_ends(tokens: Sequence[Extent], places: Iterable[int]) -> tuple[int, ...]:
    """Return the last token before each place where a sentence ends."""
    ends = [end for _, end in tokens]
    found = {number for place in places if (number := bisect_left(ends, place + 1)) > 0}
    return tuple(sorted(found))


def sentences(ends: Iterable[int], tokens: Sequence[Extent]) -> list[Extent]:
    """Return the characters of sentences, given the last token of each; what remains is one too.

    >>> sentences((2,), [(0, 1), (2, 6), (7, 11)])
    [(0, 6), (7, 11)]
    """
    bounds = sorted({0, *ends, len(tokens)})
    return [(tokens[first][0], tokens[last - 1][1]) for first, last in pairwise(bounds)]


def _uncovered(text: str, words: Sequence[Extent]) -> Iterator[Extent]:
    """Cut what lies outside all words."""
    place = 0
    for start, end in [*words, (len(text), len(text))]:
        if text[place:start].strip():
            yield from _runs(text, place, start)
        place = max(place, end)


def _runs(text: str, start: int, end: int) -> Iterator[Extent]:
    """Cut a stretch of text into words and single signs."""
    begun = start
    for place in range(start, end + 1):
        kind = _kind(text[place]) if place < end else " "
        if begun < place and (kind != "w" or _kind(text[begun]) != "w"):
            yield begun, place
            begun = place
        if kind == " ":
            begun = place + 1


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Classify a character: a blank, part of a word, or another sign."""
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    return "w" if category[0] in "LMN" or category in ("Pc", "Cf") else "s"
