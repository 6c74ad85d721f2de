"""A text that is read from right to left: keys, labels, versions, and its words in English sentences."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bench.browser import served
from tests.review.browser.actions import last_change, mention, press
from tests.review.browser.conftest import opened

WORDS = ["דנה", "ראתה", "את", "יעל", ".", "היא", "חייכה", "אליה", "."]
CELLS = {
    "ann": {1: "(0)", 4: "(1)", 6: "(0)", 8: "(1)"},
    "bob": {1: "(0)", 4: "(1)", 6: "(1)", 8: "(0)"},
    "carl": {1: "(0)", 4: "(1)", 6: "(0)", 8: "(1)"},
}


@pytest.fixture
def hebrew(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    for name, cells in CELLS.items():
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(WORDS, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    files = [f"{name}.conll" for name in CELLS]
    with served(tmp_path, *files) as server, opened(chromium, server) as page:
        expect(page.locator("#queue .card")).to_be_visible()
        yield page


def left(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["x"]


def test_the_left_arrow_goes_on(hebrew: Page) -> None:
    mention(hebrew, "1-1").click()
    press(hebrew, "ArrowLeft")
    expect(hebrew.locator("#text .m.current")).to_have_attribute("data-m", "4-4")
    press(hebrew, "ArrowRight")
    expect(hebrew.locator("#text .m.current")).to_have_attribute("data-m", "1-1")


def test_a_label_reads_as_it_is_written(hebrew: Page) -> None:
    mention(hebrew, "4-4").click()
    press(hebrew, "e")
    label = hebrew.locator('#text [data-m="4-4"]')
    expect(label).to_have_attribute("data-label", "=2")
    assert label.evaluate("piece => getComputedStyle(piece, '::after').direction") == "ltr"


def test_words_of_the_text_are_isolated_in_sentences(hebrew: Page) -> None:
    press(hebrew, "1")
    label = last_change(hebrew).locator(".last-change-label")
    expect(label).to_contain_text("Same: ")
    quoted = label.locator("bdi")
    assert len(quoted.all()) == label.inner_text().count("“")
    expect(label).to_have_css("direction", "ltr")


def test_the_words_of_an_entity_are_isolated_in_the_answer_for_all_its_questions(
    chromium: Browser, tmp_path: Path
) -> None:
    for name, rest in {"ann": "(0)", "bob": "(0)", "carl": "-"}.items():
        cells = {1: "(0)", 4: "(0)", 6: rest, 8: rest}
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(WORDS, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    with served(tmp_path, *(f"{name}.conll" for name in CELLS)) as server, opened(chromium, server) as page:
        batch = page.locator("#queue .batch")
        expect(batch).to_have_text(re.compile("All 2 belong to דנה · "))
        expect(batch.locator("bdi")).to_have_text(re.compile("^דנה · "))


def test_versions_begin_at_the_right_with_their_numbers(hebrew: Page) -> None:
    hebrew.get_by_role("tab", name="Versions").click()
    row = hebrew.locator(".version-row").first
    number, first, second = row.locator("> *").all()
    assert left(number) > left(first) > left(second)
    expect(hebrew.locator("#versions [role=status]")).to_contain_text("only in ann (+)")
    text = first.bounding_box()
    assert text is not None
    assert text["x"] + text["width"] <= left(number)


FIRST_LETTER = """bdi => {
    const range = document.createRange();
    range.setStart(bdi.firstChild, 0);
    range.setEnd(bdi.firstChild, 1);
    const cell = bdi.closest('[role="rowheader"]').getBoundingClientRect();
    const letter = range.getBoundingClientRect();
    return cell.left <= letter.left && letter.right <= cell.right;
}"""


def test_a_row_of_the_matrix_that_is_cut_off_shows_where_its_mention_begins(
    chromium: Browser, tmp_path: Path
) -> None:
    words = ["ראתה"] * 12
    for name in ("ann", "bob"):
        cells = {1: "(0", 9: "0)", 12: "(0)"}
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(words, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    with served(tmp_path, "ann.conll", "bob.conll") as server, opened(chromium, server) as page:
        page.set_viewport_size({"width": 390, "height": 800})
        page.get_by_role("tab", name="Matrix").click()
        row = page.locator('[data-row="1-9"] [role="rowheader"] bdi')
        expect(row).to_be_visible()
        assert row.evaluate(FIRST_LETTER)
