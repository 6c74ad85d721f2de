"""The files of an INCEpTION project archive: what is in it, and a copy with merged documents.

Names in the archive are compared in Unicode normal form C, because macOS repacks them in another; one more
folder around everything, as repacking makes it, is tolerated. Dates, slugs and ids are left to INCEpTION.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import decode
from caspr.formats.cas import read_cas
from caspr.formats.cas.chains import BUILT_IN
from caspr.formats.cas.chains import layers as chain_layers
from caspr.formats.containers.json import load_object
from caspr.formats.containers.zip import Archive, make_archive, open_archive
from caspr.formats.inception.folder import (
    PSEUDO_USERS,
    STORED,
    ProjectFiles,
    ProjectFolder,
    open_folder,
)
from caspr.formats.messages import quoted
from caspr.formats.webanno.reading import layers as tsv_layers

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
    """What it is called on the screen."""
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
    """Who annotated."""
    name: str
    """Its name in the archive."""
    state: str
    """FINISHED, IN_PROGRESS, NEW or IGNORE."""


@dataclass(frozen=True)
class InceptionProject:
    """An open archive."""

    source: str
    """Its name, for messages."""
    archive: ProjectFiles
    """Its files, in the archive or in a folder."""
    prefix: str
    """The folder around everything, if there is one."""
    settings: dict[str, Any]
    """What exportedproject.json says."""
    settings_name: str
    """The name of that file; empty for a folder without one, of which nobody knows who finished what."""
    documents: tuple[str, ...]
    """The names of the documents."""
    layers: tuple[ProjectLayer, ...]
    """The chain layers."""
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
        return [one for one in self.stored.get(document, ()) if one.user not in PSEUDO_USERS]

    def unreadable(self, document: str, wanted: Sequence[str]) -> list[str]:
        """Name the people in one of the wanted states whose file is missing, or holds no annotations."""
        known = {_normal(one.user) for one in self.stored.get(document, ())}
        return [
            user
            for (name, user), state in self.states.items()
            if name == _normal(document) and state in wanted and user not in (*known, *PSEUDO_USERS)
        ]

    def initial(self, document: str) -> Stored | None:
        """Return the document as it was before anybody worked on it."""
        return next((one for one in self.stored.get(document, ()) if one.user == "INITIAL_CAS"), None)

    def chosen_layers(self, wanted: str | None) -> list[ProjectLayer]:
        """Return all chain layers, or the one asked for."""
        if wanted is None:
            return list(self.layers)
        exact = [one for one in self.layers if wanted in (one.name, one.title, one.short)]
        chosen = exact or [one for one in self.layers if wanted.lower() in f"{one.name} {one.title}".lower()]
        if not chosen:
            known = ", ".join(one.title for one in self.layers)
            raise FormatError(self.source, None, f"no chain layer {quoted(wanted)}", f"one of {known}")
        return chosen


def open_project(path: Path, data: bytes | None = None) -> InceptionProject:
    """Open an archive or an unpacked one, or say what is wrong and what to do; its content may be given."""
    archive: ProjectFiles
    if data is not None:
        archive = open_archive(data, str(path))
    else:
        archive = open_folder(path) if path.is_dir() else open_archive(path)
    names = [name for name in archive.names if not name.startswith("__MACOSX/")]
    found = [name for name in names if re.fullmatch(r"(?:[^/]+/)?exportedproject[^/]*\.json", name)]
    if len(found) > 1 or not (found or isinstance(archive, ProjectFolder)):
        raise FormatError(
            str(path),
            None,
            f"an archive with {len(found)} files exportedproject.json",
            "one: a backup archive of INCEpTION (not `curated documents`); unpack any other archive and give "
            "its folder",
        )
    settings_name = found[0] if found else ""
    prefix = settings_name.rpartition("/")[0]
    prefix = f"{prefix}/" if prefix else ""
    if found:
        settings = _settings(archive.read(settings_name), f"{path}/{settings_name}")
    else:
        settings = _guessed_settings(archive)
    documents = tuple(_texts(settings, "source_documents", "name", str(path)))
    only = archive.only if isinstance(archive, ProjectFolder) else ""
    documents = tuple(one for one in documents if not only or _normal(one) == _normal(only))
    states = _states(settings)
    stored = _stored(names, prefix, states, documents)
    if not any(one.user not in PSEUDO_USERS for ones in stored.values() for one in ones):
        _refuse_unreadable(names, prefix, str(path))
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
        "source_documents": [{"name": name} for name in dict.fromkeys(one[0] for one in stored)],
        "annotation_documents": [
            {"name": document, "user": user, "state": "FINISHED"} for document, user, _ in work
        ],
        "layers": [{"name": name, "type": "chain"} for name in names],
    }


def used_layers(data: bytes, source: str) -> list[str]:
    """Return the chain layers that an annotator's file has."""
    if source.endswith(".tsv"):
        return [name.removesuffix("Link") for name in tsv_layers(decode(data, source), source)]
    return chain_layers(read_cas(data, source))


def renewed(project: InceptionProject, merged: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """List the files of a new archive, in which some documents are merged."""
    settings = {name: value for name, value in project.settings.items() if not _DROPPED.search(name)}
    settings |= {
        "name": f"{settings.get('name', 'project')} (merged)",
        "slug": None,
        "annotation_documents": [],
    }
    settings["source_documents"] = [
        {**one, "state": "NEW", **({"format": "xmi"} if one["name"] in merged else {})}
        for one in project.settings["source_documents"]
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
    kept = [one.name for one in project.stored.get(document, ())]
    files = [(name, project.archive.read(name)) for name in kept]
    text = json.dumps(settings, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return make_archive([*files, (project.settings_name, text)])


def _settings(data: bytes, source: str) -> dict[str, Any]:
    settings = load_object(data, source, "what INCEpTION wrote")
    for name in ("source_documents", "annotation_documents", "layers"):
        rows = settings.setdefault(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(source, None, f"{name} that are no list of objects", "what INCEpTION wrote")
    return settings


def _texts(settings: dict[str, Any], rows: str, field: str, source: str) -> Iterator[str]:
    seen: set[str] = set()
    for row in settings[rows]:
        value = row.get(field)
        if not isinstance(value, str) or not value or "/" in value or value in seen:
            raise FormatError(
                source, None, f"{field} {value!r} in {rows}", "a name of its own without slashes"
            )
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
    found: dict[str, list[Stored]] = {document: [] for document in documents}
    for name in names:
        parts = name.removeprefix(prefix).split("/")
        if len(parts) != 3 or parts[0] != "annotation" or not parts[2].endswith(STORED):
            continue
        document, user = known.get(_normal(parts[1])), parts[2].rpartition(".")[0]
        if document is not None:
            state = states.get((_normal(parts[1]), _normal(user)), "IN_PROGRESS")
            found[document].append(Stored(unicodedata.normalize("NFC", user), name, state))
    return found


def _refuse_unreadable(names: Sequence[str], prefix: str, source: str) -> None:
    inside = [name.removeprefix(prefix) for name in names]
    if any(name.startswith("annotation/") and name.endswith(".txt") for name in inside):
        raise FormatError(
            source, None, "annotations exported as plain text, which holds no annotations", _HOW
        )
    if any(name.startswith("annotation_ser/") for name in inside):
        raise FormatError(source, None, "only .ser files, which Java alone can read", _HOW)
    raise FormatError(source, None, "no annotations", f"files annotation/<document>/<user>.zip: {_HOW}")


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)
