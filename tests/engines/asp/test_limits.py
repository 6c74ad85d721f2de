"""Limits are kept, the best so far comes back, and nothing is left running."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from caspr.engines import choose
from caspr.engines.asp.pipes import OutOfMemoryError, TimeOutError, run_pipe
from caspr.errors import EngineError
from caspr.proof.certify import certify
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Status, Stop
from caspr.text.document import Annotation, Chain, Document


def hard_instance(mentions: int = 120) -> Instance:
    """Make an instance whose closure is far too large to search within a second."""
    document = Document("hard", tuple("x" for _ in range(mentions)))
    annotations = tuple(
        Annotation.of(
            f"a{step}",
            document,
            (
                Chain.of(str(start), [(token, token) for token in range(start, mentions + 1, step)])
                for start in range(1, step + 1)
            ),
        )
        for step in (3, 4, 5, 7)
    )
    return Instance(annotations, OBJECTIVES["ua"])


@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
def test_time_limit(engine: str) -> None:
    instance = hard_instance()
    started = time.monotonic()
    solution = choose(engine)[1](instance, Limits(seconds=1.5), silent)
    assert time.monotonic() - started < 10
    certify(instance, solution)
    assert solution.status is Status.FEASIBLE
    assert solution.stop is Stop.TIME
    assert solution.bound < solution.value


@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
def test_memory_limit(engine: str) -> None:
    instance = hard_instance(120)
    solution = choose(engine)[1](instance, Limits(megabytes=100, seconds=600), silent)
    certify(instance, solution)
    assert solution.status is Status.FEASIBLE
    assert solution.stop is Stop.MEMORY


@pytest.mark.parametrize("engine", ["clingo", "native"])
def test_no_time_at_all_gives_an_answer_with_decisions(engine: str) -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(3, 3)])], empty=[9])
    instance = Instance(hard_instance(40).annotations, decisions=decisions)
    solution = choose(engine)[1](instance, Limits(seconds=0), silent)
    certify(instance, solution)
    assert solution.stop is Stop.TIME or solution.status is Status.OPTIMAL


def gone(pids: list[int]) -> bool:
    """Wait a moment for killed processes to disappear."""
    give_up = time.monotonic() + 3
    while any(alive(pid) for pid in pids) and time.monotonic() < give_up:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


STUBBORN = (
    "import os, signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "child = subprocess.Popen(['sleep', '60']); print(os.getpid(), child.pid, flush=True); time.sleep(60)"
)


def test_a_program_that_ignores_sigterm_is_killed_with_its_children() -> None:
    lines = run_pipe([[sys.executable, "-c", STUBBORN]], "", Limits(seconds=1), success=frozenset({0}))
    pids = [int(pid) for pid in next(lines).split()]
    with pytest.raises(TimeOutError):
        next(lines)
    assert gone(pids)


def test_an_abandoned_run_leaves_nothing_behind() -> None:
    lines = run_pipe([[sys.executable, "-c", STUBBORN]], "", Limits(), success=frozenset({0}))
    pids = [int(pid) for pid in next(lines).split()]
    lines.close()  # type: ignore[attr-defined]
    assert gone(pids)


def test_failures_and_limits_raise_different_errors() -> None:
    greedy = [sys.executable, "-c", "x = bytearray(10**9)"]
    with pytest.raises(OutOfMemoryError):
        list(run_pipe([greedy], "", Limits(megabytes=200), success=frozenset({0})))
    failing = [sys.executable, "-c", "import sys; sys.exit('out of luck')"]
    with pytest.raises(EngineError, match="out of luck"):
        list(run_pipe([failing], "", Limits(), success=frozenset({0})))
    with pytest.raises(EngineError, match="no-such-program"):
        list(run_pipe([["no-such-program"]], "", Limits(), success=frozenset({0})))


def test_a_large_input_flows_through_a_pipe() -> None:
    text = "line\n" * 200_000
    assert len(list(run_pipe([["cat"], ["cat"]], text, Limits(), success=frozenset({0})))) == 200_000


def test_a_missing_wasp_is_an_error_with_instructions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="expected WASP 2"):
        choose("gringo-wasp")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_the_command_and_its_solvers(number: signal.Signals, tmp_path: Path) -> None:
    for index, annotation in enumerate(hard_instance(300).annotations):
        tokens = {
            token: f"{token}\tx\t(c{chain.id})" for chain in annotation.chains for token, _ in chain.mentions
        }
        body = "\n".join(tokens[token] for token in sorted(tokens))
        (tmp_path / f"{index}.conll").write_text(f"#begin document (d);\n{body}\n#end document\n")
    files = [str(path) for path in sorted(tmp_path.glob("*.conll"))]
    command = [sys.executable, "-m", "caspr", "adjudicate", *files, "-o", str(tmp_path / "gold.conll")]
    process = subprocess.Popen(
        [*command, "--objective", "ua", "--engine", "clingo"], stderr=subprocess.PIPE, text=True
    )
    give_up = time.monotonic() + 60
    children: list[str] = []
    while not children and time.monotonic() < give_up:
        time.sleep(0.2)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert children
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert gone([int(child) for child in children])
    if number is signal.SIGINT:
        # Written, but nothing was found by then that needs a search.
        assert process.returncode == 3
        assert "not proven optimal before the interrupt" in errors
        assert (tmp_path / "gold.conll").exists()
    else:
        assert process.returncode == (128 + number if number is not signal.SIGKILL else -number)
        assert not (tmp_path / "gold.conll").exists()
