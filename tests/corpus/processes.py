"""Real command lines in processes of their own, and whether processes are still there."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def start(*words: object) -> "subprocess.Popen[str]":
    """Start `caspr` with some words."""
    command = [sys.executable, "-m", "caspr", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that will surely happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Return whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def all_gone(folder: Path) -> bool:
    """Return whether all processes that left their number are gone."""
    return not any(alive(int(path.name)) for path in folder.iterdir())
