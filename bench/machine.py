"""Describe the machine and the versions with which something was measured."""

import hashlib
import os
import platform
import shutil
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from caspr.engines.asp.solve import grounder_version

PACKAGES = ("caspr", "clingo", "numpy", "scipy")


def use_one_thread(module: str) -> None:
    """Start this program again with one thread for matrix products, as the command line has.

    It must be set before the first import of numpy: threads that wait count as processor time.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]])


def usual_environment() -> dict[str, str]:
    """Return the variables with which to run Python as users do: it keeps compiled modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def describe_machine() -> str:
    """Return date, processor, memory, Python and package versions in one line."""
    today = datetime.now(UTC).date().isoformat()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    known = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"{today}; {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()}, "
        f"Python {platform.python_version()}; {known}"
    )


def describe_programs() -> str:
    """Return which gringo and WASP the pipes use; WASP prints no version, so it is identified by a hash."""
    gringo = grounder_version()
    wasp = shutil.which("wasp")
    return ", ".join(
        (
            f"gringo {gringo}" if gringo else f"gringo of clingo {_version('clingo')}",
            f"wasp {hashlib.sha256(Path(wasp).read_bytes()).hexdigest()[:12]}" if wasp else "no wasp",
        )
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
