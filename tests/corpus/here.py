"""Corpora adjudicated in this process: starting a worker takes longer than a small corpus."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from caspr.corpus.job import Job, JobOutcome
from caspr.corpus.worker import perform

PERFORM_HERE = "caspr.corpus.workers.perform_here"
"""What takes jobs to worker processes."""


def perform_all(jobs: Iterable[Job], processes: int) -> Iterator[JobOutcome]:
    """Perform jobs one after the other, in the place of workers."""
    here = Path.cwd()
    for job in jobs:
        outcome = perform(job)
        os.chdir(here)
        yield outcome


@pytest.fixture
def without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no workers, in tests of what does not depend on who performs the jobs."""
    monkeypatch.setattr(PERFORM_HERE, perform_all)
