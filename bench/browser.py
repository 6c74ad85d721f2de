"""The review page in a real browser: `caspr review` in a process of its own, and the system's Chromium.

Used by the tests of the page and by the script that takes the pictures of the documentation.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""The names of browsers on the path that Playwright can drive."""


@dataclass(frozen=True)
class Served:
    """A review server that is running."""

    url: str
    """The address it printed, with its token."""
    process: "subprocess.Popen[str]"
    """The process."""

    def kill(self) -> None:
        """Kill it, as a crash would."""
        self.process.kill()
        self.process.wait()


def find_browser() -> str | None:
    """Return the path of the system's browser, if there is one; none is downloaded."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser(executable: str) -> Iterator[Browser]:
    """Open a browser without a window."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


def served(folder: Path, *words: str) -> AbstractContextManager[Served]:
    """Run `caspr review` with some words in a folder, and end it afterwards."""
    return _running(folder, ("review", *words, "--no-browser"))


def started(folder: Path, words: Sequence[str] = ("start", "--no-browser")) -> AbstractContextManager[Served]:
    """Run `caspr start`, or `caspr` with other words, for a folder, which remembers what was opened, too."""
    return _running(folder, words, {"XDG_STATE_HOME": str(folder / ".memory"), "BROWSER": "true"})


@contextmanager
def _running(
    folder: Path, words: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "caspr", *words],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Served(_address(process), process)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def _address(process: "subprocess.Popen[str]") -> str:
    printed = []
    for line in process.stdout or ():
        printed.append(line)
        if found := re.search(r"http://\S+", line):
            return found.group()
    raise RuntimeError(f"caspr printed no address, but: {''.join(printed)}")
