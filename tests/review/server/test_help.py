"""The help: every page of it, and that links inside it lead somewhere."""

import re
from html import unescape
from pathlib import Path

import pytest

from caspr.review.server.help import CONTENTS, FOLDER, help_page
from caspr.review.server.responses import HELP
from tests.review.server.test_routes import client
from tests.review.sessions import paper

PAGES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for pattern in ("*.md", "formats/*.md")
    for path in FOLDER.glob(pattern)
)
LINK = re.compile(r'<a href="([^"]*)"')
PLACE = re.compile(r'<h\d id="([^"]*)"')


@pytest.mark.parametrize("name", PAGES)
def test_links_of_the_help_lead_to_pages_and_places_of_it(name: str) -> None:
    title, text = help_page(name)
    assert title
    assert "style=" not in text, "which our policy forbids"
    for target in map(unescape, LINK.findall(text)):
        if not target.startswith(("https://", "mailto:")):
            page, _, place = target.removeprefix(HELP).partition("#")
            assert page or target.startswith("#"), target
            other = help_page(page or name)[1]
            assert not place or place in PLACE.findall(other), target


def test_the_help_is_shown_beside_a_review(tmp_path: Path) -> None:
    web = client(paper(tmp_path / "review.conll"))
    page = web.get(f"{HELP}glossary").text
    assert "<title>Glossary" in page
    assert "How far a result goes against the votes" in page
    assert all(f'href="{HELP}{name}"' in page for name in CONTENTS)
    assert web.get(HELP).text != page
    assert f'href="{HELP}"' in web.get("/d/0/").text
    assert "{toctree}" not in web.get(f"{HELP}index").text
    picture = web.get(f"{HELP}pictures/start.png")
    assert picture.headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    "name", ["nothing", "../README", "..%2fREADME", "%2fetc%2fpasswd", "pictures/no.png", "start.md"]
)
def test_nothing_else_is_shown(tmp_path: Path, name: str) -> None:
    assert client(paper(tmp_path / "review.conll")).get(f"{HELP}{name}").status_code == 404
