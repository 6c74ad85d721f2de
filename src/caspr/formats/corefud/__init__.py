"""CorefUD: CoNLL-U with coreference in the last column, as in the CorefUD collection and in GUM.

    # newdoc id = d1
    # global.Entity = eid-etype-head-other
    # text = The girl sang
    1   The    the   DET   _  _  2  det    _  Entity=(e1-person-2
    2   girl   girl  NOUN  _  _  3  nsubj  _  Entity=e1)

1. `# newdoc id = name`, or `name; part 000`, begins a document; a file without one is a document named after
   the file.
2. `formats.entities` says what an `Entity=` cell is; `# global.Entity` gives the order of its fields.
3. Empty nodes (`3.1`) are tokens like others, so that zero mentions are adjudicated too; `_` as their form
   is no character. Ranges of multi-word tokens (`3-4`) are no tokens.
4. All else is kept to the byte: columns, comments, other items of MISC. A mention that stays keeps its
   fields. A gold chain takes the id of the chain with which it shares most mentions, so that `Bridge=` and
   `SplitAnte=` still lead somewhere.
5. Two crossing mentions of one chain cannot be told apart: see `formats.conll` for what is done.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

from caspr.errors import FormatError, OutputError
from caspr.files import read_text
from caspr.formats.chain_ids import keep_ids
from caspr.formats.columns.blocks import Line
from caspr.formats.columns.cells import CellError, split_crossing
from caspr.formats.columns.rows import alias_lines, read_aliases
from caspr.formats.conll import crossing_findings
from caspr.formats.corefud.entities import IDS, Entity, is_eid, match, render, same_items
from caspr.formats.losses import removed_mentions
from caspr.formats.messages import quoted
from caspr.formats.naming import Each, whole
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.cut_words import whole_words, widened
from caspr.formats.text_layer.standoff import Marked, assemble, join
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.findings import Finding, note, times, warning

_ORDER: tuple[str, ...] = ("eid", "etype", "head", "other")
_NEWDOC = re.compile(r"# *newdoc(?:\s+id\s*=\s*(.*?))?\s*")
_PARTED = re.compile(r"(.*\S); part ([^\s;()]+)")
_GLOBAL = re.compile(r"# *global\.Entity\s*=\s*(\S+)\s*")
_TOKEN = re.compile(r"[0-9]+(\.[0-9]+)?")
_RANGE = re.compile(r"[0-9]+-[0-9]+")


@dataclass(frozen=True)
class _Layout:
    """What a document's lines said beyond the text."""

    title: str
    """What the document is called."""
    lines: tuple[str, ...]
    """All of them."""
    rows: tuple[int, ...]
    """For each token its place among the lines."""
    order: tuple[str, ...]
    """The fields of an opening."""
    entities: tuple[Entity, ...]
    """The mentions."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether the beginning of a file looks like this format."""
    return bool(re.search(r"^# *(global\.Entity|newdoc|sent_id)\b", head, re.MULTILINE)) and "\t" in head


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, choices))


def read_each(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> Iterator[Each]:  # noqa: ARG001
    """Yield each document's name with its annotation, or with what is wrong with it."""
    source, who = str(path), path.stem if annotator is None else annotator
    text = read_text(path).replace("\r\n", "\n")
    order = _ORDER
    titles: set[str] = set()
    empty = True
    for name, lines in _documents(text, path.stem):
        try:
            order = _declared(lines, order, source)
            annotation = _annotation(name, lines, order, source, who)
        except FormatError as error:
            empty = False
            yield name, error
            continue
        title = annotation.document.title
        empty = empty and not annotation.document.tokens
        if title in titles:
            yield (
                name,
                FormatError(source, None, f"document {quoted(title)} more than once", "each document once"),
            )
        else:
            yield name, annotation
        titles.add(title)
    if empty and "newdoc" not in text:
        yield path.stem, FormatError(source, None, "no token", "rows of ten columns")


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each into the lines of the file it was read from."""
    written: list[str] = []
    declared = _ORDER
    for annotation in annotations:
        whole = whole_words(annotation)
        layout = _layout(whole.document)
        lines = _called(layout, whole.document)
        if layout.order != declared and not any(map(_GLOBAL.fullmatch, lines)):
            # The document that declared it is not written.
            lines[1:1] = [_global(layout.order)]
        declared = layout.order
        written.append(_write_one(whole, layout, lines))
    return "".join(written)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    covered = [
        warning("covered-gaps", f"a mention with gaps inside another of its chain written without ({one})")
        for one in _tangled(annotation)
    ]
    layout = annotation.document.layout
    known = {_hull(one.pieces) for one in layout.entities} if isinstance(layout, _Layout) else set()
    gone = len(known - whole_words(annotation).mentions)
    removed = removed_mentions(annotation, gone)
    return (*crossing_findings(annotation), *widened(annotation), *covered, *removed)


def _tangled(annotation: Annotation) -> Iterator[str]:
    """List mentions with gaps whose pieces could not be told from those of another of their chain."""
    for chain in annotation.all_chains:
        broken = [span for span in chain.mentions if annotation.marks.get(span, Mark()).pieces]
        last = 0
        for span in broken:
            if span.start <= last:
                yield quoted(annotation.document.text(span))
            else:
                last = span.end


def _documents(text: str, name: str) -> Iterator[tuple[str, list[Line]]]:
    """Cut a file into documents; the comments of a sentence go with it."""
    lines: list[Line] = []
    begun = False
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        new = _NEWDOC.fullmatch(line)
        if new is not None:
            if begun or any("\t" in one.text for one in lines):
                ends = (place for place, one in enumerate(lines, 1) if not one.text.startswith("#"))
                start = max(ends, default=len(lines))
                yield name, lines[:start]
                lines = lines[start:]
            name, begun = new[1] or name, True
        lines.append(Line(number, line))
    yield name, lines


def _declared(lines: Sequence[Line], order: tuple[str, ...], source: str) -> tuple[str, ...]:
    for line in lines:
        declared = _GLOBAL.fullmatch(line.text)
        if declared:
            order = tuple(declared[1].split("-"))
            if not set(IDS) & set(order):
                raise FormatError(source, line.number, quoted(line.text), "a field eid or GRP among them")
    return order


def _annotation(
    name: str, lines: Sequence[Line], order: tuple[str, ...], source: str, who: str
) -> Annotation:
    rows = [(place, line.text.split("\t")) for place, line in enumerate(lines) if _is_row(line, source)]
    words = tuple("" if "." in columns[0] and columns[1] == "_" else columns[1] for _, columns in rows)
    numbers = tuple(lines[place].number for place, _ in rows)
    try:
        entities = match(enumerate((_entity(columns[9]) for _, columns in rows), 1), order)
    except CellError as error:
        raise FormatError(source, numbers[error.token - 1], error.found, error.expected) from None
    texts = tuple(line.text for line in lines)
    layout = _Layout(name, texts, tuple(place for place, _ in rows), order, tuple(entities))
    ends = _ends(texts, layout.rows)
    parted = _PARTED.fullmatch(name)
    called = (parted[1], parted[2]) if parted else (name, None)
    document = Document(called[0], words, called[1], source, numbers, layout, sentence_ends=ends)
    aliases = read_aliases(lines, source).get(None, {})
    marked = [Marked(aliases.get(one.id, one.id), (), _field(one, order, "etype")) for one in entities]
    zero = sum("." in columns[0] for _, columns in rows)
    odd = [note("empty-nodes", f"{times(zero, 'empty node')} read as tokens", count=zero)] if zero else []
    if rows and rows[-1][0] == len(lines) - 1:
        message = "the last sentence is not ended by a blank line: is the file cut off?"
        odd.append(warning("unended-sentence", message, where=f"{source}:{numbers[-1]}"))
    return assemble(document, who, marked, [join(one.pieces) for one in entities], odd)


def _is_row(line: Line, source: str) -> bool:
    if not line.text.strip() or line.text.startswith("#"):
        return False
    columns = line.text.split("\t")
    if len(columns) != 10:
        raise FormatError(source, line.number, f"{len(columns)} columns", "ten columns, separated by tabs")
    if _TOKEN.fullmatch(columns[0]):
        return True
    if not _RANGE.fullmatch(columns[0]):
        raise FormatError(source, line.number, f"id {quoted(columns[0])}", "an id such as 3, 3.1 or 3-4")
    return False


def _entity(misc: str) -> str:
    return next((item.removeprefix("Entity=") for item in misc.split("|") if item.startswith("Entity=")), "")


def _field(entity: Entity, order: Sequence[str], name: str) -> str:
    place = order.index(name) if name in order else len(entity.fields)
    return entity.fields[place] if place < len(entity.fields) else ""


def _ends(lines: Sequence[str], rows: Sequence[int]) -> tuple[int, ...]:
    """Return the last token before each blank line."""
    ends: list[int] = []
    token = 0
    for place, text in enumerate(lines):
        if token < len(rows) and rows[token] == place:
            token += 1
        elif not text.strip() and token and token not in ends[-1:]:
            ends.append(token)
    return (*ends, len(rows)) if rows and ends[-1:] != [len(rows)] else tuple(ends)


def _layout(document: Document) -> _Layout:
    known = document.layout
    if isinstance(known, _Layout) and len(known.rows) == len(document.tokens):
        return known
    return _new_layout(document)


def _write_one(annotation: Annotation, layout: _Layout, given: Sequence[str]) -> str:
    chains, aliases = split_crossing(_renamed(annotation.all_chains, layout))
    entities = list(_entities(annotation, chains, layout))
    cells = render(entities, layout.order, len(annotation.document.tokens))
    lines = [line for line in given if not line.startswith("# caspr same-chain")]
    moved = len(layout.lines) - len(lines)
    for row, cell in zip(layout.rows, cells, strict=True):
        columns = lines[row - moved].split("\t")
        columns[9] = _with_entity(columns[9], cell)
        lines[row - moved] = "\t".join(columns)
    head = next((n for n, line in enumerate(lines) if not line.startswith("#") or "newpar" in line), 0)
    lines[head:head] = alias_lines(aliases)
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(f"{line}\n" for line in (*lines, ""))


def _renamed(chains: Sequence[Chain], layout: _Layout) -> list[Chain]:
    """Call chains as the file does, so that what refers to them still does."""
    known = [(entity.id, _hull(entity.pieces)) for entity in layout.entities]
    return keep_ids(chains, known, (f"e{number}" for number in count(1)), is_eid)


def _entities(annotation: Annotation, chains: Iterable[Chain], layout: _Layout) -> Iterator[Entity]:
    """Make the mentions to write, with the fields that the file has for them."""
    known: dict[Span, list[Entity]] = {}
    for entity in layout.entities:
        known.setdefault(_hull(entity.pieces), []).append(entity)
    for chain in chains:
        last = 0
        for span in chain.mentions:
            mark = annotation.marks.get(span, Mark())
            same = known.get(span, [])
            own = next((one for one in same if one.id == chain.id), same[0] if same else None)
            pieces = own.pieces if own and own.id == chain.id else mark.pieces or (span,)
            if len(pieces) > 1 and span.start <= last:
                pieces = (span,)
            last = span.end if len(pieces) > 1 else last
            fields = own.fields if own else _new_fields(span, mark.label, layout)
            yield Entity(chain.id, pieces, fields)


def _hull(pieces: Sequence[Span]) -> Span:
    return Span(min(piece.start for piece in pieces), max(piece.end for piece in pieces))


def _new_fields(span: Span, label: str, layout: _Layout) -> tuple[str, ...]:
    values: Mapping[str, str] = {
        "etype": re.sub(r"[()\-|\[\]\s]", "_", label),
        "head": str(_head(span, layout)),
    }
    return tuple(values.get(name, "") for name in layout.order)


def _head(span: Span, layout: _Layout) -> int:
    """Return the place in a mention of the first token whose head lies outside it."""
    rows = [layout.lines[layout.rows[token - 1]].split("\t") for token in range(span.start, span.end + 1)]
    inside = {columns[0] for columns in rows}
    return next((place for place, columns in enumerate(rows, 1) if columns[6] not in inside), 1)


def _with_entity(misc: str, cell: str) -> str:
    items = [] if misc == "_" else misc.split("|")
    place = next((n for n, item in enumerate(items) if item.startswith("Entity=")), None)
    kept = [item for item in items if not item.startswith("Entity=")]
    if cell and place is not None and same_items(items[place].removeprefix("Entity="), cell):
        return misc
    if cell:
        later = next((n for n, item in enumerate(kept) if item > "Entity="), len(kept))
        kept.insert(later if place is None else place, f"Entity={cell}")
    return "|".join(kept) or "_"


def _called(layout: _Layout, document: Document) -> list[str]:
    """Return the lines of a document, which may have got another name, as one of several solutions has."""
    if layout.title == document.title:
        return list(layout.lines)
    lines = [line for line in layout.lines if not _NEWDOC.fullmatch(line)]
    return [_newdoc(document), *lines]


def _newdoc(document: Document) -> str:
    if re.search(r"[\n\0]", document.title):
        raise OutputError(f"cannot write a document named {quoted(document.title)}: a name has no line ends")
    return f"# newdoc id = {document.title}"


def _global(order: Sequence[str]) -> str:
    return f"# global.Entity = {'-'.join(order)}"


def _new_layout(document: Document) -> _Layout:
    """Make lines for a document that has none."""
    lines = [_newdoc(document), _global(_ORDER)]
    rows: list[int] = []
    bounds = sorted({0, *document.sentence_ends, len(document.tokens)})
    for number, (start, end) in enumerate(pairwise(bounds), 1):
        words = [_form(token, document) for token in document.tokens[start:end]]
        lines += (f"# sent_id = {document.title}-s{number}", f"# text = {' '.join(words)}")
        for row in _new_rows(words):
            rows.append(len(lines))
            lines.append(row)
        lines.append("")
    return _Layout(document.title, tuple(lines), tuple(rows), _ORDER, ())


def _new_rows(words: Iterable[str]) -> Iterator[str]:
    """Write the rows of a sentence; a word without characters is an empty node."""
    number = empty = 0
    for word in words:
        if word:
            number, empty = number + 1, 0
            tree = "0\troot\t_" if number == 1 else "1\tdep\t_"
            yield f"{number}\t{word}\t_\tX\t_\t_\t{tree}\t_"
        else:
            empty += 1
            yield f"{number}.{empty}\t_\t_\t_\t_\t_\t_\t_\t0:root\t_"


def _form(token: str, document: Document) -> str:
    if re.search(r"[\t\n\0]", token):
        raise OutputError(
            f"cannot write token {quoted(token)} of {quoted(document.title)}: it has tabs or line ends"
        )
    return token.strip()
