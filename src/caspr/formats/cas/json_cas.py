"""JSON CAS: a CAS as UIMA and INCEpTION write it in JSON, edited in place.

    {"%TYPES": {...}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "..."}, ...],
     "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3]}}}

References to other objects are features whose name starts with `@`. A file holds only the types it uses,
so those of the chain layer are added where they are missing. Offsets count UTF-16 units.
"""

import json
from collections.abc import Sequence
from typing import Any

from caspr.errors import FormatError
from caspr.formats.cas.chains import META, SENTENCE, TOKEN, Cas, Changes, Structure
from caspr.formats.containers.json import load_object
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Units, sentences
from caspr.text.document import Document

_STRUCTURES = "%FEATURE_STRUCTURES"
_GOLD = "caspr gold"
"""What the metadata of a gold name as its annotator."""


def read_json(data: bytes) -> Cas:
    """Read a file, or raise `FormatError`."""
    whole = load_object(data, "a JSON CAS")
    items, declared = whole.get(_STRUCTURES), whole.get("%TYPES", {})
    if not isinstance(declared, dict):
        raise FormatError(None, "%TYPES that is not an object", "a JSON CAS")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise FormatError(None, f"no list {_STRUCTURES}", "a JSON CAS")
    sofa = _sofa(items)
    structures: dict[str, Structure] = {}
    for item in items:
        id, type = item.get("%ID"), item.get("%TYPE")
        if item.get("@sofa", sofa["%ID"]) != sofa["%ID"] or item is sofa:
            continue
        if not isinstance(id, int) or not isinstance(type, str) or isinstance(id, bool) or id < 0:
            raise FormatError(None, f"an object with %ID {id!r} and %TYPE {type!r}", "a number and a name")
        if str(id) in structures:
            raise FormatError(None, f"%ID {id} for the second time", "each number once")
        structures[str(id)] = Structure(str(id), type, _values(item))
    types = {*declared, *(structure.type for structure in structures.values())}
    text = sofa.get("sofaString", "")
    if not isinstance(text, str):
        raise FormatError(None, "a sofaString that is not text", "the text")
    largest = max(item["%ID"] for item in items if isinstance(item.get("%ID"), int))
    gold = any(
        structure.type == META and structure.values.get("documentId") == _GOLD
        for structure in structures.values()
    )
    members = _members(whole, str(sofa["%ID"]))
    return Cas(text, str(sofa["%ID"]), structures, frozenset(types), largest, whole, members, gold)


def _members(whole: dict[str, Any], sofa: str) -> frozenset[str] | None:
    """Return the numbers of the objects in the index of the text."""
    views = whole.get("%VIEWS")
    listed = [
        view.get("%MEMBERS")
        for view in (views.values() if isinstance(views, dict) else ())
        if isinstance(view, dict) and str(view.get("%SOFA")) == sofa
    ]
    lists = [members for members in listed if isinstance(members, list)]
    return frozenset(str(id) for members in lists for id in members) if lists else None


def write_json(cas: Cas, changes: Changes) -> bytes:
    """Return the file with some objects changed."""
    whole = cas.file
    assert isinstance(whole, dict)
    replaced = {structure.id: structure for structure in changes.replaced}
    kept = []
    for item in whole[_STRUCTURES]:
        id = str(item.get("%ID"))
        if id in changes.removed:
            continue
        item = _object(replaced[id], item) if id in replaced else item
        kept.append(_with_gold(item, changes.gold) if item.get("%TYPE") == META else item)
    kept += [_object(structure, {}) for structure in changes.added]
    result = {**whole, _STRUCTURES: kept}
    if changes.added:
        result["%TYPES"] = {**_layer_types(changes.layer, whole.get("%TYPES", {}))}
    views = whole.get("%VIEWS")
    views = views if isinstance(views, dict) else {}
    if changes.added and not any(_is_of(view, cas) for view in views.values()):
        views = {**views, "_InitialView": {"%SOFA": int(cas.sofa), "%MEMBERS": []}}
    if views:
        result["%VIEWS"] = {name: _view(view, cas, changes) for name, view in views.items()}
    return json.dumps(result, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def _with_gold(meta: dict[str, Any], wanted: bool) -> dict[str, Any]:
    """Say in the metadata of the document, where its annotator would be, that it is a gold."""
    if wanted:
        return {**meta, "documentId": _GOLD}
    return {name: value for name, value in meta.items() if (name, value) != ("documentId", _GOLD)}


def fresh_json(document: Document, text: str, offsets: Sequence[Extent]) -> bytes:
    """Make the file of a document that has none, with tokens and sentences and no chains."""
    units = Units(text)
    marked = [(SENTENCE, sentence) for sentence in sentences(document.sentence_ends, offsets)]
    marked += [(TOKEN, extent) for extent in offsets]
    sofa = {"sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text", "sofaString": text}
    objects: list[dict[str, Any]] = [{"%ID": 1, "%TYPE": "uima.cas.Sofa", **sofa}]
    for id, (type, (start, end)) in enumerate([(META, (0, len(text))), *marked], 2):
        ends = {"begin": units.of(start), "end": units.of(end)}
        objects.append({"%ID": id, "%TYPE": type, "@sofa": 1, **ends})
    objects[1] |= {"documentTitle": document.title, "isLastSegment": False}
    title = {"%NAME": "documentTitle", "%RANGE": "uima.cas.String"}
    last = {"%NAME": "isLastSegment", "%RANGE": "uima.cas.Boolean"}
    who = {"%NAME": "documentId", "%RANGE": "uima.cas.String"}
    types: dict[str, Any] = {
        name: {"%NAME": name, "%SUPER_TYPE": "uima.tcas.Annotation"} for name in (SENTENCE, TOKEN)
    }
    types[META] = {"%NAME": META, "%SUPER_TYPE": "uima.tcas.DocumentAnnotation"}
    types[META] |= {"documentTitle": title, "documentId": who, "isLastSegment": last}
    view = {"%SOFA": 1, "%MEMBERS": [item["%ID"] for item in objects[1:]]}
    whole = {"%TYPES": types, _STRUCTURES: objects, "%VIEWS": {"_InitialView": view}}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8")


def _sofa(items: list[dict[str, Any]]) -> dict[str, Any]:
    sofas = [
        item for item in items if item.get("%TYPE") == "uima.cas.Sofa" and isinstance(item.get("%ID"), int)
    ]
    named = [sofa for sofa in sofas if sofa.get("sofaID") == "_InitialView"] or sofas
    if not named:
        raise FormatError(None, "no object of type uima.cas.Sofa", "a text")
    return named[0]


def _values(item: dict[str, Any]) -> dict[str, str]:
    """Return the plain features, references without their sign."""
    return {
        name.removeprefix("@"): str(value)
        for name, value in item.items()
        if not name.startswith(("%", "^")) and isinstance(value, (str, int)) and not isinstance(value, bool)
    }


def _object(structure: Structure, old: dict[str, Any]) -> dict[str, Any]:
    references, numbers = ("sofa", "first", "next"), ("begin", "end")
    made: dict[str, Any] = {"%ID": int(structure.id), "%TYPE": structure.type}
    for name, value in structure.values.items():
        if name in references:
            made[f"@{name}"] = int(value)
        else:
            made[name] = int(value) if name in numbers else value
    extra = {
        name: value
        for name, value in old.items()
        if name.removeprefix("@") not in _values(old) and name not in made
    }
    return made | extra


def _is_of(view: Any, cas: Cas) -> bool:
    return isinstance(view, dict) and str(view.get("%SOFA")) == cas.sofa


def _view(view: Any, cas: Cas, changes: Changes) -> Any:
    if not _is_of(view, cas):
        return view
    members = view.get("%MEMBERS", [])
    if not isinstance(members, list):
        raise FormatError(None, f"%MEMBERS {quoted(str(members))}", "a list of numbers")
    kept = [id for id in members if str(id) not in changes.removed]
    known = set(map(str, kept))
    new = [int(structure.id) for structure in changes.added if structure.id not in known]
    known |= {structure.id for structure in changes.added}
    return {**view, "%MEMBERS": kept + new + sorted(map(int, changes.indexed - known))}


def _layer_types(layer: str, types: dict[str, Any]) -> dict[str, Any]:
    """Declare the two types of a chain layer."""
    link = {"%NAME": f"{layer}Link", "%SUPER_TYPE": "uima.tcas.Annotation"}
    features = {
        "next": f"{layer}Link",
        "referenceType": "uima.cas.String",
        "referenceRelation": "uima.cas.String",
    }
    chain = {"%NAME": f"{layer}Chain", "%SUPER_TYPE": "uima.cas.AnnotationBase"}
    made = {
        f"{layer}Link": {
            **link,
            **{name: {"%NAME": name, "%RANGE": range} for name, range in features.items()},
        },
        f"{layer}Chain": {**chain, "first": {"%NAME": "first", "%RANGE": f"{layer}Link"}},
    }
    return {**types, **{name: {**made[name], **types.get(name, {})} for name in made}}
