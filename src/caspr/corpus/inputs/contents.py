"""Inputs of a job: their content, a fingerprint of it, and the annotations in it, on this machine or another.

All paths are relative to the corpus folder. A worker on another machine puts the content it was sent into a
folder of its own under the same paths, so that messages and results have the same bytes everywhere.
"""

import hashlib
import json
import os
import pickle
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from caspr.adjudication import by_document
from caspr.corpus.job import DocumentPiece, Job, Reading, Source
from caspr.errors import InputError
from caspr.formats.registry import is_named_after_file, read_piece
from caspr.formats.sources import by_annotator, read_one
from caspr.text.document import Annotation
from caspr.text.findings import Finding

Contents = Mapping[tuple[str, int], bytes]
"""Bytes by path and offset."""


def contents(job: Job) -> dict[tuple[str, int], bytes]:
    """Return the content of all files and pieces of a job; what cannot be read is missing."""
    found: dict[tuple[str, int], bytes] = {}
    for source in job.sources:
        for path in (source.path, *source.companions):
            try:
                found.update(_content(Path(job.root, source.spool or path), path, source.pieces))
            except OSError:
                continue
    return found


def _content(file: Path, path: str, pieces: tuple[DocumentPiece, ...]) -> dict[tuple[str, int], bytes]:
    if not pieces:
        return {(path, 0): file.read_bytes()}
    with file.open("rb") as stream:
        return {(path, piece.offset): _piece(stream, piece) for piece in pieces}


def _piece(stream: IO[bytes], piece: DocumentPiece) -> bytes:
    stream.seek(piece.offset)
    return stream.read(piece.length)


def fingerprint(job: Job, given: Contents) -> str:
    """Return a hash of everything the outcome depends on: inputs, options and version."""
    digest = hashlib.sha256()
    head = [job.version, job.document, job.annotators, job.options.values()]
    digest.update(json.dumps(head, sort_keys=True).encode())
    for source in job.sources:
        digest.update(json.dumps([source.annotator, source.path, source.companions]).encode())
    # Offsets are left out: a document that only moved within its file has not changed.
    for (path, _), data in given.items():
        digest.update(f"{path} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def annotations(job: Job) -> list[list[Annotation]]:
    """Read the work of each annotator; the working folder must be that of `input_folder`."""
    given = [_read(job, source) for source in job.sources]
    files = by_annotator(given, [source.annotator for source in job.sources])
    found = [annotation.document for file in files for annotation in file]
    unnamed = any(map(is_named_after_file, found))
    if all(len(file) == 1 for file in files) and (len({one.name for one in found}) > 1 or unnamed):
        # Where documents are named after files, the folder shows that they are the same one.
        return [[_named(file[0], job.document)] for file in files]
    return files


def documents(
    job: Job, files: Sequence[Sequence[Annotation]] | None = None
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Return the annotations of each document of a job, and what is odd about them.

    `files` are its `annotations`, if they were read before.
    """
    given = annotations(job) if files is None else files
    # A document of a corpus may be without chains, unless its files hold something that was not read.
    unread = any(one.document.layers for file in given for one in file)
    return by_document(given, allow_gold=job.options.reading.options.allow_gold, allow_empty=not unread)


def _named(annotation: Annotation, name: str) -> Annotation:
    return replace(annotation, document=replace(annotation.document, name=name))


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
        place = f"the folder for temporary files on {platform.node()}"
        raise InputError(f"{path}: cannot be put into {place}: {error.strerror}; make room there") from error


def _read(job: Job, source: Source) -> list[Annotation]:
    reading = job.options.reading
    if not source.pieces:
        path = Path(source.path)
        return read_one(path, source.annotator, format=reading.format, options=reading.options)
    given = job.contents
    if given is None:
        try:
            given = _content(Path(source.spool or source.path), source.path, source.pieces)
        except OSError as error:
            raise InputError(f"{source.path}: cannot read: {error.strerror}") from error
    return [
        annotation
        for piece in source.pieces
        for annotation in _parse(given[source.path, piece.offset], piece, source, reading)
    ]


def _parse(data: bytes, piece: DocumentPiece, source: Source, reading: Reading) -> list[Annotation]:
    """Read one document out of a large file; messages name the lines of the file."""
    if piece.format:
        path, who = Path(source.path), source.annotator
        return read_piece(piece.format, path, data, annotator=who, line=piece.line, options=reading.options)
    found = pickle.loads(data)
    if isinstance(found, str):
        raise InputError(found)
    return [found]
