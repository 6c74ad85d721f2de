"""Two people on one project: one works, the other watches and takes over; a colleague gets a document."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.corpus.corpora import document_text
from tests.review.browser.actions import press
from tests.review.project.projects import made


@contextmanager
def links(folder: Path, *words: object) -> Iterator[list[str]]:
    """Serve a project for a team, and yield the link of each person."""
    command = [sys.executable, "-m", "caspr", "review", "project", "--no-browser", *map(str, words)]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    found: list[str] = []
    try:
        for line in process.stderr or ():
            found += re.findall(r"http://\S+", line)
            if line.startswith("decisions are saved"):
                break
        yield found
    finally:
        process.terminate()
        process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made(tmp_path)
    (tmp_path / "team.csv").write_text("name\nAnn\nBob\n")
    return tmp_path


def opened(chromium: Browser, link: str) -> Page:
    page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(link)
    expect(page.locator("html[data-ready]")).to_be_attached()
    return page


def at(page: Page, number: int) -> None:
    page.goto(f"{re.sub(r'(?<=:[0-9]{5})/.*|(?<=:[0-9]{4})/.*', '', page.url)}/d/{number}/")
    expect(page.locator("html[data-ready]")).to_be_attached()


def note(page: Page, text: str) -> None:
    press(page, "i")
    page.get_by_role("dialog").get_by_role("textbox").fill(text)
    press(page, "Control+Enter")


def test_two_people_on_one_project(chromium: Browser, folder: Path) -> None:
    with links(folder, "--team", "team.csv") as (first, second):
        ann, bob = opened(chromium, first), opened(chromium, second)
        bob.get_by_role("checkbox", name="Choose two").check()
        bob.get_by_role("button", name="Assign …").click()
        bob.get_by_label("Who should do them?").select_option("Ann")
        bob.get_by_role("button", name="Assign", exact=True).click()
        expect(bob.get_by_role("row", name="two").get_by_role("cell", name="Ann", exact=True)).to_be_visible()
        ann.reload()
        expect(ann.locator(".next")).to_contain_text("two")
        at(ann, 0)
        at(bob, 0)
        expect(ann.locator("#queue .card")).to_be_visible()
        press(ann, "y")
        expect(bob.locator("#people")).to_contain_text("Ann is working on this; you are watching")
        press(bob, "D")
        expect(bob.locator("#decisions .made").first).to_contain_text("Ann, ")
        note(bob, "Really?")
        expect(bob.locator("#banner")).to_contain_text("Ann is working on this document")
        bob.get_by_role("button", name="Take over and do it").click()
        expect(bob.locator("#decisions .notes")).to_contain_text("Bob, ")
        expect(ann.locator("#people")).to_contain_text("Bob is working on this")
        note(ann, "Yes.")
        expect(ann.locator("#banner")).to_contain_text("Bob is working on this document")
        question = ann.locator("#queue .card").get_attribute("data-question")
        press(ann, "9")
        expect(ann.locator("#banner")).to_contain_text("This was not done: not a mention")
        ann.get_by_role("button", name="Take over and do it").click()
        expect(ann.locator(f'#queue [data-question="{question}"]')).to_have_count(0)
        expect(bob.locator("#people")).to_contain_text("Ann is working on this")
        for page in (ann, bob):
            page.context.close()
    late = folder / "carla"
    late.mkdir()
    (late / "one.conll").write_text(document_text("one", "carla"))
    with links(folder, "--team", "team.csv", "--add", "carla", "--name", "Bob") as (again, _):
        assert again.partition("?")[2] == first.partition("?")[2], "links stay the same"
        ann = opened(chromium, again)
        at(ann, 0)
        press(ann, "D")
        expect(ann.locator("#decisions .made")).to_have_count(3)
        expect(ann.locator("#people")).to_contain_text("Bob is working on this")
        title = "Undo: annotations were added or corrected"
        expect(ann.get_by_role("button", name="Undo")).to_have_attribute("title", title)
        ann.context.close()


def test_annotators_change_while_a_colleague_looks_at_a_document(chromium: Browser, folder: Path) -> None:
    """Bob's open page follows; corrected files ask whose they are; undo brings everything back."""
    (folder / "eve_v2.conll").write_text(document_text("one", "eve").replace("(2)", "-"))
    with links(folder, "--team", "team.csv") as (first, second):
        ann, bob = opened(chromium, first), opened(chromium, second)
        at(bob, 1)
        press(bob, "v")
        expect(bob.locator("#matrix")).to_contain_text("eve")
        ann.get_by_role("button", name="Remove eve").click()
        ann.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
        expect(ann.locator("#annotators-said")).to_contain_text("two: eve removed")
        expect(bob.locator("#matrix")).not_to_contain_text("eve")
        expect(ann.locator("[data-annotator]")).to_have_count(2)
        ann.get_by_role("button", name="Undo").click()
        expect(ann.locator("#annotators-said")).to_contain_text("as they were")
        expect(bob.locator("#matrix")).to_contain_text("eve")
        ann.get_by_role("button", name="Add an annotator …").click()
        ann.get_by_label("Files", exact=True).set_input_files(folder / "eve_v2.conll")
        expect(ann.get_by_label("Name of the annotator")).to_have_value("eve_v2")
        ann.get_by_role("button", name="Add", exact=True).click()
        expect(ann.get_by_role("dialog")).to_contain_text("% the same as 'eve'. Whose annotations are these?")
        ann.get_by_role("button", name="Those of eve, corrected").click()
        expect(ann.locator("#annotators-said")).to_contain_text("one: eve corrected")
        expect(ann.locator("[data-annotator]")).to_have_count(3)
        note(bob, "mine now")
        ann.get_by_role("button", name="Rename bob").click()
        ann.get_by_label("New name").fill("Robert")
        ann.get_by_role("button", name="Rename", exact=True).click()
        expect(ann.get_by_role("dialog")).to_contain_text("Bob is working on this document")


def test_the_key_that_undoes_answers_leaves_renamed_annotators_alone(chromium: Browser, folder: Path) -> None:
    with links(folder, "--team", "team.csv") as (first, _):
        ann = opened(chromium, first)
        ann.get_by_role("button", name="Rename bob").click()
        ann.get_by_label("New name").fill("Robert")
        ann.get_by_role("button", name="Rename", exact=True).click()
        expect(ann.locator("#annotators-said")).to_contain_text("Robert")
        at(ann, 0)
        press(ann, "u")
        expect(ann.locator("#toast")).to_contain_text("was not an answer: an annotator was renamed")
        press(ann, "v")
        expect(ann.locator("#matrix")).to_contain_text("Robert")
        ann.get_by_role("button", name="Undo: an annotator was renamed").click()
        expect(ann.locator("#matrix")).not_to_contain_text("Robert")
        expect(ann.locator("#live")).to_contain_text("Undone: an annotator was renamed")
        expect(ann.locator("#last-change")).not_to_contain_text("colleague")
