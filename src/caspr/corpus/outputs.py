"""From outcomes to files: golds, review files and pages, written without losing changes made by hand.

File names are made from document names: safe, the same on every system, and different for different names.
Slashes make folders. Every character that is not a letter, a digit or harmless becomes `%` and its code; so
does a leading dot, so that no name leads out of the folder or is hidden, and what Windows forbids (`CON`, a
dot at the end). No document gets the name of a file that a run writes about all of them.

A file that changed since the last run wrote it is kept as a backup before it is replaced. A review file of a
project in which anything was decided, noted or called done belongs to its adjudicators: a later run neither
replaces nor removes it.

Waiting for the disk (fsync) takes longer than adjudicating a small document. So several threads write at the
same time, while the workers continue; how many documents are being written is limited. A document whose file
cannot be written, because a folder is in its place for example, has failed. An error that would affect all
documents, such as a full disk, ends the run. Review files are locked while they are written: one that is open
on a review page is left as it is, and its document has failed.
"""

import errno
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from caspr.corpus.job import Job, JobOutcome, failure
from caspr.errors import CasprError, InputError, OutputError
from caspr.formats import gold_files, review_file
from caspr.formats.registry import FORMATS, losses, output_format
from caspr.formats.review_file.project import (
    FOLDER,
    NAME,
    ProjectDocument,
    ProjectFile,
    project_text,
    read_project,
)
from caspr.result import Result
from caspr.storage import FileLock, back_up, portable_name, write_all
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_STRANGE = re.compile(r"[^\w .,+=@()~-]|^\.")
_LONGEST = 150


def file_name(name: str) -> str:
    """Return a relative path for a name.

    >>> file_name("bc/cctv_0001"), file_name("../a:b"), file_name(""), file_name("50%"), file_name("nul/x.")
    ('bc/cctv_0001', '%2E%2E/a%3Ab', '%', '50%25', '%6Eul/x%2E')
    """
    return "/".join(map(_part, name.split("/")))


def _part(part: str) -> str:
    safe = portable_name(_STRANGE.sub(lambda match: f"%{ord(match[0]):02X}", part)) or "%"
    if len(safe.encode()) <= _LONGEST:
        return safe
    digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{safe[: _LONGEST // 4]}%{digest}"


def digest(data: bytes) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(data).hexdigest()


class DocumentFiles(NamedTuple):
    """The files of one document, written."""

    hashes: Mapping[str, str]
    """The hash of each, by path below the output folder."""
    backups: tuple[Path, ...] = ()
    """Copies of earlier files that were changed since they were written."""
    kept: tuple[str, ...] = ()
    """Files of adjudicators, which were left as they are."""


def write_document_files(
    folder: Path, files: Mapping[str, str | bytes], earlier: Mapping[str, str]
) -> DocumentFiles:
    """Write the files of one document.

    `earlier` has the hashes of the files that the last run wrote. A file whose hash is another one now is
    kept as a backup, and so are all files of a document for which there are none any more.
    """
    encoded = (
        (name, text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        for name, text in files.items()
    )
    hashes = {name: digest(data) for name, data in encoded}
    backups: list[Path] = []
    while True:
        seen = {name: _hash_of(folder / name) for name in files}
        for name, present in seen.items():
            if present is not None and present not in (hashes[name], earlier.get(name)):
                backups.append(back_up(folder / name))
        changed = {name: files[name] for name, present in seen.items() if present != hashes[name]}
        try:
            _write(folder, changed, seen)
            break
        except _SavedMeanwhileError:
            continue
    for name in sorted(earlier.keys() - files.keys()):
        present = _hash_of(folder / name)
        if present is not None:
            if not files or present != earlier[name]:
                backups.append(back_up(folder / name))
            _remove(folder / name)
    return DocumentFiles(hashes, tuple(backups))


class _SavedMeanwhileError(Exception):
    """A file was saved by another program between reading and replacing it."""


def _write(folder: Path, changed: Mapping[str, str | bytes], seen: Mapping[str, str | None]) -> None:
    """Write files, or raise `_SavedMeanwhileError` if one of them is not what was seen any more."""
    for name in changed:
        _make_folder(folder / name)

    def compare() -> None:
        if any(_hash_of(folder / name) != seen[name] for name in changed):
            raise _SavedMeanwhileError

    write_all({folder / name: content for name, content in changed.items()}, before_replacing=compare)


def _hash_of(path: Path) -> str | None:
    """Return the hash of a file, or `None` if there is no such file."""
    try:
        return digest(path.read_bytes())
    except (OSError, ValueError):
        return None


def _make_folder(path: Path) -> None:
    """Make the folder of a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: cannot make this folder: {error.strerror}") from error
    except ValueError:
        return  # Writing fails, too, and says why.


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(f"{path}: cannot remove: {error.strerror}") from error


def is_decided(path: Path) -> bool:
    """Return whether a file is a review file that holds anything of an adjudicator, or no readable one."""
    if not path.is_file():
        return False
    try:
        reviews = review_file.read(path)
    except CasprError:
        return True
    return any(review.work for review in reviews)


def write_project(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the project file for the documents of a run, and keep who is to do them."""
    path = folder / NAME
    before = read_project(folder) if path.is_file() else ProjectFile()
    documents = [_document(row, folder) for row in rows if row.get("file")]
    listed = {document.file for document in documents}
    # What is no longer in the corpus, but has decisions of adjudicators, stays.
    left = [document for document in before.documents if document.file not in listed]
    documents += [document for document in left if is_decided(folder / document.file)]
    write_all({path: project_text(replace(before, documents=tuple(documents)))})


def _document(row: Mapping[str, Any], folder: Path) -> ProjectDocument:
    title = Document(row["name"], (), part=row["part"]).title
    length, proven = (folder / row["file"]).stat().st_size, row["status"] == "optimal"
    return ProjectDocument(row["file"], title, None, row["annotators"], row["value"], proven, length)


SUMMARIES = ("summary.csv", "summary.json")
REPORT = "report.html"
"""What is written about the whole corpus."""
CERTIFICATES = "certificates"


def lost(job: Job, result: Result) -> list[Finding]:
    """Say what of the golds of a document cannot be written."""
    golds = list(result.golds)
    return list(losses(golds, _format(job, golds)))


def gold_content(job: Job, results: Sequence[Result]) -> tuple[str, Mapping[str, str | bytes]]:
    """Return the main file of a document's golds or review, and all their files by path."""
    golds = [(result, gold) for result in results for gold in _written(job, result)]
    name = file_name(job.document)
    if job.options.layout == "project":
        # A job usually has one document; the files of others are numbered.
        several = {f"{FOLDER}/{name}{f'%{n}' if n else ''}.conll": [gold] for n, gold in enumerate(golds)}
        return next(iter(several)), {file: _review(gold) for file, gold in several.items()}
    if job.options.layout == "review":
        return f"{name}.conll", {f"{name}.conll": _review(golds)}
    format = _format(job, [gold for _, gold in golds])
    files = gold_files([gold for _, gold in golds], name, format=format)
    if any(file in SUMMARIES or file.startswith(f"{CERTIFICATES}/") for file in files):
        # No other document has this name: in names, `%` is always followed by a code.
        files = gold_files([gold for _, gold in golds], f"%{name}", format=format)
    suffixes = FORMATS[format].suffixes
    return next((file for file in files if file.endswith(suffixes)), next(iter(files))), files


def _written(job: Job, result: Result) -> Sequence[Annotation]:
    every = job.options.every and job.options.layout != "project"
    return list(result.numbered_golds()) if every else [result.gold]


def _format(job: Job, golds: Sequence[Annotation]) -> str:
    if job.options.layout != "gold":
        return review_file.COLUMNS
    return job.options.target or output_format(golds, Path())


def _review(golds: Sequence[tuple[Result, Annotation]]) -> str:
    return review_file.write(review_file.review_of(result, gold) for result, gold in golds)


_THREADS = 16
_MOST = 64
"""How many documents may be pending."""
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Errors of the disk, and not of one file."""

Written = tuple[JobOutcome, DocumentFiles]
"""An outcome whose files are on the disk."""


class ConcurrentWriter:
    """Threads that write to one folder."""

    def __init__(self, folder: Path, layout: str = "gold") -> None:
        self._folder = folder
        self._layout = layout
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="caspr-writer")
        self._pending: set[Future[Written]] = set()

    def put(self, outcome: JobOutcome, earlier: Mapping[str, str]) -> None:
        """Begin to write a document."""
        self._pending.add(self._threads.submit(self._write, outcome, earlier))

    def _write(self, outcome: JobOutcome, earlier: Mapping[str, str]) -> Written:
        try:
            with ExitStack() as stack:
                if self._layout != "gold":
                    for name in sorted({*outcome.files, *earlier}):
                        if (self._folder / name).is_file():
                            stack.enter_context(FileLock(self._folder / name))
                return outcome, self._write_unlocked(outcome, earlier)
        except InputError as error:
            return failure(outcome.document, str(error)), DocumentFiles(dict(earlier))
        except OutputError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _DISK_ERRORS:
                raise
            return failure(outcome.document, str(error)), DocumentFiles(dict(earlier))

    def _write_unlocked(self, outcome: JobOutcome, earlier: Mapping[str, str]) -> DocumentFiles:
        """Write the files of a document, except those of a project in which something is decided."""
        names = sorted({*outcome.files, *earlier}) if self._layout == "project" else []
        kept = tuple(name for name in names if is_decided(self._folder / name))
        files = {name: content for name, content in outcome.files.items() if name not in kept}
        others = {name: mark for name, mark in earlier.items() if name not in kept}
        done = write_document_files(self._folder, files, others)
        hashes = {**done.hashes, **{name: earlier.get(name, "") for name in kept}}
        return DocumentFiles(hashes, done.backups, kept)

    def written(self) -> Iterator[Written]:
        """Yield the documents that are already written; wait for one if too many are pending."""
        done = {task for task in self._pending if task.done()}
        if not done and len(self._pending) >= _MOST:
            done = wait(self._pending, return_when=FIRST_COMPLETED).done
        yield from self._results(done)

    def finish(self) -> Iterator[Written]:
        """Wait for all pending documents, and yield them."""
        while self._pending:
            yield from self._results(wait(self._pending, return_when=FIRST_COMPLETED).done)

    def stop(self) -> Iterator[Written]:
        """Finish the documents that threads have begun, cancel the others; yield those that are written."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        yield from self._results(
            {task for task in self._pending if not task.cancelled() and not task.exception()}
        )

    def _results(self, done: set[Future[Written]]) -> Iterator[Written]:
        for task in done:
            self._pending.discard(task)
            yield task.result()
