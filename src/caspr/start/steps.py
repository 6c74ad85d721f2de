"""Steps: what a button does is a command of the command line, run in a process of its own.

A `CommandRun` runs steps one after another until one fails or somebody cancels. A process tells how far it
is in lines of JSON (`task.limits.PROGRESS`). It writes its files whole or not at all, so that a cancelled
step leaves what was there before.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from typing import IO, Any

from caspr.processes import ProcessTrees, end_with_this_process, own_session
from caspr.task.limits import PROGRESS

WRITTEN = (0, 3)
"""The exit codes of a command that wrote its result: 3 says that there was too little time for a good one."""
_PATIENCE = 2.0
"""Seconds that a cancelled process has to end by itself."""
_ERROR = "caspr: error: "
_MOST_LINES = 2000
"""How many lines of what a command printed are kept."""


@dataclass(frozen=True)
class CommandStep:
    """A command."""

    title: str
    """What it does, as a person says it while it works."""
    words: tuple[str, ...]
    """The words after `caspr`."""
    may_fail: bool = False
    """Whether the page that follows says what was wrong."""
    remedy: str = ""
    """What to do where it does not work."""

    @property
    def command(self) -> str:
        """The command as one types it in a terminal of this system."""
        words = ["caspr", *self.words]
        return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


class CommandRun:
    """Steps that run one after another; all methods may be called from any thread."""

    def __init__(self, steps: Sequence[CommandStep], folder: Path, then: str, back: str) -> None:
        """Prepare steps that work in a folder; `then` is the page that follows, `back` the one before."""
        self.steps = tuple(steps)
        self.then = then
        self.back = back
        self.state = "running"
        """`running`, `done`, `failed` or `cancelled`."""
        self.printed = ""
        """What the last step printed for programs."""
        self.said: list[str] = []
        """What steps said for people."""
        self.error = ""
        self._folder = folder
        self._current = 0
        self._progress: dict[str, Any] = {}
        self._began = time.monotonic()
        self._cancelled = Event()
        self._ended = Event()
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """End it now; what the current step would have written is not written."""
        self._cancelled.set()
        with self._lock:
            process = self._process
        if process is not None:
            tree = ProcessTrees([process])
            tree.terminate()
            if not self._ended.wait(_PATIENCE):
                tree.kill()
        self._ended.wait(_PATIENCE)

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether it ended within some seconds."""
        return self._ended.wait(seconds)

    def view(self) -> dict[str, Any]:
        """Return how far it is, for the page."""
        return {
            "state": self.state,
            "step": self.steps[self._current].title,
            "number": self._current + 1,
            "steps": len(self.steps),
            "command": self.steps[self._current].command,
            "seconds": int(time.monotonic() - self._began),
            "progress": in_words(self._progress),
            "share": share(self._progress),
            "error": self.error,
            "then": self.then,
            "back": self.back,
        }

    def _run(self) -> None:
        try:
            for number, step in enumerate(self.steps):
                self._current, self._progress = number, {}
                if self._cancelled.is_set() or not self._perform(step):
                    break
            else:
                self.state = "done"
                return
            self.state = "cancelled" if self._cancelled.is_set() else "failed"
        except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
            reason = getattr(error, "strerror", None) or error
            self.state, self.error = "failed", f"This could not be started: {reason}."
        finally:
            self._ended.set()

    def _perform(self, step: CommandStep) -> bool:
        """Run one step and return whether it did what it should."""
        with tempfile.TemporaryFile() as output:
            process = self._begin(step, output)
            if process is None:
                return False
            assert process.stderr is not None
            lines: list[str] = []
            for line in process.stderr:
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                if not self._is_progress(text):
                    lines = [*lines, text][-_MOST_LINES:]
            code = process.wait()
            with self._lock:
                self._process = None
            process.stderr.close()
            output.seek(0)
            self.printed = output.read().decode("utf-8", "replace")
        self.said += [line for line in lines if not line.startswith(_ERROR)]
        if code in WRITTEN:
            return True
        errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        self.error = "\n".join(errors) or "\n".join(lines[-3:]) or f"It ended with code {code}."
        self.error += f"\n{step.remedy}" if step.remedy else ""
        return step.may_fail and not self._cancelled.is_set()

    def _begin(self, step: CommandStep, output: IO[bytes]) -> "subprocess.Popen[bytes] | None":
        """Start the process of a step, unless it was cancelled meanwhile."""
        arguments = own_session()
        if sys.platform == "win32":
            arguments["creationflags"] |= subprocess.CREATE_NO_WINDOW
        with self._lock:
            if self._cancelled.is_set():
                return None
            self._process = subprocess.Popen(
                [sys.executable, "-m", "caspr", *step.words],
                cwd=self._folder,
                env={**os.environ, PROGRESS: "1", "PYTHONUTF8": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                **arguments,
            )
            end_with_this_process(self._process)
            return self._process

    def _is_progress(self, line: str) -> bool:
        """Take a line that tells how far the step is."""
        if not line.startswith('{"title": '):
            return False
        try:
            self._progress = json.loads(line)
        except ValueError:
            return False
        return True


def warnings_in(said: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the warnings among what commands said, each once, with the document it is about, or with nothing.

    That a result is not proven is no news here: the page says so of all documents.

    >>> said = ["act1: 3 annotators", "  warning: an odd mention", "warning: no flags in SACR"]
    >>> list(warnings_in([*said, *said, "warning: an odd mention"]))
    [('act1', 'an odd mention'), ('', 'no flags in SACR')]
    """
    document, known = "", set[tuple[str, str]]()
    for line in said:
        if not line.startswith(" "):
            document = line.partition(": ")[0]
        kind, _, text = line.strip().partition(": ")
        where = document if line.startswith(" ") else ""
        is_known = (where, text) in known or (not where and any(text == other for _, other in known))
        if kind == "warning" and not is_known and not text.startswith("not proven optimal"):
            known.add((where, text))
            yield where, text


def share(progress: dict[str, Any]) -> float | None:
    """Return which part of the documents is done, as far as it is known.

    >>> share({"title": "act3 (3/4)", "done": 1, "parts": 2}), share({})
    (0.625, None)
    """
    number, total = _position(str(progress.get("title", "")))
    if not total:
        return None
    within = progress["done"] / progress["parts"] if progress.get("parts") else 0.0
    return float((number - 1 + within) / total) if total > 1 or within else None


def in_words(progress: dict[str, Any]) -> str:
    """Say how far a search is, without the words of a solver.

    >>> in_words({"title": "act3 (3/4)", "value": 12, "bound": 10, "done": 7, "parts": 8})
    'Document 3 of 4, act3: 7 of 8 parts are done; the result so far is at most 20 % from the best possible.'
    """
    title = str(progress.get("title", ""))
    number, total = _position(title)
    if not total:
        return ""
    said = f"Document {number} of {total}, {title.rpartition(' (')[0]}"
    facts = []
    if progress.get("parts"):
        facts.append(f"{progress['done']:,} of {progress['parts']:,} parts are done")
    value, bound = progress.get("value"), progress.get("bound")
    if value is not None and bound:
        gap = -(-100 * (value - bound) // bound)
        if gap <= 100:
            facts.append(f"the result so far is at most {gap} % from the best possible")
    return f"{said}: {'; '.join(facts)}." if facts else f"{said}."


def _position(title: str) -> tuple[int, int]:
    """Return which document of how many a title such as `act3 (3/4)` is; (0, 0) if it says nothing."""
    number, slash, total = title.rpartition(" (")[2].rstrip(")").partition("/")
    return (int(number), int(total)) if slash and number.isdecimal() and total.isdecimal() else (0, 0)
