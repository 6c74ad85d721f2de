"""Many machines: the same jobs on a Dask cluster.

1. The content of a document travels with its job, so that workers need no shared disk.
2. A few jobs for each thread of the cluster are under way at a time; the next is sent when one comes back.
3. On the worker, a job is done in a supervised process of its own, as here, with the same limits.
4. A Dask worker that dies has its jobs run again elsewhere, at most `AGAIN` times: first by the scheduler,
   among other jobs. It counts a death against all jobs that the worker had, so that those which it gives
   up are suspects only: they are run again at the end, one at a time with nothing beside them, and only
   what kills its worker then, too, has failed. A result that is lost with its worker is made again; that
   is no death of its own. Only the client writes, and each outcome once.
5. When the client goes away, the jobs of its documents are given up within a second.
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
from caspr.corpus.run.worker_process import WorkerProcess, perform_supervised
from caspr.errors import CasprError, InputError
from caspr.text.findings import times

if TYPE_CHECKING:
    from distributed import Client, Future

AGAIN = 3
"""How often a document is run again whose worker died."""
AMONG_OTHERS = 1
"""How often the scheduler does so; it is then run twice more at most, by itself."""
_TIMEOUT = 30
"""Seconds to wait for a scheduler to answer."""
_ARRIVAL = (2, 10, 60, 600)
"""Seconds to wait for a result to arrive, the first time it is asked for and so on."""
_AHEAD = 3
"""How many jobs are under way for each thread of the cluster."""
_SECONDS = 2.0
"""Seconds between two questions how large the cluster is."""
_GLANCE = 0.5
"""Seconds without a result after which the caller is told so."""
_NAP = 0.02
"""Seconds between two looks for results."""
_LEAST = 32
"""How many jobs are under way at least: waiting jobs make an adaptive cluster grow."""


def perform_on_cluster(jobs: Iterator[Job], address: str) -> Generator[JobOutcome | None, None, None]:
    """Do all jobs on the cluster of a scheduler and yield outcomes as they come.

    Now and then `None` is yielded, so that the caller can do what it has put off.
    """
    client = _connect(address)
    try:
        yield from _attend(client, jobs)
    finally:
        client.close(timeout=1)


def _connect(address: str) -> "Client":
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--cluster needs Dask: pip install 'caspr[cluster]'") from error
    # What the client's library says about lost connections is told once, by us.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster {address}: found no Dask scheduler there: {error}") from error


def _give_up_soon(client: "Client", most: int) -> None:
    """Have the scheduler give a job of this client up after so many deaths and one more.

    What it allows is one number for everybody, and stays as it is; our jobs begin with as many deaths against
    them as leave the right number. Who does this for them on the scheduler goes away with the client.
    """
    from distributed.diagnostics.plugin import SchedulerPlugin

    name = f"caspr-{client.id}"

    # A class inside a function travels whole: CaspR need not be installed where the scheduler is.
    class Impatience(SchedulerPlugin):  # type: ignore[misc, unused-ignore]
        """Count deaths against the jobs of one client before they begin."""

        def __init__(self, client: str, name: str) -> None:
            self.client, self.name = client, name

        def update_graph(self, scheduler: Any, *, client: str, keys: Iterable[Any], **_: Any) -> None:
            for key in keys if client == self.client else ():
                scheduler.tasks[key].suspicious = scheduler.allowed_failures - most

        def remove_client(self, scheduler: Any, client: str) -> None:
            if client == self.client:
                scheduler.remove_plugin(self.name)

    client.register_plugin(Impatience(client.id, name), name)


class _Attempt(NamedTuple):
    """A job to run, perhaps not for the first time."""

    job: Job
    """What to do."""
    runs: int = 0
    """How many workers may have died of it."""


def _attend(client: "Client", jobs: Iterator[Job]) -> Iterator[JobOutcome | None]:
    _give_up_soon(client, AMONG_OTHERS)
    suspects: list[_Attempt] = []
    yield from _run(client, map(_Attempt, jobs), _Window(client).size, suspects)
    while suspects:
        yield from _run(client, iter([suspects.pop(0)]), lambda: 1, suspects)


def _run(
    client: "Client", attempts: Iterator[_Attempt], size: Callable[[], int], suspects: list[_Attempt]
) -> Iterator[JobOutcome | None]:
    """Run jobs, no more than some at a time; keep those that the scheduler gave up apart."""
    from distributed import as_completed

    run = secrets.token_hex(8)
    under_way: dict[str, _Attempt] = {}

    def submit(attempt: _Attempt) -> "Future":
        key = f"caspr-{run}-{secrets.token_hex(8)}"
        under_way[key] = attempt
        return client.submit(perform_remotely, pickle.dumps(attempt.job), key=key, pure=False)

    first = [submit(attempt) for attempt in islice(attempts, size())]
    completed = as_completed(first, loop=client.loop, raise_errors=False)
    del first
    for future in _as_they_come(completed):
        if future is None:
            yield None
            continue
        outcome = _outcome(future, under_way[future.key])
        if outcome is None:
            completed.add(future)
            continue
        del under_way[future.key]
        future.release()
        for attempt in islice(attempts, max(0, size() - len(under_way))):
            completed.add(submit(attempt))
        if isinstance(outcome, _Attempt):
            suspects.append(outcome)
        else:
            yield outcome


def _as_they_come(completed: Any) -> "Iterator[Future | None]":
    """Yield futures that are done, and `None` when there was none for a while."""
    glance = time.monotonic()
    while not completed.is_empty():
        if completed.has_ready():
            yield next(completed)
        elif time.monotonic() - glance > _GLANCE:
            yield None
            glance = time.monotonic()
        else:
            time.sleep(_NAP)


class _Window:
    """How many jobs may be under way; the scheduler is asked now and then how large the cluster is."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._asked = float("-inf")
        self._size = _LEAST

    def size(self) -> int:
        """Return how many jobs may be under way."""
        if time.monotonic() - self._asked > _SECONDS:
            threads: int = sum(self._client.nthreads().values())
            self._size = max(_LEAST, _AHEAD * threads)
            self._asked = time.monotonic()
        return self._size


def _fetched(future: "Future") -> bytes | None:
    """Fetch a result; `None` if it was lost meanwhile.

    Dask may wait for ever if the worker dies while it fetches a result; asked again, it has the new one.
    """
    for seconds in _ARRIVAL:
        with contextlib.suppress(TimeoutError):
            packed: bytes = future.result(timeout=seconds)
            return packed
        if future.status in ("lost", "pending"):
            return None
    raise TimeoutError("its result did not arrive")


def _outcome(future: "Future", attempt: _Attempt) -> JobOutcome | _Attempt | None:
    """Return what came back; a job that the cluster could not do has failed, or may be tried again.

    `None` if there is nothing yet: a result that is lost with its worker is made again by the scheduler.
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
            raise CasprError("the Dask scheduler is gone; run the same command again to go on") from error
        if type(error).__name__ != "KilledWorker":
            return failure(document, f"the cluster could not run it: {type(error).__name__}: {error}")
    runs = attempt.runs + AMONG_OTHERS + 1
    if runs < 1 + AGAIN:
        return attempt._replace(runs=runs)
    return failure(document, f"the Dask workers it ran on died, {times(runs, 'time')}; it was given up")


_here = threading.local()
# Module state, because this is where Dask lets a thread keep its process from one job to the next.


def perform_remotely(packed: bytes) -> bytes:
    """Do a job on a Dask worker, in a supervised process that the thread keeps."""
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
    """Tell whether the client still waits for the job of this thread."""
    from distributed.worker import thread_state

    with contextlib.suppress(AttributeError, KeyError):
        task = thread_state.execution_state["worker"].state.tasks[thread_state.key]
        return task.state not in ("cancelled", "released", "forgotten")
    return True
