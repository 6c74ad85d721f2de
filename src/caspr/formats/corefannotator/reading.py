"""Read CorefAnnotator: mentions, entities and flags of an XMI file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.files import read_bytes
from caspr.formats.cas.chains import SENTENCE, TOKEN, Cas, Structure, extent, extents, other_layers, refuse
from caspr.formats.cas.xmi import read_xmi
from caspr.formats.containers.gzip import is_gzip, unpack
from caspr.formats.containers.xml import Markup
from caspr.formats.messages import quoted
from caspr.formats.naming import bare_name
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import Extent, Units
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note, times, warning

API = "de.unistuttgart.ims.coref.annotator.api"
"""The package of its types; versions are packages inside it."""
_VERSIONS = (f"{API}.v2", f"{API}.v1", API)


@dataclass(frozen=True)
class CorefAnnotatorLayout:
    """A file and what it marks."""

    cas: Cas
    """The file."""
    package: str
    """The package of its types, which shows their version."""
    marked: tuple[Marked, ...]
    """Its mentions; chains are the numbers of entities."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read one annotator's file of one document."""
    source, name = str(path), bare_name(path)
    data = read_bytes(path)
    cas = read_xmi(unpack(data, source) if is_gzip(data) else data, source)
    package = _package(cas)
    flags = _flags(cas)
    marked, odd = _mentions(cas, package, flags)
    layout = CorefAnnotatorLayout(cas, package, tuple(marked))
    text = Text(cas.text, extents(cas, TOKEN) or None, [end for _, end in extents(cas, SENTENCE)])
    document = Document(name, (), source=source, layout=layout, layers=other_layers(cas))
    who = name if annotator is None else annotator
    annotation = annotate(document, who, text, marked, odd, facts=_facts(cas, marked, flags))
    return [replace(annotation, adjudicated=cas.gold)]


def _package(cas: Cas) -> str:
    used = {one.type.rpartition(".")[0] for one in cas.structures.values() if one.type.endswith(".Mention")}
    # A file without mentions shows its version by what else it has.
    return next((name for name in _VERSIONS if name in used), f"{API}.v1")


def _mentions(cas: Cas, package: str, flags: Mapping[str, str]) -> tuple[list[Marked], list[Finding]]:
    """List the mentions, with the entity each belongs to."""
    units = Units(cas.text)
    every = [one for one in cas.structures.values() if one.type == f"{package}.Mention"]
    # In version 2 a mention is no annotation, and its surfaces alone may be indexed.
    loose = cas.members is None or package.endswith(".v2")
    shown = every if loose else [one for one in every if one.id in (cas.members or ())]
    found = []
    homeless = 0
    for one in shown:
        pieces = tuple(sorted(_pieces(cas, package, one, units)))
        entity = one.values.get("Entity", "")
        if not entity or not pieces:
            homeless += 1
            continue
        if entity not in cas.structures:
            raise refuse(cas, one, f"with Entity={quoted(entity)}", "the number of an entity")
        found.append(Marked(entity, pieces, flags.get(one.id, ""), one.id))
    odd = []
    if gone := len(every) - len(shown):
        message = f"{times(gone, 'mention')} that CorefAnnotator deleted, not read"
        odd.append(note("deleted-mentions", message, count=gone, where=cas.source))
    if homeless:
        message = f"{times(homeless, 'mention')} without an entity or without text, not read"
        odd.append(warning("homeless-mentions", message, count=homeless, where=cas.source))
    return found, odd


def _pieces(cas: Cas, package: str, one: Structure, units: Units) -> Iterator[Extent]:
    if package.endswith(".v2"):
        parts = one.values.get("Surface", "").split()
    else:
        yield extent(cas, units, one)
        parts = one.values.get("Discontinuous", "").split()
    for id in parts:
        part = cas.structures.get(id)
        if part is None:
            raise refuse(cas, one, f"with a piece {quoted(id)}", "the number of a piece of text")
        yield extent(cas, units, part)


def _flags(cas: Cas) -> dict[str, str]:
    """Return the flags of mentions and entities: elements inside them, or lists of numbers or names."""
    markup = cas.file
    assert isinstance(markup, Markup)
    arrays: dict[str, list[str]] = {}
    found: dict[str, list[str]] = {}
    for element in markup.root.children:
        id = element.attributes.get("xmi:id", "")
        if element.name.endswith(":StringArray"):
            arrays[id] = [child.text for child in element.named("elements")]
        elif element.children:
            found[id] = [child.text for child in element.named("Flags")]
    for one in cas.structures.values():
        for given in one.values.get("Flags", "").split():
            flag = cas.structures.get(given)
            named = arrays.get(given, [flag.values.get("Label", given)] if flag else [given])
            found.setdefault(one.id, []).extend(named)
    return {id: "+".join(flag for flag in flags if flag) for id, flags in found.items() if any(flags)}


def _facts(cas: Cas, marked: list[Marked], flags: Mapping[str, str]) -> EntityFacts:
    used = {one.chain for one in marked}
    names = {id: cas.structures[id].values.get("Label", "") for id in used}
    return EntityFacts(names, {id: flags[id] for id in used if id in flags})
