"""Real `caspr review` processes, and a browser's requests to them."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.cli.caller import PAPER

WATCHED = Path(__file__).parent / "watched.py"
"""Runs the command line and writes down what its sockets do."""


class Page:
    """One tab with the page of a running process."""

    def __init__(self, address: str) -> None:
        self.base = address.partition("/?")[0]
        self.client = httpx.Client(base_url=self.base, follow_redirects=True, timeout=60)
        text = self.client.get(address).text
        found = re.search(r'name="csrf" content="([^"]+)"', text)
        assert found is not None, text
        self.headers = {"X-CSRF": found[1], "Origin": self.base}
        self.version = self.state()["version"]

    def state(self) -> dict[str, Any]:
        """Fetch the state."""
        found: dict[str, Any] = self.client.get("/d/0/state").json()
        return found

    def do(self, **operation: object) -> httpx.Response:
        """Send an operation for the version this tab knows."""
        body = {"version": self.version, "op": operation}
        answer = self.client.post("/d/0/do", json=body, headers=self.headers)
        if answer.status_code == 200:
            self.version = answer.json()["version"]
        return answer


class Running:
    """A process and the address it printed."""

    def __init__(self, folder: Path, *words: object, watched: Path | None = None) -> None:
        program = ["-m", "caspr"] if watched is None else [str(WATCHED), str(watched)]
        command = [sys.executable, *program, "review", *map(str, words), "--no-browser"]
        self.process = subprocess.Popen(
            command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stderr is not None
        printed = ""
        while (found := re.search(r"https?://\S+", printed)) is None:
            line = self.process.stderr.readline()
            assert line, printed
            printed += line
        self.address = found[0]

    def end(self, number: int = signal.SIGINT) -> int:
        """End the process by a signal and return its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextmanager
def running(folder: Path, *words: object, watched: Path | None = None) -> Iterator[Running]:
    """Run `caspr review` on the paper's example, or on something else."""
    one = Running(folder, *(words or (*PAPER, "--objective", "u")), watched=watched)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)
