"""What a folder of annotations holds, for commands that take the files of several annotators.

What is needed to look into a folder is imported there: most calls name files, and should start fast.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.naming import is_backup, is_of_a_desktop, with_number
from caspr.formats.registry import STANDARD_OUTPUT, by_suffix, folder_format, is_named_after_file, recognise
from caspr.formats.sources import is_gold, read_one, unread_findings, with_findings
from caspr.similar_names import similar_file
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times

Given = list[list[Annotation]]
"""The annotations of each annotator."""


def read_given(paths: Sequence[Path], reading: dict[str, Any]) -> tuple[Given, list[Path]]:
    """Read annotators' files or folders, or one folder that holds them all; return also what was read.

    One folder has a file or a folder for each annotator, a folder for each document, or files that each hold
    several annotators. What is not read of it is in the findings of the first annotation.
    """
    if not is_one_folder(paths):
        return read_all(paths, **reading), list(paths)
    folder = paths[0]
    _refuse_project(folder)
    given, found = _read_folder(folder, reading)
    _refuse_one_folder_too_high(folder, given)
    odd = _left_out(folder, found)
    return [with_findings(given[0], odd), *given[1:]] if given else given, found


def _refuse_project(folder: Path) -> None:
    """Refuse a project of review files where annotators' files are read."""
    from caspr.formats.review_file.project import NAME

    if (folder / NAME).is_file():
        raise InputError(
            f"{folder}: found a project of review files, expected annotators' files: give the folder that it "
            "was made from; `caspr review`, `redo`, `report` and `agreement` take the project"
        )


def _refuse_one_folder_too_high(folder: Path, given: Given) -> None:
    """Refuse a folder whose only content is another one, which is taken for the work of one annotator."""
    inside = _folders(folder)
    if len(given) == 1 and len(inside) == 1 and not _files(folder):
        raise InputError(
            f"{folder}: found one folder in it, '{inside[0].name}', and so the work of one annotator, "
            f"expected that of two or more: did you mean {inside[0]}?"
        )


def _read_folder(folder: Path, reading: dict[str, Any]) -> tuple[Given, list[Path]]:
    """Read the one folder of all annotators; return also the files and folders that were read."""
    from caspr.corpus.inputs.layouts import detect

    try:
        layout = detect(folder)
    except InputError:
        _refuse_stray(folder)
        layout = "file" if _files(folder) else "annotator"
    if layout == "annotator" and _name_one_document(folder, reading):
        layout = "document"
    if layout == "document":
        inside = [one for one in sorted(folder.iterdir()) if one.is_dir() and _files(one)]
        return _by_document(inside, reading), [file for one in inside for file in _files(one)]
    found = _files(folder) if layout == "file" else _folders(folder)
    if not found or (layout == "file" and _has_several_annotators(found[0], reading)):
        found = [folder]
    given = read_all(found, **reading)
    return (_named_after_folder(given, folder) if layout == "file" else given), found


def _named_after_folder(given: Given, folder: Path) -> Given:
    """Name the one document of a folder after it, where files name annotators and none names the document."""
    every = [annotation for annotations in given for annotation in annotations]
    if (
        len(given) < 2
        or len(every) > len(given)
        or not all(is_named_after_file(one.document) for one in every)
    ):
        return given
    name = folder.resolve().name or every[0].document.name
    return [[replace(one[0], document=replace(one[0].document, name=name))] for one in given]


def _name_one_document(folder: Path, reading: dict[str, Any]) -> bool:
    """Return whether files of one folder say that they are one document: it is no annotator's then."""
    files = next((files for inside in _folders(folder) if len(files := _files(inside)) > 1), [])
    found = [one.document for file in files[:2] for one in read_one(file, **reading)[:1]]
    return len({document.key for document in found}) < len(found) and not any(map(is_named_after_file, found))


def _refuse_stray(folder: Path) -> None:
    """Refuse one file of annotations beside the folders of several annotators, a slip of the hand."""
    files = _files(folder)
    if len(files) == 1 and sum(bool(_files(one)) for one in _folders(folder)) > 1:
        raise InputError(
            f"{files[0]}: found a file of annotations beside the folders of annotators, expected it in one "
            "of them: move it into the folder of its annotator, or away"
        )


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are read one by one: those given, or all of one folder that hold annotations."""
    if not is_one_folder(paths):
        return list(paths)
    below = [path for path in sorted(paths[0].rglob("*")) if path.is_dir()]
    hidden = [path for path in below if path.relative_to(paths[0]).as_posix().startswith(".")]
    return [file for one in (paths[0], *below) if one not in hidden for file in _files(one)]


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
        found = f"cannot read: No such file or directory{similar_file(last, FileNotFoundError())}"
    elif is_one_folder(paths[:-1]) and by_suffix(last) is not None and is_gold(last):
        found = "found the gold standard of an adjudication beside a folder of annotators"
    else:
        return
    raise InputError(f"{last}: {found}; to write the gold standard there, put -o before it")


def refuse_inside(outputs: Iterable[Path], paths: Sequence[Path]) -> None:
    """Refuse results in the folder of the annotators, where the next call would find them among theirs."""
    if not is_one_folder(paths):
        return
    for output in outputs:
        if output != STANDARD_OUTPUT and paths[0].resolve() in output.resolve().parents:
            raise InputError(
                f"{output}: found an output in the folder of the annotators, expected another folder: the "
                "next call would find it between their files"
            )


def _left_out(folder: Path, found: Sequence[Path]) -> list[Finding]:
    """Return what is in a folder and was not read: review files, which are results, and anything else."""
    from caspr.corpus.inputs.folders import walk
    from caspr.formats.review_file import is_review

    below = (folder / path for path in sorted(walk(folder)))
    unread = [path for path in below if not any(one in (path, *path.parents) for one in found)]
    unread += (path for path in sorted(folder.iterdir()) if path.is_file() and is_backup(path))
    reviews = [path for path in unread if is_review(path) and not is_backup(path)]
    findings = list(unread_findings(folder, [path for path in unread if path not in reviews]))
    if reviews:
        names = ", ".join(path.relative_to(folder).as_posix() for path in reviews)
        message = f"{times(len(reviews), 'review file')} left out, as a result of an adjudication: {names}"
        findings.append(note("review-files", message, count=len(reviews), where=str(folder)))
    return findings


def _has_several_annotators(file: Path, reading: dict[str, Any]) -> bool:
    return len({annotation.annotator for annotation in read_one(file, **reading)}) > 1


def _files(folder: Path) -> list[Path]:
    """List the files of a folder that hold annotations; review files are results."""
    from caspr.formats.review_file import is_review

    shown = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
    work = (path for path in shown if not is_backup(path) and not is_of_a_desktop(path))
    return [path for path in work if recognise(path) is not None and not is_review(path)]


def _folders(folder: Path) -> list[Path]:
    """List the folders of annotators, without those in which a tool keeps its own files."""
    from caspr.corpus.inputs.folders import holds_only_parts

    shown = (path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith("."))
    return [path for path in shown if not holds_only_parts(path)]


def _by_document(folders: Sequence[Path], reading: dict[str, Any]) -> Given:
    """Read a folder for each document, with a file for each annotator."""
    annotators: dict[str, list[Annotation]] = defaultdict(list)
    for folder in folders:
        for annotation in (one for given in read_all(_files(folder), **reading) for one in given):
            document = annotation.document
            if is_named_after_file(document):
                document = replace(document, name=with_number(folder.name, document.nameless))
            annotators[annotation.annotator].append(replace(annotation, document=document))
    return list(annotators.values())
