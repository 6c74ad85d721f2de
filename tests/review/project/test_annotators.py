"""Late and corrected annotators: decisions are kept and follow; what no longer fits is listed and noted."""

from contextlib import closing
from pathlib import Path

import pytest

from caspr.errors import InputError
from caspr.formats import read_all, review_file
from caspr.review.project import annotators
from caspr.review.project.annotators import (
    AnnotatorChanges,
    AnnotatorReport,
    by_key,
    change_annotators,
    change_session,
    likely_corrections,
    moved_mentions,
)
from caspr.review.session import ReviewSession, StaleError
from caspr.task.decisions import StatementKind
from caspr.task.settings import Settings
from caspr.task.stored_settings import read_settings
from caspr.task.weights import Factor
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from tests.cli.caller import Caller
from tests.corpus.corpora import document_text
from tests.instances import annotation
from tests.review.project.projects import made, opened
from tests.review.sessions import lasting, reopened
from tests.review.sessions import opened as opened_file

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
    lines = change_annotators(path, AnnotatorChanges(by_key([given])), "Ann")
    return [] if lines == ["nothing is new in these annotations"] else lines


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
    assert session.state(0)["annotators"] == ["ann", "bea"]


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
    assert [step["do"] for step in again.record.steps(again.documents[0].title)][-1] == "annotators"
    do(again, do="undo")
    assert again.state(0)["tokens"] == list(tokens), "undo brings the old tokens back, too"
    assert ("“New-York” and “It” together", "Bob") in labels(again)
    again.close()
    again = reopened(path)
    do(again, do="redo")
    assert tuple(again.state(0)["tokens"]) == finer.tokens
    assert ("“New - York” and “It” together", "Bob") in labels(again)


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
    lines = change_annotators(folder, AnnotatorChanges(by_key(read_all([late]))), "Ann")
    assert lines == [
        "one: carla added",
        "three: carla added",
        "not in the project: 1 document (first: elsewhere)",
    ]
    assert change_annotators(folder, AnnotatorChanges(by_key(read_all([late]))), "Ann")[0].startswith(
        "not in the project"
    )
    (late / "three.conll").unlink()
    for part in ("first", "second"):
        (late / "one.conll").write_text(document_text("one", part))
        lines = change_annotators(folder, AnnotatorChanges(by_key(read_all([late]))), "Ann")
        assert lines == ["one: carla corrected", "not in the project: 1 document (first: elsewhere)"]
    assert (folder / project.rows[2].file).read_bytes() == untouched
    again = opened(folder)
    assert [len(row["annotators"]) for row in again.summaries()] == [4, 4, 3]
    assert again.at(0)[0].state(0)["notes"][0]["text"] == "x"
    with pytest.raises(InputError, match="open in another"):
        change_annotators(folder, AnnotatorChanges(by_key(read_all([late]))), "Ann")
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


def test_a_removed_annotator_comes_back_with_undo(path: Path) -> None:
    """After a restart, too, and what was decided in between is undone first."""
    annotations = [annotation(name, CHAINS, 8) for name in ("ann", "bea")]
    third = annotation("cem", [[(1, 2), (5, 5)], [(3, 3), (8, 8)]], 8)
    session = opened_file(path, [*annotations, third])
    do(session, do="apart", mentions=["4-4", "5-5"])
    do(session, do="absent", mentions=["3-3"])
    before = lasting(session.state(0))
    changes = AnnotatorChanges(removed=frozenset(["cem"]))
    [report] = change_session(session, changes, "Ann")
    assert report.said == ("cem removed",)
    [unmarked] = report.unmarked
    assert unmarked.startswith("(3, 3) absent")
    assert session.state(0)["annotators"] == ["ann", "bea"]
    assert labels(session) == [("“4” and “5” apart", "Bob"), ("“3” absent", "Bob")]
    do(session, do="note", text="in between")
    session.close()
    session = reopened(path)
    assert [work.annotator for work in session.documents[0].review.annotations] == ["ann", "bea"]
    do(session, do="undo")
    assert session.state(0)["undo"] == "an annotator was removed"
    do(session, do="undo")
    assert session.state(0)["annotators"] == ["ann", "bea", "cem"]
    assert lasting(session.state(0)) == before
    [review] = review_file.read(path)
    assert review.annotations[2].mentions == third.mentions
    session.close()
    session = reopened(path)
    do(session, do="redo")
    assert session.state(0)["annotators"] == ["ann", "bea"]
    do(session, do="redo")
    assert [note["text"] for note in session.state(0)["notes"]] == ["in between"]
    assert [work.annotator for work in review_file.read(path)[0].annotations] == ["ann", "bea"]


def test_a_renamed_annotator_keeps_weights_and_what_was_seen(path: Path) -> None:
    settings = Settings(
        factors=(Factor("bea", 1, 2),), coverage=Coverage.of({"bea": [(1, 6)]}), variants=True
    )
    session = opened_file(path, [annotation(name, CHAINS, 8) for name in ("ann", "bea", "cem")], settings)
    do(session, do="together", mentions=["1-2", "5-5"])
    do(session, do="done")
    cost = session.state(0)["cost"]
    changes = AnnotatorChanges(renamed={"bea": "Béa “B”", "ann": "bea"})
    [report] = change_session(session, changes, "Ann")
    assert report.lines() == ["doc: ann renamed bea, bea renamed Béa “B”"]
    assert session.state(0)["cost"] == cost
    assert session.state(0)["done"] is not None, "nothing is new"
    [review] = review_file.read(path)
    assert [work.annotator for work in review.annotations] == ["bea", "Béa “B”", "cem"]
    settings = read_settings(review.settings)
    assert isinstance(settings.coverage, Coverage)
    assert set(settings.coverage.seen) == {"Béa “B”"}
    rows = {row.annotator: row.omit for row in settings.weights.annotators} if settings.weights else {}
    assert rows["Béa “B”"] * 2 == rows["bea"] == rows["cem"]
    do(session, do="undo")
    assert session.state(0)["annotators"] == ["ann", "bea", "cem"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (AnnotatorChanges(removed=frozenset(["dora"])), "no annotator 'dora': there are ann, bea"),
        (AnnotatorChanges(removed=frozenset(["ann", "bea"])), "doc: ann, bea cannot be removed: nobody else"),
        (AnnotatorChanges(renamed={"ann": "bea"}), "doc: two annotators would be called 'bea'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    path: Path, changes: AnnotatorChanges, said: str
) -> None:
    reviewed(path, {"do": "absent", "mentions": ["5-5"]})
    before = path.read_bytes()
    with pytest.raises(InputError, match=said):
        change_annotators(path, changes, "Ann")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "x" * 201])
def test_no_name(name: str) -> None:
    with pytest.raises(InputError, match="is not a name for an annotator"):
        AnnotatorChanges(renamed={"ann": name})


def test_a_step_of_somebody_who_has_not_seen_the_change_is_refused(path: Path) -> None:
    session = opened_file(path, [annotation(name, CHAINS, 8) for name in ("ann", "bea", "cem")])
    seen: list[dict[str, object]] = []
    session.listeners.append(lambda _, kind, data: seen.append(data) if kind == "update" else None)
    version = session.history(0).version
    change_session(session, AnnotatorChanges(removed=frozenset(["cem"])), "Ann")
    assert seen[0]["full"] is True, "open pages are told to load everything again"
    with pytest.raises(StaleError):
        session.do(0, {"do": "absent", "mentions": ["5-5"]}, version, "Bob")
    assert labels(session) == []


def test_who_is_likely_corrected() -> None:
    many = [[(number, number), (number + 1, number + 1)] for number in range(1, 60, 2)]
    there = [[annotation("carla", many, 60), annotation("ann", many[:5], 60)]]

    def likely(name: str, chains: list[list[tuple[int, int]]]) -> list[str]:
        return list(map(str, likely_corrections(there, by_key([[annotation(name, chains, 60)]]))))

    nearly, half = [*many[:-1], [(59, 60), (57, 57)]], many[:18]
    assert likely("final", nearly) == ["'final' is 96 % the same as 'carla'"]
    assert likely("dora", half) == []
    assert likely("carla_v2", half) == ["'carla_v2' is 75 % the same as 'carla'"]
    assert likely("carla", nearly) == [], "whose it is was said"
    assert likely("dora", many) == [], "it corrects nothing"


def test_a_corrected_file_of_another_name_says_whom_it_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    caspr = Caller(monkeypatch, capsys)
    for name in ("ann", "bob", "carla"):
        (tmp_path / f"{name}.conll").write_text(document_text("one", "carla" if name == "carla" else name))
    files = [tmp_path / f"{name}.conll" for name in ("ann", "bob", "carla")]
    review, corrected = tmp_path / "review.conll", tmp_path / "carla_v2.conll"
    assert caspr("adjudicate", *files, "--layout", "review", "-o", review).code == 0
    text = document_text("one", "carla")
    corrected.write_text(text.replace("(2)", "(1)", 1))
    before = review.read_bytes()
    said = caspr.fails("redo", review, "--add", corrected)
    assert f"% the same as 'carla': write --add carla={corrected} if it corrects" in said
    assert f"--add carla_v2={corrected} if it is the work of one more annotator" in said
    assert review.read_bytes() == before
    outcome = caspr("redo", review, "--add", f"carla={corrected}", "--rename", "bob=Robert")
    assert "one: carla corrected, bob renamed Robert" in outcome.err
    assert [work.annotator for work in review_file.read(review)[0].annotations] == ["ann", "Robert", "carla"]
    outcome = caspr("redo", review, "--remove", "carla")
    assert (outcome.code, "one: carla removed" in outcome.err) == (0, True)
    assert "there is no annotator 'carla'" in caspr.fails("redo", review, "--remove", "carla")
    assert "give the old and the new name" in caspr.fails("redo", review, "--rename", "carla")
    assert "-o cannot be used" in caspr.fails("redo", review, "--remove", "ann", "-o", tmp_path / "new.conll")
    assert "need one project" in caspr.fails("review", *files, "--remove", "ann", "--no-browser")


def test_a_change_of_a_project_that_is_cancelled_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = made(tmp_path), list[ReviewSession]()
    files = sorted((folder / "documents").glob("*.conll"))
    before = [file.read_bytes() for file in files]

    def interrupted(session: ReviewSession, changes: AnnotatorChanges, who: str) -> list[AnnotatorReport]:
        asked.append(session)
        if len(asked) == len(files):
            raise KeyboardInterrupt
        return change_session(session, changes, who)

    renamed = AnnotatorChanges(renamed={"ann": "Änne"})
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(annotators, "change_session", interrupted)
        change_annotators(folder, renamed, "Ann")
    assert [file.read_bytes() for file in files] == before
    with closing(opened(folder)) as project:
        assert project.steps("") == []
    assert len(change_annotators(folder, renamed, "Ann")) == len(files)
    for file in files:
        [review] = review_file.read(file)
        assert "Änne" in [work.annotator for work in review.annotations]
    with closing(opened(folder)) as project:
        assert [step["do"] for step in project.steps("")] == ["annotators"] * len(files)


def test_one_document_that_is_named_after_its_file_is_found(path: Path) -> None:
    """A brat file of `carla_v2` is called so, and holds the only document that there is."""
    reviewed(path, {"do": "apart", "mentions": ["4-4", "5-5"]})
    folder = path.parent / "late"
    folder.mkdir()
    (folder / "carla.txt").write_text("1 2 3 4 5 6 7 8\n")
    (folder / "carla.ann").write_text("T1\tM 0 3\t1 2\nT2\tM 8 9\t5\nR1\tCoref Arg1:T2 Arg2:T1\n")
    lines = change_annotators(path, AnnotatorChanges(by_key(read_all([folder / "carla.ann"]))), "Ann")
    assert lines == ["doc: carla added"]
