"""Flags on mentions, with a note: kept in the file and the record, and in reports and exports."""

import json
from pathlib import Path

import pytest

from caspr.formats import review_file
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.task.decisions import Note
from caspr.text.document import Flag, Span
from tests.cli.caller import Caller
from tests.review.sessions import paper, reopened


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    return paper(tmp_path / "review.conll")


def do(session: ReviewSession, **operation: object) -> None:
    session.do(0, operation, session.history(0).version, "Bob")


def flags(session: ReviewSession) -> list[tuple[str | None, str, str]]:
    return [(note["mention"], note["flag"], note["text"]) for note in session.state(0)["notes"]]


def test_a_flag_is_set_replaced_moved_undone_and_kept(session: ReviewSession) -> None:
    do(session, do="note", mention="6-6", flag="generic", text="")
    do(session, do="note", mention="6-6", flag="later", text="ask Ann\n</script>")
    do(session, do="note", mention="6-6", flag="generic", text="see p. 3")
    assert flags(session) == [("6-6", "later", "ask Ann\n</script>"), ("6-6", "generic", "see p. 3")]
    assert session.state(0)["undo"] == "flag: generic"
    do(session, do="move", mention="6-6", start=5, end=6)
    assert {mention for mention, _, _ in flags(session)} == {"5-6"}
    session.close()
    session = reopened(session.store.path)
    assert [flag for _, flag, _ in flags(session)] == ["later", "generic"]
    do(session, do="undo")
    do(session, do="undo")
    assert flags(session) == [("6-6", "generic", ""), ("6-6", "later", "ask Ann\n</script>")]
    do(session, do="redo")
    do(session, do="unnote", id=session.state(0)["notes"][0]["id"])
    assert flags(session) == [("6-6", "generic", "see p. 3")]
    summary = session.summaries()[0]
    assert [(note.flag, note.mention) for note in summary["flags"]] == [("generic", Span(6, 6))]
    gold = session.history(0).solver.gold(session.history(0).snapshot)
    assert gold.marks[Span(6, 6)].flags == (Flag("generic", "see p. 3"),)


@pytest.mark.parametrize(
    "operation",
    [
        {"flag": "generic"},
        {"flag": "x" * 61, "mention": "6-6"},
        {"flag": "two\nlines", "mention": "6-6"},
        {"flag": " ", "mention": "6-6"},
        {"flag": 7, "mention": "6-6"},
        {"flag": "\ud800", "mention": "6-6"},
        {"flag": "", "text": "", "mention": "6-6"},
    ],
)
def test_what_is_no_flag_is_refused(session: ReviewSession, operation: dict[str, object]) -> None:
    with pytest.raises(OperationError):
        do(session, do="note", **operation)
    assert flags(session) == []


@pytest.mark.parametrize("flag", [None, ""])
def test_a_note_without_a_flag_is_only_a_note(session: ReviewSession, flag: object) -> None:
    do(session, do="note", mention="6-6", flag=flag, text="ask Ann")
    assert flags(session) == [("6-6", "", "ask Ann")]


def test_flags_are_edited_in_the_file(session: ReviewSession) -> None:
    path = session.store.path
    path.write_text('# caspr note: {"mention": "6-6", "flag": "ambiguous"}\n' + path.read_text())
    session.poll()
    assert flags(session) == [("6-6", "ambiguous", "")]
    session.close()
    [review] = review_file.read(path)
    assert review.notes[0] == Note("", Span(6, 6), review.notes[0].made, "ambiguous")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"mention": "6-6", "flag": ""}', "a note"),
        ('{"mention": "6-6", "flag": 3}', "expected a flag of one line"),
        ('{"mention": null, "flag": "generic", "text": ""}', "without a mention"),
        ('{"mention": "6-9", "flag": "generic"}', "inside the tokens 1 to 6"),
    ],
)
def test_malformed_flags_name_their_line(
    session: ReviewSession,
    line: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = session.store.path
    session.close()
    path.write_text(f"# caspr note: {line}\n" + path.read_text())
    wrong = Caller(monkeypatch, capsys).fails("redo", path)
    assert "review.conll:1: " in wrong
    assert said in wrong


def test_redo_keeps_flags_and_writes_them(
    session: ReviewSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    caspr = Caller(monkeypatch, capsys)
    do(session, do="together", mentions=["1-3", "6-6"])
    do(session, do="note", mention="6-6", flag="generic", text="see p. 3")
    path = session.store.path
    session.close()
    gold, report = path.with_name("gold.ann"), path.with_name("report.json")
    assert caspr("redo", path, "--gold", gold, "--report", report, "--objective", "va").code == 0
    assert "\tgeneric: see p. 3\n" in gold.read_text()
    [flag] = json.loads(report.read_text())["documents"][0]["flags"]
    assert (flag["text"], flag["flag"], flag["note"]) == ("6", "generic", "see p. 3")
    assert [note.flag for note in review_file.read(path)[0].notes] == ["generic"]
    for name in ("report.html", "report.md"):
        assert caspr("report", path, "-o", path.with_name(name)).code == 0
        assert "see p. 3" in path.with_name(name).read_text()
    outcome = caspr("redo", path, "--gold", path.with_name("gold.conll"))
    assert "1 flag of mentions not written" in outcome.err
