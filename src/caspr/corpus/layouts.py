"""Layouts of corpora: which part of a path names the document, and which the annotator.

    document     IN/document/annotator.ext     one folder for each document
    annotator    IN/annotator/document.ext     one folder for each annotator
    file         IN/annotator.ext              one file for each annotator, with many documents in it

Deeper folders are part of the document's name. Where the layout is not said, it is found by looking into
some files: those of one document have the same words.
"""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

from caspr.errors import CasprError, InputError
from caspr.formats import read

LAYOUTS = ("document", "annotator", "file")
"""All layouts by name."""
_SAMPLES = 6
"""How many folders are looked into."""


def walk(folder: Path, pattern: str = "*") -> Iterator[str]:
    """Yield the paths below a folder of all files that match, hidden ones left out, in no order."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        with _opened(folder / here) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.is_dir():
                    waiting.append(path)
                elif fnmatchcase(entry.name, pattern):
                    yield _checked(path)


def _opened(folder: Path) -> "os._ScandirIterator[str]":
    try:
        return os.scandir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error


def _checked(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"{path!r}: found a file name that is not UTF-8, expected one that is") from None
    return path


def place(path: str, layout: str) -> tuple[str, str]:
    """Return the document and the annotator that a path names.

    >>> place("news/d1/ann.conll", "document"), place("ann/news/d1.conll", "annotator")
    (('news/d1', 'ann'), ('news/d1', 'ann'))
    """
    parts = PurePosixPath(path).with_suffix("").parts
    if layout == "document":
        return "/".join(parts[:-1]), parts[-1]
    return "/".join(parts[1:]), parts[0]


def detect(folder: Path, pattern: str = "*") -> str:
    """Find the layout of a corpus by looking."""
    paths = list(islice(walk(folder, pattern), 10_000))
    if not paths:
        raise InputError(f"{folder}: found no files, expected those of a corpus")
    flat = sum("/" not in path for path in paths)
    if flat == len(paths):
        return "file"
    if flat:
        stray = min(path for path in paths if "/" not in path)
        raise InputError(
            f"{folder / stray}: found a file beside folders, expected files in one folder for each document "
            "or annotator; move it away, or leave it out by --files"
        )
    inside, across = _sample(folder, sorted(paths))
    if inside == across:
        raise InputError(
            f"{folder}: found no sign of what its folders are, expected the same words in files of one "
            "document; say --by document or --by annotator"
        )
    return "document" if inside > across else "annotator"


def _sample(folder: Path, paths: Iterable[str]) -> tuple[int, int]:
    """Count how often two files of one folder, and two of one name in two folders, have the same words."""
    folders: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
        names.setdefault(place(path, "annotator")[0], []).append(path)
    return _same(folder, folders.values()), _same(folder, names.values())


def _same(folder: Path, groups: Iterable[list[str]]) -> int:
    pairs = (group[:2] for group in groups if len(group) > 1)
    return sum(_words(folder / one) == _words(folder / other) for one, other in islice(pairs, _SAMPLES))


def _words(path: Path) -> object:
    """Return the words of a file; a file that cannot be read is like no other."""
    try:
        return [annotation.document.tokens for annotation in read(path)]
    except CasprError:
        return object()
