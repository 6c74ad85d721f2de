"""An error category and a confidence on a decision: in file and history, through undo and restarts."""

from pathlib import Path
from typing import Any

import pytest

from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from tests.review.sessions import Values, lasting, paper, reopened


def do(session: ReviewSession, **operation: Any) -> Values:
    return session.do(0, operation, session.history(0).version)


def judged(session: ReviewSession) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["category"], one["confidence"]) for one in session.state(0)["decisions"]]


def test_they_are_kept_by_undo_restart_and_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    session = paper(path)
    do(session, do="absent", mentions=["4-4"], category="  spurious   mention ", confidence="low")
    do(session, do="together", mentions=["1-3", "6-6"])
    assert judged(session) == [("absent", "spurious mention", "low"), ("together", "", "")]
    assert 'Z category "spurious mention" confidence low\n' in path.read_text()
    second = session.state(0)["decisions"][1]["id"]
    value = session.state(0)["cost"]
    do(session, do="rate", decisions=[second], confidence="high")
    assert judged(session)[1] == ("together", "", "high")
    assert session.state(0)["cost"] == value
    do(session, do="undo")
    assert judged(session)[1] == ("together", "", "")
    do(session, do="redo")
    state = session.state(0)
    session.close()
    again = reopened(path)
    assert lasting(again.state(0)) == lasting(state)
    steps = again.record.steps(again.documents[0].title)
    assert [(one["category"], one["confidence"]) for one in steps][:3] == [
        ("spurious mention", "low"),
        ("", ""),
        ("", "high"),
    ]
    path.write_text(path.read_text().replace("confidence high", 'category "boundary" confidence medium'))
    again.poll()
    assert judged(again)[1] == ("together", "boundary", "medium")
    again.close()
    again.record.path.unlink()
    assert judged(reopened(path)) == judged(again)


@pytest.mark.parametrize(
    "operation",
    [
        {"do": "rate", "decisions": ["d9"], "confidence": "low"},
        {"do": "rate", "decisions": ["d1"], "confidence": "certain"},
        {"do": "rate", "decisions": ["d1"], "category": "x" * 61},
        {"do": "rate", "decisions": ["d1"], "category": "\ud800"},
        {"do": "rate", "decisions": ["d1"], "category": ["x"]},
        {"do": "rate", "decisions": ["d1"], "category": ""},
        {"do": "rate", "decisions": 7},
        {"do": "alone", "mentions": ["5-5"], "confidence": ["low"]},
    ],
)
def test_what_is_refused(tmp_path: Path, operation: Values) -> None:
    session = paper(tmp_path / "review.conll")
    do(session, do="absent", mentions=["4-4"])
    before = session.state(0)
    with pytest.raises(OperationError):
        do(session, **operation)
    assert session.state(0) == before


def test_a_malformed_judgement_in_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    session = paper(path)
    do(session, do="absent", mentions=["4-4"], confidence="low")
    path.write_text(path.read_text().replace("confidence low", "confidence certain"))
    session.poll()
    assert session.problem is not None and "low|medium|high" in session.problem
