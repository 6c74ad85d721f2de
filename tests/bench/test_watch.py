"""Limits of experiments are kept over whole process trees, and nothing is left running."""

import os
import signal
import sys
import time

import psutil
import pytest

from bench.experiments import watch as watching
from bench.experiments.watch import Cut, watch

BURN = "while True: pass"
NESTED = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
"""A parent that only waits for its child."""


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


def test_a_command_within_its_limits_tells_what_it_took() -> None:
    usage = watch(python("x = bytearray(200 << 20); print('done')"), seconds=60, megabytes=4000)
    assert (usage.cut, usage.code, usage.output) == (None, 0, "done\n")
    assert 200 < usage.megabytes < 400
    assert usage.seconds > 0 and usage.wall > 0


def test_time_is_that_of_children_too() -> None:
    usage = watch(python(NESTED, BURN), seconds=1, megabytes=4000)
    assert usage.cut is Cut.TIME
    assert usage.seconds > 1


def test_time_of_children_that_ended_counts() -> None:
    code = "import subprocess, sys\nfor _ in range(100): subprocess.run([sys.executable, '-c', sys.argv[1]])"
    short = "import time\nwhile time.process_time() < 0.3: pass"
    usage = watch(python(code, short), seconds=2, megabytes=4000)
    assert usage.cut is Cut.TIME


def test_memory_is_that_of_the_whole_tree() -> None:
    hold = "import time; x = bytearray(100 << 20); time.sleep(60)"
    code = (
        "import subprocess, sys, time\n"
        "for _ in range(4): subprocess.Popen([sys.executable, '-c', sys.argv[1]])\n"
        "time.sleep(60)"
    )
    usage = watch(python(code, hold), seconds=60, megabytes=300)
    assert usage.cut is Cut.MEMORY
    assert usage.code == -signal.SIGKILL


def test_at_the_time_limit_a_command_may_tell_its_best() -> None:
    code = "try:\n    while True: sum(range(1000))\nexcept KeyboardInterrupt: print('best so far')"
    usage = watch(python(code), seconds=2, megabytes=1000)
    assert (usage.cut, usage.code, usage.output) == (Cut.TIME, 0, "best so far\n")


def test_a_command_that_only_waits_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "GRACE", 0.5)
    usage = watch(python("import time; time.sleep(600)"), seconds=0.1, megabytes=1000)
    assert usage.cut is Cut.TIME


def test_a_command_deaf_to_ctrl_c_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "GRACE", 1.0)
    code = (
        "import os, signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "while True: pass"
    )
    usage = watch(python(code, BURN), seconds=2, megabytes=1000)
    assert (usage.cut, usage.code) == (Cut.TIME, -signal.SIGKILL)
    child = int(usage.output)
    give_up = time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_complaints_are_kept() -> None:
    usage = watch(python("import sys; sys.exit('out of luck')"), seconds=60, megabytes=1000)
    assert (usage.cut, usage.code, usage.errors) == (None, 1, "out of luck\n")


def test_the_kernel_ends_what_a_dead_watcher_left() -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[1])"
    usage = watch(python(code), seconds=7, megabytes=1000, environment=dict(os.environ))
    assert 7 < int(usage.output) < 60
