"""What a format is: one record that says how its files are named, recognised, read and written.

    formats/NAME/__init__.py    ...    FORMAT = Format(name="NAME", suffixes=(".name",), detect=detect, ...)

The record is made at the end of the format's own package, and `registry.FORMATS` names the package. All
other code asks the record what a format can do and holds no name of a format. Only the first six fields
are required; the defaults fit a format with one document of one annotator in one file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from caspr.errors import FormatError
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation
from caspr.text.findings import Finding

Files = Mapping[str, str | bytes]
"""Files by name."""
Content = str | Files
"""The text of one file, or files by name."""
Each = tuple[str, Annotation | FormatError]
"""A document's name, with its annotation or with what is wrong with it."""


class Stretch(NamedTuple):
    """A document that is a stretch of its file."""

    document: str
    """Its name."""
    offset: int
    """Where it begins, in bytes."""
    length: int
    """How many bytes it has."""
    line: int
    """The number of its first line."""


class Extract(NamedTuple):
    """A document that was copied out of its file."""

    document: str
    """Its name."""
    content: bytes
    """A small file that holds it alone."""


@dataclass(frozen=True, eq=False)
class Cutting:
    """How a large file is cut into documents without reading them, so that each is read on its own."""

    cut: Callable[[Path, ReadOptions], Iterator[Stretch | Extract]]
    """Yield the documents of a file."""
    read: Callable[[Path, bytes, str, int, ReadOptions], list[Annotation]]
    """Read the content of one: the path for messages, the content, the annotator, its first line (0 for an
    extract), the options."""


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of a format that has several kinds of file, such as XML and JSON."""

    by_suffix: Mapping[str, str]
    """For each suffix of the format, the suffix that files of its form are written with."""
    write: Callable[[Iterable[Annotation], str], Files]
    """Write a file for each document, in the form of a suffix if that is possible."""


def whole(found: Iterable[Each]) -> list[Annotation]:
    """Return all annotations of a file, or raise what is wrong with the first that is malformed."""
    annotations = []
    for _, one in found:
        if isinstance(one, FormatError):
            raise one
        annotations.append(one)
    return annotations


def _alone(path: Path) -> list[Path]:  # noqa: ARG001
    return []


def _never(path: Path) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, eq=False)
class Format:
    """A format of annotations."""

    name: str
    """What users call it, and the name of its package."""
    suffixes: tuple[str, ...]
    """How names of its files end, in lower case; new files get the first. No two formats share one."""
    detect: Callable[[Path, str], bool]
    """Return whether a file has this format, from its path and the beginning of its text."""
    read: Callable[[Path, str | None, ReadOptions | None], list[Annotation]]
    """Read a file: an annotation for each document and annotator in it. An annotator whom the file does
    not name has the name that is given, else that of the file."""
    write: Callable[[Iterable[Annotation]], Content]
    """Return the text of one file with all documents, or several files by name. A `*` at the beginning of
    a name stands for the name of the output without its suffix."""
    losses: Callable[[Annotation], tuple[Finding, ...]]
    """Return what of an annotation the format cannot carry."""

    many_documents: bool = False
    """Whether a file holds any number of documents, each named in it; otherwise one, named after the
    file."""
    many_annotators: bool = False
    """Whether a file may hold the work of several annotators, each named in it."""
    writes_any: bool = True
    """Whether any annotation can be written; otherwise only those that were read from this format."""
    vague_suffixes: tuple[str, ...] = ()
    """Those of `suffixes` that other kinds of files have, too: in a folder, such a file has this format
    only if `detect` says so."""
    shared_suffixes: tuple[str, ...] = ()
    """Other suffixes that its files may have, which belong to another format: they are written under such a
    name if they were read from this format, or if the user names it."""
    read_only: bool = False
    """Whether nothing is written in this format: golds are written as CoNLL unless another is named."""
    forms: Forms | None = None
    """The forms of file, if there are several."""
    packed: bool = False
    """Whether its files are read if they are packed by gzip, too."""

    companions: Callable[[Path], list[Path]] = _alone
    """Return the other files that are read with a file, as far as they exist."""
    companion_suffixes: tuple[str, ...] = ()
    """Suffixes of files that belong to the file of the same name beside them, and are no documents."""
    project_suffixes: tuple[str, ...] = ()
    """Suffixes of files that belong to a file in their folder or above it, and are no documents. With
    any, each document is a project that fills a folder: the folder may stand for it, and a gold gets one
    of its own."""
    settings_files: tuple[str, ...] = ()
    """Names, in lower case, of files that tools for the format put beside documents."""
    detect_folder: Callable[[Path], bool] = _never
    """Return whether a folder is one file of this format that was unpacked, such as an archive."""
    is_no_annotator: Callable[[Path], bool] = _never
    """Return whether a file belongs to such a folder and is nobody's work."""

    read_each: Callable[[Path, str | None, ReadOptions | None], Iterator[Each]] | None = None
    """Read a file of many documents one by one, so that a malformed one does not affect the others;
    `None` if it is read by `read`, whole or not at all."""
    cutting: Cutting | None = None
    """How a file of many documents is cut; `None` if it must be read to find them."""
    write_apart: Callable[[Iterable[Annotation]], Files] | None = None
    """Write a file for each document, for a format whose `write` makes one archive of all: golds of a
    corpus are written like this. `None` for all other formats."""
