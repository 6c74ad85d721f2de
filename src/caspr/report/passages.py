"""Passages: the text with its mentions as properly nested pieces, for HTML.

Mentions may cross, HTML elements may not. Where a mention ends inside another that began after it, the
second is closed together with the first and opened again immediately, as a continuation.

A single mention is shown in a few words of its context (`stretches`, `kwic`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from caspr.text.document import Chain, Document, Span

SENTENCE_ENDS = frozenset(".!?…。！？؟।")
"""Tokens at which a passage may end."""
CONTEXT = 12
"""How many tokens are shown before and after a single mention."""
WANTED, LONGEST = 60, 300
"""How many tokens a passage should have, and may have at most."""


Stretches = list[tuple[str, str]]
"""Text in stretches, each with the name of what is marked there, or nothing."""


@dataclass(frozen=True)
class TextPiece:
    """A token, or the beginning or end of (a part of) a mention."""

    kind: str
    """`token`, `open` or `close`."""
    text: str = ""
    """The token."""
    chain: str = ""
    """The chain of the mention."""
    whole: bool = True
    """For `open`, whether the mention starts here; for `close`, whether it ends here."""
    number: int = 0
    """The number of the token."""
    first: bool = False
    """For `close`, whether no earlier mention of the passage is of this chain."""


@dataclass(frozen=True)
class Passage:
    """Some sentences."""

    start: int
    """The number of the first token."""
    pieces: tuple[TextPiece, ...]
    """What is in it, in text order."""


@dataclass(frozen=True)
class _OpenMention:
    """A mention that has begun and not ended."""

    span: Span
    """Its tokens."""
    chain: str
    """The id of its chain."""


def passages(document: Document, chains: Iterable[Chain]) -> Iterator[Passage]:
    """Yield the text of a document with the mentions of chains."""
    starting: dict[int, list[_OpenMention]] = defaultdict(list)
    for chain in chains:
        for span in chain.mentions:
            starting[span.start].append(_OpenMention(span, chain.id))
    begun: list[_OpenMention] = []
    pieces: list[TextPiece] = []
    first, tokens = 1, 0
    for number, token in enumerate(document.tokens, start=1):
        for mention in sorted(
            starting.get(number, ()), key=lambda mention: (-mention.span.end, mention.chain)
        ):
            begun.append(mention)
            pieces.append(_open(mention, whole=True))
        pieces.append(TextPiece("token", token, number=number))
        tokens += 1
        _close_ended(begun, number, pieces)
        sentence = tokens >= WANTED and token in SENTENCE_ENDS and not begun
        if sentence or tokens >= LONGEST:
            pieces.extend(_close(mention, whole=False) for mention in reversed(begun))
            yield Passage(first, _with_first(pieces))
            first, tokens = number + 1, 0
            pieces = [_open(mention, whole=False) for mention in begun]
    if tokens:
        yield Passage(first, _with_first(pieces))


def _with_first(pieces: Iterable[TextPiece]) -> tuple[TextPiece, ...]:
    """Mark the first mention of each chain to end in a passage: there the name of the entity is shown."""
    seen: set[str] = set()
    found = []
    for piece in pieces:
        ends = piece.kind == "close" and piece.whole
        found.append(replace(piece, first=True) if ends and piece.chain not in seen else piece)
        if ends:
            seen.add(piece.chain)
    return tuple(found)


def _close_ended(begun: list[_OpenMention], number: int, pieces: list[TextPiece]) -> None:
    """Close the mentions that end at a token; those that began later and continue are reopened."""
    continued: list[_OpenMention] = []
    while any(mention.span.end == number for mention in begun):
        mention = begun.pop()
        ends = mention.span.end == number
        pieces.append(_close(mention, whole=ends))
        if not ends:
            continued.append(mention)
    for mention in reversed(continued):
        begun.append(mention)
        pieces.append(_open(mention, whole=False))


def _open(mention: _OpenMention, *, whole: bool) -> TextPiece:
    return TextPiece("open", chain=mention.chain, whole=whole)


def _close(mention: _OpenMention, *, whole: bool) -> TextPiece:
    return TextPiece("close", chain=mention.chain, whole=whole)


def stretches(document: Document, marks: Mapping[str, Span | None], context: int = CONTEXT) -> Stretches:
    """Return the text around some mentions; where several have a token, it is the shortest one's.

    >>> text = Document("d", ("a", "girl", "from", "Rome"))
    >>> stretches(text, {"yours": Span(1, 4), "gold": Span(1, 2)})
    [('a girl', 'gold'), ('from Rome', 'yours')]
    >>> stretches(text, {"yours": Span(1, 2), "gold": Span(1, 4)})
    [('a girl', 'yours'), ('from Rome', 'gold')]
    """
    given = [(name, span) for name, span in marks.items() if span is not None]
    spans = dict(sorted(given, key=lambda one: one[1].start - one[1].end))
    first = max(1, min(span.start for span in spans.values()) - context)
    last = min(len(document.tokens), max(span.end for span in spans.values()) + context)
    found: list[tuple[list[str], str]] = []
    for token in range(first, last + 1):
        names = [name for name, span in spans.items() if span.start <= token <= span.end]
        name = names[-1] if names else ""
        if not found or found[-1][1] != name:
            found.append(([], name))
        found[-1][0].append(document.tokens[token - 1])
    return [(" ".join(words), name) for words, name in found]


def kwic(document: Document, span: Span) -> Stretches:
    """Return a mention with a few words before and after it."""
    return stretches(document, {"yours": span}, CONTEXT // 2)
