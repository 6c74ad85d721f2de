"""CoNLL-U: what the formats on its lines share, CorefUD (`formats.corefud`) and CoNLL-UA (`formats.conllua`).

    # newdoc id = d1
    # text = The girl sang
    1   The    the   DET ...
    2   girl   girl  NOUN ...

A file has a row for each word, a blank line after each sentence, and comments before a sentence. Each format
adds columns of its own, which a comment declares for all documents after it.

1. `# newdoc id = name`, or `name; part 000`, begins a document; one without an id is numbered after the file.
   A file without such a line is a document named after the file.
2. A faulty document is reported, and those after it are read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from caspr.errors import FormatError, OutputError
from caspr.formats.columns import Line
from caspr.formats.format import Each, quoted
from caspr.formats.naming import with_number
from caspr.storage import read_text
from caspr.text.document import Annotation, Document

_NEWDOC = re.compile(r"# *newdoc(?:\s+id\s*=\s*(.*?))?\s*")
Declared = tuple[str, ...]
"""What a comment declares: fields, or columns."""


def read_documents(
    path: Path,
    declare: Callable[[Sequence[Line], Declared], Declared],
    annotate: Callable[[str, Sequence[Line], Declared, int], Annotation],
) -> Iterator[Each]:
    """Yield each document's name with its annotation, or with what is wrong with it.

    `declare` gets the lines of a document and what was declared before them. `annotate` gets its name, its
    lines, what is declared for them, and the number of a document without a name, else 0.
    """
    declared: Declared = ()
    titles: set[str] = set()
    for name, nameless, lines in _cut(read_text(path).replace("\r\n", "\n"), path.stem):
        try:
            declared = declare(lines, declared)
            annotation = annotate(name, lines, declared, nameless)
            title = annotation.document.title
            if title in titles:
                raise FormatError(None, f"document {quoted(title)} more than once", "each document once")
        except FormatError as error:
            yield name, error
            continue
        titles.add(title)
        yield name, annotation


def _cut(text: str, own: str) -> Iterator[tuple[str, int, list[Line]]]:
    """Cut a file into documents, which have names or numbers; the comments of a sentence go with it."""
    lines: list[Line] = []
    begun = False
    name, nameless, unnamed = own, 1, 0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        new = _NEWDOC.fullmatch(line)
        if new is not None:
            if begun or any("\t" in row.text for row in lines):
                ends = (end for end, row in enumerate(lines, 1) if not row.text.startswith("#"))
                start = max(ends, default=len(lines))
                yield name, nameless, lines[:start]
                lines = lines[start:]
                unnamed += not begun
            unnamed += not new[1]
            name, nameless = (new[1], 0) if new[1] else (with_number(own, unnamed), unnamed)
            begun = True
        lines.append(Line(number, line))
    yield name, nameless, lines


def sentence_ends(lines: Sequence[str], rows: Sequence[int]) -> tuple[int, ...]:
    """Return the last token before each blank line; `rows` has the place of each token among the lines.

    >>> sentence_ends(["# text = a b", "a", "b", "", "", "c"], [1, 2, 5])
    (2, 3)
    """
    ends = {len(rows)}
    token = 0
    for index, text in enumerate(lines):
        if token < len(rows) and rows[token] == index:
            token += 1
        elif not text.strip():
            ends.add(token)
    return tuple(sorted(ends - {0}))


def newdoc_line(document: Document) -> str:
    """Return the line that begins a document."""
    if re.search(r"[\n\0]", document.title):
        raise OutputError(f"cannot write a document named {quoted(document.title)}: a name has no line ends")
    return f"# newdoc id = {document.title}"


def sentence_prefix(document: Document) -> str:
    """Return what ids of new sentences begin with: the document's title, without blanks and slashes."""
    return re.sub(r"[^\w.-]+", "_", document.title) or "d"


def form(token: str, document: Document) -> str:
    """Return a token as it stands in a row; nothing for one without characters."""
    text = token.strip()
    if re.search(r"[\t\n\0]", text):
        raise OutputError(
            f"cannot write token {quoted(token)} of {quoted(document.title)}: it has tabs or line ends"
        )
    return text


def called(document: Document, lines: Sequence[str], title: str) -> list[str]:
    """Return lines read under a title as those of a document, which one of several solutions calls anew."""
    if title == document.title:
        return list(lines)
    return [newdoc_line(document), *(line for line in lines if not _NEWDOC.fullmatch(line))]


def finished(lines: Sequence[str], said: Iterable[str]) -> str:
    """Return the text of a document, with what we say of it before its first paragraph or row."""
    begun = (n for n, line in enumerate(lines) if not line.startswith("#") or "newpar" in line)
    head = next(begun, len(lines))
    texts = [*lines[:head], *said, *lines[head:]]
    while texts and not texts[-1].strip():
        texts.pop()
    return "".join(f"{line}\n" for line in (*texts, ""))
