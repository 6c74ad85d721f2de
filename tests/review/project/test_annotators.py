"""Late and corrected annotators: decisions are kept and follow; what no longer fits is listed and noted."""

from pathlib import Path

import pytest

from caspr.errors import InputError
from caspr.formats import read_all, review_file
from caspr.review.project.annotators import add_annotations, add_to_review, by_key, moved_mentions
from caspr.review.session import ReviewSession
from caspr.task.decisions import StatementKind
from caspr.text.document import Annotation, Chain, Document, Span
from tests.cli.caller import Caller
from tests.corpus.corpora import document_text
from tests.instances import annotation
from tests.review.project.projects import made, opened
from tests.review.sessions import opened as opened_file
from tests.review.sessions import reopened

CHAINS = [[(1, 2), (4, 4), (7, 7)], [(5, 5), (6, 6)]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.conll"


def do(session: ReviewSession, **operation: object) -> None:
    session.do(0, operation, session.history(0).version, "Bob")


def labels(session: ReviewSession) -> list[tuple[str, str]]:
    return [(one["label"], one["by"]) for one in session.state(0)["decisions"]]


def reviewed(path: Path, *operations: dict[str, object]) -> None:
    session = opened_file(path, [annotation(name, CHAINS, 8) for name in ("ann", "bea")])
    for operation in operations:
        do(session, **operation)
    session.close()


def add(path: Path, *given: Annotation) -> list[str]:
    return [line for one in add_annotations(path, by_key([given]), "Ann") for line in one.lines()]


def test_a_late_annotator_changes_the_result_and_no_decision(path: Path) -> None:
    reviewed(path, {"do": "apart", "mentions": ["4-4", "5-5"]}, {"do": "note", "text": "x"}, {"do": "done"})
    late = annotation("carla", [[(1, 2), (5, 5), (6, 6)], [(3, 3), (8, 8)]], 8)
    assert add(path, late) == ["doc: carla added"]
    [one] = review_file.read(path)
    assert [given.annotator for given in one.annotations] == ["ann", "bea", "carla"]
    session = reopened(path)
    assert labels(session) == [("“4” and “5” apart", "Bob")]
    state = session.state(0)
    assert state["done"] is None, "there is something new to look at"
    assert [note["text"] for note in state["notes"]] == ["x"]
    assert state["undo"] == "annotations were added or corrected"
    steps = session.record.steps(session.documents[0].title)
    assert [(step["do"], step["by"]) for step in steps][-1] == ("annotators", "Ann")
    for _ in range(3):
        do(session, do="undo")
    assert labels(session) == [("“4” and “5” apart", "Bob")]
    do(session, do="undo")
    assert labels(session) == []
    assert len(session.state(0)["annotators"]) == 3


def test_the_same_again_changes_nothing(path: Path) -> None:
    reviewed(path, {"do": "apart", "mentions": ["4-4", "5-5"]})
    before = path.read_bytes()
    assert add(path, annotation("ann", CHAINS, 8)) == []
    assert path.read_bytes() == before


def test_decisions_follow_a_mention_that_its_annotators_moved(path: Path) -> None:
    reviewed(
        path,
        {"do": "together", "mentions": ["1-2", "5-5"]},
        {"do": "note", "mention": "1-2", "text": "boundary?"},
    )
    moved = [[(1, 1), (4, 4), (7, 7)], CHAINS[1]]
    assert add(path, annotation("ann", moved, 8)) == ["doc: ann corrected"], "bea still marks (1, 2)"
    [corrected, followed] = add(path, annotation("bea", moved, 8))
    assert corrected == "doc: bea corrected"
    assert followed.startswith("  followed: (1, 2) and (5, 5) together")
    session = reopened(path)
    assert labels(session) == [("“1” and “5” together", "Bob")]
    session.close()
    path.unlink()
    session.record.path.unlink()
    reviewed(
        path, {"do": "together", "mentions": ["1-2", "5-5"]}, {"do": "note", "mention": "1-2", "text": "?"}
    )
    lines = add(path, annotation("ann", moved, 8), annotation("bea", moved, 8))
    assert len(lines) == 2
    assert lines[1].startswith("  followed: (1, 2) and (5, 5) together")
    session = reopened(path)
    assert labels(session) == [("“1” and “5” together", "Bob")]
    assert session.state(0)["notes"][0]["mention"] == "1-1"


def test_what_no_longer_fits_is_listed_and_kept_as_a_note(path: Path) -> None:
    """Nobody links (1, 2) with anything any more, so that it cannot be in some chain."""
    reviewed(path, {"do": "exists", "mentions": ["1-2"]}, {"do": "absent", "mentions": ["5-5"]})
    rest = [[(4, 4), (7, 7)], CHAINS[1]]
    lines = add(path, annotation("ann", rest, 8), annotation("bea", rest, 8))
    assert lines[0] == "doc: ann corrected, bea corrected"
    assert lines[1].startswith("  no longer fits, kept as a note: (1, 2) in some chain ('")
    session = reopened(path)
    assert labels(session) == [("“5” absent", "Bob")]
    [note] = session.state(0)["notes"]
    assert note["text"].startswith("No longer fits since annotations were added or corrected: “1 2” in some")
    assert "decided by Bob" in note["text"]


def test_decisions_about_what_nobody_marks_now_are_listed(path: Path) -> None:
    reviewed(path, {"do": "absent", "mentions": ["1-2"]})
    rest = [[(4, 4), (7, 7)], CHAINS[1]]
    lines = add(path, annotation("ann", rest, 8), annotation("bea", rest, 8))
    assert lines[1].startswith("  about a mention that nobody marks now: (1, 2) absent")
    assert labels(reopened(path)) == [("“1 2” absent", "Bob")]


def test_decisions_follow_their_words_when_tokens_are_cut_anew(path: Path) -> None:
    tokens = ("New-York", "is", "big", ".", "It", "grows")
    old = [
        Annotation.of(
            name, Document("doc", tokens), [Chain.of("1", [(1, 1), (5, 5)]), Chain.of("2", [(3, 3), (6, 6)])]
        )
        for name in ("ann", "bea")
    ]
    session = opened_file(path, old)
    for operation in (
        {"do": "together", "mentions": ["1-1", "5-5"]},
        {"do": "empty", "tokens": [2]},
        {"do": "apart", "mentions": ["5-5", "6-6"]},
    ):
        do(session, **operation)
    session.close()
    finer = Document("doc", ("New", "-", "York", "is", "big", ".", "It", "grows"))
    late = Annotation.of("carla", finer, [Chain.of("1", [(1, 3), (7, 7)]), Chain.of("2", [(3, 3), (8, 8)])])
    assert add(path, late) == ["doc: carla added"]
    [one] = review_file.read(path)
    assert one.gold.document.tokens == finer.tokens
    assert {
        (str(made.kind), made.mentions)
        for made in one.decisions.statements
        if made.kind is StatementKind.APART
    } == {("apart", (Span(7, 7), Span(8, 8)))}
    again = reopened(path)
    assert sorted(labels(again)) == [
        ("nothing starts or ends at “is”", "Bob"),
        ("“It” and “grows” apart", "Bob"),
        ("“New - York” and “It” together", "Bob"),
    ]
    assert again.state(0)["undo"] is None, "tokens have other numbers now: undo begins anew"
    assert [step["do"] for step in again.record.steps(again.documents[0].title)][-1] == "annotators"


def test_another_text_is_refused_and_nothing_changes(path: Path) -> None:
    reviewed(path, {"do": "absent", "mentions": ["1-2"]})
    before = path.read_bytes()
    other = Annotation.of("carla", Document("doc", ("another", "text")), [])
    with pytest.raises(InputError, match=r"same text|expected"):
        add(path, other)
    assert path.read_bytes() == before


def test_where_a_mention_moved() -> None:
    old = [annotation("ann", [[(1, 2), (4, 4)]], 8), annotation("bea", [[(1, 2), (4, 4)]], 8)]
    to = {name: annotation(name, [[(1, 1), (4, 4)]], 8) for name in ("ann", "bea")}
    away = annotation("bea", [[(2, 2), (4, 4)]], 8)
    both = annotation("bea", [[(1, 1), (2, 2)]], 8)
    assert moved_mentions(old, to.values()) == {Span(1, 2): Span(1, 1)}
    assert moved_mentions(old, [to["ann"], old[1]]) == {}, "bea still marks it"
    assert moved_mentions(old, [to["ann"], away]) == {}, "they do not agree"
    assert moved_mentions(old, [to["ann"], both]) == {}, "two mentions could be meant"


def test_a_project_gets_a_late_annotator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path)
    project = opened(folder)
    session, _ = project.at(0)
    session.do(0, {"do": "note", "text": "x"}, 1, "Bob")
    project.close()
    untouched = (folder / project.rows[2].file).read_bytes()
    late = tmp_path / "carla"
    late.mkdir()
    for name in ("one", "three", "elsewhere"):
        (late / f"{name}.conll").write_text(document_text(name, "carla"))
    lines = add_to_review(folder, read_all([late]), "Ann")
    assert lines == [
        "one: carla added",
        "three: carla added",
        "not in the project: 1 document (first: elsewhere)",
    ]
    assert add_to_review(folder, read_all([late]), "Ann")[0].startswith("not in the project")
    assert (folder / project.rows[2].file).read_bytes() == untouched
    again = opened(folder)
    assert [row["annotators"] for row in again.summaries()] == [4, 4, 3]
    assert again.at(0)[0].state(0)["notes"][0]["text"] == "x"
    with pytest.raises(InputError, match="open in another"):
        add_to_review(folder, read_all([late]), "Ann")
    again.close()
    call = Caller(monkeypatch, capsys)
    assert "needs one project or review file" in call.fails("review", late, "--add", late)


def test_several_annotators_need_an_add_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    caspr = Caller(monkeypatch, capsys)
    project, late = made(tmp_path), tmp_path / "late"
    late.mkdir()
    for name in ("carla", "dora"):
        (late / f"{name}.conll").write_text(document_text("one", name))
    said = caspr.fails("review", project, "--add", late, "--no-browser")
    assert f"2 annotations of 'one' by one annotator, 'late' ({late / 'carla.conll'}, " in said
    assert said.endswith("give the file or folder of each annotator an --add of its own")
    said = caspr.fails("review", project, "--add", late / "carla.conll", late / "dora.conll", "--no-browser")
    assert said.endswith(f"write --add {late / 'carla.conll'} --add {late / 'dora.conll'}")
