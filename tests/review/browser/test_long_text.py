"""A text longer than is built at once: what is asked for is there, and the rest has no elements."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from caspr import write
from caspr.text.document import Annotation, Chain, Document, Span
from tests.review.browser.actions import mention, press
from tests.review.browser.conftest import opened

TOKENS = 45_000
KEPT = 20_000
"""How many tokens are built at once, apart from those near the view."""
CROSSING = "479-482"
"""A mention of four tokens around the end of the fourth line, with which a chunk ends."""


@pytest.fixture
def long_text(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a text of 45,000 words, in which every thousandth is a mention."""
    document = Document("long", tuple(f"w{number}" for number in range(1, TOKENS + 1)))
    spans = [Span(479, 482), *(Span(number, number) for number in range(1000, TOKENS + 1, 1000))]
    for number in (1, 2):
        chains = [Chain.of("1", spans[: -number or None])]
        write([Annotation.of(f"ann{number}", document, chains)], tmp_path / f"ann{number}.conll")
    with served(tmp_path, "ann1.conll", "ann2.conll") as server, opened(chromium, server) as page:
        expect(page.locator("html[data-ready]")).to_be_attached()
        yield page


def built(page: Page) -> int:
    return page.locator("#text .t").count()


def scroll(page: Page, share: float) -> None:
    page.evaluate(
        """(share) => {
          const text = document.getElementById("text");
          text.scrollTop = share * text.scrollHeight;
        }""",
        share,
    )


def words_in_view(page: Page) -> int:
    return sum(
        page.evaluate("""() => {
      const view = document.getElementById("text").getBoundingClientRect();
      const isInView = (element) => {
        const box = element.getBoundingClientRect();
        return box.height > 0 && box.bottom > view.top && box.top < view.bottom;
      };
      return [...document.querySelectorAll("#text .t")].filter(isInView).map(() => 1);
    }""")
    )


def test_only_lines_near_the_view_have_elements(long_text: Page) -> None:
    assert 0 < built(long_text) < 5_000
    for step in range(31):
        scroll(long_text, step / 30)
        long_text.wait_for_function("() => document.querySelectorAll('#text .t').length > 0")
        long_text.wait_for_timeout(60)
        assert words_in_view(long_text) > 50 or step == 30
    assert built(long_text) <= KEPT + 5_000
    expect(long_text.locator(f'#text [data-t="{TOKENS}"]')).to_be_attached()


def test_search_keys_and_marks_reach_every_word(long_text: Page) -> None:
    long_text.fill("#find", "w30001")
    expect(long_text.locator("#text .found-here")).to_have_text("w30001")
    # What is drawn after the first scroll may be higher than was guessed, and push the match out of view.
    long_text.wait_for_timeout(500)
    long_text.press("#find", "Enter")
    expect(long_text.locator("#text .found-here")).to_be_in_viewport()
    long_text.locator("#find").blur()
    mention(long_text, "30000-30000").click()
    press(long_text, "ArrowRight", "ArrowRight", "ArrowRight")
    expect(mention(long_text, "33000-33000")).to_be_focused()
    long_text.wait_for_timeout(500)
    press(long_text, "ArrowLeft", "ArrowRight")
    expect(mention(long_text, "33000-33000")).to_be_in_viewport()
    expect(mention(long_text, "33000-33000")).to_have_class(re.compile("highlighted"))
    scroll(long_text, 1000 / TOKENS)
    expect(mention(long_text, "1000-1000")).to_have_class(re.compile("highlighted"))
    scroll(long_text, 30_001 / TOKENS)
    expect(long_text.locator("#text .found-here")).to_have_text("w30001")


def test_a_mention_across_two_chunks_has_one_head(long_text: Page) -> None:
    pieces = long_text.locator(f'#text [data-m="{CROSSING}"]')
    expect(pieces).to_have_count(2)
    assert [pieces.nth(number).get_attribute("role") for number in range(2)] == ["group", None]


def test_all_of_it_is_printed(long_text: Page) -> None:
    before = built(long_text)
    long_text.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert built(long_text) == TOKENS
    long_text.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert before <= built(long_text) <= KEPT + 5_000
