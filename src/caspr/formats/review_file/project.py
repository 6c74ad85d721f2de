"""The project file, `caspr-project.json`: the documents of a project, one review file each.

    {"version": 1,
     "documents": [
      {"file": "documents/act1.conll", "title": "act1", "tokens": 5120, "annotators": 4, "cost": 310,
       "proven": true, "bytes": 81920},
      ...],
     "assigned": {"documents/act1.conll": "Ann"}}

It lists what there is, and who is to do it. What is decided, and who is done with what, is in the review
files alone. `cost` is that of the result before anything was decided, which shows where annotators disagree
most; `proven` whether it was proven optimal, which holds while the review file has as many bytes as then.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from caspr.errors import FormatError, InputError, reading
from caspr.formats.containers.json import parse_kept
from caspr.formats.review_file.reading import read
from caspr.formats.review_file.review import Review
from caspr.formats.review_file.writing import write
from caspr.result import GOLD
from caspr.storage import file_names, read_text
from caspr.text.arguments import path_of
from caspr.text.document import Annotation, Chain

NAME = "caspr-project.json"
"""The file that makes a folder a project."""
FOLDER = "documents"
"""The folder of the review files in it."""
VERSION = 1
_NEVER = frozenset(("\\", ":", *map(chr, range(32))))
"""What no path of a document has: on Windows it may lead out of the folder, or it makes no path at all."""
_NUMBERS = ("tokens", "annotators", "cost", "bytes")
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
    proven: bool | None = None
    """Whether that result is proven optimal, if that is known."""
    bytes: int | None = None
    """How long the review file is that has this result."""


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


def review_paths(folder: Path) -> Iterator[tuple[ProjectDocument, Path]]:
    """Yield the documents of a project with the paths of their review files, which must be there."""
    documents = read_project(folder).documents
    if not documents:
        raise InputError(f"{folder}: this project has no documents")
    for document in documents:
        path = folder / document.file
        if not path.is_file():
            raise InputError(f"{path}: this file of '{document.title}' is missing; {folder / NAME} lists it")
        yield document, path


def read_review(path: str | Path) -> list[Review]:
    """Read the documents of a review file, or those of all review files of a project, in its order.

    Each has the annotations, what was decided, notes, and as `gold` the chains that the file shows. These are
    as they were written: after changes by hand, `caspr.redo` optimises again.
    """
    source = path_of(path, "caspr.read_review")
    if source.is_dir() and not is_project(source):
        raise InputError(
            f"{source}: this folder is not a project of review files: caspr.read_folder reads "
            "annotators' files"
        )
    files = [file for _, file in review_paths(source)] if source.is_dir() else [source]
    return [replace(review, gold=_shown_gold(review)) for file in files for review in read(file)]


def _shown_gold(review: Review) -> Annotation:
    chains = [Chain.of(id, mentions) for id, mentions in review.homes.items()]
    return Annotation.of(GOLD, review.gold.document, chains, adjudicated=True)


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


def new_project(
    reviews: Sequence[Review],
    costs: Sequence[tuple[int, bool]] = (),
    assigned: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Render a new project: its file and a review file for each document, by path in its folder.

    `costs` has the cost of each result, and whether it is proven optimal, where that is known; `assigned` is
    who was to do the documents of a project that is made again.
    """
    documents = [review.gold.document for review in reviews]
    names = file_names(dict.fromkeys(document.title for document in documents), ".conll", "document")
    if len(names) < len(documents):
        titles = [document.title for document in documents]
        raise InputError(f"two documents are called '{max(titles, key=titles.count)}': rename one")
    texts = {f"{FOLDER}/{names[review.gold.document.title]}": write([review]) for review in reviews}
    known: Sequence[tuple[int | None, bool | None]] = costs or [(None, None)] * len(reviews)
    listed = tuple(
        ProjectDocument(
            file,
            review.gold.document.title,
            len(review.gold.document.tokens),
            len(review.annotations),
            cost,
            proven,
            len(text.encode("utf-8")),
        )
        for (file, text), review, (cost, proven) in zip(texts.items(), reviews, known, strict=True)
    )
    kept = {file: who for file, who in (assigned or {}).items() if file in texts}
    return {**texts, NAME: project_text(ProjectFile(listed, kept))}


def _values(document: ProjectDocument) -> dict[str, Any]:
    values = {name: getattr(document, name) for name in (*_NUMBERS, "proven")}
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
    numbers = {name: values.get(name) for name in _NUMBERS}
    sound = {name: number if type(number) is int else None for name, number in numbers.items()}
    proven = values.get("proven") if type(values.get("proven")) is bool else None
    return ProjectDocument(values["file"], str(values.get("title", file.stem)), proven=proven, **sound)
