"""Whatever a program starts, and however it ends, nothing of it is left. All processes are real."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from caspr.processes import ProcessTrees, free_megabytes
from tests.corpus.processes import alive, until

PARENT = """
import os, signal, subprocess, sys, time
{ignore}
code = "import signal, time; {stubborn}; print(1, flush=True); time.sleep(99)"
child = subprocess.Popen([sys.executable, "-c", code], start_new_session={apart}, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
{end}
"""
PAPER = sorted((Path(__file__).parents[1] / "examples/paper").glob("*.conll"))
IGNORE = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@contextmanager
def started(**parts: object) -> Iterator[tuple["subprocess.Popen[str]", int, str]]:
    """Start a program with a child that ignores SIGTERM; yield both, and the mark they inherited."""
    mark = f"CASPR_TEST={secrets.token_hex(8)}"
    code = PARENT.format(
        **{"ignore": "", "stubborn": IGNORE, "apart": False, "end": "time.sleep(99)", **parts}
    )
    words = ["env", mark, sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            yield process, child, mark
        finally:
            ProcessTrees([process], [mark]).kill()


def gone(pid: int) -> bool:
    until(lambda: not alive(pid), 5)
    return True


@pytest.mark.parametrize("apart", [False, True])
def test_children_are_killed_in_whatever_session(apart: bool) -> None:
    with started(apart=apart, ignore=IGNORE) as (process, child, _):
        trees = ProcessTrees([process])
        trees.terminate()
        assert alive(child)
        trees.kill()
        assert process.wait(5) != 0
        assert gone(child)


def test_a_child_that_survives_its_parents_end_is_killed_later() -> None:
    with started(apart=True) as (process, child, _):
        trees = ProcessTrees([process])
        trees.terminate()
        process.wait(5)
        assert alive(child)
        trees.kill()
        assert gone(child)


def test_an_orphan_is_found_by_its_group() -> None:
    with started(end="") as (process, child, _):
        process.wait(5)
        ProcessTrees([process]).kill()
        assert gone(child)


def test_an_orphan_in_a_session_of_its_own_is_found_by_its_mark() -> None:
    with started(apart=True, end="") as (process, child, mark):
        process.wait(5)
        ProcessTrees([process], [f"{mark}x"]).kill()
        assert alive(child)
        ProcessTrees([process], [mark]).kill()
        assert not alive(child), "a marked process is gone on return"


def test_an_adjudication_with_the_native_engine_does_not_load_psutil(tmp_path: Path) -> None:
    words = ["adjudicate", *map(str, PAPER), "-o", str(tmp_path / "gold.conll")]
    code = (
        f"import sys; from caspr.cli import cli; cli.main({words!r}, standalone_mode=False);"
        "sys.exit('psutil' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_free_memory_is_what_psutil_says_where_the_system_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    assert 0 < free_megabytes() < psutil.virtual_memory().total / 2**20
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"no such line")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=7 * 2**20))
    assert free_megabytes() == 7
