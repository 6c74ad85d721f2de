"""Read review files: the header, the columns of each annotator, and what the adjudicator decided.

The CaspR of 2018 wrote files of the same columns without a header. Whoever reads one says who the annotators
are: how many columns they have before the result (`parse`), or which files are theirs (`parse_beside`).

Columns are separated by tabs, and what is beside a tab to align them is left out. Where an editor has put
blanks in place of tabs, in the whole file or in a row, blanks separate.

Enforced cells are decisions, and everything else in the result column is output, which is ignored even if it
is malformed. What looks like an enforced cell and is not one is refused: a mark in quotes, a mention of which
only one end is enforced.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat, takewhile
from pathlib import Path

from caspr.errors import FormatError, reading
from caspr.formats.bracket_cells import NOTHING, Bracketing, CellError, UnbalancedError, chains, match
from caspr.formats.bracket_cells import parse as parse_cell
from caspr.formats.columns import (
    Block,
    Line,
    block_texts,
    is_gold,
    make_document,
    read_aliases,
    read_column,
    read_entities,
    split_columns,
    split_documents,
    with_entities,
)
from caspr.formats.containers.json import parse_object
from caspr.formats.format import quoted
from caspr.formats.review_file.cells import signed_cells
from caspr.formats.review_file.review import HEADER, Review, changed
from caspr.formats.review_file.statements import HeadLines, is_name, read_lines, read_names, result_homes
from caspr.storage import read_text
from caspr.task.decisions import IN_CELLS, Decision, Decisions
from caspr.task.stored_settings import VERSION
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import times


def enforced_decisions(document: Document, results: Sequence[str], aliases: Mapping[str, str]) -> Decisions:
    """Read the enforced cells; the others are ignored, even if malformed."""
    _refuse_disguised(document, results)
    enforced = [(token, cell[1:]) for token, cell in enumerate(results, 1) if cell.startswith("=")]
    try:
        spans = match(enforced)
    except UnbalancedError as error:
        raise _half_enforced(document, error.token, error.bracket) from None
    except CellError as error:
        line = document.lines[error.token - 1]
        once = " and one = for the whole cell, at its start" if "=" in results[error.token - 1][1:] else ""
        raise FormatError(line, f"enforced {error.found}", error.expected + once) from None
    _refuse_halves(document, results)
    return Decisions.of(chains(spans, aliases)[0], [token for token, _ in enforced])


def _refuse_disguised(document: Document, results: Sequence[str]) -> None:
    """Refuse marks that a spreadsheet put into quotes, or an input method wrote wide."""
    for token, cell in enumerate(results, 1):
        if not cell.startswith("=") and cell.lstrip("\"'\u201c\u201e ").startswith(("=", "\uff1d")):
            expected = "an enforced cell to begin with a plain `=`"
            raise FormatError(document.lines[token - 1], quoted(cell), expected)


def _half_enforced(document: Document, token: int, bracket: str) -> FormatError:
    found = f"enforced {quoted(bracket)} whose other end is not enforced"
    expected = "both ends of a mention enforced: prefix the other cell with `=`"
    return FormatError(document.lines[token - 1], found, expected)


@dataclass
class _Frame:
    """An enforced opening, and the brackets of its chain in cells that are not enforced since then."""

    token: int
    closings: int = 0
    openings: int = 0

    def add(self, closings: int, openings: int) -> None:
        """Append unmatched brackets, closings first; a closing takes an opening that is there."""
        matched = min(self.openings, closings)
        self.closings += closings - matched
        self.openings += openings - matched


def _refuse_halves(document: Document, results: Sequence[str]) -> None:
    """Refuse `=(1  1)  (1  =1)`: two mentions with one end enforced each, not one long mention."""
    frames: dict[str, list[_Frame]] = defaultdict(list)
    for token, item, enforced in _brackets(results):
        stack = frames[item.id]
        if enforced and item.opens:
            stack.append(_Frame(token))
        elif enforced:
            frame = stack.pop()
            if frame.closings and frame.openings:
                raise _half_enforced(document, frame.token, f"({item.id}")
            if stack:
                stack[-1].add(frame.closings, frame.openings)
        elif stack:
            stack[-1].add(int(item.closes), int(item.opens))


def _brackets(results: Sequence[str]) -> Iterator[tuple[int, Bracketing, bool]]:
    """List the brackets of all cells that have any, and whether they are enforced."""
    for token, cell in enumerate(results, 1):
        text = cell.removeprefix("=")
        if text in NOTHING:
            continue
        try:
            items = parse_cell(text)
        except ValueError:
            continue
        for item in items:
            if item.opens != item.closes:
                yield token, item, cell.startswith("=")


@dataclass(frozen=True)
class _Header:
    """The content of the first line of a document."""

    annotators: tuple[str, ...]
    columns: int | None
    """How many columns come before the annotators', where all rows have as many."""
    settings: Mapping[str, object]
    tokens: int | None
    sums: Mapping[str, object]
    aligned: bool = False
    """Whether blanks before a tab are there to align the columns."""

    @property
    def added(self) -> int:
        """How many columns we added: one for each annotator and the result."""
        return len(self.annotators) + 1


def read(path: Path) -> list[Review]:
    """Read a review file; nothing else is needed."""
    return parse(read_text(path), str(path))


def parse(text: str, source: str, annotators: Sequence[str] = ()) -> list[Review]:
    """Read the text of a review file, with the name to use in messages.

    `annotators` are the names of the columns before the result, for a file without a header.
    """
    return [review for review, _ in parse_apart(text, source, annotators)]


def parse_apart(text: str, source: str, annotators: Sequence[str] = ()) -> list[tuple[Review, str]]:
    """Read the text of a review file, and return each document together with its own text."""
    with reading(source):
        blocks = split_documents(text)
        texts = block_texts(text, blocks)
        return [(_review(block, source, annotators), own) for block, own in zip(blocks, texts, strict=True)]


def parse_beside(text: str, source: str, documents: Sequence[Sequence[Annotation]]) -> list[Review]:
    """Read what a result column enforces, of a file without a header whose annotators' files are given.

    All its other columns are ignored, as the CaspR of 2018 did. `documents` has the annotations of each
    document, over the same tokens.
    """
    known = {annotations[0].document.key: annotations for annotations in documents}
    reviews = []
    with reading(source):
        for block in split_documents(text):
            document = Document(block.name, (), block.part)
            if document.key not in known:
                titles = ", ".join(quoted(annotations[0].document.title) for annotations in known.values())
                expected = f"a document of the annotators' files: {titles}"
                raise FormatError(block.line, f"document {quoted(document.title)}", expected)
            reviews.append(_beside(block, known[document.key]))
    return reviews


def _beside(block: Block, annotations: Sequence[Annotation]) -> Review:
    document = annotations[0].document
    rows, _ = _sort_lines(block.body, _Header((), None, {}, None, {}))
    if len(rows) != len(document.tokens):
        expected = f"{len(document.tokens)}, as the annotators' files have"
        raise FormatError(block.line, f"a document of {times(len(rows), 'token')}", expected)
    results = [row[-1].strip(" ") for _, row in rows]
    placed = replace(document, lines=tuple(number for number, _ in rows))
    enforced = enforced_decisions(placed, results, {})
    lines = read_lines(block.before, len(rows))
    decisions = (*signed_cells(enforced, lines.decisions), *_stated(lines))
    gold = Annotation("gold", document, ())
    homes = result_homes(results, {})
    return Review(gold, tuple(annotations), decisions, {}, shown=_shown(enforced, homes), homes=homes)


def _stated(lines: HeadLines) -> Iterator[Decision]:
    return (decision for decision in lines.decisions if decision.statement.kind not in IN_CELLS)


def _review(block: Block, source: str, annotators: Sequence[str]) -> Review:
    header = _read_header(block, source, annotators)
    rows, gaps = _sort_lines(block.body, header)
    if header.tokens is not None and header.tokens != len(rows):
        expected = f"{header.tokens} as this file was written with: a line was lost or added"
        raise FormatError(block.line, f"a document of {times(len(rows), 'token')}", expected)
    added = header.added
    prefixes = ["".join([f"{column}\t" for column in row[:-added]]) for _, row in rows]
    numbers = tuple([number for number, _ in rows])
    document = make_document(block, source, lines=numbers, prefixes=prefixes, gaps=gaps)
    aliases = read_aliases(block.before)
    said = read_entities(line for line in block.before if not is_name(line))
    columns = {
        name: [row[number - added].strip(" ") for _, row in rows]
        for number, name in enumerate(header.annotators)
    }
    annotations = []
    for number, (name, cells) in enumerate(columns.items()):
        chains, findings = read_column(
            document, cells, aliases.get(number + 1, {}), f" (annotator {quoted(name)})"
        )
        annotations.append(Annotation.of(name, document, with_entities(chains, said, number + 1), findings))
    results, own = [row[-1].strip(" ") for _, row in rows], aliases.get(None, {})
    odd = changed(header.sums, document, prefixes, columns, results)
    annotations[0] = replace(annotations[0], findings=(*annotations[0].findings, *odd))
    enforced = enforced_decisions(document, results, own)
    lines = read_lines(block.before, len(rows))
    decisions = (
        *signed_cells(enforced, lines.decisions),
        *_stated(lines),
        *read_names(block.before, len(rows), annotations, lambda: result_homes(results, own)),
    )
    gold = Annotation("gold", document, ())
    notes, homes = tuple(lines.notes), result_homes(results, own)
    shown = _shown(enforced, homes)
    return Review(gold, tuple(annotations), decisions, header.settings, notes, lines.done, shown, homes)


def _shown(enforced: Decisions, homes: Mapping[str, Sequence[Span]]) -> dict[str, tuple[Span, ...]]:
    """Return the mentions that are shown, and not enforced, under the ids of enforced cells."""
    return {
        chain.id: tuple(span for span in homes.get(chain.id, ()) if span not in enforced.permitted)
        for chain in enforced.chains
    }


def _read_header(block: Block, source: str, annotators: Sequence[str]) -> _Header:
    headers = [line for line in block.before if line.text.startswith(HEADER)]
    if not headers:
        return _of_2018(block, source, annotators)
    if len(headers) > 1:
        raise FormatError(headers[1].number, f"a second line `{HEADER}`", "one for each document")
    expected = f'`{HEADER} {{"annotators": [...], "settings": {{...}}, "version": {VERSION}}}` as we wrote it'
    data = parse_object(headers[0].text.removeprefix(HEADER), expected, line=headers[0].number)
    if problem := _problem(data):
        raise FormatError(headers[0].number, f"a header with {problem}", expected)
    names, sums = tuple(data["annotators"]), data.get("sums", {})
    if annotators and len(annotators) != len(names):
        found = f"{times(len(names), 'annotator')} in the header: {', '.join(map(quoted, names))}"
        raise FormatError(headers[0].number, found, f"the {len(annotators)} that were announced")
    aligned = bool(data.get("aligned"))
    return _Header(names, data.get("columns"), data["settings"], data.get("tokens"), sums, aligned)


def _of_2018(block: Block, source: str, annotators: Sequence[str]) -> _Header:
    """Make a header for a document without one, if it was said who the annotators are."""
    rows = [split_columns(text) for text in block.lines if text.strip(" ") and not text.startswith("#")]
    number = _bracket_columns(rows) - 1
    if annotators:
        own = len(rows[0]) - len(annotators) - 1 if rows else 0
        if own <= 0 < number < len(annotators):
            found = f"columns of {times(number, 'annotator')} before the result"
            raise FormatError(block.line, found, f"the {len(annotators)} that were announced")
        return _Header(tuple(annotators), max(own, 0), {}, None, {}, aligned=True)
    expected = f"a line `{HEADER}` before it, as `caspr adjudicate --layout review` writes it"
    if is_gold(block.before):
        raise FormatError(
            block.line, "the gold standard of an adjudication that is not in review layout", expected
        )
    if number > 0:
        command = f"caspr redo {shlex.quote(source)} --annotators {number} --preset paper"
        expected += f"; if its last columns are annotators and a result, as in files of 2018: `{command}`"
    raise FormatError(block.line, "a document that is not in review layout", expected)


def _bracket_columns(rows: Sequence[Sequence[str]]) -> int:
    """Count the last columns of which every cell could be a coreference cell."""
    columns = zip(*(reversed(row) for row in rows), strict=False)
    return sum(1 for _ in takewhile(lambda column: all(map(_is_cell, column)), columns))


def _is_cell(text: str) -> bool:
    bare = text.strip(" ").removeprefix("=")
    try:
        return bare in NOTHING or bool(parse_cell(bare))
    except ValueError:
        return False


def _problem(data: Mapping[str, object]) -> str:
    """Return what is wrong with a header, or nothing."""
    if data.get("version") != VERSION or type(data["version"]) is not int:
        return f"version {quoted(str(data.get('version')))}"
    names = data.get("annotators")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return "no list of annotators"
    if len(set(names)) < len(names):
        return "an annotator named twice"
    for name in ("columns", "tokens"):
        number = data.get(name, 0)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            return f"a malformed number of {name}"
    if not isinstance(data.get("sums", {}), dict):
        return "malformed checksums"
    return "" if isinstance(data.get("settings"), dict) else "no settings"


def _sort_lines(
    body: Sequence[Line], header: _Header
) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
    """Split the rows and set blank lines and comments aside, with the number of rows before them."""
    tabbed = any("\t" in line.text for line in body)
    rows: list[tuple[int, list[str]]] = []
    gaps: list[tuple[int, str]] = []
    for number, text in body:
        columns = _columns(text, header)
        # We write no comment with a tab; without any tabs left, the number of columns decides.
        comment = text.startswith("#") and "\t" not in text and (tabbed or not _fits(columns, header))
        if comment or not text.strip(" "):
            gaps.append((len(rows), text if comment else ""))
        elif _fits(columns, header):
            rows.append((number, columns))
        else:
            raise FormatError(number, f"{len(columns)} columns", _expected_columns(header))
    return rows, gaps


def _columns(text: str, header: _Header) -> list[str]:
    """Split a row at tabs, or at blanks if there are none, or if only that makes it fit."""
    columns = split_columns(text)
    if "\t" not in text:
        return columns
    if not _fits(columns, header):
        loose = [column for column in re.split(r"[ \t]+", text) if column]
        return loose if _fits(loose, header) else columns
    return list(map(str.strip, columns, repeat(" "))) if header.aligned else columns


def _fits(columns: Sequence[str], header: _Header) -> bool:
    own = len(columns) - header.added
    return own >= 0 if header.columns is None else own == header.columns


def _expected_columns(header: _Header) -> str:
    added = f"one for each of {', '.join(map(quoted, header.annotators))}, and the result"
    if header.columns is None:
        return f"{header.added} or more columns: those of the text, {added}"
    return f"{header.columns + header.added} columns: {header.columns} of the text, {added}"
