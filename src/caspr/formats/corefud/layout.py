"""What a CorefUD document's lines hold beyond its text, and such lines for a document that has none."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from caspr.errors import OutputError
from caspr.formats.corefud.entities import Entity
from caspr.formats.messages import quoted
from caspr.text.document import Document, Span

ORDER: tuple[str, ...] = ("eid", "etype", "head", "other")
NEWDOC = re.compile(r"# *newdoc(?:\s+id\s*=\s*(.*?))?\s*")
GLOBAL = re.compile(r"# *global\.Entity\s*=\s*(\S+)\s*")


@dataclass(frozen=True)
class CorefudLayout:
    """The lines of a document, and what they hold beyond the text."""

    title: str
    """What the document is called."""
    lines: tuple[str, ...]
    """All of them."""
    rows: tuple[int, ...]
    """For each token its place among the lines."""
    order: tuple[str, ...]
    """The fields of an opening."""
    entities: tuple[Entity, ...]
    """The mentions."""


def layout_of(document: Document, mentions: Iterable[Span] = (), prefix: str = "") -> CorefudLayout:
    """Return the lines that a document was read from, or new ones.

    New sentences are joined where a mention goes on in the next one, which CorefUD does not allow; their ids
    begin with the prefix.
    """
    known = document.layout
    if isinstance(known, CorefudLayout) and len(known.rows) == len(document.tokens):
        return known
    return _new_layout(document, whole_sentences(document, mentions), prefix or sentence_prefix(document))


def sentence_prefix(document: Document) -> str:
    """Return what ids of new sentences begin with: the document's title, without blanks and slashes."""
    return re.sub(r"[^\w.-]+", "_", document.title) or "d"


def whole_sentences(document: Document, mentions: Iterable[Span]) -> list[int]:
    """Return the last token of each sentence, leaving out those inside a mention.

    >>> whole_sentences(Document("d", ("a", "b", "c"), sentence_ends=(1, 2, 3)), [Span(1, 2)])
    [2, 3]
    """
    crossed = {end for start, last in mentions for end in document.sentence_ends if start <= end < last}
    return sorted({*document.sentence_ends, len(document.tokens)} - crossed - {0})


def newdoc_line(document: Document) -> str:
    """Return the line that begins a document."""
    if re.search(r"[\n\0]", document.title):
        raise OutputError(f"cannot write a document named {quoted(document.title)}: a name has no line ends")
    return f"# newdoc id = {document.title}"


def global_line(order: Sequence[str]) -> str:
    """Return the line that declares the fields of an opening."""
    return f"# global.Entity = {'-'.join(order)}"


def _new_layout(document: Document, ends: Sequence[int], prefix: str) -> CorefudLayout:
    """Make lines for a document that has none."""
    lines = [newdoc_line(document), global_line(ORDER)]
    rows: list[int] = []
    for number, (start, end) in enumerate(pairwise([0, *ends]), 1):
        words = [_form(token, document) for token in document.tokens[start:end]]
        lines += (f"# sent_id = {prefix}-s{number}", f"# text = {' '.join(filter(None, words))}")
        for row in _new_rows(words):
            rows.append(len(lines))
            lines.append(row)
        lines.append("")
    return CorefudLayout(document.title, tuple(lines), tuple(rows), ORDER, ())


def _new_rows(words: Iterable[str]) -> Iterator[str]:
    """Write the rows of a sentence; a word without characters is an empty node."""
    number = empty = 0
    for word in words:
        if word:
            number, empty = number + 1, 0
            tree = "0\troot\t_" if number == 1 else "1\tdep\t_"
            yield f"{number}\t{word}\t_\tX\t_\t_\t{tree}\t_"
        else:
            empty += 1
            yield f"{number}.{empty}\t_\t_\t_\t_\t_\t_\t_\t0:root\t_"


def _form(token: str, document: Document) -> str:
    form = token.strip()
    if re.search(r"[\t\n\0]", form):
        raise OutputError(
            f"cannot write token {quoted(token)} of {quoted(document.title)}: it has tabs or line ends"
        )
    return form


def hull(pieces: Sequence[Span]) -> Span:
    """Return the span from the first to the last token of some pieces."""
    return Span(min(piece.start for piece in pieces), max(piece.end for piece in pieces))
