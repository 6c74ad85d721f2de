"""Blocks: the documents of a column file, as lines between `#begin document` and `#end document`.

1. `#begin document (name);`, with `; part 000` where a text has parts. The name ends at the *last* closing
   parenthesis, so it may hold anything but a line end. GUM writes `# begin document name`.
2. `#end document` is required: a file that was cut off is an error, not a shorter document.
3. Outside documents, lines starting with `#` are comments; those behind the last document stay with it.
   Comments starting with `# caspr` are ours and are written anew each time.
4. Only a line feed ends a line, with a carriage return before it or not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from caspr.errors import FormatError, OutputError
from caspr.formats.messages import quoted
from caspr.text.document import Document

# Blanks only, no tabs: a row of tab-separated columns is never mistaken for a marker.
_MARKER = re.compile(r"# *(begin|end) +document(?=[ (;]|$) *(.*)", re.IGNORECASE | re.ASCII)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+([^\s;()]+)[ \t]*;?[ \t]*)?", re.IGNORECASE)
_BARE = re.compile(r"(.*?)(?:;[ \t]*part[ \t]+([^\s;()]+))?[ \t]*;?[ \t]*", re.IGNORECASE)
_PART = re.compile(r"[^\s;()]+")
_OURS = re.compile(r"# caspr\b")


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """Counted from 1."""
    text: str
    """Without its line end."""


@dataclass(frozen=True)
class Block:
    """The lines of one document."""

    name: str
    """The document's name."""
    part: str | None
    """Its part, where given."""
    line: int
    """Where it begins."""
    before: tuple[Line, ...] = ()
    """Comments before it, ours included."""
    text: str = field(default="", repr=False)
    """All that stands between its markers; every line is ended by a line feed."""
    after: tuple[Line, ...] = ()
    """Comments at the end of the file, if this is the last document."""

    @property
    def lines(self) -> list[str]:
        """The lines between its markers, without their line ends."""
        return self.text[:-1].split("\n") if self.text else []

    @property
    def body(self) -> list[Line]:
        """The same with the number of each."""
        return [Line(number, text) for number, text in enumerate(self.lines, self.line + 1)]

    @property
    def comments(self) -> tuple[str, ...]:
        """The comments before it that are not ours."""
        return foreign(self.before)


def foreign(lines: tuple[Line, ...]) -> tuple[str, ...]:
    """Keep the comments that other people wrote."""
    return tuple(line.text for line in lines if not _OURS.match(line.text))


def split_documents(text: str, source: str) -> list[Block]:
    """Cut a file into documents; there is at least one, and no two have the same name and part.

    Only lines that start with `#` are looked at one by one: what lies between two markers is one stretch.
    """
    text = text.replace("\r\n", "\n").removesuffix("\r").removesuffix("\n") + "\n"
    blocks: list[Block] = []
    current: Block | None = None
    comments: list[Line] = []
    begun = done = 0
    for line, start, end in _marked_lines(text):
        if current is None:
            _refuse_stray(text, done, start, line.number, source)
            done = end
        if (marker := _MARKER.fullmatch(line.text)) is None:
            if current is None:
                comments.append(line)
        elif marker[1].lower() == "begin":
            current, begun = _begin(marker[2], line, current, source), end
        elif current is None:
            raise FormatError(source, line.number, "#end document", "#begin document before it")
        else:
            blocks.append(replace(current, before=tuple(comments), text=text[begun:start]))
            current, comments, done = None, [], end
    if current is not None:
        raise FormatError(source, current.line, "#begin document without an end", "#end document after it")
    _refuse_stray(text, done, len(text), text.count("\n") + 1, source)
    if not blocks:
        raise FormatError(source, None, "no document", "at least one line `#begin document (name);`")
    _refuse_repeated(blocks, source)
    return [*blocks[:-1], replace(blocks[-1], after=tuple(comments))]


def block_texts(text: str, blocks: Sequence[Block]) -> list[str]:
    """Cut a text that was split into blocks into the text of each, with the comments before it.

    >>> text = "#begin document (a);\\n#end document\\n# b\\n#begin document (b);\\n#end document"
    >>> block_texts(text, split_documents(text, "d"))[1]
    '# b\\n#begin document (b);\\n#end document\\n'
    """
    lines = text.removesuffix("\n").split("\n")
    ends = [block.line + block.text.count("\n") + 1 for block in blocks[:-1]]
    return ["".join(f"{line}\n" for line in lines[a:b]) for a, b in pairwise([0, *ends, len(lines)])]


def begin_line(document: Document) -> str:
    """Write the line that begins a document, or refuse a name that would not be read back."""
    if re.search(r"[\n\0]", document.name):
        raise OutputError(
            f"cannot write a document named {quoted(document.name)}: a name has no line ends or NULs"
        )
    if document.part is None:
        return f"#begin document ({document.name});"
    if not _PART.fullmatch(document.part):
        raise OutputError(
            f"cannot write part {quoted(document.part)} of {quoted(document.name)}: a part is one word"
        )
    return f"#begin document ({document.name}); part {document.part}"


def _marked_lines(text: str) -> Iterator[tuple[Line, int, int]]:
    """Yield the lines that start with `#`, each with its first place and the place behind it."""
    start = 0 if text.startswith("#") else text.find("\n#") + 1
    number, counted = 1, 0
    while start or text.startswith("#", 0, 1):
        end = text.index("\n", start)
        number += text.count("\n", counted, start)
        counted = start
        yield Line(number, text[start:end]), start, end + 1
        start = text.find("\n#", end) + 1
        if not start:
            return


def _refuse_stray(text: str, start: int, end: int, line: int, source: str) -> None:
    """Refuse anything but blanks between documents; `line` is that of the end."""
    between = text[start:end]
    if not between.strip(" \t\n"):
        return
    lines = between.split("\n")[:-1]
    place = next(number for number, one in enumerate(lines) if one.strip(" \t"))
    expected = "#begin document before the first token, or a comment starting with `#`"
    raise FormatError(
        source, line - len(lines) + place, f"{quoted(lines[place])} outside a document", expected
    )


def _begin(rest: str, line: Line, current: Block | None, source: str) -> Block:
    if current is not None:
        found = f"#begin document inside the document begun in line {current.line}"
        raise FormatError(source, line.number, found, "#end document before it")
    if not rest.startswith("("):
        bare = _BARE.fullmatch(rest)
        return Block(bare[1] if bare else rest, bare[2] if bare else None, line.number)
    name, _, tail = rest[1:].rpartition(")")
    matched = _TAIL.fullmatch(tail)
    if matched is None or ")" not in rest:
        expected = "`#begin document (name);` or `#begin document (name); part 000`"
        raise FormatError(source, line.number, quoted(line.text), expected)
    return Block(name, matched[1], line.number)


def _refuse_repeated(blocks: list[Block], source: str) -> None:
    first: dict[tuple[str, str | None], int] = {}
    for block in blocks:
        document = Document(block.name, (), block.part)
        line = first.setdefault(document.key, block.line)
        if line != block.line:
            found = f"document {quoted(document.title)} for the second time"
            raise FormatError(source, block.line, found, f"each document once; the first is in line {line}")
