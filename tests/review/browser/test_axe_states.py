"""axe finds nothing in any state of the card and of the page, also on a phone."""

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from caspr.corpus.job import Options
from caspr.corpus.pipeline import Request, run_corpus
from tests.corpus.corpora import write_corpus
from tests.review.browser.actions import press
from tests.review.browser.conftest import EXAMPLES
from tests.review.browser.test_axe import violations
from tests.review.browser.test_people import at, links, opened

OVERRULED = "d49"
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Serve a project, and yield the links of two people.

    Its second document is the scene of six annotators; in the first one, a majority is overruled.
    """
    folder = tmp_path_factory.mktemp("scene")
    write_corpus(folder / "corpus", [OVERRULED], by="annotator")
    for file in (EXAMPLES / "scene").glob("*.conll"):
        (folder / "corpus" / file.stem).mkdir(parents=True)
        shutil.copy(file, folder / "corpus" / file.stem / "heron.conll")
    options = Options(layout="project")
    run_corpus(Request((folder / "corpus",), folder / "project", options, by="annotator", processes=1))
    (folder / "team.csv").write_text("name\nAnn\nBob\n")
    with links(folder, "--team", "team.csv") as found:
        yield found


def check(page: Page, state: str) -> None:
    """Look at all but the text, which is the same in all of these states."""
    assert violations(page, without="#text") == [], state


def test_every_state(chromium: Browser, people: list[str]) -> None:
    """One works in the light, the other in the dark."""
    ann, bob = (opened(chromium, link) for link in people)
    bob.emulate_media(color_scheme="dark")
    card = ann.locator("#queue .card")
    at(ann, 0)
    ann.get_by_label("result overrules the majority").check()
    expect(card.locator(".reason")).to_be_visible()
    check(ann, "a majority that is overruled")
    for page in (ann, bob):
        at(page, 1)
        expect(page.locator("#queue .card")).to_be_visible()
    check(ann, "the first question")

    ann.get_by_label("Kind of question").select_option("clear")
    expect(card.locator(".kind")).to_contain_text("Which boundary?")
    press(ann, "Shift+Digit1", "Shift+Digit2")
    expect(card.get_by_role("button", name=re.compile("All of these are mentions"))).to_be_visible()
    check(ann, "a boundary, with marked choices")

    ann.get_by_label("Kind of question").select_option("")
    expect(card.locator(".kind")).not_to_contain_text("Which boundary?")
    press(ann, "6")
    expect(ann.get_by_role("dialog")).to_be_visible()
    check(ann, "another entity")
    press(ann, "Escape")

    question = bob.locator("#queue .card").get_attribute("data-question")
    ann.locator(f'#queue [data-focus-key="question {question}"]').click()
    expect(ann.locator(f'#queue [data-question="{question}"]')).to_be_visible()
    press(ann, "1")
    expect(bob.locator("#queue .offer")).to_be_visible()
    expect(bob.locator("#people")).to_contain_text("Ann is working on this")
    check(bob, "a late update, watching")
    ann.locator("#queue .batch").first.click()
    expect(ann.locator("#last-change")).to_be_visible()
    check(ann, "a batch answer")

    press(bob, ".")
    expect(bob.locator(f'#queue [data-question="{question}"]')).to_have_count(0)
    question = bob.locator("#queue .card").get_attribute("data-question")
    press(bob, "1")
    expect(bob.locator("#banner")).to_contain_text("Ann is working on this document")
    check(bob, "an answer that waits for a takeover")
    bob.get_by_role("button", name="Take over and do it").click()
    expect(ann.locator("#people")).to_contain_text("Bob is working on this")
    expect(bob.locator(f'#queue [data-question="{question}"]')).to_have_count(0)
    expect(bob.locator("#queue .card")).to_be_visible()
    expect(bob.locator("#queue .offer")).to_have_count(0)
    check(ann, "taken over by somebody else")

    bob.get_by_role("button", name="Accept the rest").click()
    expect(bob.locator("#people")).to_contain_text("done by Bob")
    check(bob, "done")
    with bob.expect_navigation():
        bob.get_by_label("hide names of annotators").click()
    expect(bob.locator("#queue .card .says").first).to_contain_text("Annotator")
    check(bob, "blind")
    bob.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for view in ("Q", "C", "D", "M", "v", "v"):
        press(bob, view)
        check(bob, f"{view} on a phone")
    press(bob, "?")
    expect(bob.get_by_role("dialog", name="Keys")).to_be_visible()
    check(bob, "keys on a phone")
    for page in (ann, bob):
        page.context.close()
