"""What an answer set solver reports, on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.caller import PAPER, Caller


@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
def test_output_and_statistics_on_the_command_line(caspr: Caller, tmp_path: Path, engine: str) -> None:
    summary = tmp_path / "summary.json"
    words = ["adjudicate", *PAPER, "--engine", engine, "--json", summary, "-o", tmp_path / "gold.conll"]
    quiet = caspr(*words, "--solver-option=--opt-strategy=bb")
    assert "OPTIMUM FOUND" not in quiet.err
    work = json.loads(summary.read_text())["documents"][0]["solver"]
    assert (work["value"], work["bound"]) == (11, 11)
    assert work["choices"] > 0
    assert work["conflicts"] >= 0
    assert work["grounding"] > 0
    shown = caspr(*words, "--debug")
    assert "OPTIMUM FOUND" in shown.err
    assert "Conflicts" in shown.err
    assert "proven optimal, cost 11" in shown.err
    assert json.loads(summary.read_text())["documents"][0]["solver"]["choices"] > 0


def test_other_engines_have_no_statistics(caspr: Caller, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    caspr("adjudicate", *PAPER, "--json", summary, "-q", "-o", tmp_path / "gold.conll")
    assert json.loads(summary.read_text())["documents"][0]["solver"] is None
