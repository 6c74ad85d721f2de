"""`caspr check`, `caspr encode` and the command line as such."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from caspr import __version__
from caspr.cli import COMMANDS, cli
from caspr.cli.shared.options import GROUPS
from caspr.task.limits import PROGRESS
from tests.cli.caller import PAPER, SONG, Caller
from tests.cli.test_adjudicate import make


def test_check_says_what_is_there(caspr: Caller) -> None:
    outcome = caspr("check", *SONG)
    assert outcome.code == 0
    assert "song: 31 tokens" in outcome.out
    assert "anna   3 chains of 9 mentions, 0 chains of one" in outcome.out
    assert "1 document, 0 warnings" in outcome.out


def test_check_numbers_the_tokens(caspr: Caller) -> None:
    lines = caspr("check", "--tokens", *SONG).out.splitlines()
    assert "   1  John is a musician . He played a new song" in lines
    assert '  21  It is my favorite , " John said to her' in lines
    assert "  31  ." in lines


@pytest.mark.skipif(sys.platform != "linux", reason="only there the administrator can be made to obey")
def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in map(Path, SONG[:2]):
        (tmp_path / path.stem).mkdir()
        (tmp_path / path.stem / "song.conll").write_bytes(path.read_bytes())
    closed = tmp_path / Path(SONG[1]).stem
    closed.chmod(0)
    drop = "-dac_override,-dac_read_search"
    command = ["setpriv", "--bounding-set", drop, "--inh-caps", drop] if os.geteuid() == 0 else []
    outcome = subprocess.run(
        [*command, sys.executable, "-m", "caspr", "check", str(tmp_path)], capture_output=True, text=True
    )
    closed.chmod(0o700)
    assert outcome.stderr == f"caspr: error: {closed}: Permission denied\n"


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
    assert not re.search(r"\bx[<>]=?|<=?x\b", outcome.out), "ranges are for who leaves them"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option_once_under_the_heading_of_its_group(caspr: Caller, name: str) -> None:
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    options = {option.opts[-1] for option in command.params if option.opts[-1].startswith("--")}
    heading = ""
    shown: dict[str, str] = {}
    for line in caspr(name, "--help").out.splitlines():
        if re.fullmatch(r"\S.*:", line):
            heading = line[:-1]
        if match := re.match(r"  (?:-\w, )?(--[\w-]+)", line):
            assert shown.setdefault(match[1], heading) == heading
    assert shown.keys() == options | {"--help"}
    assert all(option in GROUPS[heading].split() for option, heading in shown.items())
    headings = list(dict.fromkeys(shown.values()))
    assert headings == [title for title in GROUPS if title in headings]


def test_help_begins_with_what_most_people_need(caspr: Caller) -> None:
    for name in ("adjudicate", "redo", "corpus"):
        first = caspr(name, "--help").out.split("\nOptions:\n")[1].split("\n\n")[0]
        assert 8 <= len(re.findall(r"^  -", first, re.MULTILINE)) <= 9
        last = caspr(name, "--help").out.split("\nExperiments:\n")[1]
        assert {"--encoding", "--omit-cost", "--forced-votes"} <= set(re.findall(r"--[\w-]+", last))


def test_help_and_version(caspr: Caller) -> None:
    outcome = caspr("--help")
    assert all(command in outcome.out for command in COMMANDS)
    assert __version__ in caspr("--version").out
    assert caspr("nonsense").code == 2
    assert caspr("adjudicate").code == 2


@pytest.mark.parametrize(
    ("words", "needed"), [(["--help"], []), (["adjudicate", *PAPER, "-o", "gold.conll"], ["numpy"])]
)
def test_nothing_heavy_is_imported_that_is_not_needed(
    words: list[str], needed: list[str], tmp_path: Path
) -> None:
    code = (
        "import sys; before = set(sys.modules); from caspr.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'clingo', 'rich', 'numpy', 'scipy', 'cassis', 'lxml', 'zipfile', 'xml'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == str(needed)


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


def test_the_shell_can_complete_commands_and_options() -> None:
    def completed(*words: str) -> list[str]:
        environment = {
            **os.environ,
            "_CASPR_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        program = [sys.executable, "-m", "caspr"]
        return subprocess.run(program, env=environment, capture_output=True, text=True).stdout.splitlines()

    assert completed("caspr", "adj") == ["plain,adjudicate"]
    assert "plain,--memory-limit" in completed("caspr", "redo", "--me")


def test_older_versions_and_files_of_desktops_are_nobodys_work(caspr: Caller, tmp_path: Path) -> None:
    for source in map(Path, SONG):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    for name in ("anna.conll~", "anna.conll.bak", "#anna.conll#", "anna.conll.orig"):
        (tmp_path / name).write_bytes(Path(SONG[0]).read_bytes())
    (tmp_path / "Thumbs.db").write_bytes(b"")
    whole = caspr("check", tmp_path).out
    assert "4 files not read: #anna.conll#, anna.conll.bak, anna.conll.orig, anna.conll~" in whole
    assert "1 document, 0 warnings" in whole
    named = caspr("check", *sorted(tmp_path.iterdir())).out
    assert "5 files that are nobody's work left out" in named
    for printed in (whole, named):
        assert sum(" chains of " in line for line in printed.splitlines()) == 3
    alone = tmp_path / "one"
    alone.mkdir()
    for path in tmp_path.glob("anna*"):
        path.rename(alone / path.name)
    assert caspr("score", SONG[0], alone).code == 0


def test_one_annotator_is_checked_alone(caspr: Caller, tmp_path: Path) -> None:
    outcome = caspr("check", make(tmp_path / "a.conll", "(1)", "(1)", "(2)"))
    assert outcome.code == 0
    assert "  a  1 chain of 2 mentions, 1 chain of one" in outcome.out
    assert (
        "1 document, 0 warnings; this is the work of one annotator, and merging takes two or more"
        in outcome.out
    )
    empty = caspr("check", make(tmp_path / "b.conll", "-", "-"), "--strict")
    assert empty.code == 2
    assert "marked no mentions" in empty.out


def test_every_document_with_other_words_is_named(caspr: Caller, tmp_path: Path) -> None:
    for who, word in (("ann", "w"), ("ben", "v")):
        (tmp_path / who).mkdir()
        for name, own in (("d1", word), ("d2", "w"), ("d3", word)):
            path = make(tmp_path / who / f"{name}.conll", "(1)", "(1)", name=name)
            path.write_text(path.read_text().replace("w1", f"{own}1"))
    outcome = caspr("check", tmp_path)
    assert outcome.code == 2
    assert "d2: 2 tokens" in outcome.out
    assert "1 document, " in outcome.out
    assert outcome.err.count("caspr: error: ") == 2
    assert "document 'd1' must have" in outcome.err
    assert "document 'd3' must have" in outcome.err


def test_every_file_that_cannot_be_read_is_named_in_folders_too(caspr: Caller, tmp_path: Path) -> None:
    for who in ("ann", "ben"):
        (tmp_path / who).mkdir()
        make(tmp_path / who / "d.conll", "(1)", "(1)")
        (tmp_path / who / "e.conll").write_bytes(b"#begin document (e);\n1\t\xe9\t(1)\n\n#end document\n")
    assert caspr("check", tmp_path).err.count("e.conll") == 2


def test_check_tells_programs_everything(caspr: Caller, tmp_path: Path) -> None:
    words = ["#begin document (one);\n1\tw\t(1)\n2\tw\t(1)\n#end document\n"]
    other = ["#begin document (two);\n1\tw\t(1)\n2\tw\t(1)\n#end document\n"]
    different = "#begin document (two);\n1\tcompletely\t(1)\n2\tother\t(1)\n3\twords\t-\n#end document\n"
    (tmp_path / "a.conll").write_text("".join(words + other))
    (tmp_path / "b.conll").write_text("".join(words) + different)
    outcome = caspr("check", tmp_path / "a.conll", tmp_path / "b.conll", "--json")
    assert outcome.code == 2
    told = json.loads(outcome.out)
    one, two = told["documents"]
    assert one["error"] is None
    assert [who["name"] for who in one["annotators"]] == ["a", "b"]
    assert {who["format"] for who in one["annotators"]} == {"conll"}
    assert [finding["code"] for finding in one["findings"]] == ["identical-annotations"]
    assert two["error"]
    assert two["error"] in outcome.err


def test_progress_is_told_to_a_program_that_asks(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["adjudicate", *SONG, "--engine", "clingo", "-o", tmp_path / "gold.conll", "-q"]
    assert caspr(*words).err == ""
    monkeypatch.setenv(PROGRESS, "1")
    lines = [json.loads(line) for line in caspr(*words).err.splitlines()]
    assert lines[0] == {"title": "song (1/1)", "value": None, "bound": None, "done": 0, "parts": 0}
    assert lines[-1]["value"] == 22
