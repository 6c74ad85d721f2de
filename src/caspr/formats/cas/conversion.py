"""Between JSON CAS and XMI, by dkpro-cassis, which knows the types of features that both need.

XMI says nothing of types: they come from the `TypeSystem.xml` that is exported with it, or else from those
that dkpro-cassis has of DKPro, and two that it lacks, although every file of DKPro or INCEpTION has them. A
file with objects of any other type is then refused.
"""

from collections.abc import Callable
from typing import Any

from caspr.errors import FormatError, InputError
from caspr.formats.cas.chains import META

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


def xmi_of_json(data: bytes, source: str) -> bytes:
    """Return a JSON CAS as XMI, with all its layers."""
    return str(_loaded(data, source).to_xmi()).encode("utf-8")


def types_of_json(data: bytes, source: str) -> bytes:
    """Return the type system of a JSON CAS as XML."""
    return str(_loaded(data, source).typesystem.to_xml()).encode("utf-8")


def json_of_xmi(data: bytes, types: bytes | None, layer: str, source: str) -> bytes:
    """Return XMI as JSON CAS, with all layers whose types are known."""
    cassis = _library(source, "XMI, which must become JSON")

    def convert() -> bytes:
        system = _types(cassis, types, layer)
        cas = cassis.load_cas_from_xmi(data.decode("utf-8"), typesystem=system)
        return str(cas.to_json()).encode("utf-8")

    return bytes(_converted(convert, source, "JSON"))


def bundled_types(layer: str, source: str) -> bytes:
    """Return the type system for files made anew."""
    cassis = _library(source, "a CAS whose type system must be written")
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


def _loaded(data: bytes, source: str) -> Any:
    cassis = _library(source, "a CAS in JSON, which must become XMI")
    return _converted(lambda: cassis.load_cas_from_json(data.decode("utf-8-sig")), source, "XMI")


def _library(source: str, found: str) -> Any:
    try:
        import cassis  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{source}: found {found}, and that needs dkpro-cassis: install it with `pip install "
            "dkpro-cassis`, or export it with the format UIMA CAS XMI (XML 1.0)"
        ) from None
    return cassis


def _converted(convert: Callable[[], Any], source: str, target: str) -> Any:
    try:
        return convert()
    except Exception as error:
        # The library has no root class for what it cannot read.
        found = f"a CAS that cannot become {target} ({error})"
        expected = "a CAS of INCEpTION, with its TypeSystem.xml in the same zip or beside it"
        raise FormatError(source, None, found, expected) from error
