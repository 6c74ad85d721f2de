"""Results as lines of JSON, appended one by one, so that an interrupted experiment can be resumed.

There are two kinds of lines: a `session` says on what machine and with what versions the runs after it were
made, and a `run` is one record. A later record of the same run, also one within other limits, replaces an
earlier one. A last line that was cut off when a session died is dropped before anything is appended.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.experiments.plan import Key, Run
from bench.experiments.run import Record

RESULTS = "results.jsonl"


class Store:
    """The results of an experiment in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / RESULTS
        self.sessions: list[dict[str, Any]] = []
        self._records: dict[Run, Record] = {}
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                kind, content = json.loads(line)
                if kind == "session":
                    self.sessions.append(content)
                else:
                    self._keep(Record(**content))
            except (ValueError, TypeError) as error:
                raise SystemExit(
                    f"{self.path}:{number}: found a line that is no result of this version ({error}), "
                    "expected those of an earlier run; choose another folder with --out"
                ) from error

    @property
    def records(self) -> list[Record]:
        """The latest result of each run, in the order in which they were first made."""
        return list(self._records.values())

    def find(self, key: Key) -> Record | None:
        """Return the result of a run, if there is one within the same limits."""
        record = self._records.get(key.run)
        return record if record is not None and record.key == key else None

    def refuse_others(self, *, seed: int, scale: float) -> None:
        """Refuse to mix results of generated documents that have the same names and are not the same."""
        for session in self.sessions:
            if (session["seed"], session["scale"]) != (seed, scale):
                raise SystemExit(
                    f"{self.path}: found results with seed {session['seed']} and scale {session['scale']:g}, "
                    f"expected seed {seed} and scale {scale:g}; choose another folder with --out"
                )

    def begin(self, session: Mapping[str, Any]) -> None:
        """Append a line with machine and versions of the runs that follow."""
        self.sessions.append(dict(session))
        self._append(["session", dict(session)])

    def add(self, record: Record) -> None:
        """Append a result."""
        self._keep(record)
        self._append(["run", asdict(record)])

    def _keep(self, record: Record) -> None:
        self._records[record.key.run] = record

    def _append(self, line: list[Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
