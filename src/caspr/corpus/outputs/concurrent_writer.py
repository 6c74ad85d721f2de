"""Write the files of many documents at once: each is safe on the disk before it counts as written.

Waiting for the disk takes longer than small documents do. Several threads wait at the same time, which
file systems answer together, while the workers go on. No more than some documents are under way.

A document whose file cannot be written, because a folder is in its place or the like, has failed. What would
hold for the others, too, such as a full disk, ends the run.
"""

import errno
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from caspr.corpus.job import JobOutcome, failure
from caspr.corpus.outputs.document_files import Placed, put
from caspr.errors import OutputError

_THREADS = 16
_MOST = 64
"""How many documents may be under way."""
_EVERYWHERE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""What is wrong with the disk, and not with a file."""

Written = tuple[JobOutcome, Placed]
"""An outcome whose files are in place."""


class Writer:
    """Threads that write to one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="caspr-writer")
        self._waiting: set[Future[Written]] = set()

    def put(self, outcome: JobOutcome, earlier: Mapping[str, str]) -> None:
        """Begin to write a document."""
        self._waiting.add(self._threads.submit(_write, self._folder, outcome, earlier))

    def written(self) -> Iterator[Written]:
        """Yield what is written by now; wait if too much is under way."""
        done = {task for task in self._waiting if task.done()}
        if not done and len(self._waiting) >= _MOST:
            done = wait(self._waiting, return_when=FIRST_COMPLETED).done
        yield from self._taken(done)

    def finish(self) -> Iterator[Written]:
        """Wait for everything, and yield it."""
        while self._waiting:
            yield from self._taken(wait(self._waiting, return_when=FIRST_COMPLETED).done)

    def stop(self) -> Iterator[Written]:
        """Let the threads end what they are at, and begin nothing more; yield what is in place."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        yield from self._taken(
            {task for task in self._waiting if not task.cancelled() and not task.exception()}
        )

    def _taken(self, done: set[Future[Written]]) -> Iterator[Written]:
        for task in done:
            self._waiting.discard(task)
            yield task.result()


def _write(folder: Path, outcome: JobOutcome, earlier: Mapping[str, str]) -> Written:
    try:
        return outcome, put(folder, outcome.files, earlier)
    except OutputError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _EVERYWHERE:
            raise
        return failure(outcome.document, str(error)), Placed(dict(earlier))
