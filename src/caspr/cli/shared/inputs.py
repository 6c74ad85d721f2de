"""What a folder of annotations holds, for commands that take the files of several annotators.

One folder may hold a file or a folder for each annotator, a folder for each document, or files of several
annotators. What is needed to look into it is imported there: most calls name files, and should start fast.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.naming import is_backup, is_of_a_desktop, with_number
from caspr.formats.registry import (
    STANDARD_OUTPUT,
    by_suffix,
    folder_format,
    is_named_after_file,
    recognise,
)
from caspr.formats.sources import is_gold, read_one, unread_findings, with_findings
from caspr.storage import similar_file
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times

Work = list[list[Annotation]]
"""The annotations of each annotator."""


def read_given(paths: Sequence[Path], reading: dict[str, Any]) -> tuple[Work, list[Path]]:
    """Read annotators' files or folders, or one folder that holds them all; return also what was read.

    One folder has a file or a folder for each annotator, a folder for each document, or files that each hold
    several annotators. What is not read of it is in the findings of the first annotation.
    """
    if not is_one_folder(paths):
        return read_all(paths, **reading), list(paths)
    folder = paths[0]
    _refuse_project(folder)
    work, read = _read_folder(folder, reading)
    _refuse_one_folder_too_high(folder, work)
    odd = _left_out(folder, read)
    return [with_findings(work[0], odd), *work[1:]] if work else work, read


def _refuse_project(folder: Path) -> None:
    """Refuse a project of review files where annotators' files are read."""
    from caspr.formats.review_file.project import NAME

    if (folder / NAME).is_file():
        raise InputError(
            f"{folder}: this is a project of review files: give the annotators' files that it was made from; "
            "only `caspr review`, `redo`, `report` and `agreement` take a project"
        )


def _refuse_one_folder_too_high(folder: Path, work: Work) -> None:
    """Refuse a folder whose only content is another one, which is taken for the work of one annotator."""
    inside = _folders(folder)
    if len(work) == 1 and len(inside) == 1 and not _files(folder):
        raise InputError(
            f"{folder}: there is only one folder in it, which is the work of one annotator: did you mean "
            f"{inside[0]}?"
        )


def _read_folder(folder: Path, reading: dict[str, Any]) -> tuple[Work, list[Path]]:
    """Read the one folder of all annotators; return also the files and folders that were read."""
    from caspr.corpus.layouts import detect_layout

    try:
        layout = detect_layout(folder)
    except InputError:
        _refuse_stray(folder)
        layout = "file" if _files(folder) else "annotator"
    if layout == "annotator" and _name_one_document(folder, reading):
        layout = "document"
    if layout == "document":
        inside = [inner for inner in sorted(folder.iterdir()) if inner.is_dir() and _files(inner)]
        return _by_document(inside, reading), [file for inner in inside for file in _files(inner)]
    paths = _files(folder) if layout == "file" else _folders(folder)
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


def _name_one_document(folder: Path, reading: dict[str, Any]) -> bool:
    """Return whether files of one folder say that they are one document: it is no annotator's then."""
    files = next((files for inside in _folders(folder) if len(files := _files(inside)) > 1), [])
    documents = [annotation.document for file in files[:2] for annotation in read_one(file, **reading)[:1]]
    return len({document.key for document in documents}) < len(documents) and not any(
        map(is_named_after_file, documents)
    )


def _refuse_stray(folder: Path) -> None:
    """Refuse one file of annotations beside the folders of several annotators, a slip of the hand."""
    files = _files(folder)
    if len(files) == 1 and sum(bool(_files(inner)) for inner in _folders(folder)) > 1:
        raise InputError(
            f"{files[0]}: this file of annotations is beside the folders of annotators: move it into the "
            "folder of its annotator, or away"
        )


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are read one by one: those given, or all of one folder that hold annotations."""
    if not is_one_folder(paths):
        return list(paths)
    below = [path for path in sorted(paths[0].rglob("*")) if path.is_dir()]
    hidden = [path for path in below if path.relative_to(paths[0]).as_posix().startswith(".")]
    return [file for inner in (paths[0], *below) if inner not in hidden for file in _files(inner)]


def is_one_folder(paths: Sequence[Path]) -> bool:
    """Return whether one folder was given, which holds the files of all annotators and is no project."""
    return len(paths) == 1 and paths[0].is_dir() and not folder_format(paths[0])


def refuse_forgotten_option(paths: Sequence[Path], output: Path) -> None:
    """Refuse a last file that is not there, or a gold beside a folder of annotators: -o was forgotten."""
    last = paths[-1]
    if output != STANDARD_OUTPUT or len(paths) < 2 or last.is_dir():
        return
    if not last.exists():
        if not all(path.exists() for path in paths[:-1]):
            return  # Names are wrong, and no option is missing.
        problem = f"cannot read: No such file or directory{similar_file(last, FileNotFoundError())}"
    elif is_one_folder(paths[:-1]) and by_suffix(last) is not None and is_gold(last):
        problem = "this is the gold standard of an adjudication beside a folder of annotators"
    else:
        return
    raise InputError(f"{last}: {problem}; to write the gold standard there, put -o before it")


def refuse_inside(outputs: Iterable[Path], paths: Sequence[Path]) -> None:
    """Refuse results in the folder of the annotators, where the next call would find them among theirs."""
    if not is_one_folder(paths):
        return
    for output in outputs:
        if output != STANDARD_OUTPUT and paths[0].resolve() in output.resolve().parents:
            raise InputError(
                f"{output}: this is inside the annotators' folder, where the next call would take it for an "
                "annotator's work: choose another folder"
            )


def _left_out(folder: Path, read: Sequence[Path]) -> list[Finding]:
    """Return what is in a folder and was not read: review files, which are results, and anything else."""
    from caspr.corpus.layouts import walk
    from caspr.formats.review_file import is_review

    below = (folder / path for path in sorted(walk(folder)))
    unread = [path for path in below if not any(known in (path, *path.parents) for known in read)]
    unread += (path for path in sorted(folder.iterdir()) if path.is_file() and is_backup(path))
    reviews = [path for path in unread if is_review(path) and not is_backup(path)]
    findings = list(unread_findings(folder, [path for path in unread if path not in reviews]))
    if reviews:
        names = ", ".join(path.relative_to(folder).as_posix() for path in reviews)
        message = (
            f"{times(len(reviews), 'review file')} not read, being the result of an adjudication: {names}"
        )
        findings.append(note("review-files", message, count=len(reviews), where=str(folder)))
    return findings


def _files(folder: Path) -> list[Path]:
    """List the files of a folder that hold annotations; review files are results."""
    from caspr.formats.review_file import is_review

    shown = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
    work = (path for path in shown if not is_backup(path) and not is_of_a_desktop(path))
    return [path for path in work if recognise(path) is not None and not is_review(path)]


def _folders(folder: Path) -> list[Path]:
    """List the folders of annotators, without those in which a tool keeps its own files."""
    from caspr.corpus.layouts import holds_only_parts

    shown = (path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith("."))
    return [path for path in shown if not holds_only_parts(path)]


def _by_document(folders: Sequence[Path], reading: dict[str, Any]) -> Work:
    """Read a folder for each document, with a file for each annotator."""
    annotators: dict[str, list[Annotation]] = defaultdict(list)
    for folder in folders:
        for annotation in (annotation for work in read_all(_files(folder), **reading) for annotation in work):
            document = annotation.document
            if is_named_after_file(document):
                document = replace(document, name=with_number(folder.name, document.nameless))
            annotators[annotation.annotator].append(replace(annotation, document=document))
    return list(annotators.values())
