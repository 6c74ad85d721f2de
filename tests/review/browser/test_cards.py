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
    expect(first.locator(".others")).to_contain_text(re.compile(r"nearest in line \d+; \d+ mentions"))


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
