"""Tables of WebAnno TSV 3: header, sentences, rows and cells, without knowing what the cells mean.

    #FORMAT=WebAnno TSV 3.3
    #T_CH=webanno.custom.CorefLink|referenceType|referenceRelation

    #Text=Anna slept .
    1-1     0-4     Anna    nam[1]  *->1-1

1. `#T_SP`, `#T_RL` and `#T_CH` declare span, relation and chain layers; each `|` after the name is a column,
   and a layer without any has one.
2. A row is `sentence-token`, the offsets, the token and the cells; a row `1-1.1` is part of a token.
3. Offsets count UTF-16 units of the whole text, which is put together from the `#Text` lines; what lies
   between sentences is not in the file and becomes blanks.
4. In a cell, `|` separates what is stacked, `[3]` after a label names the annotation it belongs to, `*`
   is not a label and `_` nothing at all. Signs with a meaning are escaped by a backslash.
5. Written back with some columns changed, an annotation is repeated on the row of every token it covers
   whole; a token of which it covers a part gets a row `1-1.1` for that part. Such rows are removed when they
   become empty.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caspr.errors import FormatError
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Units
from caspr.text.document import Document

_LAYER = re.compile(r"#T_(SP|RL|CH)=(.*)")
_ROW = re.compile(
    r"([0-9]{1,9}-[0-9]{1,9})((?:\.[0-9]{1,9})?)\t([0-9]{1,12})-([0-9]{1,12})\t([^\t]*)(.*)", re.DOTALL
)
_STACK = re.compile(r"(?<!\\)(?:\\\\)*\|")
_ENTRY = re.compile(r"((?:[^\\\[]|\\.)*+)(?:\[([0-9]{1,9})\])?", re.DOTALL)
_SPECIAL = re.compile(r"([\\\[\]|_;*])|(->)")


GOLD_LINE = "#Sentence.caspr=gold"
"""Stands before the first sentence of a file that is the result of an adjudication."""


@dataclass(frozen=True)
class TsvLayer:
    """A layer that the header declares."""

    kind: str
    """SP, RL or CH."""
    name: str
    features: tuple[str, ...]
    column: int
    """Its first column among the cells."""

    @property
    def width(self) -> int:
        """How many columns it has."""
        return max(1, len(self.features))


@dataclass(frozen=True)
class Row:
    """One row."""

    id: str
    """Such as 1-1 or 1-1.1."""
    part: bool
    """Whether it is part of a token."""
    extent: Extent
    cells: tuple[str, ...]
    """All cells after the token."""
    index: int
    """Its place among the lines of the file."""


@dataclass(frozen=True)
class Table:
    """A file."""

    lines: tuple[str, ...]
    layers: tuple[TsvLayer, ...]
    rows: tuple[Row, ...]
    text: str
    ends: tuple[int, ...]
    """Where sentences end in it."""
    tail: str
    """What follows the last cell of a row: a tab, or nothing."""


@dataclass(frozen=True)
class StackedValue:
    """One of the stacked things in a cell."""

    label: str
    """Without escapes; empty for `*`."""
    id: str
    """The number in brackets, or nothing."""


@dataclass
class _Raw:
    """A row whose offsets still count units."""

    id: str
    part: bool
    start: int
    end: int
    token: str
    cells: tuple[str, ...]
    index: int


def parse(text: str) -> Table:
    """Read a file, or raise `FormatError`."""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if lines[0].startswith(" # "):
        expected = "version 3: import the file in INCEpTION or WebAnno 3, and export it as WebAnno TSV 3.3"
        raise FormatError(1, "WebAnno TSV 2, an old version", expected)
    if not lines[0].startswith("#FORMAT=WebAnno TSV 3"):
        raise FormatError(1, quoted(lines[0]), "`#FORMAT=WebAnno TSV 3.3`, or another 3.x")
    layers = tuple(_layers(lines))
    width = sum(layer.width for layer in layers)
    sentences = list(_sentences(lines, width))
    whole, ends = _text(sentences)
    units = Units(whole)
    rows, latest = [], 0
    for raw in (raw for _, raws in sentences for raw in raws):
        start, end = units.point(raw.start), units.point(raw.end)
        if start is None or end is None or start > end:
            found = f"offsets {raw.start}-{raw.end}"
            raise FormatError(raw.index + 1, found, "offsets of whole characters in the text")
        if start < latest:
            expected = "rows in the order of the text: export the file again"
            raise FormatError(raw.index + 1, f"row {raw.id} after one that begins later", expected)
        latest = latest if raw.part else start
        rows.append(Row(raw.id, raw.part, (start, end), raw.cells, raw.index))
    tail = "\t" if any(line.endswith("\t") for line in lines if _ROW.fullmatch(line)) or not rows else ""
    return Table(tuple(lines), layers, tuple(rows), whole, ends, tail)


def entries(cell: str) -> list[StackedValue]:
    """Read what is stacked in a cell.

    >>> entries("per\\\\|son[3]|*[4]"), entries("_")
    ([StackedValue(label='per|son', id='3'), StackedValue(label='', id='4')], [])
    """
    if cell in ("_", ""):
        return []
    values = []
    for piece in split_stack(cell):
        parts = _ENTRY.fullmatch(piece)
        label, id = (parts[1], parts[2] or "") if parts else (piece, "")
        values.append(StackedValue("" if label == "*" else unescape(label), id))
    return values


def split_stack(cell: str) -> list[str]:
    """Split a cell at the bars that are not escaped."""
    pieces, start = [], 0
    for bar in _STACK.finditer(cell):
        pieces.append(cell[start : bar.end() - 1])
        start = bar.end()
    return [*pieces, cell[start:]]


def escape(label: str) -> str:
    """Write a label so that none of its signs has a meaning.

    >>> escape("a_b->c"), escape("")
    ('a\\\\_b\\\\->c', '*')
    """
    text = _SPECIAL.sub(lambda sign: "\\" + sign[0], label).replace("\t", "\\t").replace("\n", "\\n")
    return text.replace("\r", "\\r") or "*"


def unescape(text: str) -> str:
    """Undo `escape`."""
    plain = {"t": "\t", "n": "\n", "r": "\r"}
    return re.sub(r"\\(->|.)", lambda sign: plain.get(sign[1], sign[1]), text, flags=re.DOTALL)


def _layers(lines: Sequence[str]) -> Iterator[TsvLayer]:
    column = 0
    for line in lines:
        declared = _LAYER.fullmatch(line)
        if declared:
            name, *features = declared[2].split("|")
            layer = TsvLayer(declared[1], name, tuple(features), column)
            column += layer.width
            yield layer
        elif line.startswith("#Text=") or (line and not line.startswith("#")):
            return


def _sentences(lines: Sequence[str], width: int) -> Iterator[tuple[list[str], list[_Raw]]]:
    """Group the lines into sentences: the text, and the rows."""
    texts: list[str] = []
    rows: list[_Raw] = []
    seen: set[str] = set()
    for index, line in enumerate(lines):
        if line.startswith("#Text="):
            if rows:
                yield texts, rows
                texts, rows = [], []
            texts.append(line.removeprefix("#Text="))
        elif (line.startswith("#") and "\t" not in line) or not line.strip(" "):
            continue
        else:
            row = _row(line, index, width)
            if row.id in seen:
                raise FormatError(index + 1, f"row {row.id} for the second time", "each row once")
            seen.add(row.id)
            rows.append(row)
    if rows:
        yield texts, rows
    elif any(text.strip() for text in texts):
        expected = "rows for its words: is the file cut off?"
        raise FormatError(len(lines), "a sentence without rows", expected)


def _row(line: str, index: int, width: int) -> _Raw:
    parts = _ROW.fullmatch(line)
    if parts is None:
        expected = "`1-1<tab>0-4<tab>Anna<tab>...`: sentence and token, offsets, text, cells"
        raise FormatError(index + 1, quoted(line), expected)
    id, part, start, end, token, rest = parts.groups()
    cells = rest.split("\t")[1:]
    if len(cells) == width + 1 and not cells[-1]:
        cells.pop()
    if len(cells) != width or "" in cells:
        found = f"{len([cell for cell in cells if cell])} cells"
        raise FormatError(index + 1, found, f"{width}, as the header declares")
    return _Raw(id + part, bool(part), int(start), int(end), token, tuple(cells), index)


def _text(sentences: Sequence[tuple[list[str], list[_Raw]]]) -> tuple[str, tuple[int, ...]]:
    """Put the text together, sentence by sentence."""
    whole = ""
    length = 0
    ends = []
    for texts, rows in sentences:
        first = rows[0]
        if first.start > length + 1_000_000:
            raise FormatError(first.index + 1, f"offset {first.start}", "sentences one after the other")
        if first.start < length:
            whole, length = _shorten(whole, length, first)
        gap = first.start - length
        whole += ("\n" + " " * (gap - 1)) if gap and whole else " " * gap
        sentence = _sentence("\n".join(texts), rows)
        whole += sentence
        length = first.start + Units(sentence).of(len(sentence))
        ends.append(len(whole))
    return whole, tuple(ends)


def _shorten(whole: str, length: int, first: _Raw) -> tuple[str, int]:
    """Drop blanks at the end of the text so far that the next sentence counts as its own."""
    cut = length - first.start
    if whole[-cut:].strip():
        raise FormatError(first.index + 1, f"offset {first.start}", f"{length} or more")
    return whole[:-cut], first.start


def _sentence(text: str, rows: Sequence[_Raw]) -> str:
    """Return the text of a sentence; if it does not fit the rows, make one that does."""
    origin = rows[0].start
    for candidate in (text, unescape(text)):
        units = Units(candidate)
        if all(_fits(candidate, units, row, origin) for row in rows):
            _refuse_rest(candidate, units.point(max(row.end for row in rows) - origin), rows[-1])
            return candidate
    made, length = "", origin
    for row in (row for row in rows if not row.part):
        token = next(
            (t for t in (row.token, unescape(row.token)) if Units(t).of(len(t)) == row.end - row.start), None
        )
        if token is None or row.start < length:
            found = f"token {quoted(row.token)} at {row.start}-{row.end}"
            raise FormatError(row.index + 1, found, "offsets that fit the token and `#Text`")
        made += " " * min(row.start - length, 1_000_000) + token
        length = row.end
    return made


def _refuse_rest(text: str, end: int | None, last: _Raw) -> None:
    """Refuse a sentence with words after those of its rows; signs at its end may be no tokens."""
    rest = text[end:]
    if any(character.isalnum() for character in rest):
        expected = "rows for all words of `#Text`: is the file cut off?"
        raise FormatError(last.index + 1, f"no row for {quoted(rest.strip())}", expected)


def _fits(text: str, units: Units, row: _Raw, origin: int) -> bool:
    start, end = units.point(row.start - origin), units.point(row.end - origin)
    return start is not None and end is not None and text[start:end] in (row.token, unescape(row.token))


def with_gold(text: str, wanted: bool) -> str:
    """Say before the first sentence that a file is the result of an adjudication, or take that out.

    INCEpTION passes over lines it does not know among those before the words of a sentence, and nowhere else.
    """
    lines = [line for line in text.split("\n") if line != GOLD_LINE]
    first = next((number for number, line in enumerate(lines) if line.startswith("#Text=")), None)
    if wanted and first is not None:
        lines.insert(first, GOLD_LINE)
    return "\n".join(lines)


def fresh_table(document: Document, text: str, offsets: Sequence[Extent], layer: str) -> Table:
    """Make the table of a document that has none, with one chain layer and nothing in it."""
    units = Units(text)
    lines = ["#FORMAT=WebAnno TSV 3.3", f"#T_CH={layer}|referenceType|referenceRelation", "", ""]
    ends = sorted({*document.sentence_ends, len(offsets)} - {0})
    first = 0
    for number, last in enumerate(ends, 1):
        start, end = offsets[first][0], max(offsets[last - 1][1], offsets[first][0])
        lines += [f"#Text={line}" for line in text[start:end].split("\n")]
        for token, (begin, stop) in enumerate(offsets[first:last], 1):
            word = re.sub(r"[\t\n\r]", " ", text[begin:stop])
            lines.append(f"{number}-{token}\t{units.of(begin)}-{units.of(stop)}\t{word}\t_\t_\t")
        lines.append("")
        first = last
    return parse("\n".join(lines))


_RowKey = tuple[str, Extent]
"""A row: the id of its token, and its characters."""


class CellTexts:
    """What to write into some columns, by the characters it is about."""

    def __init__(self, columns: Iterable[int]) -> None:
        """Name the columns to rewrite."""
        self.columns = frozenset(columns)
        self.entries: list[tuple[Extent, Mapping[int, str]]] = []
        self.links: list[tuple[Extent, Extent, Mapping[int, str], int]] = []

    def add(self, extent: Extent, values: Mapping[int, str]) -> None:
        """Stack an annotation on all rows that it covers."""
        self.entries.append((extent, values))

    def link(self, here: Extent, there: Extent, values: Mapping[int, str], column: int) -> None:
        """Stack a relation where one annotation begins; in `column` comes the row where the other begins."""
        self.links.append((here, there, values, column))


def rewritten(table: Table, cells: CellTexts) -> str:
    """Return the file with the columns of the cells replaced."""
    known = {(row.id.partition(".")[0], row.extent): row.id for row in table.rows}
    stacks, fresh = _stacks(table, cells, known)
    width = sum(layer.width for layer in table.layers)
    units = Units(table.text)
    lines: dict[int, list[str]] = {}
    last: dict[str, int] = {}
    for row in table.rows:
        token = row.id.partition(".")[0]
        last[token] = row.index
        lines[row.index] = list(
            _changed(table, row, _row_cells(row.cells, cells, stacks.get((token, row.extent), {})))
        )
    for (token, extent), id in fresh.items():
        text = table.text[slice(*extent)].replace("\n", " ").replace("\t", " ").replace("\r", " ")
        offsets = f"{units.of(extent[0])}-{units.of(extent[1])}"
        blank = _row_cells(("_",) * width, cells, stacks[token, extent])
        lines[last[token]].append("\t".join([id, offsets, text, *blank]) + table.tail)
    whole = (line for number, old in enumerate(table.lines) for line in lines.get(number, [old]))
    return "".join(f"{line}\n" for line in whole)


def _changed(table: Table, row: Row, cells: Sequence[str]) -> Iterator[str]:
    """Return the line of a row, unless it has become empty."""
    if tuple(cells) == row.cells:
        yield table.lines[row.index]
    elif not row.part or any(cell != "_" for cell in cells):
        head = table.lines[row.index].split("\t")[:3]
        yield "\t".join([*head, *cells]) + table.tail


def _row_cells(old: Sequence[str], cells: CellTexts, stack: Mapping[int, Sequence[str]]) -> list[str]:
    return [
        ("|".join(stack.get(column, ())) or "_") if column in cells.columns else cell
        for column, cell in enumerate(old)
    ]


def _stacks(
    table: Table, cells: CellTexts, known: Mapping[_RowKey, str]
) -> tuple[dict[_RowKey, dict[int, list[str]]], dict[_RowKey, str]]:
    """Sort what is to be written by row, and return the rows that the file does not have."""
    stacks: dict[_RowKey, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    tokens = [row for row in table.rows if not row.part]
    starts = [row.extent[0] for row in tokens]
    for extent, values in cells.entries:
        for key in _covered(tokens, starts, extent):
            for column, value in values.items():
                stacks[key][column].append(value)
    fresh = _fresh_rows(table, sorted(stacks.keys() - known.keys()))
    for here, there, values, column in cells.links:
        key = next(_covered(tokens, starts, here))
        target = next(_covered(tokens, starts, there))
        row = known.get(target) or fresh[target]
        for number, value in values.items():
            stacks[key][number].append(f"{row}{value}" if number == column else value)
    return stacks, fresh


def _fresh_rows(table: Table, keys: Iterable[_RowKey]) -> dict[_RowKey, str]:
    """Number new rows on from those that a token has."""
    used: dict[str, int] = defaultdict(int)
    for row in table.rows:
        token, _, number = row.id.partition(".")
        used[token] = max(used[token], int(number or 0))
    fresh: dict[_RowKey, str] = {}
    for key in keys:
        used[key[0]] += 1
        fresh[key] = f"{key[0]}.{used[key[0]]}"
    return fresh


def _covered(tokens: Sequence[Row], starts: Sequence[int], extent: Extent) -> Iterator[_RowKey]:
    """Cut an annotation into whole tokens and parts of tokens."""
    start, end = extent
    first = max(0, bisect_right(starts, start) - 1)
    if start == end:
        while first and starts[first - 1] == start:
            first -= 1
        near = [
            row for row in tokens[max(0, first - 1) : first + 3] if row.extent[0] <= start <= row.extent[1]
        ]
        same = [row for row in near if row.extent == extent]
        yield ((same or near or tokens[first : first + 1]) or tokens)[0].id, extent
        return
    for index in range(first, bisect_left(starts, end)):
        row = tokens[index]
        low, high = max(start, row.extent[0]), min(end, row.extent[1])
        if low < high:
            yield row.id, (low, high)
