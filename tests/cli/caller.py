"""Call the command line in this process."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from caspr.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PAPER = [str(EXAMPLES / "paper" / f"in{number}.conll") for number in range(1, 5)]
SONG = [str(EXAMPLES / "song" / f"{name}.conll") for name in ("anna", "ben", "carla")]


@dataclass(frozen=True)
class Outcome:
    """What a call did."""

    code: int
    out: str
    err: str


class Caller:
    """Run `caspr` with some words and catch what it prints."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def __call__(self, *words: object) -> Outcome:
        """Return exit code and output of one call."""
        self.monkeypatch.setattr(sys, "argv", ["caspr", *(str(word) for word in words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        captured = self.capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def fails(self, *words: object) -> str:
        """Return the one line a refused call prints."""
        outcome = self(*words)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("caspr: error: "), outcome.err
        assert outcome.err.count("\n") == 1, outcome.err
        return outcome.err.removeprefix("caspr: error: ").strip()


def column(text: str, index: int = -1) -> list[str]:
    """Return one column of all token lines."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [row[index] for row in rows]
