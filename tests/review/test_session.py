"""A session: every operation holds, is on the disk, and can be taken back exactly."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from caspr.adjudication import adjudicate_document
from caspr.errors import InputError, OutputError
from caspr.formats import review_file
from caspr.formats.review_file.statements import number_of_acts
from caspr.review import documents
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession, StaleError, Store, open_annotations
from caspr.storage import stamp_of
from caspr.task.contradictions import ContradictionError
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.task.stored_settings import read_settings
from caspr.text.document import Span
from tests.corpus.processes import until
from tests.instances import annotation, paper_annotations
from tests.review.sessions import (
    OPEN,
    Values,
    lasting,
    opened,
    paper,
    random_operation,
    random_session,
    reopened,
    updated,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.conll"


def do(session: ReviewSession, **operation: object) -> Values:
    return session.do(0, operation, session.history(0).version)


def chain_of(session: ReviewSession, mention: str) -> str | None:
    found: str | None = session.state(0)["mentions"][mention]["chain"]
    return found


def refused(session: ReviewSession, **operation: object) -> OperationError:
    before, file = session.state(0), session.store.path.read_bytes()
    with pytest.raises(OperationError) as error:
        do(session, **operation)
    assert session.state(0) == before
    assert session.store.path.read_bytes() == file
    return error.value


def test_the_paper_example(path: Path) -> None:
    session = paper(path)
    assert chain_of(session, "5-5") is not None
    update = do(session, do="together", mentions=["1-3", "6-6"])
    assert (update["cost"]["before"], update["cost"]["value"]) == (6, 8)
    assert {"mention": "5-5", "from": "2", "to": None} in update["changed"]
    assert not {"1-3", "6-6"} & {one["mention"] for one in update["changed"]}
    assert chain_of(session, "1-3") == chain_of(session, "6-6") is not None
    assert session.state(0)["mentions"]["1-1"]["decision"] is None, "no token is closed"
    assert '# caspr together: 1-3 6-6 by "adjudicator" at 20' in path.read_text()
    do(session, do="undo")
    assert chain_of(session, "5-5") is not None
    assert do(session, do="redo")["undo"] == "“1 2 3” and “6” together"


def test_two_answers_within_a_second_are_two_answers(path: Path) -> None:
    session = paper(path)
    for mention in ("1-1", "5-5"):
        do(session, do="exists", mentions=[mention])
    [review] = review_file.read(path)
    assert number_of_acts(review.decided) == 2


def test_a_contradiction_is_refused_with_the_decisions_in_the_way(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    do(session, do="together", mentions=["1-3", "6-6"])
    do(session, do="note", text="x")
    error = refused(session, do="absent", mentions=["6-6"])
    assert error.clashes == ("d2",)
    assert str(error) == "You decided that “6” is a mention, and also that it is not."
    assert refused(session, do="apart", mentions=["6-6", "6-6"]).clashes == ()
    assert refused(session, do="empty", tokens=[4]).clashes == ("d1",)
    assert refused(session, do="together", mentions=["6-6", "1-3"]).clashes == ("d2",)
    do(session, do="free", decisions=["d2"])
    do(session, do="absent", mentions=["6-6"])


def test_two_pairs_may_turn_out_to_be_one_chain(path: Path) -> None:
    one = annotation("a", [[(1, 1), (2, 2), (3, 3), (4, 4)]])
    session = opened(path, (one, annotation("b", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]])))
    do(session, do="together", mentions=["1-1", "2-2"])
    do(session, do="together", mentions=["3-3", "4-4"])
    assert len(session.state(0)["chains"]) == 1
    do(session, do="apart", mentions=["2-2", "3-3"])
    assert len(session.state(0)["chains"]) == 2
    do(session, do="undo")
    do(session, do="exists", mentions=["1-1"])
    do(session, do="split", mentions=["3-3", "4-4"])
    assert len(session.state(0)["chains"]) == 2
    do(session, do="merge", chains=sorted(session.state(0)["chains"]))
    assert len(session.state(0)["chains"]) == 1


def test_decisions_are_marks_where_these_rule_out_nothing_else(path: Path) -> None:
    session = paper(path)
    do(session, do="accept", chain=chain_of(session, "5-5"))
    assert "enforced: 1-3 5-5 in 2" in path.read_text(), "(1, 1) starts at the same token"
    four = chain_of(session, "4-4")
    do(session, do="into", mentions=["4-4"], chain=four)
    session.close()
    lone = opened(
        path.with_name("other.conll"), [annotation(n, [[(1, 2), (4, 4)], [(5, 5), (6, 6)]]) for n in "ab"]
    )
    do(lone, do="accept", chain="1")
    text = lone.store.path.read_text()
    results = [line.split("\t")[-1] for line in text.partition("#begin")[2].splitlines()[1:7]]
    assert results == ["=(1", "=1)", "-", "=(1)", "(2)", "(2)"]
    do(lone, do="together", mentions=["2-3", "6-6"])
    assert "=" not in lone.store.path.read_text().partition("#begin")[2], "a mark would rule out (2, 3)"
    lone.close()
    again = reopened(lone.store.path)
    assert [one["label"] for one in again.state(0)["decisions"]] == [
        "“1 2” and “4” in chain 1",
        "“2 3” and “6” together",
    ]


@pytest.mark.parametrize("seed", range(30))
def test_random_operations_against_a_model(seed: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo and redo are exact, updates add up to the state, and the file is always the state."""
    monkeypatch.setattr(ReviewSession, "_run_background", lambda self, number: None)
    rng = random.Random(seed)
    session = random_session(rng, path)
    page = session.state(0)
    past: list[Values] = []
    future: list[Values] = []
    for _ in range(25):
        operation = random_operation(rng, page)
        file = path.read_bytes()
        try:
            update = session.do(0, operation, page["version"])
        except OperationError as error:
            assert session.state(0) == page
            assert path.read_bytes() == file
            check_clashes(session, operation, error)
            continue
        if operation["do"] == "undo":
            future.append(page)
            expected = past.pop()
        elif operation["do"] == "redo":
            past.append(page)
            expected = future.pop()
        else:
            past.append(page)
            future.clear()
            expected = None
        page = updated(page, update)
        assert page == session.state(0)
        assert expected is None or lasting(page) == lasting(expected)
        assert (page["undo"] is None, page["redo"] is None) == (not past, not future)
        check_file(session)
    session.close()
    again = reopened(path)
    assert lasting(again.state(0)) == lasting(page)
    assert (again.state(0)["undo"], again.state(0)["redo"]) == (page["undo"], page["redo"])
    for expected in reversed(past):
        do(again, do="undo")
        assert lasting(again.state(0)) == lasting(expected)
    assert again.state(0)["undo"] is None


def check_clashes(session: ReviewSession, operation: Values, error: OperationError) -> None:
    """Taking back what clashes, again and again, must let a contradictory operation pass."""
    if "already" in str(error) or operation["do"] not in ("together", "apart", "absent", "exists", "empty"):
        return
    history = session.history(0)
    version, future, steps = history.version, history.future, 0
    record, title = session.record, session.documents[0].title
    lines, end = list(record.lines.get(title, [])), record.end
    freed: list[str] = []
    while error.clashes:
        freed += error.clashes
        try:
            do(session, do="free", decisions=freed)
            freed, steps = [], steps + 1
            do(session, **operation)
            steps += 1
            break
        except OperationError as again:
            error = again
    for _ in range(steps):
        do(session, do="undo")
    history.version, history.future = version, future
    record.lines[title], record.end = lines, end
    if steps:
        os.truncate(record.path, end)


def check_file(session: ReviewSession) -> None:
    """What is on the disk alone leads to the same cost and the same decisions."""
    [one] = review_file.read(session.store.path)
    result = adjudicate_document(one.annotations, one.decisions, read_settings(one.settings))
    snapshot = session.history(0).snapshot
    assert result.value == snapshot.value == snapshot.bound
    ours = snapshot.decisions
    assert [group.mentions for group in one.decisions.groups] == [group.mentions for group in ours.groups]
    assert {group.ids for group in one.decisions.groups} == {group.ids for group in ours.groups}
    assert (one.decisions.absent, one.decisions.apart) == (ours.absent, ours.apart)
    known = {span for annotation in one.annotations for span in annotation.mentions}
    assert {span for span in known if one.decisions.rules_out(span)} == {
        span for span in known if ours.rules_out(span)
    }
    assert path_text(session) == review_file.write(
        [
            review_file.Review(
                session.history(0).solver.gold(snapshot),
                one.annotations,
                one.decided,
                one.settings,
                one.notes,
                one.done,
            )
        ]
    )


def path_text(session: ReviewSession) -> str:
    return session.store.path.read_text(encoding="utf-8")


def test_a_file_edited_outside_is_read_again_and_never_written_over(path: Path) -> None:
    session = paper(path)
    events: list[tuple[str, Values]] = []
    session.listeners.append(lambda number, kind, data: events.append((kind, data)))
    version = session.history(0).version
    do(session, do="exists", mentions=["4-4"])
    edited = path.read_text().replace("\t(2)\n6", "\t=-\n6")
    path.write_text(edited)
    with pytest.raises(StaleError):
        session.do(0, {"do": "absent", "mentions": ["6-6"]}, version + 1)
    assert path.read_text() == edited
    labels = [one["label"] for one in session.state(0)["decisions"]]
    assert sorted(labels) == ["nothing starts or ends at “5”", "“4” in some chain"]
    assert chain_of(session, "5-5") is None
    assert any(kind == "update" and data["version"] == version + 2 for kind, data in events)
    do(session, do="undo")
    assert chain_of(session, "5-5") is not None


def test_an_unreadable_file_stops_everything_until_it_is_repaired(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    good = path.read_text()
    for spoilt in (
        good[:-30],
        good.replace("exists: 4-4", "exists: 4-9"),
        good.replace("exists", "absent") + "#",
    ):
        path.write_text(spoilt)
        session.poll()
        if spoilt.endswith("#"):
            assert session.state(0)["problem"] is None
            continue
        assert "edited outside" in session.state(0)["problem"]
        with pytest.raises(OperationError, match="edited outside"):
            do(session, do="undo")
        assert path.read_text() == spoilt
    path.write_text(good)
    session.poll()
    assert session.state(0)["problem"] is None
    assert [one["kind"] for one in session.state(0)["decisions"]] == ["exists"]


def test_contradictions_written_into_the_file_are_a_problem(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    path.write_text(
        path.read_text().replace("# caspr exists: 4-4", "# caspr exists: 4-4\n# caspr absent: 4-4")
    )
    session.poll()
    assert "You decided that “4” is a mention, and also that it is not." in session.state(0)["problem"]
    session.close()
    with pytest.raises(ContradictionError, match="contradict each other"):
        reopened(path)


def test_touching_the_file_changes_nothing(path: Path) -> None:
    session = paper(path)
    path.touch()
    assert do(session, do="exists", mentions=["4-4"])["version"] == 2


def test_a_deleted_file_is_restored(path: Path) -> None:
    session = paper(path)
    path.unlink()
    do(session, do="exists", mentions=["4-4"])
    assert "exists: 4-4" in path.read_text()


def test_a_disk_that_refuses_changes_nothing(path: Path) -> None:
    session = paper(path)
    before = session.state(0)
    path.parent.rename(path.parent.with_name("elsewhere"))
    with pytest.raises(OutputError):
        do(session, do="exists", mentions=["4-4"])
    path.parent.with_name("elsewhere").rename(path.parent)
    assert session.state(0) == before
    do(session, do="exists", mentions=["4-4"])


def test_stale_versions_are_refused(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    for version in (1, 3, "2", None):
        with pytest.raises(StaleError) as stale:
            session.do(0, {"do": "undo"}, version)
        assert stale.value.version == 2


def test_two_sessions_cannot_have_one_file(path: Path) -> None:
    session = paper(path)
    with pytest.raises(InputError, match="open in another"):
        reopened(path)
    link = path.with_name("link.conll")
    link.symlink_to(path)
    with pytest.raises(InputError, match="open in another"):
        reopened(link)
    session.close()
    reopened(path).close()
    assert sorted(one.name for one in path.parent.iterdir()) == ["link.conll", "review.conll"]


def test_an_existing_review_is_resumed_only_if_it_has_the_same_annotations(path: Path) -> None:
    session = paper(path)
    do(session, do="exists", mentions=["4-4"])
    session.close()
    again = paper(path)
    assert [one["kind"] for one in again.state(0)["decisions"]] == ["exists"]
    again.close()
    file = path.read_bytes()
    with pytest.raises(InputError, match="other annotations"):
        opened(path, paper_annotations()[:3])
    assert path.read_bytes() == file
    Store(path).acquire()


@pytest.mark.parametrize(
    "operation",
    [
        None,
        [],
        {},
        {"do": "explode"},
        {"do": ["undo"]},
        {"do": "together"},
        {"do": "together", "mentions": ["1-3"]},
        {"do": "together", "mentions": "1-3"},
        {"do": "together", "mentions": ["1-3", "1-3"]},
        {"do": "together", "mentions": [1, 2]},
        {"do": "absent", "mentions": ["0-1"]},
        {"do": "absent", "mentions": ["3-2"]},
        {"do": "absent", "mentions": ["1-7"]},
        {"do": "absent", "mentions": ["1-" + "9" * 5000]},
        {"do": "absent", "mentions": ["１-３"]},
        {"do": "apart", "mentions": ["1-1", "2-2", "4-4"]},
        {"do": "into", "mentions": ["1-1"], "chain": "99"},
        {"do": "into", "mentions": ["1-1"], "chain": {"a": 1}},
        {"do": "empty", "tokens": [True]},
        {"do": "empty", "tokens": [7]},
        {"do": "empty", "tokens": []},
        {"do": "accept"},
        {"do": "split", "mentions": ["1-3", "4-4"]},
        {"do": "split", "mentions": ["1-3", "5-5"]},
        {"do": "merge", "chains": ["1"]},
        {"do": "merge", "chains": ["1", "1"]},
        {"do": "new", "start": 2.0, "end": 3},
        {"do": "new", "start": 3, "end": 2},
        {"do": "free", "decisions": ["d1"]},
        {"do": "free", "decisions": [["d1"]]},
        {"do": "note", "text": ""},
        {"do": "note", "text": "x" * 20_000},
        {"do": "unnote", "id": "n1"},
        {"do": "undo"},
        {"do": "redo"},
    ],
)
def test_invalid_operations_are_refused_and_change_nothing(operation: object, path: Path) -> None:
    session = paper(path)
    before = session.state(0)
    with pytest.raises(OperationError):
        session.do(0, operation, 1)
    assert session.state(0) == before


def uncertain(path: Path) -> ReviewSession:
    """Open a document on which annotators disagree so much that the first look proves nothing."""
    rng = random.Random(5)
    spans = [(token, token) for token in range(1, 41)]
    return opened(path, [annotation(f"a{n}", _noise(rng, spans), 40) for n in range(6)])


def proven(session: ReviewSession) -> bool:
    """Return whether the result is optimal; a page that asks for it would start the search again."""
    history = session.documents[0].history
    return history is not None and history.snapshot.optimal


def answer_within(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set how long an operation searches before it is answered."""
    monkeypatch.setattr(documents, "ANSWER_WITHIN", seconds)
    monkeypatch.setattr(documents, "PER_MENTION", 0.0)


def test_a_refused_operation_does_not_end_the_search(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = searching(path, monkeypatch)
    monkeypatch.undo()
    with pytest.raises(OperationError):
        do(session, do="dance")
    until(lambda: proven(session))


def searching(path: Path, monkeypatch: pytest.MonkeyPatch) -> ReviewSession:
    """Open a document whose search for a better result waits for `_run_background`."""
    session = uncertain(path)
    answer_within(monkeypatch, 0.0)
    until(lambda: session._worker.idle)
    monkeypatch.setattr(session, "_run_background", lambda *numbers: None)
    assert do(session, do="apart", mentions=["1-1", "2-2"])["working"]
    return session


def test_a_better_result_keeps_the_mark_that_a_document_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = searching(path, monkeypatch)
    assert do(session, do="done")["working"]
    monkeypatch.undo()
    session._run_background(0)
    until(lambda: proven(session))
    assert session.state(0)["done"] is not None


def test_a_search_that_finds_nothing_better_writes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = searching(path, monkeypatch)
    monkeypatch.undo()
    history, before = session.history(0), stamp_of(path)
    monkeypatch.setattr(history.solver, "solve", lambda *_: history.snapshot)
    session._run_background(0)
    until(lambda: not history.working)
    assert stamp_of(path) == before


def test_steps_that_are_refused_do_not_end_the_search(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = searching(path, monkeypatch)
    monkeypatch.undo()

    def refuse(documents: object) -> NoReturn:
        raise OperationError("no")

    with pytest.raises(OperationError):
        session.take_steps(refuse)
    until(lambda: proven(session))


def test_a_result_after_an_edit_outside_is_improved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = uncertain(path)
    do(session, do="apart", mentions=["1-1", "2-2"])
    until(lambda: session._worker.idle)
    answer_within(monkeypatch, 0.0)
    path.write_bytes(path.read_bytes().replace(b"# caspr apart:", b"# caspr together:"))
    session.poll()
    until(lambda: proven(session))


def test_a_search_that_takes_longer_continues_and_can_be_cancelled(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_within(monkeypatch, 0.0)
    session = uncertain(path)
    update = do(session, do="apart", mentions=["1-1", "2-2"])
    assert update["working"] or update["cost"]["status"] == "optimal"
    session.cancel(0)
    assert not session.state(0)["working"]
    do(session, do="undo")
    answer_within(monkeypatch, 60.0)
    assert do(session, do="together", mentions=["1-1", "2-2"])["cost"]["status"] == "optimal"


def _noise(rng: random.Random, spans: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    chains: list[list[tuple[int, int]]] = [[] for _ in range(5)]
    for number, span in enumerate(spans):
        chains[number % 5 if rng.random() < 0.6 else rng.randrange(5)].append(span)
    return [chain for chain in chains if len(chain) > 1]


def test_documents_are_opened_on_access_and_the_others_keep_their_text(path: Path) -> None:
    texts = {}
    for name in ("one", "two", "three"):
        given = [replace(one, document=replace(one.document, name=name)) for one in paper_annotations()]
        session = opened(path.with_name(f"{name}.conll"), given)
        texts[name] = session.store.path.read_text().replace("(2|(1)\n", "rubbish of mine\n")
        session.close()
    path.write_text("".join(texts.values()))
    session = reopened(path)
    assert [document.history for document in session.documents] == [None] * 3
    lines = session.summaries()
    assert [(one["title"], one["asked"], one["chains"]) for one in lines][1] == ("two", 5, None)
    session.do(1, {"do": "exists", "mentions": ["4-4"]}, 1)
    written = path.read_text()
    assert written.startswith(texts["one"])
    assert written.endswith(texts["three"])
    assert "exists: 4-4" in written
    assert session.summaries()[1]["status"] == "in progress"
    session.poll()
    until(lambda: session._worker.idle)  # it reads the file, too, which is not written all at once here
    path.write_text(
        written.replace("#begin document (three)", "# caspr exists: 4-4\n#begin document (three)")
    )
    session.poll()
    assert [one["label"] for one in session.state(2)["decisions"]] == ["“4” in some chain"]
    assert session.state(2)["version"] == 2
    session.close()
    again = reopened(path)
    again.start()
    until(lambda: all(document.history is not None for document in again.documents))


def test_a_new_review_of_several_documents_gets_its_results(path: Path) -> None:
    given = [
        [replace(one, document=replace(one.document, name=name)) for name in ("one", "two")]
        for one in paper_annotations()
    ]
    session, _ = open_annotations([], given, path, lambda settings: settings)
    OPEN.append(session)
    before = path.read_text()
    session.start()
    until(lambda: not session.fresh)
    assert path.read_text() == "".join(
        history.text(history.snapshot) for history in map(session.history, (0, 1))
    )
    assert path.read_text() != before


def test_votes_on_a_mention_with_variants_show_the_annotators_own_boundaries(path: Path) -> None:
    texts = ([[(1, 1), (4, 4)]], [[(1, 2), (4, 4)]], [[(1, 2), (4, 4)]])
    annotations = [annotation(name, chains) for name, chains in zip("abc", texts, strict=True)]
    session = opened(path, annotations, Settings(variants=True))
    history = session.history(0)
    votes = history.viewer.explanation(Span(1, 2), history.snapshot, Limits(seconds=1))["votes"]
    assert [(one["annotator"], one["boundary"]) for one in votes] == [
        ("a", "1-1"),
        ("b", "1-2"),
        ("c", "1-2"),
    ]
    assert all(one["with"] == ["4-4"] for one in votes)
