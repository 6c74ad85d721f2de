"""`caspr check`, `caspr encode` and the command line as such."""

import subprocess
import sys
from pathlib import Path

import pytest

from caspr import __version__
from caspr.cli import COMMANDS
from tests.cli.caller import PAPER, SONG, Caller
from tests.cli.test_adjudicate import make


def test_check_says_what_is_there(caspr: Caller) -> None:
    outcome = caspr("check", *SONG)
    assert outcome.code == 0
    assert "song: 31 tokens" in outcome.out
    assert "anna   3 chains of 9 mentions, 0 chains of one" in outcome.out
    assert "1 document, 0 warnings" in outcome.out


def test_check_finds_what_is_odd(caspr: Caller, tmp_path: Path) -> None:
    files = [
        make(tmp_path / "a.conll", "(1)|(2)|(9)", "(1)|(2)", "(3", "(4", "3)", "4)"),
        make(tmp_path / "b.conll", "-", "-", "-", "-", "-", "-"),
        make(tmp_path / "c.conll", "(1", "(1)|(1)", "1)", "-", "-", "-"),
        make(tmp_path / "d.conll", "(5", "(5)", "5)", "-", "-", "-"),
        make(tmp_path / "e.conll", "-", "(1)", "-", "(1)", "-", "-"),
    ]
    outcome = caspr("check", *files)
    for words in (
        "a: 2 mentions in more than one chain",
        "a: 1 mention crossing the boundary",
        "b: marked no mentions",
        "c and d are identical",
        "set aside",
        "rule on nesting ruled out 2",
    ):
        assert words in outcome.out, (words, outcome.out)
    assert caspr("check", *files, "--strict").code == 2


def test_encode_prints_a_program_any_solver_takes(caspr: Caller) -> None:
    text = caspr("encode", *PAPER, "--objective", "ua", "--encoding", "mm").out
    done = subprocess.run(
        [sys.executable, "-m", "clingo", "--opt-strategy=usc,oll,disjoint,stratify", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Optimization : 4" in done.stdout
    assert "OPTIMUM FOUND" in done.stdout


def test_encode_wants_one_document(caspr: Caller, tmp_path: Path) -> None:
    for name in "ab":
        documents = [make(tmp_path / "x", "(1)", "(1)", name=doc).read_text() for doc in ("one", "two")]
        (tmp_path / f"{name}.conll").write_text("".join(documents))
    files = [tmp_path / "a.conll", tmp_path / "b.conll"]
    assert "choose one of one, two" in caspr.fails("encode", *files)
    assert "result_cm" in caspr("encode", *files, "--document", "two").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(caspr: Caller, command: str) -> None:
    outcome = caspr(command, "--help")
    assert outcome.code == 0
    assert "Usage: caspr" in outcome.out


def test_help_and_version(caspr: Caller) -> None:
    outcome = caspr("--help")
    assert all(command in outcome.out for command in COMMANDS)
    assert __version__ in caspr("--version").out
    assert caspr("nonsense").code == 2
    assert caspr("adjudicate").code == 2


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['caspr', '--help']; from caspr.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'clingo', 'rich', 'numpy', 'scipy', 'highspy', 'cassis', 'lxml', 'zipfile', 'xml'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "redirection", ["> /dev/full", "2> /dev/full > /dev/null", ">&-", "2>&- > /dev/null"]
)
def test_closed_and_full_outputs_are_no_traceback(redirection: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m caspr adjudicate {' '.join(PAPER)} --engine brute {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if "2>" in redirection else 2)


def test_a_closed_pipe_is_no_traceback() -> None:
    command = [sys.executable, "-m", "caspr", "encode", *SONG]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.wait()
