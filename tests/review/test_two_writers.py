"""Two writers of one review file: an editor's save is never overwritten, nothing acknowledged is lost."""

import random
import re
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from caspr.cli import redo
from caspr.errors import FormatError, InputError
from caspr.formats import review_file
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession, StaleError
from caspr.review.solver import Solver
from tests.cli.caller import PAPER, Caller
from tests.review.sessions import Values, paper, reopened


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(monkeypatch, capsys)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.conll"


def do(session: ReviewSession, **operation: object) -> Values:
    return session.do(0, operation, session.history(0).version)


def saved(path: Path, text: str, *, in_place: bool) -> None:
    """Save a file as an editor does."""
    if in_place:
        path.write_text(text, encoding="utf-8")
    else:
        other = path.with_name("editor's")
        other.write_text(text, encoding="utf-8")
        other.replace(path)


def noted(text: str, note: str) -> str:
    """Write a note into a review file by hand."""
    return text.replace("#begin", f'# caspr note: {{"mention": null, "text": "{note}"}}\n#begin', 1)


@pytest.mark.parametrize("in_place", [False, True])
def test_an_editors_save_during_a_solve_is_kept(
    in_place: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = paper(path)
    solve, edited = Solver.solve, noted(path.read_text(), "by hand")

    def interrupted(self: Solver, *given: Any, **more: Any) -> Any:
        monkeypatch.setattr(Solver, "solve", solve)
        saved(path, edited, in_place=in_place)
        return solve(self, *given, **more)

    monkeypatch.setattr(Solver, "solve", interrupted)
    with pytest.raises(StaleError) as stale:
        session.do(0, {"do": "exists", "mentions": ["4-4"]}, 1)
    assert path.read_text() == edited
    state = session.state(0)
    assert (state["version"], stale.value.version) == (2, 2)
    assert [note["text"] for note in state["notes"]] == ["by hand"]
    assert state["decisions"] == []
    do(session, do="exists", mentions=["4-4"])
    assert "by hand" in path.read_text()


def test_saves_at_random_moments_are_all_kept(path: Path) -> None:
    """Whatever the moment, the editor's note is in the file in the end, and on the page."""
    rng = random.Random(7)
    session = paper(path)
    started = time.monotonic()
    for verb in ({"do": "exists", "mentions": ["4-4"]}, {"do": "undo"}):
        session.do(0, verb, session.history(0).version)
    longest = 1.5 * (time.monotonic() - started)  # saves come before, during and after an operation
    acknowledged = 0
    for turn in range(60):
        text, version = path.read_text(), session.history(0).version
        verb = {"do": "exists", "mentions": ["4-4"]} if turn % 2 == 0 else {"do": "undo"}
        edited = noted(text, f"turn {turn}")

        def edit(edited: str = edited, wait: float = rng.random() * longest, way: int = turn) -> None:
            time.sleep(wait)
            saved(path, edited, in_place=way % 3 == 0)

        editor = Thread(target=edit)
        editor.start()
        try:
            session.do(0, verb, version)
            acknowledged += 1
        except (StaleError, OperationError):
            pass
        editor.join()
        session.poll()
        assert f"turn {turn}" in path.read_text()
        assert session.problem is None
        assert f"turn {turn}" in [note["text"] for note in session.state(0)["notes"]]
    assert 0 < acknowledged < 60


def test_only_the_result_was_edited_and_the_operation_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results in the file are ignored: nothing that anybody decided is in the way."""
    session = paper(path)
    solve = Solver.solve
    edited = re.sub(r"\t\(2\)\n", "\t-\n", path.read_text(), count=1)

    def interrupted(self: Solver, *given: Any, **more: Any) -> Any:
        monkeypatch.setattr(Solver, "solve", solve)
        path.write_text(edited)
        return solve(self, *given, **more)

    monkeypatch.setattr(Solver, "solve", interrupted)
    assert do(session, do="exists", mentions=["4-4"])["version"] == 2
    assert "exists: 4-4" in path.read_text()


def test_redo_and_adjudicate_are_refused_during_a_session(path: Path, call: Caller) -> None:
    session = paper(path)
    again = ["adjudicate", *PAPER, "--layout", "review", "-o"]
    assert "open in another `caspr`" in call.fails(*again, path)
    do(session, do="exists", mentions=["4-4"])
    before = path.read_bytes()
    assert "open in another `caspr`" in call.fails("redo", path)
    assert "this would lose the 1 decision" in call.fails(*again, path)
    assert path.read_bytes() == before
    copy = path.with_name("copy.conll")
    assert call("redo", path, "-o", copy, "-q").code == 0, "what is only read is not locked"
    assert sorted(one.name for one in path.parent.iterdir()) == [
        ".review.conll.history.jsonl",
        ".review.conll.lock",
        "copy.conll",
        "review.conll",
    ]


def test_redo_keeps_a_save_during_its_solve(
    path: Path, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper(path).close()
    text = path.read_text()
    solve = redo.__dict__["solve"]

    def interrupted(*given: Any, **more: Any) -> Any:
        path.write_text(noted(text, "by hand"))
        return solve(*given, **more)

    monkeypatch.setattr(redo, "solve", interrupted)
    assert "another program saved this file" in call.fails("redo", path)
    assert path.read_text() == noted(text, "by hand")
    assert [one.name for one in path.parent.iterdir()] == ["review.conll"]


def test_redo_leaves_nothing_beside_a_file_that_is_removed_during_its_solve(
    path: Path, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper(path).close()
    solve = redo.__dict__["solve"]

    def interrupted(*given: Any, **more: Any) -> Any:
        path.unlink()
        return solve(*given, **more)

    monkeypatch.setattr(redo, "solve", interrupted)
    assert "or removed it" in call.fails("redo", path)
    assert list(path.parent.iterdir()) == []


def test_a_review_file_with_two_names_is_refused(path: Path, call: Caller) -> None:
    paper(path).close()
    other = path.with_name("other.conll")
    other.hardlink_to(path)
    for name in (path, other):
        with pytest.raises(InputError, match="hard links"):
            reopened(name)
        assert "hard links" in call.fails("redo", name)


def test_half_a_character_in_a_note_is_refused(path: Path) -> None:
    session = paper(path)
    before = session.state(0)
    with pytest.raises(OperationError, match="half character"):
        do(session, do="note", text="a\ud83d")
    assert session.state(0) == before
    do(session, do="note", text="a\U0001f600")
    session.close()
    path.write_text(path.read_text().replace("\\ude00", ""))
    with pytest.raises(FormatError, match="half a character"):
        review_file.read(path)
