"""INCEpTION project archives, made with dkpro-cassis as an independent witness."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from cassis import Cas, TypeSystem  # type: ignore[import-untyped]

COREFERENCE = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.Coreference"
EVENTS = "webanno.custom.EventCoref"
SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
META = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
TEXT = "Der Bär 🐻 schläft . Er 😀 träumt ."
Chains = Mapping[str, Sequence[Sequence[tuple[int, int, str]]]]
"""For each layer its chains, as begin, end and label of each link, in code points."""


def typesystem() -> TypeSystem:
    """Return the types of a project with two chain layers."""
    types = TypeSystem()
    types.create_type(f"{SEGMENTATION}.Token", "uima.tcas.Annotation")
    types.create_type(f"{SEGMENTATION}.Sentence", "uima.tcas.Annotation")
    types.create_type(META, "uima.tcas.DocumentAnnotation")
    for name in ("documentTitle", "documentId"):
        types.create_feature(META, name, "uima.cas.String")
    types.create_feature(META, "isLastSegment", "uima.cas.Boolean")
    named = types.create_type(ENTITY, "uima.tcas.Annotation")
    types.create_feature(named, "value", "uima.cas.String")
    for layer in (COREFERENCE, EVENTS):
        link = types.create_type(f"{layer}Link", "uima.tcas.Annotation")
        types.create_feature(link, "next", link)
        types.create_feature(link, "referenceType", "uima.cas.String")
        types.create_feature(link, "referenceRelation", "uima.cas.String")
        chain = types.create_type(f"{layer}Chain", "uima.cas.AnnotationBase")
        types.create_feature(chain, "first", link)
    return types


def make_cas(chains: Chains, text: str = TEXT, *, arc: str | None = None) -> Cas:
    """Make the work of one annotator, who may have labelled all arcs."""
    types = typesystem()
    cas = Cas(typesystem=types)
    cas.sofa_string = text
    cas.sofa_mime = "text"
    place = 0
    for sentence in text.split(" ."):
        if sentence.strip():
            start = place + len(sentence) - len(sentence.lstrip())
            cas.add(
                types.get_type(f"{SEGMENTATION}.Sentence")(
                    begin=start, end=min(place + len(sentence) + 2, len(text))
                )
            )
        place += len(sentence) + 2
    place = 0
    for word in text.split(" "):
        cas.add(types.get_type(f"{SEGMENTATION}.Token")(begin=place, end=place + len(word)))
        place += len(word) + 1
    cas.add(types.get_type(ENTITY)(begin=0, end=min(7, len(text)), value="ANIMAL"))
    for layer, given in chains.items():
        for links in given:
            after = None
            for begin, end, label in reversed(links):
                said = {"referenceType": label, "referenceRelation": arc if after else None}
                after = types.get_type(f"{layer}Link")(begin=begin, end=end, next=after, **said)
                cas.add(after)
            cas.add(types.get_type(f"{layer}Chain")(first=after))
    return cas


def packed(cas: Cas, name: str) -> bytes:
    """Return the inner zip of an XMI export."""
    return zipped({f"{name}.xmi": cas.to_xmi().encode(), "TypeSystem.xml": cas.typesystem.to_xml().encode()})


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Pack files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    """Unpack files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def settings(documents: Sequence[str], states: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return what exportedproject.json says."""
    layers = [
        {"name": COREFERENCE, "uiName": "Coreference", "type": "chain", "built_in": True, "enabled": True},
        {"name": EVENTS, "uiName": "Event coreference", "type": "chain", "built_in": False, "enabled": True},
        {"name": ENTITY, "uiName": "Named entity", "type": "span", "built_in": True},
    ]
    return {
        "name": "Bären",
        "slug": "baeren",
        "mode": "ANNOTATION",
        "source_documents": [
            {"name": name, "format": "text", "state": "ANNOTATION_IN_PROGRESS"} for name in documents
        ],
        "annotation_documents": [
            {"name": name, "user": user, "state": state} for (name, user), state in states.items()
        ],
        "layers": layers,
        "tag_sets": [{"name": "Coreference mentions", "tags": [{"tag_name": "nam"}]}],
        "project_permissions": [{"level": "USER", "user": "anna"}],
        "learning_records": [{"x": 1}],
    }


def archive(
    work: Mapping[tuple[str, str], bytes],
    states: Mapping[tuple[str, str], str],
    *,
    suffix: str = "zip",
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """Pack a project: what each user stored for each document."""
    documents = list(dict.fromkeys(name for name, _ in [*work, *states]))
    files = {f"source/{name}": TEXT.encode() for name in documents}
    files |= {f"annotation_ser/{name}/{user}.ser": b"\xac\xed\x00\x05" for name, user in work}
    files |= {f"annotation/{name}/{user}.{suffix}": data for (name, user), data in work.items()}
    files |= {"guideline/a b.txt": b"Regeln", "log/project.log": b"x", **(more or {})}
    files["exportedproject.json"] = json.dumps(settings(documents, states), ensure_ascii=False).encode()
    return zipped(files)
