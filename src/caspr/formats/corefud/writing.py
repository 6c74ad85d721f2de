"""Write CorefUD: the lines of the file a document was read from, with new entities in the last column."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, zip_longest

from caspr.formats.chain_ids import keep_ids
from caspr.formats.columns.cells import split_crossing
from caspr.formats.columns.entity_lines import GOLD_LINE, entity_lines
from caspr.formats.columns.rows import alias_lines
from caspr.formats.conll import crossing_findings
from caspr.formats.corefud.entities import LABEL, TYPES, Entity, is_eid, render, same_items
from caspr.formats.corefud.layout import (
    GLOBAL,
    NEWDOC,
    CorefudLayout,
    global_line,
    hull,
    layout_of,
    newdoc_line,
    sentence_prefix,
)
from caspr.formats.losses import removed_mentions
from caspr.formats.messages import quoted
from caspr.formats.text_layer.cut_words import whole_words, widened
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.findings import Finding, note, times, warning


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each into the lines of the file it was read from."""
    written: list[str] = []
    declared: tuple[str, ...] = ()
    prefixes: set[str] = set()
    for annotation in annotations:
        whole = whole_words(annotation)
        prefix = _free(sentence_prefix(whole.document), prefixes)
        layout = layout_of(whole.document, whole.mentions, prefix)
        lines = _called(layout, whole.document)
        if layout.order != declared and whole.mentions and not any(map(GLOBAL.fullmatch, lines)):
            # The document that declared it is not written, or nobody did.
            first = int(bool(lines) and lines[0].startswith("#"))
            lines[first:first] = [global_line(layout.order)]
        if any(map(GLOBAL.fullmatch, lines)):
            declared = layout.order
        written.append(_write_one(whole, layout, lines))
    return "".join(written)


def _free(prefix: str, taken: set[str]) -> str:
    """Return a prefix of sentences that no other document of the file has."""
    names = (prefix if number == 1 else f"{prefix}-{number}" for number in count(1))
    chosen = next(name for name in names if name not in taken)
    taken.add(chosen)
    return chosen


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    covered = [
        warning("covered-gaps", f"a mention with gaps inside another of its chain written without ({one})")
        for one in _tangled(annotation)
    ]
    layout = annotation.document.layout
    known = {hull(one.pieces) for one in layout.entities} if isinstance(layout, CorefudLayout) else set()
    gone = len(known - whole_words(annotation).mentions)
    removed = removed_mentions(annotation, gone)
    across = _across_sentences(annotation)
    made_up = _made_up_trees(annotation)
    return (*crossing_findings(annotation), *widened(annotation), *covered, *removed, *across, *made_up)


def _made_up_trees(annotation: Annotation) -> Iterator[Finding]:
    """Note that a new file has columns that validators want, and that nobody annotated."""
    words = len(annotation.document.tokens)
    if words and not isinstance(annotation.document.layout, CorefudLayout):
        message = (
            "tags and trees of the new CoNLL-U file are placeholders: every word is tagged X, the first of a "
            "sentence is its root, and all others are attached to it as dep"
        )
        yield note("placeholder-syntax", message, count=words, where=annotation.annotator)


def _across_sentences(annotation: Annotation) -> Iterator[Finding]:
    """Report mentions that go on in the next sentence, which other readers of CorefUD refuse."""
    ends = annotation.document.sentence_ends
    crossing = sum(
        bisect_left(ends, span.start) < bisect_left(ends, span.end) for span in annotation.mentions
    )
    if crossing and isinstance(annotation.document.layout, CorefudLayout):
        message = f"{times(crossing, 'mention')} across sentences, which udapi and validators refuse"
        yield warning("across-sentences", message, count=crossing, where=annotation.annotator)
    elif crossing:
        message = f"{times(crossing, 'mention')} across sentences: these sentences are written as one"
        yield note("joined-sentences", message, count=crossing, where=annotation.annotator)


def _tangled(annotation: Annotation) -> Iterator[str]:
    """Yield mentions with gaps whose pieces could be taken for those of another of their chain."""
    for chain in annotation.all_chains:
        broken = [span for span in chain.mentions if annotation.marks.get(span, Mark()).pieces]
        last = 0
        for span in broken:
            if span.start <= last:
                yield quoted(annotation.document.text(span))
            else:
                last = span.end


def _write_one(annotation: Annotation, layout: CorefudLayout, given: Sequence[str]) -> str:
    named = _renamed(annotation.all_chains, layout)
    chains, aliases = split_crossing(named)
    entities = list(_entities(annotation, chains, layout))
    cells = render(entities, layout.order, len(annotation.document.tokens))
    lines = [line for line in given if not line.startswith("# caspr ")]
    moved = len(layout.lines) - len(lines)
    for row, cell in zip(layout.rows, cells, strict=True):
        columns = lines[row - moved].split("\t")
        columns[9] = _with_entity(columns[9], cell)
        lines[row - moved] = "\t".join(columns)
    head = next((n for n, line in enumerate(lines) if not line.startswith("#") or "newpar" in line), 0)
    gold = [GOLD_LINE] if annotation.adjudicated else []
    unsaid = [_unsaid(one, layout) for one in named]
    lines[head:head] = [*gold, *entity_lines(unsaid), *alias_lines(aliases)]
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(f"{line}\n" for line in (*lines, ""))


def _renamed(chains: Sequence[Chain], layout: CorefudLayout) -> list[Chain]:
    """Give chains the ids of the file, so that references to them still hold."""
    known = [(entity.id, hull(entity.pieces)) for entity in layout.entities]
    return keep_ids(chains, known, (f"e{number}" for number in count(1)), is_eid)


def _entities(annotation: Annotation, chains: Iterable[Chain], layout: CorefudLayout) -> Iterator[Entity]:
    """Make the mentions to write, with the fields that the file has for them."""
    known: dict[Span, list[Entity]] = {}
    for entity in layout.entities:
        known.setdefault(hull(entity.pieces), []).append(entity)
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
            if own is None:
                fields = _new_fields(chain, span, mark.label, layout)
            else:
                fields = _voted(chain, own, layout) if annotation.adjudicated else own.fields
            yield Entity(chain.id, pieces, fields)


def _unsaid(chain: Chain, layout: CorefudLayout) -> Chain:
    """Return a chain with what the fields of its mentions cannot hold of its name and its type."""
    named = "identity" in layout.order and chain.name == _plain(chain.name)
    typed = chain.type in (_type(chain), *_types_of(layout).get(chain.id, ()))
    return replace(chain, name="" if named else chain.name, type="" if typed else chain.type)


def _types_of(layout: CorefudLayout) -> dict[str, set[str]]:
    """Return the types that the file has for each of its entities."""
    found: dict[str, set[str]] = {}
    place = layout.order.index("etype") if "etype" in layout.order else 1 << 30
    for entity in layout.entities:
        found.setdefault(entity.id, set()).update(entity.fields[place : place + 1])
    return found


def _type(chain: Chain) -> str:
    """Return the type of an entity as CorefUD calls it; nothing if it has no such type."""
    return chain.type.lower() if chain.type.lower() in TYPES else ""


def _new_fields(chain: Chain, span: Span, label: str, layout: CorefudLayout) -> tuple[str, ...]:
    type = _type(chain)
    values: Mapping[str, str] = {
        "etype": type,
        "head": str(_head(span, layout)),
        "identity": _plain(chain.name),
        "other": f"{LABEL}{_plain(label)}" if label not in ("", type) else "",
    }
    return tuple(values.get(name, "") for name in layout.order)


def _voted(chain: Chain, own: Entity, layout: CorefudLayout) -> tuple[str, ...]:
    """Give a mention of the file the type that its entity got; all mentions of an entity have the same."""
    values = {"etype": _plain(_type(chain) or chain.type), "identity": _plain(chain.name)}
    return tuple(
        values.get(name) or value for name, value in zip_longest(layout.order, own.fields, fillvalue="")
    )


def _plain(text: str) -> str:
    return re.sub(r"[()\-|\[\]\s=,:]", "_", text)


def _head(span: Span, layout: CorefudLayout) -> int:
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


def _called(layout: CorefudLayout, document: Document) -> list[str]:
    """Return the lines of a document, which may have got another name, as one of several solutions has."""
    if layout.title == document.title:
        return list(layout.lines)
    lines = [line for line in layout.lines if not NEWDOC.fullmatch(line)]
    return [newdoc_line(document), *lines]
