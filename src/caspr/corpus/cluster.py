"""Many machines: the same jobs on a Dask cluster.

1. The content of a document is sent with its job, so that workers need no shared disk.
2. A few jobs for each thread of the cluster are submitted at a time; the next follows when one is done.
3. On the Dask worker, a job is done in a supervised worker process, as on one machine, with the same limits.
4. The jobs of a Dask worker that dies are run again elsewhere, at most `AGAIN` times: first by the
   scheduler, among other jobs. It counts a death against all jobs that the worker had, so that the jobs
   which it gives up are only suspects: they are run again at the end, one at a time with nothing beside
   them, and only a job whose worker dies then, too, has failed. A result that is lost with its worker is
   computed again; that counts as no death. Only the client writes, and each outcome once.
5. When the client ends, its jobs are given up within a second.
"""

import contextlib
import logging
import pickle
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from caspr.corpus.job import Job, JobOutcome, failure
from caspr.corpus.workers import WorkerProcess, perform_supervised
from caspr.errors import CasprError, InputError
from caspr.text.findings import times

if TYPE_CHECKING:
    from distributed import Client, Future

AGAIN = 3
"""How often a document whose worker died is run again."""
AMONG_OTHERS = 1
"""How often the scheduler runs it again; then it is run at most twice more, alone."""
_TIMEOUT = 30
"""Seconds to wait for a scheduler to answer."""
_ARRIVAL = (2, 10, 60, 600)
"""Seconds to wait for a result at the first, second, ... attempt to fetch it."""
_AHEAD = 3
"""How many jobs are submitted for each thread of the cluster."""
_SIZE_INTERVAL = 2.0
"""Seconds between two queries for the size of the cluster."""
_INTERVAL = 0.5
"""Seconds without a result after which `None` is yielded."""
_POLL = 0.02
"""Seconds between two polls for results."""
_LEAST = 32
"""How many jobs are submitted at least: waiting jobs make an adaptive cluster grow."""


def perform_on_cluster(jobs: Iterator[Job], address: str) -> Generator[JobOutcome | None, None, None]:
    """Do all jobs on the cluster of a scheduler and yield outcomes as they come.

    After half a second without an outcome `None` is yielded, so that the caller can do other work.
    """
    client = _connect(address)
    try:
        yield from _perform_all(client, jobs)
    finally:
        client.close(timeout=1)


def _connect(address: str) -> "Client":
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--cluster needs Dask: pip install 'caspr[cluster]'") from error
    # Dask logs lost connections; one error message of ours says the same.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster {address}: no Dask scheduler answers there: {error}") from error


def _limit_deaths(client: "Client", most: int) -> None:
    """Have the scheduler give up on a job of this client after `most` deaths and one more.

    The number that the scheduler allows holds for all its users, and is not changed; instead, our jobs
    begin with as many deaths counted as leave the right number. A plugin on the scheduler does this,
    and removes itself when the client ends.
    """
    from distributed.diagnostics.plugin import SchedulerPlugin

    name = f"caspr-{client.id}"

    # A class inside a function is pickled by value: CaspR need not be installed where the scheduler is.
    class DeathLimit(SchedulerPlugin):  # type: ignore[misc, unused-ignore]
        """Count deaths against the jobs of one client before they begin."""

        def __init__(self, client: str, name: str) -> None:
            self.client, self.name = client, name

        def update_graph(self, scheduler: Any, *, client: str, keys: Iterable[Any], **_: Any) -> None:
            for key in keys if client == self.client else ():
                scheduler.tasks[key].suspicious = scheduler.allowed_failures - most

        def remove_client(self, scheduler: Any, client: str) -> None:
            if client == self.client:
                scheduler.remove_plugin(self.name)

    client.register_plugin(DeathLimit(client.id, name), name)


class _Attempt(NamedTuple):
    """A job to run, perhaps not for the first time."""

    job: Job
    runs: int = 0
    """How many runs have ended with the death of the worker."""


def _perform_all(client: "Client", jobs: Iterator[Job]) -> Iterator[JobOutcome | None]:
    """Run all jobs together, then those that may have killed their workers one by one."""
    _limit_deaths(client, AMONG_OTHERS)
    suspects: list[_Attempt] = []
    yield from _run(client, map(_Attempt, jobs), _Window(client).size, suspects)
    while suspects:
        yield from _run(client, iter([suspects.pop(0)]), lambda: 1, suspects)


def _run(
    client: "Client", attempts: Iterator[_Attempt], size: Callable[[], int], suspects: list[_Attempt]
) -> Iterator[JobOutcome | None]:
    """Run jobs, at most `size` at a time; add those that the scheduler gave up to the suspects."""
    from distributed import as_completed

    run = secrets.token_hex(8)
    submitted: dict[str, _Attempt] = {}

    def submit(attempt: _Attempt) -> "Future":
        key = f"caspr-{run}-{secrets.token_hex(8)}"
        submitted[key] = attempt
        return client.submit(perform_remotely, pickle.dumps(attempt.job), key=key, pure=False)

    first = [submit(attempt) for attempt in islice(attempts, size())]
    completed = as_completed(first, loop=client.loop, raise_errors=False)
    del first
    for future in _as_they_come(completed):
        if future is None:
            yield None
            continue
        outcome = _outcome(future, submitted[future.key])
        if outcome is None:
            completed.add(future)
            continue
        del submitted[future.key]
        future.release()
        for attempt in islice(attempts, max(0, size() - len(submitted))):
            completed.add(submit(attempt))
        if isinstance(outcome, _Attempt):
            suspects.append(outcome)
        else:
            yield outcome


def _as_they_come(completed: Any) -> "Iterator[Future | None]":
    """Yield futures that are done, and `None` when there was none for a while."""
    paused = time.monotonic()
    while not completed.is_empty():
        if completed.has_ready():
            yield next(completed)
        elif time.monotonic() - paused > _INTERVAL:
            yield None
            paused = time.monotonic()
        else:
            time.sleep(_POLL)


class _Window:
    """How many jobs may be submitted, from the size of the cluster, which is queried every two seconds."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._asked = float("-inf")
        self._size = _LEAST

    def size(self) -> int:
        """Return how many jobs may be submitted."""
        if time.monotonic() - self._asked > _SIZE_INTERVAL:
            threads: int = sum(self._client.nthreads().values())
            self._size = max(_LEAST, _AHEAD * threads)
            self._asked = time.monotonic()
        return self._size


def _fetched(future: "Future") -> bytes | None:
    """Fetch a result; `None` if it was lost meanwhile.

    Dask may wait for ever if the worker dies while its result is fetched; a second attempt gets the new one.
    """
    for seconds in _ARRIVAL:
        with contextlib.suppress(TimeoutError):
            packed: bytes = future.result(timeout=seconds)
            return packed
        if future.status in ("lost", "pending"):
            return None
    raise TimeoutError("its result did not arrive")


def _outcome(future: "Future", attempt: _Attempt) -> JobOutcome | _Attempt | None:
    """Return the outcome of a job; or the attempt, counted, if the job is to be tried again.

    `None` if there is nothing yet: a result that is lost with its worker is computed again by the scheduler.
    """
    if future.status in ("lost", "pending"):
        return None
    document = attempt.job.document
    try:
        packed = _fetched(future)
        outcome: JobOutcome | None = None if packed is None else pickle.loads(packed)
        return outcome
    except Exception as error:
        if future.status == "cancelled":
            raise CasprError("the Dask scheduler is gone; run the same command again to resume") from error
        if type(error).__name__ != "KilledWorker":
            return failure(document, f"the cluster could not run it: {type(error).__name__}: {error}")
    runs = attempt.runs + AMONG_OTHERS + 1
    if runs < 1 + AGAIN:
        return attempt._replace(runs=runs)
    return failure(document, f"the Dask workers it ran on died, {times(runs, 'time')}; it was given up")


_here = threading.local()
# Module state, because only here a thread of a Dask worker can keep its worker process between jobs.


def perform_remotely(packed: bytes) -> bytes:
    """Do a job on a Dask worker, in a supervised worker process that the thread keeps."""
    job: Job = pickle.loads(packed)
    worker: WorkerProcess | None = getattr(_here, "worker", None)
    if worker is None or not worker.usable:
        if worker is not None and not worker.ended:
            worker.kill()
        worker = _here.worker = WorkerProcess()
    outcome = perform_supervised(worker, job, _is_wanted)
    if outcome.spent and not worker.ended:
        worker.kill()
    return pickle.dumps(outcome)


def _is_wanted() -> bool:
    """Return whether the client still waits for the job of this thread."""
    from distributed.worker import thread_state

    with contextlib.suppress(AttributeError, KeyError):
        task = thread_state.execution_state["worker"].state.tasks[thread_state.key]
        return task.state not in ("cancelled", "released", "forgotten")
    return True
