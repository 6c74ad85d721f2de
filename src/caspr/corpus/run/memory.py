"""The memory limit of a worker process while it does a job.

The process may take so many megabytes more than it had before the job. On Linux the kernel keeps the limit,
and a `MemoryError` ends the job. Elsewhere a thread looks at the process (`caspr.process_memory`) and ends it
with an exit code by which its supervisor knows the reason.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from caspr.process_memory import (
    INTERVAL,
    KERNEL_LIMITS,
    address_space_megabytes,
    resident_megabytes,
)
from caspr.process_tree import kill_descendants

OUT_OF_MEMORY = 33
"""The exit code of a worker that ended because it was over its limit."""


@contextmanager
def memory_limit(megabytes: int | None) -> Iterator[None]:
    """Let this process take only so many megabytes more; no limit for `None`."""
    if megabytes is None:
        yield
    elif KERNEL_LIMITS:
        with _kept_by_the_kernel(megabytes):
            yield
    else:
        with _watched(megabytes):
            yield


@contextmanager
def _kept_by_the_kernel(megabytes: int) -> Iterator[None]:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = round((address_space_megabytes() + megabytes) * 2**20)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


@contextmanager
def _watched(megabytes: int) -> Iterator[None]:
    limit = resident_megabytes() + megabytes
    done = threading.Event()

    def watch() -> None:
        while not done.wait(INTERVAL):
            if resident_megabytes() > limit:
                kill_descendants()
                os._exit(OUT_OF_MEMORY)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
