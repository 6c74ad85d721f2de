"""What the cards of a play say in a real browser: six annotators whose boundaries differ."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from tests.review.browser.actions import expect_in_text, expect_label, label, last_change, press
from tests.review.browser.conftest import EXAMPLES, opened
from tests.review.browser.test_questions import ask, card


@pytest.fixture
def scene(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a review of the scene."""
    folder = Path(shutil.copytree(EXAMPLES / "scene", tmp_path / "scene"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names, "--variants") as server, opened(chromium, server) as shown:
        yield shown


def test_a_long_boundary_and_a_short_one_are_asked_as_boundaries(scene: Page) -> None:
    """“JONAS” is nested in “JONAS, her son,” and no variant of it; the entity is the same."""
    ask(scene, "b20-24")
    expect(card(scene).locator(".kind")).to_contain_text("Which boundary?")
    boundaries = card(scene).locator(".choice .anchor")
    expect(boundaries).to_contain_text(["[JONAS, her son,]", "[JONAS] , her", "[JONAS, her son] , sits"])
    entity = label(scene, "20-24")
    press(scene, "2")
    expect(last_change(scene)).to_contain_text("Boundary: “JONAS”")
    expect_label(scene, "20-20", f"={entity}")
    expect_in_text(scene, "20-24", there=False)


def test_a_card_names_an_entity_by_words_that_no_other_has(scene: Page) -> None:
    """The nearest mention of the entity is a pronoun, which may be anybody."""
    ask(scene, "q172-174")
    first = card(scene).locator(".choice").first
    expect(first.locator(".anchor")).to_have_text("Your brother")
    expect(first.locator(".others")).to_have_text(re.compile(r"^.+ in line \d+ · .+; \d+ mentions$"))
    press(scene, "1")
    expect(last_change(scene).get_by_text(re.compile(r"→\d+ Your brother$"))).to_be_visible()


def test_a_card_says_the_words_of_an_entity_once_and_where_they_are(
    chromium: Browser, tmp_path: Path
) -> None:
    """Words that are too long are cut off, which must not make them other words."""
    words = ["the", *["very"] * 20, "old", "man", "met", "him", "and", "him"]
    for name, cells in {
        "ann": {1: "(0", 23: "0)", 25: "(0)", 27: "(0)"},
        "bob": {1: "(0", 23: "0)", 25: "(0)", 27: "(0)"},
        "carl": {1: "(0", 23: "0)", 25: "(0)", 27: "(1)"},
    }.items():
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(words, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    with served(tmp_path, "ann.conll", "bob.conll", "carl.conll") as server, opened(chromium, server) as page:
        choice = card(page).locator(".choice").first
        expect(choice.locator(".anchor")).to_have_text(re.compile("^the very .* very …$"))
        expect(choice.locator(".others")).to_have_text("him in line 1; 2 mentions")


def test_the_last_step_names_another_entity_by_its_words(page: Page) -> None:
    ask(page, "q6-6")
    shown = set(card(page).locator(".choice .chip").all_inner_texts())
    press(page, "6")
    options = page.get_by_role("dialog").get_by_role("option")
    texts = [option.locator(".chip, .gist").all_inner_texts() for option in options.all()]
    number, words = next((number, words) for number, words in texts if number not in shown)
    page.keyboard.type(number)
    press(page, "Enter")
    placed = last_change(page).locator("p", has=page.get_by_label("is in"))
    expect(placed).to_contain_text(f"→{number} {words.split(' · ')[0]}")


def test_the_advice_when_to_stop_stands_above_the_first_question(scene: Page) -> None:
    advice = scene.locator("#queue > :first-child")
    expect(advice).to_contain_text("answer as many as you like")
    advice.locator("summary").click()
    expect(advice).to_contain_text("often about small entities")
    expect(advice).to_contain_text("What an answer costs is how far it goes against the votes")
    ask(scene, "q39-39")
    expect(advice.locator("p").first).to_be_visible()


def test_the_last_step_names_every_entity_that_was_ticked(chromium: Browser, tmp_path: Path) -> None:
    """Three mentions of the first entity would leave no room for the second."""
    folder = Path(shutil.copytree(EXAMPLES / "tales" / "miller", tmp_path / "miller"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names) as server, opened(chromium, server) as miller:
        ask(miller, "q152-153")
        for box in card(miller).get_by_role("checkbox", name="also this entity").all():
            box.check()
        press(miller, "y")
        expect(last_change(miller).locator(".last-change-label")).to_have_text(
            "Same: “The daughters”, “The girls”, “he”"
        )
