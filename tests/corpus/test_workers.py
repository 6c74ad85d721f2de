"""Whatever a worker process does with its connection, there is an outcome in time. All processes are real."""

import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from caspr.corpus import workers
from caspr.corpus.job import Job, JobOutcome, Options, Source
from caspr.corpus.workers import WorkerProcess, perform_here, perform_supervised
from caspr.task.settings import Settings
from tests.corpus.corpora import write_corpus
from tests.corpus.processes import alive, all_gone, until

SLACK = 5
"""Seconds by which a busy machine may be late."""
MISBEHAVING = """
import os, pickle, signal, struct, sys, time
from multiprocessing.connection import Connection
from caspr.corpus.job import JobOutcome

end = Connection(int(sys.argv[1]))
if os.environ.get("FAULT") == "never reads":
    time.sleep(99)
while True:
    name = end.recv().document
    half = struct.pack("!i", 10**6) + bytes(1000)
    print("printed by the worker", flush=True)
    if name == "hang":
        os.write(end.fileno(), half)
        time.sleep(99)
    elif name == "stop":
        os.write(end.fileno(), half)
        os.kill(os.getpid(), signal.SIGSTOP)
    elif name == "die":
        os.write(end.fileno(), half)
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "leave":
        os.write(end.fileno(), half)
        sys.exit(7)
    elif name == "close":
        end.close()
        time.sleep(99)
    elif name == "garbage":
        end.send_bytes(b"no pickle")
        time.sleep(99)
    else:
        end.send(JobOutcome(name, files={"file": "x" * 10**7} if name == "large" else {}))
"""


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have worker processes do what the name of the document says."""
    (tmp_path / "misbehaving_worker.py").write_text(MISBEHAVING)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(workers, "MODULE", "misbehaving_worker")


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    """Return a worker that is killed in the end."""
    started = WorkerProcess()
    yield started
    if not started.ended:
        started.kill()


def job(name: str, seconds: float = 3) -> Job:
    return Job(name, (), "/", Options(kill_after=seconds))


def reason(outcome: JobOutcome) -> str:
    assert outcome.failed
    return str(outcome.rows[0]["reason"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hang", "no answer after 3 s; the worker was killed"),
        ("stop", "no answer after 3 s; the worker was killed"),
        ("die", "the worker was killed by SIGKILL: printed by the worker"),
        ("leave", "the worker ended with code 7: printed by the worker"),
        ("close", "the worker's answer could not be read"),
        ("garbage", "the worker's answer could not be read"),
    ],
)
@pytest.mark.usefixtures("misbehaving")
def test_half_a_message_is_a_failure_in_time(name: str, expected: str, worker: WorkerProcess) -> None:
    assert len(perform_supervised(worker, job("large", 60)).files["file"]) == 10**7
    started = time.monotonic()
    assert reason(perform_supervised(worker, job(name))) == expected
    assert time.monotonic() - started < 3 + SLACK
    assert worker.ended
    assert not alive(worker.pid)


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_that_never_takes_a_large_job_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "never reads")
    large = replace(job("large", 1), contents={("file", 0): bytes(10**7)})
    started = time.monotonic()
    assert reason(perform_supervised(WorkerProcess(), large)) == "no answer after 1 s; the worker was killed"
    assert time.monotonic() - started < 1 + SLACK


@pytest.mark.usefixtures("misbehaving")
def test_half_a_message_keeps_no_other_worker_waiting() -> None:
    seconds = {"hang": 10, "stop": 3, **{f"good{number}": 60 for number in range(20)}, "die": 60, "last": 60}
    jobs = (job(name, given) for name, given in seconds.items())
    found = [outcome for outcome in perform_here(jobs, 2) if outcome is not None]
    order = [outcome.document for outcome in found]
    assert sorted(order) == sorted(seconds)
    assert {outcome.document for outcome in found if outcome.failed} == {"hang", "stop", "die"}
    assert order.index("stop") < order.index("good0") < order.index("hang"), "nobody waited for the first"


def test_a_worker_whose_supervisor_is_gone_ends_with_its_solvers(
    tmp_path: Path, pids: Path, worker: WorkerProcess
) -> None:
    """Cut the connection only: this is what a worker notices on systems that do not kill it."""
    write_corpus(tmp_path / "in", ["sleepy"], annotators=("ann", "bob"))
    sources = tuple(Source(name, f"sleepy/{name}.conll") for name in ("ann", "bob"))
    options = Options(Settings(engine="brute"), kill_after=60)
    worker.give(Job("sleepy", sources, str(tmp_path / "in"), options))
    until(lambda: len(list(pids.iterdir())) == 2)
    with socket.socket(fileno=os.dup(worker._connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
    until(lambda: all_gone(pids), 5)
    assert "the worker ended with code 0" in reason(worker.outcome(worker.answers.get(timeout=5)[1]))


def test_an_idle_worker_that_was_killed_is_noticed(worker: WorkerProcess) -> None:
    os.kill(worker.pid, 9)
    until(lambda: not worker.usable)
    assert "killed by SIGKILL" in reason(perform_supervised(worker, job("any")))
