"""Layouts of corpora: which part of a path names the document, and which the annotator.

    document     IN/document/annotator.ext     one folder for each document
    annotator    IN/annotator/document.ext     one folder for each annotator
    file         IN/annotator.ext              one file for each annotator, with many documents in it

Deeper folders are part of the document's name. Where the layout is not given, it is found by reading
some files: those of one document have the same words. A project may be a folder in place of a file.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from caspr.corpus.inputs.folders import is_folder, is_part, is_taken, opened, walk
from caspr.corpus.job import Reading
from caspr.errors import CasprError, InputError
from caspr.formats.registry import project_suffixes, recognise, without_suffix
from caspr.formats.sources import read_one

LAYOUTS = ("document", "annotator", "file")
"""All layouts by name."""
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
    return shown, f"{shown}: found a file name that is not UTF-8, expected one that is: rename it"


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
    """Return what a project that is a folder would be called as a file; any other path as it is.

    >>> as_file("d1/ann/x.mmax"), as_file("d1/ann.conll")
    ('d1/ann.mmax', 'd1/ann.conll')
    """
    folder, suffix = path.rpartition("/")[0], PurePosixPath(path).suffix
    return f"{folder}{suffix}" if path.endswith(project_suffixes()) else path


def detect(folder: Path, pattern: str = "*", reading: Reading | None = None) -> str:
    """Find the layout of a corpus by looking."""
    folders, files = _entries(folder, pattern)
    if any(file.endswith(project_suffixes()) for file in files):
        return "file"
    if not folders:
        if not files:
            raise InputError(f"{folder}: found no files, expected those of a corpus")
        return "file"
    # Others, such as a README, are not read, which the plan says.
    annotated = next((folder / file for file in files if _is_annotated(folder / file)), None)
    if annotated is not None:
        raise InputError(
            f"{annotated}: found a file of annotations beside folders, expected it in one folder for each "
            "document or annotator; move it into one, or away, or say --by document or --by annotator"
        )
    found = {name: list(islice(walk(folder / name, pattern), _FILES)) for name in folders}
    called = as_file if are_in_folders(f"{name}/{path}" for name in found for path in found[name]) else str
    samples = {name: {called(path): path for path in paths} for name, paths in found.items()}
    words = partial(_words, reading=reading or Reading())
    inside, across = _inside(folder, samples, words), _across(folder, samples, words)
    if inside == across:
        raise InputError(
            f"{folder}: found no sign of what its folders are, expected the same words in files of one "
            "document; say --by document or --by annotator"
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
    found = (
        (folder / first / path, other)
        for name in others
        for called, path in sorted(samples[first].items())
        if (other := folder / name / samples[name].get(called, path)).is_file()
    )
    return sum(words(one) == words(other) for one, other in islice(found, _SAMPLES))


def _words(path: Path, reading: Reading) -> object:
    """Return the letters of a file; a file that cannot be read is like no other.

    Where words are cut may depend on what was marked.
    """
    try:
        found = read_one(path, format=reading.format, options=reading.options)
        return ["".join(annotation.document.tokens) for annotation in found]
    except CasprError:
        return object()
