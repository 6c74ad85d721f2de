"""What a folder of annotations holds, where one folder has the work of several annotators.

It may hold a file or a folder for each annotator, a folder for each document, or files of several annotators.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.formats import read_all, read_options
from caspr.formats.layouts import detect_layout, holds_only_parts, opened, walk
from caspr.formats.naming import is_backup, is_of_a_desktop, with_number
from caspr.formats.registry import folder_format, is_named_after_file, recognise
from caspr.formats.review_file import is_review
from caspr.formats.review_file.project import NAME
from caspr.formats.sources import read_one, unread_findings, with_findings
from caspr.text.arguments import path_of
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times

Work = list[list[Annotation]]
"""The annotations of each annotator."""


def read_folder(
    folder: str | Path, *, format: str | None = None, layer: str | None = None, relations: Sequence[str] = ()
) -> Work:
    """Read the files of all annotators in a folder: for each annotator an annotation of each document.

    The folder holds a file or a folder for each annotator, a folder for each document, or files of several
    annotators; which it is, is found out. What it returns is what `caspr.adjudicate` and `caspr.agreement`
    take. What was not read is in the findings of the first annotation. The options are those of `caspr.read`.
    """
    source = path_of(folder, "caspr.read_folder")
    if not source.is_dir():
        problem = "this is a file" if source.exists() else "there is no such folder"
        raise InputError(f"{source}: {problem}: caspr.read reads the file of one annotator")
    if folder_format(source):
        return read_all([source], format=format, options=read_options(layer, relations))
    return read_whole_folder(source, {"format": format, "options": read_options(layer, relations)})[0]


def read_whole_folder(folder: Path, reading: Mapping[str, Any]) -> tuple[Work, list[Path]]:
    """Read a folder; return also what was read of it."""
    _refuse_project(folder)
    work, read = _read_folder(folder, reading)
    _refuse_one_folder_too_high(folder, work)
    odd = _left_out(folder, read)
    return [with_findings(work[0], odd), *work[1:]] if work else work, read


def _refuse_project(folder: Path) -> None:
    """Refuse a project of review files where annotators' files are read."""
    if (folder / NAME).is_file():
        raise InputError(
            f"{folder}: this is a project of review files: give the annotators' files that it was made from; "
            "only `caspr review`, `redo`, `report` and `agreement` take a project"
        )


def _refuse_one_folder_too_high(folder: Path, work: Work) -> None:
    """Refuse a folder whose only content is another one, which is taken for the work of one annotator."""
    inside = _folders(folder)
    if len(work) == 1 and len(inside) == 1 and not files_inside(folder):
        raise InputError(
            f"{folder}: there is only one folder in it, which is the work of one annotator: did you mean "
            f"{inside[0]}?"
        )


def _read_folder(folder: Path, reading: Mapping[str, Any]) -> tuple[Work, list[Path]]:
    """Read the one folder of all annotators; return also the files and folders that were read."""
    try:
        layout = detect_layout(folder)
    except InputError:
        _refuse_stray(folder)
        layout = "file" if files_inside(folder) else "annotator"
    if layout == "annotator" and _name_one_document(folder, reading):
        layout = "document"
    if layout == "document":
        inside = [inner for inner in _content(folder) if inner.is_dir() and files_inside(inner)]
        return _by_document(inside, reading), [file for inner in inside for file in files_inside(inner)]
    paths = files_inside(folder) if layout == "file" else _folders(folder)
    if not paths or (
        layout == "file" and len({annotation.annotator for annotation in read_one(paths[0], **reading)}) > 1
    ):
        paths = [folder]
    work = read_all(paths, **reading)
    return (_named_after_folder(work, folder) if layout == "file" else work), paths


def _named_after_folder(work: Work, folder: Path) -> Work:
    """Name the one document of a folder after it, where files name annotators and none names the document."""
    every = [annotation for annotations in work for annotation in annotations]
    if (
        len(work) < 2
        or len(every) > len(work)
        or not all(is_named_after_file(annotation.document) for annotation in every)
    ):
        return work
    name = folder.resolve().name or every[0].document.name
    return [[replace(only, document=replace(only.document, name=name))] for [only] in work]


def _name_one_document(folder: Path, reading: Mapping[str, Any]) -> bool:
    """Return whether files of one folder say that they are one document: it is no annotator's then."""
    files = next((files for inside in _folders(folder) if len(files := files_inside(inside)) > 1), [])
    documents = [annotation.document for file in files[:2] for annotation in read_one(file, **reading)[:1]]
    return len({document.key for document in documents}) < len(documents) and not any(
        map(is_named_after_file, documents)
    )


def _refuse_stray(folder: Path) -> None:
    """Refuse one file of annotations beside the folders of several annotators, a slip of the hand."""
    files = files_inside(folder)
    if len(files) == 1 and sum(bool(files_inside(inner)) for inner in _folders(folder)) > 1:
        raise InputError(
            f"{files[0]}: this file of annotations is beside the folders of annotators: move it into the "
            "folder of its annotator, or away"
        )


def _left_out(folder: Path, read: Sequence[Path]) -> list[Finding]:
    """Return what is in a folder and was not read: review files, which are results, and anything else."""
    below = (folder / path for path in sorted(walk(folder)))
    unread = [path for path in below if not any(known in (path, *path.parents) for known in read)]
    unread += (path for path in _content(folder) if path.is_file() and is_backup(path))
    reviews = [path for path in unread if is_review(path) and not is_backup(path)]
    findings = list(unread_findings(folder, [path for path in unread if path not in reviews]))
    if reviews:
        names = ", ".join(path.relative_to(folder).as_posix() for path in reviews)
        message = (
            f"{times(len(reviews), 'review file')} not read, being the result of an adjudication: {names}"
        )
        findings.append(note("review-files", message, count=len(reviews), where=str(folder)))
    return findings


def files_inside(folder: Path) -> list[Path]:
    """List the files of a folder that hold annotations; review files are results."""
    shown = (path for path in _content(folder) if path.is_file() and not path.name.startswith("."))
    work = (path for path in shown if not is_backup(path) and not is_of_a_desktop(path))
    return [path for path in work if recognise(path) is not None and not is_review(path)]


def _folders(folder: Path) -> list[Path]:
    """List the folders of annotators, without those in which a tool keeps its own files."""
    shown = (path for path in _content(folder) if path.is_dir() and not path.name.startswith("."))
    return [path for path in shown if not holds_only_parts(path)]


def _content(folder: Path) -> list[Path]:
    """List what is in a folder, or raise why that is not possible."""
    with opened(folder) as entries:
        return sorted(Path(entry.path) for entry in entries)


def _by_document(folders: Sequence[Path], reading: Mapping[str, Any]) -> Work:
    """Read a folder for each document, with a file for each annotator."""
    annotators: dict[str, list[Annotation]] = defaultdict(list)
    for folder in folders:
        for annotation in (
            annotation for work in read_all(files_inside(folder), **reading) for annotation in work
        ):
            document = annotation.document
            if is_named_after_file(document):
                document = replace(document, name=with_number(folder.name, document.nameless))
            annotators[annotation.annotator].append(replace(annotation, document=document))
    return list(annotators.values())
