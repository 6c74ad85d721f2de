"""GATE: a text with numbered nodes, and annotations between nodes in named sets. Also its JSON, "bdoc".

    <TextWithNodes><Node id="0"/>Anna<Node id="4"/> slept</TextWithNodes>
    <AnnotationSet Name="ben"><Annotation Id="7" Type="Person" StartNode="0" EndNode="4">
      <Feature><Name>matches</Name><Value>7;9</Value></Feature> ...

1. A node's place is where it stands in the text; its number, an offset in UTF-16 units, is but a name.
2. `gate.chains` describes which annotations are mentions, and what a chain is.
3. Every annotation set with such mentions is an annotator; `--layer` chooses one, `--layer ""` the unnamed
   set. The result goes into the set it came from; of several, into a new set called `gold`.
4. `Token` and `Sentence` annotations give words and sentences.
5. `gate.gate_xml` reads and writes the XML, `gate.bdoc` the JSON.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_bytes
from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format, Forms
from caspr.formats.gate.bdoc import bdoc_with_chains, bdoc_with_gold, fresh_bdoc, read_bdoc
from caspr.formats.gate.chains import GOLD, Gate, Place, Planned, mentions
from caspr.formats.gate.conversion import bdoc_of_xml, xml_of_bdoc
from caspr.formats.gate.gate_xml import read_xml, xml_with_chains, xml_with_gold
from caspr.formats.gate.new_document import fresh_document
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.messages import quoted
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate, plan, wide_pieces
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_MARKUP = "Original markups"
_OTHERS = {".bdocym": "YAML", ".bdocmp": "MessagePack"}


@dataclass(frozen=True)
class GateLayout:
    """A GATE document and the annotation set of it that was read."""

    gate: Gate
    """The file."""
    place: Place
    """The annotation set of the annotator."""
    marked: tuple[Marked, ...]
    """The mentions of the set."""


def detect(path: Path, head: str) -> bool:
    """Return whether the beginning of a file looks like this format."""
    is_json = has_fields(head, "annotation_sets")
    return "<GateDocument" in head or is_json or path.suffix in _OTHERS


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one document."""
    gate = _open(path)
    layers = _layers(gate, options.layer if options else None)
    sets = [items for name, items in gate.sets.items() if name != _MARKUP or name in layers]
    words = [one.extent for items in sets for one in items if one.type == "Token"]
    ends = [one.extent[1] for items in sets for one in items if one.type == "Sentence"]
    text = Text(gate.text, words or None, ends)
    given = path.stem if annotator is None else annotator
    found = []
    for layer in layers:
        marked, odd = mentions(gate, layer)
        layout = GateLayout(gate, Place(layer, len(layers) == 1), tuple(marked))
        document = Document(path.stem, (), source=str(path), layout=layout, layers=_set_names(gate))
        who = given if len(layers) == 1 else layer or "default"
        findings = (*gate.odd, *odd) if layer == layers[0] else odd
        facts = EntityFacts(labels_are_types=True)
        annotation = annotate(document, who, text, marked, findings, facts=facts)
        found.append(replace(annotation, adjudicated=layer == gate.gold))
    return found


def write(annotations: Iterable[Annotation], form: str = "") -> dict[str, str | bytes]:
    """Write a file for each document, in the form it was read; a new one as XML unless as `.bdocjs`."""
    return collect(_file(annotation, form) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=True, gaps=False)
    return (*marks, *lost_edges(annotation), *lost_entities(annotation, types=True))


def _open(path: Path) -> Gate:
    if path.suffix in _OTHERS:
        expected = "JSON: save it with the format `bdocjs`, or as GATE XML"
        raise FormatError(str(path), None, f"a GATE document as {_OTHERS[path.suffix]}", expected)
    data = read_bytes(path)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return read_bdoc(data, str(path)) if is_json else read_xml(data, str(path))


def _set_names(gate: Gate) -> tuple[str, ...]:
    """Name the annotation sets with the types in them, for messages."""
    return tuple(
        f"{name or 'the unnamed set'} ({', '.join(sorted({one.type for one in items})[:4])})"
        for name, items in gate.sets.items()
        if items
    )


def _layers(gate: Gate, layer: str | None) -> list[str]:
    if layer is not None:
        if layer not in gate.sets:
            known = ", ".join(quoted(name) for name in gate.sets) or "none"
            raise FormatError(gate.source, None, f"no annotation set {quoted(layer)}", f"one of {known}")
        return [layer]
    copied = {name for name, chains in (gate.copy or {}).items() if any(chains)}
    used = [name for name in gate.sets if name in copied or gate.has_mentions(name)]
    # What GATE took over from the file that it read counts where nobody marked anything else.
    return [name for name in used if name != _MARKUP] or used or [""]


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    document, layout = annotation.document, annotation.document.layout
    name = stem(document)
    if isinstance(layout, GateLayout):
        layout = _in_form(layout, form, name)
    elif form == ".bdocjs":
        made = read_bdoc(fresh_bdoc(document, *spell(document)), "a new file")
        layout = GateLayout(made, Place("", True), ())
    else:
        text = fresh_document(annotation, *spell(document)).encode("utf-8")
        return f"{name}.xml", xml_with_gold(text, "" if annotation.adjudicated else None)
    gate, place = layout.gate, layout.place
    ids = (str(number) for number in count(gate.largest + 1))
    chains: list[Planned] = [
        [(one.key if one.key and place.alone else next(ids), one) for one in wide_pieces(planned)]
        for _, planned in plan(annotation, layout.marked, types=True)
    ]
    gold = (place.layer if place.alone else GOLD) if annotation.adjudicated else None
    if isinstance(gate.file, dict):
        return f"{name}.bdocjs", bdoc_with_gold(bdoc_with_chains(gate, place, chains), gold)
    return f"{name}.xml", xml_with_gold(xml_with_chains(gate, place, chains), gold)


def _in_form(layout: GateLayout, form: str, name: str) -> GateLayout:
    """Return the same document in another form, if that is asked for."""
    is_json = isinstance(layout.gate.file, dict)
    if form == ".bdocjs" and not is_json:
        return replace(layout, gate=read_bdoc(bdoc_of_xml(layout.gate, name), layout.gate.source))
    if form == ".xml" and is_json:
        return replace(layout, gate=read_xml(xml_of_bdoc(layout.gate), layout.gate.source))
    return layout


_FORMS = {".xml": ".xml", ".gate": ".xml", ".bdocjs": ".bdocjs", ".bdocym": ".bdocym", ".bdocmp": ".bdocmp"}
FORMAT = Format(
    name="gate",
    suffixes=tuple(_FORMS),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_annotators=True,
    vague_suffixes=(".xml",),
    forms=Forms(_FORMS, write),
)
