"""From one form of a GATE document to the other: XML to bdoc JSON, and back.

Features become JSON values by their Java class, and back: numbers, truth values, texts and lists of these.
Values of any other class are texts in JSON. Annotations keep their ids, sets and features.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from caspr.formats.containers.xml import Element, Markup, attributes, escaped
from caspr.formats.gate.chains import COPY, FEATURE, Gate, GateAnnotation, write_copy
from caspr.formats.gate.new_document import feature
from caspr.formats.text_layer.characters import Units

_KINDS = {"Integer": int, "Long": int, "Short": int, "Float": float, "Double": float}
_CLASSES: dict[type, str] = {int: "java.lang.Integer", float: "java.lang.Double", bool: "java.lang.Boolean"}


def bdoc_of_xml(gate: Gate, name: str) -> bytes:
    """Return a document that was read from XML as bdoc."""
    markup = gate.file
    assert isinstance(markup, Markup)
    features: dict[tuple[str, str], dict[str, Any]] = {}
    for whole in markup.root.named("AnnotationSet"):
        for one in whole.named("Annotation"):
            features[whole.attributes.get("Name", ""), one.attributes.get("Id", "")] = dict(_features(one))
    sets = {
        title: {
            "name": title,
            "annotations": [_row(one, features.get((title, one.id), {})) for one in items],
            "next_annid": gate.largest + 1,
        }
        for title, items in gate.sets.items()
    }
    described = markup.root.first("GateDocumentFeatures")
    known = (gate.copy or {}).items()
    copied = {name or "null": [list(map(int, one)) for one in lists] for name, lists in known}
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
    places = sorted({place for items in gate.sets.values() for one in items for place in one.extent})
    text: list[str] = []
    before = 0
    for place in places:
        text += (escaped(gate.text[before:place]), f'<Node id="{units.of(place)}" />')
        before = place
    text.append(escaped(gate.text[before:]))
    sets = []
    for title, items in gate.sets.items():
        rows = whole["annotation_sets"][title]["annotations"]
        called = attributes([("Name", title)]) if title else ""
        body = "".join(_annotation(one, row, units) for one, row in zip(items, rows, strict=True))
        sets.append(f"<AnnotationSet{called}>\n{body}</AnnotationSet>\n")
    given = {name: value for name, value in (whole.get("features") or {}).items() if name != COPY}
    copied = feature(COPY, write_copy(gate.copy)) if gate.copy is not None else ""
    features = "".join(_written(given)) + copied
    head = "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument version=\"3\">\n"
    described = f"<GateDocumentFeatures>\n{features}</GateDocumentFeatures>\n"
    body = f"<TextWithNodes>{''.join(text)}</TextWithNodes>\n{''.join(sets)}"
    return f"{head}{described}{body}</GateDocument>\n".encode()


def _row(one: GateAnnotation, features: dict[str, Any]) -> dict[str, Any]:
    start, end = one.extent
    return {"type": one.type, "start": start, "end": end, "id": int(one.id), "features": features}


def _features(owner: Element) -> Iterator[tuple[str, Any]]:
    """Yield the features of an annotation or a document as JSON values."""
    for one in owner.named("Feature"):
        name, value = one.first("Name"), one.first("Value")
        if name is not None:
            yield name.text.strip(), _value(name.text.strip(), value)


def _value(name: str, value: Element | None) -> Any:
    if value is None:
        return None
    kind = value.attributes.get("className", "").rpartition(".")[2]
    if kind.endswith("List") or name == FEATURE:
        item = value.attributes.get("itemClassName", "").rpartition(".")[2]
        item = "Integer" if name == FEATURE else item
        return [_plain(one, item) for one in value.text.split(";") if one]
    return _plain(value.text, kind)


def _plain(text: str, kind: str) -> Any:
    if kind == "Boolean":
        return text.strip().lower() == "true"
    try:
        return _KINDS[kind](text.strip()) if kind in _KINDS else text
    except ValueError:
        return text


def _annotation(one: GateAnnotation, row: dict[str, Any], units: Units) -> str:
    start, end = one.extent
    given = [("Id", one.id), ("Type", one.type)]
    given += [("StartNode", str(units.of(start))), ("EndNode", str(units.of(end)))]
    return f"<Annotation{attributes(given)}>\n{''.join(_written(row.get('features') or {}))}</Annotation>\n"


def _written(features: dict[str, Any]) -> Iterable[str]:
    for name, value in features.items():
        if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
            item = _CLASSES.get(type(value[0]), "java.lang.String") if value else "java.lang.String"
            kind = f'className="java.util.ArrayList" itemClassName="{item}"'
            text = ";".join(map(str, value))
        elif isinstance(value, (str, int, float)):
            kind = f'className="{_CLASSES.get(type(value), "java.lang.String")}"'
            text = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            kind, text = 'className="java.lang.String"', json.dumps(value, ensure_ascii=False)
        yield (
            f'<Feature>\n  <Name className="java.lang.String">{escaped(name)}</Name>\n'
            f"  <Value {kind}>{escaped(text)}</Value>\n</Feature>\n"
        )
