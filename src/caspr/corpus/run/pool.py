"""Worker processes on this machine: long-lived, each supervised by itself: one death harms no other."""

import time
from collections.abc import Generator, Iterator, Sequence
from multiprocessing.connection import wait

from caspr.corpus.job import Job, JobOutcome
from caspr.corpus.run.worker_process import WorkerProcess, end

_GLANCE = 0.5
"""Seconds without an outcome after which the caller is told so."""


def perform_here(jobs: Iterator[Job], processes: int) -> Generator[JobOutcome | None, None, None]:
    """Do all jobs in some processes and yield outcomes as they come; jobs are asked for one by one.

    Now and then `None` is yielded, so that the caller can do what it has put off. However the iteration ends,
    no process is left.
    """
    workers: list[WorkerProcess] = []
    try:
        while len(workers) < processes and (job := next(jobs, None)) is not None:
            workers.append(WorkerProcess())
            workers[-1].give(job)
        # The next job is prepared while all workers are busy, and a worker goes on before its outcome is
        # passed on: neither reading nor writing keeps it waiting.
        following = next(jobs, None)
        while any(worker.job is not None for worker in workers):
            found = list(_outcomes(workers))
            if not found:
                yield None
            for place, outcome in found:
                if outcome.spent:
                    workers[place].kill()
                if following is not None:
                    workers[place] = WorkerProcess() if outcome.spent else workers[place]
                    workers[place].give(following)
                yield outcome
                following = next(jobs, None)
        for worker in workers:
            worker.stop()
    finally:
        end([worker for worker in workers if not worker.ended])


def _outcomes(workers: Sequence[WorkerProcess]) -> Iterator[tuple[int, JobOutcome]]:
    """Wait a while for answers, ends or deadlines, and yield each outcome with the place of its worker."""
    busy = [(place, worker) for place, worker in enumerate(workers) if worker.job is not None]
    nearest = min(worker.deadline for _, worker in busy) - time.monotonic()
    ready = set(wait([worker.fileno() for _, worker in busy], min(_GLANCE, max(0.0, nearest))))
    for place, worker in busy:
        outcome = None
        if worker.fileno() in ready:
            outcome = worker.collect()
        elif worker.deadline <= time.monotonic():
            outcome = worker.give_up()
        if outcome is not None:
            yield place, outcome
