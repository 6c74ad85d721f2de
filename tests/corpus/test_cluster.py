"""A real Dask scheduler and two worker processes on loopback."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from caspr.corpus import cluster as module
from tests.cli.caller import Caller
from tests.corpus.corpora import golds, write_corpus, write_in, write_project
from tests.corpus.processes import alive, all_gone, start, until

BRUTE = ("--engine", "brute")
FAULTS = Path(__file__).parent / "faults"

pytestmark = pytest.mark.xdist_group("dask")


@dataclass
class Cluster:
    """A scheduler and its workers."""

    address: str
    workers: "list[subprocess.Popen[bytes]]"
    pids: Path


@contextmanager
def running(folder: Path, count: int) -> Iterator[Cluster]:
    """Run a scheduler and some workers without nannies, so that a dead worker stays dead.

    By itself, the scheduler would allow more deaths than a corpus does.
    """
    pids = folder / "pids"
    pids.mkdir()
    environment = {
        **os.environ,
        "CASPR_TEST_PIDS": str(pids),
        "TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join([str(FAULTS), os.environ.get("PYTHONPATH", "")]),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "9",
    }
    file = folder / "scheduler.json"
    where = ("--scheduler-file", str(file), "--no-dashboard")
    here = ("--host", "127.0.0.1", "--port", "0")
    scheduler = _dask("dask_scheduler", *here, *where, folder=folder, environment=environment)
    workers: list[subprocess.Popen[bytes]] = []
    try:
        until(lambda: _address(file) is not None)
        for _ in range(count):
            given = ("--no-nanny", "--nthreads", "1", *where)
            workers.append(_dask("dask_worker", *given, folder=folder, environment=environment))
        yield Cluster(str(_address(file)), workers, pids)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a scheduler and two workers."""
    with running(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


def _dask(*words: str, folder: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:]]
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=nothing, stderr=nothing)


def _address(file: Path) -> str | None:
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError):
        return None


@pytest.fixture
def cluster(started: Cluster) -> Cluster:
    """Return the cluster, with no numbers of earlier processes."""
    for path in started.pids.iterdir():
        path.unlink()
    return started


def test_one_process_many_and_a_cluster_write_the_same_bytes(
    caspr: Caller, tmp_path: Path, cluster: Cluster
) -> None:
    corpus = write_corpus(tmp_path / "in", [f"d{number}" for number in range(12)])
    (corpus / "d3/bob.conll").write_text("#begin document (d3);\n1\tx\t(1\n#end document\n")
    ways: dict[str, tuple[object, ...]] = {
        "one": ("--processes", 1),
        "many": ("--processes", 3),
        "cluster": ("--cluster", cluster.address),
    }
    messages = {}
    for name, words in ways.items():
        outcome = caspr("corpus", corpus, "-o", tmp_path / name, *BRUTE, "--report", "--feedback", *words)
        assert outcome.code == 1, outcome
        messages[name] = outcome.err
    assert messages["one"] == messages["many"] == messages["cluster"]
    assert golds(tmp_path / "one") == golds(tmp_path / "many") == golds(tmp_path / "cluster")
    assert "reports/d0.html" in golds(tmp_path / "one")


def test_files_that_belong_together_travel_together(caspr: Caller, tmp_path: Path, cluster: Cluster) -> None:
    corpus = write_in(tmp_path / "in", ["news/one", "two"], "brat", ".ann", by="annotator")
    write_in(corpus, ["projects/three"], "mmax", ".mmax", by="annotator")
    for inputs, count in ((corpus, 3), (write_project(tmp_path / "project.zip"), 1)):
        for name, words in (("here", ()), ("there", ("--cluster", cluster.address))):
            outcome = caspr("corpus", inputs, "-o", tmp_path / f"{count}{name}", *BRUTE, *words)
            assert outcome.code == 0, outcome
            assert f" {count} proven optimal" in outcome.err
        assert golds(tmp_path / f"{count}here") == golds(tmp_path / f"{count}there")
        assert len(golds(tmp_path / f"{count}here")) >= count


def test_failures_on_a_cluster_have_the_same_reasons(caspr: Caller, tmp_path: Path, cluster: Cluster) -> None:
    corpus = write_corpus(tmp_path / "in", ["good1", "killed", "hungry", "good2"])
    limits = ("--memory-limit", 300)
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, *limits, "--cluster", cluster.address)
    assert outcome.code == 1, outcome
    assert "failed: killed: the worker was killed by SIGKILL" in outcome.err
    assert "failed: hungry: out of memory: limit 300 MB" in outcome.err
    assert set(golds(tmp_path / "out")) == {"good1.conll", "good2.conll"}


def test_interrupt_leaves_nothing_running_on_the_cluster(tmp_path: Path, cluster: Cluster) -> None:
    corpus = write_corpus(tmp_path / "in", ["sleepy1", "sleepy2", "sleepy3"])
    run = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
    until(lambda: len(list(cluster.pids.iterdir())) >= 4)
    run.send_signal(signal.SIGINT)
    assert run.wait(30) == 130
    until(lambda: all_gone(cluster.pids))
    assert all(alive(worker.pid) for worker in cluster.workers)


def seen(client: Any) -> tuple[int, list[str], dict[str, int]]:
    """Return what a scheduler allows, who looks on, and how many deaths each task counts."""

    def look(dask_scheduler: Any) -> tuple[int, list[str], dict[str, int]]:
        deaths = {str(key): task.suspicious for key, task in dask_scheduler.tasks.items()}
        return dask_scheduler.allowed_failures, sorted(dask_scheduler.plugins), deaths

    allowed, plugins, deaths = client.run_on_scheduler(look)
    return allowed, plugins, deaths


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_work_of_others_on_the_scheduler_is_not_touched(
    tmp_path: Path, cluster: Cluster, number: signal.Signals
) -> None:
    from distributed import Client

    corpus = write_corpus(tmp_path / "in", ["sleepy1", "sleepy2", "sleepy3"])
    with Client(cluster.address, set_as_default=False) as client:
        before = seen(client)
        assert before == (9, before[1], {})
        run = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
        until(lambda: len(list(cluster.pids.iterdir())) >= 4)
        other = client.submit(sum, [1, 2], key="other", priority=-1)
        until(lambda: "other" in seen(client)[2])
        allowed, _, deaths = seen(client)
        assert (allowed, deaths.pop("other")) == (9, 0)
        assert list(deaths.values()) == [8, 8, 8]
        run.send_signal(number)
        run.wait(30)
        assert other.result() == 3
        other.release()
        until(lambda: seen(client) == before)
    until(lambda: all_gone(cluster.pids))


def test_a_worker_that_dies_has_its_documents_run_elsewhere(tmp_path: Path, cluster: Cluster) -> None:
    names = [f"slow{number}" for number in range(16)]
    corpus = write_corpus(tmp_path / "in", names)
    run = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
    until(lambda: len(golds(tmp_path / "out")) >= 2 and len(list(cluster.pids.iterdir())) >= 2)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert run.wait(90) == 0, run.stderr.read() if run.stderr else ""
    assert len(golds(tmp_path / "out")) == 16
    here = start("corpus", corpus, "-o", tmp_path / "here", *BRUTE)
    assert here.wait(60) == 0
    assert golds(tmp_path / "here") == golds(tmp_path / "out")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_result_that_is_lost_with_its_worker_is_made_again(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Kill the worker that has a result before the client fetches it; the client may know, or not yet."""
    real = module._outcome
    killed: list[int] = []

    def outcome(future: Any, attempt: Any) -> Any:
        if not killed and future.status == "finished":
            [[address]] = future.client.who_has([future]).values()
            killed.append(future.client.run(os.getpid)[address])
            os.kill(killed[0], signal.SIGKILL)
            until(lambda: when == "after" or future.status != "finished")
        return real(future, attempt)

    monkeypatch.setattr(module, "_outcome", outcome)
    corpus = write_corpus(tmp_path / "in", ["a", "b"])
    with running(tmp_path, 2) as cluster:
        finished = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
    assert (finished.code, len(killed)) == (0, 1), finished
    assert set(golds(tmp_path / "out")) == {"a.conll", "b.conll"}


def test_a_run_ends_when_the_scheduler_is_gone(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["sleepy"])
    with running(tmp_path, 1) as cluster:
        run = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
        until(lambda: len(list(cluster.pids.iterdir())) == 2)
    assert run.wait(60) == 2
    assert "the Dask scheduler is gone" in (run.stderr.read() if run.stderr else "")


def test_a_document_that_kills_every_worker_is_given_up(caspr: Caller, tmp_path: Path) -> None:
    """Count its runs: two among others, then two by itself; what it took with it is done again and is no run.

    Results of its neighbours may be lost with a worker before they are fetched: whether that happens is up
    to the load of the machine, and must make no difference.
    """
    corpus = write_corpus(tmp_path / "in", ["a", "b", "deadly", "x", "y", "z"])
    with running(tmp_path, 5) as cluster:
        outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--cluster", cluster.address)
        assert len(list(cluster.pids.iterdir())) == 4, outcome
        assert any(alive(worker.pid) for worker in cluster.workers)
    assert outcome.code == 1, outcome
    assert "failed: deadly: the Dask workers it ran on died, 4 times; it was given up" in outcome.err
    assert set(golds(tmp_path / "out")) == {f"{name}.conll" for name in "abxyz"}


def test_a_missing_scheduler_is_an_error_of_one_line(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caspr.corpus.cluster._TIMEOUT", 1)
    corpus = write_corpus(tmp_path / "in", ["d1"])
    line = caspr.fails("corpus", corpus, "-o", tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    assert "no Dask scheduler answers there" in line


def test_nothing_of_dask_is_imported_without_a_cluster(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["d1"])
    code = (
        "import sys; from caspr.cli import cli;"
        f"cli.main(['corpus', {str(corpus)!r}, '-o', {str(tmp_path / 'out')!r}], standalone_mode=False);"
        "sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
