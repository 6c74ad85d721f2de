"""GATE: a text with numbered nodes, and annotations between nodes in named sets. Also its JSON, "bdoc".

    <TextWithNodes><Node id="0"/>Anna<Node id="4"/> slept</TextWithNodes>
    <AnnotationSet Name="ben"><Annotation Id="7" Type="Person" StartNode="0" EndNode="4">
      <Feature><Name>matches</Name><Value>7;9</Value></Feature> ...

1. A node's place is where it is in the text; its number, an offset in UTF-16 units, is only a name.
2. `gate.chains` describes which annotations are mentions, and what a chain is.
3. Every annotation set with such mentions is an annotator; `--layer` chooses one, `--layer ""` the unnamed
   set. The result goes into the set it came from; of several, into a new set called `gold`.
4. `Token` and `Sentence` annotations give words and sentences.
5. `gate.gate_xml` reads and writes the XML, `gate.bdoc` the JSON. One becomes the other with all ids, sets
   and features: values by their Java class (numbers, truth values, texts, lists of these), others as text.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.formats.containers.json import has_fields
from caspr.formats.containers.xml import Element, Markup, attributes, escaped
from caspr.formats.format import Format, Forms, ReadOptions, lost, quoted
from caspr.formats.gate.bdoc import bdoc_with_chains, bdoc_with_gold, fresh_bdoc, read_bdoc
from caspr.formats.gate.chains import (
    COPY,
    FEATURE,
    GOLD,
    Gate,
    GateAnnotation,
    Place,
    Planned,
    annotation_xml,
    feature,
    mentions,
    text_with_nodes,
    write_copy,
)
from caspr.formats.gate.gate_xml import read_xml, xml_with_chains, xml_with_gold
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer import EntityFacts, Marked, Text, Units, annotate, plan, spell, wide_pieces
from caspr.storage import read_bytes
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_KINDS = {"Integer": int, "Long": int, "Short": int, "Float": float, "Double": float}
_CLASSES: dict[type, str] = {int: "java.lang.Integer", float: "java.lang.Double", bool: "java.lang.Boolean"}


def bdoc_of_xml(gate: Gate, name: str) -> bytes:
    """Return a document that was read from XML as bdoc."""
    markup = gate.file
    assert isinstance(markup, Markup)
    features: dict[tuple[str, str], dict[str, Any]] = {}
    for whole in markup.root.named("AnnotationSet"):
        for element in whole.named("Annotation"):
            features[whole.attributes.get("Name", ""), element.attributes.get("Id", "")] = dict(
                _features(element)
            )
    sets = {
        title: {
            "name": title,
            "annotations": [_row(item, features.get((title, item.id), {})) for item in items],
            "next_annid": gate.largest + 1,
        }
        for title, items in gate.sets.items()
    }
    described = markup.root.first("GateDocumentFeatures")
    known = (gate.copy or {}).items()
    copied = {name or "null": [list(map(int, chain)) for chain in lists] for name, lists in known}
    features_of_all = dict(_features(described)) if described else {}
    result = {
        "annotation_sets": sets,
        "text": gate.text,
        "features": {**features_of_all, **({COPY: copied} if gate.copy is not None else {})},
        "offset_type": "p",
        "name": name,
    }
    return json.dumps(result, ensure_ascii=False).encode("utf-8")


def xml_of_bdoc(gate: Gate) -> bytes:
    """Return a document that was read from bdoc as XML."""
    whole = gate.file
    assert isinstance(whole, dict)
    units = Units(gate.text)
    points = {point for items in gate.sets.values() for item in items for point in item.extent}
    text = text_with_nodes(gate.text, {point: [str(units.of(point))] for point in points})
    sets = []
    for title, items in gate.sets.items():
        rows = whole["annotation_sets"][title]["annotations"]
        called = attributes([("Name", title)]) if title else ""
        body = "".join(
            annotation_xml(
                item.id, item.type, _nodes(item, units), "".join(_written(row.get("features") or {}))
            )
            for item, row in zip(items, rows, strict=True)
        )
        sets.append(f"<AnnotationSet{called}>\n{body}</AnnotationSet>\n")
    values = {name: value for name, value in (whole.get("features") or {}).items() if name != COPY}
    copied = feature(COPY, write_copy(gate.copy)) if gate.copy is not None else ""
    features = _written(values) + copied
    head = "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument version=\"3\">\n"
    described = f"<GateDocumentFeatures>\n{features}</GateDocumentFeatures>\n"
    body = f"<TextWithNodes>{text}</TextWithNodes>\n{''.join(sets)}"
    return f"{head}{described}{body}</GateDocument>\n".encode()


def _row(annotation: GateAnnotation, features: dict[str, Any]) -> dict[str, Any]:
    start, end = annotation.extent
    return {
        "type": annotation.type,
        "start": start,
        "end": end,
        "id": int(annotation.id),
        "features": features,
    }


def _features(owner: Element) -> Iterator[tuple[str, Any]]:
    """Yield the features of an annotation or a document as JSON values."""
    for element in owner.named("Feature"):
        name, value = element.first("Name"), element.first("Value")
        if name is not None:
            yield name.text.strip(), _value(name.text.strip(), value)


def _value(name: str, value: Element | None) -> Any:
    if value is None:
        return None
    kind = value.attributes.get("className", "").rpartition(".")[2]
    if kind.endswith("List") or name == FEATURE:
        item = value.attributes.get("itemClassName", "").rpartition(".")[2]
        item = "Integer" if name == FEATURE else item
        return [_plain(text, item) for text in value.text.split(";") if text]
    return _plain(value.text, kind)


def _plain(text: str, kind: str) -> Any:
    if kind == "Boolean":
        return text.strip().lower() == "true"
    try:
        return _KINDS[kind](text.strip()) if kind in _KINDS else text
    except ValueError:
        return text


def _nodes(annotation: GateAnnotation, units: Units) -> tuple[str, str]:
    return str(units.of(annotation.extent[0])), str(units.of(annotation.extent[1]))


def _written(features: dict[str, Any]) -> str:
    written = []
    for name, value in features.items():
        if isinstance(value, list) and all(isinstance(entry, (str, int, float)) for entry in value):
            item = _CLASSES.get(type(value[0]), "java.lang.String") if value else "java.lang.String"
            kind = f'className="java.util.ArrayList" itemClassName="{item}"'
            text = ";".join(map(str, value))
        elif isinstance(value, (str, int, float)):
            kind = f'className="{_CLASSES.get(type(value), "java.lang.String")}"'
            text = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            kind, text = 'className="java.lang.String"', json.dumps(value, ensure_ascii=False)
        written.append(
            f'<Feature>\n  <Name className="java.lang.String">{escaped(name)}</Name>\n'
            f"  <Value {kind}>{escaped(text)}</Value>\n</Feature>\n"
        )
    return "".join(written)


_MARKUP = "Original markups"
_OTHERS = {".bdocym": "YAML", ".bdocmp": "MessagePack"}


@dataclass(frozen=True)
class GateLayout:
    """A GATE document and the annotation set of it that was read."""

    gate: Gate
    place: Place
    marked: tuple[Marked, ...]


def detect(path: Path, head: str) -> bool:
    """Return whether the beginning of a file looks like this format."""
    is_json = has_fields(head, "annotation_sets")
    return "<GateDocument" in head or is_json or path.suffix in _OTHERS


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one document."""
    gate = _open(path)
    layers = _layers(gate, options.layer if options else None)
    sets = [items for name, items in gate.sets.items() if name != _MARKUP or name in layers]
    words = [item.extent for items in sets for item in items if item.type == "Token"]
    ends = [item.extent[1] for items in sets for item in items if item.type == "Sentence"]
    text = Text(gate.text, words or None, ends)
    single = path.stem if annotator is None else annotator
    annotations = []
    for layer in layers:
        marked, odd = mentions(gate, layer)
        layout = GateLayout(gate, Place(layer, len(layers) == 1), tuple(marked))
        document = Document(path.stem, (), source=str(path), layout=layout, layers=_set_names(gate))
        who = single if len(layers) == 1 else layer or "default"
        findings = (*gate.odd, *odd) if layer == layers[0] else odd
        facts = EntityFacts(labels_are_types=True)
        annotation = annotate(document, who, text, marked, findings, facts=facts)
        annotations.append(replace(annotation, adjudicated=layer == gate.gold))
    return annotations


def write(annotations: Iterable[Annotation], form: str = "") -> dict[str, str | bytes]:
    """Write a file for each document, in the form it was read; a new one as XML unless as `.bdocjs`."""
    return collect(_file(annotation, form) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return tuple(lost(annotation, labels=True, types=True))


def _open(path: Path) -> Gate:
    if path.suffix in _OTHERS:
        expected = "JSON: save it with the format `bdocjs`, or as GATE XML"
        raise FormatError(None, f"a GATE document as {_OTHERS[path.suffix]}", expected)
    data = read_bytes(path)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return read_bdoc(data) if is_json else read_xml(data)


def _set_names(gate: Gate) -> tuple[str, ...]:
    """Name the annotation sets with the types in them, for messages."""
    return tuple(
        f"{name or 'the unnamed set'} ({', '.join(sorted({item.type for item in items})[:4])})"
        for name, items in gate.sets.items()
        if items
    )


def _layers(gate: Gate, layer: str | None) -> list[str]:
    if layer is not None:
        if layer not in gate.sets:
            known = ", ".join(quoted(name) for name in gate.sets) or "none"
            raise FormatError(None, f"no annotation set {quoted(layer)}", f"one of {known}")
        return [layer]
    copied = {name for name, chains in (gate.copy or {}).items() if any(chains)}
    used = [name for name in gate.sets if name in copied or gate.has_mentions(name)]
    # What GATE took over from the file that it read counts where nobody marked anything else.
    return [name for name in used if name != _MARKUP] or used or [""]


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    document, layout = annotation.document, annotation.document.layout
    name = stem(document)
    if not isinstance(layout, GateLayout):
        layout = GateLayout(read_bdoc(fresh_bdoc(document, *spell(document))), Place("", True), ())
        form = form or ".xml"
    layout = _in_form(layout, form, name)
    gate, place = layout.gate, layout.place
    ids = (str(number) for number in count(gate.largest + 1))
    chains: list[Planned] = [
        [
            (mention.key if mention.key and place.alone else next(ids), mention)
            for mention in wide_pieces(planned)
        ]
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
        return replace(layout, gate=read_bdoc(bdoc_of_xml(layout.gate, name)))
    if form == ".xml" and is_json:
        return replace(layout, gate=read_xml(xml_of_bdoc(layout.gate)))
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
