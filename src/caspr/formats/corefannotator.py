"""CorefAnnotator: UIMA XMI with types of its own, plain or packed by gzip (.xmi, .xmi.gz, .ca2, .ca2z).

    <v1:Mention xmi:id="7" sofa="1" begin="0" end="4" Entity="9" Discontinuous="8"/>
    <v1:DetachedMentionPart xmi:id="8" sofa="1" begin="11" end="15" Mention="7"/>
    <v1:Entity xmi:id="9" Label="Anna" Color="-65536" Hidden="false"/>

1. Three versions of its types are read: `api.Mention` without a version, `api.v1`, and `api.v2`, in which a
   mention has any number of `MentionSurface` in place of begin and end. A file is written back in its own
   version, a new one as v1, which every version of the program opens.
2. The mentions of one entity are a chain; its name is the label of the entity, its type the flags of
   the entity. A group of entities with mentions of its own is an entity like others: who is in it is kept.
3. Flags of mentions are their labels, several joined by `+`.
4. What is not in the index (`cas:View`) was deleted in the program: it is not read.
5. Written back, mentions, entities, groups and all other layers stay as they are; only what changed is
   changed. A v1 mention has at most two pieces.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from caspr.formats.cas.chains import (
    SENTENCE,
    TOKEN,
    Cas,
    Changes,
    Structure,
    extent,
    extents,
    other_layers,
    refuse,
)
from caspr.formats.cas.xmi import added_edits, new_xmi, read_xmi, segmentation, view_edits
from caspr.formats.containers.gzip import is_gzip, pack, unpack
from caspr.formats.containers.xml import (
    Edit,
    Markup,
    edited,
    gold_edits,
    removal,
    with_attribute,
)
from caspr.formats.format import Format, Forms, ReadOptions, lost, quoted
from caspr.formats.naming import bare_name, collect, keep_ids, stem
from caspr.formats.text_layer import (
    EntityFacts,
    Extent,
    Marked,
    Text,
    Units,
    annotate,
    plan,
    sentences,
    spell,
)
from caspr.storage import read_bytes
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding, note, times, warning

API = "de.unistuttgart.ims.coref.annotator.api"
"""The package of its types; versions are packages inside it."""
_VERSIONS = (f"{API}.v2", f"{API}.v1", API)


@dataclass(frozen=True)
class CorefAnnotatorLayout:
    """A file and what it marks."""

    cas: Cas
    package: str
    """The package of its types, which shows their version."""
    marked: tuple[Marked, ...]
    """Its mentions; chains are the numbers of entities."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    name = bare_name(path)
    data = read_bytes(path)
    cas = read_xmi(unpack(data) if is_gzip(data) else data)
    package = _package(cas)
    flags = _flags(cas)
    marked, odd = _mentions(cas, package, flags)
    layout = CorefAnnotatorLayout(cas, package, tuple(marked))
    text = Text(cas.text, extents(cas, TOKEN) or None, [end for _, end in extents(cas, SENTENCE)])
    document = Document(name, (), source=str(path), layout=layout, layers=other_layers(cas))
    who = name if annotator is None else annotator
    annotation = annotate(document, who, text, marked, odd, facts=_facts(cas, marked, flags))
    return [replace(annotation, adjudicated=cas.gold)]


def _package(cas: Cas) -> str:
    used = {
        structure.type.rpartition(".")[0]
        for structure in cas.structures.values()
        if structure.type.endswith(".Mention")
    }
    # A file without mentions shows its version by what else it has.
    return next((name for name in _VERSIONS if name in used), f"{API}.v1")


def _mentions(cas: Cas, package: str, flags: Mapping[str, str]) -> tuple[list[Marked], list[Finding]]:
    """List the mentions, with the entity each belongs to."""
    units = Units(cas.text)
    every = [structure for structure in cas.structures.values() if structure.type == f"{package}.Mention"]
    # In version 2 a mention is not an annotation, and its surfaces alone may be indexed.
    loose = cas.members is None or package.endswith(".v2")
    shown = every if loose else [mention for mention in every if mention.id in (cas.members or ())]
    marked = []
    homeless = 0
    for mention in shown:
        pieces = tuple(sorted(_pieces(cas, package, mention, units)))
        entity = mention.values.get("Entity", "")
        if not entity or not pieces:
            homeless += 1
            continue
        if entity not in cas.structures:
            raise refuse(mention, f"with Entity={quoted(entity)}", "the number of an entity")
        marked.append(Marked(entity, pieces, flags.get(mention.id, ""), mention.id))
    odd = []
    if gone := len(every) - len(shown):
        message = f"{times(gone, 'mention')} that CorefAnnotator deleted, not read"
        odd.append(note("deleted-mentions", message, count=gone))
    if homeless:
        message = f"{times(homeless, 'mention')} without an entity or without text, not read"
        odd.append(warning("homeless-mentions", message, count=homeless))
    return marked, odd


def _pieces(cas: Cas, package: str, structure: Structure, units: Units) -> Iterator[Extent]:
    if package.endswith(".v2"):
        parts = structure.values.get("Surface", "").split()
    else:
        yield extent(units, structure)
        parts = structure.values.get("Discontinuous", "").split()
    for id in parts:
        part = cas.structures.get(id)
        if part is None:
            raise refuse(structure, f"with a piece {quoted(id)}", "the number of a piece of text")
        yield extent(units, part)


def _flags(cas: Cas) -> dict[str, str]:
    """Return the flags of mentions and entities: elements inside them, or lists of numbers or names."""
    markup = cas.file
    assert isinstance(markup, Markup)
    arrays: dict[str, list[str]] = {}
    labels: dict[str, list[str]] = {}
    for element in markup.root.children:
        id = element.attributes.get("xmi:id", "")
        if element.name.endswith(":StringArray"):
            arrays[id] = [child.text for child in element.named("elements")]
        elif element.children:
            labels[id] = [child.text for child in element.named("Flags")]
    for structure in cas.structures.values():
        for reference in structure.values.get("Flags", "").split():
            flag = cas.structures.get(reference)
            named = arrays.get(reference, [flag.values.get("Label", reference)] if flag else [reference])
            labels.setdefault(structure.id, []).extend(named)
    return {id: "+".join(flag for flag in flags if flag) for id, flags in labels.items() if any(flags)}


def _facts(cas: Cas, marked: list[Marked], flags: Mapping[str, str]) -> EntityFacts:
    used = {mention.chain for mention in marked}
    names = {id: cas.structures[id].values.get("Label", "") for id in used}
    return EntityFacts(names, {id: flags[id] for id in used if id in flags})


_COLORS = (-65536, -16776961, -16744448, -23296, -8388480, -16744320, -5952982, -1048321)
_V1 = f"{API}.v1"


def write(annotations: Iterable[Annotation], form: str = ".xmi.gz") -> dict[str, str | bytes]:
    """Write a file for each document, packed if its name says so."""
    return collect(_file(annotation, form or ".xmi.gz") for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    kept = isinstance(annotation.document.layout, CorefAnnotatorLayout)
    return (*lost(annotation, labels=kept, gaps=True, names=True), *_lost_pieces(annotation))


def _lost_pieces(annotation: Annotation) -> Iterator[Finding]:
    layout = annotation.document.layout
    if isinstance(layout, CorefAnnotatorLayout) and layout.package.endswith(".v2"):
        return
    many = sum(
        len(annotation.marks[span].pieces) > 2 for span in annotation.marks.keys() & annotation.mentions
    )
    if many:
        message = f"{times(many, 'mention')} of three pieces or more, written with two"
        yield warning("covered-gaps", message, count=many, where=annotation.annotator)


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    layout = annotation.document.layout
    made: Sequence[str] = ()
    if not isinstance(layout, CorefAnnotatorLayout):
        text, offsets = spell(annotation.document)
        made = segmentation(text, sentences(annotation.document.sentence_ends, offsets), offsets)
        # The words need not be parsed again with the rest: in a play they are forty thousand elements.
        meta = [f'<api:Meta xmi:id="{len(made) + 3}" TypeSystemVersion="v1"/>']
        file = new_xmi(text, {"api": API, "v1": _V1}, meta, len(made) + 1)
        layout = CorefAnnotatorLayout(read_xmi(file), _V1, ())
    data = _Writer(layout, annotation).written(made)
    name = f"{stem(annotation.document)}{form}"
    return name, pack(data) if form.endswith(("gz", "z")) else data


class _Writer:
    """One file that is being changed."""

    def __init__(self, layout: CorefAnnotatorLayout, annotation: Annotation) -> None:
        markup = layout.cas.file
        assert isinstance(markup, Markup)
        self.layout, self.cas, self.markup = layout, layout.cas, markup
        self.annotation = annotation
        self.units = Units(layout.cas.text)
        self.fresh = (str(number) for number in count(layout.cas.largest + 1))
        self.new: list[Structure] = []
        self.edits: list[Edit] = []
        self.gone: set[str] = set()
        self.elements = {element.attributes.get("xmi:id", ""): element for element in markup.root.children}

    def written(self, made: Sequence[str] = ()) -> bytes:
        """Return the file with the chains of the annotation; `made` are the words of a new one."""
        if made:
            end = self.elements["2"].end
            self.edits.append((end, end, "".join(f"\n    {line}" for line in made)))
        planned = plan(self.annotation, self.layout.marked)
        entities = self._entities([chain for chain, _ in planned])
        used: set[str] = set()
        for entity, (_, mentions) in zip(entities, planned, strict=True):
            for mention in mentions:
                used.add(mention.key)
                self._place(mention, entity)
        self.gone |= {mention.key for mention in self.layout.marked} - used
        self.gone |= {id for key in self.gone for id in self._parts(key)}
        self.edits += [removal(self.markup, self.elements[id]) for id in self.gone if id in self.elements]
        changes = Changes(removed=frozenset(self.gone), added=tuple(self.new))
        self.edits += added_edits(self.markup, self.layout.package, changes)
        if self.cas.members is not None:  # an index of what is new alone would hide the rest
            self.edits += view_edits(self.markup, self.cas, changes)
        return edited(self.markup, [*self.edits, *gold_edits(self.markup, self.annotation.adjudicated)])

    def _make(self, id: str, type: str, values: dict[str, str]) -> None:
        self.new.append(Structure(id, f"{self.layout.package}.{type}", values))

    def _entities(self, chains: Sequence[Chain]) -> list[str]:
        """Give each chain the entity of the file with which it shares most mentions, or a new one."""
        hulls = [(mention.chain, self._span(mention)) for mention in self.layout.marked]
        offsets = spell(self.annotation.document)[1]
        spans = {
            (offsets[span.start - 1][0], offsets[span.end - 1][1]): span
            for chain in chains
            for span in chain.mentions
        }
        known = [(id, spans[hull]) for id, hull in hulls if hull in spans]
        fresh = self.fresh
        named = keep_ids(chains, known, fresh, lambda _: False)
        for number, chain in enumerate(named):
            if chain.id not in self.elements:
                label = chain.name or self.annotation.document.text(chain.mentions[0])
                color = str(_COLORS[number % len(_COLORS)])
                self._make(chain.id, "Entity", {"Label": label, "Color": color, "Hidden": "false"})
            elif self.annotation.adjudicated and chain.name:
                element = self.elements[chain.id]
                if element.attributes.get("Label") != chain.name:
                    self.edits.append(with_attribute(self.markup, element, "Label", chain.name))
        return [chain.id for chain in named]

    def _span(self, mention: Marked) -> Extent:
        return min(start for start, _ in mention.pieces), max(end for _, end in mention.pieces)

    def _place(self, mention: Marked, entity: str) -> None:
        """Put a mention into an entity."""
        if mention.key:
            element = self.elements[mention.key]
            if element.attributes.get("Entity") != entity:
                self.edits.append(with_attribute(self.markup, element, "Entity", entity))
            return
        id = next(self.fresh)
        if self.layout.package.endswith(".v2"):
            parts = [next(self.fresh) for _ in mention.pieces]
            self._make(id, "Mention", {"Entity": entity, "Surface": " ".join(parts)})
            for part, piece in zip(parts, mention.pieces, strict=True):
                self._make(part, "MentionSurface", {**self._offsets(piece), "Mention": id})
            return
        first, *rest = mention.pieces
        values = {**self._offsets(first), "Entity": entity}
        if rest:
            part = next(self.fresh)
            whole = rest[0][0], rest[-1][1]
            self._make(part, "DetachedMentionPart", {**self._offsets(whole), "Mention": id})
            values["Discontinuous"] = part
        self._make(id, "Mention", values)

    def _offsets(self, piece: Extent) -> dict[str, str]:
        start, end = (str(self.units.of(point)) for point in piece)
        return {"sofa": self.cas.sofa, "begin": start, "end": end}

    def _parts(self, key: str) -> list[str]:
        values = self.cas.structures[key].values
        return [*values.get("Surface", "").split(), *values.get("Discontinuous", "").split()]


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return "http:///de/unistuttgart/ims/coref/annotator/api" in head and "http://www.omg.org/XMI" in head


_FORMS = {".xmi.gz": ".xmi.gz", ".ca2z": ".ca2z", ".ca2": ".ca2", ".xmi": ".xmi"}
FORMAT = Format(
    name="corefannotator",
    suffixes=(".xmi.gz", ".ca2z", ".ca2"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    vague_suffixes=(".xmi.gz",),
    shared_suffixes=(".xmi",),
    forms=Forms(_FORMS, write),
    packed=True,
)
