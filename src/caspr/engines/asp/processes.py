"""Run a pipe of programs within limits, line by line, and leave nothing behind.

Every program is the leader of its own session, so that Ctrl-C reaches only us and we can kill it with all
its children. Memory is limited by the kernel (`ulimit -v`); as a last resort against orphans, processor
time is limited as well when there is a time limit.
"""

import contextlib
import ctypes
import os
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from caspr.errors import EngineError
from caspr.task.limits import Limits

_KILLED = frozenset({33, 134, 137, 139})
"""Exit codes of programs that ran out of memory: clasp's own, aborted, killed, segmentation fault."""
_MEMORY_WORDS = ("bad_alloc", "MemoryError", "allocate memory", "shared librar", "ImportError", "mmap")
"""What programs complain of when they get no memory, also while they are being loaded."""
_GRACE = 1.0
"""Seconds between asking a program to end and killing it."""


class _Program(subprocess.Popen[str]):
    """A program that remembers the processor seconds it took, once it was waited for."""

    seconds = 0.0

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; what our ended children took in all grows by what this one took."""
        before = _seconds_of_children()
        try:
            return super().wait(timeout)
        finally:
            self.seconds += _seconds_of_children() - before


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class TimeOutError(Exception):
    """The time limit came before the pipe ended."""


class OutOfMemoryError(Exception):
    """A program of the pipe ran into the memory limit."""


def run_pipe(
    commands: Sequence[Sequence[str]],
    text: str,
    limits: Limits,
    *,
    success: frozenset[int],
    ended: Callable[[list[float]], None] = lambda _: None,
) -> Iterator[str]:
    """Feed text to a pipe of commands and yield the lines it prints.

    Raise `TimeOutError` or `OutOfMemoryError` at a limit, and `EngineError` if the last program ends with a
    code that is not among `success`. At the time limit, and at Ctrl-C, the programs are asked to end, and
    what they still print is yielded first. However the iteration ends, all processes are gone afterwards,
    and `ended` was told the processor seconds each took.
    """
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    processes: list[_Program] = []
    with _temporary(text) as source, _temporary() as errors:
        try:
            _start(commands, limits, source, errors, processes)
            yield from _lines(processes, deadline)
            codes = [process.wait() for process in processes]
        finally:
            _end(processes)
            ended([process.seconds for process in processes])
        errors.seek(0)
        _judge(commands, codes, success, errors.read(), limits)


def _temporary(text: str = "") -> IO[str]:
    try:
        file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - the caller closes it
        file.write(text)
        file.seek(0)
    except OSError as error:
        raise EngineError(
            f"cannot write a temporary file in {tempfile.gettempdir()}: {error.strerror}"
        ) from error
    return file


def _start(
    commands: Sequence[Sequence[str]],
    limits: Limits,
    source: IO[str],
    errors: IO[str],
    processes: list[_Program],
) -> None:
    stream: IO[str] | None = source
    for command in commands:
        try:
            process = _Program(
                [*_limiter(limits), *command],
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        except OSError as error:
            raise EngineError(f"cannot start {command[0]}: {error.strerror}") from error
        processes.append(process)
        if stream is not None and stream is not source:
            stream.close()
        stream = process.stdout


def _c_library() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if sys.platform == "linux" else None


_LIBC = _c_library()
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have Linux kill a program when we are killed, so that no solver outlives us."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _limiter(limits: Limits) -> list[str]:
    """Return the words to put before a command so that the kernel limits it."""
    script = ""
    if limits.megabytes is not None:
        script += f"ulimit -v {limits.megabytes * 1024} || exit 99; "
    if limits.seconds is not None:
        script += f"ulimit -t {int(limits.seconds) + 10}; "
    return ["/bin/sh", "-c", script + 'exec "$@"', "sh"] if script and os.name == "posix" else []


def _lines(processes: Sequence[_Program], deadline: float | None) -> Iterator[str]:
    """Yield lines as they come; a thread reads, so that waiting can end at the deadline or by Ctrl-C."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(processes[-1].stdout, lines), daemon=True).start()
    try:
        yield from _until(deadline, lines)
    except (TimeOutError, KeyboardInterrupt):
        for process in processes:
            _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeOutError):
            yield from _until(time.monotonic() + _GRACE, lines)
        raise


def _until(deadline: float | None, lines: "queue.SimpleQueue[str | None]") -> Iterator[str]:
    """Yield lines until there are no more; raise `TimeOutError` at the deadline."""
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeOutError
        try:
            line = lines.get(timeout=0.2 if left is None else min(left, 0.2))
        except queue.Empty:
            continue
        if line is None:
            return
        yield line


def _pump(stream: IO[str], lines: "queue.SimpleQueue[str | None]") -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            lines.put(line.rstrip("\n"))
    lines.put(None)


def _end(processes: Sequence[_Program]) -> None:
    """Ask whatever still runs to end, then kill it with all its children."""
    running = [process for process in processes if not _has_ended(process)]
    for process in running:
        _signal(process, signal.SIGTERM)
    give_up = time.monotonic() + _GRACE
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, give_up - time.monotonic()))
    for process in processes:
        _signal(process, signal.SIGKILL)
        process.wait()


def _has_ended(process: _Program) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0)
    return process.returncode is not None


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _judge(
    commands: Sequence[Sequence[str]],
    codes: Sequence[int],
    success: frozenset[int],
    complaint: str,
    limits: Limits,
) -> None:
    """Tell a memory limit from a failure, once all programs have ended by themselves."""
    failed = [
        index for index, code in enumerate(codes) if code and (index < len(codes) - 1 or code not in success)
    ]
    out_of_memory = any(word in complaint for word in _MEMORY_WORDS)
    crashed = any(codes[index] < 0 or codes[index] in _KILLED for index in failed)
    if limits.megabytes is not None and (out_of_memory or crashed):
        raise OutOfMemoryError
    if any(codes[index] in (-signal.SIGKILL, 137) for index in failed):
        # Nobody but the kernel, short of memory, kills solvers.
        raise OutOfMemoryError
    if limits.seconds is not None and any(code in (-signal.SIGXCPU, 152) for code in codes):
        raise TimeOutError
    if failed:
        said = complaint.strip().splitlines()
        command = " ".join(commands[failed[0]][:4])
        raise EngineError(f"{command} ended with code {codes[failed[0]]}{': ' + said[-1] if said else ''}")
