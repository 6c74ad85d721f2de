"""Write INCEpTION projects: the chains of all layers in each document as the project first had it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from caspr.errors import OutputError
from caspr.formats.cas import read_cas
from caspr.formats.cas.chains import Arc, Changes, arc_labels, change
from caspr.formats.cas.conversion import xmi_of_json
from caspr.formats.cas.xmi import fresh_xmi, read_xmi, write_xmi
from caspr.formats.containers.zip import make_archive
from caspr.formats.inception.project import (
    renewed,
)
from caspr.formats.inception.reading import InceptionLayout
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import stem
from caspr.formats.text_layer.characters import spell
from caspr.text.document import Annotation
from caspr.text.findings import Finding, warning


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write the archive and the folder of .xmi files; `*` in the names stands for the output's name."""
    groups = _by_document(annotations)
    merged = {name: _merged(group) for name, group in groups.items()}
    first = next(iter(groups.values()), [])
    if not first:
        raise OutputError("cannot write an INCEpTION archive without documents")
    layout = first[0].document.layout
    assert isinstance(layout, InceptionLayout)
    files: dict[str, str | bytes] = {}
    if layout.project.settings_name:
        files["*.zip"] = make_archive(renewed(layout.project, merged))
    for name, group in groups.items():
        files[f"*/{stem(replace(group[0].document, name=name, part=None))}.xmi"] = merged[name]
    return files


def write_apart(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Return only the .xmi of each document."""
    return {f"{name}.xmi": _merged(group) for name, group in _by_document(annotations).items()}


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    lost = [*lost_marks(annotation, labels=True, gaps=False), *lost_edges(annotation)]
    lost += lost_entities(annotation)
    if isinstance(layout, InceptionLayout) and layout.stored.name.endswith(".tsv"):
        message = "exported as TSV: only chains are in the merged files; export as XMI to keep other layers"
        lost.append(warning("lost-layers", message, where=annotation.document.title))
    return tuple(lost)


def _by_document(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """Put the layers of each document together."""
    groups: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in annotations:
        if not isinstance(annotation.document.layout, InceptionLayout):
            raise OutputError(
                "an INCEpTION archive can only be made from such an archive: choose another output format"
            )
        groups[annotation.document.layout.document].append(annotation)
    for group in groups.values():
        _refuse_several(group)
    return groups


def _refuse_several(group: Sequence[Annotation]) -> None:
    layers = [one.document.layout.layer for one in group if isinstance(one.document.layout, InceptionLayout)]
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
        assert isinstance(layout, InceptionLayout)
        cas = read_xmi(data, source)
        arcs = _arcs(layout) if layout.layer.linked else {}
        data = write_xmi(cas, change(cas, layout.layer.name, annotation, arcs=arcs, reuse=False))
    return data


def _arcs(layout: InceptionLayout) -> dict[Arc, str]:
    """Return the label that most annotators gave to the arc between two links."""
    votes: dict[Arc, Counter[str]] = defaultdict(Counter)
    for stored in layout.taken:
        if not stored.name.endswith(".tsv"):
            data = layout.project.archive.read(stored.name)
            cas = read_cas(data, stored.name, around=layout.project.around)
            for arc, label in arc_labels(cas, layout.layer.name):
                votes[arc][label] += 1
    return {arc: labels.most_common(1)[0][0] for arc, labels in votes.items()}


def _base(annotation: Annotation) -> tuple[bytes, str]:
    """Return the document to put chains into, without those of any single annotator."""
    layout = annotation.document.layout
    assert isinstance(layout, InceptionLayout)
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
    cas = read_cas(data, source, around=layout.project.around)
    if initial is not None:
        return write_xmi(cas, Changes()), source
    empty = replace(annotation, chains=(), singletons=())
    for layer in layout.project.layers:
        data = write_xmi(cas, change(cas, layer.name, empty, reuse=False))
        cas = read_xmi(data, source)
    return data, source
