"""The documentation site builds without a warning, complete, and needs no network."""

import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import caspr

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)")


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as `dev.py site` does."""
    words = [
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "-c",
        str(ROOT / "docs" / "site"),
    ]
    command = [sys.executable, *words, "-d", str(output / "doctrees"), str(source), str(output / "site")]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    output = tmp_path_factory.mktemp("site")
    done = build(ROOT, output)
    assert done.returncode == 0, done.stderr
    return output / "site"


def test_the_site_is_complete_and_needs_no_network(site: Path) -> None:
    for page in PAGES:
        text = (site / page.relative_to(ROOT).with_suffix(".html")).read_text("utf-8")
        assert not LOADED.findall(text), page
    reference = (site / "docs" / "api.html").read_text("utf-8")
    for name in caspr.__all__:
        assert f'id="caspr.{name}"' in reference, name
    assert 'href="../demo.html"' in (site / "docs" / "demo.html").read_text("utf-8")
    assert not LOADED.findall((site / "demo.html").read_text("utf-8"))
    assert 'href="../examples.zip"' in (site / "docs" / "tutorial.html").read_text("utf-8")
    with zipfile.ZipFile(site / "examples.zip") as examples:
        assert "examples/scene/anna.conll" in examples.namelist()
    assert 'url=docs/index.html"' in (site / "index.html").read_text("utf-8")
    index = (site / "searchindex.js").read_text("utf-8")
    assert '"docs/tutorial"' in index
    assert "coverag" in index


class Links(HTMLParser):
    """Where a page can be entered, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.names.add(value)
            elif value and name in ("href", "src"):
                self.targets.append(value)


def test_every_link_leads_somewhere_offline(site: Path) -> None:
    pages = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html")}
    del pages[site / "demo.html"]  # its script answers instead of a server
    broken: list[str] = []
    for page, links in pages.items():
        for target in links.targets:
            link = urlsplit(target)
            if link.scheme:
                continue
            goal = (page.parent / unquote(link.path)).resolve() if link.path else page
            found = goal.is_file() and (
                not link.fragment or goal not in pages or unquote(link.fragment) in pages[goal].names
            )
            if not found:
                broken.append(f"{page.relative_to(site)}: {target}")
    assert not broken


def test_links_that_lead_nowhere_fail(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "# Start\n\nA [page](gone.md), a [section](#lost) and [one elsewhere](index.md#missing).\n"
    (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
    done = build(tmp_path, tmp_path / "built")
    assert done.returncode != 0
    assert [name in done.stderr for name in ("gone.md", "lost", "missing")] == [True] * 3, done.stderr
