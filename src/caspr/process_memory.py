"""The memory of processes: what they hold, the most they held, and a limit.

Linux keeps a limit itself (RLIMIT_AS): a process may take so much address space, and the next allocation
fails. macOS and Windows keep none that a user could set for one program. There, somebody looks at the
resident memory again and again, several times a second; what is taken between two looks comes on top.

psutil is imported where memory is looked at, so that a run without a limit does not load it.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

KERNEL_LIMITS = sys.platform == "linux"
"""Whether the system keeps the memory limit of a process."""
INTERVAL = 0.1
"""Seconds between two looks at the memory of a process whose limit the system does not keep."""
_MEGABYTE = 2**20


def resident_megabytes(pid: int | None = None) -> float:
    """Return the memory that a process holds now, this one by default; nothing for one that is gone."""
    from psutil import Error

    try:
        held: int = _process(os.getpid() if pid is None else pid).memory_info().rss
    except Error:
        return 0.0
    return held / _MEGABYTE


def address_space_megabytes() -> float:
    """Return the address space of this process, which is what the kernel of Linux limits."""
    held: int = _process(os.getpid()).memory_info().vms
    return held / _MEGABYTE


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
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
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
