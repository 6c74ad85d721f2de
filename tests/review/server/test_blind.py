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
    chains = [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("1", [(1, 1), (2, 2), (3, 3)])]
    session = opened(
        tmp_path / "review.conll",
        [Annotation.of(name, document, [chain]) for name, chain in zip(NAMES, chains, strict=True)],
    )
    browser = Browser(session, KEYS.token)
    browser.transport = httpx.ASGITransport(make_app(SingleFile(session), [KEYS], Address(8765), blind=blind))
    paths = ["/d/0/", "/d/0/state", "/d/0/mention/1-1", "/d/0/questions", "/d/0/export?format=conll"]
    paths += ["/d/0/export?format=review", "/d/0/report", "/history", "/history/export"]
    [row] = browser.get("/d/0/questions?annotator=Annotator 1").json()["questions"]
    paths.append(f"/d/0/question/{row['id']}")
    named = [path for path in paths if any(name in browser.get(path).text for name in NAMES)]
    if blind:
        assert named == []
        assert browser.get("/d/0/state").json()["annotators"] == ["Annotator 1", "Annotator 2"]
        assert browser.get("/d/0/report").status_code == 422
    else:
        assert len(named) >= 6
