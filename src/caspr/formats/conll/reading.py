"""Read CoNLL: rows, blank lines and comments of each document, and the cells of the last column."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.columns.blocks import Block, Line, split_documents
from caspr.formats.columns.cells import in_file_order
from caspr.formats.columns.cells import parse as parse_cell
from caspr.formats.columns.rows import (
    make_document,
    prefix_columns,
    read_aliases,
    read_column,
    split_columns,
    split_row,
)
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file; without a name, the annotator is called as the file is."""
    return parse(read_text(path), str(path), path.stem if annotator is None else annotator)


def parse(text: str, source: str, annotator: str) -> list[Annotation]:
    """Read the text of a file, with the name to use in messages.

    >>> text = "#begin document (d);\\n1 The (7\\n2 girl 7)\\n#end document\\n"
    >>> [annotation] = parse(text, "in.conll", "Ann")
    >>> annotation.document.tokens, annotation.singletons
    (('The', 'girl'), (Chain(id='7', mentions=(Span(start=1, end=2),)),))
    """
    return [_annotation(block, source, annotator) for block in split_documents(text, source)]


def _annotation(block: Block, source: str, annotator: str) -> Annotation:
    rows, others = _sort_lines(block.body)
    lines = tuple([row.number for row in rows])
    split = [split_row(row.text) for row in rows]
    document = make_document(
        block, source, lines=lines, prefixes=[prefix for prefix, _ in split], gaps=others
    )
    cells = [cell for _, cell in split]
    _refuse_review(block, source)
    ragged = list(_ragged(rows, {number for number, text in others if not text}, document))
    _refuse_misplaced(split, lines, source)
    _refuse_enforced(cells, lines, source)
    aliases = read_aliases(block.before, source).get(None, {})
    chains, findings = read_column(document, cells, aliases)
    comments = sum(1 for _, text in others if text)
    odd = [*ragged, *_comment_findings(document, comments), *findings]
    annotation = Annotation.of(annotator, document, chains, odd)
    if not findings and sum(len(chain.mentions) for chain in chains) == len(annotation.mentions):
        return annotation
    return replace(annotation, as_given=in_file_order(enumerate(cells, 1), aliases))


def _sort_lines(body: tuple[Line, ...]) -> tuple[list[Line], list[tuple[int, str]]]:
    """Separate the rows from blank lines and comments, which get the number of rows before them."""
    width = _width(body)
    rows: list[Line] = []
    others: list[tuple[int, str]] = []
    for line in body:
        if not line.text.strip(" \t"):
            others.append((len(rows), ""))
        elif line.text.startswith("#") and not _is_row(line.text, width):
            others.append((len(rows), line.text))
        else:
            rows.append(line)
    return rows, others


def _width(body: tuple[Line, ...]) -> int:
    """Count the columns of the first row that is surely one, to recognise tokens that start with `#`.

    Where all lines start with `#`, only a tab distinguishes a row from a comment.
    """
    texts = (line.text for line in body if line.text.strip(" \t"))
    sure = next((text for text in texts if not text.startswith("#")), None)
    if sure is None:
        marked = (line.text for line in body if "\t" in line.text)
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


def _refuse_review(block: Block, source: str) -> None:
    """Refuse a review file: its result would vote as an annotator."""
    for line in block.before:
        if line.text.startswith("# caspr review:"):
            raise FormatError(source, line.number, "a review file", "an annotator's file; use `caspr redo`")


def _ragged(rows: Sequence[Line], sentences: Container[int], document: Document) -> Iterator[Finding]:
    """Warn of rows with other columns than their sentence; refuse those with just a tab too many."""
    width = 0
    odd: list[int] = []
    for number, row in enumerate(rows):
        columns = len(split_columns(row.text))
        if number == 0 or number in sentences:
            width = columns
        elif columns == width + 1 and row.text.endswith("\t"):
            expected = f"{width} as in the rows before it; there is a tab too many at its end"
            raise FormatError(document.source, row.number, f"{columns} columns", expected)
        elif columns != width:
            odd.append(row.number)
    if odd:
        message = f"{times(len(odd), 'row')} with more or fewer columns than the sentence begins with"
        yield warning("ragged-rows", message, count=len(odd), where=f"{document.source}:{odd[0]}")


def _refuse_misplaced(split: Sequence[tuple[str, str]], lines: tuple[int, ...], source: str) -> None:
    """Refuse rows that all end with a tab behind the coreference column."""
    if any(cell for _, cell in split):
        return
    columns = [prefix_columns(prefix) for prefix, _ in split]
    cells = [row[-1] if len(row) > 1 else "" for row in columns]
    brackets = [number for number, cell in enumerate(cells) if "(" in cell or ")" in cell]
    if brackets and all(map(_is_cell, cells)):
        expected = "coreference in the last column; the rows end with a tab too many"
        raise FormatError(source, lines[brackets[0]], "an empty last column", expected)


def _refuse_enforced(cells: Iterable[str], lines: tuple[int, ...], source: str) -> None:
    for cell, line in zip(cells, lines, strict=True):
        if cell.startswith("="):
            expected = "a coreference cell; this looks like a review file: use `caspr redo`"
            raise FormatError(source, line, f"enforced cell {quoted(cell)}", expected)


def _comment_findings(document: Document, comments: int) -> Iterator[Finding]:
    if comments:
        message = f"{times(comments, 'comment line')} inside the document, not written again"
        where = f"{document.source}, {document.title}"
        yield warning("comment-in-document", message, count=comments, where=where)
