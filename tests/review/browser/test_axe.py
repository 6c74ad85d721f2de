"""axe finds nothing against WCAG 2.2 AA on any view, and no key types into a field by surprise."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from bench.browser import Served, served
from tests.review.browser.actions import mention, press
from tests.review.browser.conftest import opened
from tests.review.project.projects import made

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}


def violations(page: Page, *, without: str = "") -> list[str]:
    """Return what axe finds, each rule with the elements that break it; `without` is left out."""
    page.wait_for_timeout(150)
    # What is in the page already is not sent again.
    axe = Axe("" if page.evaluate("'axe' in window") else AXE_SCRIPT)
    context = {"exclude": [[without]]} if without else None
    found = axe.run(page, context=context, options=RULES).response["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def test_every_view_of_a_document(page: Page) -> None:
    """In the light; `test_access` looks at the contrast of every view in both themes."""
    mention(page, "5-5").click()
    press(page, "x")
    mention(page, "6-6").click()
    for view in ("Q", "M", "C", "D", "v", "v"):
        press(page, view)
        assert violations(page) == [], view
    press(page, "v", "Escape", "Space", "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert violations(page) == []
    press(page, "Escape", "c")
    expect(page.get_by_role("dialog")).to_contain_text("Move")
    assert violations(page) == []
    press(page, "Escape", "i")
    assert violations(page) == []
    press(page, "Escape", "F")
    page.get_by_role("button", name="generic").click()
    assert violations(page) == []
    press(page, "Enter")
    expect(page.locator("#decisions .notes, #detail .notes").first).to_contain_text("⚑ generic")
    assert violations(page) == []
    press(page, "o")
    assert violations(page) == []


def test_no_key_types_into_a_field_by_surprise(page: Page) -> None:
    """Whatever panel a key opens, the next key is a key again; only `/` leads into a field."""
    search = page.get_by_role("searchbox", name="Search the text")
    for first in ("Q", "M", "C", "D"):
        press(page, first, "C")
        expect(page.locator("#chains")).to_be_visible()
        expect(search).to_have_value("")
    press(page, "C", "v")
    expect(page.locator("#matrix")).to_be_visible()
    press(page, "C", "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press(page, "/")
    expect(search).to_be_focused()
    press(page, "5")
    expect(search).to_have_value("5")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    folder = made(tmp_path_factory.mktemp("made"), [f"document {number}" for number in range(3)])
    with served(folder.parent, "project", "--name", "Ann Ü") as server:
        yield server, folder


def test_the_list_and_the_history(chromium: Browser, project: tuple[Served, Path]) -> None:
    server, folder = project
    with opened(chromium, server) as page:
        expect(page.locator("html[data-ready]")).to_be_attached()
        assert violations(page) == []
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.locator("#export summary").click()
            box = page.locator("#export .menu-list").bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= width, "the whole menu can be seen"
            assert box["y"] + box["height"] <= 800
            press(page, "Escape")
            expect(page.locator("#export .menu-list")).to_be_hidden()
            page.locator("#export summary").click()
            page.locator("h1").click()
            expect(page.locator("#export .menu-list")).to_be_hidden()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("checkbox", name="Choose document 1", exact=True).focus()
        press(page, "Space")
        expect(page.locator("#chosen-bar")).to_contain_text("1 document chosen")
        assert violations(page) == []
        page.get_by_role("button", name="Assign …").focus()
        press(page, "Enter")
        page.get_by_label("Who should do them?").fill("Bob & Söhne")
        assert violations(page) == []
        press(page, "Enter")
        expect(page.get_by_role("cell", name="Bob & Söhne")).to_be_visible()
        assert "Bob & Söhne" in (folder / "caspr-project.json").read_text(encoding="utf-8")
        page.get_by_role("link", name="document 0", exact=True).last.click()
        expect(page.locator("html[data-ready]")).to_be_attached()
        page.get_by_role("button", name="Done").click()
        expect(page.locator("#people")).to_contain_text("done by Ann Ü")
        assert violations(page) == []
        press(page, "D", "i")
        page.get_by_role("dialog").get_by_role("textbox").fill("Why?")
        press(page, "Control+Enter")
        expect(page.locator("#decisions .notes")).to_contain_text("Ann Ü, ")
        page.goto(f"{page.url.partition('/d/')[0]}/?show=done")
        expect(page.locator("#documents tbody tr")).to_have_count(1)
        expect(page.locator("#documents tbody tr")).to_contain_text("by Ann Ü")
        page.get_by_role("link", name="What was done").click()
        expect(page.locator("tbody tr")).to_have_count(2)
        assert violations(page) == []
        page.get_by_label("Since").fill("2999-01-01")
        page.get_by_role("button", name="Show").click()
        expect(page.locator(".empty")).to_have_text("Nothing has been done since then.")
        assert violations(page) == []
