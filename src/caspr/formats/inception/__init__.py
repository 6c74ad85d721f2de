"""INCEpTION projects: the archive that "Export backup archive" makes, read as it is and written for import.

    exportedproject.json   source/<document>   annotation/<document>/<user>.{zip,json,tsv}   ...

1. Annotations are read from `annotation/`, which is there only if a secondary format was chosen at export:
   UIMA CAS XMI (a zip in the zip), UIMA CAS JSON or WebAnno TSV. The `.ser` files are Java's own.
2. `INITIAL_CAS`, `CURATION_USER` and `CORRECTION_USER` are no annotators. Of the others those who finished
   the document are taken; those in progress only if asked for, with a warning; the rest never.
3. Each chain layer is a task by itself: with several, the layer is the part of the document.
4. Written is (a) a new archive that INCEpTION imports as a new project, in which each merged document is an
   XMI source document, so that the chains are there for everybody, with layers and tag sets as they were,
   and (b) a folder of `.xmi` files for upload or for the remote API. Both start from `INITIAL_CAS`, so that
   tokens and sentences are those of the project. Links have the label that most annotators gave; arcs too,
   in layers whose chains are lists.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError, OutputError
from caspr.files import decode
from caspr.formats import webanno
from caspr.formats.cas import annotation_of, read_cas
from caspr.formats.cas.chains import Arc, Changes, arc_labels, change
from caspr.formats.cas.conversion import xmi_of_json
from caspr.formats.cas.xmi import fresh_xmi, read_xmi, write_xmi
from caspr.formats.containers.zip import is_archive, make_archive, open_archive
from caspr.formats.inception.project import (
    InceptionProject,
    ProjectLayer,
    Stored,
    open_project,
    renewed,
    single,
)
from caspr.formats.losses import lost_edges, lost_marks
from caspr.formats.naming import stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note, times, warning


@dataclass(frozen=True)
class _Layout:
    """Where a document comes from."""

    project: InceptionProject
    """The archive."""
    document: str
    """The document's name."""
    layer: ProjectLayer
    """The chain layer."""
    stored: Stored
    """The annotator's file."""
    taken: tuple[Stored, ...]
    """The files of all annotators who are adjudicated."""


def detect(path: Path, head: str) -> bool:
    """Tell whether a file is a project archive."""
    if not head.startswith("PK") or not is_archive(path):
        return False
    names = open_archive(path).names
    return any(name.rpartition("/")[2].startswith("exportedproject") for name in names)


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read all annotators of all documents, each chain layer by itself."""
    return _read(open_project(path), choices or ReadOptions())


def split(path: Path, choices: ReadOptions | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each document that there is work on with an archive of it alone."""
    project = open_project(path)
    for document in project.documents:
        if _taken(project, document, choices or ReadOptions())[0]:
            yield document, single(project, document)


def read_split(path: Path, data: bytes, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read the archive of one document, cut out of a file."""
    return _read(open_project(path, data), choices or ReadOptions())


def _read(project: InceptionProject, choices: ReadOptions) -> list[Annotation]:
    found: list[Annotation] = []
    findings: list[Finding] = []
    layers = project.chosen_layers(choices.layer)
    for document in project.documents:
        taken, odd = _taken(project, document, choices)
        findings += odd
        for stored in taken:
            found += _annotations(project, document, stored, taken, layers)
    if not found:
        expected = "annotators who finished (use --in-progress to take those who have not)"
        raise FormatError(project.source, None, "no annotations to read", expected)
    return _with_findings(_used_layers(found), findings)


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write the archive and the folder of .xmi files; `*` in the names stands for the output's name."""
    groups = _by_document(annotations)
    merged = {name: _merged(group) for name, group in groups.items()}
    first = next(iter(groups.values()), [])
    if not first:
        raise OutputError("cannot write an INCEpTION archive without documents")
    layout = first[0].document.layout
    assert isinstance(layout, _Layout)
    files: dict[str, str | bytes] = {"*.zip": make_archive(renewed(layout.project, merged))}
    for name, group in groups.items():
        files[f"*/{stem(replace(group[0].document, name=name, part=None))}.xmi"] = merged[name]
    return files


def merged_documents(annotations: Iterable[Annotation]) -> dict[str, bytes]:
    """Return only the .xmi of each document, by its name."""
    return {name: _merged(group) for name, group in _by_document(annotations).items()}


def _by_document(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """Put the layers of each document together."""
    groups: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in annotations:
        if not isinstance(annotation.document.layout, _Layout):
            raise OutputError("an INCEpTION archive can only be made of one: choose another output format")
        groups[annotation.document.layout.document].append(annotation)
    for group in groups.values():
        _refuse_several(group)
    return groups


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    lost = [*lost_marks(annotation, labels=True, gaps=False), *lost_edges(annotation)]
    if isinstance(layout, _Layout) and layout.stored.name.endswith(".tsv"):
        message = "exported as TSV: only chains are in the merged files; export as XMI to keep other layers"
        lost.append(warning("lost-layers", message, where=annotation.document.title))
    return tuple(lost)


def _taken(
    project: InceptionProject, document: str, choices: ReadOptions
) -> tuple[list[Stored], list[Finding]]:
    """Choose the annotators of a document by how far they are."""
    stored = project.annotators(document)
    finished = [one for one in stored if one.state == "FINISHED"]
    working = [one for one in stored if one.state == "IN_PROGRESS"]
    findings = []
    if working and choices.unfinished:
        message = f"{times(len(working), 'annotator')} not finished, taken all the same: {_names(working)}"
        findings.append(warning("unfinished", message, count=len(working), where=document))
    elif working:
        message = f"{times(len(working), 'annotator')} not finished (see --in-progress): {_names(working)}"
        findings.append(warning("unfinished", message, count=len(working), where=document))
    others = [one for one in stored if one not in finished and one not in working]
    if others:
        message = f"{times(len(others), 'annotator')} with state new or ignore left out: {_names(others)}"
        findings.append(note("not-annotated", message, count=len(others), where=document))
    if missing := project.unreadable(document, ("FINISHED", "IN_PROGRESS")[: 1 + choices.unfinished]):
        message = (
            f"{times(len(missing), 'annotator')} left out, without a file that can be read: "
            f"{', '.join(missing)} (export with the secondary format `UIMA CAS XMI (XML 1.0)`)"
        )
        findings.append(warning("missing-file", message, count=len(missing), where=document))
    chosen = finished + (working if choices.unfinished else [])
    return [one for one in stored if one in chosen], findings


def _with_findings(annotations: list[Annotation], findings: Sequence[Finding]) -> list[Annotation]:
    """Attach what is odd about the project to an annotation of a document that several people have."""
    sizes = Counter(one.document.key for one in annotations)
    place = next((n for n, one in enumerate(annotations) if sizes[one.document.key] > 1), 0)
    carrier = replace(annotations[place], findings=(*annotations[place].findings, *findings))
    return [*annotations[:place], carrier, *annotations[place + 1 :]]


def _names(stored: Sequence[Stored]) -> str:
    return ", ".join(one.user for one in stored)


def _annotations(
    project: InceptionProject,
    document: str,
    stored: Stored,
    taken: Sequence[Stored],
    layers: Sequence[ProjectLayer],
) -> Iterator[Annotation]:
    """Read one annotator's file, an annotation for each layer."""
    source = f"{project.source}/{stored.name}"
    data = project.archive.read(stored.name)
    cas = None if stored.name.endswith(".tsv") else read_cas(data, source, around=project.archive)
    for layer in layers:
        part = layer.short if len(layers) > 1 else None
        if cas is not None:
            annotation = annotation_of(cas, layer.name, document, stored.user, part)
        else:
            annotation = _tsv(decode(data, source), source, document, stored.user, layer)
        layout = _Layout(project, document, layer, stored, tuple(taken))
        yield replace(annotation, document=replace(annotation.document, layout=layout, part=part))


def _tsv(text: str, source: str, document: str, user: str, layer: ProjectLayer) -> Annotation:
    link = f"{layer.name}Link"
    if link in webanno.layers(text, source):
        return webanno.parse_document(text, source, document, user, ReadOptions(link))
    # A layer without annotations may be missing from the header.
    return annotate(Document(document, (), source=source), user, webanno.text_of(text, source), ())


def _used_layers(annotations: list[Annotation]) -> list[Annotation]:
    """Leave out layers in which nobody marked anything, unless there is no other."""
    used = {one.document.part for one in annotations if one.mentions}
    if not used:
        used = {annotations[0].document.part}
    kept = [one for one in annotations if one.document.part in used]
    if len(used) > 1:
        return kept
    return [replace(one, document=replace(one.document, part=None)) for one in kept]


def _refuse_several(group: Sequence[Annotation]) -> None:
    layers = [one.document.layout.layer for one in group if isinstance(one.document.layout, _Layout)]
    if len(set(layers)) < len(layers):
        raise OutputError(
            "an INCEpTION archive holds one solution for each document: leave out --all, or choose another "
            "format"
        )


def _merged(group: Sequence[Annotation]) -> bytes:
    """Put the chains of all layers into the document as the project first had it."""
    data, source = _base(group[0])
    for annotation in group:
        layout = annotation.document.layout
        assert isinstance(layout, _Layout)
        cas = read_xmi(data, source)
        arcs = _arcs(layout) if layout.layer.linked else {}
        data = write_xmi(cas, change(cas, layout.layer.name, annotation, arcs=arcs, reuse=False))
    return data


def _arcs(layout: _Layout) -> dict[Arc, str]:
    """Return the label that most annotators gave to the arc between two links."""
    votes: dict[Arc, Counter[str]] = defaultdict(Counter)
    for stored in layout.taken:
        if not stored.name.endswith(".tsv"):
            data = layout.project.archive.read(stored.name)
            cas = read_cas(data, stored.name, around=layout.project.archive)
            for arc, label in arc_labels(cas, layout.layer.name):
                votes[arc][label] += 1
    return {arc: labels.most_common(1)[0][0] for arc, labels in votes.items()}


def _base(annotation: Annotation) -> tuple[bytes, str]:
    """Return the document to put chains into, without those of any single annotator."""
    layout = annotation.document.layout
    assert isinstance(layout, _Layout)
    initial = layout.project.initial(layout.document)
    stored = initial or layout.stored
    source = f"{layout.project.source}/{stored.name}"
    data = layout.project.archive.read(stored.name)
    if stored.name.endswith(".tsv"):
        text, offsets = spell(annotation.document)
        document = replace(annotation.document, name=layout.document, part=None)
        return fresh_xmi(document, text, offsets, layout.layer.name), source
    if stored.name.endswith(".json"):
        data = xmi_of_json(data, source)
    cas = read_cas(data, source, around=layout.project.archive)
    if initial is not None:
        return write_xmi(cas, Changes()), source
    empty = replace(annotation, chains=(), singletons=())
    for layer in layout.project.layers:
        data = write_xmi(cas, change(cas, layer.name, empty, reuse=False))
        cas = read_xmi(data, source)
    return data, source
