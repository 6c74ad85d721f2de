"""What is printed: the text with its entities, flags and notes; not the interface."""

import re

from playwright.sync_api import Page, expect

from tests.review.browser.actions import mention, press


def test_the_text_is_printed_whatever_is_on_the_screen(page: Page) -> None:
    mention(page, "6-6").click()
    press(page, "F")
    page.get_by_role("button", name="ambiguous").click()
    page.get_by_label("Note (may be empty)").fill("<b>either</b>")
    press(page, "Control+Enter")
    expect(mention(page, "6-6").first).to_have_attribute("data-label", "3⚑")
    press(page, "v")
    expect(page.locator("#text")).to_be_hidden()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for shown in ("#text", "#printed", "h1"):
        expect(page.locator(shown).first).to_be_visible()
    for hidden in ("#side", "#matrix", ".tools", ".views", "#status"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator("#printed")).to_contain_text("ambiguous <b>either</b>")
    entities = page.locator("#printed ul").first.locator("li")
    expect(entities).to_have_count(3)
    assert all(re.search(r"[1-9] mentions?: \d", entry) for entry in entities.all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator("#printed")).to_be_hidden()
    assert len(page.pdf()) > 5000
