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
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_bytes
from caspr.formats.format import Format, Forms
from caspr.formats.gate.bdoc import bdoc_with_chains, fresh_bdoc, read_bdoc
from caspr.formats.gate.chains import Gate, Place, Planned, mentions
from caspr.formats.gate.gate_xml import read_xml, xml_with_chains
from caspr.formats.gate.new_document import fresh_document
from caspr.formats.losses import lost_edges, lost_marks
from caspr.formats.messages import quoted
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Marked, Text, annotate, plan, wide_pieces
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
    is_json = head.lstrip().startswith("{") and '"annotation_sets"' in head
    return "<GateDocument" in head or is_json or path.suffix in _OTHERS


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one document."""
    gate = _open(path)
    layers = _layers(gate, options.layer if options else None)
    sets = [items for name, items in gate.sets.items() if name != _MARKUP]
    words = [one.extent for items in sets for one in items if one.type == "Token"]
    ends = [one.extent[1] for items in sets for one in items if one.type == "Sentence"]
    text = Text(gate.text, words or None, ends)
    given = path.stem if annotator is None else annotator
    found = []
    for layer in layers:
        marked, odd = mentions(gate, layer)
        layout = GateLayout(gate, Place(layer, len(layers) == 1), tuple(marked))
        document = Document(path.stem, (), source=str(path), layout=layout)
        who = given if len(layers) == 1 else layer or "default"
        findings = (*gate.odd, *odd) if layer == layers[0] else odd
        found.append(annotate(document, who, text, marked, findings))
    return found


def write(annotations: Iterable[Annotation], form: str = "") -> dict[str, str | bytes]:
    """Write a file for each document, in the form it was read; a new one as XML unless as `.bdocjs`."""
    return collect(_file(annotation, form) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return (*lost_marks(annotation, labels=True, gaps=False), *lost_edges(annotation))


def _open(path: Path) -> Gate:
    if path.suffix in _OTHERS:
        expected = "JSON: save it with the format `bdocjs`, or as GATE XML"
        raise FormatError(str(path), None, f"a GATE document as {_OTHERS[path.suffix]}", expected)
    data = read_bytes(path)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return read_bdoc(data, str(path)) if is_json else read_xml(data, str(path))


def _layers(gate: Gate, layer: str | None) -> list[str]:
    names = [name for name in gate.sets if name != _MARKUP]
    if layer is not None:
        if layer not in names:
            known = ", ".join(quoted(name) for name in names) or "none"
            raise FormatError(gate.source, None, f"no annotation set {quoted(layer)}", f"one of {known}")
        return [layer]
    copied = {name for name, chains in (gate.copy or {}).items() if any(chains)}
    return [name for name in names if name in copied or gate.has_mentions(name)] or [""]


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    document, layout = annotation.document, annotation.document.layout
    name = stem(document)
    if not isinstance(layout, GateLayout) and form != ".bdocjs":
        return f"{name}.xml", fresh_document(annotation, *spell(document)).encode("utf-8")
    if not isinstance(layout, GateLayout):
        made = read_bdoc(fresh_bdoc(document, *spell(document)), "a new file")
        layout = GateLayout(made, Place("", True), ())
    gate, place = layout.gate, layout.place
    ids = (str(number) for number in count(gate.largest + 1))
    chains: list[Planned] = [
        [(one.key if one.key and place.alone else next(ids), one) for one in wide_pieces(planned)]
        for _, planned in plan(annotation, layout.marked)
    ]
    if isinstance(gate.file, dict):
        return f"{name}.bdocjs", bdoc_with_chains(gate, place, chains)
    return f"{name}.xml", xml_with_chains(gate, place, chains)


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
