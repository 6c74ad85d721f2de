"""Write review files: the columns of each annotator once, and the result column for any result."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from caspr.formats.chain_ids import numbered
from caspr.formats.columns.entity_lines import entity_lines
from caspr.formats.columns.rows import (
    Column,
    alias_lines,
    layout_of,
    write_column,
    write_document,
)
from caspr.formats.columns.table import prefix_columns
from caspr.formats.review_file.authors import NOBODY, Authors, author_lines
from caspr.formats.review_file.names import name_lines
from caspr.formats.review_file.review import HEADER, Review
from caspr.formats.review_file.statements import note_lines, statement_lines
from caspr.formats.review_file.sums import column_sum, result_sum
from caspr.task.decisions import Decisions
from caspr.task.notes import Note
from caspr.task.settings.stored import VERSION
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.ids import is_id


def write(reviews: Iterable[Review]) -> str:
    """Write a review file.

    Enforced cells are written from the decisions and all others from the result, so that decisions
    survive even where the result does not follow them yet.
    """
    return "".join(
        fill(
            prepare(one.annotations, one.settings, one.gold.document),
            one.gold,
            one.decisions,
            one.notes,
            one.authors,
        )
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
    """The lines about annotators' chains: names, types, mentions that cross in their chain."""

    def with_settings(self, settings: Mapping[str, object]) -> "Prepared":
        """Return the same with other settings."""
        header = {**json.loads(self.header.removeprefix(HEADER)), "settings": dict(settings)}
        return replace(self, header=_dumped(header))

    def with_result_sum(self, result: str) -> str:
        """Return the header with the checksum of a result."""
        header = json.loads(self.header.removeprefix(HEADER))
        return _dumped({**header, "sums": {**header["sums"], "result": result}})


def prepare(
    annotations: Sequence[Annotation], settings: Mapping[str, object], document: Document
) -> Prepared:
    """Write the columns of the annotators, once for any number of results."""
    document = _tabbed(document)
    chains = [numbered(one.all_chains, is_id) for one in annotations]
    columns = [
        write_column(document, given, one.annotator) for given, one in zip(chains, annotations, strict=True)
    ]
    entities = [line for number, given in enumerate(chains, 1) for line in entity_lines(given, number)]
    aliases = [
        line for number, column in enumerate(columns, 1) for line in alias_lines(column.aliases, number)
    ]
    names = [annotation.annotator for annotation in annotations]
    layout = layout_of(document)
    sums = {
        "text": column_sum(layout.prefixes),
        "annotators": [column_sum(column.cells) for column in columns],
    }
    header = _header_line(names, settings, document, sums)
    rows = zip(*(column.cells for column in columns), strict=True)
    prefixes = [
        "".join((prefix, *(f"{cell}\t" for cell in cells)))
        for prefix, cells in zip(layout.prefixes, rows, strict=True)
    ]
    full = replace(document, layout=replace(layout, prefixes=tuple(prefixes)))
    return Prepared(full, header, (*entities, *aliases))


def fill(
    prepared: Prepared,
    gold: Annotation,
    decisions: Decisions,
    notes: Iterable[Note] = (),
    authors: Authors = NOBODY,
) -> str:
    """Write one document of a review file."""
    chains = shown(gold, decisions)
    column = write_column(prepared.document, chains, "the result")
    return assemble(prepared, column, decisions, notes, chains, authors)


def assemble(
    prepared: Prepared,
    result: Column,
    decisions: Decisions,
    notes: Iterable[Note],
    chains: Iterable[Chain],
    authors: Authors = NOBODY,
) -> str:
    """Put the parts of a document of a review file together; `chains` are those of the result."""
    cells = result.cells
    summed = prepared.with_result_sum(result_sum(cells))
    if decisions.closed:
        cells = cells.copy()
        for token in decisions.closed:
            if 1 <= token <= len(cells):
                cells[token - 1] = f"={cells[token - 1]}"
    header = [
        summed,
        *statement_lines(decisions.statements, authors),
        *author_lines(authors),
        *note_lines(notes),
        *prepared.aliases,
        *name_lines(chains, decisions.names, authors),
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
    known = {chain.id: chain for chain in gold.all_chains}
    for chain in decisions.chains:
        cells[chain.id].extend(chain.mentions)
    for chain in gold.all_chains:
        free = (span for span in chain.mentions if span not in decisions.permitted)
        cells[chain.id].extend(span for span in free if not decisions.rules_out(span))
    return [known.get(id, Chain(id, ())).over(mentions) for id, mentions in cells.items()]


def _header_line(
    names: Sequence[str], settings: Mapping[str, object], document: Document, sums: Mapping[str, object]
) -> str:
    widths = {prefix.count("\t") for prefix in layout_of(document).prefixes}
    header = {
        "version": VERSION,
        "annotators": list(names),
        "settings": dict(settings),
        "sums": dict(sums),
        "tokens": len(document.tokens),
        **({"columns": widths.pop()} if len(widths) == 1 else {}),
    }
    return _dumped(header)


def _dumped(header: Mapping[str, object]) -> str:
    return f"{HEADER} {json.dumps(header, sort_keys=True, ensure_ascii=True)}"
