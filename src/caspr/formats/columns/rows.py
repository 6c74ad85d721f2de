"""Rows: the token lines of a column file, and what travels beside the text so that nothing is lost.

The last column is coreference; all before it is a *prefix* that is copied to the byte. `columns.table` says
how rows are split, and which column holds the words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from caspr.errors import FormatError, OutputError
from caspr.formats.columns.blocks import Block, Line, begin_line, foreign
from caspr.formats.columns.cells import NOTHING, CellError, chains, match, render, split_crossing
from caspr.formats.columns.table import (
    ColumnTable,
    by_row,
    find_words,
    prefix_columns,
    tabulate_prefixes,
    word_column,
)
from caspr.formats.messages import quoted
from caspr.text.document import Chain, Document
from caspr.text.findings import Finding, times, warning
from caspr.text.ids import is_id

_ALIAS = re.compile(r"# caspr same-chain(?:\[([0-9]{1,9})\])?: (\S+) (\S+)")


@dataclass(frozen=True)
class Layout:
    """What a column file said beyond the text."""

    prefixes: tuple[str, ...]
    """For each token, all columns before coreference, with their separators."""
    gaps: tuple[tuple[int, str], ...] = ()
    """Lines between tokens, blank ones and comments, with the number of tokens before each."""
    before: tuple[str, ...] = ()
    """Comments before the document."""
    after: tuple[str, ...] = ()
    """Comments after the document, if it was the last of its file."""


@dataclass(frozen=True)
class Column:
    """One annotation as cells."""

    cells: list[str]
    """One for each token."""
    aliases: Mapping[str, str]
    """New ids for mentions that cross others of their chain, with the id of that chain."""


def make_document(
    block: Block,
    source: str,
    *,
    lines: tuple[int, ...],
    prefixes: Iterable[str],
    gaps: Iterable[tuple[int, str]],
    table: ColumnTable | None = None,
) -> Document:
    """Make the document of a block, with its layout beside it; the prefixes may have been split already."""
    kept = tuple(prefixes)
    words = find_words(tabulate_prefixes(kept) if table is None else table, lines, source)
    layout = Layout(kept, tuple(gaps), block.comments, foreign(block.after))
    ends = tuple(sorted({tokens for tokens, text in layout.gaps if tokens and not text}))
    return Document(block.name, words, block.part, source, lines, layout, rows=kept, sentence_ends=ends)


def layout_of(document: Document) -> Layout:
    """Return the layout of a document read from a column file, or make one: index and token.

    A word that was cut gets a row for each piece. Where all tokens are numbers the index is left out, or
    it would be taken for the words.
    """
    layout = document.layout
    if isinstance(layout, Layout) and document.origin:
        return _cut_rows(document, layout)
    if isinstance(layout, Layout) and len(layout.prefixes) == len(document.tokens):
        return layout
    # A mention of nothing but a line end, marked by mistake, is a token of its own.
    tokens = [re.sub(r"[\t\n]", " ", token) if token.isspace() else token for token in document.tokens]
    for number, token in enumerate(tokens, 1):
        if re.search(r"[\t\n\0]", token):
            found = f"cannot write token {number} of {quoted(document.title)}, {quoted(token)}"
            raise OutputError(f"{found}: a token has no tabs, line ends or NULs")
    gaps = tuple((end, "") for end in document.sentence_ends)
    if tokens and all(map(str.isdecimal, tokens)):
        return Layout(tuple(f"{token}\t" for token in tokens), gaps)
    return Layout(tuple(f"{number}\t{token}\t" for number, token in enumerate(tokens, 1)), gaps)


def _cut_rows(document: Document, layout: Layout) -> Layout:
    """Repeat the row of each word that was cut, with the pieces in its word column."""
    columns = [prefix_columns(prefix) for prefix in layout.prefixes]
    word = word_column(by_row(columns).columns) if any(columns) else 0
    counts = Counter(document.origin)
    prefixes: list[str] = []
    last: dict[int, int] = {0: 0}
    near = 1
    for number, (origin, token) in enumerate(zip(document.origin, document.tokens, strict=True), 1):
        near = origin or near
        last[near] = number
        if origin and counts[origin] == 1:
            prefixes.append(layout.prefixes[origin - 1])
        else:
            row = columns[near - 1] if columns else [""]
            prefixes.append("".join(f"{one}\t" for one in (*row[:word], token, *row[word + 1 :])))
    gaps = tuple((last.get(tokens, tokens), text) for tokens, text in layout.gaps)
    return Layout(tuple(prefixes), gaps, layout.before, layout.after)


def write_document(document: Document, header: Iterable[str], cells: Sequence[str], *, notes: bool) -> str:
    """Write one document, with header lines before it and the given text behind each prefix.

    Comments inside a document are written only as notes: the reference scorer takes them for tokens.
    """
    layout = layout_of(document)
    written = [*layout.before, *header, begin_line(document)]
    done = 0
    for tokens, text in layout.gaps:
        written.extend(map(str.__add__, layout.prefixes[done:tokens], cells[done:tokens]))
        done = tokens
        if notes or not text:
            written.append(text)
    written.extend(map(str.__add__, layout.prefixes[done:], cells[done:]))
    return "\n".join([*written, "#end document", *layout.after, ""])


def read_column(
    document: Document, cells: Iterable[str], aliases: Mapping[str, str], owner: str = ""
) -> tuple[list[Chain], list[Finding]]:
    """Read the chains in the cells of a document, and report mentions that a chain repeats."""
    try:
        given = tuple(cells)
        tokens = [token for token, cell in enumerate(given, 1) if cell not in NOTHING]
        marked = zip(tokens, [given[token - 1] for token in tokens], strict=True)
        found, repeated = chains(match(marked), aliases)
    except CellError as error:
        line = document.lines[error.token - 1]
        raise FormatError(document.source, line, error.found + owner, error.expected) from None
    if not repeated:
        return found, []
    message = f"{times(repeated, 'mention')} given more than once in the same chain, counted once{owner}"
    where = f"{document.source}, {document.title}"
    return found, [warning("repeated-mention", message, count=repeated, where=where)]


def write_column(document: Document, given: Iterable[Chain], owner: str) -> Column:
    """Write chains as a column, or refuse what could not be read back."""
    todo = [chain for chain in given if chain.mentions]
    refuse = partial(_refuse, f"cannot write {quoted(document.title)} of {quoted(owner)}")
    seen: set[str] = set()
    for chain in todo:
        if not is_id(chain.id):
            refuse(f"chain id {quoted(chain.id)} has blanks, brackets or bars, starts with `=`, or is empty")
        if chain.id in seen:
            refuse(f"two chains have the id {quoted(chain.id)}")
        seen.add(chain.id)
        for span in chain.mentions:
            if not 1 <= span.start <= span.end <= len(document.tokens):
                refuse(f"mention {tuple(span)} is outside its {len(document.tokens)} tokens")
    kept, aliases = split_crossing(todo)
    return Column(render(kept, len(document.tokens)), aliases)


def alias_lines(aliases: Mapping[str, str], column: int | None = None) -> list[str]:
    """Say which new ids belong to which chain, for the result or for one annotator's column."""
    place = "" if column is None else f"[{column}]"
    return [f"# caspr same-chain{place}: {new} {old}" for new, old in aliases.items()]


def read_aliases(lines: Iterable[Line], source: str) -> dict[int | None, dict[str, str]]:
    """Read back what `alias_lines` wrote, by column."""
    aliases: dict[int | None, dict[str, str]] = {}
    for line in lines:
        if line.text.startswith("# caspr same-chain"):
            found = _ALIAS.fullmatch(line.text)
            if found is None:
                expected = "`# caspr same-chain: 57 3`, a new id and the id of its chain"
                raise FormatError(source, line.number, quoted(line.text), expected)
            aliases.setdefault(int(found[1]) if found[1] else None, {})[found[2]] = found[3]
    return aliases


def _refuse(task: str, reason: str) -> None:
    raise OutputError(f"{task}: {reason}")
