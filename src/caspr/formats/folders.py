"""What folders of annotations hold: which part of a path names the document, and which the annotator.

    document     IN/document/annotator.ext     one folder for each document
    annotator    IN/annotator/document.ext     one folder for each annotator
    file         IN/annotator.ext              one file for each annotator, with many documents in it

Deeper folders are part of the document's name. Where the layout is not given, `detect_layout` finds it by
reading some files: those of one document have the same words. A project may be a folder in place of a file.

`walk` yields the files that are documents, without those that only belong to documents. Links to folders are
followed, unless they lead back to a folder above. Pipes and devices are skipped. `read_folder` reads one
folder that holds the work of all annotators in one of these layouts; a corpus is read document by document.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

from caspr.errors import CasprError, InputError
from caspr.formats import read_all, read_options
from caspr.formats.format import Reading
from caspr.formats.naming import is_backup, is_of_a_desktop, with_number
from caspr.formats.registry import (
    FORMATS,
    folder_format,
    is_named_after_file,
    project_suffixes,
    recognise,
    without_suffix,
)
from caspr.formats.review_file.project import NAME
from caspr.formats.review_file.review import is_review
from caspr.formats.sources import read_one, unread_findings, with_findings
from caspr.text.arguments import path_of
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times


def walk(folder: Path, pattern: str = "*") -> Iterator[str]:
    """Yield the paths below a folder of all documents that match, in no order.

    Hidden files are left out, and files that only belong to others: texts beside annotations, parts of
    projects, settings of annotation tools.
    """
    waiting: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [("", (), ())]
    while waiting:
        here, parts, links = waiting.pop()
        parts = parts or _project_parts(folder / here)
        with opened(folder / here) as entries:
            for entry in entries:
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.name.startswith("."):
                    continue
                if is_folder(entry):
                    if (followed := _followed(entry, links)) is not None:
                        waiting.append((path, parts, followed))
                elif is_taken(entry, pattern) and not is_part(folder / path, parts):
                    yield path


def _followed(entry: "os.DirEntry[str]", links: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the folders that links led to, with this one; `None` if it leads back to a folder above."""
    if not entry.is_symlink():
        return links
    real = os.path.realpath(entry.path)
    above = os.path.realpath(Path(entry.path).parent)
    back = real in links or Path(above).is_relative_to(real)
    return None if back else (*links, real)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself is a file that cannot be read.
        return False


def is_taken(entry: "os.DirEntry[str]", pattern: str) -> bool:
    """Return whether an entry matches and is a file; pipes and devices, which might never end, are not."""
    if not fnmatchcase(entry.name, pattern):
        return False
    try:
        return entry.is_file() or not Path(entry.path).exists()
    except OSError:
        return True


def _project_parts(folder: Path) -> tuple[str, ...]:
    """Return the suffixes of files that belong to a project in a folder, if there is one."""
    with opened(folder) as entries:
        names = [entry.name for entry in entries]
    return tuple(
        suffix
        for format in FORMATS.values()
        if format.project_suffixes and any(name.endswith(format.suffixes) for name in names)
        for suffix in format.project_suffixes
    )


def is_part(path: Path, parts: Sequence[str] = ()) -> bool:
    """Return whether a file only belongs to others; `parts` are the suffixes of files of a project."""
    name = path.name.lower()
    return (
        path.suffix in parts
        or is_of_a_desktop(path)
        or is_backup(path)
        or name in _settings_files()
        or any(path.with_suffix(suffix).is_file() for suffix in _leading(path.suffix))
    )


@cache
def _settings_files() -> frozenset[str]:
    """Return the names of all files that hold settings of annotation tools."""
    return frozenset(name for format in FORMATS.values() for name in format.settings_files)


@cache
def _leading(suffix: str) -> tuple[str, ...]:
    """Return the suffixes of files to which one of the same name with this suffix belongs."""
    leading = (format.suffixes for format in FORMATS.values() if suffix in format.companion_suffixes)
    return tuple(chain.from_iterable(leading))


def holds_only_parts(folder: Path) -> bool:
    """Return whether there are files below a folder, and all of them only belong to others."""
    return any(path.is_file() for path in folder.rglob("*")) and not any(walk(folder))


def opened(folder: Path) -> "os._ScandirIterator[str]":
    """List a folder, or raise why that is not possible."""
    try:
        return os.scandir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error


LAYOUTS = ("document", "annotator", "file")
_SAMPLES = 6
"""How many folders are looked into."""
_FILES = 200
"""How many files of each are looked for."""
_ENTRIES = 10_000
"""How many entries of the corpus folder are looked at."""
_Samples = Mapping[str, Mapping[str, str]]
"""Paths of files in each folder, by what they would be called as files."""


def is_text(path: str) -> bool:
    """Return whether the name of a file is UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def refused_name(path: str) -> tuple[str, str]:
    """Return a name that can be shown in place of one that is not UTF-8, and what is wrong with it."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return shown, f"{shown}: this file name is not UTF-8: rename it"


def place(path: str, layout: str) -> tuple[str, str]:
    """Return the document and the annotator that a path names.

    >>> place("news/d1/ann.conll", "document"), place("ann/news/d1.conll", "annotator")
    (('news/d1', 'ann'), ('news/d1', 'ann'))
    """
    parts = PurePosixPath(path).with_name(without_suffix(PurePosixPath(path))).parts
    if layout == "document":
        return "/".join(parts[:-1]), parts[-1]
    return "/".join(parts[1:]), parts[0]


def are_in_folders(paths: Iterable[str]) -> bool:
    """Return whether the projects among the paths of a corpus are folders in place of files.

    They are if each is alone in its folder, and that is not a folder of the corpus folder itself. The paths
    must come folder by folder.

    >>> are_in_folders(["d1/ann/x.mmax", "d1/bob/x.mmax"]), are_in_folders(["d1/ann.mmax", "d1/bob.mmax"])
    (True, False)
    """
    last = None
    suffixes = project_suffixes()
    for path in paths:
        if path.endswith(suffixes):
            folder = path.rpartition("/")[0]
            if folder == last or "/" not in folder:
                return False
            last = folder
    return last is not None


def as_file(path: str) -> str:
    """Return the path that a project that is a folder would have as a file; any other path as it is.

    >>> as_file("d1/ann/x.mmax"), as_file("d1/ann.conll")
    ('d1/ann.mmax', 'd1/ann.conll')
    """
    folder, suffix = path.rpartition("/")[0], PurePosixPath(path).suffix
    return f"{folder}{suffix}" if path.endswith(project_suffixes()) else path


def detect_layout(folder: Path, pattern: str = "*", reading: Reading | None = None) -> str:
    """Find the layout of a corpus by looking."""
    folders, files = _entries(folder, pattern)
    if any(file.endswith(project_suffixes()) for file in files):
        return "file"
    if not folders:
        if not files:
            raise InputError(f"{folder}: there are no files in it")
        return "file"
    # Others, such as a README, are not read, which the plan says.
    annotated = next((folder / file for file in files if _is_annotated(folder / file)), None)
    if annotated is not None:
        raise InputError(
            f"{annotated}: this file of annotations is beside folders, not in the folder of a document or an "
            "annotator: move it into one, or away, or say --by document or --by annotator"
        )
    paths_in = {name: list(islice(walk(folder / name, pattern), _FILES)) for name in folders}
    below = (f"{name}/{path}" for name in paths_in for path in paths_in[name])
    called = as_file if are_in_folders(below) else str
    samples = {name: {called(path): path for path in paths} for name, paths in paths_in.items()}
    words = partial(_words, reading=reading or Reading())
    inside, across = _inside(folder, samples, words), _across(folder, samples, words)
    if inside == across:
        raise InputError(
            f"{folder}: its folders may be documents or annotators, as no two files have the same words: say "
            "--by document or --by annotator"
        )
    return "document" if inside > across else "annotator"


def _is_annotated(path: Path) -> bool:
    """Return whether a file has a known format; one that cannot be read has none."""
    try:
        return recognise(path) is not None
    except InputError:
        return False


def _entries(folder: Path, pattern: str) -> tuple[list[str], list[str]]:
    """Return some folders in a folder, and some files."""
    with opened(folder) as entries:
        shown = [entry for entry in islice(entries, _ENTRIES) if not entry.name.startswith(".")]
    folders = sorted(entry.name for entry in shown if is_folder(entry))
    files = sorted(
        entry.name
        for entry in shown
        if not is_folder(entry) and is_taken(entry, pattern) and not is_part(folder / entry.name)
    )
    return folders[:_SAMPLES], files


def _inside(folder: Path, samples: _Samples, words: Callable[[Path], object]) -> int:
    """Count how often two files of one folder have the same words."""
    same = 0
    for name, paths in samples.items():
        groups: dict[PurePosixPath, list[Path]] = {}
        for called in sorted(paths):
            groups.setdefault(PurePosixPath(called).parent, []).append(folder / name / paths[called])
        pair = next((group[:2] for group in groups.values() if len(group) > 1), None)
        same += pair is not None and words(pair[0]) == words(pair[1])
    return same


def _across(folder: Path, samples: _Samples, words: Callable[[Path], object]) -> int:
    """Count how often two files of one name in two folders have the same words."""
    first, *others = samples
    pairs = (
        (folder / first / path, twin)
        for name in others
        for called, path in sorted(samples[first].items())
        if (twin := folder / name / samples[name].get(called, path)).is_file()
    )
    return sum(words(path) == words(twin) for path, twin in islice(pairs, _SAMPLES))


def _words(path: Path, reading: Reading) -> object:
    """Return the letters of a file; a file that cannot be read is like no other.

    Where words are cut may depend on what was marked.
    """
    try:
        annotations = read_one(path, format=reading.format, options=reading.options)
        return ["".join(annotation.document.tokens) for annotation in annotations]
    except CasprError:
        return object()


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
    """Return whether files of one folder say that they are one document: it is not an annotator's then."""
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
