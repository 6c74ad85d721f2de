"""However a run ends, nothing of it stays in the folder for temporary files. All processes are real."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from caspr.corpus.workspace import Workspace
from tests.cli.caller import Caller
from tests.corpus.corpora import golds, write_corpus, write_project
from tests.corpus.processes import all_gone, start, until

BRUTE = ("--engine", "brute", "--processes", "2")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this process and those it starts a folder for temporary files of their own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def test_a_run_that_ends_by_itself(caspr: Caller, tmp_path: Path, pids: Path, temporary: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["good", "killed", "buggy"])
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE).code == 1
    assert caspr("corpus", write_project(tmp_path / "p.zip"), "-o", tmp_path / "p", *BRUTE).code == 0
    (tmp_path / "bad.zip").write_bytes(b"PK\3\4 nonsense")
    assert caspr("corpus", tmp_path / "bad.zip", "-o", tmp_path / "bad", *BRUTE).code == 2
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([signal.SIGINT], 130),
        ([signal.SIGINT, signal.SIGINT, signal.SIGINT], 130),
        ([signal.SIGTERM], 143),
        ([signal.SIGTERM, signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
    ],
    ids=["interrupt", "impatient", "terminate", "terminate-twice", "terminal-closed"],
)
def test_a_run_that_is_stopped(
    tmp_path: Path, pids: Path, temporary: Path, signals: list[signal.Signals], code: int
) -> None:
    corpus = write_corpus(tmp_path / "in", ["sleepy1", "sleepy2", "good"])
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    until(lambda: len(list(pids.iterdir())) == 4 and len(golds(tmp_path / "out")) == 1)
    assert list(temporary.iterdir())
    for number in signals:
        process.send_signal(number)
        time.sleep(0.05)
    assert process.wait(30) == code
    message = process.stderr.read() if process.stderr else ""
    assert message == "stopped; 1 document done; run the same command to continue\n"
    assert not list(temporary.iterdir())
    assert all_gone(pids)
    assert not list((tmp_path / "out").glob(".caspr-*.tmp"))


def test_what_a_killed_run_leaves_goes_with_the_next(
    caspr: Caller, tmp_path: Path, pids: Path, temporary: Path
) -> None:
    corpus = write_corpus(tmp_path / "in", [f"slow{number}" for number in range(9)])
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    until(lambda: len(golds(tmp_path / "out")) >= 2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: all_gone(pids))
    half = tmp_path / "out/news/.caspr-0123456789abcdef.tmp"
    half.parent.mkdir()
    half.write_text("half")
    (half.parent / ".caspr-mine.tmp").write_text("mine")
    assert list(temporary.iterdir())
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE).code == 0
    assert not list(temporary.iterdir())
    assert [path.name for path in half.parent.iterdir()] == [".caspr-mine.tmp"]


def test_folders_in_use_and_those_of_others_are_left(temporary: Path) -> None:
    (temporary / "caspr-results").mkdir()
    (temporary / "caspr-results/owner").write_text("me")
    mine = Workspace()
    (mine.path / "file").touch()
    other = "from caspr.corpus.workspace import Workspace; one = Workspace(); {end}"
    for end in ("one.close()", "pass", "raise SystemExit", "import os; os.kill(os.getpid(), 9)"):
        subprocess.run([sys.executable, "-c", other.format(end=end)], check=False)
    assert len(list(temporary.iterdir())) == 3
    second = Workspace()
    assert len(list(temporary.iterdir())) == 3, "of the killed process nothing is left"
    assert (mine.path / "file").exists()
    mine.close()
    second.close()
    assert [path.name for path in temporary.iterdir()] == ["caspr-results"]
