"""Write the files of many documents at once: each is safe on the disk before it counts as written.

Waiting for the disk takes longer than small documents do. Several threads wait at the same time, which
file systems answer together, while the workers go on. No more than some documents are under way.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from caspr.corpus.job import Outcome
from caspr.corpus.outputs import put

_THREADS = 16
_MOST = 64
"""How many documents may be under way."""

Written = tuple[Outcome, dict[str, str]]
"""An outcome whose files are in place, with the hash of each."""


class Writer:
    """Threads that write to one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="caspr-writer")
        self._waiting: dict[Future[dict[str, str]], Outcome] = {}

    def put(self, outcome: Outcome, earlier: Mapping[str, str]) -> Iterator[Written]:
        """Begin to write a document; yield those that are written by now."""
        task = self._threads.submit(put, self._folder, outcome.files, earlier)
        self._waiting[task] = outcome
        done = [task for task in self._waiting if task.done()]
        if not done and len(self._waiting) >= _MOST:
            done = list(wait(self._waiting, return_when=FIRST_COMPLETED).done)
        yield from ((self._waiting.pop(task), task.result()) for task in done)

    def finish(self) -> Iterator[Written]:
        """Wait for everything, and yield it."""
        while self._waiting:
            for task in wait(self._waiting, return_when=FIRST_COMPLETED).done:
                yield self._waiting.pop(task), task.result()

    def stop(self) -> Iterator[Written]:
        """Let the threads end what they are at, and begin nothing more; yield what is in place."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for task, outcome in self._waiting.items():
            if not task.cancelled() and task.exception() is None:
                yield outcome, task.result()
        self._waiting.clear()
