"""One answer for many, and everybody's version of a line, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from tests.review.browser.actions import last_change, press
from tests.review.browser.conftest import EXAMPLES, opened
from tests.review.browser.test_axe import violations

WORDS = ["King", "!", "saw", "Queen", "!", "and", "Prince", "!", "and", "Duke", "!"]
BEGINS = (1, 4, 7, 10)


@pytest.fixture
def court(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a document in which Bob marks the exclamation marks, too."""
    for name, cells in (
        ("ann", {begin: f"({begin})" for begin in BEGINS}),
        (
            "bob",
            {
                token: f"({begin}" if token == begin else f"{begin})"
                for begin in BEGINS
                for token in (begin, begin + 1)
            },
        ),
    ):
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(WORDS, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    words = ("ann.conll", "bob.conll", "--variants", "--singletons", "vote")
    with served(tmp_path, *words) as server, opened(chromium, server) as page:
        expect(page.locator("#queue .card")).to_be_visible()
        yield page


def test_one_key_answers_all_others_like_the_last_one(court: Page) -> None:
    expect(court.locator("#queue .question-list h3")).to_have_text("All questions (4)")
    shorter = court.locator("#queue .choice", has_text="[King]")
    shorter.click()
    offer = last_change(court).get_by_role("button", name="Always without “!” at the end (3 more)")
    expect(offer).to_be_visible()
    assert violations(court) == []
    press(court, "+")
    expect(court.locator("#queue .empty")).to_contain_text("No open questions")
    expect(last_change(court).locator(".last-change-label")).to_contain_text("Boundary: “Queen”")
    expect(last_change(court).locator(".offers")).to_have_count(0)
    press(court, "u")
    expect(court.locator("#queue .question-list h3")).to_have_text("All questions (3)")
    press(court, "+")
    expect(court.locator("#toast")).to_contain_text("Nothing else")


def test_everybodys_version_of_the_line_stays_open(court: Page) -> None:
    press(court, "S")
    sentence = court.get_by_role("region", name="Everybody’s version of line 1")
    rows = sentence.locator(".sentence-row")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Result")
    expect(rows.nth(1).locator(".m")).to_have_text(["King", "Queen", "Prince", "Duke"])
    expect(rows.nth(2).locator(".m")).to_have_text(["King!", "Queen!", "Prince!", "Duke!"])
    assert violations(court) == []
    court.reload()
    expect(rows).to_have_count(3)
    press(court, "S")
    expect(sentence).to_be_hidden()


def test_everybodys_version_leaves_the_mention_in_view(chromium: Browser, tmp_path: Path) -> None:
    """The versions open over the lower part of the text, where the mention was."""
    files = sorted((EXAMPLES / "scene").glob("*.conll"))
    with served(tmp_path, *map(str, files)) as server, opened(chromium, server) as page:
        expect(page.locator("#queue .card")).to_be_visible()
        press(page, "j")
        asked = page.locator("#text .m.current").first
        expect(asked).to_be_in_viewport()
        asked.evaluate("mention => mention.scrollIntoView({block: 'end'})")
        press(page, "S")
        sentence = page.locator("#sentence")
        expect(sentence).to_be_visible()
        words, versions = asked.bounding_box(), sentence.bounding_box()
        assert words is not None
        assert versions is not None
        assert words["y"] + words["height"] <= versions["y"]
