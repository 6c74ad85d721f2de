"""Read CorefUD: the documents of a file, their rows, and the entities in the last column."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.columns.blocks import Line
from caspr.formats.columns.cells import CellError
from caspr.formats.columns.entity_lines import is_gold, read_entities, with_entities
from caspr.formats.columns.rows import read_aliases
from caspr.formats.corefud.entities import IDS, LABEL, Entity, is_unmistakable, match
from caspr.formats.corefud.layout import GLOBAL, NEWDOC, ORDER, CorefudLayout
from caspr.formats.format import Each, whole
from caspr.formats.messages import quoted
from caspr.formats.naming import name_and_part, with_number
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import EntityFacts, Marked, assemble, join
from caspr.text.document import Annotation, Document
from caspr.text.findings import note, times, warning

_TOKEN = re.compile(r"[0-9]+(\.[0-9]+)?")
_RANGE = re.compile(r"[0-9]+-[0-9]+")


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, options))


def read_each(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> Iterator[Each]:  # noqa: ARG001
    """Yield each document's name with its annotation, or with what is wrong with it."""
    source, who = str(path), path.stem if annotator is None else annotator
    text = read_text(path).replace("\r\n", "\n")
    order: tuple[str, ...] = ()
    titles: set[str] = set()
    empty = True
    for name, nameless, lines in _documents(text, path.stem):
        try:
            order = _declared(lines, order, source)
            annotation = _annotation(name, lines, order, source, who, nameless)
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


def _documents(text: str, own: str) -> Iterator[tuple[str, int, list[Line]]]:
    """Cut a file into documents, which have names or numbers; the comments of a sentence go with it."""
    lines: list[Line] = []
    begun = False
    name, nameless, unnamed = own, 1, 0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        new = NEWDOC.fullmatch(line)
        if new is not None:
            if begun or any("\t" in one.text for one in lines):
                ends = (place for place, one in enumerate(lines, 1) if not one.text.startswith("#"))
                start = max(ends, default=len(lines))
                yield name, nameless, lines[:start]
                lines = lines[start:]
                unnamed += not begun
            unnamed += not new[1]
            name, nameless = (new[1], 0) if new[1] else (with_number(own, unnamed), unnamed)
            begun = True
        lines.append(Line(number, line))
    yield name, nameless, lines


def _declared(lines: Sequence[Line], order: tuple[str, ...], source: str) -> tuple[str, ...]:
    for line in lines:
        declared = GLOBAL.fullmatch(line.text)
        if declared:
            order = tuple(declared[1].split("-"))
            if not set(IDS) & set(order):
                raise FormatError(source, line.number, quoted(line.text), "a field eid or GRP among them")
    if not order:
        _refuse_undeclared(lines, source)
    return order


def _refuse_undeclared(lines: Sequence[Line], source: str) -> None:
    """Refuse entities whose fields nobody declared, unless all of them begin with something like `e12`."""
    for line in lines:
        columns = line.text.split("\t")
        cell = _entity(columns[9]) if len(columns) == 10 and not line.text.startswith("#") else ""
        if cell and not is_unmistakable(cell):
            expected = (
                "a line such as `# global.Entity = eid-etype-head-other` before the first sentence, which "
                "says which field is the entity's id"
            )
            found = f"Entity={quoted(cell)} in a file that does not declare its fields"
            raise FormatError(source, line.number, found, expected)


def _annotation(
    name: str, lines: Sequence[Line], order: tuple[str, ...], source: str, who: str, nameless: int
) -> Annotation:
    order = order or ORDER
    rows = [(place, line.text.split("\t")) for place, line in enumerate(lines) if _is_row(line, source)]
    words = tuple("" if "." in columns[0] and columns[1] == "_" else columns[1] for _, columns in rows)
    numbers = tuple(lines[place].number for place, _ in rows)
    aliases = read_aliases(lines, source).get(None, {})
    try:
        found = match(enumerate((_entity(columns[9]) for _, columns in rows), 1), order)
    except CellError as error:
        raise FormatError(source, numbers[error.token - 1], error.found, error.expected) from None
    entities = [replace(one, id=aliases.get(one.id, one.id)) for one in found]
    texts = tuple(line.text for line in lines)
    layout = CorefudLayout(name, texts, tuple(place for place, _ in rows), order, tuple(entities))
    ends = _ends(texts, layout.rows)
    called, part = (name, None) if nameless else name_and_part(name)
    document = Document(called, words, part, source, numbers, layout, sentence_ends=ends, nameless=nameless)
    marked = [Marked(one.id, (), _label(one, order)) for one in entities]
    zero = sum("." in columns[0] for _, columns in rows)
    odd = [note("empty-nodes", f"{times(zero, 'empty node')} read as tokens", count=zero)] if zero else []
    if rows and rows[-1][0] == len(lines) - 1:
        message = "the last sentence is not ended by a blank line: is the file cut off?"
        odd.append(warning("unended-sentence", message, where=f"{source}:{numbers[-1]}"))
    facts = _facts([(one.id, one) for one in entities], order)
    annotation = assemble(document, who, marked, [join(one.pieces) for one in entities], odd, facts=facts)
    said = read_entities(lines, source)
    return replace(
        annotation.with_chains(with_entities(annotation.all_chains, said)), adjudicated=is_gold(lines)
    )


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


def _label(entity: Entity, order: Sequence[str]) -> str:
    """Return the label of a mention: an item of its field `other`, else its type."""
    items = _field(entity, order, "other").split(",")
    labels = (item.removeprefix(LABEL) for item in items if item.startswith(LABEL))
    return next(labels, "") or _field(entity, order, "etype")


def _facts(entities: Sequence[tuple[str, Entity]], order: Sequence[str]) -> EntityFacts:
    """Return names and types of entities: of several types of one entity, that of most mentions."""
    names = {id: name for id, one in entities if (name := _field(one, order, "identity"))}
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for id, one in entities:
        if given := _field(one, order, "etype"):
            types[id][given] += 1
    return EntityFacts(
        names, {id: min(found, key=lambda one: (-found[one], one)) for id, found in types.items()}
    )


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
