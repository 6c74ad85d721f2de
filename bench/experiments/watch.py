"""Run a command within limits, measured over its whole process tree, as the tool `runlim` does.

Time is the processor time of all processes of the tree, those that ended included; it is what a limit is
set on, so that a busy machine makes no difference. Wall-clock time is limited as well, generously, against
programs that wait forever. Memory is what all processes of the tree have in RAM together. Both are sampled.

At the time limit the command gets Ctrl-C, and some seconds to print the best solution so far; at the memory
limit, and if it does not end, the whole tree is killed. If the watching process itself is killed, the
kernel ends each process of the tree by a limit of processor time of its own. Several commands can be watched
at a time, each by a thread, until an experiment is stopped.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import psutil

GRACE = 10.0
"""Seconds of processor time that a command has, after Ctrl-C, to print the best solution so far."""
WALL = 20.0
"""Limits on the clock are this many times those of processor time."""
KERNEL = 2
"""So many times the limit the kernel allows, for it counts by ticks: on a busy machine a tenth too much."""


class Cut(StrEnum):
    """Which limit was exceeded."""

    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True)
class Usage:
    """What a command took and printed."""

    seconds: float
    """Processor time of the tree."""
    wall: float
    """Seconds on the clock."""
    megabytes: float
    """The peak memory of the tree."""
    cut: Cut | None
    """The limit that was exceeded, if any."""
    code: int
    """How the command ended."""
    output: str
    """What it printed."""
    errors: str
    """What it printed to standard error."""


class StoppedError(Exception):
    """The experiment was stopped while a command ran."""


def watch(
    command: Sequence[str],
    *,
    seconds: float,
    megabytes: float,
    environment: Mapping[str, str] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Usage:
    """Run a command within limits and return what it took; none of its processes is left.

    Raise `StoppedError` once `stopped` returns true.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            env=environment,
        )
        # Before it starts others, which inherit it. (A `preexec_fn` is not safe beside other threads.)
        tree = _Tree(process.pid)
        with contextlib.suppress(psutil.Error):
            tree.root.rlimit(psutil.RLIMIT_CPU, (int(KERNEL * (seconds + GRACE)) + 1,) * 2)
        try:
            cut = _watch(tree, started, seconds, megabytes, stopped)
        finally:
            tree.kill()
            tree.reap(process)
        wall = time.monotonic() - started
        for file in (output, errors):
            file.seek(0)
        return Usage(
            tree.seconds, wall, tree.megabytes, cut, process.returncode, output.read(), errors.read()
        )


def _watch(
    tree: "_Tree", started: float, seconds: float, megabytes: float, stopped: Callable[[], bool]
) -> Cut | None:
    """Wait for the end of a tree; return which limit it exceeded."""
    cut, give_up = None, started + WALL * seconds
    while not tree.ended:
        if stopped():
            raise StoppedError
        tree.sample()
        now = time.monotonic()
        if tree.megabytes > megabytes:
            return Cut.MEMORY
        if tree.seconds > seconds or now > give_up:
            if cut is not None:
                return cut
            cut, seconds, give_up = Cut.TIME, seconds + GRACE, now + WALL * GRACE
            tree.interrupt()
        time.sleep(min(0.2, max(0.02, (now - started) / 20)))
    return cut


class _Tree:
    """The processes below one, itself included: how much they took so far."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)
        self.known: set[psutil.Process] = {self.root}
        self.seconds = 0.0
        self.megabytes = 0.0

    @property
    def ended(self) -> bool:
        """Whether the root has ended; it stays a zombie until it is reaped."""
        return self.root.status() == psutil.STATUS_ZOMBIE

    def sample(self) -> None:
        """Measure all processes there are now.

        A process counts what its children took once it has waited for them, so nothing is lost or
        counted twice when they end.
        """
        seconds = memory = 0.0
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied), process.oneshot():
                seconds += sum(process.cpu_times()[:4])
                memory += process.memory_info().rss
        self.seconds = max(self.seconds, seconds)
        self.megabytes = max(self.megabytes, memory / 2**20)

    def _processes(self) -> Iterator[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.known.update(self.root.children(recursive=True))
        self.known = {process for process in self.known if process.is_running()}
        yield from self.known

    def interrupt(self) -> None:
        """Send Ctrl-C to the root."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self.root.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill whatever still runs, the root first, so that it starts nothing new."""
        for process in (self.root, *self._processes()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def reap(self, process: "subprocess.Popen[bytes]") -> None:
        """Reap the root and take over what it and its children took, by the kernel's count."""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = max(self.seconds, used.ru_utime + used.ru_stime)
        self.megabytes = max(self.megabytes, used.ru_maxrss / 1024)
