"""What a format is: one record that says how its files are named, recognised, read and written.

    formats/NAME.py    ...    FORMAT = Format(name="NAME", suffixes=(".name",), detect=detect, ...)

The record is made at the end of the format's own module, and `registry.FORMATS` names it. All other code asks
the record what a format can do and holds no name of a format. Only the first six fields are required; the
defaults fit a format with one document of one annotator in one file.

After the record comes what several formats need: how text from a file is shown in a message (`quoted`), and
findings about what a format cannot carry of an annotation (`lost` and others), made before it is written.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from caspr.errors import FormatError
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, note, times, warning


@dataclass(frozen=True)
class ReadOptions:
    """Which parts of a file to read."""

    layer: str | None = None
    """The chain layer, annotation set or markable level to read, where there are several."""
    relations: tuple[str, ...] = ()
    """The relation types that mean coreference; empty for all whose name says so."""
    unfinished: bool = False
    """Whether annotators of a project archive who have not finished are read, too."""
    allow_gold: bool = False
    """Whether golds of earlier adjudications may vote beside annotators."""


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    format: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)


Files = Mapping[str, str | bytes]
Content = str | Files
"""The text of one file, or files by name."""
Each = tuple[str, Annotation | FormatError]
"""A document's name, with its annotation or with what is wrong with it."""


class Stretch(NamedTuple):
    """A document that is a stretch of its file."""

    document: str
    offset: int
    length: int
    line: int


class Extract(NamedTuple):
    """A document that was copied out of its file."""

    document: str
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


def whole(each: Iterable[Each]) -> list[Annotation]:
    """Return all annotations of a file, or raise what is wrong with the first that is malformed."""
    annotations = []
    for _, annotation in each:
        if isinstance(annotation, FormatError):
            raise annotation
        annotations.append(annotation)
    return annotations


def _alone(path: Path) -> list[Path]:  # noqa: ARG001
    return []


def _never(path: Path) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, eq=False)
class Format:
    """A format of annotations."""

    name: str
    """What users call it, and the name of its module unless several share one."""
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
    vague_suffixes: tuple[str, ...] = ()
    """Those of `suffixes` that other kinds of files have, too: in a folder, such a file has this format
    only if `detect` says so."""
    shared_suffixes: tuple[str, ...] = ()
    """Other suffixes that its files may have, which belong to another format: they are written under such a
    name if they were read from this format, or if the user names it."""
    forms: Forms | None = None
    """The forms of file, if there are several."""
    packed: bool = False
    """Whether its files are read if they are packed by gzip, too."""

    companions: Callable[[Path], list[Path]] = _alone
    """Return the other files that are read with a file, as far as they exist."""
    companion_suffixes: tuple[str, ...] = ()
    """Suffixes of files that belong to the file of the same name beside them, and are not documents."""
    project_suffixes: tuple[str, ...] = ()
    """Suffixes of files that belong to a file in their folder or above it, and are not documents. With
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


CUT_OFF = "; the file may be cut off: get or export it again"
"""What to do about a file that ends too early."""
JOINED = "; two files may have been joined: separate them"
"""What to do about a file that continues after its end."""


def quoted(text: str) -> str:
    """Show text from a file in a message: on one line, and not too much of it."""
    return repr(text if len(text) <= 60 else f"{text[:40]}...{text[-10:]}")


def lost(
    annotation: Annotation,
    *,
    labels: bool = False,
    gaps: bool = False,
    names: bool = False,
    types: bool = False,
    edges: bool = False,
    flags: bool = False,
) -> Iterator[Finding]:
    """Count what of an annotation is not written, apart from what the format can express.

    That may be labels and gaps of mentions, names and types of entities, words without characters at the
    edges of mentions, and flags.
    """
    yield from lost_flags(annotation, annotation.mentions if flags else ())
    annotator = annotation.annotator
    marks = [(span, mark) for span, mark in annotation.marks.items() if span in annotation.mentions]
    if not labels and (count := sum(bool(mark.label) for _, mark in marks)):
        yield note(
            "lost-labels", f"{times(count, 'label')} of mentions not written", count=count, where=annotator
        )
    if not gaps and (broken := sorted(span for span, mark in marks if mark.pieces)):
        example = quoted(annotation.document.text(broken[0]))
        message = (
            f"{times(len(broken), 'mention')} with gaps written as the span that covers it (first: {example})"
        )
        yield warning("covered-gaps", message, count=len(broken), where=annotator)
    if not edges:
        yield from _lost_edges(annotation)
    if not names and (count := sum(bool(chain.name) for chain in annotation.all_chains)):
        yield note(
            "lost-names", f"{times(count, 'name')} of entities not written", count=count, where=annotator
        )
    if not types and (count := sum(bool(chain.type) for chain in annotation.all_chains)):
        yield note(
            "lost-types", f"{times(count, 'type')} of entities not written", count=count, where=annotator
        )


def lost_flags(annotation: Annotation, carried: Collection[Span]) -> Iterator[Finding]:
    """Count the flags of mentions that are not written; those of some mentions are `carried`."""
    count = sum(len(mark.flags) for span, mark in annotation.marks.items() if span not in carried)
    if count:
        message = f"{times(count, 'flag')} of mentions not written"
        yield note("lost-flags", message, count=count, where=annotation.annotator)


def removed_mentions(annotation: Annotation, count: int) -> Iterator[Finding]:
    """Count the mentions of a file that are removed because they are in no chain, with their attributes."""
    if count:
        message = f"{times(count, 'mention')} of its file in no chain, not written"
        option = " (see --singletons)"
        yield note("removed-mentions", message, count=count, where=annotation.annotator, option=option)


def lost_empty(annotation: Annotation, name: str) -> Iterator[Finding]:
    """Count mentions without characters, which some programs do not accept."""
    text = annotation.document.text
    empty = [span for span in annotation.mentions if not text(span).strip()]
    if empty:
        message = f"{times(len(empty), 'mention')} without characters, which {name} does not show"
        yield warning("empty-mention", message, count=len(empty), where=annotation.annotator)


def _lost_edges(annotation: Annotation) -> Iterator[Finding]:
    """Count mentions with a word without characters at an end, which characters cannot express."""
    words = annotation.document.tokens
    edges = [
        span
        for span in annotation.mentions
        if annotation.document.text(span).strip()
        and not (words[span.start - 1].strip() and words[span.end - 1].strip())
    ]
    if edges:
        message = f"{times(len(edges), 'mention')} written without an empty word at its start or end"
        yield warning("lost-edges", message, count=len(edges), where=annotation.annotator)
