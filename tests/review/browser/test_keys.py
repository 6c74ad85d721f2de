"""Everything with keys alone: no test here touches the mouse."""

import re

from playwright.sync_api import Page, expect

from tests.review.browser.actions import expect_cost, expect_in_text, press


def walk_to(page: Page, name: str) -> None:
    """Walk with the arrow keys until the keyboard is on a mention."""
    focused = "document.activeElement.dataset.m"
    for key in ["ArrowLeft"] * 12 + ["ArrowRight"] * 12:
        if page.evaluate(focused) == name:
            return
        page.keyboard.press(key)
    raise AssertionError(f"the arrow keys do not lead to {name}")


def test_the_paper_by_keys(page: Page) -> None:
    walk_to(page, "1-3")
    press(page, "Space")
    expect(page.locator("#selection-bar")).to_contain_text("1 mention selected")
    walk_to(page, "6-6")
    press(page, "=")
    expect_in_text(page, "5-5", there=False)
    expect_cost(page, 8)
    press(page, "u")
    expect_in_text(page, "5-5", there=True)
    press(page, "r")
    expect_in_text(page, "5-5", there=False)
    press(page, "Control+z")
    expect_in_text(page, "5-5", there=True)


def test_questions_by_keys(page: Page) -> None:
    expect(page.locator("#queue .card")).to_be_visible()
    first = page.locator("#question").inner_text()
    press(page, "j")
    expect(page.locator("#question")).not_to_have_text(first)
    press(page, "k")
    expect(page.locator("#question")).to_have_text(first)
    press(page, "n")
    expect(page.locator("#question")).not_to_have_text(first)
    press(page, "D")
    expect(page.locator("#decisions h2").first).not_to_have_text("0 decisions")


def test_a_new_mention_and_a_closed_token_by_keys(page: Page) -> None:
    walk_to(page, "2-2")
    press(page, "t", "ArrowRight", "Shift+ArrowRight")
    expect(page.locator("#selection-bar")).to_contain_text("2 tokens: 3 4")
    press(page, "Enter")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    press(page, "ArrowDown", "Enter")
    expect_in_text(page, "3-4", there=True)
    walk_to(page, "5-5")
    press(page, "t", "0")
    expect_in_text(page, "5-5", there=False)
    expect(page.locator('#text [data-t="5"]')).to_have_class(re.compile(r"\bclosed\b"))


def test_decide_about_mentions_by_keys(page: Page) -> None:
    walk_to(page, "5-5")
    press(page, "x")
    expect_in_text(page, "5-5", there=False)
    expect(page.locator('#text [data-m="5-5"]')).to_be_focused()
    press(page, "f")
    expect(page.locator('#text [data-m="5-5"]')).not_to_have_class("decided")
    press(page, "D")
    expect(page.locator("#decisions h2").first).to_have_text("0 decisions")
    press(page, "Escape")
    walk_to(page, "2-2")
    press(page, "a")
    expect(page.locator("#decisions h2").first).to_have_text("1 decision")
    press(page, "u", "m")
    expect(page.get_by_role("dialog")).to_contain_text("Merge entit")
    press(page, "Escape", "c")
    expect(page.get_by_role("dialog")).to_contain_text("Move")
    press(page, "Enter")
    expect(page.locator("#decisions h2").first).not_to_have_text("0 decisions")


def test_the_overlay_lists_the_keys(page: Page) -> None:
    press(page, "?")
    overlay = page.get_by_role("dialog", name="Keys")
    expect(overlay).to_contain_text("accept the whole entity")
    expect(overlay).to_contain_text("Shift+→")
    assert overlay.locator("dt").count() > 30
    overlay.get_by_label("use single-letter keys").focus()
    press(page, "Space", "Escape")
    expect(overlay).to_be_hidden()
    press(page, "D")
    expect(page.locator("#decisions")).to_be_hidden()


def test_views_by_keys(page: Page) -> None:
    press(page, "v")
    expect(page.locator("#matrix")).to_be_visible()
    press(page, "v", "h")
    expect(page.locator("#show-left-out")).not_to_be_checked()
    press(page, "/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    press(page, "Escape", "o")
    expect(page.locator("#export a").first).to_be_focused()
