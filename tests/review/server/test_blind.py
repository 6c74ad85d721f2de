"""A blind server sends no names of annotators."""

from pathlib import Path

import httpx
import pytest

from caspr.review.history import ADDED
from caspr.review.project.annotators import AnnotatorChanges, by_key, change_annotators
from caspr.review.project.project import SingleFile
from caspr.review.server.guard import Address
from caspr.review.server.routes import make_app
from caspr.text.document import Annotation, Chain, Document
from tests.review.server.test_routes import KEYS, OURS, Browser
from tests.review.sessions import opened, reopened

NAMES = ("Zwetschge", "Quitte")


@pytest.mark.parametrize("blind", [True, False])
def test_no_response_names_an_annotator(tmp_path: Path, blind: bool) -> None:
    document = Document("d", ("a", "b", "c"))
    chain = Chain.of("1", [(1, 1), (2, 2)])
    longer = Chain.of("1", [(1, 1), (2, 2), (3, 3)])
    session = opened(
        tmp_path / "review.conll",
        [Annotation.of(name, document, [one]) for name, one in zip(NAMES, (chain, longer), strict=True)],
    )
    browser = Browser(session, KEYS.token)
    browser.transport = httpx.ASGITransport(make_app(SingleFile(session), [KEYS], Address(8765), blind=blind))
    paths = [
        "/d/0/",
        "/d/0/state",
        "/d/0/mention/1-1",
        "/d/0/questions",
        "/d/0/question/q3-3",
        "/d/0/export?format=conll",
    ]
    paths += ["/d/0/export?format=review", "/d/0/report", "/history", "/history/export"]
    named = [path for path in paths if any(name in browser.get(path).text for name in NAMES)]
    if blind:
        assert named == []
        assert browser.get("/d/0/state").json()["annotators"] == ["Annotator 1", "Annotator 2"]
        assert browser.get("/d/0/report").status_code == 422
        assert browser.get("/d/0/question/q3-3").json()["absent"] == ["Annotator 1"]
        assert browser.get("/d/0/questions?annotator=Annotator%201").json()["found"] == 1
    else:
        assert len(named) >= 5


def test_texts_of_the_program_do_not_name_whom_was_added(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    document = Document("d", tuple("abcd"))
    chains = [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(3, 3), (4, 4)])]
    session = opened(path, [Annotation.of(name, document, chains) for name in NAMES])
    session.do(0, {"do": "exists", "mentions": ["1-1"]}, session.history(0).version, "Ann")
    session.close()
    given = [[Annotation.of(name, document, chains[1:])] for name in NAMES]
    change_annotators(path, AnnotatorChanges(by_key(given)), "Ann")
    session = reopened(path)
    browser = Browser(session, KEYS.token)
    browser.transport = httpx.ASGITransport(make_app(SingleFile(session), [KEYS], Address(8765), blind=True))
    state = browser.get("/d/0/state").json()
    assert [one["text"].partition(":")[0] for one in state["notes"]] == [f"No longer fits since {ADDED}"]
    assert state["undo"] == ADDED
    note = {"op": {"do": "note", "mention": None, "text": "Why?"}, "version": state["version"]}
    update = browser.post("/d/0/do", json=note, headers=OURS)
    assert [one["text"] for one in update.json()["notes"]][1:] == ["Why?"]
    history = browser.get("/history").text, browser.get("/history/export").text
    assert not any(name in text for name in NAMES for text in (str(state), update.text, *history))


def test_what_is_wrong_with_a_file_is_not_told_with_names(tmp_path: Path) -> None:
    """Faults of a file name the column of an annotator; who may see that finds it out by `caspr check`."""
    path = tmp_path / "review.conll"
    chains = [Chain.of("1", [(1, 1), (2, 2)])]
    session = opened(path, [Annotation.of(name, Document("d", tuple("abcd")), chains) for name in NAMES])
    browser = Browser(session, KEYS.token)
    browser.transport = httpx.ASGITransport(make_app(SingleFile(session), [KEYS], Address(8765), blind=True))
    path.write_text(path.read_text().replace("1\ta\t(1)", "1\ta\t(1"))
    session.poll()
    assert any(name in str(session.problem) for name in NAMES)
    note = {"op": {"do": "note", "mention": None, "text": "Why?"}, "version": session.history(0).version}
    told = [browser.get("/d/0/state"), browser.post("/d/0/do", json=note, headers=OURS)]
    assert [answer.status_code for answer in told] == [200, 422]
    for answer in told:
        assert not any(name in answer.text for name in NAMES), answer.text
        assert "caspr check" in answer.text
