"""Write the files of many documents concurrently; a document is written when its files are on the disk.

Waiting for the disk (fsync) takes longer than adjudicating a small document. Several threads wait at the
same time, so that the file system can combine their requests, while the workers continue. The number of
documents that are being written is limited.

A document whose file cannot be written, because a folder is in its place for example, has failed. An error
that would affect all documents, such as a full disk, ends the run. Review files are locked while they are
written: one that is open on a review page is left as it is, and its document has failed.
"""

import errno
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

from caspr.corpus.job import JobOutcome, failure
from caspr.corpus.outputs.document_files import DocumentFiles, write_document_files
from caspr.corpus.outputs.project import is_decided
from caspr.errors import InputError, OutputError
from caspr.locks import FileLock

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
        """Yield the documents that are written by now; wait for one if too many are pending."""
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
