"""Take the pictures of docs/review.md and docs/start.md from the running page, with the shipped examples.

python -m bench.screenshots [FOLDER]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect

from bench.browser import Served, browser, find_browser, served, started

ROOT = Path(__file__).resolve().parents[1]
SONG = ["anna.conll", "ben.conll", "carla.conll"]
SLOW = 120_000
"""Milliseconds for what starts a command."""
RENAME = """([folder, name]) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(folder, name);
}"""
"""Shows a folder under the name that a reader's own might have."""
MILLER, STORM = 1, 2
"""The numbers of documents of the project."""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    path = find_browser()
    if path is None:
        raise SystemExit("found no browser, expected chromium on the path")
    with browser(path) as opened, tempfile.TemporaryDirectory() as place:
        take_tales(opened, Path(place), folder)
        take_start(opened, Path(place) / "start", folder)
        copy = shutil.copytree(ROOT / "examples" / "song", Path(place) / "song")
        with served(copy, *SONG, "--nested", "never") as server:
            take_song(opened, server, folder)


def take_start(opened: Browser, place: Path, folder: Path) -> None:
    """Show the check of six files on the start page, and what can be done with a project."""
    place.mkdir()
    with started(place) as server:
        page = visit(opened, server, shown="h1")
        page.get_by_role("link", name="New project").click()
        page.get_by_label("What is it called?").fill("Heron")
        page.get_by_role("button", name="Continue").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Choose files").click()
        chooser.value.set_files(sorted((ROOT / "examples" / "scene").glob("*.conll")))
        page.get_by_role("button", name="Check these files").click(timeout=SLOW)
        page.get_by_role("heading", name="What is in the files").wait_for(timeout=SLOW)
        picture(page, folder / "start.png")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Merge the annotations").click()
        page.get_by_role("link", name="Review", exact=True).wait_for(timeout=SLOW)
        page.evaluate(RENAME, [str(place.resolve()), "/home/ann"])
        picture(page, folder / "start-project.png")
        page.context.close()


def take_tales(opened: Browser, place: Path, folder: Path) -> None:
    """Show a day with a small project: one person works on it, then two."""
    made = [sys.executable, "-m", "caspr", "corpus", str(ROOT / "examples" / "tales"), "-o", "tales"]
    subprocess.run([*made, "--layout", "project", "-q"], cwd=place, check=True)
    (place / "adjudicators.csv").write_text("name\nAnn\nBob\n", encoding="utf-8")
    with served(place, "tales", "--name", "Ann") as server:
        page = visit(opened, server, shown="#documents")
        base = page.url
        ask(page, f"{base}d/{STORM}/", "q106-106")
        picture(page, folder / "review-questions.png")
        answer(page)
        ask(page, f"{base}d/{MILLER}/", "q174-175")
        answer(page)
        expect(page.locator("#last-change li").first).to_be_visible()
        picture(page, folder / "review-step.png")
        take_miller(page, folder)
        page.context.close()
    with served(place, "tales", "--team", "adjudicators.csv") as server:
        ann = visit(opened, server, shown="#documents")
        take_project(ann, folder)
        links = json.loads((place / "tales" / ".caspr-links.json").read_text(encoding="utf-8"))
        bob = visit(opened, server, shown="#documents", token=links["Bob"])
        take_handover(ann, bob, folder)


def ask(page: Page, address: str, question: str) -> None:
    """Open a document, and go to one of its questions."""
    page.goto(address)
    expect(page.locator("#queue .card")).to_be_visible(timeout=30_000)
    page.locator(f'#queue [data-focus-key="question {question}"]').click()
    asked = page.locator(f'#queue [data-question="{question}"]')
    expect(asked).to_be_visible()
    expect(asked).not_to_contain_text("being computed", timeout=30_000)


def answer(page: Page) -> None:
    """Answer the question on the screen with its second choice."""
    page.keyboard.press("2")
    expect(page.locator("#last-change")).to_be_visible()


def take_miller(page: Page, folder: Path) -> None:
    """Show a mention, a selection, the matrix and the keys."""
    page.locator("#last-change").get_by_role("button", name="Dismiss").click()
    page.locator('#text [data-m="152-153"]').first.click()
    expect(page.locator(".alternatives")).to_be_visible()
    picture(page, folder / "review-mention.png")
    page.locator('#text [data-m="61-62"]').first.click(modifiers=["Control"])
    picture(page, folder / "review-selection.png")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.keyboard.press("C")
    picture(page, folder / "review-matrix.png")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Text").click()
    page.set_viewport_size({"width": 1200, "height": 1000})
    page.keyboard.press("?")
    picture(page, folder / "review-keys.png")


def take_project(ann: Page, folder: Path) -> None:
    """Show the list of a project: one document is done, one assigned, one in work."""
    base = ann.url
    ann.goto(f"{base}d/{MILLER}/")
    expect(ann.locator("#queue .card")).to_be_visible(timeout=30_000)
    ann.get_by_role("button", name="Done").click()
    expect(ann.locator("#last-change")).to_be_visible()
    ann.goto(base)
    ann.get_by_role("checkbox", name="Choose market").check()
    ann.get_by_role("button", name="Assign …").click()
    ann.get_by_label("Who should do them?").select_option("Bob")
    ann.get_by_role("button", name="Assign", exact=True).click()
    expect(ann.get_by_role("row", name="market").get_by_role("cell", name="Bob", exact=True)).to_be_visible()
    picture(ann, folder / "review-project.png")


def take_handover(ann: Page, bob: Page, folder: Path) -> None:
    """Show what somebody sees who acts on a document that a colleague has."""
    for page in (ann, bob):
        page.goto(f"{page.url}d/{STORM}/")
        expect(page.locator("#queue .card")).to_be_visible(timeout=30_000)
    ann.keyboard.press("y")
    expect(bob.locator("#people")).to_contain_text("Ann is working on this")
    expect(bob.locator("#queue .offer")).to_be_visible()
    bob.keyboard.press(".")
    expect(bob.locator("#queue .offer")).to_have_count(0)
    bob.locator("#last-change").get_by_role("button", name="Dismiss").click()
    bob.keyboard.press("y")
    expect(bob.locator("#banner")).to_be_visible()
    expect(bob.locator("#toast")).to_be_hidden(timeout=30_000)
    picture(bob, folder / "review-people.png")
    for page in (ann, bob):
        page.context.close()


def take_song(opened: Browser, server: Served, folder: Path) -> None:
    """Show a refused contradiction, in the dark theme."""
    page = visit(opened, server, theme="dark")
    page.locator('#text [data-m="23-24"] .t').last.click()
    page.locator('#text [data-m="23-23"]').click(modifiers=["Control"])
    page.keyboard.press("=")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    picture(page, folder / "review-contradiction.png")
    page.context.close()


def visit(
    opened: Browser,
    server: Served,
    *,
    theme: Literal["light", "dark"] = "light",
    shown: str = "#queue .card",
    token: str = "",
) -> Page:
    """Open the page of a server, and wait until something is shown on it."""
    context = opened.new_context(viewport={"width": 1200, "height": 660}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{server.url.partition('=')[0]}={token}" if token else server.url)
    expect(page.locator(shown)).to_be_visible()
    return page


def picture(page: Page, path: Path) -> None:
    """Take one picture after animations and requests have ended."""
    page.wait_for_timeout(800)
    page.screenshot(path=path)


if __name__ == "__main__":
    main()
