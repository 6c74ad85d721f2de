"""Processes of the operating system: ended together with everything they started, and kept within memory.

**Ending.** A program may start others, put them into sessions of their own, and end before them. Each of
the three ways to find them misses some:

    descendants   by parent (psutil), in whatever session, but only while every process in between is alive
    group         the POSIX process group of a program that was started in a session of its own, even after
                  the program has ended, but not what has left the group
    mark          an environment variable with a random value, which all of them inherit unless they clear
                  their environment; every process of the machine is searched

`ProcessTrees` combines them. Windows has no groups. When this process is killed itself, it can end nothing:
Linux then kills what was started with `own_session` (PDEATHSIG), Windows what `end_with_this_process` put
into a job object; macOS does neither.

**Memory.** Linux keeps a limit itself (RLIMIT_AS): beyond it the next allocation fails, and a `MemoryError`
ends the job. macOS and Windows keep none that a user could set for one program. There a thread looks at the
resident memory several times a second (what is taken between two looks comes on top) and ends the process
with an exit code by which its supervisor knows the reason.

This module is at the bottom of the import layers, because the ASP engines and the corpus both end processes.
psutil is imported where it is used, so that a run without limits does not load it.
"""

import contextlib
import ctypes
import getpass
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psutil import Process

KERNEL_LIMITS = sys.platform == "linux"
"""Whether the system keeps the memory limit of a process."""
INTERVAL = 0.1
"""Seconds between two looks at the memory of a process whose limit the system does not keep."""
OUT_OF_MEMORY = 33
"""The exit code of a worker that ended itself because it was over its limit."""
_MEGABYTE = 2**20
_PATIENCE = 5.0
"""Seconds until marked processes that were killed are expected to be gone."""
_PAUSE = 0.01
"""Seconds between two searches for marked processes."""
_PR_SET_PDEATHSIG = 1
_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMITS = 9


class ProcessTrees:
    """Programs that this process has started, and all that those have started."""

    def __init__(self, roots: Collection[Popen[Any]], marks: Collection[str] = ()) -> None:
        """Take the programs, and the marks `NAME=value` in the environments of some of them."""
        self._roots = roots
        self._marks = marks
        self._found: set[Process] = set()

    def terminate(self) -> None:
        """Ask all processes to end, where the platform can ask; remember those found for `kill`."""
        self._look()
        for root in self._roots:
            _signal_group(root.pid, signal.SIGTERM)
        for process in self._found:
            if not self._is_in_group(process):
                _attempt(process.terminate)

    def kill(self) -> None:
        """Kill all processes, also those that an earlier `terminate` found; the caller waits for the roots.

        Marked processes are gone on return, unless the system takes longer than some seconds for it: what was
        started during a search is found by the next one.
        """
        self._look()
        if hasattr(signal, "SIGKILL"):
            for root in self._roots:
                _signal_group(root.pid, signal.SIGKILL)
        for process in self._found:
            _attempt(process.kill)
        deadline = time.monotonic() + _PATIENCE
        while self._marks and time.monotonic() < deadline:
            marked = list(_marked(self._marks))
            if not marked:
                return
            for process in marked:
                _attempt(process.kill)
            time.sleep(_PAUSE)

    def largest_megabytes(self) -> float:
        """Return the memory of the largest process that is there now."""
        self._look()
        return max((resident_megabytes(process.pid) for process in self._found), default=0.0)

    def _look(self) -> None:
        """Find descendants; the pid of a program that was waited for may belong to another by now."""
        running = [root.pid for root in self._roots if root.returncode is None]
        if not running:
            return
        from psutil import Error, Process

        for pid in running:
            with contextlib.suppress(Error):
                process = Process(pid)
                self._found |= {process, *process.children(recursive=True)}

    def _is_in_group(self, process: "Process") -> bool:
        """Return whether a process gets the signals to the group of a root; clasp expects only one."""
        if hasattr(os, "getpgid"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                return os.getpgid(process.pid) in {root.pid for root in self._roots}
        return False


def _attempt(change: Callable[[], None]) -> None:
    """Change a process that may be gone, or another user's."""
    from psutil import Error

    with contextlib.suppress(Error, OSError):
        change()


def _signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a process group by the pid of its leader, where there are groups."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)


def _marked(marks: Collection[str]) -> "Iterator[Process]":
    """Yield the living processes that inherited one of the marks."""
    from psutil import Error, Process, pids

    wanted = {tuple(mark.split("=", 1)) for mark in marks}
    for pid in pids():
        with contextlib.suppress(Error, OSError):
            process = Process(pid)
            if not wanted.isdisjoint(process.environ().items()):
                yield process


def kill_descendants() -> None:
    """Kill everything that this process has started, as far as it is found by parent."""
    from psutil import Process

    for process in Process().children(recursive=True):
        _attempt(process.kill)


def own_session() -> dict[str, Any]:
    """Return the arguments of `Popen` for a program that Ctrl-C in the terminal does not reach.

    On Linux it dies with this process; on Windows, `end_with_this_process` sees to that.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True, "preexec_fn": death_with_parent()}


def death_with_parent() -> Callable[[], object] | None:
    """Return a function that has Linux kill the calling process when its parent dies; `None` elsewhere.

    It may be called between fork and exec (`preexec_fn`): everything is looked up beforehand.
    """
    if sys.platform != "linux":
        return None
    return partial(ctypes.CDLL(None).prctl, _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_with_this_process(program: Popen[Any]) -> None:
    """Have Windows kill a program, and all that it starts, when this process ends; elsewhere do nothing."""
    if sys.platform == "win32":
        ctypes.windll.kernel32.AssignProcessToJobObject(
            ctypes.c_void_p(_job()), ctypes.c_void_p(int(program._handle))
        )


@cache
def _job() -> int:
    """Make the job object of this process, which lasts until the process ends.

    The structure is JOBOBJECT_EXTENDED_LIMIT_INFORMATION: 64-bit words, of which only the flags, in the third
    one, are not zero.
    """
    if sys.platform != "win32":
        raise AssertionError("only Windows has job objects")
    kernel = ctypes.windll.kernel32
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    job: int = kernel.CreateJobObjectW(None, None)
    limits = (ctypes.c_uint64 * 18)(0, 0, _KILL_ON_JOB_CLOSE)
    kernel.SetInformationJobObject(
        ctypes.c_void_p(job), _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
    )
    return job


def memory_limit(megabytes: int | None) -> AbstractContextManager[None]:
    """Let this process take only that many megabytes more than it has now; no limit for `None`."""
    if megabytes is None:
        return contextlib.nullcontext()
    return _kept_by_the_kernel(megabytes) if KERNEL_LIMITS else _watched(megabytes)


@contextmanager
def _kept_by_the_kernel(megabytes: int) -> Iterator[None]:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = _process(os.getpid()).memory_info().vms + megabytes * _MEGABYTE
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


@contextmanager
def _watched(megabytes: int) -> Iterator[None]:
    limit = resident_megabytes() + megabytes
    done = threading.Event()

    def watch() -> None:
        while not done.wait(INTERVAL):
            if resident_megabytes() > limit:
                kill_descendants()
                os._exit(OUT_OF_MEMORY)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def resident_megabytes(pid: int | None = None) -> float:
    """Return the memory that a process holds now, this one by default; 0 for one that is gone."""
    from psutil import Error

    try:
        held: int = _process(os.getpid() if pid is None else pid).memory_info().rss
    except Error:
        return 0.0
    return held / _MEGABYTE


def free_megabytes() -> int:
    """Return the memory that new work may take before the machine has none left for others."""
    try:
        _, _, free = Path("/proc/meminfo").read_bytes().partition(b"MemAvailable:")
        return int(free.split(maxsplit=1)[0]) // 1024
    except (OSError, IndexError):
        from psutil import virtual_memory

        return int(virtual_memory().available / _MEGABYTE)


@cache
def _process(pid: int) -> "Process":
    """Look a process up; psutil raises an error if the number belongs to another one later."""
    from psutil import Process

    return Process(pid)


def reset_peak() -> None:
    """Forget the peak of this process so far, where the system can: on Linux."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_megabytes() -> float:
    """Return the most memory that this process held since the last reset, or since its start."""
    try:
        _, _, peak = Path("/proc/self/status").read_bytes().partition(b"VmHWM:")
        return int(peak.split(maxsplit=1)[0]) / 1024
    except (OSError, IndexError):
        held = _process(os.getpid()).memory_info()
        return _peak_of("RUSAGE_SELF") or getattr(held, "peak_wset", held.rss) / _MEGABYTE


def children_peak_megabytes() -> float:
    """Return the most memory that any ended child of this process held; 0 where it is not known."""
    return _peak_of("RUSAGE_CHILDREN")


def _peak_of(whose: str) -> float:
    """Return what POSIX systems count; the unit is a byte on macOS, a kilobyte elsewhere."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = _MEGABYTE if sys.platform == "darwin" else 2**10
    used: int = resource.getrusage(getattr(resource, whose)).ru_maxrss
    return used / unit


def login() -> str:
    """Return the user's name on this computer, where there is one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "adjudicator"


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
