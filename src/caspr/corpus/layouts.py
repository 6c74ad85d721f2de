"""Layouts of corpora: which part of a path names the document, and which the annotator.

    document     IN/document/annotator.ext     one folder for each document
    annotator    IN/annotator/document.ext     one folder for each annotator
    file         IN/annotator.ext              one file for each annotator, with many documents in it

Deeper folders are part of the document's name. Where the layout is not said, it is found by looking into
some files: those of one document have the same words. An MMAX2 project may be a folder in place of a file.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from caspr.corpus.job import Reading
from caspr.errors import CasprError, InputError
from caspr.formats.annotators import read_one

_ASIDE = (
    *("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf", "typesystem.xml"),
    *("thumbs.db", "desktop.ini", "*~", "*.bak", "#*#"),
)
"""What brat and UIMA, desktops and editors put beside documents, in small letters."""
_MMAX = ".mmax"
_PROJECT = (".xml", ".dtd", ".xsl")
"""What the files of an MMAX2 project beside its `.mmax` are called."""
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


def walk(folder: Path, pattern: str = "*") -> Iterator[str]:
    """Yield the paths below a folder of all documents that match, in no order.

    Hidden files are left out, and files that only belong to others: texts beside annotations, parts of
    MMAX2 projects, settings of annotation tools.
    """
    waiting: list[tuple[str, bool, tuple[str, ...]]] = [("", False, ())]
    while waiting:
        here, project, links = waiting.pop()
        project = project or _has_project(folder / here)
        with _opened(folder / here) as entries:
            for entry in entries:
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    if (followed := _followed(entry, links)) is not None:
                        waiting.append((path, project, followed))
                elif _is_taken(entry, pattern) and not _is_part(folder / path, project=project):
                    yield path


def _followed(entry: "os.DirEntry[str]", links: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the folders that links led to, with this one; `None` if it leads back to where we come from."""
    if not entry.is_symlink():
        return links
    real = os.path.realpath(entry.path)
    above = os.path.realpath(Path(entry.path).parent)
    back = real in links or Path(above).is_relative_to(real)
    return None if back else (*links, real)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself is a file that cannot be read.
        return False


def _is_taken(entry: "os.DirEntry[str]", pattern: str) -> bool:
    """Tell whether an entry that is no folder matches, and is no pipe or device, which might never end."""
    if not fnmatchcase(entry.name, pattern):
        return False
    try:
        return entry.is_file() or not Path(entry.path).exists()
    except OSError:
        return True


def _has_project(folder: Path) -> bool:
    with _opened(folder) as entries:
        return any(entry.name.endswith(_MMAX) for entry in entries)


def _is_part(path: Path, *, project: bool) -> bool:
    """Tell whether a file only belongs to others, such as those of an MMAX2 project in its folder."""
    if any(fnmatchcase(path.name.lower(), pattern) for pattern in _ASIDE):
        return True
    if path.suffix == ".txt" and path.with_suffix(".ann").is_file():
        return True
    return project and path.suffix in _PROJECT


def _opened(folder: Path) -> "os._ScandirIterator[str]":
    try:
        return os.scandir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error


def is_text(path: str) -> bool:
    """Tell whether the name of a file is UTF-8."""
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
    parts = PurePosixPath(path).with_suffix("").parts
    if layout == "document":
        return "/".join(parts[:-1]), parts[-1]
    return "/".join(parts[1:]), parts[0]


def are_in_folders(paths: Iterable[str]) -> bool:
    """Tell whether the MMAX2 projects among the paths of a corpus are folders in place of files.

    They are if each is alone in its folder, and that is not a folder of the corpus folder itself. The paths
    must come folder by folder.

    >>> are_in_folders(["d1/ann/x.mmax", "d1/bob/x.mmax"]), are_in_folders(["d1/ann.mmax", "d1/bob.mmax"])
    (True, False)
    """
    last = None
    for path in paths:
        if path.endswith(_MMAX):
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
    return f"{path.rpartition('/')[0]}{_MMAX}" if path.endswith(_MMAX) else path


def detect(folder: Path, pattern: str = "*", reading: Reading | None = None) -> str:
    """Find the layout of a corpus by looking."""
    folders, files = _entries(folder, pattern)
    if any(file.endswith(_MMAX) for file in files):
        return "file"
    if not folders:
        if not files:
            raise InputError(f"{folder}: found no files, expected those of a corpus")
        return "file"
    if files:
        raise InputError(
            f"{folder / files[0]}: found a file beside folders, expected files in one folder for each "
            "document or annotator; move it away, or leave it out by --files"
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


def _entries(folder: Path, pattern: str) -> tuple[list[str], list[str]]:
    """Return some folders in a folder, and some files."""
    with _opened(folder) as entries:
        shown = [entry for entry in islice(entries, _ENTRIES) if not entry.name.startswith(".")]
    folders = sorted(entry.name for entry in shown if _is_folder(entry))
    files = sorted(
        entry.name
        for entry in shown
        if not _is_folder(entry)
        and _is_taken(entry, pattern)
        and not _is_part(folder / entry.name, project=False)
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
        found = read_one(path, format=reading.format, choices=reading.choices)
        return ["".join(annotation.document.tokens) for annotation in found]
    except CasprError:
        return object()
