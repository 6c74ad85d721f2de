"""Take from CaspR what only POSIX, or only Linux, has; the libraries that it uses keep it.

This module is on the path of every process of a test, so that Python imports it at the start. Modules of
CaspR then find no `fcntl` or `resource`, an `os` and a `signal` without the names that Windows lacks, no
`/proc`, and a `sys` that says the platform is macOS. Nobody can fork, and CaspR must name the encoding of
every text.
"""

import builtins
import multiprocessing
import os
import signal
import sys
import warnings
from types import ModuleType
from typing import Any

MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
LACKING_OS = """
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK fchmod fchown fork forkpty getegid geteuid getgid getpgid
    getpgrp getsid getuid killpg lchown mkfifo mknod nice pread preadv pwrite sched_getaffinity setpgid setsid
    statvfs sysconf uname wait wait3 wait4
"""
LACKING_SIGNAL = """
    SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGXCPU alarm pause
    pthread_kill pthread_sigmask setitimer sigwait
"""


class Lacking(ModuleType):
    """A module without some of its names, and with others."""

    def __init__(self, real: ModuleType, lacking: list[str], **others: object) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(others)
        self._real, self._lacking = real, lacking

    def __getattr__(self, name: str) -> Any:
        if name in self._lacking:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' on this platform")
        return getattr(self._real, name)


REPLACED = {
    "os": Lacking(os, LACKING_OS.split()),
    "signal": Lacking(signal, LACKING_SIGNAL.split()),
    "sys": Lacking(sys, [], platform="darwin"),
}
imported = builtins.__import__


def guarded(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """Import a module, unless CaspR asks for one that is missing."""
    package = str((globals or {}).get("__package__") or "")
    if package.partition(".")[0] == "caspr" and level == 0:
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named '{name}' on this platform")
        if name in REPLACED:
            return REPLACED[name]
    return imported(name, globals, locals, fromlist, level)


def no_proc(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse CaspR the files that only Linux has."""
    if event == "open" and str(arguments[0]).startswith("/proc/"):
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__") in ("pathlib", "io"):
            frame = frame.f_back
        if str(frame.f_globals.get("__package__") or "").startswith("caspr"):
            raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


def no_fork() -> int:
    """Refuse to fork."""
    raise OSError("this platform cannot fork")


builtins.__import__ = guarded
sys.addaudithook(no_proc)
os.fork = no_fork
warnings.filterwarnings("error", category=EncodingWarning, module=r"caspr\b")
multiprocessing.set_start_method("spawn", force=True)
