"""A blind server sends no names of annotators."""

from pathlib import Path

import httpx
import pytest

from caspr.review.project.workplace import SingleFile
from caspr.review.server.guard import Address
from caspr.review.server.routes import make_app
from caspr.text.document import Annotation, Chain, Document
from tests.review.server.test_routes import KEYS, Browser
from tests.review.sessions import opened

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
