"""Read INCEpTION projects: which annotators and layers are taken, and the file of each annotator."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import decode
from caspr.formats.cas import annotation_of, read_cas
from caspr.formats.format import Extract
from caspr.formats.inception.project import (
    InceptionProject,
    ProjectLayer,
    Stored,
    open_project,
    single,
)
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import annotate
from caspr.formats.webanno.reading import layers, parse_document, text_of
from caspr.formats.webanno.tsv import parse
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note, times, warning


@dataclass(frozen=True)
class InceptionLayout:
    """The project that a document was read from, and the part of it that was read."""

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


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read all annotators of all documents, each chain layer by itself."""
    return _read(open_project(path), options or ReadOptions())


def cut(path: Path, options: ReadOptions) -> Iterator[Extract]:
    """Yield an archive of each single document that somebody annotated."""
    project = open_project(path)
    for document in project.documents:
        if _taken(project, document, options)[0]:
            yield Extract(document, single(project, document))


def read_extract(
    path: Path,
    content: bytes,
    annotator: str,  # noqa: ARG001
    line: int,  # noqa: ARG001
    options: ReadOptions,
) -> list[Annotation]:
    """Read the archive of a single document; its annotators are named in it."""
    return _read(open_project(path, content), options)


def _read(project: InceptionProject, options: ReadOptions) -> list[Annotation]:
    found: list[Annotation] = []
    findings: list[Finding] = []
    layers = project.chosen_layers(options.layer)
    for document in project.documents:
        taken, odd = _taken(project, document, options)
        findings += odd
        for stored in taken:
            found += _annotations(project, document, stored, taken, layers)
    if not project.settings_name:
        message = (
            "no exportedproject.json, which says who finished what: everybody is taken; give the archive, or "
            "its whole folder"
        )
        findings.append(warning("unknown-states", message, where=project.source))
    if not found:
        expected = "annotators who finished (use --in-progress to take those who have not)"
        raise FormatError(project.source, None, "no annotations to read", expected)
    return _with_findings(_used_layers(found), findings)


def _taken(
    project: InceptionProject, document: str, options: ReadOptions
) -> tuple[list[Stored], list[Finding]]:
    """Choose the annotators of a document by how far they are."""
    stored = project.annotators(document)
    finished = [one for one in stored if one.state == "FINISHED"]
    working = [one for one in stored if one.state == "IN_PROGRESS"]
    findings = []
    if working and options.unfinished:
        message = f"{times(len(working), 'annotator')} not finished, taken all the same: {_names(working)}"
        findings.append(warning("unfinished", message, count=len(working), where=document))
    elif working:
        message = f"{times(len(working), 'annotator')} not finished (see --in-progress): {_names(working)}"
        findings.append(warning("unfinished", message, count=len(working), where=document))
    others = [one for one in stored if one not in finished and one not in working]
    if others:
        message = f"{times(len(others), 'annotator')} with state new or ignore left out: {_names(others)}"
        findings.append(note("not-annotated", message, count=len(others), where=document))
    if missing := project.unreadable(document, ("FINISHED", "IN_PROGRESS")[: 1 + options.unfinished]):
        message = (
            f"{times(len(missing), 'annotator')} left out, without a file that can be read: "
            f"{', '.join(missing)} (export with the secondary format `UIMA CAS XMI (XML 1.0)`)"
        )
        findings.append(warning("missing-file", message, count=len(missing), where=document))
    chosen = finished + (working if options.unfinished else [])
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
    cas = None if stored.name.endswith(".tsv") else read_cas(data, source, around=project.around)
    for layer in layers:
        part = layer.short if len(layers) > 1 else None
        if cas is not None:
            annotation = annotation_of(cas, layer.name, document, stored.user, part)
        else:
            annotation = _tsv(decode(data, source), source, document, stored.user, layer)
        layout = InceptionLayout(project, document, layer, stored, tuple(taken))
        yield replace(annotation, document=replace(annotation.document, layout=layout, part=part))


def _tsv(text: str, source: str, document: str, user: str, layer: ProjectLayer) -> Annotation:
    link = f"{layer.name}Link"
    if link in layers(text, source):
        return parse_document(text, source, document, user, ReadOptions(link))
    # A layer without annotations may be missing from the header.
    names = tuple(one.name for one in parse(text, source).layers)
    return annotate(Document(document, (), source=source, layers=names), user, text_of(text, source), ())


def _used_layers(annotations: list[Annotation]) -> list[Annotation]:
    """Leave out layers in which nobody marked anything, unless there is no other."""
    used = {one.document.part for one in annotations if one.mentions}
    if not used:
        used = {annotations[0].document.part}
    kept = [one for one in annotations if one.document.part in used]
    if len(used) > 1:
        return kept
    return [replace(one, document=replace(one.document, part=None)) for one in kept]
