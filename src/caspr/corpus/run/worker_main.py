"""The program of a worker process: take a job, do it within its memory limit, answer, and so on.

    python -m caspr.corpus.run.worker_main CONNECTION

The supervising process (`worker_process`) passes the number of the connection. The main thread does the jobs.
A second thread receives them, and so notices in the middle of a job, too, that the supervisor closed the
connection or is dead; then it ends the process with all solvers that run. The time limit of a job is kept by
the engine, and by the supervisor if the engine does not.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
from multiprocessing import connection

from caspr.corpus.job import Job, JobOutcome
from caspr.corpus.run.memory import memory_limit
from caspr.corpus.run.perform import out_of_memory, perform
from caspr.process_tree import death_with_parent, kill_descendants


def main() -> None:
    """Serve jobs until the supervisor closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (die_with_parent := death_with_parent()) is not None:
        die_with_parent()
    supervisor = _connected(int(sys.argv[1]))
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_receive, args=(supervisor, jobs, busy), daemon=True).start()
    while True:
        outcome = within_memory(jobs.get())
        busy.clear()
        supervisor.send(outcome)


def _connected(handle: int) -> connection.Connection:
    """Return the inherited end of the pipe, which solvers must not inherit in turn."""
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, False)
        return connection.PipeConnection(handle)
    os.set_inheritable(handle, False)
    return connection.Connection(handle)


def _receive(
    supervisor: connection.Connection, jobs: "queue.SimpleQueue[Job]", busy: threading.Event
) -> None:
    """Receive jobs; at the end of the connection end this process, and its solvers if it has a job."""
    try:
        with contextlib.suppress(EOFError, OSError):
            while True:
                job = supervisor.recv()
                busy.set()
                jobs.put(job)
        if busy.is_set():
            kill_descendants()
    finally:
        os._exit(0)


def within_memory(job: Job) -> JobOutcome:
    """Do a job under its memory limit, and lift the limit again."""
    try:
        with memory_limit(job.options.settings.limits.megabytes):
            return perform(job)
    except MemoryError:
        return out_of_memory(job)


if __name__ == "__main__":
    main()
