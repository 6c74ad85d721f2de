"""CoNLL: the paper's format and CoNLL-2012, one token a line with coreference in the last column.

    #begin document (wsj_0001); part 000
    1    The      (7
    2    girl     7)
    3    sang     -

    #end document

`columns` describes documents and rows, `bracket_cells` the cells. Inside a document, blank lines are kept and
mean nothing. A line starting with `#` is a row if it has as many columns as the first row and ends in a
coreference cell; otherwise it is a comment, which is counted in a finding and not written, because the
reference scorer takes comments there for tokens.

Two crossing mentions of one chain cannot be written. The later is written under a new id, and a comment
before the document (`# caspr same-chain: 57 3`) makes our reader join the two again.

A large file is cut at its markers, line by line, without reading what is between them. A document then is a
stretch of bytes, read on its own, so that a malformed one does not affect the others and memory does not grow
with the file.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import IO

from caspr.errors import FormatError, InputError, reading
from caspr.formats.bracket_cells import in_file_order, split_crossing
from caspr.formats.bracket_cells import parse as parse_cell
from caspr.formats.columns import (
    GOLD_LINE,
    Block,
    ColumnTable,
    Layout,
    alias_lines,
    entity_lines,
    is_gold,
    make_document,
    read_aliases,
    read_column,
    read_entities,
    split_columns,
    split_documents,
    split_row,
    tabulate,
    with_entities,
    write_column,
    write_document,
)
from caspr.formats.format import Cutting, Format, ReadOptions, Stretch, lost, quoted
from caspr.formats.naming import numbered
from caspr.formats.text_layer import mend
from caspr.storage import decode, read_text
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding, times, warning


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file; without a name, the annotator is named after the file."""
    return parse(read_text(path), str(path), path.stem if annotator is None else annotator)


def parse(text: str, source: str, annotator: str) -> list[Annotation]:
    """Read the text of a file, with the name to use in messages.

    >>> text = "#begin document (d);\\n1 The (7\\n2 girl 7)\\n#end document\\n"
    >>> [annotation] = parse(text, "in.conll", "Ann")
    >>> annotation.document.tokens, annotation.singletons
    (('The', 'girl'), (Chain(id='7', mentions=(Span(start=1, end=2),)),))
    """
    with reading(source):
        return [_annotation(block, source, annotator) for block in split_documents(text)]


@dataclass(frozen=True)
class _Rows:
    """The rows of a document."""

    lines: tuple[int, ...]
    prefixes: tuple[str, ...]
    """All columns of each before coreference, with their separators."""
    cells: tuple[str, ...]
    table: ColumnTable
    gaps: list[tuple[int, str]]
    """Blank lines and comments, with the number of rows before each."""


def _annotation(block: Block, source: str, annotator: str) -> Annotation:
    _refuse_review(block)
    rows = _rows(block)
    document = make_document(
        block, source, lines=rows.lines, prefixes=rows.prefixes, gaps=rows.gaps, table=rows.table
    )
    odd = [*_ragged(rows, document), *_empty_cells(rows, document)]
    if "=" in block.text:
        _refuse_enforced(rows)
    aliases = read_aliases(block.before).get(None, {})
    chains, findings = read_column(document, rows.cells, aliases)
    odd += [*_comment_findings(document, rows.gaps), *findings]
    named = with_entities(chains, read_entities(block.before))
    annotation = Annotation.of(annotator, document, named, odd, adjudicated=is_gold(block.before))
    if not findings and sum(len(chain.mentions) for chain in chains) == len(annotation.mentions):
        return annotation
    return replace(annotation, as_given=in_file_order(enumerate(rows.cells, 1), aliases))


def _rows(block: Block) -> _Rows:
    """Separate the rows from blank lines and comments, and split them."""
    numbers, texts, gaps = _sort_lines(block)
    if block.text.endswith("\t\n") or "\t\n" in block.text:
        texts = _without_spare_tabs(texts)
    table = tabulate(texts)
    if table.rows is None and table.columns:
        cells = tuple(table.columns[-1])
        ends = texts if "\t" in texts[0] else [text.rstrip(" ") for text in texts]
        prefixes = tuple(map(str.removesuffix, ends, cells))
    else:
        split = [split_row(text) for text in texts]
        prefixes, cells = tuple(prefix for prefix, _ in split), tuple(cell for _, cell in split)
    return _Rows(numbers, prefixes, cells, table.without_last(), gaps)


def _sort_lines(block: Block) -> tuple[tuple[int, ...], list[str], list[tuple[int, str]]]:
    """Return the numbers and the texts of rows, and what stands between them."""
    lines, first = block.lines, block.line + 1
    if not (block.text.startswith("#") or "\n#" in block.text):
        indented = any(f"\n{sign}" in f"\n{block.text}" for sign in " \t")
        solid = [text.strip(" \t") for text in lines] if indented else lines
        blank = [index for index, text in enumerate(solid) if not text]
        numbers = tuple(compress(range(first, first + len(lines)), solid))
        between = [(index - before, "") for before, index in enumerate(blank)]
        return numbers, list(compress(lines, solid)), between
    width = _width(lines)
    rows: list[tuple[int, str]] = []
    between = []
    for number, text in enumerate(lines, first):
        if not text.strip(" \t"):
            between.append((len(rows), ""))
        elif text.startswith("#") and not _is_row(text, width):
            between.append((len(rows), text))
        else:
            rows.append((number, text))
    return tuple([number for number, _ in rows]), [text for _, text in rows], between


def _without_spare_tabs(texts: Sequence[str]) -> list[str]:
    """Leave out tabs after the coreference column: of all rows, or of rows with a column too many."""
    hollow = [index for index, text in enumerate(texts) if text.endswith("\t")]
    widths = Counter(text.count("\t") for text in texts if not text.endswith("\t"))
    if widths:
        usual = max(widths, key=lambda width: (widths[width], width))
        spare = [index for index in hollow if texts[index].count("\t") == usual + 1]
    else:
        cells = [split_row(texts[index][:-1])[1] for index in hollow]
        marked = any("(" in cell or ")" in cell for cell in cells)
        spare = hollow if marked and all(map(_is_cell, cells)) else []
    kept = list(texts)
    for index in spare:
        kept[index] = kept[index][:-1]
    return kept


def _width(lines: Sequence[str]) -> int:
    """Count the columns of the first row that is surely one, to recognise tokens that start with `#`.

    Where all lines start with `#`, only a tab distinguishes a row from a comment.
    """
    sure = next((text for text in lines if text.strip(" \t") and not text.startswith("#")), None)
    if sure is None:
        marked = (text for text in lines if "\t" in text)
        sure = next((text for text in marked if _is_cell(split_row(text)[1]) and text.strip(" \t")), "")
    return len(split_columns(sure))


def _is_row(text: str, width: int) -> bool:
    return 2 <= width == len(split_columns(text)) and _is_cell(split_row(text)[1])


def _is_cell(text: str) -> bool:
    try:
        parse_cell(text)
    except ValueError:
        return False
    return True


def _refuse_review(block: Block) -> None:
    """Refuse a review file: its result would vote as an annotator."""
    for line in block.before:
        if line.text.startswith("# caspr review:"):
            raise FormatError(
                line.number,
                "a review file",
                "an annotator's file: give those that it was made from; `caspr redo`, `review`, `report` "
                "and `agreement` read it; `caspr redo FILE --gold OUT` writes its gold standard in any "
                "format",
            )


def _ragged(rows: _Rows, document: Document) -> Iterator[Finding]:
    """Warn of rows with other columns than their sentence."""
    if rows.table.rows is None:
        return
    sentences = {tokens for tokens, text in rows.gaps if not text}
    width = 0
    odd: list[int] = []
    for number, row in enumerate(rows.table.rows):
        if number == 0 or number in sentences:
            width = len(row)
        elif len(row) != width:
            odd.append(rows.lines[number])
    if odd:
        message = f"{times(len(odd), 'row')} with more or fewer columns than the sentence begins with"
        yield warning("ragged-rows", message, count=len(odd), where=f"{document.source}:{odd[0]}")


def _empty_cells(rows: _Rows, document: Document) -> Iterator[Finding]:
    """Warn of rows whose last column is empty, which may have lost a cell."""
    if empty := rows.cells.count(""):
        where = f"{document.source}:{rows.lines[rows.cells.index('')]}"
        message = f"{times(empty, 'row')} with an empty last column, read as `-`"
        yield warning("empty-cell", message, count=empty, where=where)


def _refuse_enforced(rows: _Rows) -> None:
    for cell, line in zip(rows.cells, rows.lines, strict=True):
        if cell.startswith("="):
            expected = "a coreference cell; this looks like a review file: use `caspr redo`"
            raise FormatError(line, f"enforced cell {quoted(cell)}", expected)


def _comment_findings(document: Document, gaps: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    comments = sum(1 for _, text in gaps if text)
    if comments:
        message = f"{times(comments, 'comment line')} inside the document, not written again"
        where = f"{document.source}, {document.title}"
        yield warning("comment-in-document", message, count=comments, where=where)


_BEGIN = re.compile(rb"# *begin +document(?=[ (;]) *(.*?)\s*$", re.IGNORECASE)
_END = re.compile(rb"# *end +document\b", re.IGNORECASE)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+[^\s;()]+[ \t]*;?[ \t]*)?", re.IGNORECASE)
_MARK = b"\xef\xbb\xbf"
_HEAD = 1 << 16


def cut(path: Path, options: ReadOptions) -> Iterator[Stretch]:  # noqa: ARG001
    """Yield the documents of a file; one without a document is read, which raises what is wrong with it."""
    try:
        with path.open("rb") as stream:
            if any(map(_BEGIN.match, stream.read(_HEAD).removeprefix(_MARK).splitlines())):
                stream.seek(0)
                yield from stretches(stream)
                return
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from error
    read(path)


def stretches(stream: IO[bytes]) -> Iterator[Stretch]:
    """Yield name and place of every document, from the end of the one before; the last has the rest.

    Nothing is left out: whatever stands between documents is read, and checked, with one of them.

    >>> import io
    >>> text = b"# hello\\n#begin document (a);\\n1 x -\\n#end document\\n#begin document (b); part 001\\n"
    >>> for stretch in stretches(io.BytesIO(text)):
    ...     print(stretch)
    Stretch(document='a', offset=0, length=49, line=1)
    Stretch(document='b', offset=49, length=30, line=5)
    """
    name: str | None = None
    start, line, offset = 0, 1, 0
    end: tuple[int, int] | None = None
    for number, text in enumerate(stream, start=1):
        head = (text.removeprefix(_MARK) if number == 1 else text) if b"#" in text[:4] else b""
        begin = _BEGIN.match(head)
        if begin is not None:
            if name is not None:
                stop, following = end or (offset, number)
                yield Stretch(name, start, stop - start, line)
                start, line = stop, following
            name, end = _name(begin[1].decode("utf-8", "replace")), None
        offset += len(text)
        if name is not None and _END.match(head):
            end = offset, number + 1
    if name is not None:
        yield Stretch(name, start, offset - start, line)


def _name(text: str) -> str:
    """Return the name that follows a marker: up to the last closing parenthesis, or to the part."""
    if text.startswith("("):
        name, closed, tail = text[1:].rpartition(")")
        if closed and _TAIL.fullmatch(tail):
            return name
    return re.sub(r";?[ \t]*(?:part[ \t]+[^\s;()]+)?[ \t]*;?$", "", text, flags=re.IGNORECASE)


def read_stretch(
    path: Path,
    content: bytes,
    annotator: str,
    line: int,
    options: ReadOptions,  # noqa: ARG001
) -> list[Annotation]:
    """Read a document that begins in some line of its file; messages name the lines of the file."""
    source, before = str(path), line - 1
    try:
        annotations = parse(decode(content), source, annotator)
    except FormatError as error:
        error.line = None if error.line is None else error.line + before
        raise
    if any(annotation.findings for annotation in annotations):
        # Findings name lines in their sentences: read again, with empty lines for what stands before.
        return parse("\n" * before + decode(content), source, annotator)
    return [_moved(annotation, before) for annotation in annotations]


def _moved(annotation: Annotation, lines: int) -> Annotation:
    document = annotation.document
    return replace(
        annotation, document=replace(document, lines=tuple(line + lines for line in document.lines))
    )


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each with the other columns of the file it was read from.

    Reading this again gives equal annotations. Raises `OutputError` where that cannot be done.
    """
    return "".join(map(_write_one, annotations))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return (*crossing_findings(annotation), *lost(annotation, names=True, types=True, edges=True))


def crossing_findings(annotation: Annotation) -> tuple[Finding, ...]:
    """Warn about mentions that other programs will see in a chain of their own."""
    return moved_findings(annotation, *split_crossing((*annotation.chains, *annotation.singletons)))


def moved_findings(
    annotation: Annotation, chains: Iterable[Chain], aliases: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Warn about the mentions of chains that are parts of others, as `split_crossing` made them."""
    moved = sorted(
        (span, aliases[chain.id]) for chain in chains if chain.id in aliases for span in chain.mentions
    )
    if not moved:
        return ()
    span, id = moved[0]
    place = annotation.document.place(span.start)
    text = quoted(annotation.document.text(span))
    overlap, own, they = ("overlaps", "its", "it") if len(moved) == 1 else ("overlap", "their", "they")
    message = (
        f"{times(len(moved), 'mention')} {overlap} another mention of {own} own chain; CoNLL cannot express "
        f"this, so {they} got a chain id of {own} own (first: {text} of chain {id}, {place})"
    )
    return (warning("crossing-in-chain", message, count=len(moved), where=annotation.annotator),)


def _write_one(annotation: Annotation) -> str:
    annotation = mend(annotation)
    document = annotation.document
    chains = annotation.all_chains
    if not isinstance(document.layout, Layout):
        # The reference scorer needs numbers; the ids of a CoNLL file are its owner's choice.
        chains = tuple(numbered(chains, is_number))
    column = write_column(document, chains, annotation.annotator)
    gold = [GOLD_LINE] if annotation.adjudicated else []
    header = [*gold, *entity_lines(chains), *alias_lines(column.aliases)]
    return write_document(document, header, column.cells, notes=False)


def is_number(id: str) -> bool:
    """Return whether the reference scorer reads an id as one."""
    return id.isascii() and id.isdecimal()


__all__ = ["FORMAT", "crossing_findings", "detect", "losses", "parse", "read", "write"]


_BEGINS = re.compile(r"^# *begin +document\b", re.IGNORECASE | re.MULTILINE)


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return _BEGINS.search(head) is not None


FORMAT = Format(
    name="conll",
    suffixes=(".conll", ".v4_gold_conll", ".v4_auto_conll"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    cutting=Cutting(cut, read_stretch),
)
