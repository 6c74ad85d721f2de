"""The worker process: take a job, keep its memory limit, do it, answer, and so on until the pipe closes.

    python -m caspr.corpus.run.worker_main

The memory limit of a document is kept by the kernel (RLIMIT_AS): the process may take so much more than
it had before. The time limit is kept by the engine, and by the supervisor if the engine does not.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import IO

from caspr.corpus.job import Job, JobOutcome, failure
from caspr.corpus.run.channel import receive, send
from caspr.corpus.run.perform import perform

_DEATH_SIGNAL = 1
"""The number of PR_SET_PDEATHSIG."""


def main() -> None:
    """Serve jobs from standard input; answer on what was standard output."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    jobs, answers = _own_streams()
    while (job := receive(jobs)) is not None:
        send(answers, within_memory(job))


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Take the pipes for ourselves: whatever a library prints must not get between messages."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return jobs, answers


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when the supervisor is gone, where it can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def within_memory(job: Job) -> JobOutcome:
    """Do a job under its memory limit, and lift the limit again."""
    megabytes = job.options.settings.limits.megabytes
    if megabytes is None:
        return perform(job)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = _size() + megabytes * 2**20
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        return perform(job)
    except MemoryError:
        return failure(job.document, f"out of memory: limit {megabytes} MB", spent=True)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _size() -> int:
    """Return the address space this process has now, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
