"""UIMA CAS, as INCEpTION, WebAnno and DKPro write it: XMI (.xmi), JSON (.json), or a zip with an XMI in it.

`cas.chains` describes how chains are stored, `cas.xmi` and `cas.json_cas` how objects are. All other layers
are kept as they are; no type system is needed. A zip holds one .xmi and its type system, as INCEpTION exports
a document; it is written back as .xmi, which is what INCEpTION imports, unless a .zip is asked for.

dkpro-cassis converts JSON to XMI and back, since it knows the types of features that both need. XMI says
nothing about types: they come from the `TypeSystem.xml` that is exported with it, or else from those that
dkpro-cassis has of DKPro, and two that it lacks, although every file of DKPro or INCEpTION has them. A file
with objects of any other type is then refused.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.errors import FormatError, InputError, reading
from caspr.formats.cas.chains import (
    BUILT_IN,
    META,
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
from caspr.formats.cas.json_cas import fresh_json, read_json, write_json
from caspr.formats.cas.xmi import fresh_xmi, read_xmi, write_xmi
from caspr.formats.containers.gzip import is_gzip, unpack
from caspr.formats.containers.zip import Archive, is_archive, make_archive, open_archive
from caspr.formats.format import Format, Forms, ReadOptions, lost
from caspr.formats.naming import bare_name, collect, stem
from caspr.formats.text_layer import Text, annotate, spell
from caspr.storage import read_bytes
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note

_TEXT, _NUMBER, _CHOICE = "uima.cas.String", "uima.cas.Long", "uima.cas.Boolean"
_LACKING = {
    (META, "uima.tcas.DocumentAnnotation"): {
        **dict.fromkeys(
            ("documentTitle", "documentId", "documentUri", "collectionId", "documentBaseUri"), _TEXT
        ),
        "isLastSegment": _CHOICE,
    },
    ("de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata", "uima.tcas.Annotation"): {
        **dict.fromkeys(("username", "sourceDocumentName", "projectName"), _TEXT),
        **dict.fromkeys(("sourceDocumentId", "projectId", "lastChangedOnDisk"), _NUMBER),
    },
}
"""Types that dkpro-cassis lacks, each with what it is a kind of, and their features."""


def xmi_of_json(data: bytes) -> bytes:
    """Return a JSON CAS as XMI, with all its layers."""
    return str(_loaded(data).to_xmi()).encode("utf-8")


def types_of_json(data: bytes) -> bytes:
    """Return the type system of a JSON CAS as XML."""
    return str(_loaded(data).typesystem.to_xml()).encode("utf-8")


def json_of_xmi(data: bytes, types: bytes | None, layer: str) -> bytes:
    """Return XMI as JSON CAS, with all layers whose types are known."""
    cassis = _library("XMI, which must become JSON")

    def convert() -> bytes:
        system = _types(cassis, types, layer)
        cas = cassis.load_cas_from_xmi(data.decode("utf-8"), typesystem=system)
        return str(cas.to_json()).encode("utf-8")

    return bytes(_converted(convert, "JSON"))


def bundled_types(layer: str) -> bytes:
    """Return the type system for new files."""
    cassis = _library("a CAS whose type system must be written")
    return str(_types(cassis, None, layer).to_xml()).encode("utf-8")


def _types(cassis: Any, types: bytes | None, layer: str) -> Any:
    if types is not None:
        return cassis.load_typesystem(types.decode("utf-8"))
    system = cassis.load_dkpro_core_typesystem()
    for (name, above), features in _LACKING.items():
        if not system.contains_type(name):
            made = system.create_type(name, above)
            for feature, kind in features.items():
                system.create_feature(made, feature, kind)
    if not system.contains_type(f"{layer}Link"):
        link = system.create_type(f"{layer}Link", "uima.tcas.Annotation")
        system.create_feature(link, "next", link)
        for feature in ("referenceType", "referenceRelation"):
            system.create_feature(link, feature, _TEXT)
        chain = system.create_type(f"{layer}Chain", "uima.cas.AnnotationBase")
        system.create_feature(chain, "first", link)
    return system


def _loaded(data: bytes) -> Any:
    cassis = _library("a CAS in JSON, which must become XMI")
    return _converted(lambda: cassis.load_cas_from_json(data.decode("utf-8-sig")), "XMI")


def _library(found: str) -> Any:
    try:
        import cassis  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{found}, needs dkpro-cassis: install it with `pip install dkpro-cassis`, or export it with the "
            "format UIMA CAS XMI (XML 1.0)"
        ) from None
    return cassis


def _converted(convert: Callable[[], Any], target: str) -> Any:
    try:
        return convert()
    except Exception as error:
        # The library has no root class for what it cannot read.
        found = f"a CAS that cannot become {target} ({error})"
        expected = "a CAS of INCEpTION, with its TypeSystem.xml in the same zip or beside it"
        raise FormatError(None, found, expected) from error


@dataclass(frozen=True)
class CasLayout:
    """A CAS and the layer of it that was read."""

    cas: Cas
    layer: str
    types: bytes | None = None


def detect(path: Path, head: str) -> bool:
    """Return whether the beginning of a file looks like this format."""
    if head.startswith("PK"):
        return is_archive(path) and any(name.endswith(".xmi") for name in open_archive(path).names)
    return "http://www.omg.org/XMI" in head or '"%FEATURE_STRUCTURES"' in head or '"%TYPES"' in head


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file of one document."""
    data = read_bytes(path)
    cas = read_cas(data)
    wanted = options.layer if options else None
    layer = choose_layer(cas, wanted)
    name = bare_name(path)
    layout = CasLayout(cas, layer, _type_system(path, data))
    document = Document(name, (), source=str(path), layout=layout)
    annotation = annotation_of(cas, layer, document, name if annotator is None else annotator)
    if wanted is not None or layers(cas):
        return [annotation]
    message = "no chains in any layer; results go into the built-in one"
    guessed = note("assumed-layer", message, where=str(path), option=" (see --layer)")
    return [replace(annotation, findings=(*annotation.findings, guessed))]


def _type_system(path: Path, data: bytes) -> bytes | None:
    """Return the type system in the same zip, or beside the file."""
    if data.startswith(b"PK\x03\x04"):
        archive = open_archive(data)
        inside = [name for name in archive.names if name.rpartition("/")[2].lower() == "typesystem.xml"]
        return archive.read(inside[0]) if len(inside) == 1 else None
    beside = path.with_name("TypeSystem.xml")
    return read_bytes(beside) if path.is_file() and beside.is_file() else None


def read_cas(data: bytes, *, around: Archive | None = None) -> Cas:
    """Read a CAS in any of its forms, perhaps out of an archive."""
    if is_gzip(data):
        data = unpack(data)
    if data.startswith(b"PK\x03\x04"):
        archive = open_archive(data, around=around)
        inside = [name for name in archive.names if name.endswith(".xmi")]
        if len(inside) != 1:
            raise FormatError(None, f"{len(inside)} .xmi files in a zip", "one")
        data = archive.read(inside[0])
        with reading(inside[0], member=True):
            return replace(read_xmi(data), member=inside[0])
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return read_json(data)
    return read_xmi(data)


def annotation_of(cas: Cas, layer: str, document: Document, annotator: str) -> Annotation:
    """Make an annotation of one chain layer; the document needs only its name, source and layout."""
    with reading(cas.member, member=True):
        marked, findings = mentions(cas, layer)
        ends = [end for _, end in extents(cas, SENTENCE)]
        text = Text(cas.text, extents(cas, TOKEN) or None, ends)
    layered = replace(document, layers=other_layers(cas))
    return replace(annotate(layered, annotator, text, marked, findings), adjudicated=cas.gold)


def write(annotations: Iterable[Annotation], form: str = "") -> dict[str, str | bytes]:
    """Write a file for each document, in the form it was read or, if possible, the one asked for."""
    return collect(_named_file(annotation, form) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return tuple(lost(annotation, labels=True))


def with_chains(cas: Cas, layer: str, annotation: Annotation) -> bytes:
    """Return the file of a CAS with the chains of a layer replaced."""
    changes = change(cas, layer, annotation)
    return write_json(cas, changes) if isinstance(cas.file, dict) else write_xmi(cas, changes)


def _named_file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    with reading(annotation.document.source or "a new file"):
        return _file(annotation, form)


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    layout, name = annotation.document.layout, stem(annotation.document)
    made = layout if isinstance(layout, CasLayout) else CasLayout(_fresh(annotation, form), BUILT_IN)
    data = with_chains(made.cas, made.layer, annotation)
    is_json = isinstance(made.cas.file, dict)
    if form == ".zip":
        xmi = xmi_of_json(data) if is_json else data
        types = types_of_json(data) if is_json else made.types
        types = types or bundled_types(made.layer)
        return f"{name}.zip", make_archive([(f"{Path(name).name}.xmi", xmi), ("TypeSystem.xml", types)])
    if is_json:
        return (f"{name}.xmi", xmi_of_json(data)) if form == ".xmi" else (f"{name}.json", data)
    if form == ".json":
        return f"{name}.json", json_of_xmi(data, made.types, made.layer)
    return f"{name}.xmi", data


def _fresh(annotation: Annotation, form: str) -> Cas:
    text, offsets = spell(annotation.document)
    if form == ".json":
        return read_json(fresh_json(annotation.document, text, offsets))
    return read_xmi(fresh_xmi(annotation.document, text, offsets, BUILT_IN))


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
