"""INCEpTION projects: the archive that "Export backup archive" makes, read as it is and written for import.

    exportedproject.json   source/<document>   annotation/<document>/<user>.{zip,json,tsv}   ...

1. Annotations are read from `annotation/`, which is there only if a secondary format was chosen at export:
   UIMA CAS XMI (a zip in the zip), UIMA CAS JSON or WebAnno TSV. The `.ser` files are Java's own.
2. `INITIAL_CAS`, `CURATION_USER` and `CORRECTION_USER` are not annotators. Of the others those who finished
   the document are taken; those in progress only if asked for, with a warning; the rest never.
3. Each chain layer is a task by itself: with several, the layer is the part of the document.
4. An archive that was unpacked is read like the archive: its folder, the folder `annotation`, or the folder
   of one document in it. `exportedproject.json` says who finished what; where that is missing, all but
   the pseudo users are taken, with a warning, and the layers are those that the files have.
5. Names in the archive are compared in Unicode normal form C, because macOS repacks them in another; one more
   folder around everything, as repacking makes it, is tolerated.
6. It writes (a) a new archive that INCEpTION imports as a new project, in which each merged document is an
   XMI source document, so that the chains are there for everybody, with layers and tag sets as they were,
   and (b) a folder of `.xmi` files for upload or for the remote API. Both start from `INITIAL_CAS`, so that
   tokens and sentences are those of the project. Links have the label that most annotators gave; arcs too,
   in layers whose chains are lists. Dates, slugs and ids are left to INCEpTION.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.errors import FormatError, OutputError, reading
from caspr.formats.cas import annotation_of, read_cas, xmi_of_json
from caspr.formats.cas.chains import BUILT_IN, Arc, Changes, arc_labels, change
from caspr.formats.cas.chains import layers as chain_layers
from caspr.formats.cas.xmi import fresh_xmi, read_xmi, write_xmi
from caspr.formats.containers.json import load_object
from caspr.formats.containers.zip import Archive, is_archive, make_archive, open_archive
from caspr.formats.format import Cutting, Extract, Format, ReadOptions, lost, quoted
from caspr.formats.naming import stem
from caspr.formats.text_layer import annotate, spell
from caspr.formats.webanno import layers as tsv_layers
from caspr.formats.webanno import parse_document, text_of
from caspr.formats.webanno.tsv import parse
from caspr.storage import decode, read_bytes
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note, times, warning

PSEUDO_USERS = ("INITIAL_CAS", "CURATION_USER", "CORRECTION_USER")
"""Names of users that are not annotators."""
STORED = (".zip", ".json", ".tsv", ".xmi")
"""The suffixes of files that hold annotations."""
_SETTINGS = "exportedproject*.json"


@dataclass(frozen=True)
class ProjectFolder:
    """An unpacked archive."""

    files: Mapping[str, Path]
    """Its files, by the names that they have in the archive."""
    only: str = ""
    """The document whose folder was given, if it was that of one document."""

    @property
    def names(self) -> list[str]:
        """The names of all files in it, in order."""
        return list(self.files)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return read_bytes(self.files[name])


ProjectFiles = Archive | ProjectFolder
"""Where the files of a project are."""


def is_project_folder(folder: Path) -> bool:
    """Return whether a folder is an unpacked project, or the annotations of one."""
    return folder.is_dir() and _find(folder) is not None


def is_no_annotator(path: Path) -> bool:
    """Return whether a file is that of a pseudo user, unpacked from a project."""
    return path.stem in PSEUDO_USERS and path.suffix.lower() in (*STORED, ".ser")


def open_folder(folder: Path) -> ProjectFolder:
    """Open an unpacked project; `is_project_folder` must hold."""
    project = _find(folder)
    assert project is not None
    root, prefix, only = project
    files = {f"{prefix}{path.relative_to(root).as_posix()}": path for path in _files(root)}
    return ProjectFolder(files, only)


def _find(folder: Path) -> tuple[Path, str, str] | None:
    """Return the root of a project, what to put before names below it, and the only document wanted."""
    here = folder.resolve()
    for root in (here, *(child for child in sorted(here.iterdir()) if child.is_dir())):
        if any(root.glob(_SETTINGS)):
            return root, "", ""
    if here.name == "annotation" and any(here.parent.glob(_SETTINGS)):
        return here.parent, "", ""
    if here.parent.name == "annotation" and any(here.parent.parent.glob(_SETTINGS)):
        return here.parent.parent, "", here.name
    if _holds_documents(here / "annotation"):
        return here, "", ""
    if _holds_documents(here):
        return here, "annotation/", ""
    if _is_document(here):
        return here, f"annotation/{here.name}/", here.name
    return None


def _holds_documents(folder: Path) -> bool:
    return folder.is_dir() and any(_is_document(child) for child in folder.iterdir() if child.is_dir())


def _is_document(folder: Path) -> bool:
    """Return whether a folder has the files of one document; every export holds its initial state."""
    return any(is_no_annotator(file) for file in folder.iterdir() if file.is_file())


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


_DROPPED = re.compile(r"learning.?records|user.?preferences", re.IGNORECASE)
_HOW = (
    "export it again: Settings, Export, Backup archive, with the secondary format `UIMA CAS XMI (XML 1.0)` "
    "or `UIMA CAS JSON`"
)


@dataclass(frozen=True)
class ProjectLayer:
    """A chain layer of the project."""

    name: str
    """Its full name, without `Chain` or `Link`."""
    title: str
    linked: bool = False
    """Whether its chains are lists with labelled arcs, not sets."""

    @property
    def short(self) -> str:
        """Its name in one word."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Stored:
    """The file of one annotator for one document."""

    user: str
    name: str
    state: str
    """FINISHED, IN_PROGRESS, NEW or IGNORE."""


@dataclass(frozen=True)
class InceptionProject:
    """An open archive."""

    source: str
    archive: ProjectFiles
    prefix: str
    """The folder around everything, if there is one."""
    settings: dict[str, Any]
    settings_name: str
    """The name of that file; empty for a folder without one, of which nobody knows who finished what."""
    documents: tuple[str, ...]
    layers: tuple[ProjectLayer, ...]
    stored: Mapping[str, Sequence[Stored]]
    """The files of each document, those of pseudo users included."""
    states: Mapping[tuple[str, str], str]
    """How far each user is with each document, as the settings say."""

    @property
    def around(self) -> Archive | None:
        """The archive around its files, which counts what is read."""
        return self.archive if isinstance(self.archive, Archive) else None

    def annotators(self, document: str) -> list[Stored]:
        """Return the files of people, not of pseudo users."""
        return [stored for stored in self.stored.get(document, ()) if stored.user not in PSEUDO_USERS]

    def unreadable(self, document: str, wanted: Sequence[str]) -> list[str]:
        """Name the people in one of the wanted states whose file is missing, or holds no annotations."""
        known = {_normal(stored.user) for stored in self.stored.get(document, ())}
        return [
            user
            for (name, user), state in self.states.items()
            if name == _normal(document) and state in wanted and user not in (*known, *PSEUDO_USERS)
        ]

    def initial(self, document: str) -> Stored | None:
        """Return the document as it was before anybody worked on it."""
        return next((file for file in self.stored.get(document, ()) if file.user == "INITIAL_CAS"), None)

    def chosen_layers(self, wanted: str | None) -> list[ProjectLayer]:
        """Return all chain layers, or the one asked for."""
        if wanted is None:
            return list(self.layers)
        exact = [layer for layer in self.layers if wanted in (layer.name, layer.title, layer.short)]
        chosen = exact or [
            layer for layer in self.layers if wanted.lower() in f"{layer.name} {layer.title}".lower()
        ]
        if not chosen:
            known = ", ".join(layer.title for layer in self.layers)
            raise FormatError(None, f"no chain layer {quoted(wanted)}", f"one of {known}")
        return chosen


def open_project(path: Path, data: bytes | None = None) -> InceptionProject:
    """Open an archive or an unpacked one, or say what is wrong and what to do; its content may be given."""
    archive: ProjectFiles
    if data is not None:
        archive = open_archive(data)
    else:
        archive = open_folder(path) if path.is_dir() else open_archive(path)
    names = [name for name in archive.names if not name.startswith("__MACOSX/")]
    settings_files = [name for name in names if re.fullmatch(r"(?:[^/]+/)?exportedproject[^/]*\.json", name)]
    if len(settings_files) > 1 or not (settings_files or isinstance(archive, ProjectFolder)):
        raise FormatError(
            None,
            f"an archive with {len(settings_files)} files exportedproject.json",
            "one: a backup archive of INCEpTION (not `curated documents`); unpack any other archive and give "
            "its folder",
        )
    settings_name = settings_files[0] if settings_files else ""
    prefix = settings_name.rpartition("/")[0]
    prefix = f"{prefix}/" if prefix else ""
    if settings_files:
        with reading(settings_name, member=True):
            settings = _settings(archive.read(settings_name))
    else:
        settings = _guessed_settings(archive)
    documents = tuple(_texts(settings, "source_documents", "name"))
    only = archive.only if isinstance(archive, ProjectFolder) else ""
    documents = tuple(document for document in documents if not only or _normal(document) == _normal(only))
    states = _states(settings)
    stored = _stored(names, prefix, states, documents)
    if not any(file.user not in PSEUDO_USERS for files in stored.values() for file in files):
        _refuse_unreadable(names, prefix)
    layers = tuple(_layers(settings))
    return InceptionProject(
        str(path), archive, prefix, settings, settings_name, documents, layers, stored, states
    )


def _guessed_settings(archive: ProjectFiles) -> dict[str, Any]:
    """Make the settings of a project that has none: everybody has finished, and layers are those in use."""
    stored = [
        (parts[1], parts[2].rpartition(".")[0], name)
        for name in archive.names
        if len(parts := name.split("/")) == 3 and parts[0] == "annotation" and name.endswith(STORED)
    ]
    work = [(document, user, name) for document, user, name in stored if user not in PSEUDO_USERS]
    names = sorted({layer for _, _, name in work for layer in used_layers(archive.read(name), name)})
    return {
        "source_documents": [{"name": name} for name in dict.fromkeys(file[0] for file in stored)],
        "annotation_documents": [
            {"name": document, "user": user, "state": "FINISHED"} for document, user, _ in work
        ],
        "layers": [{"name": name, "type": "chain"} for name in names],
    }


def used_layers(data: bytes, file: str) -> list[str]:
    """Return the chain layers that an annotator's file has."""
    with reading(file, member=True):
        if file.endswith(".tsv"):
            return [name.removesuffix("Link") for name in tsv_layers(decode(data))]
        return chain_layers(read_cas(data))


def renewed(project: InceptionProject, merged: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """List the files of a new archive, in which some documents are merged."""
    settings = {name: value for name, value in project.settings.items() if not _DROPPED.search(name)}
    settings |= {
        "name": f"{settings.get('name', 'project')} (merged)",
        "slug": None,
        "annotation_documents": [],
    }
    settings["source_documents"] = [
        {**document, "state": "NEW", **({"format": "xmi"} if document["name"] in merged else {})}
        for document in project.settings["source_documents"]
    ]
    left = ("annotation/", "annotation_ser/", "curation/", "curation_ser/", "log/", "source/")
    kept = {
        _normal(f"{project.prefix}source/{name}"): name for name in project.documents if name not in merged
    }
    for name in project.archive.names:
        short = name.removeprefix(project.prefix)
        if name.startswith("__MACOSX/") or name == project.settings_name:
            continue
        if _normal(name) in kept:
            yield f"source/{kept[_normal(name)]}", project.archive.read(name)
        elif not short.startswith(left) and name.startswith(project.prefix):
            yield short, project.archive.read(name)
    for document, data in merged.items():
        yield f"source/{document}", data
    yield "exportedproject.json", json.dumps(settings, ensure_ascii=False, indent=2).encode("utf-8")


def single(project: InceptionProject, document: str) -> bytes:
    """Make an archive of one document alone, with all that its annotators and pseudo users have of it."""
    settings = {
        **project.settings,
        "source_documents": [row for row in project.settings["source_documents"] if row["name"] == document],
        "annotation_documents": [
            row
            for row in project.settings["annotation_documents"]
            if _normal(str(row.get("name"))) == _normal(document)
        ],
    }
    kept = [stored.name for stored in project.stored.get(document, ())]
    files = [(name, project.archive.read(name)) for name in kept]
    text = json.dumps(settings, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return make_archive([*files, (project.settings_name, text)])


def _settings(data: bytes) -> dict[str, Any]:
    settings = load_object(data, "what INCEpTION wrote")
    for name in ("source_documents", "annotation_documents", "layers"):
        rows = settings.setdefault(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(None, f"{name} that are not a list of objects", "what INCEpTION wrote")
    return settings


def _texts(settings: dict[str, Any], rows: str, field: str) -> Iterator[str]:
    seen: set[str] = set()
    for row in settings[rows]:
        value = row.get(field)
        if not isinstance(value, str) or not value or "/" in value or value in seen:
            raise FormatError(None, f"{field} {value!r} in {rows}", "a name of its own without slashes")
        seen.add(value)
        yield value


def _states(settings: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {
        (_normal(str(row.get("name"))), _normal(str(row.get("user")))): str(row.get("state"))
        for row in settings["annotation_documents"]
    }


def _layers(settings: dict[str, Any]) -> Iterator[ProjectLayer]:
    chains = [
        row for row in settings["layers"] if row.get("type") == "chain" and row.get("enabled") is not False
    ]
    for row in chains:
        name = row.get("name")
        if isinstance(name, str) and name:
            yield ProjectLayer(name, str(row.get("uiName") or name), row.get("linked_list_behavior") is True)
    if not chains:
        yield ProjectLayer(BUILT_IN, "Coreference")


def _stored(
    names: Sequence[str], prefix: str, states: Mapping[tuple[str, str], str], documents: Sequence[str]
) -> dict[str, list[Stored]]:
    known = {_normal(document): document for document in documents}
    stored: dict[str, list[Stored]] = {document: [] for document in documents}
    for name in names:
        parts = name.removeprefix(prefix).split("/")
        if len(parts) != 3 or parts[0] != "annotation" or not parts[2].endswith(STORED):
            continue
        document, user = known.get(_normal(parts[1])), parts[2].rpartition(".")[0]
        if document is not None:
            state = states.get((_normal(parts[1]), _normal(user)), "IN_PROGRESS")
            stored[document].append(Stored(unicodedata.normalize("NFC", user), name, state))
    return stored


def _refuse_unreadable(names: Sequence[str], prefix: str) -> None:
    inside = [name.removeprefix(prefix) for name in names]
    if any(name.startswith("annotation/") and name.endswith(".txt") for name in inside):
        raise FormatError(None, "annotations exported as plain text, which holds no annotations", _HOW)
    if any(name.startswith("annotation_ser/") for name in inside):
        raise FormatError(None, "only .ser files, which Java alone can read", _HOW)
    raise FormatError(None, "no annotations", f"files annotation/<document>/<user>.zip: {_HOW}")


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


@dataclass(frozen=True)
class InceptionLayout:
    """The project that a document was read from, and the part of it that was read."""

    project: InceptionProject
    document: str
    layer: ProjectLayer
    stored: Stored
    taken: tuple[Stored, ...]
    """The files of all annotators who are adjudicated."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read all annotators of all documents, each chain layer by itself."""
    return _read(open_project(path), options or ReadOptions())


def cut(path: Path, options: ReadOptions) -> Iterator[Extract]:
    """Yield an archive of each single document that somebody annotated."""
    with reading(path):
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
    annotations: list[Annotation] = []
    findings: list[Finding] = []
    layers = project.chosen_layers(options.layer)
    for document in project.documents:
        taken, odd = _taken(project, document, options)
        findings += odd
        for stored in taken:
            annotations += _annotations(project, document, stored, taken, layers)
    if not project.settings_name:
        message = (
            "no exportedproject.json, which says who finished what: everybody is taken; give the archive, or "
            "its whole folder"
        )
        findings.append(warning("unknown-states", message, where=project.source))
    if not annotations:
        expected = "annotators who finished (use --in-progress to take those who have not)"
        raise FormatError(None, "no annotations to read", expected)
    return _with_findings(_used_layers(annotations), findings)


def _taken(
    project: InceptionProject, document: str, options: ReadOptions
) -> tuple[list[Stored], list[Finding]]:
    """Choose the annotators of a document by how far they are."""
    stored = project.annotators(document)
    finished = [file for file in stored if file.state == "FINISHED"]
    working = [file for file in stored if file.state == "IN_PROGRESS"]
    findings = []
    if working and options.unfinished:
        message = f"{times(len(working), 'annotator')} not finished, taken all the same: {_names(working)}"
        findings.append(warning("unfinished", message, count=len(working), where=document))
    elif working:
        message = f"{times(len(working), 'annotator')} not finished: {_names(working)}"
        option = " (see --in-progress)"
        findings.append(warning("unfinished", message, count=len(working), where=document, option=option))
    others = [file for file in stored if file not in finished and file not in working]
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
    return [file for file in stored if file in chosen], findings


def _with_findings(annotations: list[Annotation], findings: Sequence[Finding]) -> list[Annotation]:
    """Attach what is odd about the project to an annotation of a document that several people have."""
    sizes = Counter(annotation.document.key for annotation in annotations)
    index = next((n for n, annotation in enumerate(annotations) if sizes[annotation.document.key] > 1), 0)
    carrier = replace(annotations[index], findings=(*annotations[index].findings, *findings))
    return [*annotations[:index], carrier, *annotations[index + 1 :]]


def _names(stored: Sequence[Stored]) -> str:
    return ", ".join(file.user for file in stored)


def _annotations(
    project: InceptionProject,
    document: str,
    stored: Stored,
    taken: Sequence[Stored],
    layers: Sequence[ProjectLayer],
) -> Iterator[Annotation]:
    """Read one annotator's file, an annotation for each layer."""
    data = project.archive.read(stored.name)
    with reading(stored.name, member=True):
        cas = None if stored.name.endswith(".tsv") else read_cas(data, around=project.around)
        for layer in layers:
            part = layer.short if len(layers) > 1 else None
            layout = InceptionLayout(project, document, layer, stored, tuple(taken))
            bare = Document(document, (), part, f"{project.source}/{stored.name}", layout=layout)
            if cas is not None:
                annotation = annotation_of(cas, layer.name, bare, stored.user)
            else:
                annotation = _tsv(decode(data), bare, stored.user, layer)
            yield replace(annotation, document=replace(annotation.document, layout=layout))


def _tsv(text: str, document: Document, user: str, layer: ProjectLayer) -> Annotation:
    link = f"{layer.name}Link"
    if link in tsv_layers(text):
        return parse_document(text, document, user, ReadOptions(link))
    # A layer without annotations may be missing from the header.
    names = tuple(row.name for row in parse(text).layers)
    return annotate(replace(document, layers=names), user, text_of(text), ())


def _used_layers(annotations: list[Annotation]) -> list[Annotation]:
    """Leave out layers in which nobody marked anything, unless there is no other."""
    used = {annotation.document.part for annotation in annotations if annotation.mentions}
    if not used:
        used = {annotations[0].document.part}
    kept = [annotation for annotation in annotations if annotation.document.part in used]
    if len(used) > 1:
        return kept
    return [replace(annotation, document=replace(annotation.document, part=None)) for annotation in kept]


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write the archive and the folder of .xmi files; `*` in the names stands for the output's name."""
    groups = _by_document(annotations)
    merged = {name: _named_merged(group) for name, group in groups.items()}
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
    return {f"{name}.xmi": _named_merged(group) for name, group in _by_document(annotations).items()}


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    findings = list(lost(annotation, labels=True))
    if isinstance(layout, InceptionLayout) and layout.stored.name.endswith(".tsv"):
        message = "exported as TSV: only chains are in the merged files; export as XMI to keep other layers"
        findings.append(warning("lost-layers", message, where=annotation.document.title))
    return tuple(findings)


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
    layers = [
        annotation.document.layout.layer
        for annotation in group
        if isinstance(annotation.document.layout, InceptionLayout)
    ]
    if len(set(layers)) < len(layers):
        raise OutputError(
            "an INCEpTION archive holds one solution for each document: leave out --all, or choose another "
            "format"
        )


def _named_merged(group: Sequence[Annotation]) -> bytes:
    with reading(group[0].document.source):
        return _merged(group)


def _merged(group: Sequence[Annotation]) -> bytes:
    """Put the chains of all layers into the document as the project first had it."""
    data = _base(group[0])
    for annotation in group:
        layout = annotation.document.layout
        assert isinstance(layout, InceptionLayout)
        cas = read_xmi(data)
        arcs = _arcs(layout) if layout.layer.linked else {}
        data = write_xmi(cas, change(cas, layout.layer.name, annotation, arcs=arcs, reuse=False))
    return data


def _arcs(layout: InceptionLayout) -> dict[Arc, str]:
    """Return the label that most annotators gave to the arc between two links."""
    votes: dict[Arc, Counter[str]] = defaultdict(Counter)
    for stored in layout.taken:
        if not stored.name.endswith(".tsv"):
            data = layout.project.archive.read(stored.name)
            cas = read_cas(data, around=layout.project.around)
            for arc, label in arc_labels(cas, layout.layer.name):
                votes[arc][label] += 1
    return {arc: labels.most_common(1)[0][0] for arc, labels in votes.items()}


def _base(annotation: Annotation) -> bytes:
    """Return the document to put chains into, without those of any single annotator."""
    layout = annotation.document.layout
    assert isinstance(layout, InceptionLayout)
    initial = layout.project.initial(layout.document)
    stored = initial or layout.stored
    data = layout.project.archive.read(stored.name)
    if stored.name.endswith(".tsv"):
        text, offsets = spell(annotation.document)
        document = replace(annotation.document, name=layout.document, part=None)
        return fresh_xmi(document, text, offsets, layout.layer.name)
    if stored.name.endswith(".json"):
        data = xmi_of_json(data)
    cas = read_cas(data, around=layout.project.around)
    if initial is not None:
        return write_xmi(cas, Changes())
    empty = replace(annotation, chains=(), singletons=())
    for layer in layout.project.layers:
        data = write_xmi(cas, change(cas, layer.name, empty, reuse=False))
        cas = read_xmi(data)
    return data


def detect(path: Path, head: str) -> bool:
    """Return whether a file is a project archive."""
    if not head.startswith("PK") or not is_archive(path):
        return False
    names = open_archive(path).names
    return any(name.rpartition("/")[2].startswith("exportedproject") for name in names)


FORMAT = Format(
    name="inception",
    suffixes=(".zip",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    vague_suffixes=(".zip",),
    detect_folder=is_project_folder,
    is_no_annotator=is_no_annotator,
    cutting=Cutting(cut, read_extract),
    write_apart=write_apart,
)
