"""Names from files are text: no command to a terminal, no formula in a spreadsheet."""

import csv
from pathlib import Path

import pytest

from caspr.cli.shared import outputs
from tests.cli.caller import SONG, Caller

ESCAPE = "\x1b[2J\x07\x9b"
"""Clears a terminal, rings, and begins a command in one character."""
FORMULA = "=HYPERLINK(1)"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files of annotators and of a document whose names are hostile."""
    monkeypatch.chdir(tmp_path)
    given = []
    for number, source in enumerate(map(Path, SONG)):
        text = source.read_text().replace("(song)", f"({FORMULA}{ESCAPE})")
        given.append(Path(f"{FORMULA}{ESCAPE}{number}.conll"))
        given[-1].write_text(text)
    return given


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("agreement",),
        ("agreement", "--per-document"),
        ("adjudicate", "-o", "gold.conll"),
        ("adjudicate", "-o", "no/gold.conll"),
        ("report",),
        ("report", "--format", "markdown"),
        ("settings",),
        ("weigh",),
        ("corpus", "-o", "out", "--processes", "1"),
        ("convert", "x.unknown"),
    ],
)
def test_no_name_is_a_command_to_the_terminal(
    caspr: Caller, files: list[Path], words: tuple[str, ...]
) -> None:
    given = files[:1] if words[0] == "convert" else files
    outcome = caspr(words[0], *given, *words[1:])
    printed = outcome.out + outcome.err
    assert printed
    assert not set(printed) & {"\x1b", "\x07", "\x9b"}


def test_scores_and_certificates_print_no_commands(caspr: Caller, files: list[Path]) -> None:
    outcome = caspr("adjudicate", *files, "-o", "gold.conll", "--certificate", "proof.json")
    score = caspr("score", files[0], files[1], "--per-document")
    verified = caspr("verify", "proof.json", *files)
    assert (outcome.code, score.code, verified.code) == (0, 0, 0)
    assert "verified" in verified.out
    for printed in (outcome, score, verified):
        assert not set(printed.out + printed.err) & {"\x1b", "\x07", "\x9b"}


def test_a_result_on_a_terminal_is_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.reconfigure", lambda **_: None, raising=False)
    outputs._print(f"1\t{ESCAPE}\t(1)\n")
    assert capsys.readouterr().out == "1\t\\x1b[2J\\x07\\x9b\t(1)\n"


def test_no_name_is_a_formula(caspr: Caller, files: list[Path]) -> None:
    assert caspr("agreement", *files, "--per-document", "--csv", "a.csv", "-q").code == 0
    assert caspr("score", files[0], files[1], "--per-document", "--csv", "s.csv").code == 0
    caspr("corpus", *files, "-o", "out", "--processes", "1", "-q")
    for table in ("a.csv", "s.csv", "out/summary.csv"):
        with Path(table).open(newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert any("HYPERLINK" in cell for cell in cells), table
        assert not [cell for cell in cells if cell.startswith("=")], table
