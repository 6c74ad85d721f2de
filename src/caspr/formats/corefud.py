"""CorefUD: CoNLL-U with coreference in the last column, as in the CorefUD collection and in GUM.

    # newdoc id = d1
    # global.Entity = eid-etype-head-other
    # text = The girl sang
    1   The    the   DET   _  _  2  det    _  Entity=(e1-person-2
    2   girl   girl  NOUN  _  _  3  nsubj  _  Entity=e1)

1. `# newdoc id = name`, or `name; part 000`, begins a document; a file without one is a document named after
   the file.
2. Empty nodes (`3.1`) are tokens like others, so that zero mentions are adjudicated too; `_` as their form
   is not a character. Ranges of multi-word tokens (`3-4`) are not tokens.
3. All else is kept to the byte: columns, comments, other items of MISC. A mention that stays keeps its
   fields. A gold chain takes the id of the chain with which it shares most mentions. `Bridge=` and
   `SplitAnte=` between entities that have all their mentions still, and no other, are kept with their new
   ids; others are dropped, and named. All mentions of an entity have the same type and identity.
4. Two crossing mentions of one chain cannot be distinguished: see `formats.conll` for what is done.

`formats.entity_cells` has the items of an `Entity=` cell, and what ids and fields are.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, pairwise, zip_longest
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.bracket_cells import CellError, split_crossing
from caspr.formats.columns import (
    GOLD_LINE,
    Line,
    alias_lines,
    entity_lines,
    is_gold,
    read_aliases,
    read_entities,
    with_entities,
)
from caspr.formats.conll import moved_findings
from caspr.formats.conllu import (
    called,
    finished,
    form,
    newdoc_line,
    read_documents,
    sentence_ends,
    sentence_prefix,
)
from caspr.formats.entity_cells import IDS, Entity, is_eid, is_unmistakable, match, render, same_items
from caspr.formats.format import Each, Format, ReadOptions, lost_flags, quoted, removed_mentions, whole
from caspr.formats.naming import keep_ids, name_and_part
from caspr.formats.text_layer import (
    EntityFacts,
    Marked,
    assemble,
    hull,
    join,
    whole_sentences,
    whole_words,
    widened,
)
from caspr.text.document import Annotation, Chain, Document, LentRow, Mark, Span, Unit
from caspr.text.findings import Finding, note, times, warning
from caspr.text.trees import head_of

TYPES = frozenset(
    ("person", "place", "organization", "animal", "plant", "object", "substance", "time", "number")
) | {"abstract", "event", "other"}
"""The types of entities that CorefUD knows: validators refuse any other as `etype`."""
CONFIDENCE = "Confidence"
"""The item of the last column that says how sure a gold is about the mention that begins at the word."""
FLAG = "Flag"
"""The item that says what the adjudicator flagged that mention as."""
_LISTED = 30
"""How many relations that are not written are listed."""
_RELATIONS = ("Bridge", "SplitAnte")
_LINK = re.compile(r"([^<>]+)<([^<>:]+)(:[^<>]*)?")
"""A relation of two entities, `e3<e5:part`."""
_COREFERENCE = ("Entity=", "Bridge=", "SplitAnte=")
"""The items of the last column that speak of entities."""
LABEL = "label:"
"""Begins the item of the field `other` that holds the label of a mention that is no such type."""


_SPEAKER = re.compile(r"#\s*speaker\s*=\s*(.*?)\s*")
ORDER: tuple[str, ...] = ("eid", "etype", "head", "other")
GLOBAL = re.compile(r"# *global\.Entity\s*=\s*(\S+)\s*")


@dataclass(frozen=True)
class CorefudLayout:
    """The lines of a document, and what they hold beyond the text."""

    title: str
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    """For each token its place among the lines."""
    order: tuple[str, ...]
    """The fields of an opening."""
    entities: tuple[Entity, ...]

    def line(self, token: int) -> str:
        """Return the row of a token."""
        return self.lines[self.rows[token - 1]]

    def speaker(self, token: int) -> str:
        """Return the speaker that the comments of a token's sentence name."""
        for line in reversed(self.lines[: self.rows[token - 1]]):
            if not line.strip():
                break
            said = _SPEAKER.fullmatch(line)
            if said:
                return said[1]
        return ""


def layout_of(document: Document, mentions: Iterable[Span] = (), prefix: str = "") -> CorefudLayout:
    """Return the lines that a document was read from, or new ones.

    New sentences are joined where a mention runs into the next one, which CorefUD does not allow; their ids
    begin with the prefix.
    """
    known = document.layout
    if isinstance(known, CorefudLayout) and len(known.rows) == len(document.tokens):
        return known
    return _new_layout(document, whole_sentences(document, mentions), prefix or sentence_prefix(document))


def global_line(order: Sequence[str]) -> str:
    """Return the line that declares the fields of an opening."""
    return f"# global.Entity = {'-'.join(order)}"


def _new_layout(document: Document, ends: Sequence[int], prefix: str) -> CorefudLayout:
    """Make lines for a document that has none."""
    lines = [newdoc_line(document), global_line(ORDER)]
    rows: list[int] = []
    for number, (start, end) in enumerate(pairwise([0, *ends]), 1):
        words = [form(token, document) for token in document.tokens[start:end]]
        lines += (f"# sent_id = {prefix}-s{number}", f"# text = {' '.join(filter(None, words))}")
        for row in _new_rows(words):
            rows.append(len(lines))
            lines.append(row)
        lines.append("")
    return CorefudLayout(document.title, tuple(lines), tuple(rows), ORDER, ())


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


_TOKEN = re.compile(r"[0-9]+(\.[0-9]+)?")
_RANGE = re.compile(r"[0-9]+-[0-9]+")


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, options))


def read_each(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> Iterator[Each]:  # noqa: ARG001
    """Yield each document's name with its annotation, or with what is wrong with it."""
    who = path.stem if annotator is None else annotator
    return read_documents(path, _declared, partial(_annotation, source=str(path), who=who))


def _declared(lines: Sequence[Line], order: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        declared = GLOBAL.fullmatch(line.text)
        if declared:
            order = tuple(declared[1].split("-"))
            if not set(IDS) & set(order):
                raise FormatError(line.number, quoted(line.text), "a field eid or GRP among them")
    if not order:
        _refuse_undeclared(lines)
    return order


def _refuse_undeclared(lines: Sequence[Line]) -> None:
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
            raise FormatError(line.number, found, expected)


def _annotation(
    name: str, lines: Sequence[Line], order: tuple[str, ...], nameless: int, *, source: str, who: str
) -> Annotation:
    order = order or ORDER
    rows = [(index, line.text.split("\t")) for index, line in enumerate(lines) if _is_row(line)]
    if not rows and not any("newdoc" in line.text for line in lines):
        raise FormatError(None, "no token", "rows of ten columns")
    words = tuple("" if "." in columns[0] and columns[1] == "_" else columns[1] for _, columns in rows)
    numbers = tuple(lines[index].number for index, _ in rows)
    aliases = read_aliases(lines).get(None, {})
    try:
        matched = match(enumerate((_entity(columns[9]) for _, columns in rows), 1), order)
    except CellError as error:
        raise FormatError(numbers[error.token - 1], error.found, error.expected) from None
    entities = [replace(entity, id=aliases.get(entity.id, entity.id)) for entity in matched]
    texts = tuple(line.text for line in lines)
    layout = CorefudLayout(name, texts, tuple(index for index, _ in rows), order, tuple(entities))
    ends = sentence_ends(texts, layout.rows)
    called, part = (name, None) if nameless else name_and_part(name)
    document = Document(
        called, words, part, source, numbers, layout, sentence_ends=ends, nameless=nameless, tree=layout
    )
    marked = [Marked(entity.id, (), _label(entity, order)) for entity in entities]
    zero = sum("." in columns[0] for _, columns in rows)
    odd = [note("empty-nodes", f"{times(zero, 'empty node')} read as tokens", count=zero)] if zero else []
    if rows and rows[-1][0] == len(lines) - 1:
        message = "the last sentence is not ended by a blank line: is the file cut off?"
        odd.append(warning("unended-sentence", message, where=f":{numbers[-1]}"))
    facts = _facts([(entity.id, entity) for entity in entities], order)
    runs = [join(entity.pieces) for entity in entities]
    annotation = assemble(document, who, marked, runs, odd, facts=facts)
    said = read_entities(lines)
    return replace(
        annotation.with_chains(with_entities(annotation.all_chains, said)),
        adjudicated=is_gold(lines),
        units=_units(document, entities, order),
    )


def _units(
    document: Document, entities: Iterable[Entity], order: Sequence[str]
) -> tuple[tuple[Unit, ...], ...]:
    """Return tokens and heads of all mentions by chain; heads that are not given are found in the trees.

    Chains are in the order of udapi, which scorers see: that of their first mentions, longer ones first.
    """
    chains: dict[str, list[Unit]] = {}
    for entity in entities:
        tokens = _tokens(entity.pieces)
        head = entity.get("head", order)
        known = head.isdecimal() and 1 <= int(head) <= len(tokens)
        unit = Unit(tokens, tokens[int(head) - 1] if known else head_of(document, tokens))
        chains.setdefault(entity.id, []).append(unit)

    def rank(id: str) -> tuple[int, int, int, str]:
        return min((unit.tokens[0], -len(unit.tokens), unit.tokens[-1], id) for unit in chains[id])

    return tuple(tuple(chains[id]) for id in sorted(chains, key=rank))


def _is_row(line: Line) -> bool:
    if not line.text.strip() or line.text.startswith("#"):
        return False
    columns = line.text.split("\t")
    if len(columns) != 10:
        raise FormatError(line.number, f"{len(columns)} columns", "ten columns, separated by tabs")
    if _TOKEN.fullmatch(columns[0]):
        return True
    if not _RANGE.fullmatch(columns[0]):
        raise FormatError(line.number, f"id {quoted(columns[0])}", "an id such as 3, 3.1 or 3-4")
    return False


def _entity(misc: str) -> str:
    return next((item.removeprefix("Entity=") for item in misc.split("|") if item.startswith("Entity=")), "")


def _label(entity: Entity, order: Sequence[str]) -> str:
    """Return the label of a mention: an item of its field `other`, else its type."""
    items = entity.get("other", order).split(",")
    labels = (item.removeprefix(LABEL) for item in items if item.startswith(LABEL))
    return next(labels, "") or entity.get("etype", order)


def _facts(entities: Sequence[tuple[str, Entity]], order: Sequence[str]) -> EntityFacts:
    """Return names and types of entities: of several types of one entity, that of most mentions."""
    names = {id: name for id, entity in entities if (name := entity.get("identity", order))}
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for id, entity in entities:
        if type := entity.get("etype", order):
            types[id][type] += 1
    return EntityFacts(
        names, {id: min(counts, key=lambda type: (-counts[type], type)) for id, counts in types.items()}
    )


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each into the lines of the file it was read from."""
    written: list[str] = []
    declared: tuple[str, ...] = ()
    prefixes: set[str] = set()
    complete = [whole_words(_with_lent(annotation)) for annotation in annotations]
    taken = Counter(id for annotation in complete for id in _ids_of(annotation.document))
    for annotation in complete:
        prefix = _free(sentence_prefix(annotation.document), prefixes)
        layout = layout_of(annotation.document, annotation.mentions, prefix)
        lines = called(annotation.document, layout.lines, layout.title)
        if layout.order != declared and annotation.mentions and not any(map(GLOBAL.fullmatch, lines)):
            # The document that declared it is not written, or nobody did.
            first = int(bool(lines) and lines[0].startswith("#"))
            lines[first:first] = [global_line(layout.order)]
        if any(map(GLOBAL.fullmatch, lines)):
            declared = layout.order
        plan = _plan(annotation, layout, taken)
        taken.update({chain.id for chain in plan.chains} - _ids_of(annotation.document))
        written.append(_write_one(annotation, layout, lines, plan))
    return "".join(written)


def _ids_of(document: Document) -> set[str]:
    """Return the ids of entities in the file of a document."""
    layout = document.layout
    return {entity.id for entity in layout.entities} if isinstance(layout, CorefudLayout) else set()


def _with_lent(annotation: Annotation) -> Annotation:
    """Add the empty nodes of other annotators that mentions begin or end with to the lines of the file."""
    document, layout = annotation.document, annotation.document.layout
    if not document.lent or not isinstance(layout, CorefudLayout):
        return annotation
    edges = {token for span in annotation.mentions for token in span}
    needed = [token for token in document.lent if token in edges]
    for token in needed:
        needed += [p for p, _ in document.lent[token].parents if p in document.lent and p not in needed]
    if not needed:
        return annotation
    added, origin = _add_rows(layout, document, sorted(needed))
    return replace(annotation, document=replace(document, layout=added, origin=origin))


def _add_rows(
    layout: CorefudLayout, document: Document, tokens: Sequence[int]
) -> tuple[CorefudLayout, tuple[int, ...]]:
    """Put rows of empty nodes after the token that stands before each, or before the first of a sentence.

    Return the layout with them, and for each token the token of the file that it is.
    """
    lines, rows, origin = list(layout.lines), list(layout.rows), list(document.origin)
    for token in tokens:
        lent = document.lent[token]
        before = max((number for number in origin[: token - 1]), default=0)
        starts = lent.first and not (before and lines[rows[before - 1]].startswith("0."))
        if starts:
            # A range such as 1-2 stands before its words, and empty nodes stand before the range.
            row = rows[before] - (rows[before] > 0 and _RANGE.match(lines[rows[before] - 1]) is not None)
            id = "0.1"
        else:
            row = rows[before - 1] + 1
            word, _, number = lines[rows[before - 1]].split("\t")[0].partition(".")
            id = f"{word}.{int(number or 0) + 1}"
        lines.insert(row, "\t".join((id, *lent.line.split("\t")[1:])))
        rows = [*(n + (n >= row) for n in rows[:before]), row, *(n + 1 for n in rows[before:])]
        origin = [number + (number > before) for number in origin]
        origin[token - 1] = before + 1
    for token in tokens:
        row = rows[origin[token - 1] - 1]
        lines[row] = _lent_line(lines, rows, origin, document.lent[token], row)
    new = {old: number for old, number in zip(document.origin, origin, strict=True) if old}
    entities = tuple(
        _over(entity, tuple(Span(new[start], new[end]) for start, end in entity.pieces), layout.order, new)
        for entity in layout.entities
    )
    changed = replace(layout, lines=tuple(lines), rows=tuple(rows), entities=entities)
    return changed, tuple(origin)


def _over(
    entity: Entity, pieces: tuple[Span, ...], order: Sequence[str], new: Mapping[int, int] | None = None
) -> Entity:
    """Return a mention with other tokens, and the same head: its number in the mention may be another."""
    number = entity.get("head", order)
    if pieces == entity.pieces or not number.isdecimal():
        return replace(entity, pieces=pieces)
    before, after = _tokens(entity.pieces), _tokens(pieces)
    head = before[int(number) - 1] if 1 <= int(number) <= len(before) else before[0]
    head = head if new is None else new[head]
    fields = list(entity.fields)
    fields[order.index("head")] = str(after.index(head) + 1 if head in after else 1)
    return replace(entity, pieces=pieces, fields=tuple(fields))


def _tokens(pieces: Iterable[Span]) -> tuple[int, ...]:
    return tuple(token for start, end in pieces for token in range(start, end + 1))


def _lent_line(
    lines: Sequence[str], rows: Sequence[int], origin: Sequence[int], lent: LentRow, row: int
) -> str:
    """Return the row of a node with the ids that its parents have in this file, and without entities."""
    ids = [(lines[rows[origin[p - 1] - 1]].split("\t")[0] if p else "0", how) for p, how in lent.parents]
    ordered = sorted(ids, key=lambda pair: (tuple(map(int, pair[0].split("."))), pair[1]))
    columns = lines[row].split("\t")
    columns[8] = "|".join(f"{id}:{how}" for id, how in ordered) or "_"
    kept = [item for item in columns[9].split("|") if not item.startswith(_COREFERENCE)]
    columns[9] = "|".join(kept) or "_"
    return "\t".join(columns)


def _free(prefix: str, taken: set[str]) -> str:
    """Return a prefix of sentences that no other document of the file has."""
    names = (prefix if number == 1 else f"{prefix}-{number}" for number in count(1))
    chosen = next(name for name in names if name not in taken)
    taken.add(chosen)
    return chosen


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    annotation = _with_lent(annotation)
    covered = [
        warning("covered-gaps", f"a mention with gaps inside another of its chain written without ({words})")
        for words in _tangled(annotation)
    ]
    layout = annotation.document.layout
    known = (
        {hull(entity.pieces) for entity in layout.entities} if isinstance(layout, CorefudLayout) else set()
    )
    gone = len(known - whole_words(annotation).mentions)
    removed = removed_mentions(annotation, gone)
    across = _across_sentences(annotation)
    made_up = _made_up_trees(annotation)
    whole = whole_words(annotation)
    plan = _plan(whole, layout_of(whole.document, whole.mentions))
    crossing = moved_findings(whole, plan.parts, plan.aliases)
    odd = (*crossing, *widened(annotation), *covered, *removed, *_dropped(plan, annotation.annotator))
    return (*odd, *across, *made_up, *lost_flags(annotation, _of_one_mention(annotation)))


def _dropped(plan: "_Plan", annotator: str) -> Iterator[Finding]:
    """Name the relations of entities that are no longer those of the file."""
    dropped = plan.dropped
    if dropped:
        listed = "; ".join(dropped[:_LISTED]) + ("; ..." if len(dropped) > _LISTED else "")
        message = f"{times(len(dropped), 'relation')} of entities that changed not written: {listed}"
        yield warning("dropped-relations", message, count=len(dropped), where=annotator)


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
    """Report mentions that continue in the next sentence, which other readers of CorefUD refuse."""
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


@dataclass(frozen=True)
class _Plan:
    """What is written of an annotation."""

    chains: list[Chain]
    """All chains with the ids of the file."""
    parts: list[Chain]
    """The same without crossing mentions, which are chains of their own."""
    aliases: Mapping[str, str]
    entities: list[Entity]
    relations: Mapping[int, Mapping[str, str]]
    """For each token that has any, its `Bridge=` and `SplitAnte=` items as they are now."""
    dropped: list[str]
    """Relations of entities that changed, in words."""


def _plan(annotation: Annotation, layout: CorefudLayout, taken: Mapping[str, int] | None = None) -> _Plan:
    """Decide ids, mentions and relations; `taken` counts the documents of the file that have an id."""
    own = _ids_of(annotation.document)
    counts = taken or {}

    def free(id: str) -> bool:
        return "eid" not in layout.order or counts.get(id, 0) == (id in own)

    named = _renamed(annotation.all_chains, layout, free)
    # Validators take mentions that share a token for crossing ones; what the file has so stays so.
    kept = _unchanged(named, layout)
    chains, aliases = split_crossing(named, {chain.id for chain in named if kept.get(chain.id) != chain.id})
    entities = list(_entities(annotation, chains, layout))
    relations, dropped = _relations(annotation.document, named, entities, layout)
    return _Plan(named, chains, aliases, entities, relations, dropped)


def _write_one(annotation: Annotation, layout: CorefudLayout, texts: Sequence[str], plan: _Plan) -> str:
    cells = render(plan.entities, layout.order, len(annotation.document.tokens))
    lines = [line for line in texts if not line.startswith("# caspr ")]
    moved = len(layout.lines) - len(lines)
    unsure, flagged = _unsure(annotation), _flagged(annotation)
    for token, (row, cell) in enumerate(zip(layout.rows, cells, strict=True), 1):
        columns = lines[row - moved].split("\t")
        columns[9] = _with_entity(columns[9], cell, plan.relations.get(token, {}))
        if token in unsure:
            columns[9] = _with_item(columns[9], CONFIDENCE, f"{unsure[token]:.2f}")
        if token in flagged:
            columns[9] = _with_item(columns[9], FLAG, flagged[token])
        lines[row - moved] = "\t".join(columns)
    gold = [GOLD_LINE] if annotation.adjudicated else []
    unsaid = [_unsaid(chain, layout) for chain in plan.chains]
    return finished(lines, [*gold, *entity_lines(unsaid), *alias_lines(plan.aliases)])


def _unsure(annotation: Annotation) -> dict[int, float]:
    """Return how sure a gold is about the mention that begins at a token, where annotators disagree.

    An item of the last column is about the word: with several mentions it could not say which it means.
    """
    starts = Counter(span.start for span in annotation.mentions)
    unsure = {}
    for span in annotation.mentions if annotation.support else ():
        support = annotation.support.get(span)
        if starts[span.start] == 1 and support is not None and support.against and not support.decided:
            unsure[span.start] = support.confidence
    return unsure


def _flagged(annotation: Annotation) -> dict[int, str]:
    """Return the flags of the mention that begins at a token, where only one does."""
    carried = _of_one_mention(annotation)
    return {
        span.start: "; ".join(_escaped(str(flag)) for flag in annotation.marks[span].flags)
        for span in carried
        if span in annotation.marks and annotation.marks[span].flags
    }


def _of_one_mention(annotation: Annotation) -> set[Span]:
    starts = Counter(span.start for span in annotation.mentions)
    return {span for span in annotation.mentions if starts[span.start] == 1}


def _escaped(text: str) -> str:
    """Write a text as part of an item of the last column.

    >>> _escaped("a|b; 100 %")
    'a%7Cb%3B 100 %25'
    """
    return "".join(f"%{ord(letter):02X}" if letter in "%|;\t\n" else letter for letter in text)


def _renamed(chains: Sequence[Chain], layout: CorefudLayout, free: Callable[[str], bool]) -> list[Chain]:
    """Give chains the ids of the file, so that references to them still hold."""
    known = [(entity.id, hull(entity.pieces)) for entity in layout.entities]
    fresh = (id for number in count(1) if free(id := f"e{number}"))
    return keep_ids(chains, known, fresh, lambda id: is_eid(id) and free(id))


def _unchanged(chains: Iterable[Chain], layout: CorefudLayout) -> dict[str, str]:
    """Return the entities of the file that have the same mentions as before, with their new ids."""
    before: dict[str, set[Span]] = defaultdict(set)
    for entity in layout.entities:
        before[entity.id].add(hull(entity.pieces))
    after = {frozenset(chain.mentions): chain.id for chain in chains}
    return {id: after[key] for id, spans in before.items() if (key := frozenset(spans)) in after}


def _relations(
    document: Document, chains: Iterable[Chain], entities: Iterable[Entity], layout: CorefudLayout
) -> tuple[dict[int, dict[str, str]], list[str]]:
    """Return the relations of entities that did not change, with their new ids, and all others in words.

    A split antecedent is kept with all its parts or not at all.
    """
    same, starts = _unchanged(chains, layout), defaultdict(set)
    if all(same.get(entity.id) == entity.id for entity in layout.entities):
        return {}, []
    for entity in entities:
        starts[entity.pieces[0].start].add(entity.id)
    kept: dict[int, dict[str, str]] = {}
    dropped = []
    for token, row in enumerate(layout.rows, 1):
        for item in layout.lines[row].rpartition("\t")[2].split("|"):
            kind, _, text = item.partition("=")
            if kind not in _RELATIONS:
                continue
            links = [_LINK.fullmatch(link) for link in text.split(",")]
            whole = kind == "SplitAnte" and not all(link and link[1] in same for link in links)
            good = [
                f"{same[link[1]]}<{same[link[2]]}{link[3] or ''}"
                for link in links
                if link and link[1] in same and same.get(link[2]) in starts[token] and not whole
            ]
            kept.setdefault(token, {})[kind] = ",".join(good)
            if len(good) < len(links):
                dropped += [f"{kind} {_in_words(document, link, layout)}" for link in links if link]
    return kept, dropped


def _in_words(document: Document, link: re.Match[str], layout: CorefudLayout) -> str:
    """Return a relation with the words of the first mentions of its entities."""
    words: dict[str, str] = {}
    for entity in sorted(layout.entities, key=lambda entity: entity.pieces):
        words.setdefault(entity.id, quoted(document.text(hull(entity.pieces))))
    return f"{words.get(link[1], link[1])} < {words.get(link[2], link[2])}"


def _entities(annotation: Annotation, chains: Iterable[Chain], layout: CorefudLayout) -> Iterator[Entity]:
    """Make the mentions to write, with the fields that the file has for them."""
    known: dict[Span, list[Entity]] = {}
    for entity in layout.entities:
        known.setdefault(hull(entity.pieces), []).append(entity)
    chains = list(chains)
    same = {} if annotation.adjudicated else _unchanged(chains, layout)
    for chain in chains:
        before = [_known(chain, known.get(span, ())) for span in chain.mentions]
        shared = None if same.get(chain.id) == chain.id else _facts_of(chain, before, layout)
        last = 0
        for span, own in zip(chain.mentions, before, strict=True):
            mark = annotation.marks.get(span, Mark())
            pieces = own.pieces if own and own.id == chain.id else mark.pieces or (span,)
            if len(pieces) > 1 and span.start <= last:
                pieces = (span,)
            last = span.end if len(pieces) > 1 else last
            fields = (
                _over(own, pieces, layout.order).fields
                if own
                else _new_fields(chain, pieces, mark.label, annotation.document, layout)
            )
            yield Entity(chain.id, pieces, fields if shared is None else _with(fields, shared, layout.order))


def _known(chain: Chain, same: Sequence[Entity]) -> Entity | None:
    """Return the mention of the file at some span: that of the same chain, or any."""
    return next((entity for entity in same if entity.id == chain.id), same[0] if same else None)


def _facts_of(chain: Chain, before: Iterable[Entity | None], layout: CorefudLayout) -> dict[str, str]:
    """Return what CorefUD wants to be the same in all mentions of an entity.

    That is what was voted for the entity, if it can be written; otherwise what most of its mentions have.
    """
    own = [entity for entity in before if entity is not None]
    types = {entity.get("etype", layout.order) for entity in layout.entities}
    voted = {
        "etype": _type(chain) or (chain.type if chain.type in types else ""),
        "identity": _plain(chain.name),
    }
    facts = {}
    for name, value in voted.items():
        counts = Counter(filter(None, (entity.get(name, layout.order) for entity in own)))
        most = min(counts, key=lambda value: (-counts[value], value), default="")
        facts[name] = most if name == "identity" and _plain(most) == value else value or most
    return facts


def _with(fields: Sequence[str], values: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of a mention with some values."""
    longer = zip_longest(order, fields, fillvalue="")
    return tuple(values.get(name, value) for name, value in longer)


def _unsaid(chain: Chain, layout: CorefudLayout) -> Chain:
    """Return a chain with what the fields of its mentions cannot hold of its name and its type."""
    named = "identity" in layout.order and chain.name == _plain(chain.name)
    typed = chain.type in (_type(chain), *_types_of(layout).get(chain.id, ()))
    return replace(chain, name="" if named else chain.name, type="" if typed else chain.type)


def _types_of(layout: CorefudLayout) -> dict[str, set[str]]:
    """Return the types that the file has for each of its entities."""
    types: dict[str, set[str]] = {}
    index = layout.order.index("etype") if "etype" in layout.order else 1 << 30
    for entity in layout.entities:
        types.setdefault(entity.id, set()).update(entity.fields[index : index + 1])
    return types


def _type(chain: Chain) -> str:
    """Return the type of an entity as CorefUD calls it; nothing if it has no such type."""
    return chain.type.lower() if chain.type.lower() in TYPES else ""


def _new_fields(
    chain: Chain, pieces: Sequence[Span], label: str, document: Document, layout: CorefudLayout
) -> tuple[str, ...]:
    type, tokens = _type(chain), _tokens(pieces)
    values: Mapping[str, str] = {
        "etype": type,
        "head": str(tokens.index(head_of(replace(document, tree=layout), tokens)) + 1),
        "identity": _plain(chain.name),
        "other": f"{LABEL}{_plain(label)}" if label not in ("", type) else "",
    }
    return tuple(values.get(name, "") for name in layout.order)


def _plain(text: str) -> str:
    return re.sub(r"[()\-|\[\]\s=,:]", "_", text)


def _with_entity(misc: str, cell: str, relations: Mapping[str, str]) -> str:
    items = [] if misc == "_" else misc.split("|")
    index = next((n for n, item in enumerate(items) if item.startswith("Entity=")), None)
    if index is not None and same_items(items[index].removeprefix("Entity="), cell):
        cell = items[index].removeprefix("Entity=")
    kept = [_related(item, relations) for item in items if not item.startswith("Entity=")]
    if cell:
        later = next((n for n, item in enumerate(kept) if item > "Entity="), len(kept))
        kept.insert(later if index is None else index, f"Entity={cell}")
    return "|".join(filter(None, kept)) or "_"


def _related(item: str, relations: Mapping[str, str]) -> str:
    """Return an item of the last column with the relations that are kept; nothing if none is."""
    kind = item.partition("=")[0]
    return item if kind not in relations else f"{kind}={relations[kind]}" if relations[kind] else ""


def _with_item(misc: str, name: str, value: str) -> str:
    """Put an item into the last column, in the order of the alphabet, in the place of one of its name."""
    items = [] if misc == "_" else [item for item in misc.split("|") if not item.startswith(f"{name}=")]
    later = next((number for number, item in enumerate(items) if item > f"{name}="), len(items))
    return "|".join([*items[:later], f"{name}={value}", *items[later:]])


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return bool(re.search(r"^# *(global\.Entity|newdoc|sent_id)\b", head, re.MULTILINE)) and "\t" in head


FORMAT = Format(
    name="corefud",
    suffixes=(".conllu",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    read_each=read_each,
)
