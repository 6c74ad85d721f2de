"""Formats: files to annotations and back, one module for each format.

Each format is a module with the same free functions, `read` and `write`; to add one, write such a module
and name it in `FORMATS`. The review layout is not in the table: it holds all annotators at once, and the
adjudicator's decisions, and has its own functions in `formats.review`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from caspr.document import Annotation
from caspr.errors import InputError
from caspr.files import write_atomically
from caspr.formats import conll


class Format(Protocol):
    """What a format's module offers."""

    def read(self, path: Path, annotator: str | None = None) -> list[Annotation]:
        """Read one annotator's file."""

    def write(self, annotations: Iterable[Annotation]) -> str:
        """Return the text of a file."""


FORMATS: Mapping[str, Format] = {"conll": conll}
"""All formats by name."""


def read(path: str | Path, annotator: str | None = None, *, format: str = "conll") -> list[Annotation]:
    """Read one annotator's file: an annotation for each document in it.

    The annotator is named after the file unless a name is given.
    """
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[format].read(Path(path), annotator)


def read_all(paths: Sequence[Path]) -> list[list[Annotation]]:
    """Read one file per annotator, giving each annotator a name of its own."""
    for number, path in enumerate(paths):
        refuse_twice(path, paths[:number])
    return [read(path, name) for path, name in zip(paths, annotator_names(paths), strict=True)]


def annotator_names(paths: Sequence[Path]) -> list[str]:
    """Name annotators by file name, or by as much of the path as tells them apart.

    >>> annotator_names([Path("ann/doc.conll"), Path("bob/doc.conll"), Path("eve.conll")])
    ['ann/doc', 'bob/doc', 'eve']
    >>> annotator_names([Path("ann.conll"), Path("ann.txt")])
    ['ann.conll', 'ann.txt']
    """
    parts = [(*path.parts[:-1], path.stem) for path in paths]
    names = [path.stem for path in paths]
    for length in range(2, max(map(len, parts), default=0) + 1):
        longer = ["/".join(part[-length:]) for part in parts]
        names = _told_apart(names, longer)
    return _told_apart(names, [str(path) for path in paths])


def _told_apart(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Replace the names that are not unique by longer ones."""
    counts = Counter(names)
    return [more if counts[name] > 1 else name for name, more in zip(names, longer, strict=True)]


def refuse_twice(path: Path, others: Iterable[Path]) -> None:
    """Raise `InputError` if a file is among those already given, which would count its votes twice."""
    for other in others:
        with suppress(OSError):
            if path.samefile(other):
                raise InputError(f"{path}: found the same file as {other}, expected each annotator once")


def write(annotations: Iterable[Annotation], path: str | Path, *, format: str = "conll") -> None:
    """Write annotations, such as the golds of results, to one file, whole or not at all."""
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    write_atomically(Path(path), FORMATS[format].write(annotations))
