"""Column files, one token a line: documents, rows, columns, and the lines that we put before a document.

    # caspr gold: the result of an adjudication
    # caspr name: 3 "Sir William"                  name[2]: of the second annotator, in a review file
    # caspr same-chain: 57 3                       mentions under 57 are of chain 3, see `split_crossing`
    #begin document (wsj_0001); part 000
    1    The      (7
    #end document

1. The name of a document ends at the *last* closing parenthesis, so it may hold anything but a line end. GUM
   writes `# begin document name`.
2. `#end document` is required: a file that was cut off is an error, not a shorter document.
3. Outside documents, lines starting with `#` are comments; those after the last document stay with it. Those
   starting with `# caspr` are ours and are rewritten each time. They stand before the document because the
   reference scorer takes comments inside it for tokens; names and types are JSON texts, on one line whatever
   they hold.
4. Only a line feed ends a line, with a carriage return before it or not.
5. A row with a tab is split at tabs, so that tokens may hold blanks and cells may be empty; any other row is
   split at blanks. Other characters that Unicode calls space, such as the no-break space, belong to tokens.
6. The last column is coreference; all before it is a *prefix* that is copied to the byte. The word column is
   the fourth in CoNLL-2012 (constant document, any part, whole number), otherwise the first that does not
   consist of whole numbers, otherwise the first.

Nearly all files have the same number of columns in every row. All rows are then joined, with a sign between
them that no file holds, and split by one call; that the sign comes back at regular places proves that every
row has as many columns. Files of a novel's size are read several times faster like this than row by row.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from caspr.errors import FormatError, OutputError
from caspr.formats.bracket_cells import NOTHING, CellError, chains, match, render, split_crossing
from caspr.formats.containers.json import parse_value
from caspr.formats.format import quoted
from caspr.text.document import Chain, Document, is_id
from caspr.text.findings import Finding, times, warning

# Blanks only, no tabs: a row of tab-separated columns is never mistaken for a marker.
_MARKER = re.compile(r"# *(begin|end) +document(?=[ (;]|$) *(.*)", re.IGNORECASE | re.ASCII)
_TAIL = re.compile(r"[ \t]*;?[ \t]*(?:part[ \t]+([^\s;()]+)[ \t]*;?[ \t]*)?", re.IGNORECASE)
_BARE = re.compile(r"(.*?)(?:;[ \t]*part[ \t]+([^\s;()]+))?[ \t]*;?[ \t]*", re.IGNORECASE)
_PART = re.compile(r"[^\s;()]+")
_OURS = re.compile(r"# caspr\b")


class Line(NamedTuple):
    """One line of a file."""

    number: int
    text: str
    """Without its line end."""


@dataclass(frozen=True)
class Block:
    """The lines of one document."""

    name: str
    part: str | None
    line: int
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


def split_documents(text: str) -> list[Block]:
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
            _refuse_stray(text, done, start, line.number)
            done = end
        if (marker := _MARKER.fullmatch(line.text)) is None:
            if current is None:
                comments.append(line)
        elif marker[1].lower() == "begin":
            current, begun = _begin(marker[2], line, current), end
        elif current is None:
            raise FormatError(line.number, "#end document", "#begin document before it")
        else:
            blocks.append(replace(current, before=tuple(comments), text=text[begun:start]))
            current, comments, done = None, [], end
    if current is not None:
        raise FormatError(current.line, "#begin document without an end", "#end document after it")
    _refuse_stray(text, done, len(text), text.count("\n") + 1)
    if not blocks:
        raise FormatError(None, "no document", "at least one line `#begin document (name);`")
    _refuse_repeated(blocks)
    return [*blocks[:-1], replace(blocks[-1], after=tuple(comments))]


def block_texts(text: str, blocks: Sequence[Block]) -> list[str]:
    """Cut a text that was split into blocks into the text of each, with the comments before it.

    >>> text = "#begin document (a);\\n#end document\\n# b\\n#begin document (b);\\n#end document"
    >>> block_texts(text, split_documents(text))[1]
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
    """Yield the lines that start with `#`, each with its first place and the place after it."""
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


def _refuse_stray(text: str, start: int, end: int, line: int) -> None:
    """Refuse anything but blanks between documents; `line` is that of the end."""
    between = text[start:end]
    if not between.strip(" \t\n"):
        return
    lines = between.split("\n")[:-1]
    stray = next(number for number, content in enumerate(lines) if content.strip(" \t"))
    expected = "#begin document before the first token, or a comment starting with `#`"
    raise FormatError(line - len(lines) + stray, f"{quoted(lines[stray])} outside a document", expected)


def _begin(rest: str, line: Line, current: Block | None) -> Block:
    if current is not None:
        found = f"#begin document inside the document begun in line {current.line}"
        raise FormatError(line.number, found, "#end document before it")
    if not rest.startswith("("):
        bare = _BARE.fullmatch(rest)
        return Block(bare[1] if bare else rest, bare[2] if bare else None, line.number)
    name, _, tail = rest[1:].rpartition(")")
    matched = _TAIL.fullmatch(tail)
    if matched is None or ")" not in rest:
        expected = "`#begin document (name);` or `#begin document (name); part 000`"
        raise FormatError(line.number, quoted(line.text), expected)
    return Block(name, matched[1], line.number)


def _refuse_repeated(blocks: list[Block]) -> None:
    first: dict[tuple[str, str | None], int] = {}
    for block in blocks:
        document = Document(block.name, (), block.part)
        line = first.setdefault(document.key, block.line)
        if line != block.line:
            found = f"document {quoted(document.title)} for the second time"
            raise FormatError(block.line, found, f"each document once; the first is in line {line}")


_BETWEEN = "\0"
"""Stands between rows while they are split: no file that is read holds it."""


@dataclass(frozen=True)
class ColumnTable:
    """Rows split into columns."""

    columns: Sequence[Sequence[str]]
    """For each column what the rows hold that have it."""
    rows: Sequence[Sequence[str]] | None = None
    """The columns of each row, where rows differ in how many they have."""

    def without_last(self) -> "ColumnTable":
        """Return the table without the last column of each row."""
        return (
            ColumnTable(self.columns[:-1]) if self.rows is None else by_row([row[:-1] for row in self.rows])
        )


def split_row(text: str) -> tuple[str, str]:
    """Split a row into its prefix and its coreference cell.

    >>> split_row("1\\tNew York\\t"), split_row("wsj 0  the (1 ")
    (('1\\tNew York\\t', ''), ('wsj 0  the ', '(1'))
    """
    separator = "\t" if "\t" in text else " "
    head, between, cell = (text if separator == "\t" else text.rstrip(" ")).rpartition(separator)
    return head + between, cell


def split_columns(text: str) -> list[str]:
    """Split a row into all its columns."""
    return text.split("\t") if "\t" in text else [column for column in text.split(" ") if column]


def prefix_columns(prefix: str) -> list[str]:
    """Split a prefix into its columns.

    >>> prefix_columns("1\\tNew York\\t"), prefix_columns("wsj 0  the "), prefix_columns("")
    (['1', 'New York'], ['wsj', '0', 'the'], [])
    """
    return prefix[:-1].split("\t") if "\t" in prefix else [column for column in prefix.split(" ") if column]


def tabulate(texts: Sequence[str]) -> ColumnTable:
    """Split rows into columns.

    >>> tabulate(["1\\tNew York\\t-", "2\\tis\\t(1)"]).columns
    [('1', '2'), ('New York', 'is'), ('-', '(1)')]
    >>> tabulate(["a b", "c"]).rows
    [['a', 'b'], ['c']]
    """
    regular = _regular(texts) if texts else None
    return by_row([split_columns(text) for text in texts]) if regular is None else ColumnTable(regular)


def tabulate_prefixes(prefixes: Sequence[str]) -> ColumnTable:
    """Split prefixes, which have a separator at their ends, into columns."""
    if all(prefix[-1:] == "\t" for prefix in prefixes):
        return tabulate([prefix[:-1] for prefix in prefixes]) if prefixes else ColumnTable(())
    return by_row([prefix_columns(prefix) for prefix in prefixes])


def by_row(rows: Sequence[Sequence[str]]) -> ColumnTable:
    """Make a table of rows that were split."""
    width = max(map(len, rows), default=0)
    columns = [[row[number] for row in rows if len(row) > number] for number in range(width)]
    return ColumnTable(columns, rows)


def _regular(texts: Sequence[str]) -> list[tuple[str, ...]] | None:
    """Split rows that have the same number of columns; `None` for any others.

    Columns are tuples, which Python's garbage collector passes over if they hold only texts; it would walk
    through lists again and again.
    """
    separator = "\t" if "\t" in texts[0] else " "
    whole = f"{separator}{_BETWEEN}{separator}".join(texts)
    if separator == " " and "\t" in whole:
        return None
    values = whole.split(separator)
    if separator == " ":
        values = list(filter(None, values))
    width = len(split_columns(texts[0]))
    stride, count = width + 1, len(texts)
    if len(values) != count * stride - 1 or values[width::stride].count(_BETWEEN) != count - 1:
        return None
    # A single column without a tab looks like an empty row that is split at tabs.
    return [tuple(values[number::stride]) for number in range(width)] if width else None


def find_words(table: ColumnTable, lines: Sequence[int]) -> tuple[str, ...]:
    """Take the word column out of the columns before coreference."""
    if not table.columns:
        return ("",) * len(lines)
    column = word_column(table.columns)
    if table.rows is None:
        return tuple(table.columns[column])
    try:
        return tuple([row[column] for row in table.rows])
    except IndexError:
        short = next(number for number, row in enumerate(table.rows) if len(row) <= column)
        found = f"a row of {len(table.rows[short]) + 1} columns"
        expected = f"at least {column + 2} columns: the word is in column {column + 1}"
        raise FormatError(lines[short], found, expected) from None


def word_column(columns: Sequence[Sequence[str]]) -> int:
    """Return which column holds the words."""
    first = columns[0]
    if len(columns) >= 4 and _is_numbers(columns[2]) and first.count(first[0]) == len(first):
        return 3
    words = [number for number, column in enumerate(columns) if not _is_numbers(column)]
    if len(words) < 2:
        return words[0] if words else 0
    return next((number for number in words if not _is_label(columns[number])), words[0])


def _is_numbers(cells: Sequence[str]) -> bool:
    """Return whether a column consists of whole numbers."""
    if not cells:
        return True
    # Most columns show by their first cell that they hold something else.
    return cells[0].isdecimal() and "" not in cells and "".join(cells).isdecimal()


def _is_label(cells: Sequence[str]) -> bool:
    """Return whether a column holds one name for all rows, or a numbered name for each, rather than words."""
    if len(set(cells)) == 1:
        return True
    stem = cells[0].rstrip("0123456789")
    if not all(cell[-1:].isdecimal() and cell.rstrip("0123456789") == stem for cell in cells):
        return False
    return len(set(cells)) == len(cells)


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
    words = find_words(tabulate_prefixes(kept) if table is None else table, lines)
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
            prefixes.append("".join(f"{cell}\t" for cell in (*row[:word], token, *row[word + 1 :])))
    gaps = tuple((last.get(tokens, tokens), text) for tokens, text in layout.gaps)
    return Layout(tuple(prefixes), gaps, layout.before, layout.after)


def write_document(document: Document, header: Iterable[str], cells: Sequence[str], *, notes: bool) -> str:
    """Write one document, with header lines before it and the given text after each prefix.

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
        texts = tuple(cells)
        tokens = [token for token, cell in enumerate(texts, 1) if cell not in NOTHING]
        marked = zip(tokens, [texts[token - 1] for token in tokens], strict=True)
        matched, repeated = chains(match(marked), aliases)
    except CellError as error:
        line = document.lines[error.token - 1]
        raise FormatError(line, error.found + owner, error.expected) from None
    if not repeated:
        return matched, []
    message = f"{times(repeated, 'mention')} given more than once in the same chain, counted once{owner}"
    where = f"{document.source}, {document.title}"
    return matched, [warning("repeated-mention", message, count=repeated, where=where)]


def write_column(document: Document, chains: Iterable[Chain], owner: str) -> Column:
    """Write chains as a column, or refuse what could not be read back."""
    kept, aliases = split_crossing(checked(document, chains, owner))
    return Column(render(kept, len(document.tokens)), aliases)


def checked(document: Document, chains: Iterable[Chain], owner: str) -> list[Chain]:
    """Return the chains that a column of a document has, or refuse what could not be read back."""
    todo = [chain for chain in chains if chain.mentions]
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
    return todo


def alias_lines(aliases: Mapping[str, str], column: int | None = None) -> list[str]:
    """Say which new ids belong to which chain, for the result or for one annotator's column."""
    suffix = "" if column is None else f"[{column}]"
    return [f"# caspr same-chain{suffix}: {new} {old}" for new, old in aliases.items()]


def read_aliases(lines: Iterable[Line]) -> dict[int | None, dict[str, str]]:
    """Read back what `alias_lines` wrote, by column."""
    aliases: dict[int | None, dict[str, str]] = {}
    for line in lines:
        if line.text.startswith("# caspr same-chain"):
            alias = _ALIAS.fullmatch(line.text)
            if alias is None:
                expected = "`# caspr same-chain: 57 3`, a new id and the id of its chain"
                raise FormatError(line.number, quoted(line.text), expected)
            aliases.setdefault(int(alias[1]) if alias[1] else None, {})[alias[2]] = alias[3]
    return aliases


def _refuse(task: str, reason: str) -> None:
    raise OutputError(f"{task}: {reason}")


GOLD_LINE = "# caspr gold: the result of an adjudication"
"""Stands before every document that is one."""
KEYWORDS = ("name", "type", "gold")
"""What follows `# caspr` in such lines."""
_SAID = re.compile(r"# caspr (name|type)(?:\[([0-9]{1,9})\])?: (\S+) (.*)", re.DOTALL)
_EXPECTED = '`# caspr name: 3 "Sir William"`, the id of a chain and a text in double quotes'
Said = Mapping[int | None, Mapping[str, Mapping[str, str]]]
"""For each column (`None` for the result), `name` or `type`, and id, what was said."""


def entity_lines(chains: Iterable[Chain], column: int | None = None) -> list[str]:
    """Write names and types of chains, in the order of the chains."""
    suffix = "" if column is None else f"[{column}]"
    return [
        f"# caspr {keyword}{suffix}: {chain.id} {json.dumps(value, ensure_ascii=False)}"
        for chain in chains
        for keyword, value in (("name", chain.name), ("type", chain.type))
        if value
    ]


def is_gold(lines: Iterable[Line]) -> bool:
    """Return whether the lines before a document say that it is a gold."""
    return any(line.text.startswith("# caspr gold:") for line in lines)


def read_entities(lines: Iterable[Line]) -> Said:
    """Read back what `entity_lines` wrote."""
    entities: dict[int | None, dict[str, dict[str, str]]] = {}
    for line in lines:
        if not line.text.startswith(("# caspr name", "# caspr type")):
            continue
        said = _SAID.fullmatch(line.text)
        value = parse_value(said[4], _EXPECTED, line=line.number) if said else None
        if said is None or not isinstance(value, str):
            raise FormatError(line.number, quoted(line.text), _EXPECTED)
        column = int(said[2]) if said[2] else None
        entities.setdefault(column, {}).setdefault(said[1], {})[said[3]] = value
    return entities


def with_entities(chains: Sequence[Chain], said: Said, column: int | None = None) -> list[Chain]:
    """Give chains the names and types that were said of their ids."""
    own = said.get(column)
    if not own:
        return list(chains)
    names, types = own.get("name", {}), own.get("type", {})
    return [
        replace(chain, name=names.get(chain.id, chain.name), type=types.get(chain.id, chain.type))
        for chain in chains
    ]
