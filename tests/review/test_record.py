"""Who decided what and when: in the file, in the record, after a restart, a crash, or edits by hand."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from caspr.errors import OutputError
from caspr.formats import review_file
from caspr.review import session as store_module
from caspr.review.record import packed, unpacked
from caspr.review.session import ReviewSession
from tests.instances import annotation
from tests.review.sessions import Values, lasting, opened, paper, reopened

TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.conll"


def do(session: ReviewSession, who: str = "", **operation: object) -> Values:
    return session.do(0, operation, session.history(0).version, who)


def authors(session: ReviewSession) -> list[tuple[str, str]]:
    return [(one["label"], one["by"]) for one in session.state(0)["decisions"]]


def plain(path: Path) -> ReviewSession:
    """Open a review in which decisions can be expressed by cells."""
    chains = [[(1, 2), (4, 4), (7, 7)], [(5, 5), (6, 6)]]
    return opened(path, [annotation(name, chains, 8) for name in "ab"])


def test_what_unpacks_to_very_much_is_refused() -> None:
    text = "".join(f"{number}\tword\t(1)\n" for number in range(100_000))
    assert unpacked(packed(text)) == text
    with pytest.raises(ValueError, match="too large"):
        unpacked(packed("a" * (30 << 20)))


def test_every_decision_line_says_who_and_when(path: Path) -> None:
    session = plain(path)
    do(session, "Ann", do="into", mentions=["1-2"], chain="1")
    do(session, 'B "Bob" Ü\n', do="into", mentions=["7-7"], chain="1")
    do(session, "Ann", do="apart", mentions=["4-4", "5-5"])
    do(session, "Cem", do="empty", tokens=[3, 8])
    do(session, "Cem", do="note", text="why?")
    do(session, "Cem", do="done")
    text = path.read_text()
    when = TIME.search(text)
    assert when is not None
    lines = [TIME.sub("T", line) for line in text.partition("#begin")[0].splitlines()[1:]]
    assert lines == [
        '# caspr apart: 4-4 5-5 by "Ann" at T',
        '# caspr cells: 1-2 4-4 in 1 by "Ann" at T',
        '# caspr cells: 7-7 in 1 by "B \\"Bob\\" \\u00dc\\n" at T',
        '# caspr empty: 3 8 by "Cem" at T',
        '# caspr done: by "Cem" at T',
        '# caspr note: {"mention": null, "text": "why?", "by": "Cem", "at": "T"}',
    ]
    before = session.state(0)
    assert before["done"]["by"] == "Cem"
    session.close()
    assert lasting(reopened(path).state(0)) == lasting(before)


def test_without_the_record_decisions_stay_separate_and_signed(path: Path) -> None:
    session = plain(path)
    for who, mention in (("Ann", "1-2"), ("Bob", "7-7")):
        do(session, who, do="into", mentions=[mention], chain="1")
    do(session, "Bob", do="empty", tokens=[3, 8])
    expected = sorted(authors(session))
    session.close()
    session.record.path.unlink()
    again = reopened(path)
    assert sorted(authors(again)) == expected
    assert again.state(0)["undo"] is None


def test_what_is_edited_by_hand_is_the_editors(path: Path) -> None:
    session = plain(path)
    do(session, "Ann", do="into", mentions=["1-2"], chain="1")
    path.write_text(
        path.read_text().replace("\t(1)\n8", "\t=(1)\n8").replace("#begin", "# caspr absent: 5-5\n#begin")
    )
    session.poll()
    assert sorted(authors(session)) == [
        ("“1 2” and “4” in chain 1", "Ann"),
        ("“4” and “7” held as one entity", "Ann"),
        ("“5” absent", "editor"),
        ("“7” in chain 1", "editor"),
    ]
    do(session, "Ann", do="note", text="x")
    text = path.read_text()
    assert re.search(r'# caspr cells: 7-7 in 1 by "editor" at 20', text)
    session.close()
    path.write_text(text.replace("# caspr absent: 5-5", "# caspr absent: 5-5 6-6"))
    again = reopened(path)
    assert ("“5” and “6” absent", "editor") in authors(again)
    assert again.state(0)["undo"] == "edits in the file"
    do(again, do="undo")
    assert ("“5” absent", "editor") in authors(again)
    steps = again.record.steps(again.documents[0].title)
    assert [(one["do"], one["by"]) for one in steps] == [
        ("into", "Ann"),
        ("edit", "editor"),
        ("note", "Ann"),
        ("edit", "editor"),
        ("undo", "adjudicator"),
    ]


def test_a_crash_between_record_and_file_drops_the_step(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    expected, file = session.state(0), path.read_bytes()
    do(session, do="absent", mentions=["6-6"])
    session.close()
    path.write_bytes(file)  # as if the process had been killed before it was written
    with session.record.path.open("ab") as stream:
        stream.write(b'{"document": "doc", "do": "half a li')
    again = reopened(path)
    assert lasting(again.state(0)) == lasting(expected)
    assert again.state(0)["undo"] == expected["undo"]
    do(again, do="undo")
    again.close()
    third = reopened(path)
    assert third.state(0)["redo"] == expected["undo"]
    assert third.state(0)["decisions"] == []


def test_a_step_that_cannot_be_written_is_not_recorded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    before = session.record.path.read_bytes()

    def full(*given: object) -> None:
        raise OutputError("disk full")

    monkeypatch.setattr(store_module, "write_unless_changed", full)
    with pytest.raises(OutputError):
        do(session, do="absent", mentions=["6-6"])
    assert session.record.path.read_bytes() == before


def test_a_record_that_lies_is_not_believed(path: Path) -> None:
    """The result in the record is certified, and only taken if it is as good as the one found now."""
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    expected = session.state(0)
    session.close()
    record = session.record.path
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    lines[-1]["chains"] = dict.fromkeys(expected["chains"])
    lines[-1]["cost"] = [0, 0, 0, 0, 0]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert reopened(path).state(0)["cost"] == expected["cost"]


def test_deciding_more_opens_a_document_that_was_done(path: Path) -> None:
    session = paper(path)
    do(session, "Ann", do="done")
    do(session, do="note", text="still done")
    assert session.state(0)["done"]["by"] == "Ann"
    do(session, do="exists", mentions=["4-4"])
    assert session.state(0)["done"] is None
    do(session, do="undo")
    assert session.state(0)["done"]["by"] == "Ann"
    do(session, do="reopen")
    [one] = review_file.read(path)
    assert one.done is None


def damaged(path: Path, session: ReviewSession, change: Callable[[list[Values]], list[Values]]) -> None:
    """Close a session and change the lines of its record."""
    session.close()
    record = session.record.path
    lines = change([json.loads(line) for line in record.read_text().splitlines()])
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))


def without(number: int) -> Callable[[list[Values]], list[Values]]:
    return lambda lines: [line for position, line in enumerate(lines) if position != number]


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_line_that_is_missing_takes_no_decision_with_it(path: Path, number: int) -> None:
    """The file is the truth: whatever the record leads to, what was acknowledged stays."""
    session = plain(path)
    do(session, "Ann", do="apart", mentions=["4-4", "5-5"])
    do(session, "Bob", do="mention", mentions=["7-7"])
    do(session, "Cem", do="note", text="why?")
    expected = authors(session), [note["text"] for note in session.state(0)["notes"]]
    damaged(path, session, without(number))
    for _ in range(2):
        again = reopened(path)
        assert (authors(again), [note["text"] for note in again.state(0)["notes"]]) == expected
        do(again, do="exists", mentions=["1-2"])
        do(again, do="undo")
        assert (authors(again), [note["text"] for note in again.state(0)["notes"]]) == expected
        [read] = review_file.read(path)
        assert len(read.decided) == 2
        again.close()


def test_a_record_that_was_begun_anew_says_so(path: Path) -> None:
    session = plain(path)
    do(session, "Ann", do="apart", mentions=["4-4", "5-5"])
    do(session, "Bob", do="mention", mentions=["7-7"])
    damaged(path, session, without(1))
    again = reopened(path)
    assert again.state(0)["undo"] is None, "steps of a record that does not fit are not offered"
    labels = [step["label"] for step in again.record.steps(again.documents[0].title)]
    assert "the record of earlier steps was damaged" in labels[-1]
    do(again, do="note", text="x")
    again.close()
    assert reopened(path).state(0)["undo"] == "a note"


def test_an_unreadable_line_in_the_middle_destroys_no_other(path: Path) -> None:
    session = plain(path)
    for who, mention in (("Ann", "1-2"), ("Bob", "7-7"), ("Cem", "5-5")):
        do(session, who, do="mention", mentions=[mention])
    expected = authors(session)
    session.close()
    lines = session.record.path.read_bytes().splitlines(keepends=True)
    lines[2] = b"\x00\xff nonsense\n"
    session.record.path.write_bytes(b"".join(lines))
    again = reopened(path)
    assert authors(again) == expected
    do(again, do="note", text="x")
    assert "Cem" in [step["by"] for step in again.record.steps(again.documents[0].title)]


@pytest.mark.parametrize("name", ["add", "drop", "notes", "unnote", "chains", "cost", "done", "annotators"])
@pytest.mark.parametrize("value", [None, 7, "x", [7], {"a": 7}, [{"id": 7}], {"1": ["x"]}])
def test_wrong_types_in_a_record_do_no_harm(path: Path, name: str, value: object) -> None:
    session = plain(path)
    do(session, "Ann", do="apart", mentions=["4-4", "5-5"])
    do(session, "Bob", do="mention", mentions=["7-7"])
    expected = authors(session)
    damaged(path, session, lambda lines: [*lines[:-1], {**lines[-1], name: value}])
    again = reopened(path)
    assert authors(again) == expected
    again.record.steps(again.documents[0].title)
    do(again, do="note", text="x")
