"""What a person sees and does on the review page."""

import re

from playwright.sync_api import Locator, Page, expect


def mention(page: Page, name: str) -> Locator:
    """Find a mention by its tokens, such as `1-3`."""
    return page.locator(f'#text [data-m="{name}"]').first


def label(page: Page, name: str) -> str:
    """Read the label behind a mention: its chain, `=` when enforced, empty when left out."""
    return page.locator(f'#text [data-m="{name}"][data-ends$="e"]').get_attribute("data-label") or ""


def expect_label(page: Page, name: str, text: str) -> None:
    """Wait until a mention has a label."""
    piece = page.locator(f'#text [data-m="{name}"][data-ends$="e"]')
    expect(piece).to_have_attribute("data-label", text)


def expect_in_text(page: Page, name: str, *, there: bool) -> None:
    """Wait until a mention is in a chain, or in none."""
    classes = "(^| )left-out( |$)"
    found = expect(mention(page, name))
    if there:
        found.not_to_have_class(re.compile(classes))
    else:
        found.to_have_class(re.compile(classes))


def expect_cost(page: Page, value: int) -> None:
    """Wait until the head of the page shows a cost."""
    expect(page.locator("#status .cost b")).to_have_text(str(value))


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        page.keyboard.press(key)


def last_change(page: Page) -> Locator:
    """Find the box that shows what the last step did."""
    return page.locator("#last-change")


def unroute(page: Page) -> None:
    """Stop changing what the server answers; an answer that is still under way may miss the page."""
    page.unroute_all(behavior="ignoreErrors")
