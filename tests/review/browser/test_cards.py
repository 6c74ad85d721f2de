"""What the cards of a play say in a real browser: six annotators whose boundaries differ."""

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
