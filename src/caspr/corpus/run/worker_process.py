"""Supervise one worker process: give it jobs, and always get an outcome, whatever becomes of it.

A worker that ends, is killed or takes too long gives the outcome `failed` with the reason, and nothing of
it goes on running. Solvers may be processes in sessions of their own, out of reach of a group's signal; so
every worker has a mark in its environment, which its solvers inherit, and who bears the mark of a dead
worker is killed. Its temporary files are in a folder that is removed with it.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path
from select import select
from typing import IO

from caspr.corpus.job import Job, JobOutcome, failure
from caspr.corpus.run.channel import Mailbox, send
from caspr.corpus.run.workspace import Workspace

_MARK = "CASPR_WORKER"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PART = 1 << 20
_GRACE = 0.3
"""Seconds an idle worker has to end by itself."""
_GLANCE = 0.5
"""Seconds between two looks whether the work is still wanted."""


class WorkerProcess:
    """A worker process, seen from outside."""

    def __init__(self) -> None:
        self.mark = f"{_MARK}={secrets.token_hex(12)}"
        self.job: Job | None = None
        self.deadline = float("inf")
        self._mailbox = Mailbox()
        self._workspace = Workspace()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "caspr.corpus.run.worker_main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            env=self._environment(),
        )

    def _environment(self) -> dict[str, str]:
        name, _, value = self.mark.partition("=")
        given = {**dict.fromkeys(_THREADS, "1"), **os.environ}
        return {**given, name: value, "TMPDIR": str(self._workspace.path)}

    @property
    def ended(self) -> bool:
        """Whether the process is gone and all its pipes are closed."""
        return self._errors.closed

    @property
    def usable(self) -> bool:
        """Whether the process can take a job: it may have been killed while it had none."""
        return not self.ended and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def fileno(self) -> int:
        """Return what becomes readable when there is an answer, or an end."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, job: Job) -> None:
        """Send a job; the worker must have none."""
        assert self._process.stdin is not None
        self.job = job
        self.deadline = time.monotonic() + job.options.patience
        # A worker that is dead already is noticed when its answer is collected.
        with contextlib.suppress(BrokenPipeError):
            send(self._process.stdin, job)

    def collect(self) -> JobOutcome | None:
        """Take what has come; return the outcome when it is whole, or when the worker is dead."""
        assert self.job is not None
        data = os.read(self.fileno(), _PART)
        if not data:
            return self._fail(self._reason())
        self._mailbox.add(data)
        outcome: JobOutcome | None = self._mailbox.take()
        if outcome is not None:
            self.job, self.deadline = None, float("inf")
        return outcome

    def give_up(self) -> JobOutcome:
        """Kill a worker that is past its deadline."""
        assert self.job is not None
        seconds = f"{self.job.options.patience:g}"
        return self._fail(f"no answer after {seconds} s; the worker was killed")

    def _fail(self, reason: str) -> JobOutcome:
        assert self.job is not None
        document, self.job = self.job.document, None
        self.kill()
        return failure(document, reason, spent=True)

    def _reason(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1].strip()}" if said else ""
        if code >= 0:
            return f"the worker ended with code {code}{last}"
        return f"the worker was killed by {signal.Signals(-code).name}{last}"

    def kill(self) -> None:
        """End the process and all that it started."""
        end([self])

    def stop(self) -> None:
        """End an idle worker; a busy one is killed."""
        if self.job is None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
                self._close()
                return
        self.kill()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._workspace.close()

    def _signal(self) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _bury(self) -> None:
        self._process.wait()
        self._close()


def end(workers: Collection[WorkerProcess]) -> None:
    """Kill workers and all that they started, at once."""
    for worker in workers:
        worker._signal()
    _kill_marked({worker.mark.encode() for worker in workers})
    for worker in workers:
        worker._bury()


def _kill_marked(marks: Collection[bytes]) -> None:
    """Kill every process that inherited one of the marks."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(mark in (folder / "environ").read_bytes().split(b"\0") for mark in marks):
                os.kill(int(folder.name), signal.SIGKILL)


def perform_supervised(
    worker: WorkerProcess, job: Job, wanted: Callable[[], bool] = lambda: True
) -> JobOutcome:
    """Do one job and wait for it; give it up when it is not wanted any more."""
    worker.give(job)
    while True:
        left = min(_GLANCE, worker.deadline - time.monotonic())
        if left <= 0 or not wanted():
            return worker.give_up()
        if select([worker], [], [], left)[0]:
            outcome = worker.collect()
            if outcome is not None:
                return outcome
