"""Run a pipe of programs within limits, line by line, and leave no process running.

Every program leads a session of its own, so that Ctrl-C reaches only this process, which ends the programs
and their descendants itself (`caspr.processes`). Memory is limited by the kernel of Linux (`ulimit -v`);
elsewhere this process looks at it while it waits for lines. As a last resort against orphans, processor time
is limited as well when there is a time limit, except on Windows.
"""

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from caspr.errors import EngineError
from caspr.processes import INTERVAL, KERNEL_LIMITS, ProcessTrees, end_with_this_process, own_session
from caspr.task.limits import Limits

_KILLED = frozenset({33, 134, 137, 139})
"""Exit codes of programs that ran out of memory: clasp's own, aborted, killed, segmentation fault."""
_MEMORY_WORDS = ("bad_alloc", "MemoryError", "allocate memory", "shared librar", "ImportError", "mmap")
"""Words in the messages of programs that get no memory, also while they are being loaded."""
_OUT_OF_TIME = frozenset({-24, 152})
"""Exit codes of programs that the kernel ended after their processor time (SIGXCPU)."""
_STOPPED_BY_KERNEL = frozenset({-9, 137})
"""Exit codes of programs that were killed (SIGKILL)."""
_GRACE = 0.8
"""Seconds between asking a program to end and killing it."""


class _Program(subprocess.Popen[str]):
    """A program with the processor seconds that it took, known once it was waited for."""

    seconds = 0.0

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; the processor time of all ended children grows by that of this one."""
        before = _seconds_of_children()
        try:
            return super().wait(timeout)
        finally:
            self.seconds += _seconds_of_children() - before


def _seconds_of_children() -> float:
    """Return the processor time of ended children; Windows does not count it."""
    try:
        import resource
    except ImportError:
        used = os.times()
        return used.children_user + used.children_system
    exact = resource.getrusage(resource.RUSAGE_CHILDREN)
    return exact.ru_utime + exact.ru_stime


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
    and `ended` was called with the processor seconds each took.
    """
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    processes: list[_Program] = []
    trees = ProcessTrees(processes)
    with _temporary(text) as source, _temporary() as errors:
        try:
            output = _start(commands, limits, source, errors, processes)
            yield from _lines(output, trees, deadline, None if KERNEL_LIMITS else limits.megabytes)
            codes = [process.wait() for process in processes]
        finally:
            _end(processes, trees)
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
) -> IO[str]:
    """Start the programs, each reading what the one before prints; return the output of the last."""
    stream = source
    for command in commands:
        try:
            process = _Program(
                [*_limiter(limits), *command],
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                **own_session(),
            )
        except OSError as error:
            raise EngineError(f"cannot start {command[0]}: {error.strerror}") from error
        processes.append(process)
        end_with_this_process(process)
        if stream is not source:
            stream.close()
        assert process.stdout is not None
        stream = process.stdout
    return stream


def _limiter(limits: Limits) -> list[str]:
    """Return the prefix of a command line with which the kernel limits the command."""
    script = ""
    if limits.megabytes is not None and KERNEL_LIMITS:
        script += f"ulimit -v {limits.megabytes * 1024} || exit 99; "
    if limits.seconds is not None:
        script += f"ulimit -t {int(limits.seconds) + 10}; "
    return ["/bin/sh", "-c", script + 'exec "$@"', "sh"] if script and os.name == "posix" else []


def _lines(
    output: IO[str], trees: ProcessTrees, deadline: float | None, megabytes: int | None
) -> Iterator[str]:
    """Yield lines as they come; a thread reads, so that waiting can end at the deadline or by Ctrl-C.

    With `megabytes`, it ends as well when a program holds more.
    """
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(output, lines), daemon=True).start()
    waiting = _until(deadline, lines) if megabytes is None else _within(megabytes, trees, deadline, lines)
    try:
        yield from waiting
    except (TimeOutError, KeyboardInterrupt):
        trees.terminate()
        with contextlib.suppress(TimeOutError):
            yield from _until(time.monotonic() + _GRACE, lines)
        trees.kill()  # a grounder does not react, and has had its time
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


def _within(
    megabytes: int, trees: ProcessTrees, deadline: float | None, lines: "queue.SimpleQueue[str | None]"
) -> Iterator[str]:
    """Yield lines until there are no more; look at the memory of the programs meanwhile."""
    while True:
        look = time.monotonic() + INTERVAL
        try:
            yield from _until(look if deadline is None else min(look, deadline), lines)
            return
        except TimeOutError:
            if deadline is not None and time.monotonic() >= deadline:
                raise
        if trees.largest_megabytes() > megabytes:
            raise OutOfMemoryError


def _pump(stream: IO[str], lines: "queue.SimpleQueue[str | None]") -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            lines.put(line.rstrip("\n"))
    lines.put(None)


def _end(processes: Sequence[_Program], trees: ProcessTrees) -> None:
    """Ask whatever still runs to end, then kill it with all its descendants."""
    running = [process for process in processes if not _has_ended(process)]
    if running:
        trees.terminate()
    deadline = time.monotonic() + _GRACE
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
    trees.kill()
    for process in processes:
        process.wait()


def _has_ended(process: _Program) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0)
    return process.returncode is not None


def _judge(
    commands: Sequence[Sequence[str]],
    codes: Sequence[int],
    success: frozenset[int],
    complaint: str,
    limits: Limits,
) -> None:
    """Raise the limit or the failure that the exit codes stand for; all programs have ended by themselves."""
    failed = [
        index for index, code in enumerate(codes) if code and (index < len(codes) - 1 or code not in success)
    ]
    out_of_memory = any(word in complaint for word in _MEMORY_WORDS)
    crashed = any(codes[index] < 0 or codes[index] in _KILLED for index in failed)
    if limits.megabytes is not None and (out_of_memory or crashed):
        raise OutOfMemoryError
    if any(codes[index] in _STOPPED_BY_KERNEL for index in failed):
        # Only the kernel, short of memory, kills solvers.
        raise OutOfMemoryError
    if limits.seconds is not None and any(code in _OUT_OF_TIME for code in codes):
        raise TimeOutError
    if failed:
        said = complaint.strip().splitlines()
        command = " ".join(commands[failed[0]][:4])
        raise EngineError(f"{command} ended with code {codes[failed[0]]}{': ' + said[-1] if said else ''}")
