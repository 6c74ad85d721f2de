"""GATE's JSON, called bdoc (`.bdocjs`), as its Python library and its plugin for Java write it.

    {"text": "Anna slept", "offset_type": "p", "features": {}, "annotation_sets": {"ben": {"name": "ben",
     "annotations": [{"id": 7, "type": "Person", "start": 0, "end": 4, "features": {"matches": [7, 9]}}]}}}

Offsets count code points, or UTF-16 units where `offset_type` is `j`. Everything else in it is kept.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from caspr.errors import FormatError
from caspr.formats.containers.json import load_object
from caspr.formats.format import quoted
from caspr.formats.gate.chains import (
    COPY,
    FEATURE,
    GOLD,
    GOLD_FEATURE,
    Chains,
    Gate,
    GateAnnotation,
    Place,
    Planned,
    new_copy,
    same_chains,
)
from caspr.formats.text_layer import Extent, Units, sentences
from caspr.text.document import Document

_SETS = "annotation_sets"


def read_bdoc(data: bytes) -> Gate:
    """Read a file, or raise `FormatError`."""
    whole = load_object(data, "a GATE document in JSON")
    text, sets = whole.get("text"), whole.get(_SETS)
    if not isinstance(text, str) or not isinstance(sets, dict):
        raise FormatError(None, f"no text or no {_SETS}", "a GATE document in JSON")
    units = Units(text) if whole.get("offset_type") == "j" else None
    items: dict[str, list[GateAnnotation]] = {}
    for name, value in sets.items():
        rows = value.get("annotations") if isinstance(value, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(None, f"annotation set {quoted(name)} without a list", "annotations")
        items[name] = [_item(row, len(text), units) for row in rows]
    features = whole.get("features")
    gold = features.get(GOLD_FEATURE) if isinstance(features, dict) else None
    named = gold if isinstance(gold, str) else None
    return Gate(text, items, _copy(whole), (), whole, named)


def bdoc_with_gold(data: bytes, gold: str | None) -> bytes:
    """Say in a file which annotation set is the result of an adjudication, or that none is."""
    whole = json.loads(data)
    features = whole.get("features") or {}
    if gold is None and GOLD_FEATURE not in features:
        return data
    rest = {name: value for name, value in features.items() if name != GOLD_FEATURE}
    whole["features"] = rest if gold is None else {**rest, GOLD_FEATURE: gold}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8")


def bdoc_with_chains(gate: Gate, place: Place, chains: Sequence[Planned]) -> bytes:
    """Return the file with the chains of an annotation set replaced, or with one set more."""
    whole = gate.file
    assert isinstance(whole, dict)
    units = Units(gate.text) if whole.get("offset_type") == "j" else None
    target = place.layer if place.alone else GOLD
    old = whole[_SETS].get(place.layer, {"name": target, "annotations": []})
    owners = {str(row.get("id")): row for row in old["annotations"]}
    values = {id: [int(member) for member, _ in chain] for chain in chains for id, _ in chain}
    kept = (
        [_matched(row, values.get(str(row.get("id")))) for row in old["annotations"]] if place.alone else []
    )
    for id, mention in (pair for chain in chains for pair in chain):
        if place.alone and id in owners:
            continue
        start, end = (units.of(point) if units else point for point in mention.pieces[0])
        row = {"type": mention.label or "Mention", "start": start, "end": end, "id": int(id), "features": {}}
        row["features"] = owners.get(mention.key, row).get("features") or {}
        kept.append(_matched(row, values[id]))
    after = max([gate.largest, *map(int, values)], default=0) + 1
    known = old.get("next_annid")
    after = max(after, known) if type(known) is int else after
    made = {**(old if place.alone else {"name": target}), "annotations": kept, "next_annid": after}
    result = {**whole, _SETS: {**whole[_SETS], target: made}}
    copy = new_copy(gate, place, chains)
    if copy is not None and not same_chains(copy, gate.copy or {}):
        result["features"] = {**whole["features"], COPY: _numbers(copy, whole["features"][COPY])}
    return json.dumps(result, ensure_ascii=False).encode("utf-8")


def fresh_bdoc(document: Document, text: str, offsets: Sequence[Extent]) -> bytes:
    """Make the file of a document that has none, with tokens and sentences and no chains."""
    marked = [("Token", extent) for extent in offsets]
    marked += [("Sentence", sentence) for sentence in sentences(document.sentence_ends, offsets)]
    rows = [
        {"type": type, "start": start, "end": end, "id": id, "features": {}}
        for id, (type, (start, end)) in enumerate(marked)
    ]
    unnamed = {"name": "", "annotations": rows, "next_annid": len(rows)}
    whole = {_SETS: {"": unnamed}, "text": text, "features": {}, "offset_type": "p", "name": document.title}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8")


def _item(row: dict[str, Any], length: int, units: Units | None) -> GateAnnotation:
    id, features = row.get("id"), row.get("features") or {}
    if type(id) is not int or id < 0 or not isinstance(features, dict):
        raise FormatError(None, f"an annotation with id {id!r}", "whole numbers as ids, and features")
    ends = []
    for name in ("start", "end"):
        value = row.get(name)
        point = (units.point(value) if units else value) if type(value) is int else None
        if point is None or not 0 <= point <= length:
            expected = "offsets of whole characters in the text"
            raise FormatError(None, f"annotation {id} with {name}={value!r}", expected)
        ends.append(point)
    if ends[0] > ends[1]:
        raise FormatError(None, f"annotation {id} that ends before it starts", "start and end in order")
    matches = features.get(FEATURE)
    if matches is not None and not (isinstance(matches, list) and all(type(id) is int for id in matches)):
        raise FormatError(None, f"annotation {id} with matches {matches!r}", "a list of ids")
    ids = None if matches is None else tuple(map(str, matches))
    return GateAnnotation(str(id), str(row.get("type", "")), (ends[0], ends[1]), ids)


def _copy(whole: Mapping[str, Any]) -> Chains | None:
    features = whole.get("features")
    copy = features.get(COPY) if isinstance(features, dict) else None
    if copy is None:
        return None
    try:
        return {
            "" if name == "null" else str(name): [[str(int(id)) for id in chain] for chain in chains]
            for name, chains in copy.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise FormatError(None, f"{COPY} in an unknown form", "lists of ids for each set") from None


def _numbers(copy: Chains, old: Mapping[str, Any]) -> dict[str, list[list[int]]]:
    """Return a copy of the chains as JSON has it, with the name that the old one has for the unnamed set."""
    unnamed = "" if "" in old else "null"
    return {name or unnamed: [[int(id) for id in ids] for ids in lists] for name, lists in copy.items()}


def _matched(row: Mapping[str, Any], ids: Sequence[int] | None) -> dict[str, Any]:
    """Return an annotation with its chain, or without one."""
    features = row.get("features") or {}
    if ids is None and FEATURE not in features:
        return dict(row)
    if ids is not None and set(features.get(FEATURE) or ()) == set(ids):
        return dict(row)
    rest = {name: value for name, value in features.items() if name != FEATURE}
    return {**row, "features": rest if ids is None else {**rest, FEATURE: list(ids)}}
