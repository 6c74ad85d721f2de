"""Read review files: the header, the columns of each annotator, and the decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.columns.blocks import Block, Line, block_texts, split_documents
from caspr.formats.columns.entity_lines import read_entities, with_entities
from caspr.formats.columns.rows import (
    make_document,
    read_aliases,
    read_column,
)
from caspr.formats.columns.table import split_columns
from caspr.formats.containers.json import parse_object
from caspr.formats.messages import quoted
from caspr.formats.review_file.enforced import enforced_decisions
from caspr.formats.review_file.names import is_name, read_names, result_homes
from caspr.formats.review_file.review import HEADER, OLDEST, Review
from caspr.formats.review_file.statements import read_authors, read_statements
from caspr.formats.review_file.sums import changed
from caspr.task.decisions import Decisions
from caspr.task.settings.stored import VERSION, upgrade
from caspr.text.document import Annotation, Span
from caspr.text.findings import times


@dataclass(frozen=True)
class _Header:
    """The content of the first line of a document."""

    annotators: tuple[str, ...]
    """Their names, in the order of the columns."""
    columns: int | None
    """How many columns come before the annotators', where all rows have as many."""
    settings: Mapping[str, object]
    """See `Review.settings`."""
    tokens: int | None
    """How many tokens the document has."""
    sums: Mapping[str, object]
    """Checksums of what was written; see `sums`."""

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
    said = read_entities((line for line in block.before if not is_name(line)), source)
    columns = {
        name: [row[number - header.added] for _, row in rows] for number, name in enumerate(header.annotators)
    }
    annotations = []
    for number, (name, cells) in enumerate(columns.items()):
        given, findings = read_column(
            document, cells, aliases.get(number + 1, {}), f" (annotator {quoted(name)})"
        )
        annotations.append(Annotation.of(name, document, with_entities(given, said, number + 1), findings))
    results, own = [row[-1].strip(" ") for _, row in rows], aliases.get(None, {})
    odd = changed(header.sums, document, prefixes, columns, results)
    annotations[0] = replace(annotations[0], findings=(*annotations[0].findings, *odd))
    enforced = enforced_decisions(document, results, own)
    statements, notes = read_statements(block.before, source, len(rows))
    names = read_names(block.before, source, len(rows), annotations, lambda: result_homes(results, own))
    decisions = replace(enforced, statements=statements, names=tuple(names))
    signed = {name: made for name, made in names.items() if made is not None}
    authors = replace(read_authors(block.before, source, len(rows)), names=signed)
    gold = Annotation("gold", document, ())
    return Review(
        gold, tuple(annotations), decisions, header.settings, notes, authors, _shown(enforced, results, own)
    )


def _shown(
    enforced: Decisions, results: Sequence[str], aliases: Mapping[str, str]
) -> dict[str, tuple[Span, ...]]:
    """Return the mentions that are shown, and not enforced, under the ids of enforced cells."""
    homes = result_homes(results, aliases) if enforced.chains else {}
    return {
        one.id: tuple(span for span in homes.get(one.id, ()) if span not in enforced.permitted)
        for one in enforced.chains
    }


def _read_header(block: Block, source: str) -> _Header:
    found = [line for line in block.before if line.text.startswith(HEADER)]
    if not found:
        expected = f"a line `{HEADER}` before it, as `caspr adjudicate --layout review` writes it"
        raise FormatError(source, block.line, "a document that is not in review layout", expected)
    if len(found) > 1:
        raise FormatError(source, found[1].number, f"a second line `{HEADER}`", "one for each document")
    expected = f'`{HEADER} {{"annotators": [...], "settings": {{...}}, "version": {VERSION}}}` as we wrote it'
    data = parse_object(found[0].text.removeprefix(HEADER), source, expected, line=found[0].number)
    if problem := _problem(data):
        raise FormatError(source, found[0].number, f"a header with {problem}", expected)
    settings = upgrade(data["settings"], data["version"])
    sums = data.get("sums", {})
    return _Header(tuple(data["annotators"]), data.get("columns"), settings, data.get("tokens"), sums)


def _problem(data: Mapping[str, object]) -> str:
    """Return what is wrong with a header, or nothing."""
    version = data.get("version")
    if type(version) is not int or not OLDEST <= version <= VERSION:
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
    body: Sequence[Line], header: _Header, source: str
) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
    """Split the rows and set blank lines and comments aside, with the number of rows before them."""
    tabbed = any("\t" in line.text for line in body)
    rows: list[tuple[int, list[str]]] = []
    gaps: list[tuple[int, str]] = []
    for number, text in body:
        columns = split_columns(text)
        # We write no comment with a tab; without any tabs left, the number of columns decides.
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
