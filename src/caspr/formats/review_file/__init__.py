"""The review layout: all annotators and the result side by side, for people to look at and correct.

    # caspr review: {"annotators": ["AK", "JA"], "columns": 2, "settings": {...}, "tokens": 3, "version": 1}
    #begin document (name);
    1    The     (1    (4    =(1
    2    girl    1)    4)    =1)
    3    sang    -     -     -
    #end document

1. Tab-separated: the columns of the first annotator's file without coreference, one column of cells for
   each annotator with that annotator's own ids, and the result.
2. A result cell that starts with `=` is *enforced*: exactly these mentions start and end here. `=-` or a
   bare `=` says that none does. All other result cells are output, and ignored when the file is read.
3. Brackets are matched among enforced cells only, so both ends of a mention must be enforced.
4. The file is complete: annotations, decisions and settings are all in it. Comments and blank lines,
   those inside a document included, are kept.
5. What cells cannot say, and notes, stand in comment lines before the document: see `statements`.
6. `# caspr same-chain: 57 3` stands for the result, `# caspr same-chain[2]: 57 3` for the second annotator.
7. An editor may have changed the line ends, added a byte order mark, or turned tabs into blanks.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.columns.blocks import Block, Line, block_texts, split_documents
from caspr.formats.columns.cells import NOTHING, Bracketing, CellError, UnbalancedError, chains, match
from caspr.formats.columns.cells import parse as parse_cell
from caspr.formats.columns.rows import (
    Column,
    alias_lines,
    layout_of,
    make_document,
    prefix_columns,
    read_aliases,
    read_column,
    split_columns,
    write_column,
    write_document,
)
from caspr.formats.messages import quoted
from caspr.formats.review_file.statements import note_lines, read_statements, statement_lines
from caspr.task.decisions import Decisions
from caspr.task.notes import Note
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import times

VERSION = 1
_HEADER = "# caspr review:"


@dataclass(frozen=True)
class Review:
    """One document of a review file."""

    gold: Annotation
    """The result. Without chains when read from a file: it is computed anew from the rest."""
    annotations: tuple[Annotation, ...]
    """What the annotators said, over one shared document."""
    decisions: Decisions
    """What the adjudicator enforced."""
    settings: Mapping[str, object]
    """How the result was computed, in terms of JSON."""
    notes: tuple[Note, ...] = ()
    """What somebody wants remembered."""


@dataclass(frozen=True)
class _Header:
    """What the first line of a document says."""

    annotators: tuple[str, ...]
    """Their names, in the order of the columns."""
    columns: int | None
    """How many columns come before the annotators', where all rows have as many."""
    settings: Mapping[str, object]
    """See `Review.settings`."""
    tokens: int | None
    """How many tokens the document has."""

    @property
    def added(self) -> int:
        """How many columns we added: one for each annotator and the result."""
        return len(self.annotators) + 1


def read(path: Path) -> list[Review]:
    """Read a review file; nothing else is needed."""
    return parse(read_text(path), str(path))


def parse(text: str, source: str) -> list[Review]:
    """Read the text of a review file, with the name to use in messages."""
    return [one for one, _ in parse_apart(text, source)]


def parse_apart(text: str, source: str) -> list[tuple[Review, str]]:
    """Read the text of a review file, and return each document together with its own text."""
    blocks = split_documents(text, source)
    return [
        (_review(block, source), own) for block, own in zip(blocks, block_texts(text, blocks), strict=True)
    ]


def write(reviews: Iterable[Review]) -> str:
    """Write a review file.

    Enforced cells are written from the decisions and all others from the result, so that decisions
    survive even where the result does not follow them yet.
    """
    return "".join(
        fill(prepare(one.annotations, one.settings, one.gold.document), one.gold, one.decisions, one.notes)
        for one in reviews
    )


@dataclass(frozen=True)
class Prepared:
    """All of a document's review that stays the same from result to result."""

    document: Document
    """The document, with the annotators' cells among the columns of its layout."""
    header: str
    """The line that names annotators and settings."""
    aliases: tuple[str, ...]
    """The lines for annotators' mentions that cross in their chain."""


def prepare(
    annotations: Sequence[Annotation], settings: Mapping[str, object], document: Document
) -> Prepared:
    """Write what annotators say, once for any number of results."""
    document = _tabbed(document)
    columns = [write_column(document, one.all_chains, one.annotator) for one in annotations]
    aliases = [
        line for number, column in enumerate(columns, 1) for line in alias_lines(column.aliases, number)
    ]
    names = [annotation.annotator for annotation in annotations]
    header = _header_line(names, settings, document)
    layout = layout_of(document)
    rows = zip(*(column.cells for column in columns), strict=True)
    prefixes = [
        "".join((prefix, *(f"{cell}\t" for cell in cells)))
        for prefix, cells in zip(layout.prefixes, rows, strict=True)
    ]
    full = replace(document, layout=replace(layout, prefixes=tuple(prefixes)))
    return Prepared(full, header, tuple(aliases))


def fill(prepared: Prepared, gold: Annotation, decisions: Decisions, notes: Iterable[Note] = ()) -> str:
    """Write one document of a review file."""
    column = write_column(prepared.document, shown(gold, decisions), "the result")
    return assemble(prepared, column, decisions, notes)


def assemble(prepared: Prepared, result: Column, decisions: Decisions, notes: Iterable[Note]) -> str:
    """Put the parts of a document of a review file together."""
    cells = result.cells
    if decisions.closed:
        cells = cells.copy()
        for token in decisions.closed:
            if 1 <= token <= len(cells):
                cells[token - 1] = f"={cells[token - 1]}"
    header = [
        prepared.header,
        *statement_lines(decisions.statements),
        *note_lines(notes),
        *prepared.aliases,
        *alias_lines(result.aliases),
    ]
    return write_document(prepared.document, header, cells, notes=True)


def _tabbed(document: Document) -> Document:
    """Separate the columns by tabs, and take tabs out of comments, which would make them rows."""
    layout = layout_of(document)
    prefixes = tuple(["".join(f"{one}\t" for one in prefix_columns(prefix)) for prefix in layout.prefixes])
    gaps = tuple((tokens, text.replace("\t", " ")) for tokens, text in layout.gaps)
    # The rows of words that were cut are in the layout now.
    return replace(document, layout=replace(layout, prefixes=prefixes, gaps=gaps), origin=())


def shown(gold: Annotation, decisions: Decisions) -> list[Chain]:
    """Put the enforced cells and the result around them together."""
    if not decisions.closed:
        return list(gold.all_chains)
    cells: dict[str, list[Span]] = defaultdict(list)
    for chain in decisions.chains:
        cells[chain.id].extend(chain.mentions)
    for chain in gold.all_chains:
        free = (span for span in chain.mentions if span not in decisions.permitted)
        cells[chain.id].extend(span for span in free if not decisions.rules_out(span))
    return [Chain.of(id, mentions) for id, mentions in cells.items()]


def _header_line(names: Sequence[str], settings: Mapping[str, object], document: Document) -> str:
    widths = {prefix.count("\t") for prefix in layout_of(document).prefixes}
    header = {
        "version": VERSION,
        "annotators": list(names),
        "settings": dict(settings),
        "tokens": len(document.tokens),
        **({"columns": widths.pop()} if len(widths) == 1 else {}),
    }
    return f"{_HEADER} {json.dumps(header, sort_keys=True, ensure_ascii=True)}"


def _review(block: Block, source: str) -> Review:
    header = _read_header(block, source)
    rows, gaps = _sort_lines(block.body, header, source)
    if header.tokens is not None and header.tokens != len(rows):
        expected = f"{header.tokens} as this file was written with: a line was lost or added"
        raise FormatError(source, block.line, f"a document of {times(len(rows), 'token')}", expected)
    prefixes = ["".join(f"{column}\t" for column in row[: -header.added]) for _, row in rows]
    lines = tuple([number for number, _ in rows])
    document = make_document(block, source, lines=lines, prefixes=prefixes, gaps=gaps)
    aliases = read_aliases(block.before, source)
    annotations = []
    for number, name in enumerate(header.annotators):
        cells = [row[number - header.added] for _, row in rows]
        given, findings = read_column(
            document, cells, aliases.get(number + 1, {}), f" (annotator {quoted(name)})"
        )
        annotations.append(Annotation.of(name, document, given, findings))
    enforced = _decisions(document, [row[-1].strip(" ") for _, row in rows], aliases.get(None, {}))
    statements, notes = read_statements(block.before, source, len(rows))
    decisions = replace(enforced, statements=statements)
    return Review(Annotation("gold", document, ()), tuple(annotations), decisions, header.settings, notes)


def _read_header(block: Block, source: str) -> _Header:
    found = [line for line in block.before if line.text.startswith(_HEADER)]
    if not found:
        expected = f"a line `{_HEADER}` before it, as `caspr adjudicate --layout review` writes it"
        raise FormatError(source, block.line, "a document that is not in review layout", expected)
    if len(found) > 1:
        raise FormatError(source, found[1].number, f"a second line `{_HEADER}`", "one for each document")
    try:
        data = json.loads(found[0].text.removeprefix(_HEADER))
    except (ValueError, RecursionError):
        data = None
    problem = _problem(data)
    if problem:
        expected = (
            f'`{_HEADER} {{"annotators": [...], "settings": {{...}}, "version": {VERSION}}}` as we wrote it'
        )
        raise FormatError(source, found[0].number, f"a header with {problem}", expected)
    return _Header(tuple(data["annotators"]), data.get("columns"), data["settings"], data.get("tokens"))


def _problem(data: object) -> str:
    """Say what is wrong with a header, or nothing."""
    if not isinstance(data, dict):
        return "malformed JSON"
    if data.get("version") != VERSION:
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
    return "" if isinstance(data.get("settings"), dict) else "no settings"


def _sort_lines(
    body: Sequence[Line], header: _Header, source: str
) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
    """Split the rows and set blank lines and comments aside, with the number of rows before them."""
    tabbed = any("\t" in line.text for line in body)
    rows: list[tuple[int, list[str]]] = []
    gaps: list[tuple[int, str]] = []
    for number, text in body:
        columns = split_columns(text)
        # We write no comment with a tab; without any tabs left, the columns must tell.
        comment = text.startswith("#") and "\t" not in text and (tabbed or not _fits(columns, header))
        if comment or not text.strip(" "):
            gaps.append((len(rows), text if comment else ""))
        elif _fits(columns, header):
            rows.append((number, columns))
        else:
            raise FormatError(source, number, f"{len(columns)} columns", _expected_columns(header))
    return rows, gaps


def _fits(columns: Sequence[str], header: _Header) -> bool:
    own = len(columns) - header.added
    return own >= 0 if header.columns is None else own == header.columns


def _expected_columns(header: _Header) -> str:
    added = f"one for each of {', '.join(map(quoted, header.annotators))}, and the result"
    if header.columns is None:
        return f"{header.added} or more columns: those of the text, {added}"
    return f"{header.columns + header.added} columns: {header.columns} of the text, {added}"


def _decisions(document: Document, results: Sequence[str], aliases: Mapping[str, str]) -> Decisions:
    """Read the enforced cells; what the others say is of no interest, even if it is rubbish."""
    _refuse_disguised(document, results)
    enforced = [(token, cell[1:]) for token, cell in enumerate(results, 1) if cell.startswith("=")]
    try:
        spans = match(enforced)
    except UnbalancedError as error:
        raise _half_enforced(document, error.token, error.bracket) from None
    except CellError as error:
        line = document.lines[error.token - 1]
        raise FormatError(document.source, line, f"enforced {error.found}", error.expected) from None
    _refuse_halves(document, results)
    return Decisions.of(chains(spans, aliases)[0], [token for token, _ in enforced])


def _refuse_disguised(document: Document, results: Sequence[str]) -> None:
    """Refuse marks that a spreadsheet put into quotes, or an input method wrote wide."""
    for token, cell in enumerate(results, 1):
        if not cell.startswith("=") and cell.lstrip("\"'\u201c\u201e ").startswith(("=", "\uff1d")):
            expected = "an enforced cell to begin with a plain `=`"
            raise FormatError(document.source, document.lines[token - 1], quoted(cell), expected)


def _half_enforced(document: Document, token: int, bracket: str) -> FormatError:
    found = f"enforced {quoted(bracket)} whose other end is not enforced"
    expected = "both ends of a mention enforced: prefix the other cell with `=`"
    return FormatError(document.source, document.lines[token - 1], found, expected)


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
