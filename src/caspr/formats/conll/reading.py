"""Read CoNLL: rows, blank lines and comments of each document, and the cells of the last column."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.columns.blocks import Block, split_documents
from caspr.formats.columns.cells import in_file_order
from caspr.formats.columns.cells import parse as parse_cell
from caspr.formats.columns.entity_lines import is_gold, read_entities, with_entities
from caspr.formats.columns.rows import (
    make_document,
    read_aliases,
    read_column,
)
from caspr.formats.columns.table import ColumnTable, split_columns, split_row, tabulate
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning

_MAYBE_BLANK = frozenset("\n \t")
"""How a line without a token can begin."""


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


@dataclass(frozen=True)
class _Rows:
    """The rows of a document."""

    lines: tuple[int, ...]
    """The line of each."""
    prefixes: tuple[str, ...]
    """All columns of each before coreference, with their separators."""
    cells: tuple[str, ...]
    """The coreference cell of each."""
    table: ColumnTable
    """The columns before coreference."""
    gaps: list[tuple[int, str]]
    """Blank lines and comments, with the number of rows before each."""


def _annotation(block: Block, source: str, annotator: str) -> Annotation:
    _refuse_review(block, source)
    rows = _rows(block)
    document = make_document(
        block, source, lines=rows.lines, prefixes=rows.prefixes, gaps=rows.gaps, table=rows.table
    )
    odd = [*_ragged(rows, document), *_empty_cells(rows, document)]
    _refuse_enforced(rows, source)
    aliases = read_aliases(block.before, source).get(None, {})
    chains, findings = read_column(document, rows.cells, aliases)
    odd += [*_comment_findings(document, rows.gaps), *findings]
    named = with_entities(chains, read_entities(block.before, source))
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
        if not _MAYBE_BLANK.intersection((block.text[:1],)) and not any(
            f"\n{sign}" in block.text for sign in _MAYBE_BLANK
        ):
            return tuple(range(first, first + len(lines))), lines, []
        blank = [place for place, text in enumerate(lines) if not text.strip(" \t")]
        numbers = tuple([n for n, text in enumerate(lines, first) if text.strip(" \t")])
        gaps = [(place - before, "") for before, place in enumerate(blank)]
        return numbers, [text for text in lines if text.strip(" \t")], gaps
    width = _width(lines)
    rows: list[tuple[int, str]] = []
    others: list[tuple[int, str]] = []
    for number, text in enumerate(lines, first):
        if not text.strip(" \t"):
            others.append((len(rows), ""))
        elif text.startswith("#") and not _is_row(text, width):
            others.append((len(rows), text))
        else:
            rows.append((number, text))
    return tuple([number for number, _ in rows]), [text for _, text in rows], others


def _without_spare_tabs(texts: Sequence[str]) -> list[str]:
    """Leave out tabs behind the coreference column: of all rows, or of rows with a column too many."""
    hollow = [place for place, text in enumerate(texts) if text.endswith("\t")]
    widths = Counter(text.count("\t") for text in texts if not text.endswith("\t"))
    if widths:
        usual = max(widths, key=lambda width: (widths[width], width))
        spare = [place for place in hollow if texts[place].count("\t") == usual + 1]
    else:
        cells = [split_row(texts[place][:-1])[1] for place in hollow]
        marked = any("(" in cell or ")" in cell for cell in cells)
        spare = hollow if marked and all(map(_is_cell, cells)) else []
    kept = list(texts)
    for place in spare:
        kept[place] = kept[place][:-1]
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


def _refuse_review(block: Block, source: str) -> None:
    """Refuse a review file: its result would vote as an annotator."""
    for line in block.before:
        if line.text.startswith("# caspr review:"):
            raise FormatError(
                source,
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
        place = f"{document.source}:{rows.lines[rows.cells.index('')]}"
        message = f"{times(empty, 'row')} with an empty last column, read as `-`"
        yield warning("empty-cell", message, count=empty, where=place)


def _refuse_enforced(rows: _Rows, source: str) -> None:
    if not any(cell.startswith("=") for cell in set(rows.cells)):
        return
    for cell, line in zip(rows.cells, rows.lines, strict=True):
        if cell.startswith("="):
            expected = "a coreference cell; this looks like a review file: use `caspr redo`"
            raise FormatError(source, line, f"enforced cell {quoted(cell)}", expected)


def _comment_findings(document: Document, gaps: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    comments = sum(1 for _, text in gaps if text)
    if comments:
        message = f"{times(comments, 'comment line')} inside the document, not written again"
        where = f"{document.source}, {document.title}"
        yield warning("comment-in-document", message, count=comments, where=where)
