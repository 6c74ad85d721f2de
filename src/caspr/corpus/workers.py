"""Worker processes, seen from the process that supervises them: give a job, and always get an outcome.

    supervising process                         worker process (`worker`)
    give -----> thread --- Connection: job ---> thread ---> main thread: perform
    outcome <-- thread <-- Connection: outcome ------------ main thread

1. Both ends of a `multiprocessing` pipe exchange pickled messages; nothing from outside is ever unpickled.
   The worker inherits its end: a file descriptor on POSIX, a handle on Windows. Its standard streams are no
   part of the pipe, so that what libraries print gets into no message.
2. Sending and receiving wait for the other end, which may stop in the middle of a message. So a thread does
   both, while the supervising thread waits for an outcome until a deadline. The thread ends when the worker
   is dead, because only the worker has the other end open.
3. A worker that ends, is killed or takes too long gives the outcome `failed` with the reason. All that it
   started is killed with it: it has a mark in its environment, which solvers inherit (`caspr.processes`).
   Its temporary files are in a folder that is removed with it.
4. A worker whose supervisor is gone, for example after kill -9, finds its connection closed and ends itself;
   Linux and Windows kill it in any case.

`perform_here` keeps some of them busy on this machine; one death harms no other.
"""

import contextlib
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import IO, Any

from caspr.corpus.job import Job, JobOutcome, failure
from caspr.corpus.workspace import Workspace
from caspr.processes import OUT_OF_MEMORY, ProcessTrees, end_with_this_process, own_session

MODULE = "caspr.corpus.worker"
_MARK = "CASPR_WORKER"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_GRACE = 0.3
"""Seconds that an idle worker has to end by itself, and one that closed its connection."""
_PATIENCE = 5.0
"""Seconds that the thread of a worker without process has to end: a connection in use is never closed."""
_INTERVAL = 0.5
"""Seconds between two checks whether the outcome is still wanted."""

Answers = queue.SimpleQueue["tuple[WorkerProcess, JobOutcome | None]"]
"""Where the threads of workers put outcomes; `None` if the connection ended before there was one."""


class WorkerProcess:
    """A worker process."""

    def __init__(self, answers: Answers | None = None) -> None:
        """Start the process; several workers may share a queue, so that one thread can wait for all."""
        self.answers: Answers = queue.SimpleQueue() if answers is None else answers
        self.mark = f"{_MARK}={secrets.token_hex(12)}"
        self.job: Job | None = None
        self.deadline = float("inf")
        self._limit: int | None = None
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._workspace = Workspace()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._connection, far = Pipe()
        with far:
            self._process = _start(far, self._environment(), self._errors)
        self._thread = threading.Thread(target=self._exchange, daemon=True)
        self._thread.start()

    def _environment(self) -> dict[str, str]:
        name, _, value = self.mark.partition("=")
        environment = {**dict.fromkeys(_THREADS, "1"), **os.environ}
        return {**environment, name: value, "TMPDIR": str(self._workspace.path)}

    def _exchange(self) -> None:
        """Send each job and receive its outcome, until there is no more job or no more worker."""
        while (job := self._jobs.get()) is not None:
            try:
                self._connection.send(job)
                outcome: JobOutcome = self._connection.recv()
            except Exception:  # no worker any more, or nothing that can be a message
                self.answers.put((self, None))
                return
            self.answers.put((self, outcome))

    @property
    def ended(self) -> bool:
        """Whether the process is gone and all its files are closed."""
        return self._errors.closed

    @property
    def usable(self) -> bool:
        """Whether the process can take a job: it may have been killed while it had none."""
        return not self.ended and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def give(self, job: Job) -> None:
        """Hand over a job; the worker must have none. A worker that has died meanwhile answers `None`."""
        self.job = job
        self._limit = job.options.settings.limits.megabytes
        self.deadline = time.monotonic() + job.options.patience
        self._jobs.put(job)

    def outcome(self, answer: JobOutcome | None) -> JobOutcome:
        """Return the outcome of the job, from what came through the queue."""
        if answer is None:
            return self._fail(self._reason())
        self.job, self.deadline = None, float("inf")
        return answer

    def give_up(self) -> JobOutcome:
        """Kill a worker that is past its deadline."""
        assert self.job is not None
        return self._fail(f"no answer after {self.job.options.patience:g} s; the worker was killed")

    def _fail(self, reason: str) -> JobOutcome:
        assert self.job is not None
        document = self.job.document
        self.job, self.deadline = None, float("inf")
        self.kill()
        return failure(document, reason, spent=True)

    def _reason(self) -> str:
        """Say how the worker ended, with the last line that it printed."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "the worker's answer could not be read"
        self._errors.seek(0)
        printed = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        last = f": {printed[-1].strip()}" if printed else ""
        if code == OUT_OF_MEMORY and self._limit is not None:
            return f"out of memory: limit {self._limit} MB"
        if code >= 0:
            return f"the worker ended with code {code}{last}"
        return f"the worker was killed by {signal.Signals(-code).name}{last}"

    def kill(self) -> None:
        """End the process and all that it started."""
        kill_workers([self])

    def stop(self) -> None:
        """End an idle worker, which ends by itself when its connection is closed; a busy one is killed."""
        if self.job is None:
            self._close_connection()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
                self._close()
                return
        self.kill()

    def _close_connection(self) -> None:
        """Close the connection of an idle or dead worker, once its thread does not use it any more."""
        self._jobs.put(None)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self._connection.close()

    def _close(self) -> None:
        self._close_connection()
        self._errors.close()
        self._workspace.close()


def _start(
    connection: Connection, environment: dict[str, str], errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start the process of a worker, which inherits one end of a pipe."""
    inherited: dict[str, Any]
    handle = connection.fileno()
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        inherited = {
            "startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]}),
            **own_session(),
        }
    else:
        inherited = {"pass_fds": [handle], "start_new_session": True}
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(handle)],
        stdin=subprocess.DEVNULL,
        stdout=errors,
        stderr=errors,
        env=environment,
        **inherited,
    )
    end_with_this_process(process)
    return process


def kill_workers(workers: Collection[WorkerProcess]) -> None:
    """Kill workers, and all that they started, together."""
    ProcessTrees([worker._process for worker in workers], [worker.mark for worker in workers]).kill()
    for worker in workers:
        worker._process.wait()
        worker._close()


def perform_supervised(
    worker: WorkerProcess, job: Job, wanted: Callable[[], bool] = lambda: True
) -> JobOutcome:
    """Do one job and wait for its outcome; give it up when it is not wanted any more."""
    worker.give(job)
    while True:
        left = min(_INTERVAL, worker.deadline - time.monotonic())
        if left <= 0 or not wanted():
            return worker.give_up()
        with contextlib.suppress(queue.Empty):
            return worker.outcome(worker.answers.get(timeout=left)[1])


_POOL_INTERVAL = 0.5
"""Seconds without an outcome after which `None` is yielded."""


def perform_here(jobs: Iterator[Job], processes: int) -> Generator[JobOutcome | None, None, None]:
    """Do all jobs in some processes and yield outcomes as they come; jobs are asked for one by one.

    After half a second without an outcome `None` is yielded, so that the caller can do other work. However
    the iteration ends, no process is left.
    """
    answers: Answers = queue.SimpleQueue()
    workers: list[WorkerProcess] = []
    try:
        while len(workers) < processes and (job := next(jobs, None)) is not None:
            workers.append(WorkerProcess(answers))
            workers[-1].give(job)
        # The next job is prepared while all workers are busy, and a worker gets it before its outcome is
        # passed on: neither reading nor writing keeps it waiting.
        following = next(jobs, None)
        while any(worker.job is not None for worker in workers):
            outcomes = list(_outcomes(workers, answers))
            if not outcomes:
                yield None
            for worker, outcome in outcomes:
                if outcome.spent:
                    worker.kill()
                if following is not None:
                    position = workers.index(worker)
                    workers[position] = WorkerProcess(answers) if outcome.spent else worker
                    workers[position].give(following)
                yield outcome
                following = next(jobs, None)
        for worker in workers:
            worker.stop()
    finally:
        kill_workers([worker for worker in workers if not worker.ended])


def _outcomes(
    workers: Sequence[WorkerProcess], answers: Answers
) -> Iterator[tuple[WorkerProcess, JobOutcome]]:
    """Wait a while for an answer or a deadline; yield every outcome that there is then, with its worker."""
    nearest = min(worker.deadline for worker in workers) - time.monotonic()
    try:
        received = [answers.get(timeout=min(_POOL_INTERVAL, max(0.0, nearest)))]
        while not answers.empty():
            received.append(answers.get())
    except queue.Empty:
        received = []
    for worker, answer in received:
        # A worker without job was killed after its deadline; what it answered comes too late.
        if worker.job is not None:
            yield worker, worker.outcome(answer)
    for worker in workers:
        if worker.deadline <= time.monotonic():
            yield worker, worker.give_up()
