"""Jobs and outcomes: what is sent to a worker process, and what it sends back.

A job names the files of one document; `contents`, `fingerprint`, `annotations` and `documents` say what is in
them. All paths are relative to the corpus folder. A worker on another machine puts the content it was sent
into a folder of its own under the same paths, so that messages and results have the same bytes everywhere.
"""

import hashlib
import json
import os
import pickle
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from caspr import __version__
from caspr.adjudication import by_document
from caspr.errors import InputError
from caspr.formats.format import Reading
from caspr.formats.registry import is_named_after_file, read_piece
from caspr.formats.sources import by_annotator, read_one
from caspr.task.settings import Settings
from caspr.task.stored_settings import write_settings
from caspr.text.coverage import Coverage, CoverageTable
from caspr.text.document import Annotation
from caspr.text.findings import Finding

FAILED = "failed"
"""The status of a document for which there is no result."""
LEFT_OUT = "left out"
"""The status of a document that only one annotator has."""
KILL_AFTER = 3600.0
"""Seconds after which the worker of a document without a time limit is killed."""


class DocumentPiece(NamedTuple):
    """A range of bytes of a file that holds many documents."""

    offset: int
    length: int
    line: int
    """The number of its first line in the annotator's own file; 0 if it is in the spool."""
    format: str
    """The format that reads it; empty for a pickled annotation, or for what is wrong with one."""


@dataclass(frozen=True)
class Source:
    """Where one annotator's annotation of a document is."""

    annotator: str
    path: str
    """The file, relative to the corpus folder."""
    companions: tuple[str, ...] = ()
    """Files that are read with it, such as the text beside annotations, and others of the same name."""
    pieces: tuple[DocumentPiece, ...] = ()
    """The pieces that belong to the document; none if the whole file does."""
    spool: str = ""
    """The file that holds the pieces, if not the annotator's own."""


_WRITING = ("target", "layout", "every", "certificate", "report", "feedback", "strict")


@dataclass(frozen=True)
class Options:
    """How every document is adjudicated, and what is written about it."""

    settings: Settings = field(default_factory=Settings)
    reading: Reading = field(default_factory=Reading)
    target: str | None = None
    """The format of golds; `None` for that of the first annotator's file."""
    layout: str = "gold"
    every: bool = False
    certificate: bool = False
    report: bool = False
    feedback: bool = False
    strict: bool = False
    kill_after: float | None = None
    """Seconds after which a worker is killed; by default well after the time limit."""

    @property
    def patience(self) -> float:
        """Seconds until the worker of a document is killed; an engine that keeps its time limit never is."""
        if self.kill_after is not None:
            return self.kill_after
        seconds = self.settings.limits.seconds
        return KILL_AFTER if seconds is None else 2 * seconds + 30

    def values(self) -> dict[str, Any]:
        """Return everything that a result depends on, as JSON values."""
        return {
            **write_settings(replace(self.settings, coverage=self._coverage)),
            **self._not_concrete(),
            "solutions": self.settings.limits.solutions,
            "prices": self.settings.prices,
            "solver_option": self.settings.limits.solver_options,
            "reading": asdict(self.reading),
            **{name: getattr(self, name) for name in _WRITING},
        }

    @property
    def _coverage(self) -> Coverage | Literal["marks"] | None:
        """What was seen, where that does not depend on the document."""
        coverage = self.settings.coverage
        return None if isinstance(coverage, CoverageTable) else coverage

    def _not_concrete(self) -> dict[str, Any]:
        """Return what settings say about annotators and documents by name, before a document is read."""
        coverage = self.settings.coverage
        rows = coverage.rows if isinstance(coverage, CoverageTable) else ()
        return {
            "weight": [[who.annotator, who.numerator, who.denominator] for who in self.settings.factors],
            "coverage_rows": [[row.annotator, row.document, row.span] for row in rows],
        }


@dataclass(frozen=True)
class Job:
    """One document to adjudicate."""

    document: str
    """Its name in the corpus, after which its files are named."""
    sources: tuple[Source, ...]
    root: str
    options: Options
    annotators: int = 0
    """How many annotators should have it; 0 if that is not known."""
    contents: Mapping[tuple[str, int], bytes] | None = None
    """The content of all files and pieces by path and offset, for a worker without access to the folder."""
    version: str = __version__


@dataclass(frozen=True)
class JobOutcome:
    """The result of a job."""

    document: str
    rows: tuple[Mapping[str, Any], ...] = ()
    """A summary of each document in the files, as JSON values; usually one."""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """What to write, by path below the output folder."""
    spent: bool = False
    """Whether the worker is dead or must be replaced."""

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return any(row["status"] == FAILED for row in self.rows)


def failure(document: str, reason: str, *, spent: bool = False) -> JobOutcome:
    """Make the outcome of a job that failed."""
    return JobOutcome(document, ({"name": document, "status": FAILED, "reason": reason},), spent=spent)


Contents = Mapping[tuple[str, int], bytes]
"""Bytes by path and offset."""


def contents(job: Job) -> dict[tuple[str, int], bytes]:
    """Return the content of all files and pieces of a job; what cannot be read is missing."""
    contents: dict[tuple[str, int], bytes] = {}
    for source in job.sources:
        for path in (source.path, *source.companions):
            try:
                contents.update(_content(Path(job.root, source.spool or path), path, source.pieces))
            except OSError:
                continue
    return contents


def _content(file: Path, path: str, pieces: tuple[DocumentPiece, ...]) -> dict[tuple[str, int], bytes]:
    if not pieces:
        return {(path, 0): file.read_bytes()}
    with file.open("rb") as stream:
        return {(path, piece.offset): _piece(stream, piece) for piece in pieces}


def _piece(stream: IO[bytes], piece: DocumentPiece) -> bytes:
    stream.seek(piece.offset)
    return stream.read(piece.length)


def fingerprint(job: Job, contents: Contents, asked: Mapping[str, Any]) -> str:
    """Return a hash of everything the outcome depends on: inputs, version, and the values of the options."""
    digest = hashlib.sha256()
    head = [job.version, job.document, job.annotators, asked]
    digest.update(json.dumps(head, sort_keys=True).encode())
    for source in job.sources:
        digest.update(json.dumps([source.annotator, source.path, source.companions]).encode())
    # Offsets are left out: a document that only moved within its file has not changed.
    for (path, _), data in contents.items():
        digest.update(f"{path} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def annotations(job: Job) -> list[list[Annotation]]:
    """Read the work of each annotator; the working folder must be that of `input_folder`."""
    read = [_read(job, source) for source in job.sources]
    files = by_annotator(read, [source.annotator for source in job.sources])
    documents = [annotation.document for file in files for annotation in file]
    unnamed = any(map(is_named_after_file, documents))
    unlike = len({document.name for document in documents}) > 1
    if all(len(file) == 1 for file in files) and (unlike or unnamed):
        # Where documents are named after files, the folder shows that they are the same document.
        return [[replace(file[0], document=replace(file[0].document, name=job.document))] for file in files]
    return files


def documents(
    job: Job, files: Sequence[Sequence[Annotation]] | None = None
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Return the annotations of each document of a job, and what is odd about them.

    `files` are its `annotations`, if they were read before.
    """
    work = annotations(job) if files is None else files
    # A document of a corpus may be without chains, unless its files hold something that was not read.
    unread = any(annotation.document.layers for file in work for annotation in file)
    return by_document(work, allow_gold=job.options.reading.options.allow_gold, allow_empty=not unread)


@contextmanager
def input_folder(job: Job) -> Iterator[None]:
    """Work in the corpus folder, or in a new one that holds what was sent."""
    if job.contents is None:
        os.chdir(job.root)
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _unpack(job)
            yield
        finally:
            os.chdir("/")


def _unpack(job: Job) -> None:
    for source in job.sources:
        if source.pieces:
            continue
        for path in (source.path, *source.companions):
            data = (job.contents or {}).get((path, 0))
            if data is not None and not (Path(path).is_absolute() or ".." in Path(path).parts):
                _write(Path(path), data)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        where = f"the folder for temporary files on {platform.node()}"
        raise InputError(f"{path}: cannot be put into {where}: {error.strerror}; make room there") from error


def _read(job: Job, source: Source) -> list[Annotation]:
    reading = job.options.reading
    if not source.pieces:
        path = Path(source.path)
        return read_one(path, source.annotator, format=reading.format, options=reading.options)
    contents = job.contents
    if contents is None:
        try:
            contents = _content(Path(source.spool or source.path), source.path, source.pieces)
        except OSError as error:
            raise InputError(f"{source.path}: cannot read: {error.strerror}") from error
    return [
        annotation
        for piece in source.pieces
        for annotation in _parse(contents[source.path, piece.offset], piece, source, reading)
    ]


def _parse(data: bytes, piece: DocumentPiece, source: Source, reading: Reading) -> list[Annotation]:
    """Read one document out of a large file; messages name the lines of the file."""
    if piece.format:
        path, who = Path(source.path), source.annotator
        return read_piece(piece.format, path, data, annotator=who, line=piece.line, options=reading.options)
    annotation = pickle.loads(data)
    if isinstance(annotation, str):
        raise InputError(annotation)
    return [annotation]
