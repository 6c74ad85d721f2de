"""The project file, `caspr-project.json`: the documents of a project, one review file each.

    {"version": 1,
     "documents": [
      {"file": "documents/act1.conll", "title": "act1", "tokens": 5120, "annotators": 4, "cost": 310},
      ...],
     "assigned": {"documents/act1.conll": "Ann"}}

It lists what there is, and who is to do it. What is decided, and who is done with what, is in the review
files alone. `cost` is that of the result before anything was decided, which shows where annotators disagree
most.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from caspr.errors import FormatError, reading
from caspr.formats.containers.json import parse_kept
from caspr.storage import read_text

NAME = "caspr-project.json"
"""The file that makes a folder a project."""
VERSION = 1
_NEVER = frozenset(("\\", ":", *map(chr, range(32))))
"""What no path of a document has: on Windows it may lead out of the folder, or it makes no path at all."""
_EXPECTED = 'an object such as {"version": 1, "documents": [{"file": "documents/a.conll", "title": "a"}]}'


def is_project(folder: Path) -> bool:
    """Return whether a path is the folder of a project."""
    return (folder / NAME).is_file()


@dataclass(frozen=True)
class ProjectDocument:
    """One document of a project."""

    file: str
    """Its review file, relative to the folder of the project."""
    title: str
    tokens: int | None = None
    annotators: int | None = None
    cost: int | None = None
    """The cost of the result before anything was decided, if that is known."""


@dataclass(frozen=True)
class ProjectFile:
    """All documents of a project."""

    documents: tuple[ProjectDocument, ...] = ()
    assigned: Mapping[str, str] = field(default_factory=dict)
    """Who is to do a document, by its file."""


def read_project(folder: Path) -> ProjectFile:
    """Read the project file of a folder."""
    with reading(folder / NAME):
        return _parsed(read_text(folder / NAME))


def _parsed(text: str) -> ProjectFile:
    data = parse_kept(text, _EXPECTED)
    if data.get("version") != VERSION:
        raise FormatError(None, f"version {data.get('version')!r}", f"version {VERSION}")
    listed, assigned = data.get("documents"), data.get("assigned", {})
    if not isinstance(listed, list) or not isinstance(assigned, dict):
        raise FormatError(None, "no list of documents", _EXPECTED)
    documents = tuple(_document(entry) for entry in listed)
    known = {str(file): str(who) for file, who in assigned.items()}
    return ProjectFile(documents, known)


def project_text(project: ProjectFile) -> str:
    """Write a project file, a line for each document."""
    lines = ",\n".join(
        f"  {json.dumps(_values(document), ensure_ascii=False)}" for document in project.documents
    )
    assigned = json.dumps(dict(sorted(project.assigned.items())), ensure_ascii=False, indent=1)
    return f'{{"version": {VERSION},\n "documents": [\n{lines}\n ],\n "assigned": {assigned}}}\n'


def _values(document: ProjectDocument) -> dict[str, Any]:
    values = {"tokens": document.tokens, "annotators": document.annotators, "cost": document.cost}
    known = {name: value for name, value in values.items() if value is not None}
    return {"file": document.file, "title": document.title, **known}


def _document(values: object) -> ProjectDocument:
    """Check one document; its file must be inside the folder of the project."""
    if not isinstance(values, dict) or not isinstance(values.get("file"), str):
        raise FormatError(None, f"a document {str(values)[:60]!r}", _EXPECTED)
    file = PurePosixPath(values["file"])
    if file.is_absolute() or ".." in file.parts or not _NEVER.isdisjoint(values["file"]):
        expected = "a path below the folder of the project, such as documents/a.conll"
        raise FormatError(None, f"file {values['file']!r}", expected)
    numbers = {name: values.get(name) for name in ("tokens", "annotators", "cost")}
    sound = {name: number if type(number) is int else None for name, number in numbers.items()}
    return ProjectDocument(values["file"], str(values.get("title", file.stem)), **sound)
