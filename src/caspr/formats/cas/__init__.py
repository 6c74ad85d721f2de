"""UIMA CAS, as INCEpTION, WebAnno and DKPro write it: XMI (.xmi), JSON (.json), or a zip with an XMI in it.

`cas.chains` describes how chains are stored, `cas.xmi` and `cas.json_cas` how objects are. All other layers
are kept as they are; no type system is needed. A zip holds one .xmi and its type system, as INCEpTION exports
a document; it is written back as .xmi, which is what INCEpTION imports, unless a .zip is asked for.
`cas.conversion` changes one form into another.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_bytes
from caspr.formats.cas.chains import (
    BUILT_IN,
    SENTENCE,
    TOKEN,
    Cas,
    change,
    choose_layer,
    extents,
    layers,
    mentions,
    other_layers,
)
from caspr.formats.cas.conversion import bundled_types, json_of_xmi, types_of_json, xmi_of_json
from caspr.formats.cas.json_cas import fresh_json, read_json, write_json
from caspr.formats.cas.xmi import fresh_xmi, read_xmi, write_xmi
from caspr.formats.containers.gzip import is_gzip, unpack
from caspr.formats.containers.zip import Archive, is_archive, make_archive, open_archive
from caspr.formats.format import Format, Forms
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import bare_name, collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note


@dataclass(frozen=True)
class CasLayout:
    """A CAS and the layer of it that was read."""

    cas: Cas
    """The file."""
    layer: str
    """The chain layer."""
    types: bytes | None = None
    """The type system that came with it."""


def detect(path: Path, head: str) -> bool:
    """Return whether the beginning of a file looks like this format."""
    if head.startswith("PK"):
        return is_archive(path) and any(name.endswith(".xmi") for name in open_archive(path).names)
    return "http://www.omg.org/XMI" in head or '"%FEATURE_STRUCTURES"' in head or '"%TYPES"' in head


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file of one document."""
    data = read_bytes(path)
    cas = read_cas(data, str(path))
    wanted = options.layer if options else None
    layer = choose_layer(cas, wanted)
    name = bare_name(path)
    annotation = annotation_of(cas, layer, name, name if annotator is None else annotator)
    layout = CasLayout(cas, layer, _type_system(path, data))
    annotation = replace(annotation, document=replace(annotation.document, layout=layout))
    if wanted is not None or layers(cas):
        return [annotation]
    message = "no chains in any layer; results go into the built-in one (see --layer)"
    guessed = note("assumed-layer", message, where=str(path))
    return [replace(annotation, findings=(*annotation.findings, guessed))]


def _type_system(path: Path, data: bytes) -> bytes | None:
    """Return the type system in the same zip, or beside the file."""
    if data.startswith(b"PK\x03\x04"):
        archive = open_archive(data, str(path))
        inside = [name for name in archive.names if name.rpartition("/")[2].lower() == "typesystem.xml"]
        return archive.read(inside[0]) if len(inside) == 1 else None
    beside = path.with_name("TypeSystem.xml")
    return read_bytes(beside) if path.is_file() and beside.is_file() else None


def read_cas(data: bytes, source: str, *, around: Archive | None = None) -> Cas:
    """Read a CAS in any of its forms, perhaps out of an archive."""
    if is_gzip(data):
        data = unpack(data, source)
    if data.startswith(b"PK\x03\x04"):
        archive = open_archive(data, source, around=around)
        inside = [name for name in archive.names if name.endswith(".xmi")]
        if len(inside) != 1:
            raise FormatError(source, None, f"{len(inside)} .xmi files in a zip", "one")
        return read_xmi(archive.read(inside[0]), f"{source}/{inside[0]}")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return read_json(data, source)
    return read_xmi(data, source)


def annotation_of(cas: Cas, layer: str, name: str, annotator: str, part: str | None = None) -> Annotation:
    """Make an annotation of one chain layer."""
    marked, findings = mentions(cas, layer)
    ends = [end for _, end in extents(cas, SENTENCE)]
    text = Text(cas.text, extents(cas, TOKEN) or None, ends)
    document = Document(name, (), part, cas.source, layout=CasLayout(cas, layer), layers=other_layers(cas))
    return replace(annotate(document, annotator, text, marked, findings), adjudicated=cas.gold)


def write(annotations: Iterable[Annotation], form: str = "") -> dict[str, str | bytes]:
    """Write a file for each document, in the form it was read or, if possible, the one asked for."""
    return collect(_file(annotation, form) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    lost = (*lost_marks(annotation, labels=True, gaps=False), *lost_edges(annotation))
    return (*lost, *lost_entities(annotation))


def with_chains(cas: Cas, layer: str, annotation: Annotation) -> bytes:
    """Return the file of a CAS with the chains of a layer replaced."""
    changes = change(cas, layer, annotation)
    return write_json(cas, changes) if isinstance(cas.file, dict) else write_xmi(cas, changes)


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    layout, name = annotation.document.layout, stem(annotation.document)
    made = layout if isinstance(layout, CasLayout) else CasLayout(_fresh(annotation, form), BUILT_IN)
    data = with_chains(made.cas, made.layer, annotation)
    source = made.cas.source
    is_json = isinstance(made.cas.file, dict)
    if form == ".zip":
        xmi = xmi_of_json(data, source) if is_json else data
        types = types_of_json(data, source) if is_json else made.types
        types = types or bundled_types(made.layer, source)
        return f"{name}.zip", make_archive([(f"{Path(name).name}.xmi", xmi), ("TypeSystem.xml", types)])
    if is_json:
        return (f"{name}.xmi", xmi_of_json(data, source)) if form == ".xmi" else (f"{name}.json", data)
    if form == ".json":
        return f"{name}.json", json_of_xmi(data, made.types, made.layer, source)
    return f"{name}.xmi", data


def _fresh(annotation: Annotation, form: str) -> Cas:
    text, offsets = spell(annotation.document)
    if form == ".json":
        return read_json(fresh_json(annotation.document, text, offsets), "a new file")
    return read_xmi(fresh_xmi(annotation.document, text, offsets, BUILT_IN), "a new file")


FORMAT = Format(
    name="cas",
    suffixes=(".xmi", ".json"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    vague_suffixes=(".json", ".zip"),
    forms=Forms({".xmi": ".xmi", ".json": ".json", ".zip": ".zip"}, write),
    shared_suffixes=(".zip",),
    settings_files=("typesystem.xml",),
    packed=True,
)
