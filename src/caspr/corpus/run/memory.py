"""The memory of a worker process: a limit while it does a job, and the most that the job took.

The limit is kept by the kernel (RLIMIT_AS): the process may take so much more address space than it had
before the job. Linux can reset the peak of a process, so that each job has its own; elsewhere the peak is
that of all jobs so far.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MAXRSS_PER_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10
"""The unit of `ru_maxrss` is a byte on macOS, a kilobyte elsewhere."""


@contextmanager
def memory_limit(megabytes: int | None) -> Iterator[None]:
    """Let this process take only so many megabytes more; no limit for `None`."""
    if megabytes is None:
        yield
        return
    from psutil import Process

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = Process().memory_info().vms + megabytes * 2**20
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def reset_peak() -> None:
    """Forget the peak of earlier jobs, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_megabytes() -> float:
    """Return the most memory that this process had since the last reset; psutil knows no peak on POSIX."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MAXRSS_PER_MEGABYTE


def children_peak_megabytes() -> float:
    """Return the most memory that any ended child of this process had."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _MAXRSS_PER_MEGABYTE
