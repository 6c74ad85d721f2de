"""`caspr review` refuses what it cannot open, in one line and before any server is started."""

import shutil
import signal
import webbrowser
from itertools import count
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import uvicorn

from caspr.adjudication import by_document
from caspr.cli.shared.inputs import read_given
from caspr.engines.native import engine
from caspr.task.solution import Solution
from tests.cli.caller import PAPER, Caller


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in PAPER:
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fails(caspr: Caller, *words: object) -> str:
    return caspr.fails("review", *words, "--no-browser")


def test_what_cannot_be_opened(caspr: Caller, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert "missing.conll: cannot read" in fails(caspr, "missing.conll", "in1.conll")
    assert "the file of one annotator" in fails(caspr, "in1.conll")
    assert "in1.conll is an input" in fails(caspr, "in1.conll", "in2.conll", "-o", "in1.conll")
    assert "there is no folder" in fails(caspr, "in1.conll", "in2.conll", "-o", "no/review.conll")
    assert "is the same file as" in fails(caspr, "in1.conll", "in1.conll")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_review_files_that_cannot_be_opened(caspr: Caller, folder: Path) -> None:
    assert caspr("adjudicate", *PAPER, "--layout", "review", "-o", "review.conll", "-q").code == 0
    text = Path("review.conll").read_text()
    assert "-o cannot be used with a review file" in fails(caspr, "review.conll", "-o", "x.conll")
    spoilt = text.replace("#begin", "# caspr exists: 4-4\n# caspr absent: 4-4\n#begin")
    Path("review.conll").write_text(spoilt)
    message = fails(caspr, "review.conll")
    assert (
        "decisions contradict each other: you decided that “4” (4-4) is a mention, and also that it is not"
        in message
    )
    Path("review.conll").write_text(text.replace("#begin", "# caspr absent: 4-44\n#begin"))
    assert fails(caspr, "review.conll").startswith("review.conll:2: found mention '4-44'")
    Path("review.conll").write_text(text.replace('"engine"', '"motor"'))
    assert "found 'motor'" in fails(caspr, "review.conll")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_the_command_line_of_the_browser_has_no_token(
    caspr: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody on the machine can read it."""
    started: Queue[str] = Queue()
    monkeypatch.setattr(webbrowser, "open", started.put)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    printed = caspr("review", "in1.conll", "in2.conll").err
    assert "/?token=" in printed
    assert "/?once=" in started.get(timeout=30)


def test_redo_keeps_statements_and_notes(caspr: Caller, folder: Path) -> None:
    assert (
        caspr("adjudicate", *PAPER, "--objective", "u", "--layout", "review", "-o", "review.conll", "-q").code
        == 0
    )
    path = folder / "review.conll"
    ours = '# caspr together: 1-3 6-6\n# caspr note: {"mention": null, "text": "ask Ann"}\n'
    path.write_text(path.read_text().replace("#begin", f"{ours}#begin"))
    assert "cost 8" in caspr("redo", "review.conll", "--gold", "gold.conll").err
    assert ours in path.read_text()
    assert (folder / "gold.conll").read_text().count("# caspr") == 1
    path.write_text(path.read_text().replace("together", "apart"))
    assert "cost 6" in caspr("redo", "review.conll").err


def documents(*paths: Path) -> list[tuple[str, list[str]]]:
    """Return the documents and annotators that are read from some paths."""
    given, _ = read_given(paths, {"format": None, "options": None})
    found, _ = by_document(given)
    return [(one[0].document.name, sorted(each.annotator for each in one)) for one in found]


def test_one_folder_may_hold_everything(tmp_path: Path) -> None:
    names = ["in1", "in2", "in3", "in4"]
    flat, annotators, acts = (tmp_path / name for name in ("flat", "annotators", "acts"))
    for path in map(Path, PAPER):
        for number in (1, 2):
            renamed = path.read_text().replace("(example)", f"(act {number})")
            text = renamed.replace("\n4\t", f"\n{number}\t")
            act = acts / f"act{number}"
            act.mkdir(parents=True, exist_ok=True)
            (act / path.name).write_text(text)
            (annotators / path.stem).mkdir(parents=True, exist_ok=True)
            (annotators / path.stem / f"act{number}.conll").write_text(text)
        flat.mkdir(exist_ok=True)
        shutil.copy(path, flat)
    (flat / "review.conll").write_text("# caspr review: {}\n")
    (flat / "notes.md").write_text("nothing to read")
    assert documents(flat) == [("example", names)]
    assert documents(annotators) == [("act 1", names), ("act 2", names)]
    assert documents(acts) == [("act 1", names), ("act 2", names)]


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed during the first search, and there must be no page after it."""
    search, searched = engine._solved, count()

    def solved(*given: Any) -> Solution:
        if next(searched) == 0:
            signal.raise_signal(signal.SIGINT)
        return search(*given)

    def serve(*_: object, **__: object) -> None:
        pytest.fail("the page was opened")

    monkeypatch.setattr("caspr.review.server.serve.serve", serve)
    monkeypatch.setattr(engine, "_solved", solved)


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_during_the_first_search_ends_the_program(caspr: Caller, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    outcome = caspr("review", *sorted(before), "--no-browser")
    assert outcome.code == 130
    assert outcome.err.endswith("caspr: error: interrupted; nothing was written\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_ctrl_c_while_an_annotator_is_added_ends_the_program(
    caspr: Caller, folder: Path, request: pytest.FixtureRequest
) -> None:
    three = ["in1.conll", "in2.conll", "in3.conll"]
    assert caspr("adjudicate", *three, "--layout", "review", "-o", "review.conll", "-q").code == 0
    before = (folder / "review.conll").read_bytes()
    request.getfixturevalue("interrupted")
    outcome = caspr("review", "review.conll", "--add", "in4.conll", "--no-browser")
    assert (outcome.code, outcome.err.count("interrupted")) == (130, 1)
    assert (folder / "review.conll").read_bytes() == before
