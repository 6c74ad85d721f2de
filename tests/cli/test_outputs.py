"""Where commands write: never two outputs in one file, never onto an input, everything or nothing."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, count
from pathlib import Path
from typing import Any

import click
import pytest

from caspr.cli import COMMANDS, cli
from caspr.engines.native import cases as settling
from caspr.engines.native import engine
from tests.cli.caller import EXAMPLES, SONG, Caller

FILE_OPTIONS = {
    "adjudicate": ["-o", "--json", "--certificate", "--report"],
    "redo": ["-o", "--gold", "--json", "--certificate", "--report"],
    "report": ["-o"],
    "score": ["--json", "--csv", "--latex"],
    "agreement": ["--json", "--csv", "--latex", "-o"],
    "settings": ["--json"],
    "weigh": ["-o"],
    "decode": ["-o", "--json"],
    "check": ["--json"],
}
"""The options that name a file to write, by command."""
FOLDER_OPTIONS = {"adjudicate": "--feedback", "redo": "--feedback", "report": "--feedback"}
"""The option that names a folder to write to, by command."""
INPUTS = {"--template", "--gold", "--add", "--team", "--weights", "--coverage", "--like"}
"""Options that name a file to read."""
OTHERS = {("convert", "output"), ("corpus", "--output"), ("review", "--output"), ("start", "--shortcut")}
"""The only output of its command: an argument, a folder with a journal, a file with a lock, a program."""
FIGURES = {("score", "--plot"), ("agreement", "--plot")}
"""Figures, whose names must end in what they are."""

PAIRS = [(command, *pair) for command, options in FILE_OPTIONS.items() for pair in combinations(options, 2)]
FOLDER_PAIRS = [
    (command, option, folder)
    for command, folder in FOLDER_OPTIONS.items()
    for option in FILE_OPTIONS[command]
]


def other_name(path: Path) -> Path:
    return path


def dotted(path: Path) -> Path:
    return path.parent / "nowhere" / ".." / path.name


def relative(path: Path) -> Path:
    return Path(path.name)


def soft_link(path: Path) -> Path:
    link = path.with_name("soft.json")
    link.symlink_to(path.name)
    return link


def hard_link(path: Path) -> Path:
    path.write_text("old")
    link = path.with_name("hard.json")
    link.hardlink_to(path)
    return link


SPELLINGS = [other_name, dotted, relative, soft_link, hard_link]


@pytest.fixture
def inputs(caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """Return what each command reads, in the folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    files: list[object] = []
    for number, source in enumerate(SONG):
        copy = tmp_path / f"in{number}.conll"
        copy.write_bytes(Path(source).read_bytes())
        files.append(copy)
    review = tmp_path / "review.conll"
    assert caspr("adjudicate", *files, "--layout", "review", "-o", review, "-q").code == 0
    (tmp_path / "answer.txt").write_text("{}\n")
    return {
        "adjudicate": files,
        "redo": [review],
        "report": files,
        "score": files[:2],
        "agreement": files,
        "convert": files[:1],
        "settings": files,
        "weigh": files,
        "decode": [tmp_path / "answer.txt", "--like", *files],
        "check": files,
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(caspr: Caller, folder: Path, *words: object) -> str:
    """Return why a call is refused that must leave the folder as it is."""
    before = contents(folder)
    message = caspr.fails(*words)
    assert contents(folder) == before
    return message


def test_every_path_is_known_as_input_or_output() -> None:
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        known = {*FILE_OPTIONS.get(name, []), FOLDER_OPTIONS.get(name, ""), *INPUTS}
        for parameter in command.params:
            if not isinstance(parameter.type, click.Path):
                continue
            is_input = isinstance(parameter, click.Argument) and parameter.name != "output"
            spelt = any((name, option) in OTHERS | FIGURES for option in parameter.opts)
            assert is_input or spelt or known.intersection(parameter.opts), (name, parameter.opts)


@pytest.mark.parametrize(("command", "option"), sorted(FIGURES))
def test_a_figure_has_a_file_of_its_own(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]], command: str, option: str
) -> None:
    path = tmp_path / "x.svg"
    message = refused(caspr, tmp_path, command, *inputs[command], "--csv", path, option, dotted(path))
    assert f"--csv and {option} would be written to the same place" in message
    first = Path(str(inputs[command][0]))
    drawn = first.rename(first.with_suffix(".svg"))
    files = [drawn, *inputs[command][1:]]
    assert "would be overwritten" in refused(caspr, tmp_path, command, *files, option, drawn)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("command", "one", "other"), PAIRS)
def test_two_outputs_in_one_file_are_refused(
    caspr: Caller,
    tmp_path: Path,
    inputs: dict[str, list[object]],
    command: str,
    one: str,
    other: str,
    spelling: Callable[[Path], Path],
) -> None:
    path = tmp_path / "x.json"
    # With `=`, a file that is there is an output of `--json`, too.
    first = [f"{one}={path}"] if one.startswith("--") else [one, path]
    words = [command, *inputs[command], *first, other, spelling(path)]
    message = refused(caspr, tmp_path, *words)
    assert f"{one} and {other} would be written to the same place" in message


@pytest.mark.parametrize(("command", "one", "other"), PAIRS)
def test_standard_output_is_one_output(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]], command: str, one: str, other: str
) -> None:
    if "--report" in (one, other):
        return  # The name of a report must have the ending of a format.
    message = refused(caspr, tmp_path, command, *inputs[command], one, "-", other, "-")
    assert "would be written to the same place" in message
    assert "same place" in refused(caspr, tmp_path, command, *inputs[command], one, "-", other, "/dev/stdout")


@pytest.mark.parametrize(("command", "option", "folder"), FOLDER_PAIRS)
def test_a_file_and_a_folder_are_not_one_place(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]], command: str, option: str, folder: str
) -> None:
    words = [command, *inputs[command]]
    place = tmp_path / "x.json"
    message = refused(caspr, tmp_path, *words, option, place, folder, place)
    if (command, option) not in (("adjudicate", "-o"), ("redo", "--gold")):  # They may be folders.
        assert "same place" in message
    page = tmp_path / "pages" / "in0.html"
    page.parent.mkdir()
    message = refused(caspr, tmp_path, *words, option, page, folder, page.parent)
    assert f"{page}: {option} and {folder} would be written to the same place" in message


@pytest.mark.parametrize("spelling", SPELLINGS[:4])
@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command, all_ in FILE_OPTIONS.items() for option in all_]
)
def test_no_output_overwrites_an_input(
    caspr: Caller,
    tmp_path: Path,
    inputs: dict[str, list[object]],
    command: str,
    option: str,
    spelling: Callable[[Path], Path],
) -> None:
    given = inputs[command][-1]
    assert isinstance(given, Path)
    if option == "--report":
        given = given.rename(given.with_suffix(".html"))
        inputs[command] = [*inputs[command][:-1], given]
    path = spelling(given)
    if option == "--report" and path.suffix != ".html":
        path = path.rename(path.with_suffix(".html"))
    named = [f"{option}={path}"] if option == "--json" else [option, path]
    message = refused(caspr, tmp_path, command, *inputs[command], *named)
    assert "would be overwritten" in message or "the review file and" in message


def test_a_hard_link_to_an_input_is_that_input(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    (tmp_path / "hard").hardlink_to(tmp_path / "in1.conll")
    assert "is an input" in refused(
        caspr, tmp_path, "adjudicate", *inputs["adjudicate"], "--certificate", "hard"
    )
    assert "is an input" in refused(caspr, tmp_path, "agreement", *inputs["agreement"], "--json=hard")


def test_everything_is_written_where_it_should_be(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    names = {"-o": "gold.conll", "--json": "s.json", "--certificate": "c.json", "--report": "r.html"}
    words = [word for option, name in names.items() for word in (option, tmp_path / name)]
    words += ["--feedback", tmp_path / "pages"]
    outcome = caspr("adjudicate", *inputs["adjudicate"], *words)
    assert outcome.code == 0
    (said,) = [line for line in outcome.err.splitlines() if line.startswith("wrote ")]
    files = ["gold.conll", "c.json", "r.html", "pages (3 files)", "s.json"]
    assert said == f"wrote {', '.join(str(tmp_path / name) for name in files)}"
    assert "wrote" not in caspr("adjudicate", *inputs["adjudicate"], *words, "-q").err
    assert all((tmp_path / name).stat().st_size for name in names.values())
    assert len(list((tmp_path / "pages").iterdir())) == 3


@pytest.mark.parametrize("failing", ["-o", "--json", "--certificate"])
def test_if_one_output_cannot_be_written_none_is(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]], failing: str
) -> None:
    names = {"-o": "gold.conll", "--json": "s.json", "--certificate": "c.json", "--report": "r.html"}
    names[failing] = "/dev/full"
    words = [word for option, name in names.items() for word in (option, tmp_path / name)]
    words += ["--feedback", tmp_path / "pages"]
    message = refused(caspr, tmp_path, "adjudicate", *inputs["adjudicate"], *words)
    assert "No space left on device; nothing was changed" in message
    assert not (tmp_path / "pages").exists()


def test_the_result_of_an_interrupted_search_leaves_a_backup_of_an_earlier_one(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("adjudicate", *inputs["adjudicate"], "-o", tmp_path / "gold.conll")
    assert "kept" not in caspr(*words).err + caspr(*words).err
    earlier, settle, calls = (tmp_path / "gold.conll").read_bytes(), settling.settle, count()

    def interrupted(*given: Any, **named: Any) -> None:
        if next(calls) == 0:
            raise KeyboardInterrupt
        settle(*given, **named)

    monkeypatch.setattr(engine, "settle", interrupted)
    outcome = caspr(*words)
    backup = tmp_path / "gold.conll.1.bak"
    assert f"its old version is kept as {backup}" in outcome.err and outcome.code == 0
    assert backup.read_bytes() == earlier


def test_a_review_file_survives_a_gold_standard_that_cannot_be_written(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    refused(caspr, tmp_path, "redo", *inputs["redo"], "--gold", "/dev/full", "--objective", "u")


def test_nothing_is_lost_in_the_null_device(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    words = ["-o", "/dev/null", "--json", "/dev/null", "--certificate", "/dev/null"]
    assert caspr("adjudicate", *inputs["adjudicate"], *words).code == 0


def test_a_folder_is_not_standard_output(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    words = ["-o", tmp_path / "g.conll", "--feedback", "-"]
    assert "--feedback needs a folder" in refused(
        caspr, tmp_path, "adjudicate", *inputs["adjudicate"], *words
    )


def test_a_corpus_is_not_written_into_a_file(
    caspr: Caller, tmp_path: Path, inputs: dict[str, list[object]]
) -> None:
    assert "folder" in refused(caspr, tmp_path, "corpus", *inputs["adjudicate"], "-o", "review.conll")


@pytest.mark.parametrize("redirection", ["> x.html", ">> x.html"])
def test_standard_output_may_be_redirected_to_another_output(redirection: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m caspr adjudicate {' '.join(SONG)} --report x.html {redirection}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "x.html: -o and --report would be written to the same place" in done.stderr
    assert (tmp_path / "x.html").read_text() == ""


def test_standard_output_appended_to_an_input_is_refused(tmp_path: Path) -> None:
    for number, source in enumerate(SONG):
        (tmp_path / f"{number}.conll").write_bytes(Path(source).read_bytes())
    before = contents(tmp_path)
    command = f"{sys.executable} -m caspr adjudicate 0.conll 1.conll 2.conll >> 1.conll"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard output goes to 1.conll, which is an input" in done.stderr
    assert contents(tmp_path) == before


def test_several_files_of_a_format_are_looked_at_before_they_are_written(
    caspr: Caller, tmp_path: Path
) -> None:
    brat = [EXAMPLES / "formats" / "brat" / name for name in ("anna", "ben")]
    text = tmp_path / "gold.txt"
    assert "same place" in refused(
        caspr, tmp_path, "adjudicate", *brat, "-o", tmp_path / "gold.ann", "--report", text
    )


@pytest.mark.parametrize(
    "words",
    [
        ("agreement", "song", "--coverage", "t.csv", "--csv", "t.csv"),
        ("agreement", "song", "--coverage", "t.csv", "--json=t.csv"),
        ("agreement", "song", "--coverage", "t.csv", "--latex", "./t.csv"),
        ("agreement", "song", "--coverage", "t.csv", "-o", "t.csv"),
        ("adjudicate", "song", "--coverage", "t.csv", "-o", "gold.conll", "--json", "t.csv"),
        ("adjudicate", "song", "--weights", "t.csv", "-o", "gold.conll", "--json", "t.csv"),
        ("adjudicate", "song", "--weights", "t.csv", "-o", "gold.conll", "--certificate", "link.csv"),
        ("weigh", "song", "--coverage", "t.csv", "-o", "t.csv"),
        ("report", "song", "--coverage", "t.csv", "-o", "t.csv"),
        ("redo", "review.conll", "--weights", "t.csv", "--json", "t.csv"),
        ("review", "song", "--coverage", "t.csv", "-o", "t.csv", "--no-browser"),
        ("review", "song", "--team", "t.csv", "-o", "t.csv", "--no-browser"),
        ("corpus", "song", "--coverage", "out/summary.csv", "-o", "out"),
        ("score", "song", "review.conll", "--csv", "review.conll"),
    ],
)
def test_no_output_replaces_a_table_that_is_read(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Whatever option names an input, no output may be that file."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES / "song", "song")
    assert caspr("adjudicate", "song", "--layout", "review", "-o", "review.conll", "-q").code == 0
    Path("out").mkdir()
    names = [Path(name).stem for name in SONG]
    table = "annotator,document,from,to\n" + "".join(f"{name},song,1,5\n" for name in names)
    if "--weights" in words:
        table = "annotator,omit,use\n" + "".join(f"{name},2,1\n" for name in names)
    if "--team" in words:
        table = "name\nAnn\n"
    for name in ("t.csv", "out/summary.csv"):
        Path(name).write_text(table)
    Path("link.csv").symlink_to("t.csv")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert "is an input and would be overwritten" in caspr.fails(*words)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
