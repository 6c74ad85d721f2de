"""Worker processes on this machine: long-lived, each supervised by itself: one death harms no other."""

import queue
import time
from collections.abc import Generator, Iterator, Sequence

from caspr.corpus.job import Job, JobOutcome
from caspr.corpus.run.worker_process import Answers, WorkerProcess, kill_workers

_INTERVAL = 0.5
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
                    place = workers.index(worker)
                    workers[place] = WorkerProcess(answers) if outcome.spent else worker
                    workers[place].give(following)
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
        found = [answers.get(timeout=min(_INTERVAL, max(0.0, nearest)))]
        while not answers.empty():
            found.append(answers.get())
    except queue.Empty:
        found = []
    for worker, answer in found:
        # A worker without job was killed after its deadline; what it answered comes too late.
        if worker.job is not None:
            yield worker, worker.outcome(answer)
    for worker in workers:
        if worker.deadline <= time.monotonic():
            yield worker, worker.give_up()
